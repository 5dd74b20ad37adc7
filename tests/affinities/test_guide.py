"""The affinity of docs/add-an-affinity.md on dense, sparse and dask data."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.affinities import Nystroem

PAGE = Path(__file__).parents[2] / "docs" / "add-an-affinity.md"


@pytest.fixture(scope="module")
def guide():
    names = {"__name__": "guide"}
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def fit(X, affinity):
    return cs.CoTrainedSpectral(3, affinity=affinity, random_state=0).fit(X)


def to_dask(views):
    da = pytest.importorskip("dask.array")
    return cs.Views({name: da.from_array(np.asarray(X), chunks=(100, -1)) for name, X in views.items()})


def test_page_code_finds_the_clusters(guide):
    assert cs.metrics.adjusted_rand_score(guide["y"], guide["model"].labels_) > 0.9
    assert np.array_equal(guide["model"].predict(guide["views"]), guide["model"].labels_)


def test_sparse_views_are_refused_by_name(guide):
    sparse = {"words": sp.csr_array(guide["views"]["view0"])}
    message = r"view 'words': Laplacian\(width=5.0\) does not support sparse views: give a dense array"
    with pytest.raises(ValueError, match=message):
        fit(sparse, guide["Laplacian"](5.0))
    with pytest.raises(ValueError, match="does not support sparse views"):
        fit(sparse, Nystroem(guide["Laplacian"](5.0), 50))


@pytest.mark.parametrize("approximate", [False, True])
def test_declared_sparse_support_equals_dense(guide, approximate):
    affinity = guide["SparseLaplacian"](5.0)
    affinity = Nystroem(affinity, 50) if approximate else affinity
    dense, sparse = fit(guide["views"], affinity), fit(guide["sparse"], affinity)
    assert cs.metrics.adjusted_rand_score(dense.labels_, sparse.labels_) == 1
    assert np.array_equal(sparse.predict(guide["sparse"]), sparse.labels_)


@pytest.mark.parametrize("approximate", [False, True])
def test_dask_equals_dense(guide, approximate):
    affinity = Nystroem(guide["Laplacian"](5.0), 50) if approximate else guide["Laplacian"](5.0)
    dense, chunked = fit(guide["views"], affinity), fit(to_dask(guide["views"]), affinity)
    assert np.array_equal(dense.labels_, chunked.labels_)
    assert np.array_equal(chunked.predict(to_dask(guide["views"])), dense.labels_)


@pytest.mark.parametrize("approximate", [False, True])
def test_kernel_with_row_terms_on_sparse_and_dask(guide, approximate):
    affinity = guide["RationalQuadratic"](5.0)
    affinity = Nystroem(affinity, 50) if approximate else affinity
    expected = fit(guide["views"], affinity).labels_
    for views in (guide["sparse"], to_dask(guide["views"])):
        assert cs.metrics.adjusted_rand_score(expected, fit(views, affinity).labels_) == 1


def test_tile_of_the_wrong_shape_is_refused(guide):
    class Flat(guide["Laplacian"]):
        def tile(self, left, right):
            return super().tile(left, right)[0]

    with pytest.raises(ValueError, match=r"Flat\.tile returned shape \(\d+,\), but must return \(left, right\), here"):
        fit(guide["views"], Flat())


def test_missing_views_and_baselines(guide):
    views, y = cs.datasets.make_gaussian_views(120, n_clusters=3, separation=8, missing=0.2, random_state=0)
    model = cs.baselines.KernelAddition(3, affinity=guide["Laplacian"](5.0), random_state=0).fit(views)
    assert cs.metrics.adjusted_rand_score(y, model.labels_) > 0.9
