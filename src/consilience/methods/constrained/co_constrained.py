"""Constrained clustering of views that are partly mapped to each other (Eaton, desJardins & Jacob 2010, Algorithm 1).

Views take turns: each is clustered under its own constraints and those received from the others, and passes on the
constraints that its clusters imply between rows that are mapped to other views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, permutations
from operator import or_
from typing import NamedTuple

import numpy as np

from ...data import Constraints
from ...data.links import Links, label_components
from ...rows import ViewRows
from .base_clusterer import BaseClusterer
from .cluster_metrics import ClusterMetric
from .neighborhoods import choose_first_centers
from .pairwise import ConstrainedState, LinkedView, VisitOrder, iterate_constrained_kmeans, run_until_settled
from .propagate import ClusteredView, InferConstraints

MAX_VIEW_ROUNDS = 300  # of the constrained k-means of a view
CANDIDATES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # thresholds of propagated constraints
N_FOLDS = 5
DEFAULT_THRESHOLD = 0.5  # among thresholds that do equally well, the one nearest to this is chosen


@dataclass(frozen=True, eq=False)
class ViewInstances:
    """The distinct rows of one view, and the row of each entity."""

    view: ViewRows
    row: np.ndarray  # (entities,) -1: the entity lacks the view

    @property
    def n_rows(self) -> int:
        return self.view.X.shape[0]

    @cached_property
    def entity(self) -> np.ndarray:
        """The first entity of each row: (rows,)."""
        present = np.flatnonzero(self.row >= 0)[::-1]
        first = np.empty(self.n_rows, np.int64)
        first[self.row[present]] = present
        return first

    def label_entities(self, labels: np.ndarray) -> np.ndarray:
        """Convert labels of the rows to labels of the entities, -1 where they lack the view."""
        return np.where(self.row >= 0, labels[np.maximum(self.row, 0)], -1)


class ClosedConstraints(NamedTuple):
    """A view's constraints with all that follow from them; and without those that contradict others."""

    all: Constraints
    consistent: Constraints


@dataclass(frozen=True, eq=False)
class MappedViews:
    """Several views, mapped to each other by the entities that have more than one of them."""

    views: Mapping[str, ViewInstances]
    across: bool = True  # whether constraints of one view imply others in other views

    @cached_property
    def mappings(self) -> dict[tuple[str, str], np.ndarray]:
        """Rows of two views that are the same entity: (pairs, 2)."""
        mappings = {}
        for left, right in permutations(self.views, 2):
            rows = np.column_stack([self.views[left].row, self.views[right].row])
            mappings[left, right] = np.unique(rows[(rows >= 0).all(axis=1)], axis=0)
        return mappings

    @cached_property
    def targets(self) -> dict[str, np.ndarray]:
        """The rows of each view that are mapped to another view."""
        in_several = np.sum([view.row >= 0 for view in self.views.values()], axis=0) > 1
        return {name: np.unique(view.row[in_several & (view.row >= 0)]) for name, view in self.views.items()}

    @cached_property
    def nodes(self) -> dict[str, np.ndarray]:
        """A number per row of each view; rows that are mapped to each other share one."""
        sizes = [view.n_rows for view in self.views.values()]
        starts = dict(zip(self.views, np.cumsum([0, *sizes]), strict=False))
        edges = [self.mappings[pair] + [starts[name] for name in pair] for pair in combinations(self.views, 2)]
        node = label_components(np.vstack([np.zeros((0, 2), np.int64), *edges]), sum(sizes))
        return {name: node[starts[name] : starts[name] + n] for name, n in zip(self.views, sizes, strict=True)}

    @cached_property
    def entity_nodes(self) -> np.ndarray:
        """The node of each entity: (entities,)."""
        node = np.full(len(next(iter(self.views.values())).row), -1)
        for name, view in self.views.items():
            present = view.row >= 0
            node[present] = self.nodes[name][view.row[present]]
        return node

    @cached_property
    def entities(self) -> np.ndarray:
        """The first entity of each node: (nodes,)."""
        first = np.empty(self.entity_nodes.max(initial=-1) + 1, np.int64)
        first[self.entity_nodes[::-1]] = np.arange(len(self.entity_nodes))[::-1]
        return first

    def close_constraints(
        self, constraints: Mapping[str, Constraints], common: Constraints
    ) -> dict[str, ClosedConstraints]:
        """Add to each view's constraints all that follow; the mapping acts as must-links that never limit a path.

        `common` constraints are between entities, not in a view. Rows of a view that are mapped to the same row of
        another are tied as strongly as the strongest constraint. Cannot-links that contradict must-links count in their
        view, but nothing is inferred from them.
        """
        if not self.across:
            return {name: ClosedConstraints(links.closure(), Constraints()) for name, links in constraints.items()}
        everything = self.join_constraints(constraints, common)
        group = self.group_nodes(everything.must)
        consistent = everything.cannot.select(is_between_groups(group, everything.cannot))
        closure = Constraints.from_links(everything.must, consistent).closure()
        strongest = max([*everything.must.weights, *everything.cannot.weights], default=1.0)
        closed = {}
        for name, node in self.nodes.items():
            inferred = closure.transfer(np.column_stack([node, np.arange(len(node))]))
            order = np.argsort(node, kind="stable")
            ties = np.column_stack([order[:-1], order[1:]])
            ties = ties[node[ties[:, 0]] == node[ties[:, 1]]]
            inferred |= Constraints.from_links(
                Links.from_pairs(ties, np.full(len(ties), strongest)), Links.empty()
            ).closure()
            must, cannot = constraints[name].must, constraints[name].cannot
            agreeing = Constraints.from_links(must, cannot.select(is_between_groups(group[node], cannot)))
            closed[name] = ClosedConstraints(constraints[name] | inferred, agreeing | inferred)
        return closed

    def find_conflicts(self, constraints: Mapping[str, Constraints], common: Constraints) -> np.ndarray:
        """Find pairs of entities with a cannot-link that must-links or the mapping tie together."""
        if not self.across:
            return np.vstack([self.views[name].entity[links.conflicts] for name, links in constraints.items()])
        group = self.group_nodes(self.join_constraints(constraints, common).must)
        conflicts = [common.cannot.pairs[~is_between_groups(group[self.entity_nodes], common.cannot)]]
        for name, links in constraints.items():
            pairs = links.cannot.pairs[~is_between_groups(group[self.nodes[name]], links.cannot)]
            conflicts.append(self.views[name].entity[pairs])
        return np.unique(np.sort(np.vstack(conflicts), axis=1), axis=0)

    def join_constraints(self, constraints: Mapping[str, Constraints], common: Constraints) -> Constraints:
        """Join the constraints of all views and the common ones, as constraints between nodes."""
        numbered = (links.renumbered(self.nodes[name]) for name, links in constraints.items())
        return reduce(or_, numbered, common.renumbered(self.entity_nodes))

    def group_nodes(self, must: Links) -> np.ndarray:
        """Label the groups of nodes that must-links tie together: (nodes,)."""
        return label_components(must.pairs, 1 + max(node.max(initial=-1) for node in self.nodes.values()))


def is_between_groups(group: np.ndarray, links: Links) -> np.ndarray:
    """Return which links are between different groups."""
    ends = group[links.pairs]
    return ends[:, 0] != ends[:, 1]


@dataclass(frozen=True, eq=False)
class ViewClusterer:
    """The constrained k-means that clusters each view; it makes the same random draws in every view and round."""

    n_clusters: int
    metric: Callable[[LinkedView], ClusterMetric]  # the first metric of a view
    uses_length: bool
    start: str
    order: VisitOrder  # order in which the linked rows of a view are visited
    seed: int  # seed of the start
    centers: Mapping[str, np.ndarray]  # starting centers from the user

    def cluster(self, name: str, view: ViewRows, trusted: Constraints, links: Constraints) -> ConstrainedState:
        """Cluster one view under `links`; the start relies on the `trusted` ones, the others may be wrong."""
        problem = LinkedView(view, links.must, links.cannot, self.uses_length)
        centers = self.centers.get(name)
        if centers is None:
            rng = np.random.default_rng(self.seed)
            centers = choose_first_centers(view, trusted, links, self.n_clusters, self.start, rng)
        states = iterate_constrained_kmeans(problem, self.metric(problem), centers, self.order)
        finished = run_until_settled(problem, states, self.order, MAX_VIEW_ROUNDS, 0.0, lambda *_: None)
        if finished.interrupted:
            raise KeyboardInterrupt
        return finished.state


Clusterer = ViewClusterer | BaseClusterer


def cluster_separately(
    mapped: MappedViews, clusterer: Clusterer, constraints: Mapping[str, ClosedConstraints]
) -> dict[str, ConstrainedState]:
    """Cluster each view under its own constraints; the views with the most compact clusters come first.

    Algorithm 1 of the paper visits the views in turn and does not say which comes first. The objective per row and
    column, in units in which the view has variance 1, depends neither on the order of the views nor on their units.
    """
    states, objectives = {}, {}
    for name, instances in mapped.views.items():
        states[name] = clusterer.cluster(name, instances.view, constraints[name].all, constraints[name].all)
        objectives[name] = states[name].standard_cost / (instances.n_rows * instances.view.X.shape[1])
    return {name: states[name] for name in sorted(objectives, key=objectives.__getitem__)}


@dataclass(frozen=True, eq=False)
class CoConstrainedState:
    """State after a round: the clusters of each view, the constraints they were found under, and those passed on."""

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
        by_view = {f"objective_{name}": state.cost for name, state in self.views.items()}
        counts = {
            "violations": sum(state.n_violations for state in self.views.values()),
            "propagated": sum(links.size for links in self.propagated.values()),
        }
        return {"objective": self.objective, **(by_view if len(by_view) > 1 else {}), **counts}


def iterate_co_constrained(
    mapped: MappedViews,
    clusterer: Clusterer,
    constraints: Mapping[str, ClosedConstraints],
    infer: InferConstraints,
    thresholds: Mapping[str, float],
    gamma: float,
    tol: float,
    separate: Mapping[str, ConstrainedState],
) -> Iterator[CoConstrainedState]:
    """Yield one state per round, settled if no view's objective changes by more than `tol` or that share of itself.

    Objectives are compared in units in which each view has variance 1. `separate` holds clusterings of views under
    their own constraints; they are used where a view receives no constraints.
    """
    states: dict[str, ConstrainedState] = {}
    links: dict[str, Constraints] = {}
    propagated = {name: Constraints() for name in mapped.views}
    while True:
        before = dict(states)
        for name, instances in mapped.views.items():
            others = (other for other in mapped.views if other != name)
            transferred = (propagated[other].transfer(mapped.mappings[other, name]) for other in others)
            received = reduce(or_, transferred, Constraints())
            closed = constraints[name]
            links[name] = closed.all | received  # Step 9
            if name in separate and not received.size:
                states[name] = separate[name]
            else:
                states[name] = clusterer.cluster(name, instances.view, closed.all, links[name])  # Step 10, the M-step
            view = ClusteredView(
                instances.view.X, states[name], closed.consistent, mapped.targets[name], thresholds[name], gamma
            )
            propagated[name] = infer(view)  # Step 11, the E-step
        settled = bool(before) and all(state.repeats(before[name], tol) for name, state in states.items())
        yield CoConstrainedState(dict(states), dict(links), dict(propagated), settled)


def choose_threshold(
    mapped: MappedViews,
    constraints: Mapping[str, Constraints],
    cluster: Callable[[Mapping[str, ClosedConstraints], float], Mapping[str, np.ndarray]],  # labels per view
    rng: np.random.Generator,
) -> float:
    """Choose the threshold under which held-out constraints are satisfied best (Eaton et al. 2010, section 5.4)."""
    if sum(links.size for links in constraints.values()) < 2:
        raise ValueError("threshold='auto' needs at least two constraints within views to choose by: give a number")
    scores = np.zeros((len(CANDIDATES), 2, 2))  # threshold, kind, (satisfied weight, total weight)
    for train, test in split_folds(mapped, constraints, rng):
        closed = mapped.close_constraints(train, Constraints())
        for i, threshold in enumerate(CANDIDATES):
            labels = cluster(closed, threshold)
            for name, links in test.items():
                scores[i] += [
                    score_links(labels[name], links.must, True),
                    score_links(labels[name], links.cannot, False),
                ]
    shares = scores[..., 0] / np.where(scores[..., 1] > 0, scores[..., 1], 1)
    has_kind = scores[0, :, 1] > 0
    mean_shares = shares[:, has_kind].mean(axis=1)
    best = [t for t, score in zip(CANDIDATES, mean_shares, strict=True) if score >= mean_shares.max() - 1e-12]
    return min(best, key=lambda t: abs(t - DEFAULT_THRESHOLD))


def split_folds(
    mapped: MappedViews, constraints: Mapping[str, Constraints], rng: np.random.Generator
) -> Iterator[tuple[dict[str, Constraints], dict[str, Constraints]]]:
    """Yield training and held-out constraints; a pair that several views constrain is held out in all of them."""
    must = assign_folds({name: mapped.nodes[name][links.must.pairs] for name, links in constraints.items()}, rng)
    cannot = assign_folds({name: mapped.nodes[name][links.cannot.pairs] for name, links in constraints.items()}, rng)
    for fold in range(N_FOLDS):
        train, test = {}, {}
        for name, links in constraints.items():
            in_must, in_cannot = must[name] == fold, cannot[name] == fold
            train[name] = Constraints.from_links(links.must.select(~in_must), links.cannot.select(~in_cannot))
            test[name] = Constraints.from_links(links.must.select(in_must), links.cannot.select(in_cannot))
        yield train, test


def assign_folds(pairs: Mapping[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Assign each pair to a fold, equal pairs to the same one; folds have about the same size."""
    stacked = np.sort(np.vstack(list(pairs.values())), axis=1)
    distinct, which = np.unique(stacked, axis=0, return_inverse=True)
    fold = rng.permutation(np.arange(len(distinct)) % N_FOLDS)[which.reshape(-1)]
    ends = np.cumsum([len(view_pairs) for view_pairs in pairs.values()])
    return dict(zip(pairs, np.split(fold, ends[:-1]), strict=True))


def score_links(labels: np.ndarray, links: Links, together: bool) -> tuple[float, float]:
    """Return the weight of the links whose ends are together (or apart), and the weight of all links."""
    satisfied = (labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]) == together
    return float(links.weights[satisfied].sum()), float(links.weights.sum())
