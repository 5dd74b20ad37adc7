"""`suggest_constraints`: pairs of different entities that were not answered before."""

from __future__ import annotations

from typing import Any

import numpy as np

import consilience as cs

from .case import ACCEPTED, Case, call, require


def check(case: Case) -> str:
    """Fit a model, ask for pairs, answer them, and ask again."""
    rng = case.rng
    n_rows, k = int(case.choose([1, 2, 5, 20, 40])), int(case.choose([1, 2, 3, 4]))
    y = rng.integers(k, size=n_rows)
    X: dict[str, Any] = {
        f"v{i}": rng.normal(size=(n_rows, 2)) + 4 * y[:, None] for i in range(int(case.choose([1, 2])))
    }
    if case.chance(0.2):
        X["v0"] = X["v0"][rng.integers(n_rows, size=n_rows)]
    if len(X) == 2 and case.chance(0.3):
        X["v1"][rng.random(n_rows) < 0.3] = np.nan
    if case.chance(0.1):
        X["v0"] = X["v0"] * case.choose([1e-12, 1e12, 0.0])
    model = random_model(case, min(k, n_rows), len(X))
    n_pairs = case.choose([1, 3, 10, 100]) if not case.chance(0.1) else case.choose([0, -1, 2.5, None, "3", 10**9])
    case.note(model=model, n_rows=n_rows, n_pairs=n_pairs)
    data = X if len(X) > 1 else X["v0"]
    learns = hasattr(model, "fit") and "constraints" in type(model).fit.__code__.co_varnames
    constraints = cs.Constraints()
    for _ in range(int(case.choose([1, 2, 3]))):
        call(model.fit, data, **({"constraints": constraints} if learns else {}))
        other = data if not case.chance(0.03) else case.choose([None, np.ones((3, 2)), np.ones((n_rows, 9)), "x"])
        pairs = call(cs.suggest_constraints, model, other, n_pairs)
        require(pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind == "i", f"the pairs are {pairs!r}")
        require(len(pairs) <= n_pairs, f"{len(pairs)} pairs for {n_pairs}")
        require(((pairs >= 0) & (pairs < n_rows)).all(), "a pair names an entity that does not exist")
        require((pairs[:, 0] != pairs[:, 1]).all(), "an entity is compared with itself")
        unique = {frozenset(pair) for pair in pairs.tolist()}
        require(len(unique) == len(pairs), "a pair is suggested twice")
        answered = {frozenset(pair) for pair in np.vstack([constraints.must_link, constraints.cannot_link]).tolist()}
        require(not (learns and unique & answered), "a pair is suggested that was answered before")
        again = call(cs.suggest_constraints, model, data, n_pairs)
        require(np.array_equal(pairs, again), "the pairs change without a reason")
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        constraints = constraints | cs.Constraints(pairs[same], pairs[~same])
    return ACCEPTED


def random_model(case: Case, k: int, n_views: int) -> Any:
    """Draw a model, mostly one that knows constraints."""
    models: list[Any] = [
        cs.MultiViewConstrainedKMeans(k, random_state=0, max_iter=5),
        cs.MultiViewConstrainedKMeans(k, base="mpck", random_state=0, max_iter=5),
        cs.MultiViewKMeans(k, n_init=1, random_state=0),
        cs.CoEM(k, n_init=1, eta=0.25, random_state=0),
    ]
    if n_views == 1:
        models += 2 * [cs.PCKMeans(k, random_state=0), cs.MPCKMeans(k, random_state=0, init="largest")]
    if case.chance(0.1):
        models = [
            cs.MultiViewAgglomerative(k, metric="euclidean"),
            cs.ConvexMixture(k),
            cs.CoTrainedSpectral(k, n_init=1),
        ]
    return case.choose(models)
