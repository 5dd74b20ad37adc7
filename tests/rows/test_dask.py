"""Arrays and frames of dask as views, and fits on the workers of dask."""

import _thread
import gc
import os
import pickle
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from waiting import wait_until

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import pandas as pd

import consilience as cs
from consilience.families import Family, Gaussian
from consilience.methods.coem import algorithm as coem
from consilience.methods.kmeans import algorithm as kmeans
from consilience.rows import current_client, find_workers
from stores import ESTIMATORS, ON_PROCESSES, convert_to_dask, fit_quietly, make_blocks, make_dask_array

SLICED_COO = pytest.mark.skipif(
    not hasattr(sp.coo_array, "__getitem__"), reason="dask takes COO chunks for dense if they cannot be sliced"
)
LENGTHS = (100, 40, 100)
LONG = {"tol": 0, "patience": 1000}


@pytest.fixture(params=["threads", "cluster"])
def anywhere(request):
    """Run once with the threads of dask, and once on workers."""
    if request.param == "cluster":
        request.getfixturevalue("in_process")


def assert_as_in_memory(model, dask_blocks, blocks):
    """Compare fits to the same data; return the model of dask."""
    expected, actual = fit_quietly(clone(model), blocks), fit_quietly(clone(model), dask_blocks)
    assert np.array_equal(expected.labels_, actual.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-9)
    return actual


@pytest.mark.usefixtures("anywhere")
class TestInputsAnywhere:
    @pytest.mark.parametrize(
        ("name", "kind", "lengths"),
        [
            ("co-em", sp.csr_matrix, LENGTHS),  # as the other view
            ("spherical", sp.csc_array, (60, 120, 60)),
            pytest.param("co-em", sp.coo_array, (60, 120, 60), marks=SLICED_COO),
        ],
    )
    def test_sparse_chunks(self, name, kind, lengths):
        blocks, _ = make_blocks("sparse")
        dask_blocks = {
            "numbers": make_dask_array(blocks["numbers"], LENGTHS),
            "counts": make_dask_array(blocks["counts"], lengths, kind),
        }
        assert_as_in_memory(ESTIMATORS[name](), dask_blocks, blocks)

    def test_column_chunks_are_merged(self):
        blocks, _ = make_blocks("sparse")
        counts = blocks["counts"]
        halves = [make_dask_array(counts[:, :5], LENGTHS), make_dask_array(counts[:, 5:], LENGTHS)]
        dask_blocks = {
            "numbers": da.from_array(blocks["numbers"], chunks=(50, 1)),
            "counts": da.concatenate(halves, axis=1),
        }
        assert_as_in_memory(ESTIMATORS["co-em"](), dask_blocks, blocks)

    def test_empty_chunk(self):
        blocks, _ = make_blocks("complete")
        keep = np.ones(240, bool)
        keep[100:140] = False  # the second chunk
        filtered = {
            name: make_dask_array(X, LENGTHS)[da.from_array(keep, chunks=(LENGTHS,))] for name, X in blocks.items()
        }
        dask_blocks = {name: array.compute_chunk_sizes() for name, array in filtered.items()}
        assert dask_blocks["numbers"].chunks[0] == (100, 0, 100)
        assert_as_in_memory(ESTIMATORS["co-em"](), dask_blocks, {name: X[keep] for name, X in blocks.items()})

    def test_integers_and_booleans(self):
        blocks, _ = make_blocks("complete")
        blocks = {"numbers": blocks["numbers"] > 0, "counts": blocks["counts"].astype(np.int16)}
        assert_as_in_memory(ESTIMATORS["k-means"](), convert_to_dask(None, blocks), blocks)

    def test_rows_of_nan_are_missing(self):
        blocks, _ = make_blocks("complete")
        blocks["numbers"][[3, 239]] = np.nan
        blocks["numbers"][100:140] = np.nan  # a whole chunk
        dask_blocks = convert_to_dask(None, blocks)
        assert cs.Views(dask_blocks).present[:, 0].sum() == 198
        assert_as_in_memory(ESTIMATORS["co-em"](), dask_blocks, blocks)

    def test_nan_error_names_the_global_row(self):
        blocks, _ = make_blocks("complete")
        blocks["counts"][217, 3] = np.nan
        for views in (cs.Views(convert_to_dask(None, blocks)), cs.Views(convert_to_dask(None, blocks))[90:]):
            with pytest.raises(ValueError, match=r"view 'counts' has NaN or infinity in row 217: impute"):
                ESTIMATORS["k-means"]().fit(views)

    def test_all_zero_chunk_is_accepted(self):
        blocks, _ = make_blocks("sparse")
        counts = blocks["counts"].toarray()
        counts[:100] = 0
        blocks["counts"] = sp.csr_array(counts)
        assert_as_in_memory(ESTIMATORS["spherical"](), convert_to_dask(None, blocks), blocks)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, pytest.param(sp.coo_array, marks=SLICED_COO)])
    def test_column_views_of_a_dask_array_stay_on_dask(self, kind):
        blocks, _ = make_blocks("complete")
        X = blocks["counts"]
        whole = make_dask_array(X if kind is np.asarray else sp.csr_array(X), LENGTHS, kind)
        groups = {"a": slice(0, 4), "b": [7, 4, -1]}
        views = cs.Views.from_columns(whole, groups)
        assert (find_workers(dict(views.items())) is None) == (current_client() is None)
        make = ESTIMATORS["k-means"](views=groups)
        assert_as_in_memory(make, whole, X)
        assert_as_in_memory(ESTIMATORS["k-means"](), views[30:200], cs.Views.from_columns(X[30:200], groups))

    def test_predict_new_entities(self):
        blocks, _ = make_blocks("complete")
        model = fit_quietly(ESTIMATORS["co-em"](), blocks)
        new = {name: X[:90] for name, X in blocks.items()}
        dask_blocks = {name: make_dask_array(X, (50, 40)) for name, X in new.items()}
        assert np.array_equal(model.predict(dask_blocks), model.predict(new))
        assert np.array_equal(
            model.predict({"counts": dask_blocks["counts"]}), model.predict({"counts": new["counts"]})
        )


@pytest.mark.usefixtures("in_process")
class TestInputsOnWorkers:
    def test_frames_keep_column_names(self):
        blocks, _ = make_blocks("complete")
        frames = {
            name: pd.DataFrame(X, columns=[f"{name}{j}" for j in range(X.shape[1])]) for name, X in blocks.items()
        }
        dask_blocks = {name: dd.from_pandas(frame, npartitions=3 + i) for i, (name, frame) in enumerate(frames.items())}
        model = assert_as_in_memory(ESTIMATORS["co-em"](), dask_blocks, frames)
        assert model.feature_names_in_[:4].tolist() == ["numbers0", "numbers1", "numbers2", "numbers3"]
        turned = {**dask_blocks, "numbers": dask_blocks["numbers"][["numbers1", "numbers0", "numbers2", "numbers3"]]}
        with pytest.raises(ValueError, match="view 'numbers' has column 'numbers1' where fit had 'numbers0'"):
            model.predict(turned)

    def test_frames_with_mixed_types_and_nulls(self):
        blocks, _ = make_blocks("complete")
        frame = pd.DataFrame(blocks["numbers"], columns=list("abcd"))
        frame = frame.assign(flag=(frame["a"] > 0).astype("boolean"), n=pd.array(np.arange(240) % 5, dtype="Int64"))
        frame["b"] = frame["b"].astype("Float64")
        frame.loc[7] = pd.NA
        assert cs.Views({"x": dd.from_pandas(frame, npartitions=3)}).present.sum() == 239
        whole = {"numbers": frame.astype("Float64").astype(float), "counts": blocks["counts"]}
        dask_blocks = {
            "numbers": dd.from_pandas(frame, npartitions=3),
            "counts": make_dask_array(blocks["counts"], LENGTHS),
        }
        assert_as_in_memory(ESTIMATORS["k-means"](), dask_blocks, whole)

    @pytest.mark.parametrize("name", ["co-em", "spherical"])
    def test_all_zero_view_is_refused(self, name):
        blocks, _ = make_blocks("complete")
        dask_blocks = convert_to_dask(None, {**blocks, "counts": blocks["counts"] * 0})
        options = {"families": {"counts": "multinomial"}} if name == "co-em" else {}
        with pytest.raises(ValueError, match="view 'counts' is all zeros"):
            ESTIMATORS[name](**options).fit(dask_blocks)

    def test_family_complaint_about_one_chunk(self):
        blocks, _ = make_blocks("complete")
        blocks["counts"][239, 0] = -3
        with pytest.raises(ValueError, match=r"view 'counts': family 'poisson' needs counts, none .*, got -3"):
            ESTIMATORS["co-em"](families={"counts": "poisson"}).fit(convert_to_dask(None, blocks))

    @pytest.mark.parametrize(("last", "family"), [(1.0, "bernoulli"), (4.0, "multinomial"), (0.5, "gaussian")])
    def test_auto_family_considers_all_chunks(self, last, family):
        blocks, _ = make_blocks("complete")
        blocks["counts"] = (blocks["counts"] > 1).astype(float)
        blocks["counts"][239, 0] = last
        families = ESTIMATORS["co-em"]().families_for(convert_to_dask(None, blocks))
        assert families["counts"].name == family

    def test_category_in_one_chunk_only(self):
        blocks, _ = make_blocks("complete")
        answers = np.minimum(blocks["counts"][:, :3], 2.0)
        answers[239] = 6.0
        blocks["counts"] = answers
        model = ESTIMATORS["co-em"](families={"counts": "categorical"})
        model = assert_as_in_memory(model, convert_to_dask(None, blocks), blocks)
        assert model.families_["counts"].n_levels == (7, 7, 7)


class TestRefusals:
    def test_text_column_is_refused(self):
        frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "words": ["x", "y"]}), npartitions=1)
        with pytest.raises(TypeError, match=r"view 'v': column 'words' holds no numbers\. Encode it first"):
            cs.Views({"v": frame})

    def test_unknown_chunk_sizes_are_refused(self):
        array = da.from_array(np.eye(4), chunks=2)
        with pytest.raises(ValueError, match=r"view 'v' is a dask array that does not know .*: call \.compute_chunk"):
            cs.Views({"v": array[array[:, 0] > 0]})

    def test_other_kinds_and_shapes_are_refused(self):
        column = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)["a"]
        for expected in (da.zeros(4), column):
            with pytest.raises(ValueError, match="view 'v' must have two dimensions"):
                cs.Views({"v": expected})
        with pytest.raises(TypeError, match="view 'v' is a Bag of dask: give an array or a frame"):
            cs.Views({"v": db.from_sequence([1, 2])})
        with pytest.raises(ValueError, match="'b' has 5"):
            cs.Views({"a": da.zeros((4, 2)), "b": da.zeros((5, 2))})

    @pytest.mark.parametrize(("dtype", "present"), [(np.float64, None), (np.int64, np.ones((12, 1), bool))])
    def test_undeclared_sparse_chunks_are_refused(self, dtype, present):
        chunk = dask.delayed(sp.eye_array(6, 9, dtype=dtype, format="csr"))
        array = da.concatenate([da.from_delayed(chunk, (6, 9), dtype=dtype)] * 2)
        with pytest.raises(TypeError, match=r"view 'v' .* dense, .* meta=scipy\.sparse\.csr_array\(\(0, 9\)\)"):
            cs.Views({"v": array}, present=present)


@contextmanager
def act_at_round(number, act):
    """Call a function on the client after this many rounds of co-EM."""
    original, rounds = coem.make_state, count(1)

    def make_state(*args, **options):
        if next(rounds) == number:
            act()
        return original(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coem, "make_state", make_state)
        yield


def wait_until_released(client):
    """Wait until neither the client nor the scheduler keeps anything of a fit."""

    def is_released():
        gc.collect()
        # Equal chunks have one key. If a graph makes one that an earlier error still keeps, but of other tasks, then
        # distributed adds these tasks and links them to nothing, so that they stay (github.com/dask/dask/issues/9888).
        tasks = list(client.cluster.scheduler.tasks.values())
        return not client.futures and not [task for task in tasks if task.who_wants or task.state != "released"]

    wait_until(is_released)


def test_task_graph_does_not_grow(in_process):
    blocks, y = make_blocks("complete")
    sizes = []
    tasks = in_process.cluster.scheduler.tasks
    original = coem.make_state

    def make_state(*args, **options):
        sizes.append(len(tasks))
        return original(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coem, "make_state", make_state)
        fit_quietly(ESTIMATORS["co-em"](max_iter=6, init=y, **LONG), convert_to_dask(None, blocks))
    assert len(sizes) == 6
    assert max(sizes[2:]) <= max(sizes[:2]) + 2 * len(LENGTHS)  # what is released goes a moment later


@pytest.mark.parametrize("name", ["co-em", "k-means"])
def test_fit_releases_all_tasks(name, in_process):
    blocks, _ = make_blocks("complete")
    model = fit_quietly(ESTIMATORS[name](n_init=2), convert_to_dask(None, blocks))
    model.predict(convert_to_dask(None, blocks))
    wait_until_released(in_process)
    stored = pickle.dumps(model)
    assert not re.search(rb"distributed|dask", stored)
    assert np.array_equal(pickle.loads(stored).predict(blocks), model.labels_)


@pytest.mark.parametrize("wrong", ["nan", "counts"])
def test_error_releases_all_tasks(wrong, in_process):
    blocks, _ = make_blocks("complete")
    blocks["counts"][217, 3] = np.nan if wrong == "nan" else -1
    with pytest.raises(ValueError, match="view 'counts'"):
        ESTIMATORS["co-em"](families={"counts": "multinomial"}).fit(convert_to_dask(None, blocks))
    wait_until_released(in_process)


@pytest.mark.parametrize(
    ("name", "module", "function"), [("co-em", coem, "compute_log_prob"), ("k-means", kmeans, "argmax_scores")]
)
def test_ctrl_c_keeps_the_last_complete_round_and_releases_tasks(name, module, function, in_process, monkeypatch):
    """A canceled task may still be running while later ones run."""
    blocks, y = make_blocks("complete")
    options = {"init": np.random.default_rng(0).permutation(y), **LONG}
    original, calls, make = getattr(module, function), count(), ESTIMATORS[name]

    def interrupted(*args):
        if next(calls) == 13:
            _thread.interrupt_main()
            time.sleep(0.3)
        return original(*args)

    model = make(max_iter=50, **options)
    with monkeypatch.context() as patch:
        patch.setattr(module, function, interrupted)
        with pytest.raises(KeyboardInterrupt, match="best result so far"):
            model.fit(convert_to_dask(None, blocks))
    whole = fit_quietly(make(max_iter=model.n_iter_, **options), blocks)
    assert np.array_equal(model.labels_, whole.labels_)
    assert model.cost_ == pytest.approx(whole.cost_, rel=1e-9)
    assert np.array_equal(model.predict(blocks), model.labels_)
    wait_until_released(in_process)


def find_worker_pids(client):
    """Return the process ids of the workers that answer."""
    return set(client.run(os.getpid, on_error="ignore").values())


@ON_PROCESSES
def test_killed_worker_does_not_change_the_result(on_cluster):
    blocks, y = make_blocks("missing")
    options = {"init": np.random.default_rng(0).permutation(y), "max_iter": 12, **LONG}
    expected = fit_quietly(ESTIMATORS["co-em"](**options), convert_to_dask(None, blocks))
    killed_pid = find_worker_pids(on_cluster).pop()
    killing = threading.Timer(0.01, os.kill, (killed_pid, signal.SIGKILL))
    with act_at_round(3, killing.start):
        actual = fit_quietly(ESTIMATORS["co-em"](**options), convert_to_dask(None, blocks))
    killing.join()
    wait_until(lambda: len(find_worker_pids(on_cluster) - {killed_pid}) == 2)  # a new worker has taken its place
    assert np.array_equal(expected.labels_, actual.labels_)
    assert expected.cost_ == actual.cost_


def test_current_client_is_used(one_process):
    blocks, _ = make_blocks("complete")
    views = cs.Views(convert_to_dask(None, blocks))
    assert current_client() is None
    with one_process.as_current():
        assert current_client() is one_process
        assert find_workers(dict(views.items())) is one_process
        for scheduler in ("threads", "synchronous"):
            with dask.config.set(scheduler=scheduler):
                assert current_client() is None
                assert find_workers(dict(views.items())) is None


@pytest.mark.parametrize(("name", "scheduler"), [("co-em", "threads"), ("k-means", "synchronous")])
@pytest.mark.usefixtures("in_process")
def test_configured_scheduler_overrides_the_client(name, scheduler):
    blocks, _ = make_blocks("complete")
    with dask.config.set(scheduler=scheduler):
        assert_as_in_memory(ESTIMATORS[name](), convert_to_dask(None, blocks), blocks)


def test_persisted_chunks(in_process):
    blocks, _ = make_blocks("missing")
    persisted = {name: in_process.persist(array) for name, array in convert_to_dask(None, blocks).items()}
    assert_as_in_memory(ESTIMATORS["co-em"](), persisted, blocks)
    mixed = {**persisted, "counts": blocks["counts"]}  # read by a thread that reads ahead
    assert_as_in_memory(ESTIMATORS["k-means"](), mixed, blocks)


def test_verbose_shows_rounds(in_process, capsys):
    blocks, y = make_blocks("complete")
    fit_quietly(ESTIMATORS["co-em"](verbose=True, max_iter=3, init=y, **LONG), convert_to_dask(None, blocks))
    shown = capsys.readouterr().err
    assert "CoEM: view 'counts': family 'multinomial', since all values are counts" in shown
    assert re.search("CoEM: start 1 of 1, round 3: q -", shown)


@dataclass(frozen=True)
class Rounded(Family):
    """User-defined family: Gaussian of rounded rows."""

    def statistics(self, X, responsibilities):
        return Gaussian().statistics(np.round(X), responsibilities)

    def maximize(self, statistics):
        return Gaussian(floor=1e-3).maximize(statistics)

    def log_prob(self, X, params):
        return Gaussian().log_prob(np.round(X), params)

    def shapes(self, n_clusters, n_columns):
        return Gaussian().shapes(n_clusters, n_columns)


@ON_PROCESSES
@pytest.mark.usefixtures("on_cluster")
def test_user_defined_family():
    blocks, _ = make_blocks("complete")
    own_module = sys.modules[Rounded.__module__]
    cloudpickle.register_pickle_by_value(own_module)  # what workers cannot import travels whole
    try:
        assert_as_in_memory(ESTIMATORS["co-em"](families={"numbers": Rounded()}), convert_to_dask(None, blocks), blocks)
    finally:
        cloudpickle.unregister_pickle_by_value(own_module)


def test_columns_of_parquet_files_whose_partitions_dask_joins(tmp_path):
    """Selecting few columns makes dask read several files as one partition."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=8).to_parquet(tmp_path)
    frame = dd.read_parquet(tmp_path)
    views = cs.Views({"one": frame[["a"]], "all": frame})
    np.testing.assert_array_equal(views["one"][:], X[:, :1])
    np.testing.assert_array_equal(views["all"][:], X)
    model = cs.MultiViewKMeans(2, random_state=0)
    expected = model.fit({"one": X[:, :1], "all": X}).labels_
    np.testing.assert_array_equal(model.fit(views).labels_, expected)
