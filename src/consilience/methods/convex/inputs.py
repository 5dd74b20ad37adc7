"""From a user's views to the divergences of their entities, and of others from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._saving import save_as
from ...arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    all_rows_equal,
    as_rows_like,
    available_device_memory,
    available_memory,
    fits_in_memory,
    itemsize,
    machine_epsilon,
    namespace,
    to_numpy,
)
from ...arrays.pairwise import DEVICE_SHARE
from ...data import Views, resolve_per_view
from ...divergences import DIVERGENCES, Likelihood, Measure, PairDivergence
from ..common.input_checks import validate_blocks, warn_about_zero_rows
from ..common.similarities import name_view_in_errors, select_rows
from .algorithm import StackedLikelihoods, ViewLikelihoods
from .exemplars import ViewExemplars, ViewPoints, row_term_sizes

NOTHING = 100  # units of rounding: a mean divergence that is none
LOST = "takes no part in the clustering and gets the cluster of the largest prior"
SHARE = 0.5  # of the memory that is free, which tables of likelihoods may take


@dataclass(frozen=True, eq=False)
class ComparableView:
    """The entities that have a view, ready to be compared in it."""

    X: Any
    measure: Measure
    points: KernelRows
    exemplars: KernelRows
    entities: np.ndarray  # their positions
    mean: float  # divergence of two of them

    def exemplars_at(self, beta: float, support: np.ndarray) -> ViewExemplars:
        """Some entities as exemplars."""
        there = np.isin(support, self.entities)
        side = self.exemplars.take(np.searchsorted(self.entities, support[there]))
        return ViewExemplars(self.measure, beta, there, side)

    @property
    def reference(self) -> float:
        """The sharpness beta_0 = log N / mean divergence (Eqs 4 and 8)."""
        return float(np.log(len(self.entities)) / self.mean) if self.mean else 1.0  # alone, a row is like itself


@save_as("exemplar-reference")
class FittedDivergence(NamedTuple):
    """What others are compared by in a view."""

    divergence: PairDivergence
    measure: Measure
    beta: float
    kind: Array  # a row of the fit: others are made of its kind
    normalizes: bool  # whether densities are compared


def resolve_divergences(given: Any, names: Sequence[str]) -> dict[str, PairDivergence]:
    """The divergence of each view, as an object, from what the user gave."""
    chosen = {}
    for name, own in resolve_per_view("divergence", given, names).items():
        if isinstance(own, str) and own not in DIVERGENCES:
            raise ValueError(f"view {name!r}: no divergence {own!r}; choose from {', '.join(map(repr, DIVERGENCES))}")
        chosen[name] = DIVERGENCES[own]() if isinstance(own, str) else own
        if isinstance(own, type) or not hasattr(chosen[name], "has_kernel"):
            raise TypeError(
                f"view {name!r}: divergence={own!r} is neither a name nor a divergence: give an object such as "
                "consilience.divergences.KullbackLeibler(smoothing=0.1)"
            )
    return chosen


def prepare_comparisons(
    views: Views, divergences: Mapping[str, PairDivergence]
) -> tuple[dict[str, ComparableView], np.ndarray]:
    """The entities of each view, ready to be compared; also who has any view that says something, by position."""
    found: dict[str, ComparableView] = {}
    present: dict[str, np.ndarray] = {}
    for name, (X, there) in validate_blocks(views).items():
        divergence = divergences[name]
        present[name] = to_numpy(there) & to_numpy(divergence.comparable(X))
        if not present[name].any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        X = select_rows(X, present[name])
        if X.shape[0] > 1 and all_rows_equal(X):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        with name_view_in_errors(name):
            measure = divergence.learn(X)
            points, exemplars = measure.points(X), measure.exemplars(X)
        mean = measure.total(points, exemplars) / X.shape[0] ** 2
        size = float(namespace(X).mean(row_term_sizes(points)))
        if X.shape[0] > 1 and mean <= NOTHING * machine_epsilon(X) * size:
            raise ValueError(f"view {name!r} puts no two entities apart: leave the view out")
        found[name] = ComparableView(X, measure, points, exemplars, np.flatnonzero(present[name]), max(mean, 0.0))
    warn_about_zero_rows(views, present, LOST)
    for name, own in found.items():
        if own.measure.caveat:
            warnings.warn(f"view {name!r}: {own.measure.caveat}", UserWarning, stacklevel=4)
    kept = np.flatnonzero(np.any(list(present.values()), axis=0))
    return {name: replace(own, entities=np.searchsorted(kept, own.entities)) for name, own in found.items()}, kept


def choose_tables_in_memory(found: Mapping[str, ComparableView]) -> dict[str, bool]:
    """Which views may have a table of all pairs held, as far as memory goes."""
    held, budget = {}, limit_table_memory(next(iter(found.values())).points.X)
    for name, own in found.items():
        table = len(own.entities) ** 2 * itemsize(own.points.X)
        held[name] = fits_in_memory(table, own.points.X) and table <= budget
        budget -= table if held[name] else 0
    return held


def limit_table_memory(X: Array) -> float:
    """Bytes that tables may take together, where rows like X are."""
    on_device, here = available_device_memory(X), available_memory()
    if on_device is not None:
        return DEVICE_SHARE * on_device
    return np.inf if here is None else SHARE * here


def build_likelihoods(found: Mapping[str, ComparableView], betas: Mapping[str, float], n: int) -> StackedLikelihoods:
    """The likelihoods of all entities under each other."""
    held, views = choose_tables_in_memory(found), {}
    for name, own in found.items():
        matrix = KernelMatrix(Likelihood(own.measure, betas[name]), own.points, own.exemplars, held[name])
        views[name] = ViewLikelihoods(matrix, own.entities, n)
    return StackedLikelihoods(views, n)


def collect_fitted_points(
    found: Mapping[str, ComparableView], betas: Mapping[str, float], *, normalizer: bool
) -> dict[str, ViewPoints]:
    """The entities of the fit as points."""
    seen = {}
    for name, own in found.items():
        with name_view_in_errors(name):
            log_C = own.measure.log_normalizer(own.X, betas[name]) if normalizer else np.zeros(len(own.entities))
        seen[name] = ViewPoints(own.entities, own.points, log_C)
    return seen


def collect_new_points(views: Views, known: Mapping[str, FittedDivergence]) -> dict[str, ViewPoints]:
    """Other entities as points, in each view that they have."""
    seen, present = {}, {}
    for name, (X, there) in validate_blocks(views).items():
        own = known[name]
        present[name] = to_numpy(there) & to_numpy(own.divergence.comparable(X))
        if present[name].any():
            with name_view_in_errors(name):
                rows = as_rows_like(select_rows(X, present[name]), own.kind)
                points = own.measure.others(rows)
                log_C = own.measure.log_normalizer(rows, own.beta) if own.normalizes else np.zeros(rows.shape[0])
            seen[name] = ViewPoints(np.flatnonzero(present[name]), points, log_C)
    warn_about_zero_rows(views, present, LOST)
    return seen
