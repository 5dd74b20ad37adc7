"""The section of the report that describes groups by columns that were not used to find them."""

import re

import numpy as np
import pytest

import consilience as cs
from consilience.explain import OriginalColumn, estimate_survival
from consilience.report import Report
from consilience.report.survival_chart import HEIGHT, LINE, MAX_CURVES, GroupCurve, choose_ticks, draw_survival

pytestmark = pytest.mark.quick


def make_report(n_clusters=3, columns=(), n=240):
    views, _ = cs.datasets.make_gaussian_views(n, n_clusters=n_clusters, separation=12, random_state=0)
    model = cs.MultiViewKMeans(n_clusters, random_state=0).fit(views)
    labels = np.asarray(model.labels_)
    names = [f"name of {cluster}" for cluster in range(n_clusters)]
    return Report(model, views, names=names, columns=columns(labels) if columns else ()), labels


def describe(labels):
    """Return a described column of each kind, a constant one, an empty one, and one that was clustered."""
    rng = np.random.default_rng(0)
    n = len(labels)
    texts = np.array([f"{'good' if label else 'bad'} case {i}" for i, label in enumerate(labels)], dtype=object)
    return [
        OriginalColumn("clustered", labels + 0.1 * rng.normal(size=n), "number"),
        OriginalColumn("age", 40 + 10 * labels + rng.normal(size=n), "number", "y", True),
        OriginalColumn("day", 18_000.0 + rng.integers(0, 90, n), "date", "", True),
        OriginalColumn("sex", np.array(["f", "m"], dtype=object)[rng.integers(0, 2, n)], "category", "", True),
        OriginalColumn("stage", np.array(["II", "I", "III"], dtype=object)[labels % 3], "category", "", True),
        OriginalColumn("notes", texts, "text", "", True),
        OriginalColumn("months/event", rng.exponential(5.0 * (1 + labels)), "number", "", True, rng.random(n) < 0.7),
        OriginalColumn("site", np.array(["here"] * n, dtype=object), "category", "", True),
        OriginalColumn("unused", np.full(n, np.nan), "number", "", True),
    ]


def get_section(html, number):
    parts = re.split(r'<section id="described-\d+" class="description">', html)
    return parts[number + 1].partition("</section>")[0]


@pytest.fixture(scope="module")
def page():
    return make_report(columns=describe)[0].to_html()


def test_only_descriptions_are_shown_and_the_reason_is_stated(page):
    assert "groups differ in them by construction" in page
    headings = re.findall(r"<h3><bdi>([^<]*)</bdi></h3>", page.partition('id="descriptions"')[2])
    assert headings[:8] == ["age", "day", "sex", "stage", "notes", "months/event", "site", "unused"]
    assert "The same value for all." in get_section(page, 6)
    assert "Empty." in get_section(page, 7)
    assert "<table" not in get_section(page, 6) + get_section(page, 7)
    without = make_report(columns=lambda labels: describe(labels)[:1])[0].to_html()
    assert 'id="descriptions"' not in without


def test_groups_stand_side_by_side_in_original_units(page):
    age = get_section(page, 0)
    for cluster in range(3):
        assert f"name of {cluster}" in age
        assert re.search(rf">{40 + 10 * cluster}\.\d y<|>{39 + 10 * cluster}\.\d y<", age)
    assert "The groups differ in this column (Kruskal-Wallis test, p &lt; .001, adjusted p &lt; .001)" in age
    assert re.search(r"2019-0\d-\d\d to 2019-0\d-\d\d", get_section(page, 1))
    stage = get_section(page, 3)
    assert re.findall(r'<th scope="col">(I+)</th>', stage) == ["I", "II", "III"]
    assert "100%" in stage
    assert "'good case' in 100% of texts, elsewhere 50%" in get_section(page, 4).replace("&#x27;", "'")


def test_survival_is_drawn_and_told(page):
    survival = get_section(page, 5)
    assert survival.count('class="band') == survival.count('class="name') == 3
    assert "Number at risk" in survival
    label = re.search(r'role="img" aria-label="([^"]*)"', survival)[1]
    assert label.startswith("Share without an event by months/event. group ")
    assert re.search(r"group 0, name of 0: \d+% after \d", label)
    assert "Hazard ratio" in survival


def test_many_groups_are_limited_to_the_largest():
    report, labels = make_report(40, describe, n=800)
    html = report.to_html()
    sizes = np.bincount(labels)
    n_hidden = int((sizes > 0).sum()) - 30
    assert f"{n_hidden} smaller groups are not shown." in get_section(html, 0)
    assert get_section(html, 5).count('class="band') == MAX_CURVES


def test_a_single_group_is_described_without_tests():
    html = make_report(1, describe)[0].to_html()
    assert "Against the others" not in html
    assert 'class="survival"' in html


def test_names_of_curves_do_not_overlap():
    rng = np.random.default_rng(0)
    curves = [
        GroupCurve(i, f"group {i}", estimate_survival(rng.exponential(3, 30), np.ones(30, dtype=bool)), i % 10, 0)
        for i in range(MAX_CURVES)
    ]
    drawing = draw_survival(curves, "t/e", "t")
    places = sorted(float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)" class="name', drawing))
    assert len(places) == MAX_CURVES
    assert (np.diff(places) > LINE - 0.2).all()
    assert places[0] > 0
    assert places[-1] < HEIGHT


def test_ticks_are_round_and_few():
    for end in (0.003, 1.0, 7.3, 89.0, 3650.0):
        ticks = choose_ticks(end)
        assert 3 <= len(ticks) <= 7
        assert ticks[-1] <= end * 1.001
        steps = np.diff(ticks)
        np.testing.assert_allclose(steps, steps[0])
        assert round(steps[0] / 10.0 ** np.floor(np.log10(steps[0]))) in (1, 2, 5, 10)
