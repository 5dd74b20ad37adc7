"""The page of the workbench in a real browser."""

import json
import re
import threading

import numpy as np
import pytest

import consilience as cs
from consilience.assessment.reference import choose_words
from consilience.workbench.clustering import Reclustering
from consilience.workbench.decisions import FILE_NAME
from consilience.workbench.describe import estimate_confidence
from consilience.workbench.serve import RunningWorkbench
from consilience.workbench.workbench import Workbench
from hostile import ALL, ENDING, IMAGE, SCRIPT
from page_runs import IDS, NARROW, N, cluster_things, write_things
from waiting import HANG_LIMIT, wait_until

pytestmark = pytest.mark.xdist_group("pages of the workbench")

MAPS = ("#map-joint", "[data-view-map='first']", "[data-view-map='second']", "[data-view-map='words']")
VIEWS = ["first", "second", "words"]
CLEAR_ROW, OTHER_ROW, LACKING_ROW = 0, 1, 5  # of another group each; the last lacks the second view
COLORS_AROUND = """(canvas, [x, y, reach]) => {
    const ratio = canvas.width / canvas.clientWidth;
    const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const box = [x - reach, y - reach, 2 * reach, 2 * reach];
    const { data } = pen.getImageData(...box.map((value) => Math.round(value * ratio)));
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 128) colors.add(data.slice(i, i + 3).join());
    return [...colors];
}"""  # fmt: skip
AFTER_PAINTING = """async () => {
    for (let k = 0; k < 3; k++) await new Promise((resolve) => requestAnimationFrame(resolve));
}"""
NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, canvas, img, progress, [role]")]
    .filter((element) => element.checkVisibility() && !element.closest("[hidden], [aria-hidden=true]"))
    .filter((element) => {
        const labels = [...(element.labels || [])].map((label) => label.textContent);
        const ids = (element.getAttribute("aria-labelledby") || "").split(" ");
        const by = ids.map((id) => document.getElementById(id)?.textContent);
        const text = element.matches("input, select, canvas, progress") ? "" : element.textContent;
        const names = [text, element.ariaLabel, element.alt, ...labels, ...by];
        return !names.some((name) => name?.trim()) && element.alt !== "" && element.role !== "status";
    })
    .map((element) => element.outerHTML.slice(0, 120))"""
SCROLLS_SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll("body *")]
    .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
    .filter((element) => ["auto", "scroll", "visible"].includes(getComputedStyle(element).overflowX))
    .filter((element) => element.id !== "map-grid" && !element.matches("option, .unseen, .unseen *, bdi, i"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 || element === document.documentElement)
    .map((element) => element.outerHTML.slice(0, 120))"""


# what a person does


def locate(page, row, where="#map-joint"):
    """Return where an item is on a map, or None."""
    return page.locator(f"{where} .wb-points").evaluate(f"canvas => canvas.placeOf({row})")


def locate_all(page, where="#map-joint"):
    """Return where all items are on a map; those that lack its view are far away."""
    places = page.locator(f"{where} .wb-points").evaluate(
        f"canvas => Array.from({{ length: {N} }}, (_, row) => canvas.placeOf(row))"
    )
    return np.array([place or [-1e6, -1e6 * row] for row, place in enumerate(places)])


def find_isolated(page, where):
    """Return the item of a map that is farthest from all others."""
    places = locate_all(page, where)
    distances = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(N, np.inf))
    return int(np.where(places[:, 0] >= 0, distances.min(axis=1), 0).argmax())


def click_row(page, row, where="#map-joint", **options):
    """Click an item on a map, after it was painted in its present size."""
    page.evaluate(AFTER_PAINTING)
    x, y = locate(page, row, where)
    page.locator(f"{where} .wb-points").click(position={"x": x, "y": y}, **options)


def select_rows(page, *rows):
    """Select items on the joint map."""
    for k, row in enumerate(rows):
        click_row(page, row, modifiers=["Control"] if k else [])


def read_number(page):
    """Return the number of the clustering that the maps show."""
    return page.get_attribute("html", "data-clustering")


class Following:
    """Waits, at its end, until the maps show a new clustering."""

    def __init__(self, page):
        self.page = page

    def __enter__(self):
        self.before = read_number(self.page)

    def __exit__(self, kind, *_):
        if kind is None:
            self.page.wait_for_selector(f"html[data-clustering]:not([data-clustering='{self.before}'])")


def write_number(n):
    return "1 item" if n == 1 else f"{n} things"


def open_group(page, name):
    """Open the page of a group."""
    page.locator(".wb-groups button", has_text=name).click()
    page.wait_for_selector("#group-back")


def read_last(workbench):
    """Return the last entry of the log without number, time and checksum."""
    entry = json.loads((workbench.folder / FILE_NAME).read_bytes().splitlines()[-1])
    return {name: value for name, value in entry.items() if name not in ("number", "time", "check")}


def read_groups(page):
    """Return names and sizes of the groups in the list."""
    names = page.locator(".wb-groups bdi").all_text_contents()
    sizes = page.locator(".wb-groups .size").all_text_contents()
    return dict(zip(names, map(int, sizes), strict=True))


def answer(page, key):
    """Answer a question by a key; return its pair and wait for the next question, or for the end."""
    pair = page.get_attribute("#question", "data-pair")
    page.keyboard.press(key)
    page.wait_for_selector(f"#question[data-pair]:not([data-pair='{pair}']), #question[aria-busy=false] > .wb-empty")
    return [int(row) for row in pair.split("-")]


def open_questions(page):
    page.click("#open-questions")
    page.wait_for_selector("#question[data-pair]")
    page.wait_for_selector("#question-gain")


# seeing


def test_first_screen_shows_groups_maps_and_counts(page, workbench):
    assert page.inner_text("#title") == "80 things in 4 groups"
    assert "NMI with known classes 1.000" in page.inner_text("#counts")
    assert read_groups(page) == dict.fromkeys(workbench.snapshot.names.values(), 20)
    assert page.locator(".wb-map b").all_text_contents() == ["All views together", "first", "second", "words"]
    assert page.locator(".wb-map small").all_text_contents() == ["71 of 80"]
    for where in MAPS:
        x, y = locate(page, CLEAR_ROW, where)
        assert page.locator(f"{where} .wb-points").evaluate(COLORS_AROUND, [x, y, 3])
    assert page.evaluate("document.createElement('canvas').getContext('webgl')") is None  # it is not needed


def test_click_selects_item_in_all_maps_and_shows_its_panel(page):
    rings = page.locator(".wb-marks")
    for where in MAPS:
        row = find_isolated(page, where)
        places = [locate(page, row, name) for name in MAPS]

        def read_rings(places=places):
            """Return the colors around the item on each map that has nothing but rings."""
            return [rings.nth(k).evaluate(COLORS_AROUND, [*places[k], 9]) for k in (1, 2, 3) if places[k]]

        assert not any(read_rings())
        click_row(page, row, where)
        page.wait_for_selector(f"#item h2:text-is('{IDS[row]}')")
        assert all(read_rings()), f"an item clicked in {where} is not marked in all maps"
        assert page.inner_text("#selection-text") == IDS[row]
        blocks = page.locator("#item [data-view]")
        assert blocks.evaluate_all("blocks => blocks.map((block) => block.dataset.view)") == VIEWS
        page.keyboard.press("Escape")
        assert not any(read_rings())
    assert locate(page, LACKING_ROW, MAPS[2]) is None
    click_row(page, LACKING_ROW)
    page.wait_for_selector(f"#item h2:text-is('{IDS[LACKING_ROW]}')")
    assert page.inner_text("#item [data-view='second'] summary").split("\n")[-1] == "lacks this view"


def test_ctrl_click_adds_and_removes_items(page):
    select_rows(page, 0, 1, 2)
    assert page.inner_text("#selection-text") == "3 things selected"
    assert page.locator("#item .wb-items b").all_text_contents() == [IDS[0], IDS[1], IDS[2]]
    assert page.inner_text("#action-apart") == "Keep all apart"
    click_row(page, 1, modifiers=["Control"])
    assert page.locator("#item .wb-items b").all_text_contents() == [IDS[0], IDS[2]]
    assert page.inner_text("#action-apart") == "Keep apart"
    page.locator("#map-joint .wb-points").click(position={"x": 3, "y": 3})
    assert page.inner_text("#selection-text") == "Nothing selected"


def test_lasso_selects_the_enclosed_items(page):
    where = MAPS[1]
    canvas = page.locator(f"{where} .wb-points")
    places = locate_all(page, where)
    box = canvas.bounding_box()
    middle = np.median(places[:, 0])
    corners = [(1, 1), (middle, 1), (middle, box["height"] - 1), (1, box["height"] - 1), (1, 1)]
    for how in ("shift", "button"):
        if how == "shift":
            page.keyboard.down("Shift")
        else:
            page.click("#lasso")
            assert page.get_attribute("#lasso", "aria-pressed") == "true"
        page.mouse.move(box["x"] + 1, box["y"] + 1)
        page.mouse.down()
        for x, y in corners:
            page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
        page.mouse.up()
        page.keyboard.up("Shift")
        expected = np.flatnonzero(places[:, 0] < middle - 0.5)
        selected = page.evaluate("import('/store.js').then((store) => [...store.page.selection])")
        assert set(expected) <= set(selected) <= set(np.flatnonzero(places[:, 0] < middle + 0.5))
        assert page.get_attribute("#lasso", "aria-pressed") == "false"
        page.keyboard.press("Escape")
        assert page.inner_text("#selection-text") == "Nothing selected"


def test_hover_shows_card_and_a_ring_on_all_maps(page):
    page.locator("#map-joint .wb-points").hover(position=dict(zip("xy", locate(page, CLEAR_ROW), strict=True)))
    page.wait_for_selector("#card:not([hidden])")
    assert IDS[CLEAR_ROW] in page.inner_text("#card")
    assert page.locator(".wb-ring:not([hidden])").count() == 4
    page.hover("#title")
    page.wait_for_selector("#card", state="hidden")
    assert page.locator(".wb-ring:not([hidden])").count() == 0


def test_search_finds_ids_and_words(page):
    for text, n_hits in (("steel", 20), ("THING-07", 1), ("steel sharp", 20), ("nowhere", 0)):
        page.fill("#search", text)
        start = write_number(n_hits) if n_hits else "No item matches."
        page.wait_for_selector(f".wb-hits-head:has-text('{start}')")
        assert page.locator("#hits .wb-items button").count() == n_hits
        if n_hits:
            page.click("#select-hits")
            assert page.evaluate("import('/store.js').then((store) => store.page.selection.size)") == n_hits
        page.focus("#search")
        page.keyboard.press("Escape")
        page.wait_for_selector("#hits", state="hidden")
        assert page.is_visible("#groups")
        page.click("#title")
        page.keyboard.press("Escape")


def test_filters_light_the_items_that_they_name(page, workbench):
    with Following(page):
        select_rows(page, CLEAR_ROW)
        page.click("#action-outlier")
    page.keyboard.press("Escape")
    clustering = workbench.snapshot.clustering
    masks = {
        "contested": clustering.is_contested,
        "low": estimate_confidence(workbench.opened, clustering) < 0.7,  # doubtful, or a guess
        "changed": np.isin(np.arange(N), workbench.snapshot.moved),
        "outliers": clustering.labels < 0,
        "lacks:1": ~workbench.opened.data.views.present[:, 1],
    }
    for name, mask in masks.items():
        page.select_option("#filter", name)
        assert mask.any() or name == "low", name  # all items are sure or likely
        lit = page.evaluate("import('/store.js').then((store) => [...store.isLit])")
        np.testing.assert_array_equal(lit, mask, name)
        assert page.inner_text("#filter-note") == write_number(mask.sum())
    page.select_option("#filter", "all")
    assert page.evaluate("import('/store.js').then((store) => store.nLit)") == N


def test_group_page_shows_its_members_marks_and_confidence(page, workbench):
    number = workbench.describe_item(CLEAR_ROW)["confidence"]
    click_row(page, CLEAR_ROW)
    page.wait_for_selector(f"#item .wb-facts dd:text-is('{number:.0%}, {choose_words(np.array(number))}')")
    open_group(page, "steel")
    mean = next(group for group in workbench.snapshot.groups if "steel" in group["name"])["confidence"]
    assert f"mean confidence {mean:.0%}" in page.inner_text("#group-page")
    headings = page.locator("#group-page h3").all_text_contents()
    assert headings[:2] == ["What marks this group", "Typical members"]
    assert page.locator("#group-page .wb-items button").count() >= 6
    page.click("#group-select")
    assert page.inner_text("#selection-text") == "20 things selected"
    lit = page.evaluate("import('/store.js').then((store) => [...store.isLit])")
    number = next(number for number, name in workbench.snapshot.names.items() if "steel" in name)
    np.testing.assert_array_equal(lit, workbench.snapshot.clustering.labels == number)
    page.click("#group-back")
    assert page.is_visible("#groups")


def test_click_on_name_in_map_opens_group(page, workbench):
    canvas = page.locator("#map-joint .wb-points")
    size = canvas.bounding_box()
    for y in range(10, int(size["height"]), 8):  # names stand beside the points
        page.mouse.move(size["x"] + 0.16 * size["width"], size["y"] + y)
        if "wb-over" in canvas.get_attribute("class") and page.is_hidden("#card"):
            break
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector("#group-back")
    assert page.locator(".wb-group-title").inner_text() in workbench.snapshot.names.values()


def test_colors_follow_the_chosen_value(page):
    def read():
        return page.locator(f"{MAPS[1]} .wb-points").evaluate("canvas => canvas.toDataURL()")

    pictures = [read()]
    for color in ("confidence", "contested", "view", "classes"):
        page.select_option("#color", color)
        wait_until(lambda: read() != pictures[-1])
        pictures.append(read())
        assert page.inner_text("#legend")
    assert len(set(pictures)) == 5


def test_colors_of_the_chosen_theme_stay_after_a_reload(visit, served, workbench):
    page = visit(served.address, storage_state=served.state)

    def read_ground():
        return page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")

    x, y = locate(page, CLEAR_ROW)
    light, points = read_ground(), page.locator("#map-joint .wb-points").evaluate(COLORS_AROUND, [x, y, 2])
    page.click("#theme")
    assert page.inner_text("#theme") == "Light"
    dark = read_ground()
    assert dark != light
    wait_until(lambda: page.locator("#map-joint .wb-points").evaluate(COLORS_AROUND, [x, y, 2]) != points)
    page.reload()
    page.wait_for_selector("html[data-clustering]")
    assert read_ground() == dark


# deciding


def test_pair_that_belongs_together_gets_one_group_and_is_undone_by_buttons_and_keys(page, workbench):
    select_rows(page, CLEAR_ROW, OTHER_ROW)
    with Following(page):
        page.click("#action-together")
    assert read_last(workbench) == {"action": "together", "items": [IDS[CLEAR_ROW], IDS[OTHER_ROW]]}
    together, apart = [19, 20, 20, 21], [20, 20, 20, 20]
    assert sorted(read_groups(page).values()) == together
    assert "1 item changed its group" in page.inner_text("#changes")
    page.click("#show-changed")
    assert page.evaluate("import('/store.js').then((store) => store.nLit)") == 1
    undo, redo = lambda: page.click("#undo"), lambda: page.click("#redo")
    undo_key, redo_key = lambda: page.keyboard.press("Control+z"), lambda: page.keyboard.press("Control+Shift+z")
    for act, sizes in ((undo, apart), (redo, together), (undo_key, apart), (redo_key, together)):
        with Following(page):
            act()
        assert sorted(read_groups(page).values()) == sizes
    page.click("#tab-decisions")
    entry = page.locator("[data-decision]").first
    assert "belong together" in entry.inner_text()
    assert "satisfied" in entry.inner_text()
    with Following(page):
        page.locator("[data-decision] [data-do=undo]").first.click()
    assert sorted(read_groups(page).values()) == apart
    assert "undone" in entry.inner_text()


def test_items_are_kept_out_of_a_group_and_apart(page, workbench):
    number = int(workbench.snapshot.clustering.labels[CLEAR_ROW])
    click_row(page, CLEAR_ROW)
    page.click("#action-not-with")
    with Following(page):
        page.click(f"[data-choice='{number}']")
    entry = read_last(workbench)
    assert (entry["action"], entry["items"]) == ("apart", [IDS[CLEAR_ROW]])
    assert entry["others"]
    assert workbench.snapshot.clustering.labels[CLEAR_ROW] != number
    page.keyboard.press("Escape")
    select_rows(page, 1, 13)
    with Following(page):
        page.click("#action-apart")
    assert read_last(workbench) == {"action": "apart", "items": [IDS[1], IDS[13]]}
    labels = workbench.snapshot.clustering.labels
    assert labels[1] != labels[13]
    shown = page.evaluate("import('/store.js').then((store) => [...store.clustering.labels])")
    np.testing.assert_array_equal(shown, labels)


def test_selection_becomes_a_group_with_a_name(page, workbench):
    select_rows(page, 0, 4, 8, 12)
    page.click("#action-split")
    page.fill("[data-dialog=text]", "four of them")
    with Following(page):
        page.keyboard.press("Enter")
    entry = read_last(workbench)
    assert (entry["action"], entry["name"]) == ("split", "four of them")
    assert len(read_groups(page)) == 5
    assert read_groups(page)["four of them"] >= 4
    assert page.locator(".wb-groups .wb-new").count() == 1
    page.keyboard.press("Escape")
    click_row(page, OTHER_ROW)
    page.click("#action-split")
    page.fill("[data-dialog=text]", "only one")
    with Following(page):
        page.click("[data-dialog=confirm]")
    size = read_groups(page)["only one"]
    open_group(page, "only one")
    assert page.is_disabled("#group-together") == (size == 1)
    assert page.is_enabled("#group-merge")
    page.click("#group-back")
    open_group(page, "steel")
    assert page.is_enabled("#group-together")


def test_outlier_is_in_no_group_and_misleading_view_is_ignored_for_the_selection(page, workbench):
    click_row(page, CLEAR_ROW)
    with Following(page):
        page.click("#action-outlier")
    assert read_last(workbench) == {"action": "outlier", "items": [IDS[CLEAR_ROW]]}
    assert page.inner_text("#groups > .wb-note") == "1 item in no group"
    assert "no group" in page.inner_text("#item .wb-facts")
    select_rows(page, 1, 2)
    page.click("#action-distrust")
    with Following(page):
        page.click("[data-choice='words']")
    assert read_last(workbench) == {"action": "distrust", "view": "words", "items": [IDS[1], IDS[2]]}
    click_row(page, 1)
    page.wait_for_selector("#item [data-view='words'] .wb-new")


def test_renamed_group_has_its_name_everywhere(page, workbench, visit):
    visit.expected.add(400)
    open_group(page, "steel")
    page.click("#group-rename")
    page.fill("[data-dialog=text]", next(name for name in workbench.snapshot.names.values() if "fruit" in name))
    page.keyboard.press("Enter")
    page.wait_for_selector("#message:has-text('choose another name')")
    page.click("#message button")
    assert page.is_hidden("#message")
    page.click("#group-rename")
    page.fill("[data-dialog=text]", "knives")
    page.click("[data-dialog=confirm]")
    page.wait_for_selector(".wb-group-title:has-text('knives')")
    assert read_last(workbench)["name"] == "knives"
    page.click("#group-back")
    assert read_groups(page)["knives"] == 20
    click_row(page, 1)
    page.wait_for_selector("#item .wb-facts:has-text('knives')")
    page.locator("#item [data-view='words'] summary").click()
    page.evaluate(AFTER_PAINTING)
    before = page.locator("#map-joint .wb-points").evaluate("canvas => canvas.toDataURL()")
    number, group = read_number(page), int(workbench.snapshot.clustering.labels[1])
    workbench.decide({"action": "rename", "groups": [group], "name": "blades"})
    for place in ("#item .wb-facts", "#groups"):
        page.wait_for_selector(f"{place} [data-named='{group}']:has-text('blades')")
    assert page.locator("#item [data-view='words']").get_attribute("open") is not None
    assert page.locator("#map-joint .wb-points").evaluate("canvas => canvas.toDataURL()") == before
    assert read_number(page) == number


def test_decisions_about_whole_groups(page, workbench):
    open_group(page, "steel")
    with Following(page):
        page.click("#group-together")
    entry = read_last(workbench)
    assert (entry["action"], len(entry["items"])) == ("together", 20)
    page.click("#group-apart")
    with Following(page):
        page.locator("[data-choice]").first.click()
    entry = read_last(workbench)
    assert (entry["action"], len(entry["items"]), len(entry["others"])) == ("apart", 3, 3)
    page.click("#group-distrust")
    with Following(page):
        page.click("[data-choice='second']")
    entry = read_last(workbench)
    assert (entry["action"], entry["view"], len(entry["items"])) == ("distrust", "second", 20)
    n_entries = len(workbench.log.entries)
    page.click("#group-outlier")
    page.click("[data-dialog=cancel]")
    page.click("#group-outlier")
    with Following(page):
        page.click("[data-dialog=confirm]")
    assert len(workbench.log.entries) == n_entries + 1
    assert len(read_last(workbench)["items"]) == 20
    page.wait_for_selector("#groups > .wb-note")
    assert len(read_groups(page)) == 3


def test_contradiction_is_explained_and_the_person_chooses(page, workbench, visit):
    visit.expected.add(409)
    select_rows(page, 0, 4)
    with Following(page):
        page.click("#action-together")
    number = len(workbench.log.entries)
    page.click("#action-apart")
    page.wait_for_selector("dialog[open]")
    assert "contradicts what was decided before" in page.inner_text("dialog")
    assert f"Decision {number}: “{IDS[0]}” and “{IDS[4]}” belong together." in page.inner_text("dialog fieldset")
    assert page.locator("dialog [type=radio]").count() == 0
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert len(workbench.log.entries) == number
    page.click("#action-apart")
    with Following(page):
        page.click("[data-dialog=confirm]")
    assert read_last(workbench)["replaces"] == [number]
    labels = workbench.snapshot.clustering.labels
    assert labels[0] != labels[4]
    page.click("#tab-decisions")
    assert f"replaced by {number + 1}" in page.inner_text(f"[data-decision='{number}']")


def test_person_chooses_which_decision_of_a_chain_is_withdrawn(page, workbench, visit):
    visit.expected.add(409)
    with Following(page):
        first = workbench.decide({"action": "together", "rows": [0, 4]})["number"]
    with Following(page):
        second = workbench.decide({"action": "together", "rows": [4, 8]})["number"]
    select_rows(page, 0, 8)
    page.click("#action-apart")
    page.wait_for_selector("dialog[open]")
    radios = page.locator("dialog [type=radio]")
    assert radios.evaluate_all("inputs => inputs.map((input) => Number(input.value))") == [first, second]
    assert page.locator("dialog [type=radio]:checked").get_attribute("value") == str(second)
    assert page.evaluate(NAMELESS) == []
    page.locator("dialog label", has_text=f"Decision {first}:").click()
    with Following(page):
        page.click("[data-dialog=confirm]")
    entry = read_last(workbench)
    assert (entry["items"], entry["replaces"]) == ([IDS[0], IDS[8]], [first])
    assert page.evaluate("document.activeElement.id") == "action-apart"


def test_dialog_is_shown_again_if_the_withdrawals_do_not_suffice(page, workbench, visit):
    visit.expected.add(409)
    bodies = []

    def refuse(route):
        bodies.append(route.request.post_data_json)
        choices = [[{"number": 3, "sentence": "three."}, {"number": 5, "sentence": "five."}]]
        choices += [[{"number": 0, "sentence": "A constraint of the run: x."}]] if len(bodies) > 1 else []
        contradiction = {"sentence": "It contradicts.", "choices": choices}
        contradiction["replaced"] = [5] if len(bodies) == 1 else [0, 3]
        if len(bodies) < 3:
            route.fulfill(status=409, json={"error": "It contradicts.", "contradiction": contradiction})
        else:
            route.fulfill(json={"number": 9})

    page.route("**/api/decide", refuse)
    select_rows(page, 0, 4)
    page.click("#action-together")
    page.check("dialog [value='3']")
    page.click("[data-dialog=confirm]")
    page.wait_for_selector("dialog:has-text('A constraint of the run: x.')")
    assert page.is_checked("dialog [value='3']")
    page.click("[data-dialog=confirm]")
    page.wait_for_selector("dialog", state="detached")
    wait_until(lambda: len(bodies) == 3)
    decision = {"action": "together", "rows": [0, 4]}
    assert bodies == [
        decision,
        {**decision, "resolve": "newer", "withdraw": [3]},
        {**decision, "resolve": "newer", "withdraw": [3, 0]},
    ]


def test_decision_about_groups_that_have_changed_is_refused(page, workbench, visit):
    visit.expected.add(409)
    open_group(page, "steel")
    page.click("#group-merge")
    page.wait_for_selector("[data-choice]")
    n_entries = len(workbench.log.entries)
    with Following(page):
        workbench.decide({"action": "together", "rows": [CLEAR_ROW, OTHER_ROW]})
    page.locator("[data-choice]").first.click()
    page.wait_for_selector("#message:has-text('groups')")
    assert len(workbench.log.entries) == n_entries + 1
    assert page.locator("dialog").count() == 0
    page.click("#group-merge")
    other = page.locator("[data-choice]").first.get_attribute("data-choice")
    with Following(page):
        page.click(f"[data-choice='{other}']")
    entry = read_last(workbench)
    assert entry["action"] == "merge"
    assert int(other) in entry["groups"]
    assert page.is_hidden("#message")
    page.keyboard.press("Escape")
    assert len(read_groups(page)) == 3


def test_reach_of_a_decision_about_two_items_is_shown_and_goes_back(page, workbench):
    def read_picture():
        return page.locator("#map-joint .wb-points").evaluate("canvas => canvas.toDataURL()")

    workbench.decide({"action": "together", "rows": [1, 5, 9]})
    workbench.decide({"action": "split", "rows": [2, 6]})
    number = workbench.decide({"action": "together", "rows": [0, 4]})["number"]
    workbench.wait_until_ready(HANG_LIMIT)
    wait_until(lambda: read_number(page) == str(workbench.snapshot.number))
    page.click("#tab-decisions")
    page.wait_for_selector(f"[data-decision='{number}'] [data-do=reach]")
    assert page.locator("[data-do=reach]").count() == 1
    before = read_picture()
    page.click("[data-do=reach]")
    page.wait_for_selector("#propagation:not([hidden])")
    reach = workbench.describe_propagation(number)
    notes = page.locator(".wb-map-note").all_text_contents()
    assert notes == [reach["joint"]["sentence"], *(view["sentence"] for view in reach["views"])]
    assert page.is_hidden("#changes")
    page.click("#propagation-back")
    page.wait_for_selector("#propagation", state="hidden")
    wait_until(lambda: read_picture() == before)
    assert page.locator(".wb-map-note").first.is_hidden()


def test_export_is_a_file_of_constraints(page, workbench):
    workbench.decide({"action": "together", "rows": [0, 1]})
    workbench.decide({"action": "apart", "rows": [2, 6]})
    page.click("#tab-decisions")
    with page.expect_download() as download:
        page.click("#export")
    assert download.value.suggested_filename == "constraints.csv"
    rows = download.value.path().read_text("utf-8").splitlines()
    assert rows[1:] == [f"{IDS[0]},{IDS[1]},must-link", f"{IDS[2]},{IDS[6]},cannot-link"]


def test_versions_are_kept_compared_reverted_to_and_saved(page, workbench):
    select_rows(page, CLEAR_ROW, OTHER_ROW)
    with Following(page):
        page.click("#action-together")
    page.click("#tab-versions")
    assert page.locator("#diff-second option:checked").text_content() == "the present groups"
    page.click("#compare")
    page.wait_for_selector("#diff .wb-items")
    assert page.locator("#diff .wb-items button").count() == 1
    assert page.evaluate("document.activeElement.id") == "compare"
    with Following(page):
        page.keyboard.press("Control+z")
    page.wait_for_selector("#diff", state="detached")  # it was about groups that are not shown any more
    with Following(page):
        page.keyboard.press("Control+Shift+z")
    page.click("#keep")
    page.fill("[data-dialog=text]", "first try")
    page.keyboard.press("Enter")
    kept = page.locator("[data-version]", has_text="first try")
    kept.wait_for()
    assert "current" in kept.inner_text()
    page.select_option("#diff-first", label="the run as it was clustered")
    page.select_option("#diff-second", label="first try")
    page.click("#compare")
    page.wait_for_selector("#diff .wb-items")
    assert page.locator("#diff .wb-items button").count() == 1
    page.locator("[data-version='0'] button").click()
    with Following(page):
        page.click("[data-dialog=confirm]")
    assert set(read_groups(page).values()) == {20}
    kept.locator("button", has_text="Revert").click()
    with Following(page):
        page.click("[data-dialog=confirm]")
    assert sorted(read_groups(page).values()) == [19, 20, 20, 21]
    page.click("#save")
    page.fill("[data-dialog=text]", "saved run")
    page.click("[data-dialog=confirm]")
    page.wait_for_selector("#saved")
    saved = workbench.folder.parent / "saved run"
    assert str(saved) in page.inner_text("#saved")
    assert sorted(np.bincount(cs.load_run(saved).model.labels_)) == [19, 20, 20, 21]
    assert page.locator("[data-version='0'] [data-do=remove]").count() == 0
    kept.locator("[data-do=remove]").click()
    page.click("[data-dialog=confirm]")
    kept.wait_for(state="detached")
    assert [version["number"] for version in workbench.describe_state()["versions"]] == [0]


# questions


def test_questions_are_answered_by_keys(page, workbench):
    open_questions(page)
    assert re.search(r"If (yes|no),.* items? change|unlikely to change", page.inner_text("#question-gain"))
    assert page.inner_text("#question-reason")
    first = answer(page, "y")
    assert read_last(workbench) == {"action": "together", "items": [IDS[row] for row in first], "is_answer": True}
    second = answer(page, "n")
    assert read_last(workbench)["action"] == "apart"
    third = answer(page, "d")
    assert read_last(workbench)["action"] == "unknown"
    assert len({tuple(pair) for pair in (first, second, third)}) == 3
    page.wait_for_selector("#question-progress:has-text('3 answers so far')")
    page.keyboard.press("u")
    page.wait_for_selector(f"#question[data-pair='{third[0]}-{third[1]}']")
    assert read_last(workbench)["action"] == "undo"
    page.wait_for_selector("#question-progress:has-text('2 answers so far')")
    page.keyboard.press("Escape")
    assert page.is_hidden("#question-panel")


def test_answer_that_was_undone_elsewhere_is_forgotten(page, workbench):
    open_questions(page)
    first = answer(page, "y")
    second = answer(page, "n")
    assert page.is_enabled("#answer-undo")
    with Following(page):
        page.keyboard.press("Control+z")
    with Following(page):
        page.keyboard.press("u")
    page.wait_for_selector(f"#question[data-pair='{first[0]}-{first[1]}']")
    page.wait_for_selector("#answer-undo:disabled")
    assert workbench.log.list_active() == []
    n_entries = len(workbench.log.entries)
    page.keyboard.press("u")
    with page.expect_request("**/api/questions?**") as request:
        answer(page, "n")
    assert f"{second[0]}-{second[1]}" not in request.value.url  # it may be asked about again
    assert len(workbench.log.entries) == n_entries + 1


def test_question_shows_both_items_on_all_maps_and_their_measurements_beside_each_other(page, workbench):
    open_questions(page)
    pair = [int(row) for row in page.get_attribute("#question", "data-pair").split("-")]
    described = [workbench.describe_item(row) for row in pair]
    rows = page.locator("#question .wb-pair-table tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    heads = page.locator("#question .wb-side-head bdi").all_text_contents()
    assert heads[0] == IDS[pair[0]]
    assert page.locator("#question h4").count() == 3
    for where in MAPS[1:]:
        for row in pair:
            place = locate(page, row, where)
            if place is not None:
                assert page.locator(f"{where} .wb-marks").evaluate(COLORS_AROUND, [*place, 6])
    shown = {name: values for name, *values in rows}
    assert sorted(shown) == ["a0", "a1", "b0", "b1"]
    for k, item in enumerate(described):
        for view in item["views"]:
            for entry in view["measurements"]:
                assert shown[entry["name"]][k] == entry["value"]
    click_row(page, pair[0])
    page.click("#close-questions")
    page.locator("#item [data-view='first'] summary").click()
    listed = page.locator("#item [data-view='first'] .wb-features").inner_text()
    assert all(entry["value"] in listed for entry in described[0]["views"][0]["measurements"])


def test_question_shows_columns_that_no_view_measures(page):
    page.route("**/api/item?**", answer_with_columns)
    open_questions(page)
    rows = page.locator("#question .wb-pair-table").first.locator("tbody tr")
    assert rows.count() == 8
    page.click("#question .wb-pair-measures button")
    assert rows.count() > 10
    pair = [int(row) for row in page.get_attribute("#question", "data-pair").split("-")]
    values = [f"of{row}" if row % 2 == pair[0] % 2 else "–" for row in pair]
    assert rows.first.inner_text().split() == [f"color{pair[0] % 2}", *values]


def answer_with_columns(route):
    """Answer a request for an item as the server does, with further columns."""
    response = route.fetch()
    item = response.json()
    item["columns"].append({"name": f"color{item['row'] % 2}", "value": f"of{item['row']}"})
    item["columns"] += [{"name": f"extra{k}", "value": str(k)} for k in range(10)]
    route.fulfill(response=response, json=item)


def test_asking_ends_when_the_server_says_so_and_goes_on_if_the_person_wants(page, workbench, visit):
    visit.expected.add(500)
    message = "You can stop here."
    state = {"message": message}

    def change(route):
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), **state})

    page.route("**/api/questions?**", lambda route: route.fulfill(status=500, json={"error": "it broke"}))
    page.click("#open-questions")
    page.wait_for_selector("#question > .wb-empty:text-is('it broke')")
    page.unroute("**/api/questions?**")
    page.route("**/api/questions?**", change)
    page.click("#ask-again")  # a request that failed can be repeated
    page.wait_for_selector(f"#question > .wb-empty:text-is('{message}')")
    assert page.is_hidden("#answers")
    assert not page.locator("#question[data-pair]").count()
    page.focus("#ask-anyway")
    page.keyboard.press("Enter")
    page.wait_for_selector("#question[data-pair] #question-end")
    assert page.inner_text("#question-end") == message
    assert page.evaluate("document.activeElement.id") == "question"
    answer(page, "d")
    page.wait_for_selector("#question[data-pair]")  # the person need not ask again
    state["message"] = None
    answer(page, "d")
    page.wait_for_selector("#question-end", state="hidden")
    state["message"] = message
    with Following(page):  # a decision elsewhere leaves the question on the screen, whenever the message arrives
        workbench.decide({"action": "outlier", "rows": [0]})
    page.wait_for_selector("#question[data-pair] #question-end:not([hidden])")
    page.keyboard.press("d")
    page.wait_for_selector("#ask-anyway")


# several pages


def test_reload_and_second_tab_show_the_same_state(page, visit, served, workbench):
    with Following(page):
        workbench.decide({"action": "together", "rows": [CLEAR_ROW, OTHER_ROW]})
    groups = read_groups(page)
    page.reload()
    page.wait_for_selector("html[data-clustering]")
    assert read_groups(page) == groups
    assert "1 item changed its group" in page.inner_text("#changes")
    second = visit.tab(page.context.new_page(), served.address)
    assert read_groups(second) == groups
    with Following(page), Following(second):
        second.click("#undo")
    assert set(read_groups(page).values()) == set(read_groups(second).values()) == {20}
    set_hidden(second, True)
    urls, before = [], read_number(second)
    second.on("request", lambda request: urls.append(request.url))
    with Following(page):
        workbench.decide({"action": "together", "rows": [CLEAR_ROW, OTHER_ROW]})
    assert (read_number(second), urls) == (before, [])  # a tab in the background asks nothing until it is shown
    with Following(second):
        set_hidden(second, False)
    assert read_number(second) == read_number(page)
    second.close()


def set_hidden(page, is_hidden):
    """Tell a page that its tab is in the background, or in front again."""
    page.evaluate(
        """isHidden => {
            Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_browser_without_the_right_key_asks_for_the_link(visit, served):
    visit.expected.add(401)
    state = json.loads(json.dumps(served.state))
    state["origins"][0]["localStorage"][0]["value"] = "of an earlier server"
    for storage in (None, state):
        page = visit(served.address, is_ready=False, storage_state=storage)
        asking = "Open the workbench with the link that consilience open shows"
        page.wait_for_selector(f"#opening-text:has-text('{asking}')")
        assert page.inner_text("#opening-title") == "No access"
        assert page.is_hidden("#workbench")


def test_link_can_be_opened_again_in_any_browser_and_that_of_a_launched_browser_in_one(
    visit, served, workbench, monkeypatch
):
    visit.expected |= {401, 403}
    for _ in range(2):
        assert "token" not in visit(served.running.url).url
    launched = []
    monkeypatch.setattr("webbrowser.open", lambda url: launched.append(url) or True)
    assert served.running.show()
    assert "token" not in visit(launched[0]).url
    for wrong in (launched[0], served.running.url[:-1]):
        page = visit(wrong, is_ready=False)
        page.wait_for_selector("#opening-text:has-text('This link is not valid, or was already used')")


def test_second_server_on_a_folder_is_read_only(visit, served, workbench, page, start):
    running = start(cs.load_run(served.folder))
    reader = visit(running.url)
    assert reader.inner_text("#banner").startswith("Read-only:")
    click_row(reader, CLEAR_ROW)
    assert reader.locator("#actions button:enabled").all_text_contents() == ["Clear"]
    open_group(reader, "steel")
    assert reader.locator("#group-page .wb-buttons button:enabled").all_text_contents() == ["Select members"]
    select_rows(page, CLEAR_ROW, OTHER_ROW)
    with Following(reader):
        page.click("#action-together")
    reader.keyboard.press("Escape")
    reader.keyboard.press("Escape")
    assert sorted(read_groups(reader).values()) == [19, 20, 20, 21]


def test_decision_without_server_is_not_lost_silently(visit, copy_run):
    visit.expected |= {"ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"}
    running = RunningWorkbench(copy_run())
    try:
        page = visit(running.url)
        select_rows(page, CLEAR_ROW, OTHER_ROW)
        n_entries = len(running.workbench.log.entries)
    finally:
        running.close()
    page.wait_for_selector("#banner:has-text('The connection is lost. Every decision is saved.')")
    assert str(running.folder) in page.inner_text("#banner")
    page.click("#action-together")
    page.wait_for_selector("#message:has-text('The server cannot be reached.')")
    assert page.inner_text("#selection-text") == "2 things selected"
    assert len(running.workbench.log.entries) == n_entries


# what can go wrong


def test_run_that_cannot_be_opened_is_explained(visit, copy_run, start, monkeypatch):
    def fail(*_):
        raise ValueError("the ids of the items are not unique")

    monkeypatch.setattr("consilience.workbench.workbench.open_result", fail)
    page = visit(start(copy_run()).url, is_ready=False)
    page.wait_for_selector("#opening-title:has-text('The run cannot be opened')")
    assert page.inner_text("#opening-text") == "The ids of the items are not unique"
    assert page.is_hidden("#opening-progress")


def test_opening_screen_shows_what_is_done(visit, copy_run, monkeypatch, start):
    may_end = threading.Event()
    report_opening = Workbench._report_opening

    def report(self, doing, share):
        report_opening(self, doing, share)
        if share > 0.2:
            may_end.wait(HANG_LIMIT)

    monkeypatch.setattr(Workbench, "_report_opening", report)
    running = start(copy_run())
    page = visit(running.url, is_ready=False)
    page.wait_for_selector("#opening-text:has-text('Placing the items on the map')")
    assert page.locator("#opening-progress").evaluate("bar => bar.value") == 0.25
    assert page.is_disabled("#open-questions")
    may_end.set()
    page.wait_for_selector("html[data-clustering]")
    assert page.is_hidden("#opening")


def test_failed_clustering_is_reported_and_a_long_one_can_be_cancelled(page, workbench, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("the disk is on fire")

    def wait_for_cancel(*_, check_stopped, report, **__):
        report(0.4)
        wait_until(lambda: check_stopped() is not None)

    monkeypatch.setattr(Reclustering, "apply", fail)
    select_rows(page, 3, 5)
    page.click("#action-together")
    page.wait_for_selector("#message:has-text('The disk is on fire')")
    assert page.inner_text("#status-text") == "The last step failed"
    monkeypatch.setattr(Reclustering, "apply", wait_for_cancel)
    page.click("#undo")
    page.wait_for_selector("#status-text:has-text('Up to date')")
    select_rows(page, 6, 7)
    page.click("#action-together")
    page.wait_for_selector("#cancel:not([hidden])")
    wait_until(lambda: page.locator("#status-progress").evaluate("bar => bar.value") == 0.4)
    page.click("#cancel")
    page.wait_for_selector("#cancel", state="hidden")
    page.wait_for_selector(".wb-status:not(.wb-working)")
    assert read_last(workbench)["action"] == "undo"
    assert set(read_groups(page).values()) == {20}


def test_hostile_names_and_texts_are_text(visit, tmp_path, start):
    ids = [f"{ALL[row % len(ALL)].encode('utf-8', 'replace').decode()}{row}".replace("\x00", "") for row in range(N)]
    words = [f"{WORD} {SCRIPT}" for WORD in ("sweet", "sharp", "soft", "loud")]
    path = write_things(tmp_path / "things.csv", ids=ids, texts=words)
    result = cluster_things(path, title=ENDING, assess=False)
    result = result.rename({0: IMAGE, 1: SCRIPT})
    running = start(cs.load_run(result.save(tmp_path / "run")))
    page = visit(running.url)
    assert page.inner_text("#title") == " ".join(ENDING.split())
    assert IMAGE in read_groups(page)
    for row in range(len(ALL)):
        click_row(page, row)
        page.wait_for_selector("#item [data-view]")
        page.locator("#item summary").last.click()
    page.locator(".wb-groups button", has_text="<img").click()
    page.wait_for_selector("#group-back")
    page.click("#group-rename")
    page.fill("[data-dialog=text]", ENDING)
    page.keyboard.press("Enter")
    page.locator(".wb-group-title", has_text=ENDING).wait_for()
    page.click("#tab-decisions")
    assert ENDING in page.inner_text("#decisions")
    page.fill("#search", "<script>")
    page.wait_for_selector("#hits .wb-items button")
    open_questions(page)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src='x']").count() == 0
    assert page.locator("body script").count() == 0


# keyboard, sizes and settings of the browser


def test_page_works_by_keyboard_alone(page, workbench):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the groups"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type(IDS[0])
    page.wait_for_selector("#hits .wb-items button")
    seen = []
    while not page.evaluate("document.activeElement.matches('#hits .wb-items button')"):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"the focus on {seen[-1]} is not visible"
        assert len(seen) < 10
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#item h2:text-is('{IDS[0]}')")
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.type(IDS[1])
    page.wait_for_selector(f"#hits .wb-items b:text-is('{IDS[1]}')")
    while not page.evaluate("document.activeElement.matches('#hits .wb-items button')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Control+Enter")
    assert page.inner_text("#selection-text") == "2 things selected"
    page.focus("#action-together")
    with Following(page):
        page.keyboard.press("Enter")
    assert read_last(workbench)["items"] == [IDS[0], IDS[1]]
    page.keyboard.press("Escape")
    assert page.inner_text("#selection-text") == "Nothing selected"
    page.focus("#map-joint .wb-points")
    before = locate(page, CLEAR_ROW)
    for key in ("+", "+", "ArrowRight"):
        page.keyboard.press(key)
    wait_until(lambda: page.locator("#map-joint.wb-zoomed").count() == 1)
    assert locate(page, CLEAR_ROW) != before
    page.keyboard.press("0")
    assert locate(page, CLEAR_ROW) == before
    page.focus("#tab-item")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-decisions"
    assert page.is_visible("#decisions")
    page.keyboard.press("ArrowLeft")
    assert page.is_visible("#item")


def test_everything_has_a_name_for_screen_readers(page):
    def check_after(*selectors):
        for selector in selectors:
            page.click(selector)
            assert page.evaluate(NAMELESS) == []

    assert page.evaluate(NAMELESS) == []
    select_rows(page, 0, 1)
    with Following(page):
        page.click("#action-together")
    check_after("#tab-decisions", "#tab-versions", "#keep")
    page.keyboard.press("Escape")
    open_group(page, "steel")
    check_after("#group-rename")
    page.keyboard.press("Escape")
    check_after("#group-merge")
    page.keyboard.press("Escape")
    open_questions(page)
    assert page.evaluate(NAMELESS) == []


def test_narrow_screen_shows_one_panel_at_a_time(page, workbench):
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme="dark")
    page.reload()
    page.wait_for_selector("html[data-clustering]")
    maps = page.locator(".wb-maps")  # a scroll bar, which this browser hides, leaves less room than the window has
    maps.evaluate("panel => (panel.style.paddingRight = '15px')")
    grid, *inside = (page.locator(f"#map-{place}").bounding_box() for place in ("grid", "joint", "joint .wb-zoom"))
    assert all(box["x"] >= grid["x"] and box["x"] + box["width"] <= grid["x"] + grid["width"] for box in inside)
    maps.evaluate("panel => (panel.style.paddingRight = '')")
    for tab in ("groups", "item", "decisions", "versions", "questions", "maps"):
        page.click(f"#small-tabs [data-tab={tab}]")
        page.wait_for_selector({"questions": "#answers", "maps": "#map-joint"}.get(tab, f"#{tab}"))
        assert page.evaluate(SCROLLS_SIDEWAYS) == []
        panels = page.locator(".wb-left, .wb-right, .wb-question, .wb-maps")
        assert panels.count() == 4
        assert sum(panels.evaluate_all("panels => panels.map((panel) => panel.checkVisibility())")) == 1
    wait_until(lambda: locate(page, CLEAR_ROW) is not None and locate(page, CLEAR_ROW)[0] > 0)
    select_rows(page, CLEAR_ROW, OTHER_ROW)
    with Following(page):
        page.click("#action-together")
    page.click("#small-tabs [data-tab=decisions]")
    page.locator("[data-do=reach]").first.click()
    page.wait_for_selector("#propagation:not([hidden])")
    assert page.is_visible("#map-joint")
    assert page.evaluate(SCROLLS_SIDEWAYS) == []


def test_reduced_motion_shows_changes_without_animation(page, workbench):
    page.emulate_media(reduced_motion="reduce")
    with Following(page):
        workbench.decide({"action": "together", "rows": [CLEAR_ROW, OTHER_ROW]})
    wait_until(lambda: page.locator(".wb-pulse").nth(0).evaluate("canvas => canvas.width > 0"))
    assert page.locator(".wb-pulse.wb-fade").count() == 0
    assert page.evaluate("document.getAnimations().length") == 0


def test_focus_stays_when_panels_are_replaced(page, workbench):
    page.click("#tab-decisions")
    with Following(page):
        number = workbench.decide({"action": "outlier", "rows": [0]})["number"]
    with Following(page):
        workbench.decide({"action": "together", "rows": [0, 1]})
    reason = next(entry for entry in workbench.describe_state()["decisions"] if entry["number"] == number)["reason"]
    assert reason == "A later decision put it into a group."
    page.wait_for_selector(f"[data-decision='{number}'] .wb-reason:text-is('{reason}')")
    for selector in ("#export", f"[data-decision='{number}'] [data-do=undo]", "#groups [data-group='1']"):
        page.focus(selector)
        name = f"name for {selector}"
        workbench.decide({"action": "rename", "groups": [0], "name": name})
        page.locator(".wb-groups button", has_text=name).wait_for()
        assert page.evaluate("selector => document.activeElement.matches(selector)", selector)
