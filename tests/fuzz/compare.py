"""`compare`, from Python and from the command line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN, KMeans

import consilience as cs
from consilience import baselines

from .case import ACCEPTED, Case, Failure, call, require
from .files import GROUP, IDS, N, run_command

MEASURES = ("clusters", "agreement", "stability", "seconds", "peak_mib")
SCORES = ("entropy", "f", "precision", "recall", "nmi", "ari")


def check(case: Case) -> str:
    """Compare random estimators in Python; one case in twelve runs the command, which takes seconds."""
    return check_command(case) if case.chance(1 / 12) else check_function(case)


def check_function(case: Case) -> str:
    """Require a row per estimator, bounds on every measure, and the same table from the same seed."""
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


def check_command(case: Case) -> str:
    """Run the command on two tables; require a row per method in the JSON file."""
    rng, folder = case.rng, case.folder
    for name in "ab":
        rows = np.sort(rng.permutation(N)[: int(case.choose([N, N - 4]))])
        X = np.round(rng.normal(size=(N, 2)) + 5 * GROUP[:, None], 3)
        lines = [f"{IDS[i]},{X[i, 0]},{X[i, 1]},{'xyz'[GROUP[i]]}" for i in rows]
        (folder / f"{name}.csv").write_text("\n".join([f"id,{name}0,{name}1,kind", *lines]) + "\n")
    out = folder / "out.json"
    command = [
        "compare",
        "--view",
        f"a={folder}/a.csv:a*",
        "--view",
        f"b={folder}/b.csv:b*",
        "--out",
        str(out),
        "--quiet",
    ]
    command += ["-k", str(case.choose([1, 2, 3, N, 99])), "--refits", str(case.choose([0, 1]))]
    command += ["--labels", "kind"] if case.chance(0.5) else []
    command += ["--seed", str(int(rng.integers(99)))]
    case.note(command=command)
    outcome = run_command(case, command, "a.csv")
    if outcome == ACCEPTED:
        with out.open() as file:
            result = json.load(file)
        if not result:
            raise Failure("the JSON file is empty")
    return outcome
