"""A data set with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Views


@dataclass(frozen=True, eq=False)
class Dataset:
    """Views with their true classes and their origin. Unpacks into ``views, y``.

    Parameters
    ----------
    name : str
        Name of the data set.
    views : Views
        The data.
    target : ndarray of int, shape (n_entities,)
        The true class of each entity, as a position in `target_names`.
    target_names : tuple of str
        Names of the classes.
    description : str
        What the entities and the views are, in Markdown.
    citation : str
        The publication to cite.
    license : str
        License of the data, or what is known about it.
    source : str, default=''
        Address that the data comes from.

    Examples
    --------
    >>> import consilience as cs
    >>> data = cs.datasets.load_digits_views()
    >>> data.name, data.target.shape, data.target_names[:3]
    ('digits', (2000,), ('0', '1', '2'))
    >>> views, y = data
    >>> views.names
    ('fou', 'fac', 'kar', 'pix', 'zer', 'mor')
    """

    name: str
    views: Views
    target: np.ndarray
    target_names: tuple[str, ...]
    description: str
    citation: str
    license: str
    source: str = ""

    def __iter__(self) -> Any:
        return iter((self.views, self.target))

    @property
    def card(self) -> str:
        """Description of the data set in Markdown."""
        n_missing = (~self.views.present).sum(axis=0)
        rows = (
            f"| {name} | {block.shape[1]:,} | {missing:,} |"
            for (name, block), missing in zip(self.views.items(), n_missing.tolist(), strict=True)
        )
        sizes = np.bincount(self.target, minlength=len(self.target_names)).tolist()
        classes = ", ".join(f"{name} ({n:,})" for name, n in zip(self.target_names, sizes, strict=True))
        facts = {"Classes": classes, "Citation": self.citation, "License": self.license, "Source": self.source}
        return "\n".join(
            [
                f"# {self.name}",
                "",
                self.description,
                "",
                f"{len(self.views):,} entities, {len(self.target_names):,} classes.",
                "",
                "| view | columns | entities without it |",
                "|---|---|---|",
                *rows,
                "",
                *(f"- {what}: {text}" for what, text in facts.items() if text),
                "",
            ]
        )
