"""Shards: their caches, the number of reads, memory, and how reading ends."""

import gc
import pickle
import subprocess
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn import config_context

import consilience as cs
from consilience.arrays.memory import is_scratch_array
from consilience.divergences import SquaredEuclidean
from consilience.methods.coem import algorithm as coem
from consilience.methods.coem.algorithm import co_em, iterate_posteriors
from consilience.methods.coem.assign import compute_shard_probabilities
from consilience.methods.coem.prepare import prepare_mixture
from consilience.methods.coem.priors import PRIORS
from consilience.methods.coem.start import start_from_init
from consilience.methods.common.shards import prepare_kmeans
from consilience.methods.kmeans import algorithm as kmeans
from consilience.methods.kmeans.algorithm import Centers, multi_view_kmeans
from consilience.rows import LocalShards, Source, Storage
from consilience.rows.source import iterate_rows, plan_loads, regular_edges
from stores import ESTIMATORS, K, cut_finely, fit_quietly, label_views, make_blocks, store_in_files
from waiting import HANG_LIMIT

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory used")


class CountedStorage(Storage):
    """A storage that counts the reads of each row, and can be made to fail."""

    description = "a test"

    def __init__(self, values, unit=None):
        self.values = values
        self.shape, self.dtype = values.shape, values.dtype
        self.edges = regular_edges(len(values), unit)
        self.times = np.zeros(len(values), int)
        self.asked, self.fails = [], None

    def read(self, start, stop):
        if self.fails is not None:
            raise self.fails
        self.asked.append((start, stop))
        self.times[start:stop] += 1
        return self.values[start:stop].copy()

    def forget(self):
        self.times[:], self.asked = 0, []


def make_counted(case="complete", unit=None, n_views=2):
    blocks, y = make_blocks(case)
    blocks["more"] = blocks["numbers"][:, :2] + 1
    storages = {name: CountedStorage(X, unit) for name, X in list(blocks.items())[:n_views]}
    return cs.Views({name: Source.over(storage, name) for name, storage in storages.items()}), storages, y


def mixture(views, y):
    shards, families, _ = prepare_mixture(views, dict.fromkeys(views.names, "gaussian"), K)
    model = start_from_init(y, shards, families, K, PRIORS["global"])
    return shards, model, co_em(shards, model, [1.0], PRIORS["global"])


def start_kmeans(views, y):
    shards = prepare_kmeans(views, SquaredEuclidean()).with_labels(y)
    return shards, multi_view_kmeans(shards, SquaredEuclidean(), K)


def start_co_em(views, y):
    shards, _, states = mixture(views, y)
    return shards, states


def run_second_round(start, **options):
    """Return the shards, and the storages with what the second round of a method reads."""
    with cut_finely():
        views, storages, y = make_counted(**options)
        shards, states = start(views, y)
        next(states)
        for storage in storages.values():
            storage.forget()
        next(states)
    return shards, storages.values()


@pytest.mark.parametrize("start", [start_co_em, start_kmeans])
@pytest.mark.parametrize("n_views", [1, 3])
def test_round_reads_each_view_twice(start, n_views):
    _, storages = run_second_round(start, n_views=n_views)
    assert all((storage.times == min(2, n_views)).all() for storage in storages)


def test_predictions_read_each_row_three_times():
    """Once to validate the rows, once for the family, and once to predict."""
    for name in ("co-em", "k-means"):
        model = fit_quietly(ESTIMATORS[name](), make_blocks("complete")[0])
        with cut_finely():
            views, storages, _ = make_counted()
            for storage in storages.values():
                storage.forget()
            model.predict(views)
        assert [set(storage.times) for storage in storages.values()] == [{3}, {3}]


@pytest.mark.parametrize("unit", [30, 70, 1000])
def test_shards_and_loads_end_at_storage_units(unit):
    """No unit is read for two shards."""
    shards, storages = run_second_round(start_co_em, unit=unit)
    ends = {*range(0, 240, unit), 240}
    assert {*np.cumsum(shards.sizes)} <= ends
    if unit <= 30:  # larger ones are too large to be read at once
        assert all(start in ends for storage in storages for start, _ in storage.asked)


def test_units_of_a_small_view_do_not_enlarge_loads(tune):
    tune("rows.source", block_bytes=1 << 12)
    small = Source.over(CountedStorage(np.zeros((1000, 1), np.float32), unit=1000))
    large = Source.over(CountedStorage(np.zeros((1000, 50), np.float32)))
    loads = plan_loads({"small": small, "large": large}, 1000, 10)
    assert max((rows.stop - rows.start) * 50 * 4 for rows in loads) <= 2 << 12
    assert loads[0].start == 0
    assert loads[-1].stop == 1000


def test_iterate_rows_yields_every_row_in_order():
    values = np.arange(480.0).reshape(240, 2)
    with cut_finely():
        lazy_rows = Source.over(CountedStorage(values, unit=50))
        spans = list(iterate_rows({"a": lazy_rows, "b": values}, 240, 13))
    assert np.array_equal(np.concatenate([X["a"] for _, X in spans]), values)
    assert np.array_equal(np.concatenate([X["b"] for _, X in spans]), values)
    assert [rows.start for rows, _ in spans] == [0, *(rows.stop for rows, _ in spans[:-1])]


def test_cache_is_not_used_for_other_parameters():
    blocks, y = make_blocks("missing")
    shards, model, _ = mixture(cs.Views(blocks), y)
    for shard in shards.shards:
        for _ in iterate_posteriors(shard, model):
            pass
    actual = start_from_init((y + 1) % K, shards, model.families, K, PRIORS["global"])
    fresh, *_ = mixture(cs.Views(blocks), y)
    for kept, new in zip(shards.shards, fresh.shards, strict=True):
        for (_, _, a), (_, _, b) in zip(iterate_posteriors(kept, actual), iterate_posteriors(new, actual), strict=True):
            assert all(np.array_equal(a[name].posterior, b[name].posterior) for name in a)


class Stopped(BaseException):
    """Raised in the middle of a pass."""


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_interrupted_pass_leaves_no_stale_cache(kind, tmp_path):
    """Half of the cache then belongs to new parameters, and half to old ones."""
    blocks, y = make_blocks("complete")
    with cut_finely():
        views = cs.Views(blocks if kind == "memory" else store_in_files(tmp_path, blocks))
        shards, old, _ = mixture(views, y)
        new = start_from_init((y + 1) % K, shards, old.families, K, PRIORS["global"])
        shard = shards.shards[0]
        before = [beliefs for _, _, beliefs in iterate_posteriors(shard, old)]
        before = [{n: belief.posterior.copy() for n, belief in array.items()} for array in before]
        interrupted_pass = iterate_posteriors(shard, new)
        next(interrupted_pass)
        with pytest.raises(Stopped, match="in the middle"):
            interrupted_pass.throw(Stopped("in the middle"))
        after = [beliefs for _, _, beliefs in iterate_posteriors(shard, old)]
    for expected, actual in zip(before, after, strict=True):
        assert all(np.array_equal(expected[name], actual[name].posterior) for name in expected)


def test_interrupted_pass_of_kmeans_leaves_no_stale_labels():
    blocks, y = make_blocks("complete")
    divergence = SquaredEuclidean()
    with cut_finely():
        shards = prepare_kmeans(cs.Views(blocks), divergence).with_labels(y)
        centres = {name: np.stack([X[y == j].mean(axis=0) for j in range(K)]) for name, X in blocks.items()}
        old, new = (Centers(divergence) for _ in range(2))
        for name, array in centres.items():
            old, new = old.update(name, array), new.update(name, array[::-1].copy())
        shard, names = shards.shards[0], list(blocks)
        before = label_views(shard, old, names)
        interrupted_pass = kmeans.iterate_labels(shard, new, names)
        next(interrupted_pass)
        interrupted_pass.close()
        after = label_views(shard, old, names)
    assert all(np.array_equal(before[name], after[name]) for name in names)


@pytest.mark.parametrize(
    ("name", "module", "function", "moment"),
    [
        ("co-em", coem, "compute_log_prob", 61),
        ("co-em", coem, "compute_log_prob", 75),
        ("k-means", kmeans, "argmax_scores", 68),
        ("k-means", kmeans, "argmax_scores", 90),
    ],
)
def test_ctrl_c_keeps_the_last_complete_round(name, module, function, moment, monkeypatch):
    blocks, y = make_blocks("complete")
    options = {"init": np.random.default_rng(1).integers(K, size=len(y)), "tol": 0, "patience": 1000, "n_jobs": 1}
    original, calls, make = getattr(module, function), count(), ESTIMATORS[name]

    def interrupted(*args):
        if next(calls) == moment:
            raise KeyboardInterrupt
        return original(*args)

    model = make(max_iter=50, **options)
    with cut_finely():
        monkeypatch.setattr(module, function, interrupted)
        with pytest.raises(KeyboardInterrupt, match="best result so far"):
            model.fit(blocks)
        whole = fit_quietly(make(max_iter=model.n_iter_, **options), blocks)
    assert np.array_equal(model.labels_, whole.labels_)
    assert model.cost_ == whole.cost_


def test_pickled_shard_has_an_empty_cache():
    blocks, y = make_blocks("missing")
    with cut_finely():
        shards, model, states = mixture(cs.Views(blocks), y)
        next(states)
        copies = LocalShards(shards.views, pickle.loads(pickle.dumps(shards.shards)))
        assert all(not shard.cache.arrays for shard in copies.shards)
        assert all(shard.cache.arrays for shard in shards.shards)
        expected, actual = (
            list(each.map(compute_shard_probabilities, model, model.weights["counts"], "joint"))
            for each in (shards, copies)
        )
    assert all(np.array_equal(a, b) for a, b in zip(expected, actual, strict=True))


@pytest.mark.parametrize("case", ["missing", "sparse"])
def test_spilling_changes_nothing_and_leaves_no_files(case, tmp_path, monkeypatch):
    blocks, _ = make_blocks(case)
    scratch_folder = tmp_path / "scratch"
    scratch_folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch_folder))
    views = store_in_files(tmp_path, blocks)
    with cut_finely():
        expected = fit_quietly(ESTIMATORS["co-em"](), views)
        with config_context(working_memory=0):
            spilled, *_ = prepare_mixture(cs.Views(views), dict.fromkeys(blocks, "gaussian"), K)
            assert all(shard.cache.spills for shard in spilled.shards)
            actual = fit_quietly(ESTIMATORS["co-em"](), views)
    assert np.array_equal(expected.labels_, actual.labels_)
    assert expected.cost_ == actual.cost_
    assert list(scratch_folder.iterdir()) == []


def test_spilled_posteriors_can_be_sent_to_processes(tmp_path):
    blocks, _ = make_blocks("missing")
    views = store_in_files(tmp_path, blocks)
    with cut_finely(), config_context(working_memory=0):
        spans = fit_quietly(ESTIMATORS["co-em"](), views).responsibilities_
    assert all(is_scratch_array(array) for array in spans.values())
    assert not any(is_scratch_array(array * 2) for array in spans.values())
    for array in (spans["numbers"], spans["numbers"][3:90]):
        expected, actual = joblib.Parallel(2, max_nbytes=1)(joblib.delayed(np.sum)(array) for _ in range(2))
        assert expected == actual == array.sum()


@pytest.mark.parametrize("error", [ValueError("in the middle"), KeyboardInterrupt("in the middle")])
def test_reading_thread_ends_after_an_error(error):
    before = set(threading.enumerate())
    with cut_finely():
        rows = Source.over(CountedStorage(np.zeros((240, 40)), unit=20))
        with pytest.raises(type(error), match="in the middle"):  # noqa: PT012
            for _ in iterate_rows({"a": rows}, 240, 10):
                raise error
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("name", ["co-em", "k-means"])
def test_failed_read_names_the_file_and_ends_threads(name):
    before = set(threading.enumerate())
    with cut_finely():
        views, storages, _ = make_counted()
        storages["counts"].fails = RuntimeError("the disk is gone")
        with pytest.raises(OSError, match=r"view 'counts': rows \d+ to \d+ of a test cannot be read \(the disk"):
            ESTIMATORS[name]().fit(views)
    gc.collect()
    assert set(threading.enumerate()) <= before


FIT = """
import sys, warnings
import numpy as np
import consilience as cs
warnings.simplefilter("ignore")
X, Z = (np.load(path, mmap_mode="r") for path in sys.argv[1:])
def used():
    return int(open("/proc/self/status").read().split("RssAnon:")[1].split()[0]) / 1024
small = {"a": np.load(sys.argv[1], mmap_mode="r")[:2000], "b": np.load(sys.argv[2], mmap_mode="r")[:2000]}
import threading, time
for make in (cs.CoEM, cs.MultiViewKMeans):
    make(3, max_iter=2, init=np.arange(2000) % 3, n_jobs=1).fit(small)
    most, done = [used()], threading.Event()
    def watch():
        while not done.wait(0.005):
            most.append(used())
    watching = threading.Thread(target=watch); watching.start()
    make(3, max_iter=2, init=np.arange(len(X)) % 3, n_jobs=1).fit({"a": X, "b": Z})
    done.set(); watching.join()
    print(max(most) - most[0])
"""


@linux
def test_memory_is_much_smaller_than_the_data(tmp_path):
    """Log-densities, labels and presence of 300 MB of rows take little memory compared with the rows."""
    rng, n = np.random.default_rng(0), 100_000
    rows_5000, paths = rng.normal(size=(5000, 400)).astype(np.float32), [tmp_path / "a.npy", tmp_path / "b.npy"]
    for path, width in zip(paths, (400, 350), strict=True):
        file = np.lib.format.open_memmap(path, "w+", np.float32, (n, width))
        for first in range(0, n, 5000):
            file[first : first + 5000] = rows_5000[:, :width] + first % 3
        del file
    command = [sys.executable, "-c", FIT, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT, check=False)
    for path in paths:
        path.unlink()
    assert done.returncode == 0, done.stderr
    assert max(map(float, done.stdout.split())) < 120, f"{done.stdout} MB"
