"""Several clusterings of the same data as one table."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..arrays import Seed, make_generator
from ..assessment import assess as assess_model
from ..data import Table, Views
from ..methods.common.input_checks import holds_views
from ..methods.common.validation import RANDOM_STATE, Interval, validate_params
from ..metrics import adjusted_rand_score, evaluate
from ..metrics.classes import number_classes
from .wrappers import average_known

SAMPLE_SHARE = 0.8  # share of the entities in the samples that measure stability
SCORES = ("entropy", "f", "precision", "recall", "nmi", "ari")
NOT_ASSESSED: dict[str, Any] = {"verdict": "", "disagreement": np.nan, "impurity": np.nan}


@validate_params(
    {
        "views": "no_validation",
        "estimators": [Mapping, list, tuple],
        "y": ["array-like", None],
        "random_state": RANDOM_STATE,
        "n_refits": [Interval(Integral, 0, None, closed="left")],
        "assess": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def compare(
    views: Any,
    estimators: Mapping[str, Any] | Sequence[Any],
    y: Any = None,
    *,
    random_state: Seed = 0,
    n_refits: int = 5,
    assess: bool = False,
) -> Table:
    """Fit several estimators to the same data and compare their results in one table.

    Parameters
    ----------
    views : Views, or whatever the estimators' `fit` takes
        The data.
    estimators : mapping of str to estimator, or sequence of estimators
        What to compare; in a sequence each is named by its class, with a number if classes repeat. They are cloned, not
        changed. Pipelines may be among them.
    y : array-like of shape (n_entities,), optional
        True classes, used for the scores only; no estimator sees them. Entities whose class is None, NaN or an empty
        string are left out of the scores.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the samples, and of every estimator (and estimator within an estimator) whose `random_state` is None.
    n_refits : int, default=5
        Number of samples that measure stability; with 0 stability is NaN.
    assess : bool, default=False
        Whether to assess each result (see `consilience.assess`), which takes further fits of each estimator.

    Returns
    -------
    Table
        One row per estimator:

        - with `y`, the scores of `consilience.metrics.evaluate`: entropy, f, precision, recall, nmi, ari;
        - clusters: number of clusters, without label -1 (noise, or an entity that the estimator does not see);
        - agreement: of the views, mean over pairs; NaN if the estimator has no `agreement_`, or one view;
        - stability: mean over `n_refits` random samples of 80 percent of the entities, the same for all estimators,
          of the adjusted Rand index between the labels of a fit to the sample, with another seed, and the sampled
          entities' labels in the fit to all. 1 if the clusters depend neither on the sample nor on chance;
        - with `assess`, verdict ("stable", "mixed" or "do not rely"), disagreement (of two fits to halves about
          entities that one of them has not seen) and impurity (estimated without `y`; NaN if no two
          views confirm each other). An estimator that cannot predict, or whose result cannot be assessed, has an empty
          verdict and NaN;
        - seconds: of the fit to all entities;
        - peak_mib: the largest memory that Python and NumPy had allocated at a time in a second fit to all entities,
          beyond what was allocated before, in MiB. Allocations of compiled code are not counted.

        An estimator that fails has a row of NaN, or only NaN for its stability if a fit to a sample fails, and a
        warning says why.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> methods = {
    ...     "views side by side": cs.baselines.ConcatenatedViews(KMeans(3, n_init=3)),
    ...     "multi-view k-means": cs.MultiViewKMeans(3),
    ... }
    >>> table = cs.baselines.compare(views, methods, y)
    >>> table["estimator"].tolist(), table["ari"].tolist()
    (['views side by side', 'multi-view k-means'], [1.0, 1.0])
    """
    named = _name_estimators(estimators)
    data = Views(views) if holds_views(views) else views
    data = data if hasattr(data, "shape") else np.asarray(data)
    n = data.shape[0]
    classes = None if y is None else np.asarray(y)
    if classes is not None and classes.shape != (n,):
        raise ValueError(f"y must hold one class per entity, shape ({n},), got shape {classes.shape}")
    if classes is not None and not _has_class(classes).any():
        raise ValueError(
            "y holds no class: every value is None, NaN or an empty string. Leave y out to skip the scores"
        )
    rng = make_generator(random_state)
    samples = [np.sort(rng.permutation(n)[: max(1, round(n * SAMPLE_SHARE))]) for _ in range(n_refits)]
    seeds = rng.integers(2**31, size=n_refits + 1).tolist()
    scores = () if classes is None else SCORES
    verdicts = NOT_ASSESSED if assess else ()
    columns = (*scores, "clusters", "agreement", "stability", *verdicts, "seconds", "peak_mib")
    rows = []
    for name, estimator in named.items():
        try:
            row = _compare_one(name, estimator, data, classes, samples, seeds, assess)
        except Exception as error:
            warnings.warn(
                f"{name!r} failed, its row is NaN: {type(error).__name__}: {error}", UserWarning, stacklevel=2
            )
            row = {}
        values = {column: row.get(column, NOT_ASSESSED.get(column, np.nan)) for column in columns}
        rows.append({"estimator": name, **values})
    return Table.from_rows(rows)


def _name_estimators(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return estimators by name."""
    if not len(estimators):
        raise ValueError("no estimators to compare: give a mapping of name to estimator, or a list of estimators")
    if isinstance(estimators, Mapping):
        return dict(estimators)
    kinds = [type(estimator).__name__ for estimator in estimators]
    named = {}
    for i, (kind, estimator) in enumerate(zip(kinds, estimators, strict=True)):
        number = f" {kinds[: i + 1].count(kind)}" if kinds.count(kind) > 1 else ""
        named[kind + number] = estimator
    return named


def _has_class(classes: np.ndarray) -> np.ndarray:
    """Return a mask of the entities whose class is not None, NaN or an empty string."""
    return np.array([value is not None and value == value and value != "" for value in classes.tolist()], dtype=bool)


def _compare_one(
    name: str,
    estimator: Any,
    data: Any,
    classes: np.ndarray | None,
    samples: Sequence[np.ndarray],
    seeds: Sequence[int],
    assess: bool,
) -> dict[str, Any]:
    """Return the row of one estimator."""
    started = time.perf_counter()
    model, labels = _fit_clone(estimator, data, seeds[-1])
    seconds = time.perf_counter() - started
    scores = {}
    if classes is not None:
        has_class = _has_class(classes)
        table = evaluate(number_classes(classes[has_class])[1], labels[has_class])
        scores = {score: column[0] for score, column in table.items()}
    last_step = model.steps[-1][1] if hasattr(model, "steps") else model
    agreement = getattr(last_step, "agreement_", np.ones((1, 1)))
    return scores | {
        "clusters": len(np.unique(labels[labels >= 0])),
        "agreement": average_known(agreement[~np.eye(len(agreement), dtype=bool)]),
        "stability": _measure_stability(name, estimator, data, labels, samples, seeds),
        **(_assess_model(name, model, data, seeds[-1]) if assess else {}),
        "seconds": seconds,
        "peak_mib": _measure_peak_memory(estimator, data, seeds[-1]) / 2**20,
    }


def _assess_model(name: str, model: Any, data: Any, seed: int) -> dict[str, Any]:
    """Return how far a result can be relied on."""
    if not hasattr(model, "predict"):
        return NOT_ASSESSED
    try:
        assessment = assess_model(model, data, random_state=seed)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"{name!r} cannot be assessed: {reason}", UserWarning, stacklevel=4)
        return NOT_ASSESSED
    figures = {column: getattr(assessment, column) for column in NOT_ASSESSED}
    return {column: np.nan if figure is None else figure for column, figure in figures.items()}


def _measure_stability(
    name: str, estimator: Any, data: Any, labels: np.ndarray, samples: Sequence[np.ndarray], seeds: Sequence[int]
) -> float:
    """Measure how far fits to samples agree with the fit to all."""
    try:
        return average_known(
            adjusted_rand_score(labels[rows], _fit_quietly(estimator, _safe_indexing(data, rows), seed))
            for rows, seed in zip(samples, seeds, strict=False)
        )
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"{name!r} failed on a sample, its stability is NaN: {reason}", UserWarning, stacklevel=4)
        return np.nan


def _fit_clone(estimator: Any, data: Any, seed: int) -> tuple[Any, np.ndarray]:
    """Return a fitted clone and its labels."""
    model = clone(estimator)
    for name, value in model.get_params(deep=True).items():
        if value is None and name.split("__")[-1] == "random_state":
            model.set_params(**{name: seed})
    return model, np.asarray(model.fit_predict(data))


def _fit_quietly(estimator: Any, data: Any, seed: int) -> np.ndarray:
    """Return the labels of another fit, without the warnings that the first fit has given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fit_clone(estimator, data, seed)[1]


def _measure_peak_memory(estimator: Any, data: Any, seed: int) -> int:
    """Return the largest number of bytes that a fit has allocated at a time."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        _fit_quietly(estimator, data, seed)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()
