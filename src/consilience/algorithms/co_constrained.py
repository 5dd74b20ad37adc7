"""Constrained clustering of views that are partly mapped to each other (Eaton, desJardins & Jacob 2010, Algorithm 1).

Views take turns: each is clustered under its own constraints and those that the others hand over, and hands over what
its clusters make of its own: constraints between rows that are mapped to other views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

import numpy as np

from ..data import Links, check_pairs_fit, components
from ..data.links import closure
from ..divergences import Rows, SquaredEuclidean
from .cluster_metrics import Metric
from .constrained import ConstrainedState, constrained_kmeans
from .linked import Linked, Order
from .neighbourhoods import first_centres
from .propagate import cluster_shapes, propagate
from .run import run


@dataclass(frozen=True, eq=False)
class Both:
    """Must-links and cannot-links."""

    must: Links = field(default_factory=Links.none)
    cannot: Links = field(default_factory=Links.none)

    def __or__(self, other: Both) -> Both:
        """All of both, with the larger weight of each pair and kind."""
        return Both(self.must | other.must, self.cannot | other.cannot)

    def renumbered(self, numbers: np.ndarray) -> Both:
        return Both(self.must.renumbered(numbers), self.cannot.renumbered(numbers))

    def transferred(self, mapping: np.ndarray) -> Both:
        return Both(self.must.transferred(mapping), self.cannot.transferred(mapping))

    def closure(self) -> Both:
        return Both(*closure(self.must, self.cannot))


@dataclass(frozen=True, eq=False)
class Instances:
    """The rows of one view, and which of them each entity is."""

    X: np.ndarray
    row: np.ndarray  # (entities,) -1: the entity lacks the view

    @cached_property
    def view(self) -> Rows:
        return SquaredEuclidean().prepare(self.X, np.ones(self.X.shape[0], bool))

    @cached_property
    def entity(self) -> np.ndarray:
        """(rows,) an entity that each row belongs to."""
        there = np.flatnonzero(self.row >= 0)[::-1]
        first = np.empty(self.X.shape[0], np.int64)
        first[self.row[there]] = there
        return first


@dataclass(frozen=True, eq=False)
class Mapped:
    """Several views, mapped to each other by the entities that have more than one of them."""

    views: Mapping[str, Instances]

    def mapping(self, one: str, other: str) -> np.ndarray:
        """(pairs, 2) rows of two views that are the same entity."""
        rows = np.column_stack([self.views[one].row, self.views[other].row])
        return np.unique(rows[(rows >= 0).all(axis=1)], axis=0)

    @cached_property
    def mappings(self) -> dict[tuple[str, str], np.ndarray]:
        return {(one, other): self.mapping(one, other) for one in self.views for other in self.views if one != other}

    @cached_property
    def targets(self) -> dict[str, np.ndarray]:
        """The rows of each view that are mapped to another."""
        several = np.sum([own.row >= 0 for own in self.views.values()], axis=0) > 1
        return {name: np.unique(own.row[several & (own.row >= 0)]) for name, own in self.views.items()}

    @cached_property
    def nodes(self) -> dict[str, np.ndarray]:
        """A number for each row of each view; rows that are mapped to each other share one."""
        sizes = [own.X.shape[0] for own in self.views.values()]
        starts = dict(zip(self.views, np.cumsum([0, *sizes]), strict=False))
        ties = [
            self.mappings[one, other] + [starts[one], starts[other]]
            for one in self.views
            for other in self.views
            if one < other
        ]
        node = components(np.vstack([np.zeros((0, 2), np.int64), *ties]), sum(sizes))
        return {name: node[starts[name] : starts[name] + n] for name, n in zip(self.views, sizes, strict=True)}

    def closed(self, given: Mapping[str, Both], common: Both) -> dict[str, Both]:
        """Each view's constraints with all that follow, the mapping being must-links that never limit a path.

        `common` constraints are between entities, given in no view. Where a row is mapped to several of another view,
        these are tied, as strongly as anything that is given.
        """
        numbered = (own.renumbered(self.nodes[name]) for name, own in given.items())
        everything = reduce(or_, numbered, common.renumbered(self.entity_nodes))
        n_nodes = 1 + max(own.max(initial=-1) for own in self.nodes.values())
        tied = components(everything.must.pairs, n_nodes)
        ends = tied[everything.cannot.pairs]
        sound = Both(everything.must, everything.cannot.where(ends[:, 0] != ends[:, 1])).closure()
        strongest = max([*everything.must.weights, *everything.cannot.weights], default=1.0)
        closed = {}
        for name, own in self.nodes.items():
            inferred = sound.transferred(np.column_stack([own, np.arange(len(own))]))
            closed[name] = given[name] | inferred | Both(same_node(own, strongest))
        return closed

    @cached_property
    def entity_nodes(self) -> np.ndarray:
        """(entities,) the node of each entity."""
        node = np.full(len(next(iter(self.views.values())).row), -1)
        for name, own in self.views.items():
            there = own.row >= 0
            node[there] = self.nodes[name][own.row[there]]
        return node


def same_node(node: np.ndarray, weight: float) -> Links:
    """Ties between the rows of one view that are mapped to the same row of another."""
    order = np.argsort(node, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    pairs = pairs[node[pairs[:, 0]] == node[pairs[:, 1]]]
    return closure(Links.of(pairs, np.full(len(pairs), weight)), Links.none())[0]


@dataclass(frozen=True, eq=False)
class Base:
    """The constrained k-means that clusters each view."""

    n_clusters: int
    metric: Callable[[int], Metric]  # number of columns -> the first metric
    measured: bool
    start: str
    max_iter: int
    tol: float
    order: Callable[[str], Order]  # name of a view -> the order in which its rows are visited, the same every time
    rng: Callable[[str], np.random.Generator]  # name of a view -> what its start is drawn from, the same every time
    centres: Mapping[str, np.ndarray]  # given starts

    def cluster(self, name: str, view: Rows, links: Both, given: Both) -> ConstrainedState:
        """Cluster one view; the start knows only the constraints that are given, for others may err."""
        problem = Linked(view, links.must, links.cannot, self.measured)
        centres = self.centres.get(name)
        if centres is None:
            centres = first_centres(view, given.must, given.cannot, self.n_clusters, self.start, self.rng(name))
        states = constrained_kmeans(problem, self.metric(view.X.shape[1]), centres, self.order(name))
        done = run(states, max_iter=self.max_iter, tol=self.tol, patience=1, report=lambda *_: None)
        if done.interrupted:
            raise KeyboardInterrupt
        return done.state


@dataclass(frozen=True, eq=False)
class CoConstrainedState:
    """After a round: how each view is clustered, under which constraints, and what it hands on."""

    views: dict[str, ConstrainedState]
    links: dict[str, Both]
    handed: dict[str, Both]
    settled: bool
    comparable: bool = True

    @property
    def costs(self) -> dict[str, float]:
        return {name: own.cost for name, own in self.views.items()}

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"objective_{name}": own.cost for name, own in self.views.items()} if len(self.views) > 1 else {}
        counts = {
            "violations": sum(own.n_violations for own in self.views.values()),
            "propagated": sum(len(own.must.weights) + len(own.cannot.weights) for own in self.handed.values()),
        }
        return {"objective": sum(own.cost for own in self.views.values()), **by_view, **counts}


def co_constrained(
    mapped: Mapped, base: Base, given: Mapping[str, Both], infer: Infer, thresholds: Mapping[str, float], tol: float
) -> Iterator[CoConstrainedState]:
    """One state a round; settled when no view's objective has changed by more than tol, or that share of itself."""
    states: dict[str, ConstrainedState] = {}
    links: dict[str, Both] = {}
    handed = {name: Both() for name in mapped.views}
    while True:
        before = {name: own.cost for name, own in states.items()}
        for name, view in mapped.views.items():
            others = (other for other in mapped.views if other != name)
            received = (handed[other].transferred(mapped.mappings[other, name]) for other in others)
            links[name] = reduce(or_, received, given[name])  # Step 9
            states[name] = base.cluster(name, view.view, links[name], given[name])  # Step 10, the M-step
            handed[name] = infer(view, states[name], given[name], mapped.targets[name], thresholds[name])  # Step 11
        settled = bool(before) and all(
            abs(own.cost - before[name]) <= tol * max(1.0, abs(own.cost)) for name, own in states.items()
        )
        yield CoConstrainedState(dict(states), dict(links), dict(handed), settled)


Infer = Callable[[Instances, ConstrainedState, Both, np.ndarray, float], Both]


def by_propagation(
    view: Instances, state: ConstrainedState, given: Both, targets: np.ndarray, threshold: float
) -> Both:
    """What the given constraints say of mapped rows about their ends (section 4.1)."""
    shapes = cluster_shapes(view.X, state.labels, state.centres, state.metric)
    return Both(*propagate(view.X, state.labels, shapes, given.must, given.cannot, targets, threshold))


def as_given(view: Instances, state: ConstrainedState, given: Both, targets: np.ndarray, threshold: float) -> Both:  # noqa: ARG001
    """Those of the given constraints whose ends are both mapped."""
    mapped = np.zeros(view.X.shape[0], bool)
    mapped[targets] = True
    return Both(*(links.where(mapped[links.pairs].all(axis=1)) for links in (given.must, given.cannot)))


def by_membership(view: Instances, state: ConstrainedState, given: Both, targets: np.ndarray, threshold: float) -> Both:  # noqa: ARG001
    """All pairs of mapped rows, tied or kept apart as they are now."""
    n = len(targets)
    check_pairs_fit(n * (n - 1) // 2, "all pairs of mapped entities (transfer='membership')")
    one, other = np.triu_indices(n, 1)
    pairs = np.column_stack([targets[one], targets[other]])
    same = state.labels[pairs[:, 0]] == state.labels[pairs[:, 1]]
    weights = np.ones(len(pairs))
    return Both(Links(pairs[same], weights[same]), Links(pairs[~same], weights[~same]))


def nothing(view: Instances, state: ConstrainedState, given: Both, targets: np.ndarray, threshold: float) -> Both:  # noqa: ARG001
    """Each view is alone."""
    return Both()


TRANSFERS: dict[str, Infer] = {
    "propagate": by_propagation,
    "direct": as_given,
    "membership": by_membership,
    "none": nothing,
}


def folds(links: Links, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """(links,) which fold each belongs to, all of about the same size."""
    return rng.permutation(np.arange(len(links.weights)) % n_folds)


def kept(labels: np.ndarray, links: Both) -> Sequence[tuple[float, float]]:
    """For must-links and cannot-links the weight of those that the labels keep, and of all."""
    found = []
    for own, same in ((links.must, True), (links.cannot, False)):
        right = (labels[own.pairs[:, 0]] == labels[own.pairs[:, 1]]) == same
        found.append((float(own.weights[right].sum()), float(own.weights.sum())))
    return found
