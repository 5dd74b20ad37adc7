"""What the command line reads: never written over, never taken for something else."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp

from stage import assert_refused, read_summary, run_command, run_successfully

N = 30
IDS = [f"p{i}" for i in range(N)]
CLASS = np.arange(N) % 3


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = 6 * CLASS[:, None] + rng.normal(size=(N, 2))
    order = rng.permutation(N)
    nearness = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20)
    np.savez(tmp_path / "numbers.npz", values=X, ids=np.array(IDS))
    np.savez(tmp_path / "near.npz", values=nearness[np.ix_(order, order)], ids=np.array(IDS)[order])
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(X))
    _write(tmp_path / "numbers.csv", ["id", "x", "y"], zip(IDS, *X.T.round(6), strict=True))
    _write(tmp_path / "known.csv", ["id", "klass"], [(IDS[i], f"0{CLASS[i]}") for i in order])
    return tmp_path


def _write(path, header, rows):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)


def test_classes_in_a_file_are_joined_by_id_without_table_views(folder):
    views = "--view", folder / "numbers.npz", "-k", 3, "--method", "k-means"
    for labels in ("known.csv", "known.csv:klass"):
        run_successfully(
            "cluster", *views, "--labels", folder / labels, "--no-assess", "--out", folder / "out", "--force"
        )
        assert read_summary(folder / "out")["scores"]["nmi"] == pytest.approx(1)


def test_similarities_are_matched_by_id_in_predict(folder):
    views = "--view", folder / "numbers.csv", "--view", folder / "near.npz"
    run_successfully("cluster", *views, "-k", 3, "--method", "convex", "--no-assess", "--out", folder / "out")
    told = run_successfully("predict", folder / "out", "--view", folder / "near.npz").out
    placed = {row["id"]: row["cluster"] for row in csv.DictReader(told.splitlines())}
    with (folder / "out" / "labels.csv").open(newline="") as file:
        fitted = {row["id"]: row["cluster by near"] for row in csv.DictReader(file)}
    assert placed == fitted


@pytest.mark.parametrize("command", ["predict", "compare", "report", "model"])
def test_commands_do_not_overwrite_their_input(folder, command):
    file, out = folder / "numbers.csv", folder / "out"
    run_successfully("cluster", "--view", file, "-k", 3, "--no-assess", "--out", out)
    before = file.read_bytes(), (out / "model.zip").read_bytes()
    lines = {
        "predict": ("predict", out, "--view", file, "--out", file, "--force"),
        "compare": ("compare", "--view", file, "-k", 3, "--refits", 0, "--out", file, "--force"),
        "report": ("report", out, "--out", file, "--force"),
        "model": ("report", out, "--out", out / "model.zip", "--force"),
    }
    assert_refused(run_command(*lines[command]), "is an input file and would be overwritten")
    assert (file.read_bytes(), (out / "model.zip").read_bytes()) == before


def test_views_without_shared_entities_have_no_agreement(folder):
    _write(folder / "a.csv", ["id", "x"], [(entity, i % 3) for i, entity in enumerate(IDS[:16])])
    _write(folder / "b.csv", ["id", "y"], [(entity, i % 3) for i, entity in enumerate(IDS[15:])])
    ran = run_successfully(
        "cluster",
        "--view",
        folder / "a.csv",
        "--view",
        folder / "b.csv",
        "-k",
        3,
        "--no-assess",
        "--out",
        folder / "out",
    )
    assert "nan" not in ran.out


def test_blanks_around_ids_of_links_are_ignored(folder):
    (folder / "links.csv").write_text("source, target\n" + "".join(f"p{i}, p{i % 3}\n" for i in range(N)))
    run_successfully(
        "cluster",
        "--view",
        folder / "numbers.csv",
        "--view",
        folder / "links.csv",
        "-k",
        3,
        "--no-assess",
        "--out",
        folder / "out",
    )
    assert list(read_summary(folder / "out")["views"]) == ["numbers", "links-out", "links-in"]


def test_table_and_matrix_give_equal_clusters(folder):
    run_successfully(
        "cluster",
        "--view",
        f"m={folder / 'numbers.csv'}",
        "-k",
        3,
        "--method",
        "k-means",
        "--no-assess",
        "--out",
        folder / "out",
    )
    told = run_successfully("predict", folder / "out", "--view", f"m={folder / 'numbers.npz'}").out
    with (folder / "out" / "labels.csv").open(newline="") as file:
        fitted = {row["id"]: row["cluster"] for row in csv.DictReader(file)}
    assert {row["id"]: row["cluster"] for row in csv.DictReader(told.splitlines())} == fitted


def test_classes_without_ids_are_refused_with_links(folder):
    _write(folder / "links.csv", ["source", "target"], [(entity, f"p{i % 3}") for i, entity in enumerate(IDS)])
    np.save(folder / "known.npy", CLASS)
    ran = run_command(
        "cluster",
        "--view",
        folder / "links.csv",
        "--labels",
        folder / "known.npy",
        "-k",
        3,
        "--no-assess",
        "--out",
        folder / "out",
    )
    assert_refused(ran, "known.npy (--labels) has no ids, but the views are joined by ids: add them")


@pytest.mark.parametrize("scale", ["1e200", "1e-200"])
def test_clusters_do_not_depend_on_the_unit_of_the_numbers(folder, tmp_path, scale):
    with (folder / "numbers.csv").open() as file:
        header, *rows = csv.reader(file)
    _write(folder / "scaled.csv", header, [(name, *(float(x) * float(scale) for x in xs)) for name, *xs in rows])
    run_successfully(
        "cluster", "--view", f"x={folder / 'numbers.csv'}", "-k", 3, "--no-assess", "--out", tmp_path / "plain"
    )
    run_successfully(
        "cluster", "--view", f"x={folder / 'scaled.csv'}", "-k", 3, "--no-assess", "--out", tmp_path / "scaled"
    )
    assert (tmp_path / "scaled" / "labels.csv").read_text() == (tmp_path / "plain" / "labels.csv").read_text()
    assert read_summary(tmp_path / "scaled")["clusters"] == 3


def test_infinite_numbers_are_refused(folder, tmp_path):
    _write(folder / "infinite.csv", ["id", "x"], [("p0", 1), ("p1", "inf"), ("p2", 3)])
    ran = run_command("cluster", "--view", f"x={folder / 'infinite.csv'}", "-k", 2, "--out", tmp_path / "out")
    assert_refused(ran, "view 'x' has an infinite number in row 2, column 'x' (1 in all): correct the cell")
    assert not (tmp_path / "out").exists()
