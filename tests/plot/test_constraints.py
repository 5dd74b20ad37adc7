"""Displays of constraints and of their propagation draw the links that they are given."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

import consilience as cs
import literal_constrained as literal
from consilience.datasets import make_four_quadrants
from consilience.plot import ConstraintsDisplay, PropagationDisplay

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def count_lines(lines):
    return {kind: len(collection.get_segments()) for kind, collection in lines.items()}


def list_pairs(collection, positions):
    """Return the pairs of entities that lines connect, by their positions."""
    place = {tuple(point): i for i, point in enumerate(positions)}
    return {tuple(sorted(place[tuple(end)] for end in segment)) for segment in collection.get_segments()}


@cache
def make_quadrants(n=12, mapped=0.5):
    views, y = make_four_quadrants(80, mapped=mapped, random_state=0)
    constraints = {}
    for v, name in enumerate(views.names):
        rows = views.present[:, v].nonzero()[0]
        constraints[name] = cs.Constraints.sample(y[rows], n, random_state=v).renumbered(rows)
    model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(views, constraints=constraints)
    return model, views, constraints


def test_lines_connect_ends_and_crosses_mark_violations():
    links = cs.Constraints([(0, 1), (0, 2)], [(1, 3), (2, 3)])
    display = ConstraintsDisplay({"a": SQUARE}, [0, 0, 1, 1], links).plot()
    lines = display.lines_["a"]
    assert list_pairs(lines["must-link"], SQUARE) == {(0, 1), (0, 2)}
    assert list_pairs(lines["cannot-link"], SQUARE) == {(1, 3), (2, 3)}
    assert sorted(map(tuple, display.crosses_["a"].get_xydata())) == [(0.5, 0.0), (1.0, 0.5)]
    assert display.ax_[0].get_title() == "a\n4 entities drawn\n4 constraints, 2 violated"
    solid, dashed = (lines[kind].get_linestyle()[0][1] for kind in ("must-link", "cannot-link"))
    assert solid is None
    assert dashed is not None
    assert lines["must-link"].get_edgecolor().tolist() != lines["cannot-link"].get_edgecolor().tolist()
    kinds = ["must-link", "cannot-link", "violated"]
    assert [text.get_text() for text in display.figure_.legends[1].get_texts()] == kinds
    inside = display.plot(Figure().subplots())
    assert [text.get_text() for text in inside.ax_[0].get_legend().get_texts()] == ["0", "1", *kinds]


def test_labels_and_constraints_per_view():
    lacking = SQUARE.copy()
    lacking[3] = np.nan
    labels = {"a": [0, 0, 1, 1], "b": [0, 1, 0, -1]}
    links = {"a": cs.Constraints([(0, 1)]), "b": cs.Constraints([(0, 1), (0, 3)])}
    display = ConstraintsDisplay({"a": SQUARE, "b": lacking}, labels, links).plot()
    assert [count_lines(display.lines_[name]) for name in "ab"] == [{"must-link": 1, "cannot-link": 0}] * 2
    assert [len(display.crosses_[name].get_xydata()) for name in "ab"] == [0, 1]
    assert display.ax_[1].get_title() == "b\n3 entities drawn\n1 constraint, 1 violated"
    legend = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert legend == ["0", "1"], "entities that lack a view are not drawn there"
    links = cs.Constraints([(0, 1), (2, 3)], [(0, 2), (1, 3)])
    display = ConstraintsDisplay({"a": SQUARE}, [-1, -1, 0, 0], links).plot()
    assert len(display.crosses_["a"].get_xdata()) == 1, "outliers are in no common cluster"
    assert display.ax_[0].get_title().endswith("4 constraints, 1 violated")


def test_strongest_links_are_drawn():
    links = cs.Constraints([(0, 1, 0.1), (0, 2, 0.9)], [(1, 3, 0.5), (2, 3, 0.2)])
    display = ConstraintsDisplay({"a": SQUARE}, [0, 0, 1, 1], links, max_links=2).plot()
    assert list_pairs(display.lines_["a"]["must-link"], SQUARE) == {(0, 2)}
    assert list_pairs(display.lines_["a"]["cannot-link"], SQUARE) == {(1, 3)}
    assert "strongest 2 of 4 constraints, 1 of these violated" in display.ax_[0].get_title()
    even = cs.Constraints([(0, 1), (0, 2), (0, 3)], [(1, 3), (2, 3), (1, 2)])
    display = ConstraintsDisplay({"a": SQUARE}, [0, 0, 1, 1], even, max_links=4).plot()
    assert count_lines(display.lines_["a"]) == {"must-link": 2, "cannot-link": 2}, "equal ones alternate"


def test_constraints_of_estimator(constrained, constraints, views):
    display = ConstraintsDisplay.from_estimator(constrained, views)
    assert list(display.lines_) == list(views.names)
    for v, name in enumerate(views.names):
        present = views.present[:, v]
        assert count_lines(display.lines_[name]) == {
            "must-link": int(present[constraints.must_link].all(axis=1).sum()),
            "cannot-link": int(present[constraints.cannot_link].all(axis=1).sum()),
        }
        assert f"{present.sum()} entities drawn" in display.ax_[v].get_title()
    np.testing.assert_array_equal(
        display.embeddings["view2"][views.present[:, 2]], views["view2"][views.present[:, 2]], "two columns as they are"
    )
    assert display.embeddings["view0"].shape == (120, 2), "more columns are projected"


def test_clusters_of_each_view_decide_about_violations():
    model, views, constraints = make_quadrants()
    display = ConstraintsDisplay.from_estimator(model, views, constraints)
    for name, links in constraints.items():
        must, cannot = model.view_labels_[name][links.must_link], model.view_labels_[name][links.cannot_link]
        violated = np.sum(must[:, 0] != must[:, 1]) + np.sum(cannot[:, 0] == cannot[:, 1])
        assert len(display.crosses_[name].get_xydata()) == violated


def test_constraints_by_id_and_single_view():
    X = np.random.default_rng(0).random((20, 3))
    named = cs.Views({"a": X}, ids=[f"e{i}" for i in range(20)])
    links = cs.Constraints([("e0", "e1")], [("e0", "e2")])
    model = cs.COPKMeans(2, random_state=0).fit(named, constraints=links)
    for display in (
        ConstraintsDisplay.from_estimator(model, named, links),
        ConstraintsDisplay.from_estimator(model, named),
        ConstraintsDisplay.from_estimator(model, X),
    ):
        (lines,) = display.lines_.values()
        assert count_lines(lines) == {"must-link": 1, "cannot-link": 1}
        assert "2 constraints, 0 violated" in display.ax_[0].get_title()
    sparse = cs.Views({"a": sp.csr_array(X)}, ids=named.ids)
    display = ConstraintsDisplay.from_estimator(model, sparse, links)
    assert count_lines(display.lines_["a"]) == {"must-link": 1, "cannot-link": 1}


@pytest.mark.parametrize("kind", [ConstraintsDisplay, PropagationDisplay])
def test_sample_contains_ends_of_constraints_and_titles_count_all(kind, constrained, views):
    sampled = kind.from_estimator(constrained, views, max_points=10, max_links=3)
    everything = kind.from_estimator(constrained, views, max_links=3)
    for part, whole in zip(sampled.ax_, everything.ax_, strict=True):
        counts = part.get_title().partition("drawn\n")[2]
        assert counts == whole.get_title().partition("drawn\n")[2]
        assert "strongest 3 of " in counts
    for name in views.names:
        assert count_lines(sampled.lines_[name]) == count_lines(everything.lines_[name])
        drawn, all_drawn = (
            np.isfinite(display.embeddings[name]).all(axis=1).sum() for display in (sampled, everything)
        )
        assert drawn < all_drawn


LABELS = [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "links", "error", "message"),
    [
        (LABELS, cs.Constraints([("p", "q")]), ValueError, "are by id: give positions, as Constraints.positions does"),
        (LABELS, cs.Constraints([(0, 9)]), ValueError, "name entity 9, but there are 4 positions: give one per entity"),
        (LABELS, {"b": cs.Constraints()}, ValueError, "constraints name view 'b'; the views are 'a'"),
        (
            {"b": LABELS},
            cs.Constraints(),
            ValueError,
            r"view 'a' has labels of shape \(0,\): give one per entity, \(4,",
        ),
        (LABELS, [(0, 1)], TypeError, r"constraints must be Constraints\(must_link=.*, got list"),
    ],
)
def test_bad_input_is_refused(labels, links, error, message):
    with pytest.raises(error, match=message):
        ConstraintsDisplay({"a": SQUARE}, labels, links)


def test_propagated_constraints_are_drawn_in_all_views():
    model, views, constraints = make_quadrants()
    display = PropagationDisplay.from_estimator(model, views, constraints, source="b", max_links=10_000)
    assert list(display.lines_) == ["b", "a"], "the source comes first"
    links = model.propagated_["b"]
    for lines in display.lines_.values():
        assert count_lines(lines) == {"must-link": len(links.must_link), "cannot-link": len(links.cannot_link)}
    assert list_pairs(display.lines_["a"]["must-link"], display.embeddings["a"]) == set(
        map(tuple, links.must_link.tolist())
    )
    own_links = constraints["b"]
    assert list_pairs(display.source_lines_["must-link"], display.embeddings["b"]) == set(
        map(tuple, own_links.must_link.tolist())
    )
    titles = [panel.get_title() for panel in display.ax_]
    assert titles == [
        f"b\n40 entities drawn\nhas 12 constraints\npasses on {links.size} constraints",
        f"a\n40 entities drawn\nreceives {links.size} constraints",
    ]


def test_stronger_lines_are_wider_and_darker():
    model, views, constraints = make_quadrants()
    display = PropagationDisplay.from_estimator(model, views, constraints, source="a")
    lines = display.lines_["a"]["cannot-link"]
    weights = np.sort(model.propagated_["a"].cannot_weights)
    assert weights[0] < weights[-1]
    widths, opacities = np.asarray(lines.get_linewidth()), lines.get_edgecolor()[:, 3]
    assert (np.diff(widths) >= 0).all(), "the strongest are drawn last"
    assert (np.diff(opacities) >= 0).all()
    assert widths[0] < widths[-1] < display.source_lines_["cannot-link"].get_linewidth()[0]


def test_source_has_or_passes_on_most_constraints_by_default(constrained, views):
    quadrants, y = make_four_quadrants(80, random_state=0)
    for source in ("a", "b"):
        constraints = {source: cs.Constraints.sample(y, 16, random_state=0)}
        model = cs.MultiViewConstrainedKMeans(2, random_state=0).fit(quadrants, constraints=constraints)
        assert PropagationDisplay.from_estimator(model, quadrants, constraints).source == source
    display = PropagationDisplay.from_estimator(constrained, views)
    sizes = {name: links.size for name, links in constrained.propagated_.items()}
    assert sizes[display.source] == max(sizes.values())
    with pytest.raises(ValueError, match="source='x' is not a view: choose from 'view0', 'view1', 'view2'"):
        PropagationDisplay.from_estimator(constrained, views, source="x")
    with pytest.raises(ValueError, match="source='x' is not a view: choose from 'a'"):
        PropagationDisplay({"a": SQUARE}, LABELS, cs.Constraints(), cs.Constraints(), "x")


def test_reach_is_where_weight_falls_to_threshold():
    """A constraint propagated from one end to a point on its outline, and to the other end itself, has that weight."""
    model, views, constraints = make_quadrants(n=4)
    display = PropagationDisplay.from_estimator(model, views, constraints, source="a")
    links, present = constraints["a"], views.present[:, 0]
    ends = np.concatenate([links.must_link, links.cannot_link])
    assert len(display.reaches) == 8
    X, labels, centers = views["a"], model.view_labels_["a"], model.cluster_centers_["a"]
    gamma = 1e-6 * X[present].var(axis=0).mean()
    sigmas = literal.covariances(X[present], labels[present], centers, gamma)
    outlines = {tuple(np.round(outline[:-1].mean(axis=0), 6)): outline for outline in display.reaches}
    for u, v in ends.tolist():
        outline = outlines[tuple(np.round(X[u], 6))]
        for point in outline[::12]:
            rows = np.vstack([X, point])
            weight = literal.reach(rows, labels, centers, sigmas, u, v, len(X), v)
            assert weight == pytest.approx(0.5)


@pytest.mark.parametrize("transfer", ["direct", "membership"])
def test_other_transfers_have_no_reach(transfer):
    views, y = make_four_quadrants(80, random_state=0)
    links = cs.Constraints.sample(y, 6, random_state=0)
    model = cs.MultiViewConstrainedKMeans(2, transfer=transfer, random_state=0).fit(views, constraints=links)
    display = PropagationDisplay.from_estimator(model, views, links)
    assert display.reaches == []
    assert "reach" not in [text.get_text() for text in display.figure_.legends[1].get_texts()]
