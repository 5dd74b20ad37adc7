"""A seed gives the same labels for every storage and every cut of the rows."""

import re
from functools import cache

import numpy as np
import pytest

import consilience as cs
from consilience.methods.common import starts
from stores import (
    ESTIMATORS,
    ON_PROCESSES,
    STORES,
    K,
    convert_to_dask,
    cut_finely,
    fit_quietly,
    make_blocks,
    make_dask_array,
)

ESTIMATOR_OF = {  # each storage with each kind of data that has code of its own there
    "memory": {"float32": "k-means", "missing": "spherical", "sparse": "co-em"},
    "memmap": {"float32": "spherical", "missing": "co-em", "sparse": "k-means"},
    "hdf5": {"complete": "co-em", "missing": "k-means"},
    "zarr": {"float32": "co-em", "missing": "spherical"},
    "dask": {"float32": "k-means", "missing": "co-em", "sparse": "spherical"},
    "workers": {"complete": "k-means", "float32": "spherical", "sparse": "co-em"},
    "processes": {"missing": "k-means", "sparse": "co-em"},
    "array_api_strict": {"complete": "spherical", "missing": "co-em"},
    "torch": {"float32": "co-em", "missing": "k-means"},
}
CASES = [
    pytest.param(store, case, name, marks=ON_PROCESSES if store == "processes" else ())
    for store, names in ESTIMATOR_OF.items()
    for case, name in names.items()
]


@cache
def fit_in_memory(name, case, **options):
    """Fit an estimator to blocks in memory, as one shard; tests do not change the model."""
    return fit_quietly(ESTIMATORS[name](**options), make_blocks(case)[0])


@pytest.fixture
def store_blocks(request, tmp_path):
    """A function that puts blocks into a storage; workers of dask are used until the test ends."""

    def store(kind, blocks):
        if kind == "memory":
            return blocks
        if kind in ("workers", "processes"):
            request.getfixturevalue({"workers": "in_process", "processes": "on_cluster"}[kind])
            return convert_to_dask(None, blocks)
        return STORES[kind](tmp_path, blocks)

    return store


def assert_same(expected, actual, blocks, stored, rtol=1e-9):
    """Compare two models of the same data, of which the second was fitted on stored rows."""
    assert np.array_equal(expected.labels_, actual.labels_)
    assert all(np.array_equal(expected.view_labels_[name], actual.view_labels_[name]) for name in blocks)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=rtol)
    assert np.array_equal(actual.predict(stored), expected.predict(blocks))
    assert actual.score(stored) == pytest.approx(expected.score(blocks), rel=rtol)
    for method in ("predict_proba", "transform", "score_samples"):
        if hasattr(expected, method):
            results = (getattr(model, method)(X) for model, X in ((actual, stored), (expected, blocks)))
            np.testing.assert_allclose(*results, rtol=rtol, atol=rtol, err_msg=method)


@pytest.mark.parametrize(("store", "case", "name"), CASES)
def test_labels_do_not_depend_on_the_storage_and_the_shards(store, case, name, store_blocks):
    blocks, _ = make_blocks(case)
    expected = fit_in_memory(name, case)
    with cut_finely():
        stored = store_blocks(store, blocks)
        rtol = 1e-4 if case == "float32" else 1e-9  # sums have another order
        assert_same(expected, fit_quietly(ESTIMATORS[name](), stored), blocks, stored, rtol)


@pytest.mark.parametrize(
    ("name", "store", "n_known"), [("co-em", "workers", 3), pytest.param("k-means", "processes", 2, marks=ON_PROCESSES)]
)
def test_known_classes_on_dask(name, store, n_known, store_blocks):
    blocks, y = make_blocks("missing")
    known_classes = np.where((np.arange(240) % 9 == 0) & (y < n_known), y, -1)
    make, options = ESTIMATORS[name], {"n_init": 2, "max_iter": 100}
    expected = make(**options).fit(blocks, known_classes)
    actual = make(**options).fit(store_blocks(store, blocks), known_classes)
    assert np.array_equal(actual.labels_, expected.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-9)
    np.testing.assert_allclose(actual.agreement_, expected.agreement_)


@pytest.mark.parametrize("name", ["co-em", "k-means"])
def test_threads_do_not_change_a_bit(name, store_blocks):
    blocks, _ = make_blocks("missing")
    with cut_finely():
        views = store_blocks("memmap", blocks)
        expected, *others = (fit_quietly(ESTIMATORS[name](n_jobs=n_jobs), views) for n_jobs in (1, 2, 5))
    for actual in others:
        assert np.array_equal(expected.labels_, actual.labels_)
        assert expected.cost_ == actual.cost_


@pytest.mark.parametrize(
    ("name", "store", "case"),
    [
        ("co-em", "memmap", "sparse"),
        ("k-means", "zarr", "complete"),
        ("spherical", "dask", "sparse"),
        ("co-em", "workers", "complete"),
        ("k-means", "workers", "sparse"),
    ],
)
@pytest.mark.parametrize("limit", [{"most_sampled": 50}, {"most_values": 400}], ids=str)
def test_sampled_starts_do_not_depend_on_the_storage(name, store, case, limit, store_blocks):
    blocks, _ = make_blocks(case)
    with starts.tuning.set(**limit):
        expected, actual = (
            fit_quietly(ESTIMATORS[name](max_iter=1), views) for views in (blocks, store_blocks(store, blocks))
        )
    assert np.array_equal(expected.labels_, actual.labels_)


@pytest.mark.parametrize(("name", "store"), [("co-em", "dask"), ("k-means", "zarr"), ("spherical", "memmap")])
def test_init_does_not_depend_on_the_storage(name, store, store_blocks):
    blocks, y = make_blocks("missing")
    stored, make = store_blocks(store, blocks), ESTIMATORS[name]
    centres = np.stack([np.nanmean(blocks["numbers"][y == j], axis=0) for j in range(K)])
    for init in (y, {"numbers": centres}, {"numbers": np.eye(K)[y]}):
        expected, actual = (fit_quietly(make(init=init), views) for views in (blocks, stored))
        assert np.array_equal(expected.labels_, actual.labels_)


@pytest.mark.parametrize(("name", "store"), [("co-em", "zarr"), ("k-means", "memmap"), ("spherical", "dask")])
def test_random_responsibilities_do_not_depend_on_the_storage(name, store, store_blocks):
    blocks, _ = make_blocks("missing")
    expected = fit_in_memory(name, "missing", init="random-responsibilities", n_jobs=1)
    with cut_finely():
        stored = store_blocks(store, blocks)
        actual = fit_quietly(ESTIMATORS[name](init="random-responsibilities", n_jobs=2), stored)
    assert_same(expected, actual, blocks, stored)


@pytest.mark.parametrize(
    ("family", "store"),
    [
        ("gaussian-full", "memmap"),
        ("gaussian-tied", "dask"),
        ("gaussian-spherical", "memmap"),
        ("von-mises-fisher", "dask"),
    ],
)
def test_every_family_and_eta(family, store, store_blocks):
    blocks, _ = make_blocks("missing")
    families = {"numbers": family, "counts": "poisson"}
    options = {"families": families, "eta": 0.6, "priors": "view", "assignment": "average"}
    expected = fit_quietly(ESTIMATORS["co-em"](**options), blocks)
    with cut_finely():
        stored = store_blocks(store, blocks)
        assert_same(expected, fit_quietly(ESTIMATORS["co-em"](**options), stored), blocks, stored)


def map_out(folder, shape, dtype):
    return np.lib.format.open_memmap(folder / "out.npy", "w+", dtype, shape)


def make_hdf5_out(folder, shape, dtype):
    return pytest.importorskip("h5py").File(folder / "out.h5", "w").create_dataset("out", shape, dtype)


def make_zarr_out(folder, shape, dtype):
    return pytest.importorskip("zarr").create_array(folder / "out", shape=shape, dtype=dtype)


@pytest.mark.parametrize(
    ("make_out", "name", "store"),
    [(map_out, "co-em", "hdf5"), (make_hdf5_out, "k-means", "zarr"), (make_zarr_out, "co-em", "dask")],
)
def test_predictions_are_written_to_out(make_out, name, store, store_blocks, tmp_path):
    blocks, _ = make_blocks("complete")
    model = fit_in_memory(name, "complete")
    outs = [("predict", (240,), np.int64)]
    if name == "co-em":
        outs.append(("predict_proba", (240, K), np.float64))
    with cut_finely():
        stored = store_blocks(store, blocks)
        for method, shape, dtype in outs:
            (tmp_path / method).mkdir()
            out = make_out(tmp_path / method, shape, dtype)
            assert getattr(model, method)(stored, out=out) is out
            assert np.allclose(out[:], getattr(model, method)(blocks))


@pytest.mark.parametrize(
    ("make_out", "shape"), [(map_out, (100,)), (map_out, (300,)), (make_hdf5_out, (240, 1)), (make_zarr_out, (240, K))]
)
def test_out_of_wrong_shape_is_refused_before_writing(make_out, shape, tmp_path):
    blocks, _ = make_blocks("complete")
    model = fit_in_memory("k-means", "complete")
    out = make_out(tmp_path, shape, np.int64)
    out[...] = -7
    message = re.escape(f"out must be an array of shape (240,) for 240 entities, got shape {shape}")
    with cut_finely(), pytest.raises(ValueError, match=message):
        model.predict(blocks, out=out)
    assert (out[...] == -7).all()


@pytest.mark.parametrize(
    ("method", "out", "message"),
    [
        ("predict", np.full(240, True), "out must hold numbers such as 2, which do not fit bool: give a wider type"),
        ("predict_proba", np.ones(240), r"shape \(240, 3\) for 240 entities, got shape \(240,\)"),
        ("predict_proba", np.ones((240, K), np.int64), r"out must hold numbers such as 0\.5, which do not fit int64"),
    ],
)
def test_out_of_narrow_type_or_without_columns_is_refused_before_writing(method, out, message):
    with pytest.raises(ValueError, match=message):
        getattr(fit_in_memory("co-em", "complete"), method)(make_blocks("complete")[0], out=out)
    assert out.all()


@pytest.mark.parametrize(
    ("name", "case", "store"),
    [
        ("co-em", "complete", "memmap"),
        ("k-means", "sparse", "memmap"),
        ("spherical", "complete", "hdf5"),
        ("co-em", "complete", "zarr"),
        ("k-means", "complete", "dask"),
        ("co-em", "sparse", "dask"),
        ("co-em", "complete", "workers"),
        ("spherical", "sparse", "workers"),
        ("spherical", "complete", "array_api_strict"),
        ("k-means", "complete", "torch"),
    ],
)
def test_no_entities_in_any_storage(name, case, store, store_blocks):
    blocks, _ = make_blocks(case)
    model, stored = fit_in_memory(name, case), store_blocks(store, blocks)
    forms = [cs.Views(stored)[:0]]
    if store == "workers":
        forms.append({view: array[:0] for view, array in stored.items()})
    for no_entities in forms:
        assert model.predict(no_entities).shape == (0,)
        for method in ("predict_proba", "transform", "score_samples"):
            if hasattr(model, method):
                assert len(getattr(model, method)(no_entities)) == 0
        with pytest.raises(ValueError, match="this batch has no entities: leave it out"):
            model.partial_fit(no_entities)


@pytest.mark.parametrize(("name", "options"), [("co-em", {"families": "gaussian"}), ("k-means", {})])
def test_chunks_far_from_zero_and_from_each_other(name, options, store_blocks):
    """All shards measure from one origin, though their rows are far apart."""
    blocks, y = make_blocks("float32")
    order = np.argsort(y, kind="stable")
    far = {view: (X + np.float32(3000) + 40 * y[:, None].astype(np.float32))[order] for view, X in blocks.items()}
    expected, actual = (
        fit_quietly(ESTIMATORS[name](**options), views) for views in (far, store_blocks("workers", far))
    )
    assert np.array_equal(expected.labels_, actual.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-4)


@pytest.mark.parametrize(("name", "store"), [("co-em", "hdf5"), ("k-means", "zarr"), ("spherical", "dask")])
def test_stored_array_is_one_view(name, store, store_blocks):
    X = make_blocks("complete")[0]["numbers"]
    make = ESTIMATORS[name]
    stored = make_dask_array(X, (100, 140)) if store == "dask" else store_blocks(store, {"X": X})["X"]
    model = fit_quietly(make(), stored)
    assert np.array_equal(model.labels_, fit_quietly(make(), X).labels_)
    assert np.array_equal(model.predict(stored), model.labels_)
    assert model.n_features_in_ == 4
    halves = {"a": slice(0, 2), "b": slice(2, 4)}
    apart = fit_quietly(make(views=halves), stored)
    assert np.array_equal(apart.labels_, fit_quietly(make(views=halves), X).labels_)


@pytest.mark.parametrize(("name", "store"), [("co-em", "memmap"), ("k-means", "dask"), ("spherical", "zarr")])
def test_slice_of_views(name, store, store_blocks):
    blocks, _ = make_blocks("missing")
    expected = fit_quietly(ESTIMATORS[name](), cs.Views(blocks)[31:222])
    with cut_finely():
        actual = fit_quietly(ESTIMATORS[name](), cs.Views(store_blocks(store, blocks))[31:222])
    assert np.array_equal(actual.labels_, expected.labels_)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore:Sparse")  # torch says that they are new, and that it does not check them
def test_sparse_rows_of_a_device_library(name):
    torch = pytest.importorskip("torch")
    blocks, _ = make_blocks("sparse")
    T = blocks["counts"]
    counts = torch.sparse_csr_tensor(*(torch.asarray(np.array(x)) for x in (T.indptr, T.indices, T.data)), size=T.shape)
    tensors = {"numbers": torch.asarray(blocks["numbers"]), "counts": counts}
    assert np.array_equal(fit_quietly(ESTIMATORS[name](), tensors).labels_, fit_in_memory(name, "sparse").labels_)
