"""Seeds of k-means++ over several views, next to a slow version that follows the definition."""

from math import log

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import as_rows, use_threads
from consilience.divergences import Cosine, SquaredEuclidean
from consilience.methods.common.starts import SeedMeasure, SeedSearch, compute_mean_divergence, make_seeder

N_LARGE = 4000  # entities for which compiled code is used, in several chunks


@pytest.fixture(autouse=True)
def _small_chunks(tune):
    tune("arrays.parallel", least_chunk=1 << 16)


def make_seed_rows(n, divergence=None, *, dtype=np.float64, missing=0.0, sparse=False):
    divergence, rng = divergence or SquaredEuclidean(), np.random.default_rng(0)
    present = rng.random((n, 3)) >= missing
    blocks = [rng.standard_normal((n, d)).astype(dtype) + 5 * rng.integers(3, size=(n, 1)) for d in (3, 40, 7)]
    blocks = [as_rows(sp.csr_array(block * (block > 2)) if sparse else block) for block in blocks]
    return {f"view{v}": divergence.prepare(block, present[:, v]) for v, block in enumerate(blocks)}


def compute_literally(rows, scales, divergence, seed):
    """Return the mean divergence of all entities from one of them, over the views that both have."""
    total, n_shared = 0.0, 0
    for name, view in rows.items():
        X = np.asarray(view.X.to_scipy().toarray() if hasattr(view.X, "to_scipy") else view.X, np.float64)
        values = ((X - X[seed]) ** 2).sum(axis=1) if isinstance(divergence, SquaredEuclidean) else 1 - X @ X[seed]
        shared = view.present & view.present[seed]
        total = total + np.where(shared, values / scales[name], 0.0)
        n_shared = n_shared + shared
    return np.where(n_shared > 0, total / np.maximum(n_shared, 1), 1.0)


def draw_literally(measure, may_draw, n_seeds, rng):
    entities = np.flatnonzero(may_draw)
    seeds = [int(rng.choice(entities))]
    divergences = [measure(seeds[0])]
    while len(seeds) < n_seeds:
        closest = np.min(divergences, axis=0)
        shares = np.cumsum(np.where(may_draw, closest, 0.0))
        candidates = np.searchsorted(shares, rng.random(2 + int(log(n_seeds))) * shares[-1], side="right")
        totals = [np.minimum(closest, measure(candidate)).sum() for candidate in candidates]
        seeds.append(int(candidates[np.argmin(totals)]))
        divergences.append(measure(seeds[-1]))
    return seeds, np.argmin(divergences, axis=0), np.min(divergences, axis=0)


CASES = {
    "small": {"n": 300},
    "large": {"n": N_LARGE},
    "large, float32": {"n": N_LARGE, "dtype": np.float32},
    "large, missing views": {"n": N_LARGE, "missing": 0.4},
    "small, missing views": {"n": 300, "missing": 0.4},
    "large, cosine": {"n": N_LARGE, "divergence": Cosine()},
    "large, sparse": {"n": N_LARGE, "sparse": True},
}


@pytest.mark.parametrize(
    ("case", "n_seeds"), [*((case, 6) for case in CASES.values()), (CASES["small"], 1), (CASES["large"], 30)]
)
def test_seeds_are_those_of_the_definition(case, n_seeds):
    rows, divergence = make_seed_rows(**case), case.get("divergence", SquaredEuclidean())
    scales = {"view0": 2.0, "view1": 30.0, "view2": 5.0}
    may_draw = np.arange(case["n"]) % 3 > 0
    expected, nearest, closest = draw_literally(
        lambda seed: compute_literally(rows, scales, divergence, seed), may_draw, n_seeds, np.random.default_rng(1)
    )
    search = SeedSearch(SeedMeasure(rows, dict.fromkeys(rows, divergence), scales), may_draw)
    with use_threads(2):
        assert search.draw_seeds(n_seeds, np.random.default_rng(1)) == expected
    tolerance = 1e-3 if case.get("dtype") is np.float32 else 1e-9
    np.testing.assert_allclose(search.closest, closest, atol=tolerance)
    assert (search.nearest == nearest).mean() > 0.999


@pytest.mark.parametrize(
    "case",
    [{"n": 300}, {"n": 300, "divergence": Cosine()}, {"n": 2000, "dtype": np.float32}, {"n": 300, "missing": 0.4}],
)
def test_starts_drawn_together_are_those_of_the_definition(case):
    rows, divergence = make_seed_rows(**case), case.get("divergence", SquaredEuclidean())
    scales = {name: compute_mean_divergence(view, divergence) for name, view in rows.items()}
    seed = make_seeder(rows, dict.fromkeys(rows, divergence), 8, "k-means++")
    has_any = np.any([view.present for view in rows.values()], axis=0)
    for s, partition in enumerate(seed([np.random.default_rng(s) for s in range(5)])):
        _, nearest, _ = draw_literally(
            lambda at: compute_literally(rows, scales, divergence, at), has_any, 8, np.random.default_rng(s)
        )
        assert (partition == nearest).mean() > 0.999


def test_equal_rows_are_nearest_to_one_seed():
    rows = {"a": SquaredEuclidean().prepare(np.repeat(np.eye(3, 100), 100, axis=0), np.ones(300, bool))}
    (partition,) = make_seeder(rows, {"a": SquaredEuclidean()}, 5, "k-means++")([np.random.default_rng(0)])
    labels = partition.reshape(3, 100)
    assert (labels == labels[:, :1]).all()
    assert len(set(labels[:, 0])) == 3


@pytest.mark.parametrize("case", [case for case in CASES.values() if case["n"] == N_LARGE])
def test_partition_does_not_depend_on_threads(case):
    rows, divergence = make_seed_rows(**case), case.get("divergence", SquaredEuclidean())
    partitions = []
    for n_threads in (1, 5):
        with use_threads(n_threads):
            seed = make_seeder(rows, dict.fromkeys(rows, divergence), 8, "k-means++")
            partitions.append(next(seed([np.random.default_rng(2)])))
    assert len(np.unique(partitions[0])) == 8
    assert all(np.array_equal(partition, partitions[0]) for partition in partitions)


@pytest.mark.parametrize("n", [300, N_LARGE])
def test_class_means_are_the_first_centers(n):
    rows = make_seed_rows(n, missing=0.2)
    divergences, fixed_labels = dict.fromkeys(rows, SquaredEuclidean()), np.full(n, -1)
    fixed_labels[:60] = np.arange(60) % 3
    by_means, partition = (
        next(make_seeder(rows, divergences, k, "k-means++", fixed_labels)([np.random.default_rng(0)])) for k in (3, 7)
    )
    assert set(np.unique(partition)) == set(range(7))
    assert np.array_equal(partition[partition < 3], by_means[partition < 3])  # the others are nearer to a drawn entity


@pytest.mark.parametrize("n", [50, 10_000])
def test_seeds_differ_if_all_rows_are_alike(n):
    rows = {"a": SquaredEuclidean().prepare(np.ones((n, 4)), np.ones(n, bool))}
    measure = SeedMeasure(rows, {"a": SquaredEuclidean()}, {"a": 0.0})
    assert len(set(SeedSearch(measure, np.ones(n, bool)).draw_seeds(9, np.random.default_rng(0)))) == 9
