"""The page in a real browser, opened from disk."""

import csv
import io
import re
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.pipeline.outputs import guard
from consilience.report import Report
from consilience.report.markup import clean_text
from hostile import ENDING, IMAGE, SCRIPT, TURNED, hostile_report
from waiting import PAGE_LIMIT

pytestmark = pytest.mark.xdist_group("pages of reports")

SECOND = ["second", "second name"]
KINDS = ["knives, steel", "green tea", "lamps", "mountain bikes"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A small report with all sections."""
    views, y = cs.datasets.make_gaussian_views(300, n_clusters=4, separation=3, missing=0.2, random_state=0)
    views = cs.Views(views, ids=[f"paper-{i:03d}" for i in range(300)])
    model = cs.MultiViewKMeans(4, n_init=2, random_state=0).fit(views)
    table = cs.Table({"estimator": ["together", "alone"], "nmi": [0.9, 0.5], "seconds": [2.0, 1.0]})
    texts = [f"On {KINDS[label]}, part {i}" for i, label in enumerate(model.labels_)]
    report = Report(
        model, views, title="Papers", labels=y, comparison=table, command="consilience report x", noun="papers",
        texts={"view0": texts}, names=KINDS, confidence=np.arange(300) % 101 / 100,
    )  # fmt: skip
    return report.save(tmp_path_factory.mktemp("report") / "papers.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_report().save(tmp_path_factory.mktemp("hostile") / "hostile.html")


class Worded(cs.Assessment):
    """An assessment with a confidence per entity."""

    confidence = np.where(np.arange(300) % 4, np.arange(300) % 101 / 100, np.nan)


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


def column(page, name):
    """Return the cells of a column of the table."""
    return page.eval_on_selector_all(f"#find-rows [data-label='{name}']", "rows => rows.map(x => x.textContent)")


def status(page):
    return page.text_content("#find-count")


def choose_level(page, place):
    page.locator("#level").fill(str(place))


def list_groups(page):
    return page.eval_on_selector_all("#group-list .chip", "rows => rows.map(x => x.textContent)")


def test_search_finds_ids_texts_and_names_of_groups(visit, path):
    page = visit(path)
    assert status(page) == "1 to 25 of 300"
    page.fill("#search", "PAPER-1")
    assert status(page) == "1 to 25 of 100"
    page.fill("#search", "er-117")
    assert column(page, "Id") == ["paper-117"]
    page.fill("#search", "no such name")
    assert status(page) == "No matches."
    assert page.text_content("#hits") == "No matches."
    page.fill("#search", "tea PART 1")
    texts = column(page, "view0")
    assert texts
    assert all(text.startswith("On green tea, part 1") or "1" in text for text in texts)
    assert set(page.eval_on_selector_all("#find-rows td mark", "rows => rows.map(x => x.textContent)")) == {
        "tea", "part", "1",
    }  # fmt: skip
    assert set(column(page, "Group")) == {"green tea"}
    n_found = int(status(page).rpartition(" ")[2])
    assert page.text_content("#selected span") == f"{n_found} papers found"
    assert page.text_content("#find-title") == f"{n_found} papers found by “tea PART 1”"
    page.press("#search", "Escape")
    assert page.input_value("#search") == ""
    assert status(page) == "1 to 25 of 300"
    assert page.is_visible("#group-list")
    page.fill("#search", "lamp")
    assert page.locator("#hits li").first.text_content() == "group lamps"
    page.locator("#hits a").first.click()
    assert page.locator("article.shown h2").text_content() == "lamps"


def test_rows_of_contested_entities_show_two_lines_of_their_texts(visit, tmp_path):
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    view_labels = {f"view{v}": np.where(rng.random(60) < 0.2, (y + 1) % 3, y) for v in range(9)}
    views = cs.Views({name: rng.normal(size=(60, 2)) for name in view_labels})
    model = SimpleNamespace(labels_=y, view_labels_=view_labels)
    texts = {name: [f"{name} of item {i}: {'long story ' * 40}" for i in range(60)] for name in view_labels}
    report = Report(model, views, confidence=np.ones(60), texts=texts, names=[f"{kind}, {'x' * 40}" for kind in KINDS])
    page = visit(report.save(tmp_path / "nine.html"))
    rows = page.locator("#contested tbody tr")
    assert rows.count() > 10
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert max(rows.evaluate_all("rows => rows.map(row => row.offsetHeight)")) < 80
    title = rows.first.locator(".snippet").get_attribute("title")
    assert all(f"{name}: {name} of item" in title for name in view_labels)


def test_address_of_a_group_opens_its_page_and_chooses_the_group_of_the_table(visit, path):
    chosen = "(({value, selectedOptions: [{text}]}) => [value, text])(document.querySelector('#find-group'))"
    for level in (4, 2):
        page = visit(path)
        choose_level(page, level - 1)
        page.locator("#group-list a").first.click()
        name, option, n_found = page.text_content("article.shown h2"), page.evaluate(chosen), status(page)
        assert option[1] != "all groups"
        page = visit(page.url)
        assert page.text_content("article.shown h2") == name
        assert page.evaluate(chosen) == option
        assert status(page) == n_found != "1 to 25 of 300"
    page.get_by_role("link", name="All groups").first.click()
    assert page.is_visible("#group-list")
    page.goto(f"{path.as_uri()}#group-99")
    assert page.is_visible("#group-list")


def test_table_is_sorted_paged_and_restricted(visit, path):
    page = visit(path)
    button = page.locator("#find-head").get_by_role("button", name="Confidence")
    button.click()
    rising = [int(text.partition("%")[0]) for text in column(page, "Confidence")]
    assert rising == sorted(rising)
    assert page.locator("#find-head th", has_text="Confidence").get_attribute("aria-sort") == "ascending"
    button.click()
    falling = [int(text.partition("%")[0]) for text in column(page, "Confidence")]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] >= rising[-1]
    page.locator("#find-head").get_by_role("button", name="Id", exact=True).click()
    assert column(page, "Id")[:2] == ["paper-000", "paper-001"]
    page.click("#find-on")
    assert status(page) == "26 to 50 of 300"
    assert column(page, "Id")[0] == "paper-025"
    page.click("#find-back")
    assert page.is_disabled("#find-back")
    page.select_option("#find-group", "2")
    assert all("lamps" in text for text in column(page, "view0"))
    assert "papers in “lamps”" in page.text_content("#find-title")
    assert column(page, "Group") == []  # all the same
    page.check("#find-contested")
    assert set(column(page, "Views disagree")) == {"yes"}
    page.check("#find-views")
    assert len(column(page, "by view1")) == len(column(page, "Id"))


def test_groups_are_filtered_and_ordered(visit, path, assessed):
    page = visit(path)
    page.select_option("#group-order", "name")
    assert list_groups(page) == sorted(KINDS)
    page.fill("#group-filter", "TEA")
    assert list_groups(page) == ["green tea"]
    page.fill("#group-filter", "no such group")
    assert page.text_content("#group-list") == "No matching groups."
    page = visit(assessed)
    page.select_option("#group-order", "stability")
    titles = page.eval_on_selector_all("#group-list .quality", "rows => rows.map(x => x.title)")
    shares = [int(re.search(r"(\d+)%", title)[1]) for title in titles]
    assert len(shares) == 4
    assert shares == sorted(shares)


def test_slider_merges_groups_everywhere(visit, path):
    page = visit(path)
    page.focus("#level")
    page.keyboard.press("ArrowLeft")
    assert page.text_content("#level-value") == "3 groups"
    assert page.get_attribute("#level", "aria-valuetext") == "3 groups"
    assert "Merges of the 4 groups of the result" in page.text_content("#level-note")
    assert page.is_visible("#level-note")
    names = list_groups(page)
    assert len(names) == 3
    page.locator("#find-head").get_by_role("button", name="Group", exact=True).click()
    assert set(column(page, "Group")) <= set(names)
    assert len(page.query_selector_all("#find-group option")) == 4
    choose_level(page, 3)
    assert set(list_groups(page)) == set(KINDS)
    assert not page.is_visible("#level-note")
    choose_level(page, 0)
    assert page.text_content("#level-value") == "1 group"
    page.locator("#group-list a").click()  # there is only one
    assert page.evaluate("location.hash") == "#level-1-group-0"
    assert page.locator("#merged").text_content().count("It joins 4 groups") == 1
    assert status(page) == "1 to 25 of 300"
    page.locator("#merged li a", has_text="green tea").click()
    assert page.locator("article.shown h2").text_content() == "green tea"
    assert page.text_content("#level-value") == "4 groups"


def test_page_works_by_keyboard_and_all_controls_have_names(visit, path):
    page = visit(path)
    assert page.evaluate(
        "[...document.querySelectorAll('input, select')].every(own => own.labels.length)"
        " && [...document.querySelectorAll('button')].every(own => own.textContent || own.ariaLabel)"
    )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.locator("#group-list a", has_text="green tea").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#group-1"
    shown = page.locator("article.shown")
    assert shown.count() == 1
    assert page.evaluate("document.activeElement.textContent") == "green tea"
    for heading in ("What marks it", "Typical members", "Borderline members", "Which views support it", "Neighboring"):
        assert shown.get_by_role("heading", name=heading).is_visible()
    assert all("green tea" in text for text in column(page, "view0"))
    assert not page.is_visible("#made")
    assert page.is_visible("#map")
    page.keyboard.press("Escape")
    assert shown.count() == 0
    assert page.evaluate("document.activeElement.textContent").startswith("green tea")
    assert status(page) == "1 to 25 of 300"
    page.go_back()
    assert shown.count() == 1
    page.go_forward()
    page.wait_for_selector("#made", state="visible")
    assert shown.count() == 0
    page.locator("#group-list a").first.click()
    page.get_by_role("link", name="How it was made").click()  # a link from the page of a group leaves it
    page.wait_for_selector("#made", state="visible")
    assert shown.count() == 0
    assert page.locator("#made").bounding_box()["y"] < 200


def read_download(page, button):
    with page.expect_download() as download:
        button.click()
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")  # spreadsheets take it for UTF-8
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))), download.value.suggested_filename


def test_selections_are_exported_and_copied(visit, path):
    page = visit(path)
    rows, name = read_download(page, page.locator("#find-save"))
    assert name == "papers.csv"
    assert [row["id"] for row in rows] == [f"paper-{i:03d}" for i in range(300)]
    assert all(row["name"] == KINDS[int(row["cluster"])] for row in rows)
    assert all(KINDS[int(row["cluster"])] in row["view0"] for row in rows)
    assert list(rows[0]) == [
        "id", "cluster", "name", "confidence", "confidence in words", *SECOND, "contested", "view0",
    ]  # fmt: skip
    page.fill("#search", "tea")
    rows_with_tea, name = read_download(page, page.locator("#selected button", has_text="Download CSV"))
    assert rows_with_tea == [row for row in rows if "tea" in row["view0"]]
    assert name == f"papers-{len(rows_with_tea)}.csv"
    page.fill("#search", "paper-007")
    page.click("#find-copy")
    page.locator("#find-copy", has_text="Copied").wait_for()
    header, row, end = page.evaluate("navigator.clipboard.readText()").split("\r\n")
    assert header.split("\t")[:3] == ["id", "cluster", "name"]
    assert row.split("\t")[0] == "paper-007"
    assert end == ""
    page.fill("#search", "")
    page.locator("#group-list a", has_text="lamps").click()
    assert read_download(page, page.locator("#find-save"))[0] == [row for row in rows if row["name"] == "lamps"]
    page.keyboard.press("Escape")
    choose_level(page, 1)
    merged, _ = read_download(page, page.locator("#find-save"))
    assert {row["group of 2"] for row in merged} == {"0", "1"}
    assert len({row["name of 2"] for row in merged}) == 2
    assert [row["name"] for row in merged] == [row["name"] for row in rows]


def test_exported_columns_have_unique_names_and_guarded_formulas(visit, tmp_path):
    cells = [
        "=1+1", "+5", "-5.5", "-1e3", "+.5", "-5.", "-1_000", "-1__0", "@sum", "-inf", "+nan", "-Infinity", "-٣", "＝1",
        "－5", "+1 2", "- 1", "-", "+", "a=b", 'quo"te', "com,ma", "plain", "-0x1f", "+1e", "=", "'=1", "+５",
        "-.", "-5,5",
    ]  # fmt: skip
    n = len(cells)
    y = np.arange(n) % 2
    columns = [
        OriginalColumn("name", np.array(["Ann", "Bob"] * (n // 2), dtype=object), "category"),
        OriginalColumn("cluster", np.where(y == 0, 12.5, -3.0), "number", "$"),
        OriginalColumn("listed", np.where(np.arange(n) == 3, np.nan, 20000.0 + y), "date"),
        OriginalColumn("empty", np.full(n, np.nan), "number"),
    ]
    views = cs.Views({"a": np.random.default_rng(0).normal(size=(n, 2))}, ids=cells)
    model = SimpleNamespace(labels_=y, view_labels_={"a": y})
    report = Report(model, views, confidence=np.ones(n), names=["=cmd", "-two"], columns=columns)
    page = visit(report.save(tmp_path / "cells.html"))
    rows, _ = read_download(page, page.locator("#find-save"))
    assert [row["id"] for row in rows] == [guard(cell) for cell in cells]
    assert [row["cluster_2"] for row in rows] == [str(label) for label in y]
    assert [row["name_2"] for row in rows] == ["'=cmd", "'-two"] * (n // 2)
    assert [row["name"] for row in rows] == ["Ann", "Bob"] * (n // 2)
    assert [row["cluster"] for row in rows] == ["12.5", "-3"] * (n // 2)
    assert [row["listed"] for row in rows[:4]] == ["2024-10-04", "2024-10-05", "2024-10-04", ""]
    assert "empty" not in rows[0]
    page.locator("#find-head button", has_text="cluster ($)").click()
    assert page.locator("#find-rows tr").first.locator("th").inner_text() == "+5"
    assert "−3" in page.locator("#find-rows tr").first.inner_text()


def test_notebook_frame_opens_groups_within_the_frame(visit, tmp_path):
    views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=5, random_state=0)
    model = cs.MultiViewKMeans(3, n_init=1, random_state=0).fit(views)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(
        f"<!doctype html><html data-ready><body>{Report(model, views)._repr_html_()}</body></html>", "utf-8"
    )
    page = visit(notebook)
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    frame.locator("#group-list a").first.click()
    assert frame.locator("article.shown h2").is_visible()
    assert page.evaluate("location.hash") == ""


def test_theme_follows_the_system_until_chosen(visit, path):
    grounds = {"light": "rgb(251, 251, 250)", "dark": "rgb(20, 23, 26)"}
    for scheme, other, name in (("light", "dark", "Dark colors"), ("dark", "light", "Light colors")):
        page = visit(path, scheme=scheme)
        for shown in (scheme, other, scheme):
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == grounds[shown]
            page.get_by_role("button", name=name if shown == scheme else f"{scheme.title()} colors").click()


def test_view_maps_name_the_entity_under_the_pointer(visit, path):
    page = visit(path)
    inked = "x => new Set(x.getContext('2d').getImageData(0, 0, x.width, x.height).data).size"
    assert page.eval_on_selector("#view-map-0", inked) > 20
    page.locator("#view-map-0").scroll_into_view_if_needed()
    place = page.evaluate(
        "[...Array(300).keys()].map(i => document.getElementById('view-map-0').places(i)).find(Boolean)"
    )
    page.hover("#view-map-0", position={"x": place[0], "y": place[1]})
    hover = page.text_content(".map .hover:not([hidden])")
    assert hover.startswith("paper-")
    assert any(name in hover for name in KINDS)
    before = page.eval_on_selector("#view-map-0", "x => x.toDataURL()")
    page.select_option("#find-group", "1")
    assert page.eval_on_selector("#view-map-0", "x => x.toDataURL()") != before


def test_hostile_names_run_no_code(visit, hostile):
    page = visit(hostile)
    for text in (SCRIPT, IMAGE, ENDING, TURNED):
        page.fill("#search", text)
        assert all(
            text.split()[0].lower() in line.lower()
            for line in page.eval_on_selector_all("#find-rows tr", "rows => rows.map(x => x.textContent)")
        )
        assert column(page, "Id")
    page.fill("#search", "")
    page.locator("#find-head").get_by_role("button", name="Id", exact=True).click()
    for group in range(3):
        page.evaluate(f"location.hash = '#group-{group}'")
        page.wait_for_selector(f"#group-{group}.shown")
    page.evaluate("location.hash = '#overview'")
    page.wait_for_selector("#made", state="visible")
    read_download(page, page.locator("#find-save"))
    page.locator("#view-map-0").scroll_into_view_if_needed()
    page.evaluate(
        """() => { const canvas = document.getElementById('view-map-0'); for (let i = 0; i < 90; i++) {
        const [x, y] = canvas.places(i); const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + x, clientY: box.y + y})); } }"""
    )
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img, script script").count() == 0
    assert SCRIPT in page.inner_text("body")
    assert page.title() == clean_text(ENDING + TURNED)


def test_first_screen_has_title_verdict_groups_and_map(visit, assessed):
    page = visit(assessed, width=1280, height=800)
    assert page.locator("#overview .badge").text_content() in ("Stable", "Mixed", "Do not rely")
    for part in ("#overview h1", ".verdict", "#search", "#level", "#group-list", "#map-points"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800, part
    assert page.locator("#map-points").bounding_box()["height"] > 250
    page.get_by_role("link", name="Why?").click()
    assert page.evaluate("location.hash") == "#reliance"
    page.set_viewport_size({"width": 1100, "height": 800})
    room = "box => box.clientWidth - box.scrollWidth"
    assert page.get_by_role("region", name="Views and the views that confirm them").evaluate(room) >= 0
    button = page.locator("#find-head").get_by_role("button", name="Confidence")
    button.click()
    assert set(column(page, "Confidence")) == {"–"}
    button.click()
    numbers = [int(text.partition("%")[0]) for text in column(page, "Confidence")]
    assert numbers == sorted(numbers, reverse=True)
    assert set(column(page, "Stability")) <= {"0%", "50%", "100%"}


def test_page_fits_the_width_of_a_phone(visit, path, hostile, assessed):
    for which in (path, hostile, assessed):
        page = visit(which, width=360, height=740)
        page.evaluate("document.querySelectorAll('details').forEach(block => block.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, which.name


def test_link_to_entities_in_no_cluster_shows_them(visit, tmp_path):
    y = np.array([-1, 0, 1] * 10)
    view_labels = {"a": np.abs(y), "b": np.zeros(30, dtype=int)}
    model = SimpleNamespace(labels_=y, view_labels_=view_labels)
    views = cs.Views({name: np.random.default_rng(0).normal(size=(30, 3)) for name in view_labels})
    page = visit(Report(model, views, confidence=np.ones(30)).save(tmp_path / "outliers.html"))
    page.get_by_role("link", name="see them in the table").click()
    assert status(page) == "1 to 10 of 10"
    assert page.text_content("#find-title") == "10 items in no group"
    page.check("#find-views")
    assert page.locator("#find-rows u").count() == 0


def test_sections_are_visible_without_javascript(visit, path):
    page = visit(path, java_script_enabled=False)
    assert page.locator("#contested tbody tr").count() > 0
    assert page.locator("article.group h2:visible").count() == 4
    assert page.locator("#group-list li").count() == 4
    assert page.get_by_text("The search and the table of all items need JavaScript").is_visible()
    assert not page.locator("#theme").is_visible()
    assert not page.locator("#search").is_visible()
    assert not page.locator("#map-frame").is_visible()


def test_old_browser_gets_a_message(browser, path):
    context = browser.new_context()
    context.set_default_timeout(PAGE_LIMIT)
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(path.as_uri())
    assert "too old for the search" in page.text_content("#find-trouble")
    assert page.locator("#find-trouble").is_visible()
    assert not page.locator("#search").is_visible()
    assert page.locator("#group-list li").count() == 4
    context.close()


def test_print_shows_all_groups_in_light_colors(visit, path):
    page = visit(path, scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("details", "rows => rows.every(x => x.open)")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("article.group h2:visible").count() == 4
    for part in ("#group-filter", "#search", "#find", "nav >> nth=0"):
        assert not page.locator(part).is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("article.group h2:visible").count() == 0


def test_table_of_many_entities_shows_25_rows_at_a_time(visit, tmp_path):
    n = 30_000  # so many that searching waits for the next key
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=n)
    view_labels = {name: np.where(rng.random(n) < 0.1, rng.integers(12, size=n), y) for name in ("a", "b")}
    model = SimpleNamespace(labels_=y, view_labels_=view_labels)
    views = cs.Views({name: rng.normal(size=(n, 3)) for name in view_labels}, ids=[f"entity {i:06d}" for i in range(n)])
    merges = [[11 + i if i else 0, i + 1] for i in range(11)]
    report = Report(
        model, views, confidence=rng.random(n), layout=views["a"][:, :2], names=[f"kind {c}" for c in range(12)],
        hierarchy=cs.explain.Hierarchy(np.arange(12), np.array(merges), np.arange(11.0)),
    )  # fmt: skip
    page = visit(report.save(tmp_path / "large.html"))
    assert status(page) == "1 to 25 of 30,000"
    page.fill("#search", "entity 029999")
    page.locator("#find-count", has_text="1 to 1 of 1").wait_for()
    assert column(page, "Id") == ["entity 029999"]
    assert column(page, "Group") == [f"kind {y[-1]}"]
    page.fill("#search", "")
    page.locator("#find-count", has_text="1 to 25 of 30,000").wait_for()
    page.locator("#find-head").get_by_role("button", name="Confidence").click()
    assert status(page) == "1 to 25 of 30,000"
    assert len(column(page, "Id")) == 25
