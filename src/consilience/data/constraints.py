"""Constraints: pairs of entities that belong together, and pairs that do not."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from .._saving import save_as
from ..arrays import make_generator
from .coerce import is_frame
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


HEAVIEST = 1e100  # times squared distances it is still a number
MOST_ROWS = 2**31  # a pair of numbers below that makes one number


class Precision(NamedTuple):
    """Share of the constraints' weight that is right; NaN where there are none of a kind."""

    must_link: float
    cannot_link: float


@save_as("constraints")
class Constraints:
    """Pairs of entities that must, or cannot, be in one cluster, with the price of parting or joining them.

    Parameters
    ----------
    must_link, cannot_link : sequence of (entity, entity) or (entity, entity, weight), or array, default=()
        The pairs. Whole numbers are positions of entities in the data; anything else is an entity's id. Of a pair
        that is listed twice the largest weight counts.
    must_weights, cannot_weights : float or array-like of float, optional
        Weights of the pairs, if they are not listed with them; 1 by default. A weight is the price of violating the
        constraint, in the units of the clustering's cost (squared distances); ``10 * constraints`` makes all ten times
        as dear. A pair of weight 0 is left out.
    by : {'position', 'id', 'row'}, optional
        What the pairs name. ``'id'``: `Views.ids`, also where these are whole numbers; ``'row'``: rows of the block
        that a view came from, as in `align`'s mapping.
    unknown : {'error', 'drop'}, default='error'
        What becomes of pairs by id of which the data lacks an entity. ``'drop'`` is for scikit-learn's
        cross-validation, where each fold has some of the entities; positions would name others in every fold.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (n_pairs, 2)
        The pairs, each once.
    must_weights, cannot_weights : ndarray of shape (n_pairs,)
        Their weights.
    conflicts : ndarray of shape (n_conflicts, 2)
        Cannot-links between entities that must-links tie together, directly or through others.
    size : int
        Number of constraints of both kinds.
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

    # no __len__: scikit-learn would take constraints as many as entities for one value an entity, and cut them up
    __slots__ = ("_by", "_cannot", "_must", "_names", "_unknown")

    _must: Links
    _cannot: Links
    _by: By
    _unknown: Unknown
    _names: np.ndarray | None  # what the numbers in the links stand for, if not for themselves

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
        whole = all(_are_whole(ends) for ends in (must, cannot))
        self._by = by or ("position" if whole else "id")
        self._names, self._unknown = None, unknown
        if self._by == "id":
            self._names, (must, cannot) = _index_names(must, cannot)
        elif not whole:
            raise TypeError(f"constraints by {by} name whole numbers; use by='id' for names of entities")
        else:
            must, cannot = must.astype(np.int64), cannot.astype(np.int64)
        self._must = self._checked("must-link", must, must_weights)
        self._cannot = self._checked("cannot-link", cannot, cannot_weights)

    def _checked(self, kind: str, pairs: np.ndarray, weights: np.ndarray) -> Links:
        names = pairs if self._names is None else self._names[pairs]
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= HEAVIEST)))
        if len(wrong):
            raise ValueError(
                f"{kind} {_format_pair(names[wrong[0]])} has weight {weights[wrong[0]]:g}: give a number from 0 to "
                f"{HEAVIEST:g}"
            )
        wrong = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
        if len(wrong):
            raise ValueError(f"{kind} {_format_pair(names[wrong[0]])} is between an entity and itself: leave it out")
        wrong = np.flatnonzero(((pairs < 0) | (pairs >= MOST_ROWS)).any(axis=1))
        if self._names is None and len(wrong):
            raise ValueError(
                f"{kind} {_format_pair(names[wrong[0]])} names a {self._by} that no data has: count from 0 up to "
                "the number of entities"
            )
        return Links.from_pairs(pairs[weights > 0], weights[weights > 0])

    @classmethod
    def from_links(cls, must: Links, cannot: Links) -> Constraints:
        """By position, from links already checked."""
        new = object.__new__(cls)
        new._must, new._cannot, new._by, new._names, new._unknown = must, cannot, "position", None, "error"
        return new

    def _with(self, must: Links, cannot: Links) -> Constraints:
        """Other links between the same things."""
        new = Constraints.from_links(must, cannot)
        new._by, new._names, new._unknown = self._by, self._names, self._unknown
        return new

    @classmethod
    def from_table(cls, table: Any, by: By | None = None, unknown: Unknown = "error") -> Constraints:
        """Read constraints from a table with a row each.

        Parameters
        ----------
        table : frame, mapping of columns, or path of a CSV file
            Columns ``first`` and ``second`` (the entities), ``type`` (``must-link`` or ``cannot-link``, also ``must``,
            ``ML``, ...) and, if you like, ``weight``.
        by : {'position', 'id', 'row'}, optional
            What the first two columns name, as in the constructor.
        unknown : {'error', 'drop'}, default='error'
            What becomes of pairs by id of which the data lacks an entity, as in the constructor.

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
            wrong = columns["type"][kinds.index(None)]
            raise ValueError(f"a constraint's type is 'must-link' or 'cannot-link', got {wrong!r}")
        weights = [_parse_weight(value) for value in columns.get("weight", [1.0] * len(ends))]
        chosen = {
            kind: [(*pair, w) for pair, k, w in zip(ends, kinds, weights, strict=True) if k == kind]
            for kind in ("must", "cannot")
        }
        return cls(chosen["must"], chosen["cannot"], by=by, unknown=unknown)

    @classmethod
    def sample(cls, y: Any, n: int, random_state: Any = None) -> Constraints:
        """Draw pairs at random and say of each what the classes say: half must-links, half cannot-links.

        Parameters
        ----------
        y : array-like of shape (n_entities,)
            The classes.
        n : int
            Number of constraints; of an odd number one more cannot-link. No pair is drawn twice.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Examples
        --------
        >>> Constraints.sample([0, 0, 1, 1, 2, 2], 6, random_state=0)
        Constraints: 3 must-links, 3 cannot-links, by position
        """
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n must be a whole number of constraints, 0 or more, got {n!r}")
        rng = make_generator(random_state)
        if np.ndim(y) != 1:
            raise ValueError(f"y must have one class an entity, got shape {np.shape(y)}")
        _, y = np.unique(np.asarray(y), return_inverse=True)
        order = np.argsort(y, kind="stable")  # class after class
        ends = np.cumsum(np.bincount(y))[y[order]]  # where the class of each place ends
        places = np.arange(len(y))
        within = _draw_pairs("must-link", ends - places - 1, places + 1, int(n) // 2, rng)
        across = _draw_pairs("cannot-link", len(y) - ends, ends, int(n) - int(n) // 2, rng)
        return cls(order[within], order[across])

    @property
    def must_link(self) -> np.ndarray:
        return self._named(self._must.pairs)

    @property
    def cannot_link(self) -> np.ndarray:
        return self._named(self._cannot.pairs)

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
        """The must-links and their weights, by number; of constraints by id these mean nothing."""
        return self._must

    @property
    def cannot(self) -> Links:
        """The cannot-links and their weights, by number."""
        return self._cannot

    @property
    def size(self) -> int:
        """Number of constraints of both kinds."""
        return len(self._must.weights) + len(self._cannot.weights)

    @property
    def conflicts(self) -> np.ndarray:
        ends, numbers = compact_pairs(np.vstack([self._must.pairs, self._cannot.pairs]))
        must, cannot = np.split(numbers, [len(self._must.pairs)])
        group = label_components(must, len(ends))[cannot]
        return self._named(self._cannot.pairs[group[:, 0] == group[:, 1]])

    def _named(self, pairs: np.ndarray) -> np.ndarray:
        return pairs.copy() if self._names is None else self._names[pairs]

    def closure(self) -> Constraints:
        """All constraints that follow from these, with these.

        Who is tied to the same entity is tied; who is tied to one end of a cannot-link is kept apart from the other.
        A weight is that of the weakest link on the best path. `conflicts` are kept as they are, and nothing follows
        from them.
        """
        return self._with(*compute_closure(self._must, self._cannot))

    def renumber(self, numbers: np.ndarray) -> Constraints:
        """The same constraints with other numbers; what comes together falls away."""
        return Constraints.from_links(self._must.renumber(numbers), self._cannot.renumber(numbers))

    def __mul__(self, factor: Any) -> Constraints:
        """The same constraints with weights so many times as large."""
        if not isinstance(factor, Real):
            return NotImplemented
        if not 0 < float(factor) < float("inf"):
            raise ValueError(f"weights are multiplied by a number above 0, got {factor!r}")
        must, cannot = (Links(own.pairs, own.weights * float(factor)) for own in (self._must, self._cannot))
        return self._with(must, cannot)

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
            return self._with(self._must | other._must, self._cannot | other._cannot)
        return Constraints(
            np.vstack([self.must_link, other.must_link]),
            np.vstack([self.cannot_link, other.cannot_link]),
            must_weights=np.concatenate([self.must_weights, other.must_weights]),
            cannot_weights=np.concatenate([self.cannot_weights, other.cannot_weights]),
            by="id",
            unknown="drop" if "drop" in (self._unknown, other._unknown) else "error",
        )

    def positions(self, ids: Any) -> Constraints:
        """The same constraints by position among these ids.

        Examples
        --------
        >>> Constraints([("ann", "eve")]).positions(["ann", "bob", "eve"]).must_link.tolist()
        [[0, 2]]
        """
        if self._by != "id":
            raise ValueError(f"these constraints are by {self._by}, not by id")
        names = np.asarray(ids).tolist()
        place = {name: i for i, name in enumerate(names)}
        if len(place) < len(names):
            raise ValueError("ids are not unique, so that constraints by id may mean several entities: give positions")
        assert self._names is not None, "by id there are names"
        numbers = np.array([place.get(name, -1) for name in self._names.tolist()], np.int64)
        if self._unknown == "drop":
            known = (own.select((numbers[own.pairs] >= 0).all(axis=1)) for own in (self._must, self._cannot))
            return self._with(*known).renumber(numbers)
        if (numbers < 0).any():
            strange = self._names[numbers < 0]
            raise ValueError(
                f"constraints name entity {strange[0]!r}, which is not among the ids of the data ({len(strange)} "
                f"such): leave it out, or say unknown='drop'{or_position(strange[0])}"
            )
        return self.renumber(numbers)

    def transfer(self, mapping: Any) -> Constraints:
        """The constraints between the entities that theirs are mapped to; others are left out.

        Parameters
        ----------
        mapping : array-like of shape (n, 2)
            Pairs (position here, position there). An entity may be mapped to several, and several to one; a
            constraint whose ends come together falls away.

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
            raise ValueError("a mapping lists pairs of positions, [(here, there), ...]")
        pairs = pairs.astype(np.int64)
        if pairs.min(initial=0) < 0:
            raise ValueError("a mapping names positions, counted from 0, got a negative one")
        return self._with(self._must.transfer(pairs), self._cannot.transfer(pairs))

    def precision(self, y: Any) -> Precision:
        """Share of the constraints' weight that agrees with the classes: what propagated constraints are worth.

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
        most = max(self._must.pairs.max(initial=-1), self._cannot.pairs.max(initial=-1))
        if y.ndim != 1 or most >= len(y):
            raise ValueError(f"y must have one class an entity: constraints name entity {most}, y has shape {y.shape}")
        found = []
        for links, same in ((self._must, True), (self._cannot, False)):
            right = (y[links.pairs[:, 0]] == y[links.pairs[:, 1]]) == same
            total = links.weights.sum()
            found.append(float(links.weights[right].sum() / total) if total else float("nan"))
        return Precision(*found)

    def table(self) -> Table:
        """One row a constraint: ``first``, ``second``, ``type``, ``weight``. `from_table` takes it back."""
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


def or_position(name: Any) -> str:
    """What else a whole number may be."""
    return ", or by='position'" if isinstance(name, Integral) else ""


def _as_dict(constraints: Constraints) -> dict[Any, float]:
    table = constraints.table()
    ends = (frozenset(pair) for pair in zip(table["first"].tolist(), table["second"].tolist(), strict=True))
    return dict(zip(zip(table["type"].tolist(), ends, strict=True), table["weight"].tolist(), strict=True))


def _parse_links(kind: str, links: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """(m, 2) ends, of whole numbers or of whatever was given, and (m,) weights."""
    if is_frame(links):
        links = links.to_numpy()
    if not isinstance(links, np.ndarray):
        listed = list(links) if isinstance(links, Iterable) and not isinstance(links, str | Mapping) else [links]
        if {len(link) if isinstance(link, list | tuple | np.ndarray) else 0 for link in listed} - {2, 3}:
            raise ValueError(_pairs_message(kind))
        if len({len(link) for link in listed}) > 1:
            listed = [(*link, 1.0)[:3] for link in listed]
        width = len(listed[0]) if listed else 2
        links = np.empty((len(listed), width), object)
        for place, link in enumerate(listed):
            links[place] = tuple(link)
    if links.size == 0:
        return np.zeros((0, 2), np.int64), np.zeros(0)
    if links.ndim != 2 or links.shape[1] not in (2, 3):
        raise ValueError(_pairs_message(kind))
    ends = links[:, :2]
    if links.shape[1] == 3:
        if weights is not None:
            raise ValueError(f"the weights of {kind}s are given twice: with the pairs and by themselves")
        weights = [_parse_weight(value) for value in links[:, 2].tolist()]
    try:
        given = np.asarray(1.0 if weights is None else weights, dtype=np.float64)
        spread = np.broadcast_to(given, len(ends)).copy()
    except (TypeError, ValueError) as error:
        raise ValueError(f"the weights of {kind}s must be one number, or one for each of {len(ends)} pairs") from error
    if ends.dtype.kind == "f" and np.array_equal(ends, np.trunc(ends)):
        ends = ends.astype(np.int64)  # an array of pairs with their weights
    elif ends.dtype == object and all(isinstance(end, Integral) and not isinstance(end, bool) for end in ends.flat):
        ends = ends.astype(np.int64)
    elif ends.dtype.kind in "fc" or any(isinstance(end, Real) and not isinstance(end, Integral) for end in ends.flat):
        raise ValueError(f"{kind}s name entities by whole numbers or ids, got a fraction or NaN")
    return ends, spread


def _pairs_message(kind: str) -> str:
    return f"{kind}s are listed as pairs, [(entity, entity), ...], or with weights, [(entity, entity, weight), ...]"


def _parse_weight(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a constraint's weight is a number, got {value!r}") from error


def _are_whole(ends: np.ndarray) -> bool:
    return ends.dtype.kind in "iu"


def _index_names(*given: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The names that occur, and the pairs as places among them."""
    place: dict[Any, int] = {}
    numbers = [
        np.array([place.setdefault(name, len(place)) for name in ends.ravel().tolist()], np.int64).reshape(-1, 2)
        for ends in given
    ]
    names = np.empty(len(place), object)
    names[:] = list(place)
    return names, numbers


def _format_pair(names: np.ndarray) -> str:
    return f"({', '.join(repr(name) for name in names.tolist())})"


def _read_columns(table: Any) -> dict[str, list[Any]]:
    """Columns by name, from a frame, a mapping, or a CSV file."""
    if isinstance(table, str | Path):
        with open(table, newline="", encoding="utf-8-sig") as file:  # as spreadsheets write it
            rows = list(csv.DictReader(file))
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
    """Whether a cell of a file is a whole number, and no name that looks like one: 007."""
    digits = text.strip().removeprefix("-")
    return digits.isdecimal() and str(int(digits)) == digits


def _draw_pairs(kind: str, counts: np.ndarray, starts: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """So many pairs of places: each place has so many partners, side by side from its start on."""
    ends = np.cumsum(counts)
    n_pairs = int(ends[-1]) if len(ends) else 0
    if n > n_pairs:
        raise ValueError(f"{n} {kind}s are asked for, but the classes allow {n_pairs}: ask for fewer")
    chosen = np.sort(rng.choice(n_pairs, n, replace=False)) if n else np.zeros(0, np.int64)
    first = np.searchsorted(ends, chosen, side="right")
    return np.column_stack([first, starts[first] + chosen - (ends[first] - counts[first])]).astype(np.int64)
