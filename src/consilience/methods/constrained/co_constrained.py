"""Constrained clustering of views that are partly mapped to each other (Eaton, desJardins & Jacob 2010, Algorithm 1).

Views take turns: each is clustered under its own constraints and those that the others hand over, and hands over what
its clusters make of its own: constraints between rows that are mapped to other views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, permutations
from operator import or_
from typing import NamedTuple

import numpy as np

from ...data import Constraints, Links, label_components
from ...data.links import compute_closure
from ...divergences import ViewRows
from .cluster_metrics import ClusterMetric
from .linked import LinkedView, Order
from .neighbourhoods import choose_first_centers
from .pairwise import ConstrainedState, iterate_constrained_kmeans, run_until_settled
from .transfer import ClusteredView, Infer

MOST_ROUNDS = 300  # of the constrained k-means of a view


@dataclass(frozen=True, eq=False)
class ViewInstances:
    """The rows of one view, and which of them each entity is."""

    view: ViewRows
    row: np.ndarray  # (entities,) -1: the entity lacks the view

    @property
    def n_rows(self) -> int:
        return self.view.X.shape[0]

    @cached_property
    def entity(self) -> np.ndarray:
        """(rows,) the first entity that each row belongs to."""
        there = np.flatnonzero(self.row >= 0)[::-1]
        first = np.empty(self.n_rows, np.int64)
        first[self.row[there]] = there
        return first

    def of_entities(self, labels: np.ndarray) -> np.ndarray:
        """Labels of the rows as labels of the entities, -1 where they lack the view."""
        return np.where(self.row >= 0, labels[np.maximum(self.row, 0)], -1)


class ClosedConstraints(NamedTuple):
    """A view's constraints and all that follow; and without those that contradict others."""

    all: Constraints
    sound: Constraints


@dataclass(frozen=True, eq=False)
class MappedViews:
    """Several views, mapped to each other by the entities that have more than one of them."""

    views: Mapping[str, ViewInstances]

    @cached_property
    def mappings(self) -> dict[tuple[str, str], np.ndarray]:
        """(pairs, 2) rows of two views that are the same entity."""
        found = {}
        for one, other in permutations(self.views, 2):
            rows = np.column_stack([self.views[one].row, self.views[other].row])
            found[one, other] = np.unique(rows[(rows >= 0).all(axis=1)], axis=0)
        return found

    @cached_property
    def targets(self) -> dict[str, np.ndarray]:
        """The rows of each view that are mapped to another."""
        several = np.sum([own.row >= 0 for own in self.views.values()], axis=0) > 1
        return {name: np.unique(own.row[several & (own.row >= 0)]) for name, own in self.views.items()}

    @cached_property
    def nodes(self) -> dict[str, np.ndarray]:
        """A number for each row of each view; rows that are mapped to each other share one."""
        sizes = [own.n_rows for own in self.views.values()]
        starts = dict(zip(self.views, np.cumsum([0, *sizes]), strict=False))
        ties = [self.mappings[pair] + [starts[name] for name in pair] for pair in combinations(self.views, 2)]
        node = label_components(np.vstack([np.zeros((0, 2), np.int64), *ties]), sum(sizes))
        return {name: node[starts[name] : starts[name] + n] for name, n in zip(self.views, sizes, strict=True)}

    def closed(self, given: Mapping[str, Constraints], common: Constraints) -> dict[str, ClosedConstraints]:
        """Each view's constraints with all that follow, the mapping being must-links that never limit a path.

        `common` constraints are between entities, given in no view. Where a row is mapped to several of another view,
        these are tied, as strongly as anything that is given. Cannot-links that contradict must-links count in their
        view, but nothing is inferred from them.
        """
        everything = self.join_constraints(given, common)
        tied = self.group_nodes(everything.must)
        sound = Constraints.from_links(
            everything.must, everything.cannot.where(split_by_groups(tied, everything))
        ).closure()
        strongest = max([*everything.must.weights, *everything.cannot.weights], default=1.0)
        closed = {}
        for name, own in self.nodes.items():
            inferred = sound.transfer(np.column_stack([own, np.arange(len(own))]))
            inferred |= Constraints.from_links(tie_same_node(own, strongest), Links.none())
            agreed = Constraints.from_links(
                given[name].must, given[name].cannot.where(split_by_groups(tied[own], given[name]))
            )
            closed[name] = ClosedConstraints(given[name] | inferred, agreed | inferred)
        return closed

    def group_nodes(self, must: Links) -> np.ndarray:
        """(nodes,) which nodes must-links tie together."""
        return label_components(must.pairs, 1 + max(own.max(initial=-1) for own in self.nodes.values()))

    def conflicts(self, given: Mapping[str, Constraints], common: Constraints) -> np.ndarray:
        """Pairs of entities that cannot-links keep apart, and must-links or the mapping tie together."""
        tied = self.group_nodes(self.join_constraints(given, common).must)
        found = [common.cannot.pairs[~split_by_groups(tied[self.entity_nodes], common)]]
        for name, own in given.items():
            pairs = own.cannot.pairs[~split_by_groups(tied[self.nodes[name]], own)]
            found.append(self.views[name].entity[pairs])
        return np.unique(np.sort(np.vstack(found), axis=1), axis=0)

    def join_constraints(self, given: Mapping[str, Constraints], common: Constraints) -> Constraints:
        """The constraints of all views and of the entities as such, between nodes."""
        numbered = (own.renumber(self.nodes[name]) for name, own in given.items())
        return reduce(or_, numbered, common.renumber(self.entity_nodes))

    @cached_property
    def entities(self) -> np.ndarray:
        """(nodes,) the first entity of each node."""
        first = np.empty(self.entity_nodes.max(initial=-1) + 1, np.int64)
        first[self.entity_nodes[::-1]] = np.arange(len(self.entity_nodes))[::-1]
        return first

    @cached_property
    def entity_nodes(self) -> np.ndarray:
        """(entities,) the node of each entity."""
        node = np.full(len(next(iter(self.views.values())).row), -1)
        for name, own in self.views.items():
            there = own.row >= 0
            node[there] = self.nodes[name][own.row[there]]
        return node


def split_by_groups(group: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Which cannot-links are between different groups."""
    ends = group[constraints.cannot.pairs]
    return ends[:, 0] != ends[:, 1]


def tie_same_node(node: np.ndarray, weight: float) -> Links:
    """Ties between the rows of one view that are mapped to the same row of another."""
    order = np.argsort(node, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    pairs = pairs[node[pairs[:, 0]] == node[pairs[:, 1]]]
    return compute_closure(Links.of(pairs, np.full(len(pairs), weight)), Links.none())[0]


@dataclass(frozen=True, eq=False)
class ViewClusterer:
    """The constrained k-means that clusters each view."""

    n_clusters: int
    metric: Callable[[LinkedView], ClusterMetric]  # the first metric of a view
    uses_length: bool
    start: str
    order: Order  # order in which the linked rows of a view are visited, the same in every round
    seed: int  # seed of the start, the same in every view and round, so that views may come in any order
    centers: Mapping[str, np.ndarray]  # given starts

    def cluster(self, name: str, view: ViewRows, given: Constraints, links: Constraints) -> ConstrainedState:
        """Cluster one view under its own constraints and those from others; the start tells them apart."""
        problem = LinkedView(view, links.must, links.cannot, self.uses_length)
        centres = self.centers.get(name)
        if centres is None:
            rng = np.random.default_rng(self.seed)
            centres = choose_first_centers(view, given, links, self.n_clusters, self.start, rng)
        states = iterate_constrained_kmeans(problem, self.metric(problem), centres, self.order)
        done = run_until_settled(problem, states, self.order, MOST_ROUNDS, 0.0, lambda *_: None)
        if done.interrupted:
            raise KeyboardInterrupt
        return done.state


def cluster_separately(
    mapped: MappedViews, base: ViewClusterer, given: Mapping[str, ClosedConstraints]
) -> dict[str, ConstrainedState]:
    """Cluster each view under its own constraints; the views with the most compact clusters come first.

    Algorithm 1 of the paper visits the views in turn and does not say which comes first. The objective per row and
    column, in units in which the view has variance 1, depends neither on the order of the views nor on their units.
    """
    states, objectives = {}, {}
    for name, instances in mapped.views.items():
        states[name] = base.cluster(name, instances.view, given[name].all, given[name].all)
        objectives[name] = states[name].standard_cost / (instances.n_rows * instances.view.X.shape[1])
    return {name: states[name] for name in sorted(objectives, key=objectives.__getitem__)}


@dataclass(frozen=True, eq=False)
class CoConstrainedState:
    """After a round: how each view is clustered, under which constraints, and what it hands on."""

    views: dict[str, ConstrainedState]
    links: dict[str, Constraints]
    propagated: dict[str, Constraints]
    settled: bool
    comparable: bool = True

    @property
    def objective(self) -> float:
        """Sum of the objectives of the views."""
        return float(sum(state.cost for state in self.views.values()))

    @property
    def costs(self) -> dict[str, float]:
        return {name: state.standard_cost for name, state in self.views.items()}

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"objective_{name}": own.cost for name, own in self.views.items()} if len(self.views) > 1 else {}
        counts = {
            "violations": sum(own.n_violations for own in self.views.values()),
            "propagated": sum(own.size for own in self.propagated.values()),
        }
        return {"objective": self.objective, **by_view, **counts}


def iterate_co_constrained(
    mapped: MappedViews,
    base: ViewClusterer,
    given: Mapping[str, ClosedConstraints],
    infer: Infer,
    thresholds: Mapping[str, float],
    tol: float,
    alone: Mapping[str, ConstrainedState],
) -> Iterator[CoConstrainedState]:
    """Yield one state per round, until no view's objective changes by more than `tol` or that share of itself.

    Objectives are compared in units in which each view has variance 1. `alone` holds the clusterings of views under
    their own constraints that are known already; they are used where a view receives no constraints.
    """
    states: dict[str, ConstrainedState] = {}
    links: dict[str, Constraints] = {}
    handed = {name: Constraints() for name in mapped.views}
    while True:
        before = {name: state.standard_cost for name, state in states.items()}
        for name, view in mapped.views.items():
            others = (other for other in mapped.views if other != name)
            transferred = (handed[other].transfer(mapped.mappings[other, name]) for other in others)
            received = reduce(or_, transferred, Constraints())
            links[name] = given[name].all | received  # Step 9
            if name in alone and not received.size:
                states[name] = alone[name]
            else:
                states[name] = base.cluster(name, view.view, given[name].all, links[name])  # Step 10, the M-step
            turn = ClusteredView(view.view.X, states[name], given[name].sound, mapped.targets[name], thresholds[name])
            handed[name] = infer(turn)  # Step 11, the E-step
        settled = bool(before) and all(
            abs(state.standard_cost - before[name]) <= tol * max(1.0, abs(state.standard_cost))
            for name, state in states.items()
        )
        yield CoConstrainedState(dict(states), dict(links), dict(handed), settled)
