"""Sources of rows: equal to rows in memory, read in blocks, and no more than needed."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import as_rows, plan_reads, to_host, use_threads, verbs
from consilience.rows import Source, Storage
from consilience.rows.source import read_ahead
from waiting import HANG_LIMIT

pytestmark = pytest.mark.quick

rng = np.random.default_rng(0)
DENSE = rng.normal(size=(103, 7)).astype(np.float32)
SPARSE = sp.csr_array(sp.random(103, 50, density=0.1, random_state=0, dtype=np.float64))


class CountingStorage(Storage):
    """A storage in memory that records its reads."""

    def __init__(self, values, edges=None):
        self.values, self.edges, self.asked = values, edges, []
        self.shape, self.dtype, self.sparse = values.shape, values.dtype, sp.issparse(values)
        self.description = "somewhere.bin"

    @property
    def size(self):
        return self.values.nnz if self.sparse else self.values.size

    def read(self, start, stop):
        self.asked.append((start, stop))
        return self.values[start:stop].copy()

    @property
    def rows_read(self):
        return sum(stop - start for start, stop in self.asked)


@pytest.fixture(params=[DENSE, SPARSE], ids=["dense", "sparse"])
def values(request):
    return request.param


@pytest.fixture
def _small_blocks(tune):
    """Blocks of about ten rows."""
    tune("rows.source", block_bytes=280, gap_bytes=64)


def plain(X):
    X = to_host(X)
    return X.toarray() if sp.issparse(X) else X


def numbers(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def negate(block):
    return verbs.map_values(block, np.negative)


def test_rows_are_read_by_slice(values):
    X = Source.over(CountingStorage(values))
    for rows in (slice(0, 5), slice(50, 103), slice(None), slice(-3, None), slice(4, 4), slice(9, 2)):
        np.testing.assert_array_equal(plain(X[rows]), numbers(values[rows]))
        np.testing.assert_array_equal(plain(X[rows, ...]), numbers(values[rows]))
        assert X[rows].dtype == X.dtype == values.dtype


def test_other_types_are_read_as_float64():
    for dtype in (np.int8, np.uint64, np.float16, bool, ">f4"):
        X = Source.over(CountingStorage(DENSE.astype(dtype)))
        assert X.dtype == X[:3].dtype == np.float64
        np.testing.assert_array_equal(X[:3], DENSE[:3].astype(dtype).astype(np.float64))


def test_steps_positions_and_conversion_to_numpy_are_refused():
    X = Source.over(CountingStorage(DENSE), "a")
    with pytest.raises(ValueError, match=r"read in their order, got slice\(None, None, 2\): use take"):
        X[::2]
    with pytest.raises(TypeError, match="read by slice, got 3: use take"):
        X[3]
    with pytest.raises(TypeError, match=r"rows of view 'a' are not in memory \(somewhere.bin\): read some with"):
        np.asarray(X)


def test_slice_rows_reads_nothing(values):
    storage = CountingStorage(values)
    assert Source.over(storage)[:0, ...].shape == (0, values.shape[1])
    part = Source.over(storage).slice_rows(20, 60)
    assert part.shape == (40, values.shape[1])
    assert storage.asked == []
    np.testing.assert_array_equal(plain(part[10:15]), numbers(values[30:35]))
    assert storage.asked == [(30, 35)]


class BrokenStorage(CountingStorage):
    """A storage whose rows from the 20th on cannot be read."""

    def read(self, start, stop):
        if stop > 20:
            raise RuntimeError("bad sector")
        return super().read(start, stop)


class ShortStorage(CountingStorage):
    """A storage that returns one row less."""

    def read(self, start, stop):
        return super().read(start, stop - 1)


def test_failed_and_short_reads_name_file_and_view():
    with pytest.raises(OSError, match=r"view 'text': rows 13 to 29 of somewhere.bin cannot be read \(bad sector\)"):
        Source.over(BrokenStorage(DENSE), "text")[13:29]
    with pytest.raises(OSError, match=r"view 'text'.*somewhere.bin.*wanted \(6, 7\) numbers, got \(5, 7\)"):
        Source.over(ShortStorage(DENSE), "text")[3:9]


def test_source_can_be_pickled(values):
    X = pickle.loads(pickle.dumps(Source.over(CountingStorage(values), "a").map_blocks(negate).slice_rows(3, 90)))
    np.testing.assert_array_equal(plain(X[:]), -numbers(values[3:90]))


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("edges", [None, np.array([0, 30, 60, 90, 103])], ids=["none", "thirty"])
def test_take_keeps_the_order(values, edges):
    X = Source.over(CountingStorage(values, edges))
    for rows in ([5], [], [90, 3, 3, 50, 102], rng.permutation(103)):
        rows = np.array(rows, int)
        np.testing.assert_array_equal(plain(X.take(rows)), numbers(values)[rows])
        np.testing.assert_array_equal(
            plain(X.slice_rows(1, 103).take(np.sort(rows[rows > 0]) - 1)), numbers(values)[np.sort(rows[rows > 0])]
        )


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    ("edges", "rows", "asked"),
    [(None, [80, 10, 12], [(10, 13), (80, 81)]), (np.array([0, 50, 103]), [1, 49, 60, 102], [(1, 50), (60, 103)])],
)
def test_take_reads_only_neighboring_rows_and_each_storage_unit_once(edges, rows, asked):
    storage = CountingStorage(DENSE, edges)
    Source.over(storage).take(np.array(rows))
    assert storage.asked == asked


def test_take_refuses_rows_out_of_range():
    X = Source.over(CountingStorage(DENSE))
    with pytest.raises(IndexError, match="row 103 is out of range: there are 103"):
        X.take(np.array([0, 103]))
    with pytest.raises(IndexError, match="row -1 is out of range"):
        X.take(np.array([0, -1]))


@pytest.mark.usefixtures("_small_blocks")
def test_blocks_end_at_storage_units():
    edges = np.append(np.arange(0, 103, 8), 103)
    blocks = plan_reads(Source.over(CountingStorage(DENSE, edges)))
    assert len(blocks) > 3
    assert {block.stop for block in blocks} <= set(edges)
    part = Source.over(CountingStorage(DENSE, edges)).slice_rows(5, 50)
    assert part.edges.tolist() == [0, 3, 11, 19, 27, 35, 43, 45]


@pytest.mark.usefixtures("_small_blocks")
def test_huge_storage_unit_is_split_and_no_rows_are_one_empty_block(tune):
    tune("rows.source", largest_unit=28 * 60)
    blocks = plan_reads(Source.over(CountingStorage(DENSE, np.array([0, 30, 103]))))
    assert [b.stop for b in blocks] == [30, 66, 103]
    assert plan_reads(Source.over(CountingStorage(DENSE[:0]))) == [slice(0, 0)]


def test_steps_get_the_values_of_their_rows(values):
    factors = rng.uniform(1, 2, 103)
    X = verbs.scale_rows(Source.over(CountingStorage(values)).map_blocks(negate), factors).slice_rows(10, 60)
    wanted = plain(verbs.scale_rows(as_rows(-values), factors))
    np.testing.assert_array_equal(plain(X[5:20]), wanted[15:30])
    np.testing.assert_array_equal(plain(X.take(np.array([40, 2]))), wanted[[50, 12]])


def test_step_that_changes_the_shape_is_refused():
    X = Source.over(CountingStorage(DENSE)).map_blocks(lambda block: block[:, :2])
    with pytest.raises(ValueError, match=r"a block of \(4, 7\) float32 became one of \(4, 2\) float32"):
        X[:4]


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbs_equal_those_in_memory(values, n_jobs):
    for verb in (verbs.squared_norms, verbs.row_sums, verbs.max_abs, verbs.row_is_finite, verbs.all_rows_equal):
        storage = CountingStorage(values)
        with use_threads(n_jobs):
            result = verb(Source.over(storage))
        np.testing.assert_array_equal(result, verb(as_rows(values)))
        assert storage.rows_read <= values.shape[0] + 1


@pytest.mark.usefixtures("_small_blocks")
def test_rows_equal_only_within_blocks_are_not_all_equal(values):
    first = values[:1]
    same = sp.vstack([first] * 60, format="csr") if sp.issparse(values) else np.repeat(first, 60, axis=0)
    other = same.copy()
    other[30:] = 2 * other[30:]
    assert verbs.all_rows_equal(Source.over(CountingStorage(same)))
    assert not verbs.all_rows_equal(Source.over(CountingStorage(other)))


@pytest.mark.usefixtures("_small_blocks")
def test_max_abs_of_blocks_with_nan_is_nan():
    values = DENSE.copy()
    values[50, 3] = np.nan
    assert np.isnan(verbs.max_abs(Source.over(CountingStorage(values))))


def test_rows_are_taken_masked_and_mapped_when_read(values):
    X, rows, kept = Source.over(CountingStorage(values)), np.array([7, 99, 7]), rng.random(103) < 0.5
    np.testing.assert_array_equal(verbs.take_dense_rows(X, rows), numbers(values)[rows].astype(np.float64))
    np.testing.assert_array_equal(plain(verbs.take_rows(X, rows)), numbers(values)[rows])
    np.testing.assert_array_equal(plain(verbs.mask_rows(X, kept)[:]), numbers(values) * kept[:, None])
    np.testing.assert_array_equal(plain(verbs.map_values(X, np.abs)[10:20]), np.abs(numbers(values[10:20])))


def test_scorer_equals_that_of_blocks(values):
    storage = CountingStorage(values)
    weights = rng.normal(size=(3, values.shape[1]))
    result = verbs.build_scorer(Source.over(storage), weights)
    np.testing.assert_array_equal(result.weights, verbs.build_scorer(as_rows(values), weights).weights)
    assert storage.asked == []


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("n", [1, 3])
def test_read_ahead_keeps_the_order(values, n):
    X = Source.over(CountingStorage(values))
    blocks = plan_reads(X)
    result = list(read_ahead([X, DENSE], blocks, n))
    assert len(result) == len(blocks)
    np.testing.assert_array_equal(np.concatenate([plain(blocks_read) for blocks_read, _ in result]), numbers(values))
    np.testing.assert_array_equal(np.concatenate([blocks_read for _, blocks_read in result]), DENSE)


def test_next_block_is_read_meanwhile():
    second = threading.Event()

    class Telling(CountingStorage):
        def read(self, start, stop):
            if start == 10:
                second.set()
            return super().read(start, stop)

    storage = Telling(DENSE)
    reading = read_ahead([Source.over(storage)], [slice(i, i + 10) for i in range(0, 50, 10)])
    next(reading)
    assert second.wait(HANG_LIMIT)
    reading.close()
    assert len(storage.asked) == 2  # nor is more read than that


@pytest.mark.usefixtures("_small_blocks")
def test_read_error_is_raised_at_its_block():
    before = threading.active_count()
    reading = read_ahead([Source.over(BrokenStorage(DENSE), "text")], [slice(i, i + 10) for i in range(0, 50, 10)])
    assert len([next(reading), next(reading)]) == 2
    with pytest.raises(OSError, match=r"view 'text': rows 20 to 30 of somewhere.bin cannot be read"):
        next(reading)
    assert threading.active_count() == before


def test_closed_reader_ends_its_thread():
    before = threading.active_count()
    reading = read_ahead([Source.over(CountingStorage(DENSE))], [slice(i, i + 10) for i in range(0, 50, 10)])
    next(reading)
    reading.close()
    assert threading.active_count() == before


def test_arrays_in_memory_need_no_thread():
    before = threading.active_count()
    reading = read_ahead([DENSE, as_rows(SPARSE)], [slice(0, 10), slice(10, 103)])
    dense, sparse = next(reading)
    assert threading.active_count() == before
    assert dense.base is DENSE
    np.testing.assert_array_equal(plain(sparse), numbers(SPARSE[:10]))
