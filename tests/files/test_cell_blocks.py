"""Blocks of single-cell files: layers, raw counts, embeddings, types of features and modalities."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files.formats import read_file
from single_cell import make_mudata, write_cells

ad = pytest.importorskip("anndata")
pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

COUNTS = np.random.default_rng(0).poisson(2.0, (20, 60)).astype(float)


def build(X=COUNTS, types=None, **fields):
    var = pd.DataFrame(index=[f"gene{i}" for i in range(X.shape[1])])
    if types is not None:
        var["feature_types"] = types
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(X.shape[0])])
    return ad.AnnData(X, obs=obs, var=var, **fields)


def test_layers_raw_and_embeddings_are_blocks_by_name(tmp_path, read):
    data = build(layers={"counts": COUNTS}, obsm={"X_pca": COUNTS[:, :2], "protein": COUNTS[:, :3]})
    data.raw = data.copy()
    data.X = np.log1p(data.X)
    path = write_cells(data, tmp_path / "c.h5ad")
    contents = {content.name: content for content in read(path).contents}
    assert list(contents) == ["X", "protein"]
    assert "the raw counts are in the block 'counts'" in contents["X"].reason
    blocks = {"counts": COUNTS, "raw": COUNTS, "X_pca": COUNTS[:, :2]}
    for content in read(*(f"{block}={path}:{block}" for block in blocks)).contents:
        np.testing.assert_array_equal(content.data[0], blocks[content.name])
        assert content.kind == ("numbers" if content.name == "X_pca" else "expression")


def test_embeddings_are_views_if_there_is_no_x(tmp_path):
    data = ad.AnnData(obs=pd.DataFrame(index=list("abc")), obsm={"X_pca": np.eye(3)})
    assert list(read_file(write_cells(data, tmp_path / "c.h5ad")).matrices) == ["X_pca"]


def test_feature_types_are_blocks(tmp_path, read):
    types = ["Gene Expression"] * 50 + ["Antibody Capture"] * 10
    path = write_cells(build(sp.csr_matrix(COUNTS), types), tmp_path / "c.h5ad")
    contents = read(path).contents
    assert [(c.name, c.kind, c.data[0].shape) for c in contents] == [
        ("Gene Expression", "expression", (20, 50)),
        ("Antibody Capture", "proteins", (20, 10)),
    ]
    np.testing.assert_array_equal(contents[1].data[0].toarray(), COUNTS[:, 50:])


def test_modalities_are_normalized_by_their_names(tmp_path, read):
    data = make_mudata(rna=build(layers={"spliced": COUNTS}), adt=build(COUNTS[:, :5]), atac=build(COUNTS[:, :9]))
    path = write_cells(data, tmp_path / "c.h5mu")
    assert [content.kind for content in read(path).contents] == ["expression", "proteins", "counts"]
    (content,) = read(f"{path}:rna/spliced").contents
    assert (content.name, content.kind) == ("rna/spliced", "expression")
