"""--set: options reach the estimator, and bad ones are refused in one sentence before any file is read."""

import json
from typing import ClassVar

import numpy as np
import pytest

import consilience as cs
from consilience.pipeline.options import parse_pairs
from consilience.pipeline.settings import Settings, read_settings
from consilience.registry import EstimatorDeclaration, declare_estimator, list_estimators
from stage import assert_refused, list_folder, read_labels, read_summary, run_command, run_successfully

COMPARED = ["all views together", "views side by side", "a alone", "b alone"]
LIST_OF_SHARES = "a list separated by commas (each item a float in the range [0.0, 1.0])"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def cluster(*arguments, out, method="co-em", settings=(), k=3):
    options = [part for setting in settings for part in ("--set", setting)]
    return run_successfully("cluster", *arguments, "-k", k, "--method", method, *options, "--no-assess", "--out", out)


def read_texts(method: str, texts: list[str]) -> Settings:
    return read_settings(method, parse_pairs("settings", texts))


def load_estimator(folder):
    return cs.load(folder / "model.zip")["estimator"]


BAD = {
    "co-em": {
        "eta=2": "--set eta=2: eta must be a float in the range [0.0, 1.0]",
        "eta=true": "eta must be a float in the range [0.0, 1.0]",
        "eta=nan": "eta must be a float in the range [0.0, 1.0]",
        "n_init=1.5": "n_init must be an int in the range [1, inf)",
        "priors=none": "priors must be global, uniform or view",
        "Eta=1": "--method co-em has no option 'Eta': did you mean 'eta'?",
        "eta": "--set needs the form NAME=VALUE, got 'eta'",
        "=1": "--set needs the form NAME=VALUE, got '=1'",
        "anneal=soon": f"anneal must be geometric, linear, {LIST_OF_SHARES} or none",
        "anneal=0.5,2": LIST_OF_SHARES,
        "families=normal": "or von-mises-fisher, also with options: multinomial(smoothing=...)",
        "families=normal(smoothing=1)": "there is no 'normal': choose from multinomial, bernoulli",
        "families=multinomial(floor=1)": "multinomial has no option 'floor': choose from smoothing",
        "families=multinomial(smoothing=-1)": "smoothing",
        "families=gaussian(floor=x)": "floor must be a share of the variance, above 0 and below 1, got 'x'",
        "families.=gaussian": "name the view after the dot, as in families.VIEW=VALUE",
        "families=gaussian,gaussian": "families must be auto, multinomial, bernoulli, poisson, categorical",
        "eta.a=1": "eta takes no value for a single view; options per view are families",
        "init=0,1,2": "init must be k-means++",
        "n_clusters=3": "n_clusters is not set by --set: use -k N",
        "random_state=1": "random_state is not set by --set: use --seed N",
        "views=a": "views is not set by --set: use --view NAME=FILE",
        "verbose=true": "verbose is not set by --set: a terminal shows progress unless --quiet is given",
    },
    "k-means": {"tol.a=1": "tol takes no value for a single view; the method has no options per view"},
    "spherical": {"outliers=0.1": "outliers is not set by --set: use --outliers SHARE"},
    "auto": {
        "eta=1": "--method consilience has no option 'eta' (it is an option of co-em): choose from affinity, predic",
        "affinity=cosine": "affinity must be auto or precomputed",
        "predictors=magic": "predictors must be a list separated by commas (each item components, graph or neighbors)",
    },
    "spectral": {
        "affinity=near": "affinity must be auto, chi2, cosine, gaussian, intersection, landmarks, linear",
        "affinity=neighbours(5)": "there is no 'neighbours': did you mean 'nearest-neighbors'?",
        "affinity=gaussian(width=1)": "gaussian has no option 'width': did you mean 'bandwidth'?",
        "affinity=nearest-neighbors(n_neighbors=0)": "n_neighbors=0 must be a whole number, 1 or more",
        "affinity=polynomial(offset=x)": "offset='x' must be a number",
        "affinity=cosine(gamma=1)": "cosine has no option 'gamma': it has none",
        "affinity=nystroem(kernel=landmarks)": "is not a kernel: give a kernel",
        "bandwidth=wide": "bandwidth must be a float in the range (0.0, inf), local, median or none",
        "embedding=mean": "there is no view 'mean'; the views are 'a'; embedding may be concat or the name of a",
        "embedding=2": "embedding=2: there is no view '2'; the views are 'a'",
    },
    "convex": {
        "normalizer=1": "normalizer must be true or false",
        "divergence=far": "divergence must be bernoulli, cosine, itakura-saito, kernel, kl, mahalanobis",
        "divergence=kl(smoothing=x)": "kl(smoothing=x): ",
        "divergence=mahalanobis(covariance=1)": "mahalanobis has no option 'covariance': it has none",
        "init=0.5,0.5": "init is not set by --set: only Python can give it",
        "beta.a=auto": "beta must be a float in the range (0.0, inf)",
    },
    "minimum-disagreement": {"embedding=men": "embedding may be concat, mean or the name of a view"},
    "co-regularized": {"embedding=b": "embedding may be auto, centroid, concat or the name of a view"},
    "cca-k-means": {"view=A": "there is no view 'A'; the views are 'a'; view may be the name of a view or none"},
    "constrained": {
        "transfer=all": "transfer must be direct, membership, none or propagate",
        "threshold=-1": "threshold must be a float in the range (0.0, inf) or auto",
        "threshold.a=auto": "threshold must be a float in the range (0.0, inf)",
    },
    "agglomerative": {"linkage=ward": "linkage must be average, complete or single"},
    "concatenation": {
        "estimator=kmeans": "estimator must be a method: consilience, spectral,",
        "estimator.eta=1": "--set estimator.eta=1: --method k-means has no option 'eta'",
        "estimator.n_clusters=2": "n_clusters is not set by --set: use -k N",
        "eta=1": "--method concatenation has no option 'eta' (it is an option of co-em): choose from estimator",
    },
}


@pytest.mark.parametrize("method", BAD)
def test_bad_setting_is_refused_before_any_file_is_read(method, out, tmp_path, monkeypatch):
    monkeypatch.setattr("consilience.pipeline.steps.load_data", None)
    for setting, words in BAD[method].items():
        ran = run_command("cluster", "--view", "a=none.csv", "--method", method, "--set", setting, "--out", out)
        assert_refused(ran, words, code=2)
        assert ran.error_line.startswith("consilience: --set ")
    assert list_folder(tmp_path) == []


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("co-em", ["eta=1", "eta=0.5"], "--set eta is given twice: 1 and 0.5"),
        ("concatenation", ["estimator=co-em", "estimator.families.a=gaussian"], "use estimator.families=VALUE"),
        ("concatenation", ["estimator=spectral", "estimator.embedding=a"], "the columns of all views are one view"),
    ],
)
def test_bad_combination_is_refused(method, settings, words, out):
    options = [part for setting in settings for part in ("--set", setting)]
    ran = run_command("cluster", "--view", "a=none.csv", "--method", method, *options, "--out", out)
    assert_refused(ran, words, code=2)


def test_unknown_view_is_refused_before_any_file_is_read(out):
    views = "--view", "a=none.csv", "--view", "folder/b.csv"
    cases = [("spectral", "affinity.c=cosine", "c"), ("spectral", "affinity.a.x=cosine", "a.x")]
    cases += [("spectral", "affinity.b-up=cosine", "b-up"), ("spectral", "embedding=c", "c")]
    cases += [("minimum-disagreement", "embedding=median", "median"), ("cca-k-means", "view=c", "c")]
    for method, setting, view in cases:
        ran = run_command("cluster", *views, "--method", method, "--set", setting, "--out", out)
        assert_refused(ran, f"--set {setting}: there is no view {view!r}; the views are 'a', 'b'", code=2)


def test_values_that_name_views():
    for method, text, view in [
        ("spectral", "embedding=concat", None),
        ("spectral", "embedding=1", "1"),
        ("minimum-disagreement", "embedding=mean", None),
        ("co-regularized", "embedding=b", "b"),
        ("cca-k-means", "view=none", None),
        ("cca-k-means", "view=b", "b"),
        ("spectral", "affinity=cosine", None),
        ("co-em", "families=gaussian", None),
    ]:
        setting = read_texts(method, [text]).settings[0]
        assert (setting.value if setting.names_view else None) == view, text


def test_views_of_links_are_known_once_the_file_is_read(data, ab, out):
    views = *ab, "--view", f"links={data / 'links.csv'}", "-k", 3
    options = "--method", "spectral", "--no-assess", "--out", out
    ran = run_command("cluster", *views, *options, "--set", "affinity.links=cosine")
    assert_refused(ran, "there is no view 'links'; the views are 'a', 'b', 'links-out', 'links-in'", code=2)
    run_successfully("cluster", *views, *options, "--set", "affinity.links-out=cosine")
    expected = {"a": "auto", "b": "auto", "links-out": "cosine", "links-in": "auto"}
    assert load_estimator(out).affinity == expected


def test_settings_are_in_model_summary_and_report(ab, out):
    settings = ["eta=1", "anneal=0.9,0.5,0", "families.b=gaussian-full(floor=1e-3)", "n_init=2", "priors=uniform"]
    cluster(*ab, out=out, settings=settings)
    estimator = load_estimator(out)
    assert (estimator.eta, estimator.anneal, estimator.n_init, estimator.priors) == (1, [0.9, 0.5, 0], 2, "uniform")
    assert estimator.families["a"] == "gaussian"
    assert estimator.families["b"].floor == 1e-3
    assert type(estimator.families_["b"]) is cs.families.GaussianFull
    facts = read_summary(out)
    assert facts["settings"]["given"] == facts["inputs"]["settings"] == settings
    resolved = facts["settings"]["resolved"]
    assert (resolved["eta"], resolved["anneal"], resolved["max_iter"]) == (1, [0.9, 0.5, 0], 200)
    assert resolved["families"]["a"] == "gaussian"
    assert resolved["families"]["b"].startswith("GaussianFull(floor=0.001")
    assert [row["method"] for row in facts["comparison"]] == COMPARED
    page = (out / "report.html").read_text(encoding="utf-8")
    assert ", ".join(settings) in page
    assert "--set anneal=0.9,0.5,0" in page  # the command


def test_report_and_predict_of_a_run_with_settings(data, ab, out, tmp_path):
    cluster(*ab, out=out, settings=["eta=0.75", "families.b=gaussian-full"])
    page = (out / "report.html").read_bytes()
    run_successfully("report", out, "--force")
    assert (out / "report.html").read_bytes() == page
    run_successfully("predict", out, "--view", f"a={data / 'a.csv'}", "--out", tmp_path / "placed.csv")
    clusters = {row["id"]: row["cluster"] for row in read_labels(out)}
    placed = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "placed.csv")}
    assert np.mean([clusters[entity] == cluster for entity, cluster in placed.items()]) > 0.95
    facts = read_summary(out)  # as an older version wrote it
    del facts["settings"], facts["inputs"]["settings"]
    (out / "summary.json").write_text(json.dumps(facts))
    run_successfully("report", out, "--force")
    assert f"<title>{facts['entities']} items in" in (out / "report.html").read_text(encoding="utf-8")


def test_settings_with_default_method_are_those_of_consilience(ab, out):
    cluster(*ab, out=out, method="auto", settings=["predictors=graph", "balance=0", "n_init=1"])
    estimator = load_estimator(out)
    assert type(estimator) is cs.Consilience
    assert (estimator.predictors, estimator.balance, estimator.n_init) == (["graph"], 0, 1)


def test_words_numbers_and_strings(ab, out):
    cluster(*ab, out=out, method="constrained", settings=["transfer=none", "init=None", "tol=1E-4", "threshold.a=0.25"])
    estimator = load_estimator(out)
    assert (estimator.transfer, estimator.init, estimator.tol) == ("none", None, 1e-4)
    assert estimator.threshold == {"a": 0.25, "b": 0.5}
    cluster(*ab, out=out / "convex", method="convex", settings=["normalizer=TRUE", "beta=auto", "refine=kernel-kmeans"])
    estimator = load_estimator(out / "convex")
    assert (estimator.normalizer, estimator.beta, estimator.refine) == (True, "auto", "kernel-kmeans")


def test_objects_within_objects():
    settings = read_texts(
        "spectral", ["affinity=nystroem(kernel=polynomial(degree=2, gamma=0.5), n_landmarks=20)", "affinity.b=linear"]
    )
    chosen = settings.declaration.build(3, {"a": "numbers", "b": "numbers"}).affinity
    polynomial = cs.affinities.Polynomial(degree=2, gamma=0.5)
    assert chosen == {"a": cs.affinities.Nystroem(polynomial, n_landmarks=20), "b": "linear"}


def test_value_for_all_views_overrides_what_kinds_choose_except_for_similarities():
    declaration = read_texts("convex", ["divergence=kl(smoothing=0.5)"]).declaration
    kl = cs.divergences.KullbackLeibler(smoothing=0.5)
    assert declaration.build(3, {"a": "numbers", "b": "text"}).divergence == kl
    kinds = {"a": "numbers", "b": "similarities"}
    assert declaration.build(3, kinds).divergence == {"a": kl, "b": "kernel"}
    declaration = read_texts("convex", ["divergence.b=precomputed"]).declaration
    assert declaration.build(3, kinds).divergence == {"a": "squared-euclidean", "b": "precomputed"}


def test_value_for_one_view_overrides_that_for_all_in_any_order():
    kinds = {"a": "numbers", "b": "counts"}
    for settings in (["beta.a=2", "beta=3"], ["beta=3", "beta.a=2"]):
        declaration = read_texts("convex", settings).declaration
        assert declaration.build(3, kinds).beta == {"a": 2, "b": 3}
        assert declaration.build(3, {"b": "counts"}).beta == 3  # a view alone, to compare with


def test_class_without_constraints_takes_any_value(monkeypatch):
    class Loose(cs.MultiViewKMeans):
        _parameter_constraints: ClassVar = {}

    monkeypatch.setattr("consilience.registry._DECLARATIONS", list_estimators())
    declare_estimator(EstimatorDeclaration("loose", "a class of others", Loose))
    built = read_texts("loose", ["tol=tight", "n_init=3"]).declaration.build(2, {"a": "numbers"})
    assert (built.tol, built.n_init) == ("tight", 3)


def test_concatenation_with_co_em_is_em_on_one_table(data, out):
    views = "--view", f"near={data / 'near-raw.npy'}", "--view", f"like={data / 'like-raw.npy'}"
    cluster(*views, out=out, method="concatenation", settings=["estimator=co-em", "estimator.n_init=2"])
    X = np.hstack([np.load(data / f"{name}-raw.npy") for name in ("near", "like")])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = cs.CoEM(3, families="gaussian", n_init=2, random_state=0).fit(X)
    assert [int(row["cluster"]) for row in read_labels(out)] == expected.labels_.tolist()
    wrapped = load_estimator(out).estimator_
    np.testing.assert_allclose(wrapped.cost_, expected.cost_)
    resolved = read_summary(out)["settings"]["resolved"]["estimator"]
    assert (resolved["class"], resolved["n_init"], resolved["families"]) == ("CoEM", 2, {"view0": "gaussian"})


def test_concatenation_prepares_counts_as_the_method_within_takes_them():
    for method, raw in (("co-em", True), ("spherical", False)):
        declaration = read_texts("concatenation", [f"estimator={method}"]).declaration
        assert declaration.takes_raw_counts == raw
    kinds = {"a": "counts", "b": "text"}
    chosen = read_texts("concatenation", ["estimator=co-em"]).declaration.build(3, kinds, seed=7)
    assert chosen.estimator.families == {"view0": "multinomial"}
    assert (chosen.estimator.n_clusters, chosen.estimator.random_state) == (3, 7)
    assert read_texts("concatenation", ["estimator=convex"]).declaration.chooses_n_clusters


def test_concatenation_of_a_method_that_cannot_predict_is_not_assessed(ab, out):
    options = "--method", "concatenation", "--set", "estimator=agglomerative", "--set", "estimator.linkage=complete"
    ran = run_successfully("cluster", *ab, "-k", 3, *options, "--out", out)
    assert "Not assessed: --method concatenation cannot predict the clusters of new entities." in ran.err
    assert load_estimator(out).estimator.linkage == "complete"


@pytest.mark.parametrize(("method", "setting"), [("spectral", "embedding=a"), ("cca-k-means", "view=b")])
def test_name_of_a_view_leaves_single_views_comparable(method, setting, ab, out):
    ran = cluster(*ab, out=out, method=method, settings=[setting])
    option, view = setting.split("=")
    assert getattr(load_estimator(out), option) == view
    assert "Not compared" not in ran.err
    assert [row["method"] for row in read_summary(out)["comparison"]] == COMPARED


def test_concatenation_names_the_method_within(ab, out):
    ran = cluster(*ab, out=out, method="concatenation")
    title = "multi-view k-means of all columns side by side"
    assert f"3 clusters by {title} (as you chose)" in ran.out
    assert title in (out / "report.html").read_text()
    assert read_summary(out)["comparison"] is None
