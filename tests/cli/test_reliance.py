"""How far a run can be relied on: the verdict on the terminal, in the files and on the page."""

import copy
import csv
import re

import numpy as np
import pytest

import consilience as cs
from consilience.cli import report
from consilience.persist import load
from consilience.pipeline.constraints import count_satisfied
from consilience.pipeline.folder import is_complete
from consilience.pipeline.outputs import tabulate_second_choices
from consilience.pipeline.single_views import summarize_labels
from consilience.report.facts import AGREEMENT_CAVEAT
from stage import (
    IDS,
    N,
    assert_refused,
    get_clusters,
    make_blobs,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: reliance")  # whose runs are shared

MANY = [f"m{i:03}" for i in range(240)]  # so many that a view of noise is not confirmed by chance
GROUPS = np.arange(len(MANY)) % 3
ONLY_ODD = MANY[7]  # an entity that has no other view


def write_view(path, X, ids):
    return write_csv(path, ["id", *(f"c{j}" for j in range(X.shape[1]))], zip(ids, *np.round(X, 4).T, strict=True))


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A run on two views that confirm each other and one that is unrelated: what was printed, and the folder."""
    folder = tmp_path_factory.mktemp("odd")
    rng = np.random.default_rng(9)
    others = [i for i, entity in enumerate(MANY) if entity != ONLY_ODD]
    for name in ("left", "right"):
        X = rng.normal(size=(len(MANY), 3)) + 6 * np.eye(3)[GROUPS]
        write_view(folder / f"{name}.csv", X[others], [MANY[i] for i in others])
    write_view(folder / "odd.csv", rng.normal(size=(len(MANY), 4)), MANY)
    views = [argument for name in ("left", "right", "odd") for argument in ("--view", folder / f"{name}.csv")]
    return (
        run_successfully("cluster", *views, "-k", 3, "--title", "Odd", "--out", folder / "run"),
        folder / "run",
        views,
    )


def test_verdict_comes_first_with_its_track_record(odd):
    ran, folder, _ = odd
    figures = read_summary(folder)["assessment"]
    result = ran.out.split("\n\n")[1].splitlines()
    assert result[0] == f"{figures['verdict'].capitalize()}: {figures['reason']}"
    assert result[1] == figures["worth"]
    assert result[2].startswith(f"Estimated impurity: {figures['impurity']:.0%} of the entities")
    assert figures["verdict"] in ("stable", "mixed")
    assert ran.out.split("\n\n")[2].startswith("3 clusters by ")


def test_unconfirmed_view_is_named_once(odd):
    ran, folder, _ = odd
    figures = read_summary(folder)["assessment"]
    assert figures["unconfirmed"] == ["odd"]
    assert {row["view"]: row["confirmed"] for row in figures["views"]} == {"left": True, "right": True, "odd": False}
    assert ran.out.count("No other view confirms view 'odd': compare the result without it.") == 1
    assert "The column 'without odd' of labels.csv has these clusters." in ran.out
    assert "does not support the clusters" not in ran.out
    assert AGREEMENT_CAVEAT not in ran.out
    assert "How well each view predicts the clusters" in ran.out


def test_same_contested_entities_are_counted_everywhere(odd):
    ran, folder, _ = odd
    facts, rows = read_summary(folder), read_labels(folder)
    among = sum(row["cluster by left"] != row["cluster by right"] for row in rows if row["id"] != ONLY_ODD)
    words = "contested by the 2 of 3 views that are confirmed"
    assert facts["contested"] == sum(row["contested"] == "yes" for row in rows) == among
    assert f"{among} of {len(rows)} are {words}." in ran.out
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count(f"{among or 'none'} {'are' if among else 'is'} {words}.") == 1
    assert cs.load_run(folder)._run.is_contested.sum() == among
    assert "are in the column “without <bdi>odd</bdi>” of labels.csv." in page
    assert "assessment.alternative.model" not in page
    assert "<code>labels_</code>" not in page


def test_clusters_without_the_unconfirmed_view_are_a_column(odd):
    """They are numbered like the clusters, and empty for the entity that has no other view."""
    _, folder, _ = odd
    rows = {row["id"]: row for row in read_labels(folder)}
    assert rows[ONLY_ODD]["without odd"] == ""
    others = [entity for entity in MANY if entity != ONLY_ODD]
    without = [int(rows[entity]["without odd"]) for entity in others]
    truth = [GROUPS[MANY.index(entity)] for entity in others]
    assert cs.metrics.adjusted_rand_score(truth, without) > 0.9
    assert np.mean([int(rows[entity]["cluster"]) == label for entity, label in zip(others, without, strict=True)]) > 0.9
    assert all(0 <= float(row["stability"]) <= 1 for row in rows.values())


def test_report_begins_with_the_verdict_and_can_be_written_again(odd, tmp_path):
    _, folder, _ = odd
    run_successfully("report", folder, "--out", tmp_path / "again.html")
    pages = [path.read_text(encoding="utf-8") for path in (folder / "report.html", tmp_path / "again.html")]
    first, again = (re.sub(r"<time.*?</time>", "", page) for page in pages)
    assert first == again
    verdict = read_summary(folder)["assessment"]["verdict"]
    assert first.index(f"{verdict.capitalize()}</strong>") < first.index('id="group-list"')
    assert "The result without <bdi>odd</bdi>" in first


DAMAGES = [
    ("disagreement", "0.1"), ("ambiguity", None), ("clusters", 3), ("clusters", cs.Table()), ("views", None),
    ("views", cs.Table()), ("stability", None), ("margin", None), ("notes", 1), ("copies", [1]), ("alternative", "x"),
]  # fmt: skip


def test_damaged_assessment_is_left_out_of_the_report(odd, tmp_path, monkeypatch):
    saved = report.open_model(odd[1])
    assert is_complete(saved["assessment"])
    for name, value in DAMAGES:
        damaged = copy.copy(saved["assessment"])
        object.__setattr__(damaged, name, value)
        assert not is_complete(damaged), name
    monkeypatch.setattr(report, "open_model", lambda path: {**saved, "assessment": damaged})
    ran = run_successfully("report", odd[1], "--out", tmp_path / "again.html")
    assert "note: The assessment of the run is damaged, and left out" in ran.err
    assert 'id="reliance"' not in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_assessment_in_the_model_file_is_complete_but_for_the_other_model(odd):
    saved = load(odd[1] / "model.zip")["assessment"]
    assert saved.to_dict()["verdict"] == read_summary(odd[1])["assessment"]["verdict"]
    assert saved.alternative.left_out == ("odd",)
    assert saved.alternative.model is None


def test_no_assess_skips_the_assessment(odd, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("assessed")

    monkeypatch.setattr("consilience.pipeline.reliance.assess", refuse)
    ran = run_successfully("cluster", *odd[2], "-k", 3, "--no-assess", "--out", tmp_path / "out")
    assert read_summary(tmp_path / "out")["assessment"] is None
    assert not {"stability", "without odd"} & set(read_labels(tmp_path / "out")[0])
    assert AGREEMENT_CAVEAT in ran.out
    assert "Not assessed" not in ran.err
    assert 'id="reliance"' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("method", "columns"), [("k-means", []), ("co-em", ["second"])])
def test_second_choices_that_are_not_calibrated_are_left_out(method, columns, ab, tmp_path):
    """The model of co-EM has probabilities of its own; those of k-means come with the assessment."""
    run_successfully("cluster", *ab, "-k", 3, "--method", method, "--no-assess", "--out", tmp_path / "out")
    run_successfully("predict", tmp_path / "out", *ab, "--out", tmp_path / "placed.csv")
    for rows in (read_labels(tmp_path / "out"), read_labels(tmp_path / "placed.csv")):
        assert [name for name in rows[0] if name in ("confidence", "second")] == columns


def test_next_cluster_needs_a_probability_above_zero():
    class Model:
        @staticmethod
        def predict_proba(views):
            return np.array([[0.99996, 0.00004], [0.99994, 0.00006], [0.5, 0.5], [0.3, 0.7]])

    columns = tabulate_second_choices(Model, None, np.array([0, 0, 1, -1]))
    assert columns == {"second": [None, 1, 0, None]}


def test_method_that_cannot_predict_is_not_assessed(clustered):
    facts = read_summary(clustered("agglomerative"))
    assert facts["assessment"] is None
    note = "Not assessed: --method agglomerative cannot predict the clusters of new entities."
    assert note in facts["notes"]


@pytest.mark.parametrize("method", ["consilience", "k-means", "co-em", "convex", "constrained"])
def test_methods_that_predict_are_assessed(method, clustered):
    figures = read_summary(clustered(method))["assessment"]
    assert figures["verdict"] in ("stable", "mixed", "do not rely")
    assert figures["unconfirmed"] == []


@pytest.mark.parametrize(("k", "reason"), [(1, "has a single cluster"), (20, "too few to fit 20 clusters")])
def test_failed_assessment_is_a_note(k, reason, ab, tmp_path):
    ran = run_successfully("cluster", *ab, "-k", k, "--method", "k-means", "--out", tmp_path / "out")
    assert re.search(f"note: Not assessed: .*{reason}", ran.err)
    assert read_summary(tmp_path / "out")["assessment"] is None


def test_assessment_uses_the_views_and_constraints_of_the_fit(tmp_path, monkeypatch):
    """Constraints between entities, and the reduced features of a wide view."""
    calls = []

    def record(model, X, **options):
        calls.append((X, options))
        raise ValueError("recorded")

    monkeypatch.setattr("consilience.pipeline.reliance.assess", record)
    view = write_view(tmp_path / "wide.csv", make_blobs(0, columns=40), IDS)
    pairs = write_csv(tmp_path / "pairs.csv", ["first", "second", "type"], [(IDS[0], IDS[1], "must")])
    arguments = "--view", f"wide={view}", "-k", 3, "--method", "constrained", "--constraints", pairs, "--seed", 4
    ran = run_successfully("cluster", *arguments, "--out", tmp_path / "out")
    ((X, options),) = calls
    assert X["wide"].shape == (N, 5)
    assert options["constraints"].must_link.tolist() == [[0, 1]]
    assert (options["refit"], options["random_state"]) == (True, 4)
    assert "note: Not assessed: recorded" in ran.err


def test_confidence_is_a_number_and_the_word_that_follows(ab, tmp_path, monkeypatch):
    numbers = property(lambda self: np.append([0.93, 0.4], np.full(len(self.stability) - 2, np.nan)))
    monkeypatch.setattr(cs.Assessment, "confidence", numbers, raising=False)
    ran = run_successfully("cluster", *ab, "-k", 3, "--method", "k-means", "--out", tmp_path / "out")
    rows = read_labels(tmp_path / "out")
    assert [row["confidence"] for row in rows][:3] == ["0.93", "0.4", ""]
    assert [row["confidence in words"] for row in rows][:3] == ["sure", "a guess", ""]
    words = "sure from 90%, likely from 70%, doubtful from 50%, a guess below"
    assert f"Confidence in each entity's cluster: sure 1, a guess 1 ({words})." in ran.out


def test_probabilities_are_calibrated_before_the_model_is_saved(ab, tmp_path, monkeypatch):
    def calibrate(self, X):
        self.temperature_ = float(len(X))

    monkeypatch.setattr("consilience.MultiViewKMeans.calibrate", calibrate, raising=False)
    run_successfully("cluster", *ab, "-k", 3, "--method", "k-means", "--out", tmp_path / "out")
    saved = load(tmp_path / "out" / "model.zip")["estimator"]
    assert saved.temperature_ == len(read_labels(tmp_path / "out"))


def test_failed_calibration_is_a_note(ab, tmp_path, monkeypatch):
    def calibrate(self, X):
        raise ValueError("too few")

    monkeypatch.setattr("consilience.MultiViewKMeans.calibrate", calibrate, raising=False)
    ran = run_successfully("cluster", *ab, "-k", 3, "--method", "k-means", "--out", tmp_path / "out")
    assert "note: The probabilities are not calibrated: too few" in ran.err


def test_ctrl_c_during_the_assessment(ab, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.pipeline.reliance.assess", stop)
    ran = run_command("cluster", *ab, "-k", 3, "--method", "k-means", "--out", tmp_path / "out")
    assert ran.code == 130
    assert ran.error_line.endswith("prepared the views and fitted the model: nothing was written")


@pytest.fixture(scope="module")
def with_outliers(ab, data, tmp_path_factory):
    """A run of k-means whose first four entities fit no cluster."""
    fit = cs.MultiViewKMeans.fit

    def mark(self, X, y=None):
        fit(self, X)
        self.labels_ = np.where(np.arange(len(self.labels_)) < 4, -1, self.labels_)
        return self

    folder = tmp_path_factory.mktemp("outliers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cs.MultiViewKMeans, "fit", mark)
        arguments = *ab, "-k", 3, "--method", "k-means", "--labels", data / "classes.csv"
        return run_successfully("cluster", *arguments, "--out", folder / "out"), folder / "out"


def test_outliers_are_counted_separately(with_outliers):
    ran, folder = with_outliers
    rows, facts = read_labels(folder), read_summary(folder)
    assert get_clusters(rows)[:4] == [-1] * 4
    assert [row["stability"] for row in rows[:4]] == [""] * 4
    assert all(row["stability"] for row in rows[4:])
    assert all(row[name] == "" for row in rows[:4] for name in {"confidence", "second"} & set(row))
    assert (facts["clusters"], facts["outliers"]) == (3, 4)
    assert facts["sizes"] == np.bincount(get_clusters(rows)[4:]).tolist()
    assert "; 4 entities fit no cluster\n" in ran.out
    assert f"Against the known labels (scored on {len(rows) - 4} of {len(rows)} entities): nmi 1.000" in ran.out
    comparison = {row["method"]: row for row in facts["comparison"]}
    assert comparison["all views together"]["entities"] == len(rows) - 4
    assert comparison["all views together"]["same_as_all"] == comparison["views side by side"]["same_as_all"] == 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "4 items are in no group: " in page
    assert f"<bdi>{len(rows)} items in 3 groups</bdi>" in page
    assert "4 items in no group not counted." in page


def test_outliers_form_no_cluster():
    labels = np.array([-1, -1, 0, 0, 1])
    constraints = cs.Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 1), (2, 3), (3, 4)])
    assert count_satisfied(constraints, labels) == {"kept": 3, "given": 5}
    compared = summarize_labels(np.array([0, 0, 1, 1, -1]), labels, None)
    assert compared == {"entities": 4, "same_as_all": 1.0}


def test_share_of_outliers_is_checked(tmp_path):
    for share in ("0", "0.5", "-0.1", "many"):
        ran = run_command("cluster", "--view", tmp_path / "none.csv", f"--outliers={share}")
        assert ran.code == 2
        assert f"{share!r} is neither a share between 0 and 0.5 nor auto" in ran.err


def test_outliers_are_refused_before_files_are_read(tmp_path):
    ran = run_command("cluster", "--view", tmp_path / "none.csv", "--method", "co-em", "--outliers", "auto")
    words = "--method co-em takes no --outliers, because it puts every entity into a cluster: "
    assert_refused(ran, words, code=2)


def test_note_if_there_are_no_outliers(ab, tmp_path, monkeypatch):
    fit = cs.MultiViewKMeans.fit
    monkeypatch.setattr(cs.MultiViewKMeans, "fit", lambda self, X, y=None: fit(self.set_params(outliers=None), X))
    arguments = *ab, "-k", 3, "--method", "k-means", "--no-assess"
    ran = run_successfully("cluster", *arguments, "--outliers", "auto", "--out", tmp_path / "auto")
    assert "note: No outliers were found: --outliers auto labels none." in ran.err
    ran = run_successfully("cluster", *arguments, "--out", tmp_path / "without")
    assert "stands out" not in ran.err


@pytest.mark.skipif("outliers" not in cs.MultiViewKMeans().get_params(), reason="no method takes outliers")
@pytest.mark.parametrize("method", ["consilience", "k-means"])
def test_share_of_outliers_gets_no_cluster(method, ab, tmp_path):
    options = "-k", 3, "--method", method, "--outliers", "0.1", "--no-assess"
    run_successfully("cluster", *ab, *options, "--out", tmp_path / "out")
    labels = get_clusters(read_labels(tmp_path / "out"))
    assert labels.count(-1) == read_summary(tmp_path / "out")["outliers"] == round(0.1 * len(labels))
    placed = run_successfully("predict", tmp_path / "out", *ab).out.splitlines()
    assert {row["cluster"] for row in csv.DictReader(placed)} <= {"-1", "0", "1", "2"}
