"""`compare`: a row per estimator, bounds on every measure, and the same table from the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN, KMeans

import consilience as cs
from consilience import baselines

from .case import ACCEPTED, Case, call, require

MEASURES = ("clusters", "agreement", "stability", "seconds", "peak_mib")
SCORES = ("entropy", "f", "precision", "recall", "nmi", "ari")


def check(case: Case) -> str:
    """Compare random estimators, some of which fail on the data."""
    rng, n = case.rng, int(case.choose([3, 10, 25]))
    y: Any = rng.integers(3, size=n)
    X = {f"v{i}": rng.normal(size=(n, 2)) + 5 * y[:, None] for i in range(int(case.choose([1, 2, 2])))}
    if len(X) == 2 and case.chance(0.3):
        X["v1"][rng.random(n) < 0.3] = np.nan
    estimators = random_estimators(case)
    y = case.choose([None, y, y.tolist(), y.astype(str), np.where(y == 0, None, y)])
    if case.chance(0.05):
        y = case.choose([y[:-1] if y is not None else "x", np.full(n, np.nan), [""] * n, np.zeros((n, 2))])
    if case.chance(0.05):
        estimators = case.choose([[], {}, [None], ["x"], {"a": KMeans}, None, {1: KMeans(2, n_init=1)}])
    options = {"n_refits": case.choose([0, 1, 2]), "random_state": int(rng.integers(100))}
    case.note(estimators=estimators, y=y, options=options, shape={name: part.shape for name, part in X.items()})
    table = call(cs.compare, X, estimators, y, **options)
    require(table.n_rows == len(estimators), f"{table.n_rows} rows for {len(estimators)} estimators")
    expected = ["estimator", *(SCORES if y is not None else ()), *MEASURES]
    require(list(table) == expected, f"the columns are {list(table)}")
    for name in {"f", "precision", "recall", "nmi", "agreement"} & set(table):
        values = table[name].astype(float)
        require(np.all(np.isnan(values) | ((values >= -1e-9) & (values <= 1 + 1e-9))), f"{name} is {values}")
    again = call(cs.compare, X, estimators, y, **options)
    for name in set(expected) - {"estimator", "seconds", "peak_mib"}:
        require(np.array_equal(table[name].astype(float), again[name].astype(float), equal_nan=True), f"{name} differs")
    repr(table)
    return ACCEPTED


def random_estimators(case: Case) -> Any:
    """Draw a list or a mapping of estimators; some fail on the data."""
    k = int(case.choose([1, 2, 3, 30]))
    choices = [
        cs.MultiViewKMeans(k, n_init=1),
        cs.CoEM(k, n_init=1, max_iter=10),
        cs.MultiViewAgglomerative(k, metric="euclidean"),
        baselines.ConcatenatedViews(KMeans(k, n_init=1)),
        baselines.SingleView(KMeans(k, n_init=1)),
        baselines.SingleView(DBSCAN()),
        baselines.SingleView(KMeans(k, n_init=1), "v9"),
        cs.PCKMeans(k),
    ]
    chosen = [case.choose(choices) for _ in range(int(case.choose([1, 2, 3])))]
    return chosen if case.chance(0.5) else {f"m{i}": estimator for i, estimator in enumerate(chosen)}
