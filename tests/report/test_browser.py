"""The page in a real browser, opened from disk."""

import re
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.report import Report
from consilience.report.markup import clean_text
from hostile import ENDING, IMAGE, SCRIPT, TURNED, hostile_report


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A small report with all sections."""
    views, y = cs.datasets.make_gaussian_views(300, n_clusters=4, separation=3, missing=0.2, random_state=0)
    views = cs.Views(views, ids=[f"paper-{i:03d}" for i in range(300)])
    model = cs.MultiViewKMeans(4, n_init=2, random_state=0).fit(views)
    table = cs.Table({"estimator": ["together", "alone"], "nmi": [0.9, 0.5], "seconds": [2.0, 1.0]})
    report = Report(model, views, title="Papers", labels=y, comparison=table, command="consilience report x")
    return report.save(tmp_path_factory.mktemp("report") / "papers.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_report().save(tmp_path_factory.mktemp("hostile") / "hostile.html")


class Worded(cs.Assessment):
    """An assessment with a word per entity."""

    certainty = np.array(["sure", "a guess", "", "likely"])[np.arange(300) % 4]


@pytest.fixture(scope="module")
def assessed(tmp_path_factory):
    """A report with an assessment, and a view that no other confirms."""
    views, _ = cs.datasets.make_gaussian_views(300, n_clusters=4, separation=6, random_state=0)
    blocks = {**dict(views.items()), "odd": np.random.default_rng(0).normal(size=(300, 3))}
    views = cs.Views(blocks, ids=[f"paper-{i:03d}" for i in range(300)])
    model = cs.MultiViewSphericalKMeans(4, n_init=1, random_state=0).fit(views)
    assessment = cs.assess(model, views, refit=True)
    worded = Worded(**{field.name: getattr(assessment, field.name) for field in fields(assessment)})
    return Report(model, views, assessment=worded).save(tmp_path_factory.mktemp("assessed") / "assessed.html")


def column(page, i):
    return page.eval_on_selector_all(f"#find-rows tr > :nth-child({i})", "rows => rows.map(x => x.textContent)")


def status(page):
    return page.text_content("#find-count")


def test_search_finds_parts_of_names_and_equal_names_first(visit, path):
    page = visit(path)
    assert status(page) == "1 to 25 of 300"
    page.fill("#find-text", "PAPER-1")
    assert status(page) == "1 to 25 of 100"
    page.fill("#find-text", "er-117")
    assert column(page, 1) == ["paper-117"]
    page.fill("#find-text", "no such name")
    assert status(page) == "No matches."
    assert column(page, 1) == []


def test_filters_by_cluster_and_contested(visit, path):
    page = visit(path)
    page.select_option("#find-cluster", "2")
    assert set(column(page, 2)) == {"2"}
    page.check("#find-contested")
    assert set(column(page, 6)) == {"yes"}
    assert set(column(page, 2)) == {"2"}


def test_table_is_sorted_and_paged(visit, path):
    page = visit(path)
    button = page.get_by_role("button", name="Confidence")
    button.click()
    rising = [float(text) for text in column(page, 3)]
    assert rising == sorted(rising)
    assert page.get_attribute("#find-head th:nth-child(3)", "aria-sort") == "ascending"
    button.click()
    falling = [float(text) for text in column(page, 3)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] >= rising[-1]
    page.get_by_role("button", name="Entity").click()
    assert column(page, 1)[:2] == ["paper-000", "paper-001"]
    page.click("#find-on")
    assert status(page) == "26 to 50 of 300"
    assert column(page, 1)[0] == "paper-025"
    page.click("#find-back")
    assert page.is_disabled("#find-back")


def test_clusters_are_ordered_filtered_and_opened(visit, path):
    page = visit(path)
    shown = "rows => rows.filter(x => !x.hidden).map(x => x.dataset.cluster)"
    page.select_option("#cluster-order", "cluster")
    assert page.eval_on_selector_all("details.cluster", shown) == ["0", "1", "2", "3"]
    page.fill("#cluster-filter", "2")
    assert page.eval_on_selector_all("details.cluster", shown) == ["2"]
    page.fill("#cluster-filter", "no such term")
    assert page.is_visible("#cluster-none")
    page.fill("#cluster-filter", "")
    page.click("#cluster-open")
    assert page.eval_on_selector_all("details.cluster", "rows => rows.every(x => !x.open)")
    page.click("#cluster-open")
    assert page.eval_on_selector_all("details.cluster", "rows => rows.every(x => x.open)")


@pytest.mark.parametrize(("scheme", "name"), [("light", "Dark colors"), ("dark", "Light colors")])
def test_theme_follows_the_system_until_chosen(visit, path, scheme, name):
    page = visit(path, color_scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    first = page.evaluate(ground)
    assert first == {"light": "rgb(251, 251, 250)", "dark": "rgb(20, 23, 26)"}[scheme]
    page.get_by_role("button", name=name).click()
    assert page.evaluate(ground) != first
    page.click("#theme")
    assert page.evaluate(ground) == first


def test_maps_name_the_entity_under_the_pointer(visit, path):
    page = visit(path)
    inked = "x => new Set(x.getContext('2d').getImageData(0, 0, x.width, x.height).data).size"
    assert page.eval_on_selector("#map-0", inked) > 20
    page.locator("#map-0").scroll_into_view_if_needed()
    place = page.evaluate("[...Array(300).keys()].map(i => document.getElementById('map-0').places(i)).find(Boolean)")
    page.hover("#map-0", position={"x": place[0], "y": place[1]})
    told = page.text_content(".map .hover:not([hidden])")
    assert told.startswith("paper-")
    assert ", cluster " in told
    before = page.eval_on_selector("#map-0", "x => x.toDataURL()")
    page.get_by_role("button", name="Cluster 1", exact=True).click()
    assert page.eval_on_selector("#map-0", "x => x.toDataURL()") != before
    assert page.get_attribute("#legend [data-cluster='1']", "aria-pressed") == "true"


def test_hostile_names_run_no_code(visit, hostile):
    page = visit(hostile)
    for text in (SCRIPT, IMAGE, ENDING, TURNED):
        page.fill("#find-text", text)
        assert all(text.lower() in name.lower() for name in column(page, 1))
        assert column(page, 1)
    page.fill("#find-text", "")
    page.get_by_role("button", name="Entity").click()
    page.locator("#map-0").scroll_into_view_if_needed()
    page.evaluate(
        """() => { const canvas = document.getElementById('map-0'); for (let i = 0; i < 90; i++) {
        const [x, y] = canvas.places(i); const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + x, clientY: box.y + y})); } }"""
    )
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img, script script").count() == 0
    assert SCRIPT in page.inner_text("body")
    assert page.title() == clean_text(ENDING + TURNED)


def test_confidence_is_sorted_by_its_words(visit, assessed):
    page = visit(assessed)
    page.get_by_role("button", name="Confidence").click()
    assert all(re.fullmatch(r"0\.\d\d|1\.00", text) for text in column(page, 3))  # those without a word
    page.get_by_role("button", name="Confidence").click()
    numbers = [float(text.removeprefix("sure, ")) for text in column(page, 3)]
    assert numbers == sorted(numbers, reverse=True)
    assert set(column(page, 4)) <= {"0%", "50%", "100%"}


def test_clusters_are_ordered_by_stability(visit, assessed):
    page = visit(assessed)
    page.select_option("#cluster-order", "stability")
    stability = page.eval_on_selector_all("details.cluster", "rows => rows.map(x => Number(x.dataset.stability))")
    assert stability == sorted(stability)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdict_is_visible_without_scrolling(visit, assessed, scheme):
    page = visit(assessed, color_scheme=scheme, viewport={"width": 1280, "height": 800})
    badge = page.locator("#summary .badge")
    box = badge.bounding_box()
    assert box["y"] + box["height"] < 400
    assert badge.text_content() in ("Stable", "Mixed", "Do not rely")
    page.get_by_role("link", name="Can it be relied on?").click()
    assert page.evaluate("location.hash") == "#reliance"


@pytest.mark.parametrize("which", ["path", "hostile", "assessed"])
def test_page_fits_the_width_of_a_phone(visit, request, which):
    page = visit(request.getfixturevalue(which), viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach(block => block.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_tables_of_views_fit_a_small_window(visit, assessed):
    page = visit(assessed, viewport={"width": 1100, "height": 800})
    room = "box => box.clientWidth - box.scrollWidth"
    assert page.get_by_role("region", name="Views and the views that confirm them").evaluate(room) >= 0


def test_figures_fill_their_rows_on_a_phone(visit, assessed):
    page = visit(assessed, viewport={"width": 420, "height": 800})
    figures = page.locator("#summary .figures")
    tiles = figures.locator("div")
    assert tiles.count() == 5
    assert tiles.last.bounding_box()["width"] == pytest.approx(figures.bounding_box()["width"], abs=3)


def test_link_to_entities_in_no_cluster_shows_them(visit, tmp_path):
    y = np.array([-1, 0, 1] * 10)
    view_labels = {"a": np.abs(y), "b": np.zeros(30, dtype=int)}
    model = SimpleNamespace(labels_=y, view_labels_=view_labels, agreement_=cs.metrics.agreement_matrix(view_labels))
    views = cs.Views({name: np.random.default_rng(0).normal(size=(30, 3)) for name in view_labels})
    page = visit(Report(model, views, confidence=np.ones(30)).save(tmp_path / "outliers.html"))
    page.get_by_role("link", name="see them in the table").click()
    assert status(page) == "1 to 10 of 10"
    assert set(column(page, 2)) == {"no cluster"}
    assert page.locator("#find-rows u").count() == 0


def test_sections_are_visible_without_javascript(visit, path):
    page = visit(path, java_script_enabled=False)
    assert page.locator("#contested tbody tr").count() > 0
    assert page.locator("details.cluster").count() == 4
    assert page.get_by_text("The table of all entities needs JavaScript").is_visible()
    assert not page.locator("#theme").is_visible()
    assert not page.locator("#find-text").is_visible()


def test_old_browser_gets_a_message(browser, path):
    context = browser.new_context()
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(path.as_uri())
    assert "too old to show" in page.text_content("#find-trouble")
    assert page.locator("#find-trouble").is_visible()
    assert not page.locator("#find-text").is_visible()
    context.close()


def test_print_opens_everything_in_light_colors(visit, path):
    page = visit(path, color_scheme="dark")
    page.click("#cluster-open")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("details", "rows => rows.every(x => x.open)")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#cluster-filter").is_visible()
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.eval_on_selector_all("details", "rows => rows.every(x => !x.open)")


def test_controls_have_names_and_visible_focus(visit, path):
    page = visit(path)
    assert page.evaluate(
        "[...document.querySelectorAll('input, select')].every(own => own.labels.length)"
        " && [...document.querySelectorAll('button')].every(own => own.textContent || own.ariaLabel)"
    )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_table_of_100_000_entities_shows_25_rows_at_a_time(visit, tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=n)
    view_labels = {name: np.where(rng.random(n) < 0.1, rng.integers(12, size=n), y) for name in ("a", "b")}
    model = SimpleNamespace(labels_=y, view_labels_=view_labels, agreement_=cs.metrics.agreement_matrix(view_labels))
    views = cs.Views({name: rng.normal(size=(n, 3)) for name in view_labels}, ids=[f"entity {i:06d}" for i in range(n)])
    page = visit(Report(model, views, confidence=rng.random(n)).save(tmp_path / "large.html"))
    assert status(page) == "1 to 25 of 100,000"
    page.fill("#find-text", "099999")
    assert column(page, 1) == ["entity 099999"]
    assert column(page, 2) == [str(y[-1])]
    page.fill("#find-text", "")
    page.get_by_role("button", name="Confidence").click()
    assert status(page) == "1 to 25 of 100,000"
    assert len(column(page, 1)) == 25
