"""Names by a function of the user, such as one that asks a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .profile import typical
from .terms import ClusterTerms, Term

N_EXAMPLES = 5  # typical entities per cluster
EXAMPLE_LENGTH = 500  # characters of a text
MAX_NAME = 80  # characters of a name
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # and changes of direction


@dataclass(frozen=True, eq=False)
class ClusterDescription:
    """What a function that names clusters gets to know about a cluster.

    Attributes
    ----------
    number : int
        Number of the cluster.
    name : str
        The name that it has without the function.
    size : int
        Number of entities.
    share : float
        Share of all entities in clusters.
    terms : list of Term
        Terms that mark the cluster, the best first, with ``name``, ``score``, and the shares ``inside`` and ``outside``
        of the entities that have the term.
    ids : list of str
        Ids of up to five typical entities, or the numbers of their rows.
    texts : list of str
        The texts of these entities, up to 500 characters each; empty without texts.
    differences : list of str
        Sentences about columns in which the cluster differs, such as "price 12–34 $, elsewhere 3–9 $".

    Examples
    --------
    >>> import consilience as cs
    >>> def name_by_terms(cluster):
    ...     return f"{cluster.terms[0].name} ({cluster.size})"
    >>> shop = {"title": ["steel knife", "sharp knife", "bread knife", "red apple", "sweet apple", "green apple"]}
    >>> result = cs.cluster(shop, n_clusters=2, method="k-means", namer=name_by_terms, assess=False)
    >>> sorted(result.names)
    ['apple (3)', 'knife (3)']
    """

    number: int
    name: str
    size: int
    share: float
    terms: list[Term]
    ids: list[str]
    texts: list[str]
    differences: list[str]


Namer = Callable[[ClusterDescription], str]


def describe_clusters(
    terms: ClusterTerms,
    names: Sequence[str],
    labels: np.ndarray,
    confidence: np.ndarray,
    ids: Any = None,
    texts: Sequence[Sequence[Any]] = (),
    differences: Sequence[Sequence[str]] | None = None,
) -> list[ClusterDescription]:
    """Describe each cluster for a function that names it."""
    total = max(1, int(terms.sizes.sum()))
    described = []
    for number, rows in enumerate(typical(labels, confidence, N_EXAMPLES)):
        size = int(terms.sizes[number])
        joined = [[strings[row] for strings in texts] for row in rows.tolist()]
        quotes = [" – ".join(str(text)[:EXAMPLE_LENGTH] for text in cells if text) for cells in joined]
        described.append(
            ClusterDescription(
                number,
                names[number],
                size,
                size / total,
                terms.rank(number),
                [str(row if ids is None else ids[row]) for row in rows.tolist()],
                [quote[:EXAMPLE_LENGTH] for quote in quotes if quote],
                [] if differences is None else list(differences[number]),
            )
        )
    return described


def run_namer(namer: Namer, clusters: Sequence[ClusterDescription]) -> tuple[list[str], list[str]]:
    """Let a function name the clusters; return the names, and a note on each that is not as the function said.

    A cluster keeps its name if the function fails or returns no suitable name. If it gives a name to several clusters,
    all but the first have their previous name in parentheses.
    """
    names: list[str] = []
    problems: dict[str, list[str]] = {}
    taken = set()
    for cluster in clusters:
        try:
            name = check_name(namer(cluster))
            if name.casefold() in taken:
                problems.setdefault(f"it gave the name {name!r} to several clusters", []).append(cluster.name)
                name = f"{name} ({cluster.name})"
        except Exception as error:  # the clusters are found, and must not be lost by their names
            problems.setdefault(f"{type(error).__name__}: {error}", []).append(cluster.name)
            name = cluster.name
        taken.add(name.casefold())
        names.append(name)
    notes = []
    for problem, kept in problems.items():
        several = "" if len(kept) == 1 else f", and {len(kept) - 1} more"
        result = "its name is in parentheses" if problem.startswith("it gave") else "its name stays"
        notes.append(f"namer, for the cluster {kept[0]!r}{several}: {problem}; {result}.")
    return separate_names(names), notes


def check_name(value: Any) -> str:
    """Return a name without line breaks and further blanks; refuse what is no name."""
    match value:
        case str():
            name = " ".join(CONTROLS.sub(" ", value).split())
        case _:
            raise TypeError(f"the name of a cluster must be a string, got {type(value).__name__}")
    if not name:
        raise ValueError("the name of a cluster is empty")
    if len(name) > MAX_NAME:
        raise ValueError(f"the name of a cluster has {len(name)} characters, more than {MAX_NAME}: {name[:30]!r}...")
    return name


def separate_names(names: Sequence[str], fixed: Sequence[int] = ()) -> list[str]:
    """Append the number of a cluster to its name if an earlier cluster, or one in `fixed`, has the name."""
    taken = {names[cluster].casefold() for cluster in fixed}
    separated = []
    for cluster, name in enumerate(names):
        if cluster not in fixed:
            name = f"{name} ({cluster})" if name.casefold() in taken else name
            taken.add(name.casefold())
        separated.append(name)
    return separated
