"""The benchmark of storages, without workers: chunks equal the data, and tables show differences."""

import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.rows import as_source, read_whole
from waiting import wait_until

pytest.importorskip("distributed")
scale = pytest.importorskip("benchmarks.scale")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    scale.make_big.write_views(folder, gb=0.001)
    return folder


@pytest.fixture(scope="module")
def mapped(folder):
    return scale.make_big.load_views(folder)


@pytest.mark.parametrize("name", ["counts", "dense"])
def test_chunks_equal_the_rows(name, folder, mapped):
    block = read_whole(name, as_source(mapped[0][name]), None)
    for chunked in (scale.read_chunks_from_files(folder, name, block), scale.split_into_chunks(block)):
        assert chunked.shape == block.shape
        assert chunked.numblocks == (scale.N_CHUNKS, 1)
        values = chunked.compute(scheduler="synchronous")
        assert sp.issparse(values) == (name == "counts")
        assert values.dtype == block.dtype
        assert abs(values - block).max() == 0


def test_ratios_within_turns_and_equal_labels():
    seconds = {"slow machine": iter([1.0, 10.0, 1.0]), "twice": iter([2.0, 20.0, 3.0])}
    timers = {name: partial(next, column) for name, column in seconds.items()}
    table = scale.tabulate_times(timers, [np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1])], turns=3)
    words = repr(table)
    assert "2.00  2.00 to 3.00" in words
    assert "75.0% the same" in words


def test_models_that_differ_in_the_last_bit_and_cost_of_a_killed_worker():
    first = SimpleNamespace(labels_=np.array([0, 1]), cost_=1.0)
    other = SimpleNamespace(labels_=np.array([0, 0]), cost_=np.nextafter(1.0, 2))
    assert scale.describe_equality(first, first) == {"labels": "equal", "cost": "equal"}
    assert scale.describe_equality(first, other) == {"labels": "DIFFER", "cost": "DIFFERS"}
    values = scale.describe_loss(5.0, [3.0, 5.0])
    assert values == {"seconds": "5.00", "undisturbed": "3.00 and 5.00", "lost": "+1.00", "ratio": "1.25"}


def test_function_is_called_at_each_round(mapped):
    seen = []
    with scale.call_at_each_round(seen.append), pytest.warns(UserWarning, match="no convergence in 3 rounds"):
        scale.fit_co_em_rounds(mapped[0][:2000], mapped[1][:2000], 3)
    assert seen == [1, 2, 3]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_this_process():
    with scale.record_values(partial(scale.get_memory, "RssAnon")) as seen:
        array = np.ones(1 << 23)
        n_before = len(seen)
        wait_until(lambda: len(seen) > n_before + 1)  # a value that was measured after the array was made
    assert max(seen) - seen[0] > 0.9 * array.nbytes
    assert scale.get_memory("VmHWM") >= max(seen)
