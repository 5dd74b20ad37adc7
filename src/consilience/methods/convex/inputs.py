"""Prepare views for a convex mixture: divergences between the entities, and of new entities from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._saving import save_as
from ..._warnings import find_stack_level
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
from ...data import Views
from ...data.inputs import resolve_per_view
from ...divergences import DIVERGENCES, Likelihood, Measure, PairDivergence
from ...divergences.base import row_term_sizes
from ..common.input_checks import validate_blocks, warn_about_zero_rows
from ..common.similarities import name_view_in_errors, select_rows
from .algorithm import StackedLikelihoods, ViewLikelihoods
from .exemplars import ViewExemplars, ViewPoints

NEGLIGIBLE = 100  # units of rounding: a mean divergence at most this large counts as zero
ZERO_ROW_NOTE = "takes no part in the clustering and gets the cluster of the largest exemplar weight"
MEMORY_SHARE = 0.5  # of the free memory, which tables of likelihoods may take


@dataclass(frozen=True, eq=False)
class ComparableView:
    """The entities that have a view, ready to be compared in it."""

    X: Any
    measure: Measure
    points: KernelRows
    exemplars: KernelRows
    entities: np.ndarray  # their positions
    mean: float  # mean divergence of two of them

    def select_exemplars(self, beta: float, entities: np.ndarray) -> ViewExemplars:
        """Return some entities as exemplars."""
        present = np.isin(entities, self.entities)
        rows = self.exemplars.take(np.searchsorted(self.entities, entities[present]))
        return ViewExemplars(self.measure, beta, present, rows)

    @property
    def beta_0(self) -> float:
        """The unit of sharpness, log N / mean divergence (Eqs 4 and 8); 1 for a single row."""
        return float(np.log(len(self.entities)) / self.mean) if self.mean else 1.0


@save_as("exemplar-reference")
class FittedDivergence(NamedTuple):
    """How new entities are compared with those of the fit in a view."""

    divergence: PairDivergence
    measure: Measure
    beta: float
    reference: Array  # a row of the fit; new rows are converted to its library and device
    uses_density: bool  # whether the normalizer counts

    def prepare(self, X: Array, present: np.ndarray) -> ViewPoints:
        """Prepare the rows that are present."""
        rows = as_rows_like(select_rows(X, present), self.reference)
        log_C = self.measure.log_normalizer(rows, self.beta) if self.uses_density else np.zeros(rows.shape[0])
        return ViewPoints(np.flatnonzero(present), self.measure.new_points(rows), log_C)


def resolve_divergences(divergence: Any, names: Sequence[str]) -> dict[str, PairDivergence]:
    """Return the divergence object of each view from the parameter `divergence`."""
    divergences = {}
    for name, choice in resolve_per_view("divergence", divergence, names).items():
        if isinstance(choice, str):
            if choice not in DIVERGENCES:
                options = ", ".join(map(repr, DIVERGENCES))
                raise ValueError(f"view {name!r}: no divergence {choice!r}; choose from {options}")
            choice = DIVERGENCES[choice]()
        elif isinstance(choice, type) or not hasattr(choice, "has_kernel"):
            raise TypeError(
                f"view {name!r}: divergence={choice!r} is neither a name nor a divergence: give an object such as "
                "consilience.divergences.KullbackLeibler(smoothing=0.1)"
            )
        divergences[name] = choice
    return divergences


def prepare_comparisons(
    views: Views, divergences: Mapping[str, PairDivergence]
) -> tuple[dict[str, ComparableView], np.ndarray]:
    """Prepare the entities of each view for comparison; also return the positions of entities with a usable view."""
    prepared: dict[str, ComparableView] = {}
    present: dict[str, np.ndarray] = {}
    for name, (block, has_view) in validate_blocks(views).items():
        present[name] = to_numpy(has_view) & to_numpy(divergences[name].comparable(block))
        if not present[name].any():
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
        X = select_rows(block, present[name])
        if X.shape[0] > 1 and all_rows_equal(X):
            raise ValueError(f"view {name!r} is the same for every entity: leave the view out")
        with name_view_in_errors(name):
            measure = divergences[name].learn(X)
            points, exemplars = measure.points(X), measure.exemplars(X)
        mean = measure.total(points, exemplars) / X.shape[0] ** 2
        size = float(namespace(X).mean(row_term_sizes(points)))
        if X.shape[0] > 1 and mean <= NEGLIGIBLE * machine_epsilon(X) * size:
            raise ValueError(f"view {name!r} does not distinguish any two entities: leave the view out")
        entities = np.flatnonzero(present[name])
        prepared[name] = ComparableView(X, measure, points, exemplars, entities, max(mean, 0.0))
    warn_about_zero_rows(views, present, ZERO_ROW_NOTE)
    for name, view in prepared.items():
        if view.measure.caveat:
            warnings.warn(f"view {name!r}: {view.measure.caveat}", UserWarning, stacklevel=find_stack_level())
    usable = np.flatnonzero(np.any(list(present.values()), axis=0))
    return {
        name: replace(view, entities=np.searchsorted(usable, view.entities)) for name, view in prepared.items()
    }, usable


def choose_cached_tables(views: Mapping[str, ComparableView]) -> dict[str, bool]:
    """Choose the views whose tables of all pairs are kept in memory, as far as it reaches."""
    on_device, on_host = available_device_memory(next(iter(views.values())).points.X), available_memory()
    budget = np.inf if on_host is None else MEMORY_SHARE * on_host
    budget = budget if on_device is None else DEVICE_SHARE * on_device
    cached = {}
    for name, view in views.items():
        nbytes = len(view.entities) ** 2 * itemsize(view.points.X)
        cached[name] = fits_in_memory(nbytes, view.points.X) and nbytes <= budget
        budget -= nbytes if cached[name] else 0
    return cached


def build_likelihoods(views: Mapping[str, ComparableView], betas: Mapping[str, float], n: int) -> StackedLikelihoods:
    """Build the likelihoods of all entities under each other."""
    cached, likelihoods = choose_cached_tables(views), {}
    for name, view in views.items():
        matrix = KernelMatrix(Likelihood(view.measure, betas[name]), view.points, view.exemplars, cached[name])
        likelihoods[name] = ViewLikelihoods(matrix, view.entities, n)
    return StackedLikelihoods(likelihoods, n)


def collect_fitted_points(
    views: Mapping[str, ComparableView], betas: Mapping[str, float], *, normalizer: bool
) -> dict[str, ViewPoints]:
    """Return the entities of the fit as points."""
    points = {}
    for name, view in views.items():
        with name_view_in_errors(name):
            log_C = view.measure.log_normalizer(view.X, betas[name]) if normalizer else np.zeros(len(view.entities))
        points[name] = ViewPoints(view.entities, view.points, log_C)
    return points


def collect_new_points(views: Views, fitted: Mapping[str, FittedDivergence]) -> dict[str, ViewPoints]:
    """Return new entities as points in each view that they have."""
    points, present = {}, {}
    for name, (X, has_view) in validate_blocks(views).items():
        present[name] = to_numpy(has_view) & to_numpy(fitted[name].divergence.comparable(X))
        if present[name].any():
            with name_view_in_errors(name):
                points[name] = fitted[name].prepare(X, present[name])
    warn_about_zero_rows(views, present, ZERO_ROW_NOTE)
    return points
