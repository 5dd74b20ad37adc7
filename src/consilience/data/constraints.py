"""Constraints: pairs of entities that belong together, and pairs that do not."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from .._numbers import is_integer, is_real
from .._saving import save_as
from ..arrays import Seed, make_generator
from .inputs import is_frame
from .links import Links, compact_pairs, compute_closure, label_components
from .table import Table

By = Literal["position", "id", "row"]
Unknown = Literal["error", "drop"]

LINK_TYPES = {
    "must-link": "must",
    "must": "must",
    "ml": "must",
    "cannot-link": "cannot",
    "cannot": "cannot",
    "cl": "cannot",
}


LARGEST_WEIGHT = 1e100  # its product with squared distances is still finite
MOST_ROWS = 2**31  # a pair of smaller numbers fits into one integer


class Precision(NamedTuple):
    """Share of the constraints' weight that is correct; NaN if there are none of a type."""

    must_link: float
    cannot_link: float


@save_as("constraints")
class Constraints:
    """Pairs of entities that must, or cannot, be in one cluster, with the cost of violating each.

    Parameters
    ----------
    must_link, cannot_link : sequence of (entity, entity) or (entity, entity, weight), or array, default=()
        The pairs. Whole numbers are positions of entities in the data; anything else is an entity's id. A pair that is
        listed twice gets its largest weight.
    must_weights, cannot_weights : float or array-like of float, optional
        Weights of the pairs, if they are not listed with them; 1 by default. A weight is the cost of violating the
        constraint, in the units of the clustering's cost (squared distances); ``10 * constraints`` multiplies all
        weights by ten. A pair of weight 0 is left out.
    by : {'position', 'id', 'row'}, optional
        What the pairs name. ``'id'``: `Views.ids`, also if these are whole numbers; ``'row'``: rows of the block that
        a view came from, as in `align`'s mapping.
    unknown : {'error', 'drop'}, default='error'
        What to do with pairs by id if the data lacks one of the entities. ``'drop'`` is for scikit-learn's
        cross-validation, in which each fold has some of the entities and positions would change with the fold.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (n_pairs, 2)
        The pairs, each once.
    must_weights, cannot_weights : ndarray of shape (n_pairs,)
        Their weights.
    conflicts : ndarray of shape (n_conflicts, 2)
        Cannot-links between entities that must-links tie together, directly or through others.
    size : int
        Number of constraints of both types.
    by : str
        What the pairs name.

    Examples
    --------
    >>> constraints = Constraints(must_link=[(0, 1), (1, 2, 0.5)], cannot_link=[(2, 3)])
    >>> constraints
    Constraints: 2 must-links, 1 cannot-link, by position
    >>> constraints.closure().table()
    first  second  type         weight
        0       1  must-link    1.0000
        0       2  must-link    0.5000
        1       2  must-link    0.5000
        0       3  cannot-link  0.5000
        1       3  cannot-link  0.5000
        2       3  cannot-link  1.0000
    """

    # no __len__: scikit-learn would take as many constraints as entities for one value per entity, and split them
    __slots__ = ("_by", "_cannot", "_must", "_names", "_unknown")

    _must: Links
    _cannot: Links
    _by: By
    _unknown: Unknown
    _names: np.ndarray | None  # the ids that the numbers in the links stand for; None if they are positions or rows

    def __init__(
        self,
        must_link: Any = (),
        cannot_link: Any = (),
        *,
        must_weights: Any = None,
        cannot_weights: Any = None,
        by: By | None = None,
        unknown: Unknown = "error",
    ) -> None:
        if unknown not in ("error", "drop"):
            raise ValueError(f"unknown must be 'error' or 'drop', got {unknown!r}")
        if by not in ("position", "id", "row", None):
            raise ValueError(f"by must be 'position', 'id' or 'row', got {by!r}")
        must, must_weights = _parse_links("must-link", must_link, must_weights)
        cannot, cannot_weights = _parse_links("cannot-link", cannot_link, cannot_weights)
        are_integers = all(ends.dtype.kind in "iu" for ends in (must, cannot))
        self._by = by or ("position" if are_integers else "id")
        self._names, self._unknown = None, unknown
        if self._by == "id":
            self._names, (must, cannot) = _index_names(must, cannot)
        elif not are_integers:
            raise TypeError(f"constraints by {by} name whole numbers; use by='id' for names of entities")
        else:
            must, cannot = must.astype(np.int64), cannot.astype(np.int64)
        self._must = self._check_links("must-link", must, must_weights)
        self._cannot = self._check_links("cannot-link", cannot, cannot_weights)

    def _check_links(self, kind: str, pairs: np.ndarray, weights: np.ndarray) -> Links:
        names = pairs if self._names is None else self._names[pairs]
        invalid = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST_WEIGHT)))
        if len(invalid):
            raise ValueError(
                f"{kind} {_format_pair(names[invalid[0]])} has weight {weights[invalid[0]]:g}: give a number from 0 to "
                f"{LARGEST_WEIGHT:g}"
            )
        invalid = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
        if len(invalid):
            raise ValueError(f"{kind} {_format_pair(names[invalid[0]])} is between an entity and itself: leave it out")
        invalid = np.flatnonzero(((pairs < 0) | (pairs >= MOST_ROWS)).any(axis=1))
        if self._names is None and len(invalid):
            raise ValueError(
                f"{kind} {_format_pair(names[invalid[0]])} names a {self._by} that no data has: count from 0 up to "
                "the number of entities"
            )
        return Links.from_pairs(pairs[weights > 0], weights[weights > 0])

    @classmethod
    def from_links(cls, must: Links, cannot: Links) -> Constraints:
        """Constraints by position, from links that are already valid.

        Parameters
        ----------
        must, cannot : Links
            The links, by the positions of their entities.
        """
        new = object.__new__(cls)
        new._must, new._cannot, new._by, new._names, new._unknown = must, cannot, "position", None, "error"
        return new

    def _replace(self, must: Links, cannot: Links) -> Constraints:
        """Constraints with other links between the same entities."""
        new = Constraints.from_links(must, cannot)
        new._by, new._names, new._unknown = self._by, self._names, self._unknown
        return new

    @classmethod
    def from_table(cls, table: Any, by: By | None = None, unknown: Unknown = "error") -> Constraints:
        """Read constraints from a table with one row per constraint.

        Parameters
        ----------
        table : frame, mapping of columns, or path of a CSV file
            Columns ``first`` and ``second`` (the entities), ``type`` (``must-link`` or ``cannot-link``, also ``must``,
            ``ML``, ...) and, optionally, ``weight``.
        by : {'position', 'id', 'row'}, optional
            What the first two columns name, as in the constructor.
        unknown : {'error', 'drop'}, default='error'
            What to do with pairs by id if the data lacks one of the entities, as in the constructor.

        Examples
        --------
        >>> Constraints.from_table({"first": ["ann", "bob"], "second": ["bob", "eve"], "type": ["must", "cannot"]})
        Constraints: 1 must-link, 1 cannot-link, by id
        """
        columns = _read_columns(table)
        missing = [name for name in ("first", "second", "type") if name not in columns]
        if missing:
            raise ValueError(
                f"a table of constraints has columns 'first', 'second', 'type' and perhaps 'weight'; {missing[0]!r} is "
                f"not among {', '.join(map(repr, columns))}: rename the columns"
            )
        ends = list(zip(columns["first"], columns["second"], strict=True))
        kinds = [LINK_TYPES.get(str(kind).strip().lower().replace("_", "-")) for kind in columns["type"]]
        if None in kinds:
            invalid = columns["type"][kinds.index(None)]
            raise ValueError(f"a constraint's type is 'must-link' or 'cannot-link', got {invalid!r}")
        weights = [_parse_weight(value) for value in columns.get("weight", [1.0] * len(ends))]
        must, cannot = (
            [(*pair, weight) for pair, kind, weight in zip(ends, kinds, weights, strict=True) if kind == wanted]
            for wanted in ("must", "cannot")
        )
        return cls(must, cannot, by=by, unknown=unknown)

    @classmethod
    def sample(cls, y: Any, n: int, random_state: Seed = None) -> Constraints:
        """Draw random pairs that agree with known classes: half must-links, half cannot-links.

        Parameters
        ----------
        y : array-like of shape (n_entities,)
            The classes.
        n : int
            Number of constraints; an odd number gives one more cannot-link. No pair is drawn twice.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Examples
        --------
        >>> Constraints.sample([0, 0, 1, 1, 2, 2], 6, random_state=0)
        Constraints: 3 must-links, 3 cannot-links, by position
        """
        if not is_integer(n, least=0):
            raise ValueError(f"n must be a whole number of constraints, 0 or more, got {n!r}")
        rng = make_generator(random_state)
        if np.ndim(y) != 1:
            raise ValueError(f"y must have one class per entity, got shape {np.shape(y)}")
        _, y = np.unique(np.asarray(y), return_inverse=True)
        order = np.argsort(y, kind="stable")  # by class
        ends = np.cumsum(np.bincount(y))[y[order]]  # where the class at each position ends
        positions = np.arange(len(y))
        within = _draw_pairs("must-link", ends - positions - 1, positions + 1, int(n) // 2, rng)
        across = _draw_pairs("cannot-link", len(y) - ends, ends, int(n) - int(n) // 2, rng)
        return cls(order[within], order[across])

    @property
    def must_link(self) -> np.ndarray:
        return self._to_names(self._must.pairs)

    @property
    def cannot_link(self) -> np.ndarray:
        return self._to_names(self._cannot.pairs)

    @property
    def must_weights(self) -> np.ndarray:
        return self._must.weights.copy()

    @property
    def cannot_weights(self) -> np.ndarray:
        return self._cannot.weights.copy()

    @property
    def by(self) -> By:
        return self._by

    @property
    def must(self) -> Links:
        """The must-links and their weights, by number; for constraints by id the numbers have no meaning."""
        return self._must

    @property
    def cannot(self) -> Links:
        """The cannot-links and their weights, by number."""
        return self._cannot

    @property
    def size(self) -> int:
        """Number of constraints of both types."""
        return len(self._must.weights) + len(self._cannot.weights)

    @property
    def conflicts(self) -> np.ndarray:
        ends, numbers = compact_pairs(np.vstack([self._must.pairs, self._cannot.pairs]))
        must, cannot = np.split(numbers, [len(self._must.pairs)])
        group = label_components(must, len(ends))[cannot]
        return self._to_names(self._cannot.pairs[group[:, 0] == group[:, 1]])

    def _to_names(self, pairs: np.ndarray) -> np.ndarray:
        return pairs.copy() if self._names is None else self._names[pairs]

    def closure(self) -> Constraints:
        """These constraints and all that follow from them.

        Entities with must-links to the same entity get a must-link, and the cannot-links of an entity also hold for
        those it must be with. A weight is that of the weakest link on the best path. `conflicts` are kept as they are
        and imply nothing.
        """
        return self._replace(*compute_closure(self._must, self._cannot))

    def renumbered(self, numbers: np.ndarray) -> Constraints:
        """Map entity numbers; pairs whose ends become the same entity are dropped.

        Parameters
        ----------
        numbers : ndarray of int, shape (n_entities,)
            The new number of each entity.
        """
        return Constraints.from_links(self._must.renumbered(numbers), self._cannot.renumbered(numbers))

    def __mul__(self, factor: Any) -> Constraints:
        """Multiply all weights by a number."""
        if not is_real(factor):
            return NotImplemented
        if not 0 < float(factor) < float("inf"):
            raise ValueError(f"weights are multiplied by a number above 0, got {factor!r}")
        must, cannot = (Links(links.pairs, links.weights * float(factor)) for links in (self._must, self._cannot))
        return self._replace(must, cannot)

    __rmul__ = __mul__

    def __or__(self, other: Constraints) -> Constraints:
        """All constraints of both, each with its largest weight."""
        if not isinstance(other, Constraints):
            return NotImplemented
        if not other.size or not self.size:
            return self if self.size else other
        if self._by != other._by:
            raise ValueError(f"constraints by {self._by} and by {other._by} do not mix: give both the same way")
        if self._names is None:
            return self._replace(self._must | other._must, self._cannot | other._cannot)
        return Constraints(
            np.vstack([self.must_link, other.must_link]),
            np.vstack([self.cannot_link, other.cannot_link]),
            must_weights=np.concatenate([self.must_weights, other.must_weights]),
            cannot_weights=np.concatenate([self.cannot_weights, other.cannot_weights]),
            by="id",
            unknown="drop" if "drop" in (self._unknown, other._unknown) else "error",
        )

    def positions(self, ids: Any) -> Constraints:
        """Convert constraints by id to positions among these ids.

        Parameters
        ----------
        ids : array-like of shape (n_entities,)
            The ids of the entities of the data, in their order.

        Examples
        --------
        >>> Constraints([("ann", "eve")]).positions(["ann", "bob", "eve"]).must_link.tolist()
        [[0, 2]]
        """
        if self._by != "id":
            raise ValueError(f"these constraints are by {self._by}, not by id")
        names = np.asarray(ids).tolist()
        position_of = {name: i for i, name in enumerate(names)}
        if len(position_of) < len(names):
            raise ValueError("ids are not unique, so that constraints by id may mean several entities: give positions")
        assert self._names is not None, "constraints by id have names"
        positions = np.array([position_of.get(name, -1) for name in self._names.tolist()], np.int64)
        if self._unknown == "drop":
            kinds = (self._must, self._cannot)
            kept = (links.select((positions[links.pairs] >= 0).all(axis=1)) for links in kinds)
            return self._replace(*kept).renumbered(positions)
        if (positions < 0).any():
            unknown = self._names[positions < 0]
            hint = ", or by='position'" if is_integer(unknown[0]) else ""
            raise ValueError(
                f"constraints name entity {unknown[0]!r}, which is not among the ids of the data ({len(unknown)} "
                f"such): leave it out, or say unknown='drop'{hint}"
            )
        return self.renumbered(positions)

    def transfer(self, mapping: Any) -> Constraints:
        """Map constraints to other entities; those with an unmapped end are left out.

        Parameters
        ----------
        mapping : array-like of shape (n, 2)
            Pairs (position of the source, position of the target). An entity may be mapped to several, and several to
            one; a constraint whose ends become the same entity is dropped.

        Examples
        --------
        >>> Constraints([(0, 1), (1, 2)]).transfer([(0, 5), (1, 7), (1, 8)]).must_link.tolist()
        [[5, 7], [5, 8]]
        """
        if self._by == "id":
            raise ValueError("constraints by id name the same entities everywhere: there is nothing to transfer")
        pairs = np.asarray(mapping)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError("a mapping lists pairs of positions, [(source, target), ...]")
        pairs = pairs.astype(np.int64)
        if pairs.min(initial=0) < 0:
            raise ValueError("a mapping names positions, counted from 0, got a negative one")
        return self._replace(self._must.transfer(pairs), self._cannot.transfer(pairs))

    def precision(self, y: Any) -> Precision:
        """Share of the constraints' weight that agrees with the classes, such as of propagated constraints.

        Parameters
        ----------
        y : array-like of shape (n_entities,)
            The true classes.

        Examples
        --------
        >>> Constraints([(0, 1), (1, 2)], [(0, 2)]).precision([0, 0, 1])
        Precision(must_link=0.5, cannot_link=1.0)
        """
        if self._by != "position":
            raise ValueError(f"classes are by position, these constraints by {self._by}: see positions()")
        y = np.asarray(y)
        last = max(self._must.pairs.max(initial=-1), self._cannot.pairs.max(initial=-1))
        if y.ndim != 1 or last >= len(y):
            raise ValueError(f"y must have one class per entity: constraints name entity {last}, y has shape {y.shape}")
        shares = []
        for links, same in ((self._must, True), (self._cannot, False)):
            correct = (y[links.pairs[:, 0]] == y[links.pairs[:, 1]]) == same
            total = links.weights.sum()
            shares.append(float(links.weights[correct].sum() / total) if total else float("nan"))
        return Precision(*shares)

    def table(self) -> Table:
        """One row per constraint: ``first``, ``second``, ``type``, ``weight``. `from_table` reads it."""
        pairs = np.concatenate([self.must_link, self.cannot_link])
        kinds = np.repeat(["must-link", "cannot-link"], [len(self._must.weights), len(self._cannot.weights)])
        weights = np.concatenate([self._must.weights, self._cannot.weights])
        return Table({"first": pairs[:, 0], "second": pairs[:, 1], "type": kinds, "weight": weights})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints):
            return NotImplemented
        return self._by == other._by and _as_dict(self) == _as_dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        counts = [(len(self._must.weights), "must-link"), (len(self._cannot.weights), "cannot-link")]
        parts = [f"{n:,} {kind}{'' if n == 1 else 's'}" for n, kind in counts]
        return f"Constraints: {', '.join(parts)}, by {self._by}"


def _as_dict(constraints: Constraints) -> dict[Any, float]:
    table = constraints.table()
    ends = (frozenset(pair) for pair in zip(table["first"].tolist(), table["second"].tolist(), strict=True))
    return dict(zip(zip(table["type"].tolist(), ends, strict=True), table["weight"].tolist(), strict=True))


def _parse_links(kind: str, links: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Read links of any form into (m, 2) ends, integers or ids, and (m,) weights."""
    if is_frame(links):
        links = links.to_numpy()
    if not isinstance(links, np.ndarray):
        listed = list(links) if np.iterable(links) and not isinstance(links, str | Mapping) else [links]
        if {len(link) if isinstance(link, list | tuple | np.ndarray) else 0 for link in listed} - {2, 3}:
            raise ValueError(_pairs_message(kind))
        if len({len(link) for link in listed}) > 1:
            listed = [(*link, 1.0)[:3] for link in listed]
        width = len(listed[0]) if listed else 2
        links = np.empty((len(listed), width), object)
        for row, link in enumerate(listed):
            links[row] = tuple(link)
    if links.size == 0:
        return np.zeros((0, 2), np.int64), np.zeros(0)
    if links.ndim != 2 or links.shape[1] not in (2, 3):
        raise ValueError(_pairs_message(kind))
    ends = links[:, :2]
    if links.shape[1] == 3:
        if weights is not None:
            raise ValueError(f"the weights of {kind}s are given twice: with the pairs and separately")
        weights = [_parse_weight(value) for value in links[:, 2].tolist()]
    try:
        values = np.asarray(1.0 if weights is None else weights, dtype=np.float64)
        values = np.broadcast_to(values, len(ends)).copy()
    except (TypeError, ValueError) as error:
        raise ValueError(f"the weights of {kind}s must be one number, or one for each of {len(ends)} pairs") from error
    if ends.dtype.kind == "f" and np.array_equal(ends, np.trunc(ends)):
        ends = ends.astype(np.int64)  # an array of pairs with their weights
    types = {type(end) for end in ends.flat}
    if ends.dtype == object and all(issubclass(t, Integral) and t is not bool for t in types):
        ends = ends.astype(np.int64)
    elif ends.dtype.kind in "fc" or any(issubclass(t, Real) and not issubclass(t, Integral) for t in types):
        raise ValueError(f"{kind}s name entities by whole numbers or ids, got a fraction or NaN")
    return ends, values


def _pairs_message(kind: str) -> str:
    return f"{kind}s are listed as pairs, [(entity, entity), ...], or with weights, [(entity, entity, weight), ...]"


def _parse_weight(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a constraint's weight is a number, got {value!r}") from error


def _index_names(*pair_arrays: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct names in pairs, and the pairs as positions among them."""
    position: dict[Any, int] = {}
    indices = [
        np.array([position.setdefault(name, len(position)) for name in pairs.ravel().tolist()], np.int64).reshape(-1, 2)
        for pairs in pair_arrays
    ]
    names = np.empty(len(position), object)
    names[:] = list(position)
    return names, indices


def _format_pair(names: np.ndarray) -> str:
    return f"({', '.join(repr(name) for name in names.tolist())})"


def _read_columns(table: Any) -> dict[str, list[Any]]:
    """Columns by name, from a frame, a mapping, or a CSV file."""
    if isinstance(table, str | Path):
        if Path(table).is_char_device():
            raise ValueError(f"{table} is a device, which may never end: give a CSV file")
        try:
            with open(table, newline="", encoding="utf-8-sig") as file:  # with the byte order mark of spreadsheets
                rows = list(csv.DictReader(file))
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{table} cannot be read as a CSV file of constraints: {error}") from error
        names = rows[0] if rows else {"first": 0, "second": 0, "type": 0}
        columns = {str(name): [row[name] for row in rows] for name in names}
        named = [name for name in ("first", "second") if name in columns]
        if all(value is not None and _is_whole_number(value) for name in named for value in columns[name]):
            columns |= {name: [int(value) for value in columns[name]] for name in named}
        return columns
    if is_frame(table):
        return {str(name): table[name].to_numpy().tolist() for name in table.columns}
    if isinstance(table, Mapping):
        return {str(name): np.asarray(values, dtype=object).tolist() for name, values in table.items()}
    raise TypeError(f"a table of constraints is a frame, a mapping of columns or a path, got {type(table).__name__}")


def _is_whole_number(text: str) -> bool:
    """Whether a cell of a file is a whole number, and not a name that looks like one, as 007."""
    digits = text.strip().removeprefix("-")
    return digits.isdecimal() and str(int(digits)) == digits


def _draw_pairs(kind: str, counts: np.ndarray, starts: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n pairs of positions; position i has ``counts[i]`` partners, adjacent from ``starts[i]`` on."""
    ends = np.cumsum(counts)
    n_pairs = int(ends[-1]) if len(ends) else 0
    if n > n_pairs:
        raise ValueError(f"{n} {kind}s are requested, but the classes allow {n_pairs}: request fewer")
    chosen = np.sort(rng.choice(n_pairs, n, replace=False)) if n else np.zeros(0, np.int64)
    first = np.searchsorted(ends, chosen, side="right")
    return np.column_stack([first, starts[first] + chosen - (ends[first] - counts[first])]).astype(np.int64)
