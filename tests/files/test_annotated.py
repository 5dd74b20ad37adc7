"""Single-cell files: matrices, names of cells, and columns that describe the cells."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files import collect_ids, fit_and_encode, match_classes
from consilience.files.formats import read_file

ad = pytest.importorskip("anndata")
md = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 5))
CELLS = [f"cell{i}" for i in range(8)]


def write_annotated(values=X, cells=CELLS, **rest):
    kinds = pd.Categorical(["a", "b"] * (len(cells) // 2))
    obs = pd.DataFrame({"kind": kinds, "batch": np.arange(len(cells))}, index=cells)
    var = pd.DataFrame(index=[f"gene{i}" for i in range(values.shape[1])])
    return ad.AnnData(values, obs=obs, var=var, **rest)


@pytest.fixture
def write_file(tmp_path):
    def write(data, name="t.h5ad"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.write(tmp_path / name)
        return tmp_path / name

    return write


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_h5ad_round_trips(write_file, make):
    result = read_file(write_file(write_annotated(make(X), obsm={"pca": X[:, :2]})))
    assert list(result.matrices) == ["X", "pca"]
    values = result.matrices["X"].values
    np.testing.assert_array_equal(values.toarray() if sp.issparse(values) else values, X)
    np.testing.assert_array_equal(result.matrices["pca"].values, X[:, :2])
    assert result.matrices["X"].ids.tolist() == CELLS
    assert result.matrices["X"].features.tolist() == [f"gene{i}" for i in range(5)]
    assert result.columns["kind"].tolist() == ["a", "b"] * 4
    assert result.columns["batch"].tolist() == [str(i) for i in range(8)]


@pytest.fixture
def cells(write_file):
    """Two modalities, the second of which lacks two cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = md.MuData({"rna": write_annotated(), "protein": write_annotated(X[2:, :3] + 1, CELLS[2:])})
        data.obs["class"] = ["u", "v"] * 4
    return write_file(data, "t.h5mu")


def test_h5mu_round_trips(cells):
    result = read_file(cells)
    assert list(result.matrices) == ["rna", "protein"]
    np.testing.assert_array_equal(result.matrices["rna"].values, X)
    np.testing.assert_array_equal(result.matrices["protein"].values, X[2:, :3] + 1)
    assert result.matrices["protein"].ids.tolist() == CELLS[2:]
    assert sorted(result.ids.tolist()) == CELLS


def test_blocks_are_views_joined_by_cell(cells, read):
    reading = read(cells, labels="class")
    prepared = fit_and_encode(reading.contents, rare=False)
    assert prepared.views.names == ("rna", "protein")
    assert prepared.ids.tolist() == CELLS
    np.testing.assert_array_equal(prepared.views.present, np.column_stack([np.ones(8, bool), np.arange(8) >= 2]))
    by_cell = dict(zip(read_file(cells).ids.tolist(), read_file(cells).columns["class"].tolist(), strict=True))
    assert match_classes(reading.known_classes, prepared.entities).tolist() == [by_cell[cell] for cell in CELLS]


def test_one_block_can_be_named(cells, read):
    (content,) = read(f"mine={cells}:protein").contents
    assert content.name == "mine"
    assert content.ids.tolist() == CELLS[2:]


def test_name_for_several_blocks_is_refused(cells, read):
    with pytest.raises(
        ValueError, match=r"t\.h5mu holds rna, protein: name one \(--view mine=.*t\.h5mu:rna\), or give"
    ):
        read(f"mine={cells}")


def test_unknown_block_is_refused(cells, read):
    with pytest.raises(ValueError, match=r"t\.h5mu has no block 'atac'; it has 'rna', 'protein'"):
        read(f"mine={cells}:atac")


def test_label_column_of_annotated_file(cells, read):
    with pytest.raises(ValueError, match=r"t\.h5mu \(--labels\): name a column of it if it is also a view"):
        read(cells, labels=str(cells))


def test_cells_join_tables(cells, read, put):
    table = put("t.csv", "id,age\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(CELLS[::-1])))
    result = fit_and_encode(read(cells, table).contents, rare=False)
    ages = np.arange(8.0)[::-1]
    np.testing.assert_allclose(result.views["t"].ravel(), (ages - ages.mean()) / ages.std())


def test_tables_without_ids_join_cells_by_position(cells, read, put):
    n_cells = len(collect_ids(read(cells).contents))
    with pytest.raises(ValueError, match=rf"view 't' \(.*t\.csv\) has {n_cells + 1} rows without ids, but view"):
        read(cells, put("t.csv", "age\n" + "1\n" * (n_cells + 1)))


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_repeated_cells_are_refused(write_file, read):
    path = write_file(write_annotated(X, ["same"] * 2 + CELLS[2:]))
    with pytest.raises(ValueError, match=r"t\.h5ad:X has the id 'same' more than once"):
        fit_and_encode(read(path).contents, rare=False)


@pytest.mark.parametrize("ending", ["h5ad", "h5mu"])
@pytest.mark.parametrize("whole", [b"x" * 100, b"\x89HDF\r\n\x1a\n" + bytes(500)], ids=["text", "start"])
def test_broken_file_is_refused(put, ending, whole):
    with pytest.raises(ValueError, match=rf"t\.{ending} cannot be read as \.{ending}: "):
        read_file(put(f"t.{ending}", whole))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.99])
def test_truncated_file_is_refused(write_file, share):
    path = write_file(write_annotated())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ValueError, match=r"t\.h5ad cannot be read as \.h5ad: "):
        read_file(path)


def test_h5ad_and_h5mu_are_not_interchangeable(cells, write_file, put):
    with pytest.raises(ValueError, match=r"u\.h5mu (cannot be read as \.h5mu|holds no modalities)"):
        read_file(put("u.h5mu", write_file(write_annotated()).read_bytes()))
