"""Single-cell files: matrices, names of cells, and columns that describe the cells."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files import fit_and_encode, match_classes
from consilience.files.formats import read_file
from single_cell import make_mudata, write_cells

ad = pytest.importorskip("anndata")
pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(8, 5))
CELLS = [f"cell{i}" for i in range(8)]


def make_annotated(values=X, cells=CELLS, **rest):
    kinds = pd.Categorical(["a", "b"] * (len(cells) // 2))
    obs = pd.DataFrame({"kind": kinds, "batch": np.arange(len(cells))}, index=cells)
    var = pd.DataFrame(index=[f"gene{i}" for i in range(values.shape[1])])
    return ad.AnnData(values, obs=obs, var=var, **rest)


def test_h5ad_round_trips(tmp_path):
    data = make_annotated(sp.csr_matrix(X), obsm={"pca": X[:, :2], "csc": sp.csc_matrix(X)})
    result = read_file(write_cells(data, tmp_path / "t.h5ad"))
    assert list(result.matrices) == ["X", "csc", "pca"]
    np.testing.assert_array_equal(result.matrices["X"].values.toarray(), X)
    np.testing.assert_array_equal(result.matrices["csc"].values.toarray(), X)
    np.testing.assert_array_equal(result.matrices["pca"].values, X[:, :2])
    assert result.matrices["X"].ids.tolist() == CELLS
    assert result.matrices["X"].features.tolist() == [f"gene{i}" for i in range(5)]
    assert result.columns["kind"].tolist() == ["a", "b"] * 4
    assert result.columns["batch"].tolist() == [str(i) for i in range(8)]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Two modalities, the second of which lacks two cells."""
    data = make_mudata(rna=make_annotated(), protein=make_annotated(X[2:, :3] + 1, CELLS[2:]))
    data.obs["class"] = ["u", "v"] * 4
    return write_cells(data, tmp_path_factory.mktemp("cells") / "t.h5mu")


def test_blocks_are_views_joined_by_cell(cells, read, put):
    collection = read_file(cells)
    assert list(collection.matrices) == ["rna", "protein"]
    (content,) = read(f"mine={cells}:protein").contents
    assert content.name == "mine"
    assert content.ids.tolist() == collection.matrices["protein"].ids.tolist() == CELLS[2:]
    table = put("t.csv", "id,age\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(CELLS[::-1])))
    reading = read(cells, table, labels="class")
    np.testing.assert_array_equal(reading.contents[0].data[0], X)
    np.testing.assert_array_equal(reading.contents[1].data[0], X[2:, :3] + 1)
    prepared = fit_and_encode(reading.contents, rare=False)
    assert prepared.views.names == ("rna", "protein", "t")
    assert prepared.ids.tolist() == CELLS
    np.testing.assert_array_equal(prepared.views.present[:, :2], np.column_stack([np.ones(8), np.arange(8) >= 2]))
    ages = np.arange(8.0)[::-1]
    np.testing.assert_allclose(prepared.views["t"].ravel(), (ages - ages.mean()) / ages.std())
    by_cell = dict(zip(collection.ids.tolist(), collection.columns["class"].tolist(), strict=True))
    assert match_classes(reading.known_classes, prepared.entities).tolist() == [by_cell[cell] for cell in CELLS]


@pytest.mark.parametrize(
    ("views", "labels", "message"),
    [
        (["mine={}"], None, r"t\.h5mu holds rna, protein: name one \(--view mine=.*t\.h5mu:rna\), or give"),
        (["mine={}:atac"], None, r"t\.h5mu has no block 'atac'; it has 'rna', 'protein'"),
        (["{}"], "{}", r"t\.h5mu \(--labels\): name a column of it if it is also a view"),
        (["{}", "t.csv"], None, r"view 't' \(.*t\.csv\) has 9 rows without ids, but view"),
    ],
)
def test_unsuitable_uses_of_blocks_are_refused(cells, read, put, monkeypatch, tmp_path, views, labels, message):
    put("t.csv", "age\n" + "1\n" * 9)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        read(*(view.format(cells) for view in views), labels=labels and labels.format(cells))


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_repeated_cells_are_refused(tmp_path, read):
    path = write_cells(make_annotated(X, ["same"] * 2 + CELLS[2:]), tmp_path / "t.h5ad")
    with pytest.raises(ValueError, match=r"t\.h5ad:X has the id 'same' more than once"):
        fit_and_encode(read(path).contents, rare=False)


def test_broken_files_are_refused(tmp_path, put):
    whole = write_cells(make_annotated(), tmp_path / "whole.h5ad").read_bytes()
    for content in (b"\x89HDF\r\n\x1a\n" + bytes(500), whole[: len(whole) // 3]):
        with pytest.raises(ValueError, match=r"t\.h5ad cannot be read as \.h5ad: "):
            read_file(put("t.h5ad", content))
    with pytest.raises(ValueError, match=r"t\.h5mu (cannot be read as \.h5mu|holds no modalities)"):
        read_file(put("t.h5mu", whole))
