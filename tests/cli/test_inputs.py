"""What the command line reads: never written over, never taken for something else."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp

from stage import FAST, assert_refused, read_labels, read_summary, run_command, run_successfully, write_csv

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
    write_csv(tmp_path / "numbers.csv", ["id", "x", "y"], zip(IDS, *X.T.round(6), strict=True))
    write_csv(tmp_path / "known.csv", ["id", "klass"], [(IDS[i], f"0{CLASS[i]}") for i in order])
    return tmp_path


def to(folder):
    return "--out", folder / "out", "--force"


@pytest.mark.parametrize("labels", ["known.csv", "known.csv:klass"])
def test_classes_in_a_file_are_joined_by_id_without_table_views(folder, labels):
    run_successfully("cluster", "--view", folder / "numbers.npz", *FAST, "--labels", folder / labels, *to(folder))
    assert read_summary(folder / "out")["scores"]["nmi"] == pytest.approx(1)


def test_similarities_are_matched_by_id_in_predict(folder):
    views = "--view", folder / "numbers.csv", "--view", folder / "near.npz"
    run_successfully("cluster", *views, "-k", 3, "--method", "convex", "--no-assess", *to(folder))
    told = run_successfully("predict", folder / "out", "--view", folder / "near.npz").out
    placed = {row["id"]: row["cluster"] for row in csv.DictReader(told.splitlines())}
    assert placed == {row["id"]: row["cluster by near"] for row in read_labels(folder / "out")}


def test_commands_do_not_overwrite_their_input(folder):
    file, out = folder / "numbers.csv", folder / "out"
    run_successfully("cluster", "--view", file, *FAST, *to(folder))
    before = file.read_bytes(), (out / "model.zip").read_bytes()
    for command in (
        ("predict", out, "--view", file, "--out", file),
        ("compare", "--view", file, "-k", 3, "--refits", 0, "--out", file),
        ("report", out, "--out", file),
        ("report", out, "--out", out / "model.zip"),
        ("cluster", out / "items.csv", *FAST, "--out", out),
    ):
        assert_refused(run_command(*command, "--force"), "is an input file and would be overwritten")
    assert (file.read_bytes(), (out / "model.zip").read_bytes()) == before


@pytest.mark.parametrize("option", ["--labels", "--names", "--mapping", "--seeds", "--constraints", "--describe"])
def test_files_of_options_are_not_overwritten(option, folder):
    file = write_csv(folder / "labels.csv", ["id", "klass"], zip(IDS, CLASS, strict=True))
    ran = run_command("cluster", folder / "numbers.csv", option, file, "-k", 3, "--out", folder, "--force")
    assert_refused(ran, "labels.csv is an input file and would be overwritten: choose another --out")


def test_views_without_shared_entities_have_no_agreement(folder):
    a = write_csv(folder / "a.csv", ["id", "x"], [(entity, i % 3) for i, entity in enumerate(IDS[:16])])
    b = write_csv(folder / "b.csv", ["id", "y"], [(entity, i % 3) for i, entity in enumerate(IDS[15:])])
    ran = run_successfully("cluster", "--view", a, "--view", b, "-k", 3, "--no-assess", *to(folder))
    assert "nan" not in ran.out


def test_blanks_around_ids_of_links_are_ignored(folder):
    (folder / "links.csv").write_text("source, target\n" + "".join(f"p{i}, p{i % 3}\n" for i in range(N)))
    views = "--view", folder / "numbers.csv", "--view", folder / "links.csv"
    run_successfully("cluster", *views, *FAST, *to(folder))
    facts = read_summary(folder / "out")
    assert list(facts["views"]) == ["numbers", "links-out", "links-in"]
    assert facts["entities"] == N


def test_table_and_matrix_give_equal_clusters(folder):
    run_successfully("cluster", "--view", f"m={folder / 'numbers.csv'}", *FAST, *to(folder))
    told = run_successfully("predict", folder / "out", "--view", f"m={folder / 'numbers.npz'}").out
    fitted = {row["id"]: row["cluster"] for row in read_labels(folder / "out")}
    assert {row["id"]: row["cluster"] for row in csv.DictReader(told.splitlines())} == fitted


def test_clusters_do_not_depend_on_the_unit_of_the_numbers(folder):
    with (folder / "numbers.csv").open() as file:
        header, *rows = csv.reader(file)
    tables = []
    for scale in (1, 1e200, 1e-200):
        scaled = write_csv(folder / "x.csv", header, [(name, *(float(x) * scale for x in xs)) for name, *xs in rows])
        run_successfully("cluster", "--view", scaled, "-k", 3, "--no-assess", *to(folder))
        assert read_summary(folder / "out")["clusters"] == 3
        tables.append((folder / "out" / "labels.csv").read_text())
    assert tables[0] == tables[1] == tables[2]
