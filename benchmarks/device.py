"""Time consilience on a GPU: ``python -m benchmarks.device [name ...] [--n N]``, with torch.

On a machine without a GPU, torch uses the CPU, to test that everything runs (with a small N).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.linalg import subspace_angles

from consilience import Table, Views
from consilience.affinities import Gaussian, NearestNeighbors
from consilience.arrays import find_nearest, to_numpy, use_threads
from consilience.divergences import SquaredEuclidean
from consilience.methods.coem.algorithm import co_em
from consilience.methods.coem.prepare import prepare_mixture
from consilience.methods.coem.priors import PRIORS
from consilience.methods.coem.start import start_from_init
from consilience.methods.common.shards import prepare_kmeans
from consilience.methods.convex.inputs import build_likelihoods, prepare_comparisons, resolve_divergences
from consilience.methods.kmeans.algorithm import multi_view_kmeans
from consilience.methods.spectral.algorithm import concatenate_others, project_view

REPEATS = 7


def time_convex_update(n: int = 100_000) -> Table:
    """One update of a convex mixture's shares, ``q_j <- q_j sum_i w_i A_ij / Q_i`` with ``Q = A q``, in float32.

    The update reads the table of likelihoods twice and should take little other time. The baseline is a copy of the
    table on the device, which moves as many bytes. *plain* is the update by two products of torch in float32. `error`
    is the largest relative error of the gradient.
    """
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((20, 10))[rng.integers(20, size=n)] + rng.standard_normal((n, 10))
    rows = torch.asarray(X.astype(np.float32), device=get_device())
    inputs, _ = prepare_comparisons(Views({"rows": rows}), resolve_divergences("squared-euclidean", ["rows"]))
    A = build_likelihoods(inputs, {"rows": inputs["rows"].beta_0}, n)
    w = torch.full((n,), 1 / n, dtype=torch.float64, device=get_device())
    q = torch.asarray(rng.dirichlet(np.full(n, 0.1)), device=get_device())
    matrix = A.views["rows"].matrix
    tiles = [(rows, tile) for rows, tile in matrix.map_tiles(lambda rows, tile: (rows, tile))]
    whole = torch.empty((n, n), dtype=torch.float32, device=get_device())

    def copy() -> None:
        for rows, tile in tiles:
            whole[rows] = tile

    def ours() -> torch.Tensor:
        return A.T @ (w / (A @ q))

    def plain() -> torch.Tensor:
        return whole.T @ (w.float() / (whole @ q.float()))

    seconds = {contestant.__name__: measure_median_seconds(contestant) for contestant in (copy, plain, ours)}
    Q = torch.cat([tile.double() @ q for _, tile in tiles])
    exact = sum((tile.double().T @ (w / Q)[rows] for rows, tile in tiles), torch.zeros_like(q))
    error = {contestant.__name__: float(((contestant() - exact) / exact).abs().max()) for contestant in (plain, ours)}
    return Table.from_rows(
        {
            "contestant": name,
            "ms": f"{1e3 * time_taken:.2f}",
            "TB/s": f"{2 * 4 * n**2 / time_taken / 1e12:.2f}",
            "of a copy": f"{seconds['copy'] / time_taken:.0%}",
            "error": f"{error[name]:.1g}" if name in error else "",
            "stored": str(matrix.cached),
        }
        for name, time_taken in seconds.items()
    )


def time_co_training(n: int = 50_000) -> Table:
    """One round of co-trained spectral clustering, exact Gaussian kernel: two views of 32 columns, k = 10, float32.

    A round reads the stored kernel of each view once; numpy stores up to 1 GiB and recomputes larger kernels. It also
    computes half of the projected similarities, from twice the columns of the other views; both kinds of
    multiplications count. `distance` is the largest sine between the spaces that both contestants find from one start.
    """
    k, rng = 10, np.random.default_rng(0)
    clusters = rng.integers(k, size=n)
    blocks = [3 * rng.standard_normal((k, 32))[clusters] + 2 * rng.standard_normal((n, 32)) for _ in range(2)]
    blocks = [X.astype(np.float32) for X in blocks]
    U = [np.linalg.qr(rng.standard_normal((n, k)).astype(np.float32))[0] for _ in blocks]
    times, embeddings, is_stored = {}, {}, {}
    for name, to_kind in (("numpy", np.asarray), (get_device(), lambda X: torch.asarray(X, device=get_device()))):
        operators = [Gaussian(16.0).build_operator(to_kind(X), rng) for X in blocks]
        start = [to_kind(eigenvectors) for eigenvectors in U]

        def one_round(operators: Any = operators, start: Any = start) -> list[Any]:
            return [
                project_view(K, concatenate_others(start, v), k, np.random.default_rng(0)).U
                for v, K in enumerate(operators)
            ]

        with use_threads(None):
            embeddings[name] = [to_numpy(eigenvectors) for eigenvectors in one_round()]
            times[name] = measure_median_seconds(one_round, REPEATS if name == "cuda" or n < 10_000 else 1)
        is_stored[name] = operators[0].cached
    distances = [
        np.sin(subspace_angles(a, b)).max() for a, b in zip(embeddings["numpy"], embeddings[get_device()], strict=True)
    ]
    numbers = {"bytes": 2 * 4 * n**2, "operations": 2 * n**2 * (2 * k + 2 * k)}
    return Table.from_rows(
        {
            "contestant": name,
            "ms per round": f"{1e3 * time_taken:.1f}",
            "ratio": f"{times['numpy'] / time_taken:.1f}",
            "TB/s of kernels": f"{numbers['bytes'] / time_taken / 1e12:.3f}",
            "TFLOP/s": f"{numbers['operations'] / time_taken / 1e12:.3f}",
            "stored": str(is_stored[name]),
            "distance": "" if name == "numpy" else f"{max(distances):.1g}",
        }
        for name, time_taken in times.items()
    )


def time_co_em_rounds(n: int = 10_000_000) -> Table:
    """One round of co-EM with full covariances: two views of 32 columns, k = 8, float32.

    `TFLOP/s` counts the multiplications that whiten the rows (E-step) and multiply columns (M-step); `of a product` is
    this rate divided by that of a square product of torch in float32 on the same device. `waits` is how often a round
    waits for the device to read a few numbers.
    """
    k, d, generator = 8, 32, torch.Generator(get_device()).manual_seed(0)
    y = torch.randint(k, (n,), generator=generator, device=get_device())
    centers = [2 * torch.randn((k, d), generator=generator, device=get_device()) for _ in range(2)]
    blocks = [
        view_centers[y] + torch.randn((n, d), generator=generator, device=get_device()) for view_centers in centers
    ]
    times, likelihoods, waits = {}, {}, {}
    for name, to_kind in ((get_device(), lambda X: X), ("numpy", to_numpy)):
        views = Views([to_kind(X) for X in blocks], present=np.ones((n, 2), bool))
        with use_threads(None):
            shards, families, _ = prepare_mixture(views, dict.fromkeys(views.names, "gaussian-full"), k)
            start = start_from_init(to_numpy(y), shards, families, k, PRIORS["global"])
            rounds = co_em(shards, start, [1.0], PRIORS["global"])
            likelihoods[name] = sum(next(rounds).log_likelihoods.values())
            waits[name] = count_waits(partial(next, rounds)) if name == "cuda" else 0
            times[name] = measure_median_seconds(partial(next, rounds), REPEATS if name == "cuda" or n < 100_000 else 2)
    operations = 2 * 4 * n * k * d**2
    return Table.from_rows(
        {
            "contestant": name,
            "ms per round": f"{1e3 * time_taken:.1f}",
            "ratio": f"{times['numpy'] / time_taken:.1f}",
            "TFLOP/s": f"{operations / time_taken / 1e12:.2f}",
            "of a product": "" if name == "numpy" else f"{operations / time_taken / measure_product_rate():.0%}",
            "log-likelihood": f"{likelihoods[name] / n:.6f}",
            "waits": str(waits[name]),
        }
        for name, time_taken in times.items()
    )


def time_thin_rounds(n: int = 10_000_000) -> Table:
    """One round of k-means and of co-EM with diagonal covariances: two views of 32 columns, k = 10, float32.

    Both are limited by memory: at least, a round reads each view once for its E-step and once for its M-step, and
    `of a copy` is the rate at which these bytes are read divided by that of a copy on the device. `waits` is how often
    a round waits for the device.
    """
    k, d, generator = 10, 32, torch.Generator(get_device()).manual_seed(0)
    y = torch.randint(k, (n,), generator=generator, device=get_device())
    blocks = []
    for _ in range(2):
        centers = 0.4 * torch.randn((k, d), generator=generator, device=get_device())
        blocks.append(centers[y] + torch.randn((n, d), generator=generator, device=get_device()))
    views = Views(blocks, present=np.ones((n, 2), bool))
    start = np.random.default_rng(1).integers(k, size=n)
    rows = []
    for name, make_rounds in (("k-means", make_kmeans_rounds), ("co-EM, diagonal", make_diagonal_rounds)):
        with use_threads(None):
            rounds = make_rounds(views, start, k)
            next(rounds)
            n_waits = count_waits(partial(next, rounds)) if get_device() == "cuda" else 0
            seconds = measure_median_seconds(partial(next, rounds))
        rate = 2 * 2 * 4 * n * d / seconds
        rows.append(
            {
                "rounds": name,
                "ms per round": f"{1e3 * seconds:.1f}",
                "TB/s": f"{rate / 1e12:.2f}",
                "of a copy": f"{rate / measure_copy_rate():.0%}",
                "waits": str(n_waits),
            }
        )
    return Table.from_rows(rows)


def make_kmeans_rounds(views: Views, start: np.ndarray, k: int) -> Iterator[Any]:
    divergence = SquaredEuclidean()
    return multi_view_kmeans(prepare_kmeans(views, divergence).with_labels(start), divergence, k)


def make_diagonal_rounds(views: Views, start: np.ndarray, k: int) -> Iterator[Any]:
    shards, families, _ = prepare_mixture(views, dict.fromkeys(views.names, "gaussian"), k)
    return co_em(shards, start_from_init(start, shards, families, k, PRIORS["global"]), [0.5], PRIORS["global"])


def time_neighbors(n: int = 1_000_000) -> Table:
    """Exact 30 nearest neighbors of rows of 100 columns in float32, and the product of their graph with 20 vectors.

    numpy gets at most 100,000 rows. `TFLOP/s` counts the products of all pairs of rows, `equal` is the share of
    positions that are those of numpy.
    """
    n_neighbors, n_host, generator = 30, min(n, 100_000), torch.Generator(get_device()).manual_seed(0)
    centers = 2 * torch.randn((20, 100), generator=generator, device=get_device())
    rows = centers[torch.arange(n, device=get_device()) % 20]
    rows += torch.randn((n, 100), generator=generator, device=get_device())
    U = torch.randn((n, 20), generator=generator, device=get_device(), dtype=torch.float64)
    expected = find_nearest(to_numpy(rows[:n_host]), n_neighbors).positions
    table = []
    for name, X in (("numpy", to_numpy(rows[:n_host])), *((get_device(), rows[:size]) for size in (n_host, n))):
        with use_threads(None):
            positions = find_nearest(X, n_neighbors).positions
            search = measure_median_seconds(partial(find_nearest, X, n_neighbors), 1)
            graph = NearestNeighbors(n_neighbors, "euclidean").build_operator(X, np.random.default_rng(0))
            vectors = U[: len(X)] if name == get_device() else to_numpy(U[: len(X)])
            product = measure_median_seconds(partial(graph.__matmul__, vectors))
        table.append(
            {
                "contestant": name,
                "n": f"{len(X):,}",
                "seconds of search": f"{search:.2f}",
                "TFLOP/s": f"{2 * len(X) ** 2 * 100 / search / 1e12:.2f}",
                "ms per product": f"{1e3 * product:.1f}",
                "equal": f"{np.mean(positions == expected):.6f}" if len(X) == n_host else "",
            }
        )
    return Table.from_rows(table)


def measure_copy_rate(n_bytes: int = 1 << 32) -> float:
    """Return the bytes per second that a copy on the device reads and writes."""
    n_bytes = n_bytes if get_device() == "cuda" else 1 << 24
    source = torch.empty(n_bytes, dtype=torch.uint8, device=get_device())
    target = torch.empty_like(source)
    return 2 * n_bytes / measure_median_seconds(lambda: target.copy_(source))


def count_waits(work: Callable[[], Any]) -> int:
    """Count how often a call waits for the device, as reported by torch."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            work()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing" in str(warning.message) for warning in caught)


def measure_product_rate(n: int = 8192) -> float:
    """Return the operations per second of a square product in float32."""
    n = n if get_device() == "cuda" else 1024
    A = torch.ones((n, n), device=get_device())
    return 2 * n**3 / measure_median_seconds(lambda: A @ A)


def get_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def measure_median_seconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median seconds of a call after a warm-up, with the device synchronized."""
    seconds = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        work()
        if get_device() == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds[1:]))


BENCHMARKS: dict[str, Callable[..., Table]] = {
    "convex_update": time_convex_update,
    "co_em_rounds": time_co_em_rounds,
    "thin_rounds": time_thin_rounds,
    "co_training": time_co_training,
    "neighbors": time_neighbors,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device", description="Time consilience on a GPU.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--n", type=int, help="number of entities (default: as in the benchmark)")
    args = parser.parse_args()
    for name in args.names or BENCHMARKS:
        sizes = {} if args.n is None else {"n": args.n}
        print(f"{name} on {torch.cuda.get_device_name() if get_device() == 'cuda' else 'the CPU'}", flush=True)
        print(f"{BENCHMARKS[name](**sizes)!r}\n", flush=True)


if __name__ == "__main__":
    main()
