"""Raw counts of cells are normalized, and clusters are written back to a copy of the file."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from stage import CLASSES, IDS, N, read_labels, run_command, run_successfully

ad = pytest.importorskip("anndata")
md = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

FAST = ("-k", 3, "--no-assess")


def draw_counts(n_features, seed, names):
    """Counts of features, a third of which are higher in each class, of cells with ten times as many or few counts."""
    rng = np.random.default_rng(seed)
    level = np.where(np.arange(n_features) % 3 == np.array(CLASSES)[:, None], 9.0, 1.0)
    counts = rng.poisson(level * np.exp(rng.uniform(-1.2, 1.2, (N, 1)))).astype(np.float32)
    obs, var = pd.DataFrame(index=IDS), pd.DataFrame(index=[f"{names}{i}" for i in range(n_features)])
    return ad.AnnData(sp.csr_matrix(counts), obs=obs, var=var)


def write(data, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.write(path)
    return path


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A file of genes and proteins, of which the second lacks five cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = md.MuData({"rna": draw_counts(60, 0, "gene"), "adt": draw_counts(9, 1, "CD")[: N - 5].copy()})
        data.obs["cell_type"] = [f"type{label}" for label in CLASSES]
    return write(data, tmp_path_factory.mktemp("cells") / "cells.h5mu")


def read(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return md.read_h5mu(path)


def test_clusters_are_written_back(counted, tmp_path):
    target = tmp_path / "done.h5mu"
    arguments = "cluster", "--view", counted, "--labels", "cell_type", "-k", 3  # with an assessment
    ran = run_successfully(*arguments, "--out", tmp_path / "out", "--write-back", target)
    assert "rna: expression (raw counts of genes; scaled per cell, logged), 60 columns, present for all" in ran.out
    assert "adt: proteins (raw counts of proteins; centered log-ratio per cell), 9 columns, missing for 5" in ran.out
    assert "nmi 1.000" in ran.out
    assert f"The clusters are in obs['consilience'] of {target}, a copy of {counted}." in ran.out
    labels = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "out")}
    data = read(target)
    assert data.obs["consilience"].to_dict() == labels
    assert data.obs["consilience_name"].to_dict() == {row["id"]: row["name"] for row in read_labels(tmp_path / "out")}
    assert data.mod["adt"].obs["consilience"].to_dict() == {cell: labels[cell] for cell in IDS[: N - 5]}
    assert data.obs["consilience_by_adt"].isna().sum() == 5
    confidence = {row["id"]: float(row["confidence"]) for row in read_labels(tmp_path / "out")}
    assert data.obs["consilience_confidence"].round(2).to_dict() == pytest.approx(confidence)
    assert data.obs["cell_type"].tolist() == read(counted).obs["cell_type"].tolist()
    assert (data.obsm["X_consilience"].shape, data.obsm["X_consilience_map"].shape) == ((N, 30), (N, 2))
    facts = data.uns["consilience"]
    assert (facts["method"], facts["n_clusters"], facts["seed"]) == ("consilience", 3, 0)
    assert "--write-back" in facts["command"]


def test_new_cells_are_encoded_as_in_the_fit(counted, tmp_path):
    run_successfully("cluster", "--view", counted, *FAST, "--out", tmp_path / "out")
    new = draw_counts(60, 0, "gene")[:, ::-1].copy()  # the same cells with their genes in another order
    path = write(new, tmp_path / "new.h5ad")
    out = tmp_path / "labels.csv"
    run_successfully("predict", tmp_path / "out", "--view", f"rna={path}:X", "--out", out)
    predicted = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert predicted == [row["cluster"] for row in read_labels(tmp_path / "out")]
    parts = [argument for name in ("rna", "adt") for argument in ("--view", f"{name}={counted}:{name}")]
    run_successfully("predict", tmp_path / "out", *parts, "--out", out, "--force")
    assert [row["cluster"] for row in read_labels(out)] == predicted
    new.X = new.X.log1p()
    logged = write(new, tmp_path / "logged.h5ad")
    ran = run_command("predict", tmp_path / "out", "--view", f"rna={logged}:X")
    assert ran.code == 1
    assert re.search(r"view 'rna' \(.*\): [\d.]+ is not a raw count of molecules: give raw counts\. ", ran.err)


def test_co_em_gets_raw_counts_and_a_kind_can_be_set(counted, tmp_path):
    target = tmp_path / "done.h5mu"
    arguments = "cluster", "--view", counted, *FAST, "--method", "co-em", "--kind", "adt=numbers"
    ran = run_successfully(*arguments, "--out", tmp_path / "out", "--write-back", target)
    assert "rna: counts (raw counts of genes), 60 columns" in ran.out
    assert "adt: numbers (set by --kind), 9 columns" in ran.out
    data = read(target)
    assert "consilience_confidence" not in data.obs  # which only an assessment gives
    points = data.obsm["X_consilience"][:, :2]  # of normalized counts
    classes = np.array(CLASSES)
    means = np.stack([points[classes == label].mean(axis=0) for label in range(3)])
    assert (((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == classes).all()


@pytest.mark.parametrize(
    ("target", "views", "message"),
    [
        ("out.h5mu", ["a.csv"], "--write-back adds the clusters to a copy of a single-cell file, and no view is"),
        ("out.h5mu", ["cells.h5mu", "other.h5ad"], "--write-back takes one single-cell file, got cells.h5mu and other"),
        ("cells.h5mu", ["cells.h5mu"], "cells.h5mu is an input file, which is never changed: choose another name"),
        ("no/out.h5mu", ["cells.h5mu"], "no does not exist: create the folder first"),
    ],
)
def test_write_back_is_refused_before_files_are_read(tmp_path, monkeypatch, target, views, message):
    monkeypatch.chdir(tmp_path)
    for name in ("cells.h5mu", "other.h5ad"):
        (tmp_path / name).write_bytes(b"not looked at")
    (tmp_path / "a.csv").write_text("id,x\n1,2\n")
    force = ["--force"] if target == "cells.h5mu" else []
    named = [argument for view in views for argument in ("--view", view)]
    ran = run_command("cluster", *named, *FAST, "--write-back", target, *force)
    assert ran.code in (1, 2)
    assert message in ran.err
    assert not (tmp_path / "consilience-out").exists()


def test_failure_to_write_back_leaves_no_results(counted, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("consilience.files.annotate.shutil.copyfile", fail)
    arguments = "cluster", "--view", counted, *FAST, "--out", tmp_path / "out"
    ran = run_command(*arguments, "--write-back", tmp_path / "done.h5mu")
    assert ran.code == 1
    assert "disk full" in ran.err
    assert not list(tmp_path.iterdir())
