"""The family of docs/add-a-family.md works on dense and dask data, and the sparse one on sparse data."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs

PAGE = Path(__file__).parents[2] / "docs" / "add-a-family.md"


@pytest.fixture(scope="module")
def page():
    names = {"__name__": "add_a_family"}
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(code, names)
    return names


def fit(page, waits, **options):
    model = cs.CoEM(3, families={"waits": page["Exponential"](), "words": "multinomial"}, random_state=0, **options)
    return model.fit({"waits": waits, "words": page["words"]})


def test_sparse_support_can_be_declared(page):
    dense, sparse = (
        cs.CoEM(3, families=page["SparseExponential"](), init=page["group"]).fit({"waits": waits})
        for waits in (page["waits"], sp.csr_array(page["waits"]))
    )
    np.testing.assert_allclose(sparse.params_["waits"]["rates"], dense.params_["waits"]["rates"], rtol=1e-10)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    with pytest.raises(ValueError, match="family 'SparseExponential' needs waiting times, none negative, got -"):
        cs.CoEM(3, families=page["SparseExponential"]()).fit({"waits": sp.csr_array(-page["waits"])})


def test_class_in_place_of_an_instance_is_refused(page):
    with pytest.raises(ValueError, match=r"view 'waits': Exponential is a class: give an instance, Exponential\(...\)"):
        cs.CoEM(3, families={"waits": page["Exponential"]}).fit({"waits": page["waits"]})


def test_log_prob_of_the_wrong_shape_is_refused(page):
    class Transposed(page["Exponential"]):
        def log_prob(self, X, params):
            return super().log_prob(X, params).T

    message = r"family 'Transposed': log_prob returned shape \(3, 300\), but must return \(rows, clusters\), here"
    with pytest.raises(ValueError, match=message):
        cs.CoEM(3, families=Transposed(), random_state=0).fit({"waits": page["waits"]})


def test_dask_data_gives_the_labels_of_memory(page):
    dask_array = pytest.importorskip("dask.array")
    in_memory = fit(page, page["waits"])
    chunks = fit(page, dask_array.from_array(page["waits"], chunks=(100, 2)))
    np.testing.assert_array_equal(chunks.labels_, in_memory.labels_)


def test_dask_workers_give_the_labels_of_memory(page):
    dask_array, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    views = {name: dask_array.from_array(page[name], chunks=(100, page[name].shape[1])) for name in ("waits", "words")}
    families = {"waits": page["Exponential"](), "words": "multinomial"}
    start = page["group"]
    expected = cs.CoEM(3, families=families, init=start).fit({"waits": page["waits"], "words": page["words"]})
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        model = cs.CoEM(3, families=families, init=start).fit(views)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.params_["waits"]["rates"], expected.params_["waits"]["rates"])
