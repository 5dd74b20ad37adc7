"""The family of docs/add-a-family.md works on dense and dask data, and is refused on sparse data."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs

PAGE = Path(__file__).parents[2] / "docs" / "add-a-family.md"


@pytest.fixture(scope="module")
def page():
    """The names that the code of the page defines."""
    names = {"__name__": "add_a_family"}
    exec(re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL).group(1), names)
    return names


def fit(page, waits, **options):
    model = cs.CoEM(3, families={"waits": page["Exponential"](), "words": "multinomial"}, random_state=0, **options)
    return model.fit({"waits": waits, "words": page["words"]})


def test_sparse_view_is_refused_with_its_name_and_a_remedy(page):
    message = r"view 'waits': family 'Exponential' needs dense rows, got a sparse matrix \(300, 2\). Use a family that"
    with pytest.raises(ValueError, match=message):
        fit(page, sp.csr_array(page["waits"]))


def test_sparse_support_can_be_declared(page):
    from consilience.arrays import build_scorer, compute_scores, weighted_sums

    class SparseExponential(page["Exponential"]):
        accepts_sparse = True

        def statistics(self, X, responsibilities):
            return {"counts": responsibilities.sum(axis=0), "sums": weighted_sums(X, responsibilities)}

        def log_prob(self, X, params):
            return compute_scores(X, build_scorer(X, -params["rates"], -np.log(params["rates"]).sum(axis=1)))

        def complaint(self, X):
            return None

    dense, sparse = (
        cs.CoEM(3, families=SparseExponential(), init=page["group"]).fit({"waits": waits})
        for waits in (page["waits"], sp.csr_array(page["waits"]))
    )
    np.testing.assert_allclose(sparse.params_["waits"]["rates"], dense.params_["waits"]["rates"], rtol=1e-10)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


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
