"""Shares of a convex mixture: the solver of consilience next to the update of the paper and SQUAREM.

One view of Gaussian clusters in float32, every entity a component, beta a multiple of ``beta_0 = N^2 log N / sum d``.
All contestants get the same table of likelihoods in float32, sum in float64, and stop at the same gap, ``max_j sum_i
w_i A_ij / Q_i - 1``, which each of them computes anyway. Computing the table is timed separately.

- *consilience* is `mixture_proportions` on the matrix of `ConvexMixture`, the code that users run.
- *update* is the paper's, ``q_j <- q_j sum_i w_i A_ij / Q_i``, made fast: compiled, with one pass over the table per
  round for both products, four rows at a time, on all threads.
- *SQUAREM* extrapolates this update (Varadhan & Roland 2008, scheme S3): after two updates it steps along them and
  updates there. A step that lowers the objective is rejected, and no share falls below a tenth of its value. A round is
  a pass over the table.

`CPU` is the sum over all threads and is more reliable on a busy machine. Ratios are computed within a turn, as in the
other suites; a contestant takes no further turns after a minute. `support` counts the shares above 1e-6, because the
updates approach zero slowly. If nearly every entity has a share, as at 10 beta_0, there is no small set to grow;
consilience then starts with SQUAREM too, but sets shares to zero and continues with Newton's method where that is slow.

Growth is measured for a whole fit, which computes the table and stores it up to 1 GiB (16,000 entities in float32);
larger tables are computed in blocks for every product. The largest fit runs in its own process, so that its memory can
be measured: `resident` is the peak memory of the process with Python and all libraries, `before` the memory before the
fit.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from consilience import ConvexMixture, Table, Views
from consilience.arrays import use_threads
from consilience.methods.convex.algorithm import StackedLikelihoods
from consilience.methods.convex.inputs import (
    ComparableView,
    build_likelihoods,
    prepare_comparisons,
    resolve_divergences,
)
from consilience.methods.convex.proportions import mixture_proportions

from .harness import measure_growth

N_CLUSTERS, N_COLUMNS, SPREAD = 20, 10, 3.0
GAP = 1e-5
MAX_PASSES = 20_000
MAX_SECONDS = 60.0  # seconds after which a contestant takes no further turns
FACTORS = (0.3, 1.0, 3.0, 10.0, 30.0)
MIN_SHARE_LEFT = 0.1  # part of a share that remains after a step of SQUAREM
NO_LEAP = -1.0  # step length of SQUAREM that equals two updates
MIN_SHARE = 1e-6


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    what = f"{N_COLUMNS} columns, {N_CLUSTERS} clusters, float32"
    with use_threads(None):
        for n in (500, 1_000) if small else (5_000, 10_000):
            yield f"to a gap of {GAP:g}: {n:,} entities, {what}, beta_0", time_solvers(make_inputs(n), repeats)
        for n in (300, 500) if small else (300, 2_000, 5_000):
            title = f"other sharpness, at most {MAX_PASSES:,} rounds: {n:,} entities, {what}"
            yield title, time_sharpness(make_inputs(n))
    fit = f"ConvexMixture(n_clusters={N_CLUSTERS}), {what}"
    yield (
        f"growth: {fit}",
        measure_growth((500, 1_000) if small else (2_500, 5_000, 10_000, 20_000), make_convex_fit, 1),
    )
    yield f"in a process of its own: {fit}", time_in_own_process(1_000 if small else 50_000)


def make_rows(n: int) -> np.ndarray:
    """Generate clusters whose centers are about three standard deviations apart."""
    rng = np.random.default_rng(0)
    centers = SPREAD * rng.standard_normal((N_CLUSTERS, N_COLUMNS))
    return (centers[rng.integers(N_CLUSTERS, size=n)] + rng.standard_normal((n, N_COLUMNS))).astype(np.float32)


def make_inputs(n: int) -> ComparableView:
    views = Views({"view": make_rows(n)})
    return prepare_comparisons(views, resolve_divergences("squared-euclidean", views.names))[0]["view"]


def build_table(inputs: ComparableView, factor: float) -> StackedLikelihoods:
    """Build the components of a mixture as the estimator does, and compute their table."""
    A = build_likelihoods({"view": inputs}, {"view": factor * inputs.beta_0}, len(inputs.entities))
    for _ in A.views["view"].matrix.map_tiles(lambda _, tile: tile.shape):
        pass
    return A


class Solution(NamedTuple):
    """Shares, gap and number of rounds."""

    q: np.ndarray
    gap: float
    n_rounds: int


def solve_by_newton(A: StackedLikelihoods) -> Solution:
    solution = mixture_proportions(A, tol=GAP)
    return Solution(solution.q, solution.gap, solution.n_iter)


class Pass(NamedTuple):
    """Results of one pass over the table."""

    updated: np.ndarray  # the next shares
    gap: float
    objective: float


def run_pass(A: StackedLikelihoods, q: np.ndarray) -> Pass:
    n, matrix = A.n_entities, A.views["view"].matrix
    parts = matrix.map_tiles(lambda _, tile: compute_both_products(tile, q, np.zeros(n)))
    gradient, objective = (sum(part) / n for part in zip(*parts, strict=True))
    return Pass(q * gradient, float(gradient.max()) - 1, float(objective))


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})  # allows vectorized sums
def compute_both_products(tile, q, g):
    """Sum ``A_ij / Q_i`` over the rows of a tile into g, and ``log Q_i``; each row is read from memory once."""
    n, total = len(tile), 0.0
    for i in range(0, n, 4):
        a, b, c, d = tile[i], tile[min(i + 1, n - 1)], tile[min(i + 2, n - 1)], tile[min(i + 3, n - 1)]
        Qa = Qb = Qc = Qd = 0.0
        for j in range(len(q)):
            Qa += a[j] * q[j]
            Qb += b[j] * q[j]
            Qc += c[j] * q[j]
            Qd += d[j] * q[j]
        total += np.log(Qa)
        ra, rb, rc, rd = 1 / Qa, 0.0, 0.0, 0.0
        if i + 1 < n:
            total, rb = total + np.log(Qb), 1 / Qb
        if i + 2 < n:
            total, rc = total + np.log(Qc), 1 / Qc
        if i + 3 < n:
            total, rd = total + np.log(Qd), 1 / Qd
        for j in range(len(q)):
            g[j] += ra * a[j] + rb * b[j] + rc * c[j] + rd * d[j]
    return g, total


def iterate_updates(A: StackedLikelihoods) -> Iterator[tuple[np.ndarray, Pass]]:
    """Yield shares and pass results of the paper's update."""
    q = np.full(A.n_entities, 1 / A.n_entities)
    while True:
        result = run_pass(A, q)
        yield q, result
        q = result.updated


def iterate_squarem(A: StackedLikelihoods) -> Iterator[tuple[np.ndarray, Pass]]:
    """Yield shares and pass results of SQUAREM, which extrapolates the update."""
    q = np.full(A.n_entities, 1 / A.n_entities)
    while True:
        first = run_pass(A, q)
        yield q, first
        second = run_pass(A, first.updated)
        yield first.updated, second
        r = first.updated - q
        v = second.updated - first.updated - r
        length = min(-float(np.linalg.norm(r) / np.linalg.norm(v)), NO_LEAP)
        extrapolated = np.maximum(q - 2 * length * r + length**2 * v, MIN_SHARE_LEFT * second.updated)
        extrapolated /= extrapolated.sum()
        third = run_pass(A, extrapolated)
        yield extrapolated, third
        q = third.updated if third.objective >= first.objective else second.updated


def run_until_gap(
    method: Callable[[StackedLikelihoods], Iterator[tuple[np.ndarray, Pass]]], A: StackedLikelihoods
) -> Solution:
    for n_passes, (q, result) in enumerate(method(A), start=1):
        if result.gap <= GAP or n_passes == MAX_PASSES:
            return Solution(q, result.gap, n_passes)
    raise AssertionError("methods do not end by themselves")


CONTESTANTS = {
    "consilience": solve_by_newton,
    "update": partial(run_until_gap, iterate_updates),
    "SQUAREM": partial(run_until_gap, iterate_squarem),
}


def time_solvers(inputs: ComparableView, turns: int) -> Table:
    """Time the contestants in turns with the first as baseline; computing the table comes last."""
    A = build_table(inputs, 1.0)
    for solver in CONTESTANTS.values():
        solver(build_table(make_inputs(200), 1.0))  # compiles
    solve_by_newton(A)  # not timed: warms up memory
    work: dict[str, Callable[[], Any]] = {name: partial(solver, A) for name, solver in CONTESTANTS.items()}
    work["the table itself"] = partial(build_table, inputs, 1.0)
    seconds = np.full((turns, len(work), 2), np.nan)
    outcomes = {}
    for turn in range(turns):
        for i, (name, contestant) in enumerate(work.items()):
            if np.nansum(seconds[:, i, 0]) < MAX_SECONDS:
                seconds[turn, i], solution = time_wall_and_cpu(contestant)
                outcomes[name] = describe_solution(solution)
    ratios = seconds / seconds[:, :1]
    return Table.from_rows(
        {"contestant": name, **outcomes[name], **format_clocks(seconds[:, i], ratios[:, i])}
        for i, name in enumerate(work)
    )


def time_wall_and_cpu(work: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Return the wall and CPU seconds of a call, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return (time.perf_counter() - wall, time.process_time() - cpu), result


def format_clocks(seconds: np.ndarray, ratios: np.ndarray) -> Mapping[str, str]:
    (wall, cpu), (wall_ratio, cpu_ratio) = np.nanmedian(seconds, axis=0), np.nanmedian(ratios, axis=0)
    return {
        "seconds": f"{wall:.3g}",
        "CPU seconds": f"{cpu:.3g}",
        "ratio": f"{wall_ratio:.2f}",
        "CPU ratio": f"{cpu_ratio:.2f}",
    }


def describe_solution(result: Any) -> Mapping[str, str]:
    if not isinstance(result, Solution):
        return dict.fromkeys(("rounds", "gap", "support"), "")
    return {
        "rounds": f"{result.n_rounds:,}",
        "gap": f"{result.gap:.1e}",
        "support": f"{np.count_nonzero(result.q > MIN_SHARE):,}",
    }


def time_sharpness(inputs: ComparableView) -> Table:
    """Time the contestants once per value of beta."""
    lines = []
    for factor in FACTORS:
        A = build_table(inputs, factor)
        for name, solver in CONTESTANTS.items():
            (wall, cpu), solution = time_wall_and_cpu(partial(solver, A))
            clocks = {"seconds": f"{wall:.3g}", "CPU seconds": f"{cpu:.3g}"}
            lines.append({"beta / beta_0": f"{factor:g}", "contestant": name, **describe_solution(solution), **clocks})
    return Table.from_rows(lines)


def make_convex_fit(n: int) -> Callable[[], Any]:
    return partial(ConvexMixture(N_CLUSTERS).fit, make_rows(n))


def time_in_own_process(n: int) -> Table:
    """Run one fit in its own process; a spawned process would inherit the peak memory of its parent."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as process:
        return Table.from_rows([process.submit(measure_fit, n).result()])


def measure_fit(n: int) -> Mapping[str, str]:
    make_convex_fit(200)()  # imports and compiles
    work, before = make_convex_fit(n), get_peak_memory()
    (wall, cpu), model = time_wall_and_cpu(work)
    return {
        "n": f"{n:,}",
        "seconds": f"{wall:.3g}",
        "CPU seconds": f"{cpu:.3g}",
        "resident MiB": f"{get_peak_memory():.0f}",
        "before": f"{before:.0f}",
        "gap": f"{model.gap_:.1e}",
        "exemplars": f"{np.count_nonzero(model.exemplar_weights_):,}",
    }


def get_peak_memory() -> float:
    """Return the peak memory of this process in MiB; the system counts in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
