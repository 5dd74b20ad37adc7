"""K-means that satisfies all constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ..._saving import save_as
from ...arrays import Seed
from ...data import Constraints
from ...data.links import label_components, list_partners
from ...rows import ViewRows
from ..common.constraint_checks import show_chain
from ..common.docs import share_docs
from .pairwise import PATIENCE, InfeasibleConstraintsError, LinkedView, Penalties
from .pck import PCKMeans


@share_docs
@save_as("cop-means")
class COPKMeans(PCKMeans):
    """K-means under hard constraints, COP-KMeans (Wagstaff, Cardie, Rogers & Schroedl 2001).

    In every round entities are visited one by one, and each joins the nearest cluster in which it violates no
    constraint; then centers move to the means. Entities that must-links tie together follow the one that is visited
    first. Every constraint is satisfied, whatever its weight, so constraints must be right: a wrong one cannot be
    violated as in `PCKMeans`.

    Parameters
    ----------
    %(n_clusters)s
    init : {'farthest', 'largest'}, centers, labels or responsibilities, default='farthest'
        Where to start, as in `PCKMeans`.
    order : {'random', 'index'}, default='random'
        Order in which entities with constraints are visited.
    n_init : int, default=10
        Number of starts, which differ in the order of visits, and in the centers if must-links tie fewer than
        `n_clusters` groups. The result of lowest cost is kept.
    %(max_iter)s
    tol : float, default=0.0
        Stop when for ten rounds the cost has not fallen by more than this share of itself; 0: when no entity moves.
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centers.
    cost_ : float
        Sum of the squared distances from the centers.
    n_violations_ : int
        Number of violated constraints: 0.
    input_constraints_ : Constraints
        The constraints given to `fit`, by position.
    history_ : Table
        Objective and number of violations per round.
    %(n_iter_)s
    %(n_features_in_)s

    Raises
    ------
    InfeasibleConstraintsError
        If cannot-links contradict must-links, or if in no start every entity had a cluster left that satisfies its
        constraints. Whether constraints can be satisfied by more than two clusters is a hard problem (graph coloring),
        so a clustering may exist although none was found.

    See Also
    --------
    PCKMeans : constraints that may be violated, at the price of their weights.
    MultiViewConstrainedKMeans : several views, partly mapped to each other; ``base='cop'``.

    Notes
    -----
    In the paper a round ends without a result if an entity has no cluster left. Here the round is then repeated, and
    the entity that has the fewest clusters left is always visited next, which never fails with two clusters if the
    constraints can be satisfied. If that fails in the first round, the start is given up; later, the entities with
    constraints stay in their clusters. The cost may rise from round to round; if the rounds do not settle, the one of
    lowest cost is kept. The result does not depend on the units of the data.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> constraints = cs.Constraints.sample(y, 20, random_state=0)
    >>> model = cs.COPKMeans(n_clusters=2, random_state=0).fit(views["a"], constraints=constraints)
    >>> model.n_violations_, round(cs.metrics.pairwise_scores(y, model.labels_).f, 2)
    (0, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PCKMeans._parameter_constraints

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "farthest",
        order: Literal["random", "index"] = "random",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            order=order,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _link_rows(self, rows: ViewRows, links: Constraints, ids: np.ndarray | None) -> LinkedView:
        conflicts = links.conflicts
        if len(conflicts):
            raise InfeasibleConstraintsError(
                f"cannot-link {show_pair(conflicts[0], ids)} contradicts must-links, which tie these entities together"
                f"{show_chain(conflicts[0], links.must.pairs, ids)} ({len(conflicts)} such): leave it or one of the "
                "must-links out, or use PCKMeans, which may violate constraints",
                conflicts,
            )
        return HardLinkedView(rows, links.must, links.cannot, False, ids)


@dataclass(frozen=True, eq=False)
class HardLinkedView(LinkedView):
    """A view whose links must all be satisfied: rows that must-links tie together form a group, which moves as one."""

    ids: np.ndarray | None = None  # names of the rows in messages

    @property
    def patience(self) -> int:
        return PATIENCE  # because the nearest cluster may be closed in the next round, the cost may rise

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each linked row."""
        return label_components(self.pairs[: len(self.must.weights)], len(self.rows))

    @cached_property
    def separated(self) -> tuple[np.ndarray, np.ndarray]:
        """The groups from which cannot-links separate each group, in CSR layout."""
        between = np.unique(np.sort(self.groups[self.pairs[len(self.must.weights) :]], axis=1), axis=0)
        indptr, partners, _ = list_partners(between, self.groups.max(initial=-1) + 1)
        return indptr, partners

    def assign_linked_rows(
        self, costs: np.ndarray, labels: np.ndarray, visits: np.ndarray, penalties: Penalties
    ) -> int:
        """Move each group to the nearest cluster of its first visited row in which no link is violated, in place."""
        from . import kernels

        _, first = np.unique(self.groups[visits], return_index=True)  # position of the first visit to each group
        group_costs, group_visits = costs[visits[first]], np.argsort(first)
        for constrained_first in (False, True):
            group_labels, stuck = kernels.assign_groups(group_visits, group_costs, *self.separated, constrained_first)
            if stuck < 0:
                n_moved = int(np.sum(group_labels[self.groups] != labels))
                labels[:] = group_labels[self.groups]
                return n_moved
        if (labels >= 0).all() and not penalties.find_violated(labels)[0].any():
            return 0  # the labels of the previous round are still a clustering that satisfies all links
        raise self.explain_dead_end(stuck, group_labels)

    def explain_dead_end(self, stuck: int, group_labels: np.ndarray) -> InfeasibleConstraintsError:
        """Return the error for a group that has cannot-links to rows in all clusters."""
        ends = self.groups[self.pairs[len(self.must.weights) :]]
        other = np.where(ends[:, 0] == stuck, ends[:, 1], ends[:, 0])
        reached = np.where((ends == stuck).any(axis=1), group_labels[other], -1)
        clusters, first = np.unique(reached, return_index=True)
        pairs = self.cannot.pairs[first[clusters >= 0]]  # one link per cluster
        return InfeasibleConstraintsError(
            f"no clustering into {len(pairs)} clusters that satisfies all constraints was found: of the entities in "
            f"cannot-links {', '.join(show_pair(pair, self.ids) for pair in pairs)}, and those that must-links tie to "
            "them, one has no cluster left. Increase n_clusters or n_init, leave out some of the constraints, or use "
            "PCKMeans, which may violate constraints",
            pairs,
        )


def show_pair(pair: np.ndarray, ids: np.ndarray | None) -> str:
    """Format two entities by their ids, or by their positions if there are none."""
    first, second = pair if ids is None else ids[pair]
    return f"({first}, {second})"
