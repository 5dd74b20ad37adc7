"""Displays draw the data that they are given."""

import sys
from io import BytesIO
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import KMeans

import consilience as cs
from consilience.explain import Mark, clarity, profile
from consilience.plot import (
    AgreementDisplay,
    ContestedDisplay,
    ContingencyDisplay,
    ConvergenceDisplay,
    CurvesDisplay,
    DendrogramDisplay,
    EmbeddingDisplay,
    ProfileDisplay,
    RoundsDisplay,
    SelectionDisplay,
    ViewWeightsDisplay,
)
from consilience.plot._figure import luminance


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def n_drawn(display, view):
    return sum(len(points.get_offsets()) for points in display.points_[view].values())


def test_agreement_is_drawn_and_numbered(kmeans):
    display = AgreementDisplay.from_estimator(kmeans)
    drawn = np.asarray(display.image_.get_array())
    np.testing.assert_array_equal(drawn, kmeans.agreement_)
    np.testing.assert_array_equal(drawn, drawn.T)
    assert [text.get_text() for text in display.texts_] == [f"{share:.2f}" for share in kmeans.agreement_.ravel()]
    assert ticks(display.ax_.xaxis) == ticks(display.ax_.yaxis) == list(kmeans.view_labels_)
    assert display.ax_.get_title() == "Agreement between views"
    display = AgreementDisplay([[1, np.nan], [np.nan, 1]], ["a", "b"]).plot()
    assert [text.get_text() for text in display.texts_] == ["1.00", "–", "–", "1.00"]
    assert AgreementDisplay(np.eye(30), [f"view{i}" for i in range(30)]).plot().texts_ == []
    shares = np.linspace(0, 1, 16).reshape(4, 4)
    display = AgreementDisplay(shares, "abcd").plot()
    for text, share in zip(display.texts_, shares.ravel(), strict=True):  # numbers contrast with their cells
        ink = 100 if text.get_color() == "white" else 0
        assert abs(luminance(display.image_.cmap(share)) - ink) > 40


def test_history_is_drawn(kmeans, mixture, spectral, views):
    display = ConvergenceDisplay.from_estimator(kmeans)
    assert list(display.lines_) == ["cost", "agreement"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), kmeans.history_["round"])
        np.testing.assert_array_equal(line.get_ydata(), kmeans.history_[name])
    assert list(ConvergenceDisplay.from_estimator(spectral).lines_) == ["alignment"]
    display = ConvergenceDisplay.from_estimator(mixture)
    assert list(display.lines_) == ["log_likelihood", *(f"weight_{name}" for name in views.names)]
    assert display.ax_.shape == (2,), "weights share a panel"
    assert len({(line.get_color(), line.get_linestyle()) for line in display.ax_[1].lines}) == 3
    legend = [text.get_text() for text in display.ax_[1].get_legend().get_texts()]
    assert legend == list(mixture.view_weights_)
    assert list(ConvergenceDisplay.from_estimator(cs.CoEM(2, random_state=0).fit(views)).lines_) == ["q", "agreement"]
    columns = ["cost_view1", "cost_view0"]
    assert list(ConvergenceDisplay.from_estimator(kmeans, columns=columns).lines_) == columns
    with pytest.raises(ValueError, match="no column 'costs'; it has 'cost', 'cost_view0'"):
        ConvergenceDisplay.from_estimator(kmeans, columns=["costs"])


def test_title_tells_whether_fit_converged():
    history = {"round": [1, 2], "cost": [3.0, 2.0]}
    titles = [ConvergenceDisplay(history, end).plot().ax_[0].get_title() for end in (True, False, None)]
    assert titles == ["Converged after 2 rounds", "Not converged after 2 rounds", "2 rounds"]


@pytest.fixture(scope="module")
def rounds(views):
    return cs.CoTrainedSpectral(3, affinity="gaussian", n_iter=3, random_state=0).fit(views)


def test_rounds_are_scored_against_classes(rounds, views):
    y = np.array(["a", "b", "c"])[np.arange(120) % 3]
    display = RoundsDisplay.from_estimator(rounds, y)
    expected = [cs.metrics.normalized_mutual_info_score(y, labels) for labels in rounds.labels_per_round_]
    np.testing.assert_allclose(display.lines_["model"].get_ydata(), expected)
    assert display.lines_["model"].get_xdata().tolist() == [0, 1, 2, 3]
    for v, name in enumerate(views.names):
        has_view = views.present[:, v]
        labels = rounds.view_labels_per_round_[name]
        expected = [cs.metrics.normalized_mutual_info_score(y[has_view], row[has_view]) for row in labels]
        np.testing.assert_allclose(display.lines_[f"view {name!r}"].get_ydata(), expected)
    assert display.ax_.get_ylabel() == "NMI with the classes"
    with pytest.raises(ValueError, match=r"y has shape \(50,\), but CoTrainedSpectral was fitted to 120 entities"):
        RoundsDisplay.from_estimator(rounds, y[:50])


@pytest.mark.parametrize(
    "draw",
    [
        lambda values: RoundsDisplay({"model": values}).plot().ax_,
        lambda values: ConvergenceDisplay(cs.Table({"round": [1, 2, 3], "bits": values})).plot().ax_[0],
    ],
)
def test_change_that_is_small_beside_the_values_looks_flat(draw):
    low, high = draw([2.08, 2.085, 2.09]).get_ylim()
    assert (2.09 - 2.08) / (high - low) < 0.06
    low, high = draw([1.0, 2.0, 4.0]).get_ylim()
    assert 3 / (high - low) > 0.85


def test_rounds_without_classes(rounds, views):
    display = RoundsDisplay.from_estimator(rounds)
    assert display.lines_["same clusters as the kept round (NMI)"].get_ydata()[-1] == 1
    np.testing.assert_array_equal(display.lines_["alignment of the views"].get_ydata(), rounds.history_["alignment"])
    assert len(display.lines_) == len(display.ax_.lines) == 2
    options = {"affinity": "gaussian", "random_state": 0}
    compact = cs.CoTrainedSpectral(3, n_iter="compactness", **options).fit(views)
    display = RoundsDisplay.from_estimator(compact)
    drawn = display.lines_["compactness of the clusters"].get_ydata()
    np.testing.assert_array_equal(drawn, compact.history_["compactness"])
    assert display.ax_.lines[-1].get_label() == "kept round"
    assert list(display.ax_.lines[-1].get_xdata()) == [compact.n_iter_] * 2
    display = RoundsDisplay.from_estimator(cs.CoTrainedSpectral(3, n_iter=0, **options).fit(views))
    low, high = display.ax_.get_xlim()
    assert [tick for tick in display.ax_.get_xticks() if low <= tick <= high] == [0], "whole rounds only"


def test_weights_are_sorted_bars(mixture):
    display = ViewWeightsDisplay.from_estimator(mixture)
    ordered = sorted(mixture.view_weights_.items(), key=lambda item: -item[1])
    assert [bar.get_width() for bar in display.bars_] == [weight for _, weight in ordered]
    assert ticks(display.ax_.yaxis) == [name for name, _ in ordered]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first bar is on top


def test_entities_are_drawn_if_they_have_the_view(views, kmeans):
    display = EmbeddingDisplay.from_estimator(kmeans, views)
    for v, name in enumerate(views.names):
        present = views.present[:, v]
        assert n_drawn(display, name) == present.sum()
        for c, points in display.points_[name].items():
            place = display.embeddings[name][present & (kmeans.labels_ == c)]
            np.testing.assert_array_equal(points.get_offsets(), place)
        assert f"{present.sum()} of 120 entities have it" in display.ax_[v].get_title()


def test_clusters_differ_in_color_and_marker_and_the_legend_names_all_and_none():
    labels = np.r_[np.arange(40), -1]
    display = EmbeddingDisplay({"a": np.random.default_rng(0).random((41, 2))}, labels).plot()
    looks = set()
    for points in display.points_["a"].values():
        (path,) = points.get_paths()
        looks.add((to_hex(points.get_facecolor()[0]), path.vertices.tobytes(), path.codes.tobytes()))
    assert len(looks) == 41
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["none", *map(str, range(40))]


def test_many_entities_are_sampled_as_tiny_pixels_and_few_are_large(views, kmeans):
    many, y = cs.datasets.make_gaussian_views(30_000, n_clusters=5, random_state=0)
    model = cs.MultiViewKMeans(5, init=y, max_iter=20).fit(many)
    display = EmbeddingDisplay.from_estimator(model, many)
    assert n_drawn(display, "view0") == n_drawn(display, "view1") == 20_000
    assert "20,000 of 30,000 entities, at random" in display.ax_[0].get_title()
    display.figure_.savefig(file := BytesIO(), format="pdf")
    assert file.getbuffer().nbytes < 500_000
    large, tiny = EmbeddingDisplay.from_estimator(kmeans, views).points_["view0"][0], display.points_["view0"][0]
    assert tiny.get_sizes()[0] < 4 < 36 <= large.get_sizes()[0]
    assert (large.get_rasterized(), tiny.get_rasterized()) == (False, True)


def test_sample_repeats_and_has_its_own_seed(views, kmeans):
    first, repeated, other = (
        EmbeddingDisplay.from_estimator(kmeans, views, max_points=50, random_state=seed) for seed in (1, 1, 2)
    )
    assert n_drawn(first, "view0") < 50
    assert "have it: 50 of 120 entities, at random" in first.ax_[0].get_title()
    np.testing.assert_array_equal(first.embeddings["view0"], repeated.embeddings["view0"])
    assert not np.array_equal(first.labels, other.labels)


def test_spectral_models_are_drawn_by_their_embeddings(views, spectral):
    auto = EmbeddingDisplay.from_estimator(spectral, views)
    display = EmbeddingDisplay.from_estimator(spectral, views, method="spectral")
    pca = EmbeddingDisplay.from_estimator(spectral, views, method="pca")
    np.testing.assert_array_equal(auto.embeddings["view0"], display.embeddings["view0"])
    assert not np.allclose(auto.embeddings["view0"], pca.embeddings["view0"], equal_nan=True)
    np.testing.assert_array_equal(np.isnan(display.embeddings["view1"][:, 0]), ~views.present[:, 1])
    with pytest.raises(ValueError, match="the model has a view 'view0', the data has 'a', 'b', 'c'"):
        EmbeddingDisplay.from_estimator(spectral, {a: views[n] for a, n in zip("abc", views.names, strict=True)})


def test_views_of_few_entities_and_of_equal_ones():
    X = np.random.default_rng(0).random((9, 3))
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    for n_there in (0, 1, 2):
        present = np.column_stack([np.ones(9, bool), np.arange(9) < n_there, np.ones(9, bool)])
        views = cs.Views([X, X, np.ones((9, 2))], present=present)
        display = EmbeddingDisplay.from_estimator(model, views)
        assert [n_drawn(display, name) for name in views.names] == [9, n_there, 9]


def test_umap_is_requested_by_name(views, kmeans, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"method='umap' needs umap-learn: pip install 'consilience\[umap\]'"):
        EmbeddingDisplay.from_estimator(kmeans, views, method="umap")

    class UMAP:
        def __init__(self, **options):
            assert options == {"metric": "euclidean", "random_state": 0, "n_jobs": 1}

        def fit_transform(self, X):
            return X[:, :2]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    display = EmbeddingDisplay.from_estimator(kmeans, views, method="umap")
    np.testing.assert_array_equal(display.embeddings["view1"], views["view1"][:, :2])
    with pytest.raises(ValueError, match="method='tsne': choose from 'auto', 'pca', 'spectral', 'umap'"):
        EmbeddingDisplay.from_estimator(kmeans, views, method="tsne")


def test_every_merge_is_in_style_of_its_view(tree):
    display = DendrogramDisplay.from_estimator(tree, n_merges=25)
    last = tree.merge_views_[-25:]
    for name, links in display.links_.items():
        assert len(links.get_segments()) == (last == name).sum()
    looks = {(to_hex(links.get_color()[0]), str(links.get_linestyle())) for links in display.links_.values()}
    assert len(looks) == len(display.links_) == 3
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["view0", "view1", "view2", "4 clusters"]
    display = DendrogramDisplay([[0, 1], [2, 3]], ["a", ""], ["a", "b"]).plot()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a", "no view could compare"]


def test_heights_are_order_of_merges_and_lines_do_not_cross(tree):
    display = DendrogramDisplay.from_estimator(tree, n_merges=25)
    brackets = np.array([segment for links in display.links_.values() for segment in links.get_segments()])
    assert sorted(brackets[:, 1, 1]) == list(range(1, 26))
    assert (brackets[:, [0, 3], 1] < brackets[:, [1], 1]).all()  # children are below
    assert "not distances" in display.ax_.get_ylabel()
    left = dict(zip(display.ax_.get_yticks(), ticks(display.ax_.yaxis), strict=True))
    assert left[25] == "1"
    for bracket in brackets:
        low, high = sorted((bracket[1, 0], bracket[2, 0]))
        for other in brackets:
            legs = zip(other[[0, 3]], other[1:3, 1], strict=True)
            assert not any(low < x < high and y < bracket[1, 1] < top for (x, y), top in legs)


def test_leaves_contain_all_entities_also_of_a_long_chain(tree, views):
    cut = DendrogramDisplay.from_estimator(tree, n_merges=25)
    assert sum(map(int, ticks(cut.ax_.xaxis))) == len(views)
    n = 3000
    chain = np.column_stack([np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n)])
    whole = DendrogramDisplay(chain, ["a"] * (n - 1)).plot(n_merges=10_000)
    assert sorted(whole.leaves_) == list(range(n))


def test_bars_are_strengths():
    marks = {"a": [[Mark("x", 5.0, 1, 0), Mark("y", -3.0, 0, 1)], []], "b": [[Mark("z", 4.0, 2, 0)], []]}
    display = ProfileDisplay(marks, [7, 2000]).plot()
    bars = display.bars_[0, "a"]
    assert [bar.get_width() for bar in bars] == [5.0, -3.0]
    assert bars[0].get_facecolor() != bars[1].get_facecolor()
    assert (bars[0].get_hatch() or "") != bars[1].get_hatch()
    assert ticks(display.ax_[0, 0].yaxis) == ["x", "y"]
    assert display.ax_[1, 0].get_ylabel() == "cluster 1\n(2,000)"
    assert [text.get_text() for text in display.ax_[1, 1].texts] == ["no typical columns"]
    assert [axes.get_title() for axes in display.ax_[0]] == ["a", "b"]


def test_profile_of_model_is_that_of_explain_and_ten_clusters_are_drawn_with_a_note(views, kmeans):
    display = ProfileDisplay.from_estimator(kmeans, views, n_top=2)
    expected = profile(views, kmeans.labels_, 2)
    for (c, name), bars in display.bars_.items():
        assert [bar.get_width() for bar in bars] == [mark.strength for mark in expected[name][c]]
    assert display.sizes == np.bincount(kmeans.labels_).tolist()
    labels = np.arange(120) % 40
    display = ProfileDisplay.from_labels(views, labels)
    assert display.ax_.shape == (10, 3)
    assert display.ax_[-1, 0].texts[-1].get_text() == "30 clusters not shown"
    chosen = ProfileDisplay.from_labels(views, labels, clusters=[39, 5])
    assert [axes.get_ylabel() for axes in chosen.ax_[:, 0]] == ["cluster 39\n(3)", "cluster 5\n(3)"]


SAID = {"a": np.array([0, 0, 1, 1, 2, 2]), "b": np.array([0, 1, 1, 1, 2, 0]), "c": np.array([1, 1, 0, 1, -1, -1])}


def test_contested_counts_pairs_and_lists_the_least_confident(views, kmeans):
    display = ContestedDisplay(SAID, np.linspace(1, 0, 6)).plot(pair=("a", "b"))
    drawn = np.ma.filled(display.image_.get_array(), np.nan)
    np.testing.assert_array_equal(drawn, [[np.nan, 1, 0], [0, np.nan, 0], [1, 0, np.nan]])
    assert [text.get_text() for text in display.texts_] == ["1", "1", "2", "1", "1"]
    assert display.least_.tolist() == [5, 1]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], [0, 0.8])
    assert ticks(display.ax_[1].yaxis) == ["5:  2 or 0", "1:  0 or 1"]
    assert "2 contested by these two views, of 6 with both" in display.ax_[0].get_title()
    display = ContestedDisplay.from_estimator(kmeans, views, n_least=3)
    first, second = (kmeans.view_labels_[name] for name in display.pair_)
    split = (first >= 0) & (second >= 0) & (first != second)
    assert split[display.least_].all()
    sure = clarity(kmeans, views)
    np.testing.assert_array_equal(sure[display.least_], np.sort(sure[split])[:3])
    none = ContestedDisplay({"a": [0, 1, -1], "b": [0, 1, 1]}, np.ones(3)).plot()
    assert len(none.least_) == 0
    assert none.ax_[1].texts[-1].get_text() == "no entity is contested"


def test_pair_that_disagrees_most_is_chosen():
    assert ContestedDisplay(SAID, np.ones(6)).plot().pair_ == ("a", "c")
    assert ContestedDisplay(SAID, np.ones(6), confirmed=["a", "b"]).plot().pair_ == ("a", "b")
    assert ContestedDisplay(SAID, np.ones(6), confirmed=["b"]).plot().pair_ == ("a", "c")


def test_diagonal_is_maximal():
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=300)
    labels = np.array([3, 5, 0, 1, 4, 2])[y]
    display = ContingencyDisplay.from_labels(y, labels)
    np.testing.assert_array_equal(display.image_.get_array(), np.eye(6))
    assert ticks(display.ax_.xaxis) == ["3", "5", "0", "1", "4", "2"]
    assert display.ax_.get_title() == "300 of 300 entities on the diagonal"


def test_more_classes_than_clusters_and_fewer():
    for shape in ((3, 5), (5, 3), (1, 4)):
        table = np.random.default_rng(0).integers(1, 9, size=shape)
        display = ContingencyDisplay(table, range(shape[0]), range(shape[1])).plot()
        assert sorted(display.rows_) == list(range(shape[0]))
        assert sorted(display.columns_) == list(range(shape[1]))
        drawn = table[display.rows_][:, display.columns_]
        np.testing.assert_allclose(display.image_.get_array(), drawn / drawn.sum(axis=1, keepdims=True))
        assert [int(text.get_text()) for text in display.texts_] == drawn.ravel().tolist()


def test_numbers_of_large_tables_are_left_out_and_classes_may_be_words():
    y = np.arange(100) % 21
    assert ContingencyDisplay.from_labels(y, y).texts_ == []
    assert len(ContingencyDisplay.from_labels(y % 20, y % 20).texts_) == 20
    display = ContingencyDisplay.from_labels(np.array(["b", None, "a"], dtype=object), [0, 1, 2])
    assert ticks(display.ax_.yaxis) == ["None", "a", "b"]


def test_selection_is_drawn_with_supported_numbers(selection):
    display = SelectionDisplay.from_selection(selection)
    assert list(display.lines_) == ["score", "agreement", "stability", "information"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_ydata(), selection.table[name])
    np.testing.assert_array_equal(display.chance_.get_ydata(), selection.table["by_chance"])
    assert display.supported_.get_xdata().tolist() == list(selection.supported)
    assert display.ax_[0].get_title(loc="left").replace("\n", " ") == selection.reason


def test_selections_of_other_kinds(views):
    single_view, _ = cs.datasets.make_gaussian_views(60, n_features=(3,), separation=8, random_state=0)
    display = SelectionDisplay.from_selection(cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), single_view, [2, 3]))
    assert list(display.lines_) == ["score", "stability", "modularity"]
    assert display.chance_ is None
    wide = cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), views, [2, 3, 30], n_splits=1)
    assert [axes.get_xscale() for axes in SelectionDisplay.from_selection(wide).ax_] == ["log"] * 4
    noise = cs.Views([np.random.default_rng(v).normal(size=(100, 3)) for v in range(2)])
    without_evidence = cs.select_n_clusters(cs.MultiViewKMeans(n_init=1), noise, [2, 3])
    assert SelectionDisplay.from_selection(without_evidence).supported_ is None
    small_groups = cs.select_n_clusters(cs.Consilience(n_init=1), views, small_groups=True)
    with pytest.raises(ValueError, match="a selection of small groups has no curve to draw"):
        SelectionDisplay.from_selection(small_groups)


def test_lines_pass_through_means_and_bars_are_as_high():
    runs = {"co-EM": {"10": [0.5, 0.7], "2": [1.0, 1.2]}, "EM": {"2": [2.0], "10": [1.5]}}
    line = CurvesDisplay.from_runs(runs).drawn_["", "co-EM"]
    assert line.get_xdata().tolist() == [2, 10]  # sorted as numbers, not as strings
    assert line.get_ydata().tolist() == pytest.approx([1.1, 0.6])
    bars = CurvesDisplay.from_runs(runs, bars=True).drawn_["", "co-EM"]
    assert [bar.get_height() for bar in bars] == pytest.approx([0.6, 1.1])  # in the given order


def test_errors_of_several_runs_are_drawn_and_named():
    runs = {"m": {"1": [0.4, 0.6], "2": [0.7]}, "n": {"1": [0.1], "2": [0.2]}}
    for deviations, error, words in ((False, 0.1, "error"), (True, 0.02**0.5, "deviation")):
        display = CurvesDisplay.from_runs(runs, deviations=deviations)
        (segment,) = display.ax_[0].collections[0].get_segments()
        assert segment[:, 1].tolist() == pytest.approx([0.5 - error, 0.5 + error])
        assert display.legend_.get_title().get_text() == f"with one standard {words}"
    few, many = ({"m": {str(i): [i, i + 1.0] for i in range(n)}} for n in (15, 16))
    assert hasattr(CurvesDisplay.from_runs(few).ax_[0].collections[0], "get_segments")
    assert not hasattr(CurvesDisplay.from_runs(many).ax_[0].collections[0], "get_segments"), "a band"
    single = {"m": {"1": [0.4], "2": [0.7]}}
    display = CurvesDisplay.from_runs(single | {"n": runs["n"]})
    assert not display.legend_.get_title().get_text()
    assert not display.ax_[0].collections
    assert CurvesDisplay.from_runs(single).legend_ is None


@pytest.mark.parametrize("conditions", [("1", "2"), ("F", "NMI")])
def test_published_numbers_are_hollow_and_in_legend(conditions):
    first, second = conditions
    runs = {"a": {first: [0.4], second: [0.7]}}
    display = CurvesDisplay.from_runs(runs, published={"a": {second: 0.9, "elsewhere": 0.1}, "other": {first: 1.0}})
    (markers,) = display.published_.values()
    assert markers.get_ydata() == [0.9]
    assert markers.get_markerfacecolor() in ("none", "white")
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "published"]
    line_or_bar = display.drawn_["", "a"]
    place = line_or_bar[1].get_x() + line_or_bar[1].get_width() / 2 if first == "F" else line_or_bar.get_xdata()[1]
    assert markers.get_xdata() == pytest.approx([place])


def test_condition_without_number_is_drawn_on_the_right():
    display = CurvesDisplay.from_runs({"a": {"0.1": [0.4], "0.9": [0.7], "auto": [0.5]}})
    line, point = display.ax_[0].get_lines()
    assert line.get_xdata().tolist() == [0.1, 0.9]
    assert point.get_xdata()[0] > 0.9
    assert point.get_linestyle() == "None"
    assert ticks(display.ax_[0].xaxis)[-1] == "auto"
    display = CurvesDisplay.from_runs({"m": {"1": [0.4], "2": [np.nan], "3": [0.5]}, "n": {"1": [0.1]}})
    assert display.drawn_["", "m"].get_xdata().tolist() == [1, 3], "NaN is left out"


def test_method_looks_same_in_every_panel_and_is_named_once():
    panels = {"p": {"a": {"1": [1], "2": [2]}}, "q": {"b": {"1": [1], "2": [2]}, "a": {"1": [3], "2": [4]}}}
    display = CurvesDisplay(panels).plot()
    looks = {(key, line.get_color(), line.get_marker()) for (_, key), line in display.drawn_.items()}
    assert len(looks) == 2
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "b"]
    assert [axes.get_title(loc="left") for axes in display.ax_] == ["p", "q"]


def test_saved_curves_are_reproducible_and_close_figures(tmp_path):
    panels = {"p": {"a": {"1": [1, 2], "2": [2]}, "b": {"1": [1], "2": [3]}}}
    display = CurvesDisplay(panels, published={"p": {"a": {"1": 2}}})
    first, second = ([path.read_bytes() for path in display.save(tmp_path / name)] for name in ("one.two", "again"))
    assert first == second
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.png", "again.svg", "one.two.png", "one.two.svg"]
    assert b"<dc:date>" not in first[0]
    assert not plt.get_fignums()


def test_displays_show_names_of_clusters(views, kmeans):
    names, y = ["knives", "a $ sign", "chairs and further things to sit on"], kmeans.labels_
    profiles = ProfileDisplay.from_estimator(kmeans, views, names=names)
    assert [panel.get_ylabel().partition("\n")[0] for panel in profiles.ax_[:2, 0]] == ["knives", r"a \$ sign"]
    table = ContingencyDisplay.from_estimator(kmeans, y, names=names)
    assert ticks(table.ax_.xaxis)[:2] == ["knives", r"a \$ sign"]
    outliers = ContingencyDisplay.from_labels(y, np.where(np.arange(len(y)) == 0, -1, y), names=names)
    assert "none" in ticks(outliers.ax_.xaxis)
    (legend,) = EmbeddingDisplay.from_estimator(kmeans, views, names=names).figure_.legends
    assert [text.get_text() for text in legend.get_texts()][:2] == ["0 knives", r"1 a \$ sign"]
    for kind, data in ((ProfileDisplay, views), (ContingencyDisplay, y), (EmbeddingDisplay, views)):
        with pytest.raises(ValueError, match="names: 1 names for 3 clusters; give one per cluster"):
            kind.from_estimator(kmeans, data, names=["a"])
