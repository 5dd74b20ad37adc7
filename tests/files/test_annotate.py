"""Results are added to copies of single-cell files and objects, which keep everything else."""

import shutil
import warnings

import numpy as np
import pytest

from consilience.files.annotate import annotate_mudata, check_write_back, collect_results, write_annotated
from single_cell import make_mudata, write_cells

ad = pytest.importorskip("anndata")
md = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")
h5py = pytest.importorskip("h5py")

CELLS = [f"cell{i}" for i in range(12)]
ORDER = [5, 0, 11, 3, 7, 1, 2, 9]  # cells with results; the others were left out
LABELS = np.array([0, 10, 2, 2, 10, 0, -1, 2])
CONFIDENCE = np.linspace(0.1, 0.8, 8)
EMBEDDING = np.random.default_rng(0).normal(size=(8, 3))
FACTS = {"method": "consilience", "n_clusters": 3, "views": ["rna", "prot"]}
X = np.random.default_rng(1).poisson(1.0, (12, 5)).astype(float)


def make_results(**changes):
    views = {"rna/raw": LABELS, "prot": np.where(np.arange(8) < 6, LABELS, -1)}
    maps = {"embedding": EMBEDDING, "joint_map": EMBEDDING[:, :2]}
    results = {"confidence": CONFIDENCE, "view_labels": views, **maps, **changes}
    return collect_results([CELLS[i] for i in ORDER], LABELS, **results)


def make_annotated(cells=CELLS, **fields):
    obs = pd.DataFrame({"kind": pd.Categorical(list("ab") * 6)[: len(cells)]}, index=cells)
    return ad.AnnData(X[: len(cells)], obs=obs, uns={"note": "kept"}, **fields)


def make_two_modalities():
    return make_mudata(rna=make_annotated(layers={"counts": X}), prot=make_annotated(CELLS[:6]))


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return md.read_h5mu(path) if path.suffix == ".h5mu" else ad.read_h5ad(path)


def check_table(table, cells, has_views):
    """Compare the results in obs and obsm with those of each cell."""
    assert table.obs_names.tolist() == cells
    by_cell = {CELLS[position]: row for row, position in enumerate(ORDER)}
    results = zip(cells, table.obs["consilience"], table.obs["consilience_confidence"], strict=True)
    for cell, label, confidence in results:
        row = by_cell.get(cell)
        expected = np.nan if row is None or LABELS[row] < 0 else str(LABELS[row])
        assert label == expected or (label != label and expected != expected)
        np.testing.assert_equal(confidence, np.nan if row is None else CONFIDENCE[row])
    assert table.obs["consilience"].cat.categories.tolist() == ["0", "2", "10"]  # ordered as numbers
    expected = np.array([EMBEDDING[by_cell[cell]] if cell in by_cell else [np.nan] * 3 for cell in cells])
    np.testing.assert_array_equal(table.obsm["X_consilience"], expected)
    np.testing.assert_array_equal(table.obsm["X_consilience_map"], expected[:, :2])
    assert ("consilience_by_prot" in table.obs) == ("consilience_by_rna_raw" in table.obs) == has_views


def check_h5ad(data):
    check_table(data, CELLS, has_views=True)
    assert data.uns["note"] == "kept"
    assert data.obs["kind"].tolist() == list("ab") * 6
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.layers["counts"], X)
    facts = data.uns["consilience"]
    assert {name: facts[name] if name != "views" else list(facts[name]) for name in FACTS} == FACTS


def check_h5mu(data):
    check_table(data, CELLS, has_views=True)
    check_table(data.mod["rna"], CELLS, has_views=False)
    check_table(data.mod["prot"], CELLS[:6], has_views=False)
    np.testing.assert_array_equal(data.mod["rna"].layers["counts"], X)
    assert data.mod["prot"].uns["note"] == "kept"


MAKE = {".h5ad": lambda: make_annotated(layers={"counts": X}), ".h5mu": make_two_modalities}
CHECK = {".h5ad": check_h5ad, ".h5mu": check_h5mu}


@pytest.mark.parametrize("suffix", MAKE)
def test_copy_of_object_has_results_also_in_a_file(tmp_path, suffix):
    data = MAKE[suffix]()
    columns = data.obs.columns.tolist()
    copy = annotate_mudata(data, make_results(), FACTS)
    CHECK[suffix](copy)
    CHECK[suffix](read(write_cells(copy, tmp_path / f"t{suffix}")))
    assert data.obs.columns.tolist() == columns
    assert "X_consilience" not in data.obsm
    named = annotate_mudata(copy, make_results(names=["x"] * 11), FACTS)
    assert "consilience_name" in named.obs
    CHECK[suffix](annotate_mudata(named, make_results(), FACTS))


@pytest.mark.parametrize("suffix", MAKE)
def test_copy_of_file_has_results_in_place_of_earlier_ones(tmp_path, suffix):
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    source = write_cells(MAKE[suffix](), tmp_path / f"in{suffix}")
    before = source.read_bytes()
    write_annotated(source, first, make_results(view_labels={"old": LABELS}, names=list("abcdefghijk")), FACTS)
    assert read(first).obs["consilience_name"].tolist().count("c") == 3
    write_annotated(first, second, make_results(), FACTS)
    with h5py.File(second) as file:  # mudata copies columns of modalities to obs of all cells
        assert not [name for name in file["obs"].attrs["column-order"] if "old" in name or "name" in name]
        assert not {"consilience_by_old", "consilience_name"} & set(file["obs"])
    CHECK[suffix](read(second))
    assert source.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {source.name, first.name, second.name}
    if suffix == ".h5mu":
        assert second.read_bytes().startswith(b"MuData")


def test_columns_of_others_are_refused(tmp_path):
    data = make_annotated()
    data.obs["consilience_mine"] = 1
    source = write_cells(data, tmp_path / "in.h5ad")
    message = r"has obs\['consilience_mine'\], which was not written by consilience .*: rename or remove it"
    with pytest.raises(ValueError, match=message):
        check_write_back(source, tmp_path / "out.h5ad")
    with pytest.raises(ValueError, match=message):
        annotate_mudata(data, make_results(), FACTS)
    assert not (tmp_path / "out.h5ad").exists()


def test_target_is_checked(tmp_path):
    source = write_cells(MAKE[".h5ad"](), tmp_path / "in.h5ad")
    other = tmp_path / "out.h5ad"
    with pytest.raises(ValueError, match=r"let its name end in \.h5ad, too"):
        check_write_back(source, tmp_path / "out.h5mu")
    with pytest.raises(ValueError, match=r"is the input file, which is never changed"):
        check_write_back(source, source, overwrite=True)
    with pytest.raises(ValueError, match=r"in\.csv is no single-cell file"):
        check_write_back(tmp_path / "in.csv", other)
    other.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"out\.h5ad already exists"):
        write_annotated(source, other, make_results(), FACTS)
    assert other.read_bytes() == b"mine"
    write_annotated(source, other, make_results(), FACTS, overwrite=True)
    check_h5ad(read(other))


def test_unsuitable_results_and_damaged_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="consilience_confidence has 3 rows for 8 cells"):
        make_results(confidence=[1, 2, 3])
    source = write_cells(make_annotated(), tmp_path / "in.h5ad")
    results = make_results() | {"ids": np.array([f"other{i}" for i in range(8)])}
    with pytest.raises(ValueError, match=r"in\.h5ad has results: do the names of the cells match"):
        write_annotated(source, tmp_path / "out.h5ad", results, FACTS)
    with pytest.raises(ValueError, match="no cell of the object has results"):
        annotate_mudata(make_annotated(), results, FACTS)
    source.write_bytes(source.read_bytes()[:3000])
    with pytest.raises(ValueError, match=r"in\.h5ad cannot be read as \.h5ad"):
        write_annotated(source, tmp_path / "out.h5ad", make_results(), FACTS)
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5ad"]


@pytest.mark.parametrize(("name", "kind"), [("obs", "external"), ("obsm", "soft"), ("uns", "external")])
def test_links_to_other_places_are_not_followed(tmp_path, name, kind):
    """A file from a stranger may link to another file of the user, which must not be changed."""
    victim = write_cells(make_annotated(), tmp_path / "victim.h5ad")
    source = tmp_path / "in.h5ad"
    shutil.copy(victim, source)
    with h5py.File(source, "a") as file:
        file.move(name, f"{name}_moved")
        file[name] = h5py.ExternalLink("victim.h5ad", name) if kind == "external" else h5py.SoftLink(f"/{name}_moved")
    before = victim.read_bytes()
    with pytest.raises(ValueError, match=rf"in\.h5ad cannot be read as \.h5ad: /{name} is not a group of the file"):
        write_annotated(source, tmp_path / "out.h5ad", make_results(), FACTS)
    assert victim.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5ad", "victim.h5ad"]
