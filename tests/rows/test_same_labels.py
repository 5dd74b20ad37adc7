"""A seed gives the same labels for every storage and every cut of the rows."""

import re

import numpy as np
import pytest

import consilience as cs
from consilience.methods.common import starts
from stores import (
    CASES,
    ESTIMATORS,
    STORES,
    K,
    convert_to_dask,
    cut_finely,
    every_estimator,
    fit_quietly,
    make_blocks,
    make_dask_array,
)

every_case = pytest.mark.parametrize("case", CASES)
every_store = pytest.mark.parametrize("store", STORES)


def tolerance(case):
    """Tolerance for sums in another order."""
    return {"rtol": 1e-4, "atol": 1e-4} if case == "float32" else {"rtol": 1e-9, "atol": 1e-9}


def assert_same(expected, actual, blocks, stored, case):
    """Compare two models of the same data, of which the second was fitted on stored rows."""
    assert np.array_equal(expected.labels_, actual.labels_)
    assert all(np.array_equal(expected.view_labels_[name], actual.view_labels_[name]) for name in blocks)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=tolerance(case)["rtol"])
    assert np.array_equal(actual.predict(stored), expected.predict(blocks))
    assert actual.score(stored) == pytest.approx(expected.score(blocks), rel=tolerance(case)["rtol"])
    for method in ("predict_proba", "transform", "score_samples"):
        if hasattr(expected, method):
            assert np.allclose(getattr(actual, method)(stored), getattr(expected, method)(blocks), **tolerance(case)), (
                method
            )


@every_estimator
@every_case
def test_one_shard_equals_many(make, case):
    blocks, _ = make_blocks(case)
    expected = fit_quietly(make(), blocks)
    with cut_finely():
        assert_same(expected, fit_quietly(make(), blocks), blocks, blocks, case)


@every_estimator
@every_case
@every_store
def test_labels_do_not_depend_on_the_storage(make, case, store, tmp_path):
    blocks, _ = make_blocks(case)
    expected = fit_quietly(make(), blocks)
    with cut_finely():
        stored = STORES[store](tmp_path, blocks)
        assert_same(expected, fit_quietly(make(), stored), blocks, stored, case)


@every_estimator
@pytest.mark.parametrize("case", ["missing", "sparse"])
def test_labels_on_dask_processes(make, case, on_cluster):
    blocks, _ = make_blocks(case)
    stored = convert_to_dask(None, blocks)
    assert_same(fit_quietly(make(), blocks), fit_quietly(make(), stored), blocks, stored, case)


@every_estimator
@every_case
def test_labels_on_dask_threads(make, case, in_process):
    blocks, _ = make_blocks(case)
    stored = convert_to_dask(None, blocks)
    with cut_finely():
        assert_same(fit_quietly(make(), blocks), fit_quietly(make(), stored), blocks, stored, case)


@every_estimator
def test_known_classes_on_dask(make, in_process):
    blocks, y = make_blocks("missing")
    known_classes = np.where(np.arange(240) % 9 == 0, y, -1)
    expected = make(n_init=2, max_iter=100).fit(blocks, known_classes)
    actual = make(n_init=2, max_iter=100).fit(convert_to_dask(None, blocks), known_classes)
    assert np.array_equal(actual.labels_, expected.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-9)
    np.testing.assert_allclose(actual.agreement_, expected.agreement_)


@every_estimator
def test_known_classes_on_dask_processes(make, on_cluster):
    blocks, y = make_blocks("missing")
    known_classes = np.where((np.arange(240) % 9 == 0) & (y < 2), y, -1)
    expected, actual = (make(max_iter=100).fit(data, known_classes) for data in (blocks, convert_to_dask(None, blocks)))
    assert np.array_equal(actual.labels_, expected.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-9)


@every_estimator
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_change_a_bit(make, threads, tmp_path):
    blocks, _ = make_blocks("missing")
    with cut_finely():
        views = STORES["memmap"](tmp_path, blocks)
        expected, actual = fit_quietly(make(n_jobs=1), views), fit_quietly(make(n_jobs=threads), views)
    assert np.array_equal(expected.labels_, actual.labels_)
    assert expected.cost_ == actual.cost_


@every_estimator
@pytest.mark.parametrize("store", ["memmap", "zarr", "dask"])
@pytest.mark.parametrize("case", ["complete", "sparse"])
def test_sampled_starts_do_not_depend_on_the_storage(make, store, case, tmp_path):
    blocks, _ = make_blocks(case)
    stored = STORES[store](tmp_path, blocks)
    for limit, value in (("most_sampled", 50), ("most_values", 400)):
        with starts.tuning.set(**{limit: value}):
            expected, actual = (
                fit_quietly(make(n_init=1, max_iter=1), blocks),
                fit_quietly(make(n_init=1, max_iter=1), stored),
            )
        assert np.array_equal(expected.labels_, actual.labels_), limit


@pytest.mark.parametrize("case", ["complete", "sparse"])
@every_estimator
def test_sampled_starts_on_dask(make, case, in_process):
    blocks, _ = make_blocks(case)
    for limit, value in (("most_sampled", 50), ("most_values", 400)):
        with starts.tuning.set(**{limit: value}):
            expected = fit_quietly(make(n_init=1, max_iter=1), blocks)
            actual = fit_quietly(make(n_init=1, max_iter=1), convert_to_dask(None, blocks))
        assert np.array_equal(expected.labels_, actual.labels_), limit


@every_estimator
@pytest.mark.parametrize("store", ["memmap", "hdf5", "zarr", "dask"])
def test_init_does_not_depend_on_the_storage(make, store, tmp_path):
    blocks, y = make_blocks("missing")
    stored = STORES[store](tmp_path, blocks)
    centres = np.stack([np.nanmean(blocks["numbers"][y == j], axis=0) for j in range(K)])
    for init in (y, {"numbers": centres}, {"numbers": np.eye(K)[y]}):
        assert np.array_equal(
            fit_quietly(make(init=init), blocks).labels_, fit_quietly(make(init=init), stored).labels_
        )


@every_estimator
@pytest.mark.parametrize("store", ["memmap", "zarr", "dask"])
def test_random_responsibilities_do_not_depend_on_the_storage(make, store, tmp_path):
    blocks, _ = make_blocks("missing")
    expected = fit_quietly(make(init="random-responsibilities", n_jobs=1), blocks)
    with cut_finely():
        stored = STORES[store](tmp_path, blocks)
        actual = fit_quietly(make(init="random-responsibilities", n_jobs=2), stored)
    assert_same(expected, actual, blocks, stored, "missing")


@pytest.mark.parametrize("family", ["gaussian-full", "gaussian-tied", "gaussian-spherical", "von-mises-fisher"])
@pytest.mark.parametrize("store", ["memmap", "dask"])
def test_every_family_and_eta(family, store, tmp_path):
    blocks, _ = make_blocks("missing")
    make = ESTIMATORS["co-em"]
    families = {"numbers": family, "counts": "poisson"}
    options = {"families": families, "eta": 0.6, "priors": "view", "assignment": "average"}
    expected = fit_quietly(make(**options), blocks)
    with cut_finely():
        stored = STORES[store](tmp_path, blocks)
        assert_same(expected, fit_quietly(make(**options), stored), blocks, stored, "missing")


def map_out(folder, shape, dtype):
    return np.lib.format.open_memmap(folder / "out.npy", "w+", dtype, shape)


def make_hdf5_out(folder, shape, dtype):
    return pytest.importorskip("h5py").File(folder / "out.h5", "w").create_dataset("out", shape, dtype)


def make_zarr_out(folder, shape, dtype):
    return pytest.importorskip("zarr").create_array(folder / "out", shape=shape, dtype=dtype)


every_out = pytest.mark.parametrize("make_out", [map_out, make_hdf5_out, make_zarr_out])


@every_estimator
@every_out
@pytest.mark.parametrize("store", ["memmap", "hdf5", "zarr", "dask"])
def test_predictions_are_written_to_out(make, make_out, store, tmp_path):
    blocks, _ = make_blocks("complete")
    model = fit_quietly(make(), blocks)
    with cut_finely():
        stored = STORES[store](tmp_path, blocks)
        out = make_out(tmp_path, (240,), np.int64)
        assert model.predict(stored, out=out) is out
        assert np.array_equal(out[:], model.labels_)


@every_out
def test_probabilities_are_written_to_out(make_out, tmp_path):
    blocks, _ = make_blocks("complete")
    model = fit_quietly(ESTIMATORS["co-em"](), blocks)
    out = make_out(tmp_path, (240, K), np.float64)
    with cut_finely():
        assert model.predict_proba(blocks, out=out) is out
    assert np.allclose(out[:], model.predict_proba(blocks))


@every_estimator
@every_out
@pytest.mark.parametrize("shape", [(100,), (300,), (240, 1), (240, K)])
def test_out_of_wrong_shape_is_refused_before_writing(make, make_out, shape, tmp_path):
    blocks, _ = make_blocks("complete")
    out = make_out(tmp_path, shape, np.int64)
    out[...] = -7
    wanted = re.escape(f"out must be an array of shape (240,) for 240 entities, got shape {shape}")
    with cut_finely(), pytest.raises(ValueError, match=wanted):
        fit_quietly(make(), blocks).predict(blocks, out=out)
    assert (out[...] == -7).all()


@every_estimator
def test_out_of_narrow_type_is_refused_before_writing(make):
    blocks, _ = make_blocks("complete")
    out = np.full(240, True)
    with pytest.raises(ValueError, match="out must hold numbers such as 2, which do not fit bool: give a wider type"):
        fit_quietly(make(), blocks).predict(blocks, out=out)
    assert out.all()


def test_out_for_probabilities_needs_columns_and_floats():
    blocks, _ = make_blocks("complete")
    model = fit_quietly(ESTIMATORS["co-em"](), blocks)
    with pytest.raises(ValueError, match=r"shape \(240, 3\) for 240 entities, got shape \(240,\)"):
        model.predict_proba(blocks, out=np.zeros(240))
    with pytest.raises(ValueError, match=r"out must hold numbers such as 0\.5, which do not fit int64"):
        model.predict_proba(blocks, out=np.zeros((240, K), np.int64))


def assert_no_predictions(model, no_entities):
    assert model.predict(no_entities).shape == (0,)
    for method in ("predict_proba", "transform", "score_samples"):
        if hasattr(model, method):
            assert len(getattr(model, method)(no_entities)) == 0
    with pytest.raises(ValueError, match="this batch has no entities: leave it out"):
        model.partial_fit(no_entities)


@every_estimator
@pytest.mark.parametrize("case", ["complete", "sparse"])
@every_store
def test_no_entities_in_any_storage(make, case, store, tmp_path):
    blocks, _ = make_blocks(case)
    model = fit_quietly(make(), blocks)
    assert_no_predictions(model, cs.Views(STORES[store](tmp_path, blocks))[:0])


@every_estimator
@pytest.mark.parametrize("case", ["complete", "sparse"])
def test_no_entities_on_dask(make, case, in_process):
    blocks, _ = make_blocks(case)
    model, stored = fit_quietly(make(), blocks), convert_to_dask(None, blocks)
    assert_no_predictions(model, cs.Views(stored)[:0])
    assert_no_predictions(model, {name: array[:0] for name, array in stored.items()})


@every_estimator
def test_chunks_far_from_zero_and_from_each_other(make, in_process):
    """All shards measure from one origin, though their rows are far apart."""
    blocks, y = make_blocks("float32")
    order = np.argsort(y, kind="stable")
    far = {name: (X + np.float32(3000) + 40 * y[:, None].astype(np.float32))[order] for name, X in blocks.items()}
    options = {"families": "gaussian"} if make is ESTIMATORS["co-em"] else {}
    expected, actual = fit_quietly(make(**options), far), fit_quietly(make(**options), convert_to_dask(None, far))
    assert np.array_equal(expected.labels_, actual.labels_)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-4)


@every_estimator
@pytest.mark.parametrize("store", ["hdf5", "zarr", "dask"])
def test_stored_array_is_one_view(make, store, tmp_path):
    blocks, _ = make_blocks("complete")
    expected = {"X": blocks["numbers"]}
    if store == "dask":
        pytest.importorskip("dask.array")
    stored = {"dask": _to_two_chunks}.get(store, STORES[store])(tmp_path, expected)["X"]
    model = fit_quietly(make(), stored)
    assert np.array_equal(model.labels_, fit_quietly(make(), expected["X"]).labels_)
    assert np.array_equal(model.predict(stored), model.labels_)
    assert model.n_features_in_ == 4
    halves = {"a": slice(0, 2), "b": slice(2, 4)}
    apart = fit_quietly(make(views=halves), stored)
    assert np.array_equal(apart.labels_, fit_quietly(make(views=halves), expected["X"]).labels_)


def _to_two_chunks(_folder, blocks):
    return {name: make_dask_array(X, (100, 140)) for name, X in blocks.items()}


@pytest.mark.parametrize("store", ["memmap", "zarr", "dask"])
@every_estimator
def test_slice_of_views(make, store, tmp_path):
    blocks, _ = make_blocks("missing")
    stored = cs.Views(STORES[store](tmp_path, blocks))[31:222]
    expected = fit_quietly(make(), cs.Views(blocks)[31:222])
    with cut_finely():
        assert np.array_equal(fit_quietly(make(), stored).labels_, expected.labels_)


@every_estimator
@pytest.mark.filterwarnings("ignore:Sparse")  # torch says that they are new, and that it does not check them
def test_sparse_rows_of_a_device_library(make):
    torch = pytest.importorskip("torch")
    blocks, _ = make_blocks("sparse")
    T = blocks["counts"]
    counts = torch.sparse_csr_tensor(*(torch.asarray(np.array(x)) for x in (T.indptr, T.indices, T.data)), size=T.shape)
    tensors = {"numbers": torch.asarray(blocks["numbers"]), "counts": counts}
    assert np.array_equal(fit_quietly(make(), tensors).labels_, fit_quietly(make(), blocks).labels_)
