"""Chunks depend on the data alone, threads change nothing, errors come through."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st

from consilience.arrays import CSR, map_chunks, split_into_chunks, use_threads
from consilience.arrays.parallel import available_threads, split_slice
from waiting import HANG_LIMIT


@given(st.integers(0, 1000), st.integers(1, 20), st.integers(0, 50))
def test_slices_are_adjacent_and_cover_all_rows(n, n_parts, start):
    parts = split_slice(slice(start, start + n), n_parts)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(start, start + n))
    lengths = [part.stop - part.start for part in parts]
    assert max(lengths) - min(lengths) <= 1


def test_number_of_chunks_grows_with_the_data(tune):
    assert split_into_chunks(np.zeros((10_000, 100))) == [slice(0, 10_000)]
    assert len(split_into_chunks(np.zeros((50_000, 100)))) == 4
    tune("arrays.parallel", least_chunk=1000)
    wide = CSR.from_scipy(sp.random_array((400, 100), density=0.5, rng=np.random.default_rng(0)).tocsr())
    n_chunks = len(split_into_chunks(wide)), len(split_into_chunks(wide, with_sums=True))
    assert n_chunks == (16, 8)  # sums of each column are not free


def test_results_keep_their_order_on_several_threads():
    parts = split_slice(slice(0, 40), 40)
    seen = set()
    barrier = threading.Barrier(2, timeout=HANG_LIMIT)

    def work(part):
        seen.add(threading.get_ident())
        if part.start < 2:
            barrier.wait()  # the first two must run at the same time
        return part.start

    with use_threads(2):
        assert list(map_chunks(work, parts)) == list(range(40))
    assert len(seen) == 2


def test_one_thread_is_the_thread_of_the_caller():
    with use_threads(1):
        assert set(map_chunks(lambda _: threading.get_ident(), split_slice(slice(0, 9), 3))) == {threading.get_ident()}


def test_threads_do_not_run_far_ahead():
    """A result may hold much memory: at most one more than there are threads is under way."""
    started = []
    with use_threads(2):
        for done, _ in enumerate(map_chunks(lambda part: started.append(part), split_slice(slice(0, 30), 30))):
            assert len(started) <= done + 3


@pytest.mark.parametrize("n", [1, 2])
def test_errors_are_raised_in_the_caller(n):
    def work(part):
        if part.start >= 3:
            raise RuntimeError(f"chunk {part.start}")
        return part.start

    with use_threads(n), pytest.raises(RuntimeError, match="chunk 3"):
        list(map_chunks(work, split_slice(slice(0, 9), 9)))


def test_blas_threads_are_restored():
    def blas():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = blas()
    with use_threads(None):
        assert set(blas()) <= {1}
    assert blas() == before


def test_number_of_threads_follows_n_jobs_and_environment(monkeypatch):
    def used(n_jobs):
        with use_threads(n_jobs):
            from consilience.arrays.parallel import _threads

            return _threads.get().n_threads

    monkeypatch.setattr("consilience.arrays.parallel._count_cores", lambda *_: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [used(n) for n in (None, -1, -2, 1, 3, 20)] == [8, 8, 7, 1, 3, 20]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert available_threads() == 2
    assert used(None) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert available_threads() == 8
