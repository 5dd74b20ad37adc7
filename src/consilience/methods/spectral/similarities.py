"""From views to the similarities of their entities, and of new entities to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from ..._saving import refer_as, save_as
from ...affinities import Affinity, CrossOperator, NoAffinityError, Operator, ViewOperator
from ...affinities.base import HostOperator
from ...arrays import all_rows_equal, available_device_memory, available_memory, is_on_host, is_sparse, to_numpy
from ...data import Views
from ..common.input_checks import validate_blocks, warn_about_zero_rows
from ..common.similarities import name_view_in_errors, select_rows
from .missing import FilledSimilarities

NO_NEIGHBORS = "is similar to no other entity and gets the cluster nearest to the origin of the embedding"


@save_as("view-similarities")
@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities in each view of the entities that have the view."""

    views: Sequence[ViewOperator]
    present: np.ndarray  # (n, V)

    @cached_property
    def scales(self) -> np.ndarray:
        """(V, V) the factor that brings the similarities of one view (column) to the size of another's (row)."""
        sizes = np.array([view.norm() for view in self.views]) / self.present.sum(axis=0)
        return sizes[:, None] / np.where(sizes > 0, sizes, np.inf)

    @property
    def operators(self) -> Sequence[Operator]:
        """The similarities of all entities in each view: filled in from other views where entities lack the view."""
        return self.fill(self.views, self.present)

    def fill(self, operators: Sequence[Any], present: np.ndarray) -> Sequence[Any]:
        """Return the similarities of entities to those of the fit in each view, filled in where they lack the view."""
        if present.all() and self.present.all() and all(operator is not None for operator in operators):
            return operators
        return [FilledSimilarities(v, operators, self.scales[v], present, self.present) for v in range(len(operators))]


@dataclass(frozen=True, eq=False)
class CombinedSimilarities:
    """Similarities combined from those of several views."""

    views: Sequence[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.views[0].shape

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(*(K.dtype for K in self.views))

    @property
    def exact(self) -> bool:
        return all(K.exact for K in self.views)


@refer_as("sum-of-similarities")
class SimilaritySum(CombinedSimilarities):
    """Similarities added up."""

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return reduce(add, (K.columns(entities) for K in self.views))

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return reduce(add, (K @ U for K in self.views))


def compute_similarities(
    views: Views,
    affinities: Mapping[str, Affinity],
    rng: np.random.Generator,
    *,
    n_clusters: int | None = None,
    on_device: bool = False,
) -> tuple[dict[str, Affinity], Similarities]:
    """Compare the entities in each view that they have.

    Also returns the affinities with everything they left open decided, by the number of clusters, too, if it is known.
    Products with similarities of rows on a device
    stay there if `on_device`, and come as NumPy arrays otherwise.
    """
    resolved, operators, present = {}, [], {}
    on_disk = {name: affinity.out_of_core(len(views)) for name, affinity in affinities.items()}
    for name, (X, has_view) in validate_blocks(views, stored=on_disk).items():
        rows = select_rows(X, to_numpy(has_view))
        if rows.shape[0] > 1 and all_rows_equal(rows):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        resolved[name] = affinity = affinities[name].resolve_for_clusters(rows, n_clusters)
        if is_sparse(rows) and not affinity.accepts_sparse:
            raise NoAffinityError(
                f"view {name!r}: {affinity} does not support sparse views: give a dense array (X.toarray()), or use "
                "another affinity, such as 'nearest-neighbors' or 'cosine'"
            )
        needed, free = affinity.nbytes(rows), available_memory() if is_on_host(X) else available_device_memory(X)
        if free is not None and needed > free:
            raise MemoryError(
                f"view {name!r}: the similarities by {affinity} take {needed / 2**30:.1f} GiB of memory, but "
                f"{free / 2**30:.1f} GiB are free: use affinity='landmarks', or cluster fewer entities (views[rows])"
            )
        present[name] = to_numpy(has_view) & to_numpy(affinity.comparable_rows(X))
        if not present[name].any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        with name_view_in_errors(name):
            operator = affinity.build_operator(select_rows(X, present[name]), rng)
        operators.append(operator if on_device or is_on_host(X) else HostOperator(operator))
    warn_about_zero_rows(views, present, NO_NEIGHBORS)
    similarities = Similarities(operators, np.column_stack(list(present.values())))
    if not similarities.present.all():  # similarities are filled in from other views
        with np.errstate(over="ignore"):
            too_large = np.argwhere(~np.isfinite(similarities.scales))
        for v, w in too_large:
            raise ValueError(
                f"the similarities of view {views.names[v]!r} are too large compared with those of view "
                f"{views.names[w]!r} for missing ones to be filled in: rescale the views, or use affinity='cosine' or "
                "'nearest-neighbors'"
            )
    return resolved, similarities


def compute_cross_similarities(
    views: Views, affinities: Mapping[str, Affinity], fitted: Sequence[ViewOperator], consequence: str = NO_NEIGHBORS
) -> tuple[list[CrossOperator | None], np.ndarray]:
    """Compare new entities with those of the fit in each view that they have; also return which they have, (n, V)."""
    on_disk = {name: affinity.out_of_core(0) for name, affinity in affinities.items()}
    blocks = validate_blocks(views, stored=on_disk)
    crosses: list[CrossOperator | None] = []
    present = {}
    for (name, affinity), operator in zip(affinities.items(), fitted, strict=True):
        present[name] = np.zeros(len(views), dtype=bool)
        if name in blocks:
            X, has_view = blocks[name]
            present[name] = to_numpy(has_view) & to_numpy(affinity.comparable_rows(X))
        with name_view_in_errors(name):
            crosses.append(operator.compare_with(select_rows(X, present[name])) if present[name].any() else None)
    warn_about_zero_rows(views, present, consequence)
    return crosses, np.column_stack(list(present.values()))
