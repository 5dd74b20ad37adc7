"""`consilience predict`: new entities, files that are not the model's, models that are not ours."""

import csv
import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from consilience.persist import load, save
from consilience.pipeline.prediction import is_beyond_chance
from stage import (
    FAST,
    IDS,
    N,
    assert_refused,
    get_clusters,
    get_messages,
    list_folder,
    make_blobs,
    read_labels,
    run_command,
    run_successfully,
    write_csv,
)
from waiting import HANG_LIMIT

pytestmark = pytest.mark.xdist_group("command: predict")  # whose runs are shared

PREDICT = ["consilience", "spectral", "co-em", "k-means"]


def read_printed(*arguments):
    """Rows that were written to standard output."""
    return list(csv.DictReader(io.StringIO(run_successfully("predict", *arguments).out, newline="")))


@pytest.fixture(scope="module")
def elsewhere(clustered, ab, tmp_path_factory):
    """What a new process says of the files that the models were fitted on."""
    folder = tmp_path_factory.mktemp("elsewhere")
    calls = [["predict", str(clustered(method)), *ab, "--out", str(folder / method), "--quiet"] for method in PREDICT]
    program = "import json, sys; from consilience.cli import main; print([main(own) for own in json.load(sys.stdin)])"
    ran = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(calls), capture_output=True, text=True, timeout=HANG_LIMIT
    )
    assert (ran.stdout.strip(), ran.stderr) == (str([0] * len(PREDICT)), "")
    return folder


@pytest.mark.parametrize("method", PREDICT)
def test_new_process_predicts_the_fitted_labels(method, elsewhere, clustered):
    fitted, placed = read_labels(clustered(method)), read_labels(elsewhere / method)
    estimator = load(clustered(method) / "model.zip")["estimator"]
    second = ["second", "second name"] * hasattr(estimator, "predict_proba")
    confidence = ["confidence", "confidence in words"] * hasattr(estimator, "predict_confidence")
    shared = ["id", "cluster", "name", *second]
    fits = ["fits"] * hasattr(estimator, "score_outliers")
    assert list(placed[0]) == ["id", "cluster", "name", *confidence, *second, *fits]
    assert [[row[name] for name in shared] for row in placed] == [[row[name] for name in shared] for row in fitted]


@pytest.mark.parametrize("method", ["consilience", "co-em"])
def test_second_choices_are_written(method, elsewhere):
    assert all(row["second"] != row["cluster"] for row in read_labels(elsewhere / method))


def set_outlier_scores(monkeypatch, scores):
    """Let k-means models give these outlier scores."""
    score = staticmethod(lambda views: np.asarray(scores))
    monkeypatch.setattr("consilience.MultiViewKMeans.score_outliers", score, raising=False)


@pytest.mark.parametrize(
    ("n_unlike", "ending"),
    [
        (1, None),
        (9, "than 98% of the entities of the fit). New groups may have appeared: `consilience update` finds them."),
        (40, "the data may be of another kind or in other units than in the fit."),
    ],
)
def test_note_about_more_unfitting_rows_than_chance_explains(n_unlike, ending, data, clustered, monkeypatch, tmp_path):
    n = N * 4 // 5
    set_outlier_scores(monkeypatch, [0.0] * n_unlike + [0.5] * (n - n_unlike))
    folder = clustered("k-means")
    ran = run_successfully("predict", folder, "--view", f"a={data / 'a.csv'}", "--out", tmp_path / "placed.csv")
    rows = read_labels(tmp_path / "placed.csv")
    assert [row["fits"] for row in rows] == ["no"] * n_unlike + ["yes"] * (n - n_unlike)
    assert {row["second"] for row in rows[:n_unlike]} == {""}
    notes = [line for line in ran.err.splitlines() if "fit no cluster" in line]
    assert len(notes) == (ending is not None)
    assert all(note.startswith(f"note: {n_unlike} of {n} new rows") and note.endswith(ending) for note in notes)


def test_chance_depends_on_the_number_of_entities_of_the_fit():
    assert not is_beyond_chance(0, 0, 0.01, 300)
    assert not is_beyond_chance(12, 1000, 0.01, 10_000)
    assert is_beyond_chance(25, 1000, 0.01, 10_000)
    assert not is_beyond_chance(50, 1000, 1 / 40, 40)  # 40 entities show a share of 1 / 40 poorly
    assert is_beyond_chance(250, 1000, 1 / 40, 40)


def test_new_rows_that_the_model_calls_outliers_fit_no_cluster(data, clustered, monkeypatch):
    n = N * 4 // 5
    set_outlier_scores(monkeypatch, [0.5] * n)
    monkeypatch.setattr("consilience.MultiViewKMeans.predict", lambda self, X: np.where(np.arange(n) < 2, -1, 0))
    rows = read_printed(clustered("k-means"), "--view", f"a={data / 'a.csv'}")
    assert [row["cluster"] for row in rows] == ["-1"] * 2 + ["0"] * (n - 2)
    assert [row["fits"] for row in rows] == ["no"] * 2 + ["yes"] * (n - 2)


@pytest.mark.parametrize("method", PREDICT)
def test_prediction_from_one_view(method, clustered, tmp_path):
    """Points in the middle of a cluster go there, whichever view they have."""
    folder = clustered(method)
    fitted_clusters = {row["id"]: row["cluster"] for row in read_labels(folder)}
    for view in "ab":
        header = ["id", *(f"{view}{j}" for j in range(3))]
        file = write_csv(tmp_path / f"{view}.csv", header, [(f"n{c}", *6 * np.eye(3)[c]) for c in range(3)])
        rows = read_printed(folder / "model.zip", "--view", f"{view}={file}")
        assert [row["id"] for row in rows] == ["n0", "n1", "n2"]
        assert [row["cluster"] for row in rows] == [fitted_clusters[name] for name in ("e00", "e30", "e59")]


def test_standard_output_has_only_the_table(ab, clustered):
    ran = run_successfully("predict", clustered("k-means"), *ab)
    assert get_messages(ran.err) == []
    assert ran.out.startswith("id,cluster")
    assert len(ran.out.splitlines()) == 1 + len(read_labels(clustered("k-means")))


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("c=a.csv", "the model has no view 'c': its views are 'a', 'b'"),
        ("a=b.csv", "b.csv has no column 'a0'; it has 'id', 'b0', 'b1', 'b2'"),
        ("a=a.csv:a0,a1", "there is no column 'a2', which the model was fitted on"),
        ("a=near.npy", "columns, but 3 in the model: give the same columns in the same order"),
        ("a=none.csv", "there is no file"),
    ],
)
def test_files_with_other_views_are_refused(view, words, data, clustered, tmp_path):
    name, _, file = view.partition("=")
    ran = run_command("predict", clustered("k-means"), "--view", f"{name}={data / file}", "--out", tmp_path / "out.csv")
    assert_refused(ran, words)
    assert list_folder(tmp_path) == []


def test_agglomerative_cannot_predict(ab, clustered):
    ran = run_command("predict", clustered("agglomerative"), *ab)
    assert_refused(ran, "--method agglomerative cannot predict the clusters of new entities")


def test_predictions_need_force_to_overwrite(ab, clustered, tmp_path):
    out = tmp_path / "labels.csv"
    ran = run_successfully("predict", clustered("k-means"), *ab, "--out", out)
    rows = read_labels(out)
    assert ran.out == f"Clusters of {len(rows)} entities written to {out}\n"
    assert get_clusters(rows) == get_clusters(read_labels(clustered("k-means")))
    out.write_text("mine")
    assert_refused(run_command("predict", clustered("k-means"), *ab, "--out", out), "labels.csv already exists")
    assert out.read_text() == "mine"
    run_successfully("predict", clustered("k-means"), *ab, "--out", out, "--force")
    assert read_labels(out) == rows
    assert list_folder(tmp_path) == ["labels.csv"]


def test_interrupted_writing_leaves_no_file(ab, clustered, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.cli.predict.write_label_table", stop)
    ran = run_command("predict", clustered("k-means"), *ab, "--out", tmp_path / "labels.csv")
    assert ran.code == 130
    assert list_folder(tmp_path) == []


class Trap:
    def __reduce__(self):
        return (open, ("sprung", "w"))


def test_pickle_is_refused(ab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.zip").write_bytes(pickle.dumps(Trap()))
    assert_refused(run_command("predict", "model.zip", *ab), "looks like a pickle, which runs code when it is loaded")
    assert list_folder(tmp_path) == ["model.zip"]


def test_other_saved_objects_are_refused(ab, tmp_path):
    save({"n_clusters": 3}, tmp_path / "model.zip")
    assert_refused(run_command("predict", tmp_path, *ab), "not written by `consilience cluster`: it contains a dict")
    assert_refused(run_command("predict", tmp_path / "none.zip", *ab), f"{tmp_path / 'none.zip'}")


def test_ids_that_start_like_a_formula_are_guarded(clustered, tmp_path):
    file = write_csv(tmp_path / "new.csv", ["id", "a0", "a1", "a2"], [("=1+1", 6, 0, 0), ("-5", 6, 0, 0)])
    rows = read_printed(clustered("k-means"), "--view", f"a={file}")
    assert [row["id"] for row in rows] == ["'=1+1", "-5"]
    ran = run_successfully("predict", clustered("k-means"), "--view", f"a={file}", "--out", tmp_path / "out.csv")
    assert "1 id starts like a formula: the output has it with a ' in front, so that no spreadsheet runs it." in ran.err


def test_links_of_new_entities(data, tmp_path):
    views = "--view", f"a={data / 'a.csv'}", "--view", f"links={data / 'links.csv'}"
    run_successfully("cluster", *views, *FAST, "--out", tmp_path / "out")
    fitted_clusters = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "out")}
    ends = [("new", entity) for entity in IDS[:10]]
    file = write_csv(tmp_path / "new.csv", ["source", "target"], ends)
    rows = {row["id"]: row["cluster"] for row in read_printed(tmp_path / "out", "--view", f"links={file}")}
    assert rows["new"] == fitted_clusters["e00"]


def test_delimiter_option_in_predict(data, clustered, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text((data / "a.csv").read_text().replace(",", "\t"))
    assert len(read_printed(clustered("k-means"), "--view", f"a={file}", "--delimiter", "tab")) == N * 4 // 5


def test_entities_are_joined_as_in_the_fit(data, tmp_path):
    files = []
    for name in "ab":
        text = (data / f"{name}.csv").read_text().replace("id,", "patient,", 1)
        (tmp_path / f"{name}.csv").write_text(text)
        files += ["--view", f"{name}={tmp_path / f'{name}.csv'}"]
    run_successfully("cluster", *files, "--id", "patient", *FAST, "--out", tmp_path / "out")
    fitted, placed = read_labels(tmp_path / "out"), read_printed(tmp_path / "out", *files)
    assert [(row["id"], row["cluster"]) for row in placed] == [(row["id"], row["cluster"]) for row in fitted]


def test_dense_and_sparse_files_give_equal_predictions(tmp_path):
    X = make_blobs(0) * [100, 1, 1] + [1000, -50, 0]
    np.save(tmp_path / "x.npy", X)
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.csr_array(X))
    run_successfully("cluster", "--view", tmp_path / "x.npy", *FAST, "--out", tmp_path / "out")
    placed = [get_clusters(read_printed(tmp_path / "out", "--view", tmp_path / name)) for name in ("x.npy", "x.mtx")]
    assert placed[0] == placed[1]


def test_similarities_of_new_to_fitted_entities(data, tmp_path):
    views = "--view", data / "near.npy", "--view", data / "like.npy"
    run_successfully("cluster", *views, "-k", 3, "--method", "spectral", "--no-assess", "--out", tmp_path / "out")
    np.save(tmp_path / "new.npy", np.load(data / "near.npy")[[0, 30, 59]])
    fitted = get_clusters(read_labels(tmp_path / "out"))
    placed = get_clusters(read_printed(tmp_path / "out", "--view", f"near={tmp_path / 'new.npy'}"))
    assert placed == [fitted[i] for i in (0, 30, 59)]
