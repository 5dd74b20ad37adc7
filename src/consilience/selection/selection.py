"""The outcome of a search for the number of clusters, in figures and in words."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._saving import save_as
from ..data import Table


@save_as("selection")
@dataclass(frozen=True, eq=False)
class Selection:
    """Which numbers of clusters the data supports.

    Without labels no rule knows the number of clusters, so that there may be several. Printing it shows the answer, the
    reasons and the table.

    Attributes
    ----------
    n_clusters : int
        The number with the highest score; 1 if there is no evidence for groups.
    reason : str
        The answer in a few sentences.
    table : Table
        Per number of clusters: ``information``, bits that the views' left-out predictions carry about the clusters;
        ``agreement``, how far each view and the others predict the same clusters (adjusted mutual information, 0 by
        chance, NaN if it cannot be judged); ``stability``, how far fits to halves of the entities give the entities
        that they have not seen the clusters that these have (adjusted Rand index, 0 by chance); ``modularity`` of the
        clusters in the views' graphs of nearest neighbors; ``by_chance``, what the information is if the views are
        independent, or if agreement cannot be judged, what the modularity is if the columns are; ``score``, by which
        numbers are ordered: agreement * sqrt((information - by_chance) * stability), or if agreement cannot be judged
        (modularity - by_chance) * sqrt(stability).
    supported : tuple of int
        Up to three numbers whose score is the highest within a factor of 1.5 and at least half of the highest of all,
        the highest score first; empty if there is no evidence for groups.
    sentences : tuple of str
        One sentence per supported number.
    labels : ndarray of shape (n_entities,) or None
        With ``small_groups=True``: the group of each entity.

    Examples
    --------
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(120, n_clusters=3, separation=12, random_state=0)
    >>> selection = cs.select_n_clusters(cs.Consilience(), views, range(2, 5))
    >>> selection.n_clusters, selection.supported, selection.reason
    (3, (3,), '3 clusters.')
    >>> selection.table["n_clusters"].tolist()
    [2, 3, 4]
    """

    n_clusters: int
    reason: str
    table: Table
    supported: Sequence[int] = ()
    sentences: Sequence[str] = ()
    labels: np.ndarray | None = None

    def __repr__(self) -> str:
        return "\n".join([self.reason, *self.sentences, "", repr(self.table)])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.sentences)
        return f"<p>{html.escape(self.reason)}</p><ul>{sentences}</ul>{self.table._repr_html_()}"
