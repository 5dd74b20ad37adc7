"""The joint map in a real browser."""

import base64
import io
import re
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.report import Report
from hostile import ALL
from waiting import wait_until

pytestmark = pytest.mark.xdist_group("pages of reports")

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")  # one pixel
CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
N = 200
LABELS = np.arange(N) % 4
PIXELS = """canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const parts = [];
    for (let i = 0; i < data.length; i += 8192) parts.push(String.fromCharCode(...data.subarray(i, i + 8192)));
    return btoa(parts.join(""));
}"""


def make_layout(labels, seed=0):
    rng = np.random.default_rng(seed)
    return CENTERS[labels % 4] + rng.normal(size=(len(labels), 2))


def merge_in_pairs(clusters):
    """Return a hierarchy that merges the first two nodes that are left."""
    nodes, merges = list(range(len(clusters))), []
    while len(nodes) > 1:
        merges.append(nodes[:2])
        nodes = [*nodes[2:], len(clusters) + len(merges) - 1]
    merges = np.array(merges, dtype=np.intp).reshape(-1, 2)
    return cs.explain.Hierarchy(clusters, merges, np.arange(len(merges), dtype=float))


def save_report(path, labels=LABELS, layout=None, **options):
    """Save a report on clusters at given positions, whose views are noise."""
    rng = np.random.default_rng(0)
    n = len(labels)
    view_labels = {name: np.where(rng.random(n) < 0.1, 0, labels) for name in ("a", "b")}
    model = SimpleNamespace(labels_=labels, view_labels_=view_labels)
    views = cs.Views(
        {name: rng.normal(size=(n, 3)) for name in view_labels},
        ids=options.pop("ids", [f"item {i:03d}" for i in range(n)]),
    )
    options.setdefault("names", [f"group {chr(97 + i % 26)}{i}" for i in range(labels.max(initial=0) + 1)])
    layout = make_layout(labels) if layout is None else layout
    hierarchy = merge_in_pairs(np.unique(labels[labels >= 0]))
    report = Report(model, views, layout=layout, hierarchy=hierarchy, confidence=rng.random(n), **options)
    return report.save(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(1)
    columns = [
        OriginalColumn(
            "price", np.where(np.arange(N) == 5, np.nan, np.exp(rng.normal(size=N) + LABELS)), "number", "$"
        ),
        OriginalColumn("brand", np.array(["Acme", "Bolt", "Core"], dtype=object)[LABELS % 3], "category"),
    ]
    folder = tmp_path_factory.mktemp("map")
    return save_report(folder / "map.html", columns=columns, noun="products", thumbnails=[GIF] * N)


def places(page, n=N):
    """Return the pixel of each entity on the map."""
    script = f"[...Array({n}).keys()].map(row => document.getElementById('map-points').places(row))"
    return np.array([place or [np.nan, np.nan] for place in page.evaluate(script)])


def on_screen(page, x, y):
    """Return where a pixel of the map is on the screen."""
    box = page.locator("#map-points").bounding_box()
    return np.array([box["x"] + x, box["y"] + y])


def settle(page):
    """Wait until the map is drawn, which does not glide where motion is reduced."""
    page.evaluate("async () => { for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); }")


def picture(page, selector="#map-points"):
    pixels = np.frombuffer(base64.b64decode(page.eval_on_selector(selector, PIXELS)), np.uint8).astype(int)
    width, height = page.eval_on_selector(selector, "canvas => [canvas.width, canvas.height]")
    return pixels.reshape(height, width, 4)


def test_all_of_many_pictures_are_shown_on_the_map_and_in_the_tables(visit, tmp_path):
    rows = np.arange(600)
    layout = np.stack([rows % 30, rows // 30], axis=1)
    page = visit(save_report(tmp_path / "pictures.html", rows % 3, layout, ids=None, thumbnails=[GIF] * len(rows)))
    for row in (7, 333, 599):
        page.mouse.move(*on_screen(page, *places(page, len(rows))[row]))
        page.wait_for_selector("#map-card img.thumbnail")
        assert page.get_attribute("#map-card img", "alt") == str(row)
    sources = page.eval_on_selector_all("img.thumbnail", "images => images.map(image => image.src)")
    assert len(sources) > 50
    assert all(source.startswith("data:image/gif") for source in sources)
    assert page.locator("#find-rows img.thumbnail").count() == 25


def drag(page, *corners):
    page.mouse.move(*corners[0])
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    settle(page)


def get_names(page):
    """Return the boxes of the names of groups on the map."""
    return page.evaluate("document.getElementById('map-points').names")


def check_names(page):
    """Check that no name of a group overlaps another or leaves the frame; return the groups."""
    names = get_names(page)
    frame = page.eval_on_selector("#map-frame", "frame => [frame.clientWidth, frame.clientHeight]")
    for name in names:
        assert name["left"] >= 0
        assert name["top"] >= 0
        assert name["left"] + name["width"] <= frame[0]
        assert name["top"] + name["height"] <= frame[1]
    for a, b in combinations(names, 2):
        beside = a["left"] + a["width"] <= b["left"] or b["left"] + b["width"] <= a["left"]
        assert beside or a["top"] + a["height"] <= b["top"] or b["top"] + b["height"] <= a["top"]
    return [name["group"] for name in names]


def find_covered(page, n=N):
    """Return which points a name covers."""
    x, y = places(page, n).T
    covers = [
        (x > name["left"]) & (x < name["left"] + name["width"]) & (y > name["top"]) & (y < name["top"] + name["height"])
        for name in get_names(page)
    ]
    return np.any(covers, axis=0)


def test_every_point_is_drawn_in_the_color_of_its_group_and_names_cover_few(visit, path):
    page = visit(path)
    pixels, where = picture(page), places(page)
    colors = []
    for group in range(4):
        x, y = np.floor(where[group == LABELS]).astype(int).T
        assert (pixels[y, x, 3] > 100).all()
        colors.append(np.median(pixels[y, x, :3], axis=0))
    assert min(np.abs(a - b).max() for a, b in combinations(colors, 2)) > 40
    assert pixels[:8, :8, 3].max() == 0
    for width, most in ((1280, 0.01), (390, 0.1)):
        page = visit(path, width=width, height=800)
        assert sorted(check_names(page)) == [0, 1, 2, 3]
        assert find_covered(page).mean() < most


def test_picture_does_not_depend_on_the_order_of_the_rows(visit, tmp_path):
    rng = np.random.default_rng(0)
    order = rng.permutation(1000)
    labels, layout = np.arange(1000) % 4, rng.normal(size=(1000, 2))  # groups that overlap
    pictures = [
        picture(visit(save_report(tmp_path / f"{name}.html", labels[rows], layout[rows])))
        for name, rows in (("first", np.arange(1000)), ("second", order))
    ]
    assert np.abs(pictures[0] - pictures[1]).max() <= 2


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_zoom_buttons_reset_and_drag(visit, path, motion):
    page = visit(path, motion=motion)
    before = places(page)
    wide = np.ptp(before[:, 0])

    def click(button, zoom):
        page.click(button)
        wait_until(lambda: abs(np.ptp(places(page)[:, 0]) / wide - zoom) < 1e-6)
        settle(page)

    assert page.is_disabled("#map-out")
    click("#map-in", 1.8)
    np.testing.assert_allclose(np.ptp(places(page), axis=0) / np.ptp(before, axis=0), 1.8, rtol=1e-6)
    click("#map-out", 1)
    click("#map-in", 1.8)
    click("#map-in", 1.8**2)
    click("#map-reset", 1)
    np.testing.assert_allclose(places(page), before, atol=1e-6)
    click("#map-in", 1.8)
    before = places(page)
    drag(page, on_screen(page, 300, 200), on_screen(page, 340, 175))
    np.testing.assert_allclose(places(page) - before, np.tile([40.0, -25.0], (N, 1)), atol=1e-6)
    check_names(page)


def test_wheel_zooms_at_the_pointer_with_control_only(visit, path):
    page = visit(path)
    before = places(page)
    x, y = on_screen(page, *before[0])
    page.mouse.move(x, y)
    page.mouse.wheel(0, 300)
    wait_until(lambda: page.evaluate("scrollY") > 0)
    assert page.is_visible("#map-hint")
    np.testing.assert_array_equal(places(page), before)
    page.evaluate("scrollTo(0, 0)")
    settle(page)
    page.keyboard.down("Control")
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    wait_until(lambda: np.ptp(places(page)[:, 0]) > 1.3 * np.ptp(before[:, 0]))
    np.testing.assert_allclose(places(page)[0], before[0], atol=0.5)
    assert page.evaluate("scrollY") == 0
    for _ in range(12):
        page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    page.wait_for_selector("#map-in:disabled")
    settle(page)
    where = places(page)
    width, height = page.eval_on_selector("#map-points", "canvas => [canvas.clientWidth, canvas.clientHeight]")
    is_inside = ((where >= 0) & (where <= [width, height])).all(axis=1)
    assert set(check_names(page)) == set(LABELS[is_inside]) != {0, 1, 2, 3}  # groups out of sight have no name


def test_lasso_selects_the_rows_within(visit, path):
    page = visit(path)
    where = places(page)
    middle = where[LABELS == 0].mean(axis=0)
    corners = [middle + shift for shift in ([-20, -20], [30, -25], [25, 25], [-25, 30])]
    inside = np.ones(N, dtype=bool)
    for a, b in pairwise([*corners, corners[0]]):  # the polygon is convex
        inside &= (b - a)[0] * (where - a)[:, 1] > (b - a)[1] * (where - a)[:, 0]
    assert 5 < inside.sum() < 50
    for way in ("shift", "button"):
        page.fill("#search", "item")
        if way == "shift":
            page.keyboard.down("Shift")
        else:
            page.click("#map-lasso")
            assert page.get_attribute("#map-lasso", "aria-pressed") == "true"
        drag(page, *(on_screen(page, *place) for place in corners))
        page.keyboard.up("Shift")
        assert page.text_content("#selected").startswith(f"{inside.sum()} products selected")
        assert page.text_content("#map-live") == f"{inside.sum()} products selected"
        assert page.get_attribute("#map-lasso", "aria-pressed") == "false"
        assert page.input_value("#search") == ""
        assert page.text_content("#find-title").endswith("selected on the map")
        shown = page.eval_on_selector_all("#find-rows tr th", "rows => rows.map(row => row.textContent)")
        assert set(shown) <= {f"item {row:03d}" for row in np.flatnonzero(inside)}
        pixels = picture(page)
        x, y = np.floor(where[LABELS == 3]).astype(int).T
        assert np.ptp(pixels[y, x, :3], axis=1).max() < 30  # rows that are not selected are gray
    with page.expect_download() as download:
        page.locator("#selected button", has_text="Download CSV").click()
    assert download.value.path().read_text("utf-8-sig").count("\n") == inside.sum() + 1


def test_hover_shows_title_group_value_and_picture(visit, path):
    page = visit(path)
    page.select_option("#map-color", label="price")
    settle(page)
    where = places(page)
    distances = np.linalg.norm(where[:, None] - where, axis=2) + 1e9 * np.eye(N)
    row = int(distances.min(axis=1).argmax())
    page.mouse.move(*on_screen(page, *where[row]))
    card = page.text_content("#map-card")
    assert card.startswith(f"item {row:03d}group {'abcd'[row % 4]}{row % 4}price: ")
    assert re.search(rf"price: [\d.]+ \$brand: {['Acme', 'Bolt', 'Core'][row % 4 % 3]}$", card)
    assert page.locator("#map-card img").get_attribute("src").startswith("data:image/gif")
    box, frame = (page.locator(name).bounding_box() for name in ("#map-card", "#map-frame"))
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    page.mouse.move(*on_screen(page, 5, 5))
    assert not page.is_visible("#map-card")


def test_clicking_or_pointing_at_a_group_shows_it_alone(visit, path):
    page = visit(path)
    where, before = places(page), picture(page)

    def measure_colors(group):
        x, y = np.floor(where[group == LABELS]).astype(int).T
        return np.ptp(picture(page)[y, x, :3], axis=1)

    page.hover("#group-list [data-group='3']")
    settle(page)
    assert np.median(measure_colors(3)) > 60
    assert measure_colors(1).max() < 30
    page.mouse.move(5, 300)
    settle(page)
    assert np.abs(picture(page) - before).max() == 0
    page.mouse.click(*on_screen(page, *where[2]))
    settle(page)
    assert page.locator("#group-list a[aria-current]").get_attribute("data-group") == "2"
    assert measure_colors(1).max() < 30
    page.mouse.click(*on_screen(page, 4, 4))
    settle(page)
    assert page.locator("#group-list a[aria-current]").count() == 0
    name = get_names(page)[0]
    for _ in range(2):  # once for the group alone, twice for its page
        page.mouse.click(*on_screen(page, name["left"] + name["width"] - 12, name["top"] + 8))
        settle(page)
    assert page.evaluate("location.hash") == f"#group-{name['group']}"


def test_colors_by_column_with_legend(visit, path):
    page = visit(path)
    options = page.eval_on_selector_all("#map-color option", "all => all.map(option => option.textContent)")
    assert options == ["Group", "Agreement of the views", "Confidence", "brand", "price"]
    assert page.text_content("#map-legend") == ""
    before, where = picture(page), places(page)
    page.select_option("#map-color", label="brand")
    settle(page)
    assert re.findall("Acme|Bolt|Core", page.text_content("#map-legend")) == ["Acme", "Bolt", "Core"]
    assert np.abs(picture(page) - before).max() > 40
    np.testing.assert_array_equal(places(page), where)  # the legend does not move the points
    page.get_by_role("button", name="Core").click()
    settle(page)
    x, y = np.floor(where).astype(int).T
    gray = np.ptp(picture(page)[y, x, :3], axis=1) < 30
    assert gray[LABELS % 3 != 2].mean() > 0.95
    assert gray[LABELS % 3 == 2].mean() < 0.05
    page.select_option("#map-color", label="price")
    settle(page)
    legend = page.text_content("#map-legend")
    assert re.match(r"≤ [\d.]+ \$.* \(log scale\)≥ [\d.]+ \$no value: 1 products$", legend)
    page.select_option("#map-color", label="Confidence")
    settle(page)
    assert page.text_content("#map-legend") == "0%50%100%"
    page.select_option("#map-color", label="Agreement of the views")
    settle(page)
    assert page.text_content("#map-legend").startswith("all views agree")


def test_shades_of_numbers_change_evenly_in_lightness(visit, path):
    for scheme, ground in (("light", 1.0), ("dark", 0.0137)):  # with the luminance of the card
        page = visit(path, scheme=scheme)
        page.select_option("#map-color", label="price")
        settle(page)
        gradient = page.eval_on_selector("#map-legend .map-scale", "bar => bar.style.background")
        colors = np.array(
            [[int(part) for part in color] for color in re.findall(r"rgb\((\d+),? (\d+),? (\d+)\)", gradient)]
        )
        linear = np.where(colors / 255 <= 0.04045, colors / 255 / 12.92, ((colors / 255 + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        assert len(colors) == 64
        steps = np.diff(np.cbrt(luminance)) * (1 if scheme == "dark" else -1)
        assert steps.min() > -0.002
        high, low = np.maximum(luminance, ground) + 0.05, np.minimum(luminance, ground) + 0.05
        assert (high / low).min() > 2.4
        assert (high / low).argmax() == 63


def test_keyboard_reaches_everything(visit, path):
    page = visit(path)
    page.focus("#map-as-table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "map-points"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    before = places(page)
    page.keyboard.press("+")
    settle(page)
    zoomed = places(page)
    assert np.ptp(zoomed[:, 0]) > 1.5 * np.ptp(before[:, 0])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    settle(page)
    np.testing.assert_allclose(places(page) - zoomed, np.tile([-60.0, 60.0], (N, 1)), atol=1e-6)
    page.keyboard.press("0")
    settle(page)
    np.testing.assert_allclose(places(page), before, atol=1e-6)
    page.keyboard.press("n")
    assert page.text_content("#map-live") == "group a0: 50 products, 25%; 1 of 4"
    page.keyboard.press("n")
    assert page.text_content("#map-live") == "group b1: 50 products, 25%; 2 of 4"
    page.keyboard.press("p")
    page.keyboard.press("p")
    assert page.text_content("#map-live").endswith("4 of 4")
    page.keyboard.press("Enter")
    assert page.locator("#group-list a[aria-current]").get_attribute("data-group") == "3"
    page.keyboard.press("Escape")
    assert page.locator("#group-list a[aria-current]").count() == 0
    for name in ("map-in", "map-lasso", "map-save"):  # what is disabled is skipped
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == name


def test_table_tells_what_the_map_shows_and_level_changes_groups(visit, path):
    page = visit(path)
    page.select_option("#map-color", label="brand")
    page.get_by_role("button", name="Show as table").click()
    assert not page.is_visible("#map-frame")
    rows = page.eval_on_selector_all(
        "#map-table tbody tr", "rows => rows.map(row => [...row.cells].map(x => x.textContent))"
    )
    assert [row[:2] for row in rows] == [[f"group {'abcd'[i]}{i}", "50 (25%)"] for i in range(4)]
    assert rows[0][2] == "Acme (100%)"
    nearest = rows[0][3].split("; ")
    assert set(nearest[:2]) == {"group b1", "group c2"}  # the corners beside it
    assert nearest[2] == "group d3"
    page.get_by_role("button", name="Show the map").click()
    assert page.is_visible("#map-frame")
    assert page.locator("#map a[href='#find']").count() == 1
    page.select_option("#map-color", label="Group")
    settle(page)
    before = picture(page)
    page.focus("#level")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    settle(page)
    assert sorted(check_names(page)) == [0, 1]
    assert np.abs(picture(page) - before).max() > 40
    page.focus("#map-points")
    page.keyboard.press("n")
    assert page.text_content("#map-live").endswith("100 products, 50%; 1 of 2")


def test_map_is_saved_printed_and_drawn_in_other_colors(visit, path):
    image = pytest.importorskip("PIL.Image")
    page = visit(path)
    with page.expect_download() as download:
        page.click("#map-save")
    saved = np.asarray(image.open(io.BytesIO(download.value.path().read_bytes())).convert("RGB"))
    frame = page.eval_on_selector("#map-frame", "frame => [frame.clientHeight, frame.clientWidth]")
    assert saved.shape[:2] == tuple(3 * length for length in frame)
    x, y = np.floor(3 * places(page)).astype(int).T
    assert (saved[y, x].min(axis=1) < 210).mean() > 0.85  # names cover a few points
    assert (saved[0] == 255).all()
    light = picture(page)
    page.click("#theme")
    settle(page)
    assert np.abs(picture(page) - light).max() > 40
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    settle(page)
    printed, is_named = picture(page), picture(page, "#map-marks")[..., 3] > 0
    assert np.abs(printed - light)[~is_named].max() <= 1
    assert (printed[is_named][:, 3] > 0).all()  # names on the canvas of the points, the only one that is printed
    page.emulate_media(media="print")
    assert not page.is_visible("#map-marks")
    assert not page.is_visible("#map-color")
    assert not page.is_visible("#map-in")
    assert page.is_visible("#map-points")


def test_touch_on_a_phone(visit, path):
    page = visit(path, width=390, height=800, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    width, wide = page.eval_on_selector("#map-points", "canvas => [canvas.width, canvas.clientWidth]")
    assert width == 2 * wide
    page.locator("#map-points").scroll_into_view_if_needed()
    check_names(page)
    where = places(page)
    page.touchscreen.tap(*on_screen(page, *where[0]))
    settle(page)
    assert page.is_visible("#map-card")
    assert page.locator("#group-list a[aria-current]").count() == 1
    assert page.eval_on_selector("#map-points", "x => getComputedStyle(x).touchAction") == "pan-y"
    page.evaluate(
        """() => { const canvas = document.getElementById('map-points'), box = canvas.getBoundingClientRect();
        canvas.setPointerCapture = () => {};
        const send = (name, pointerId, x) => canvas.dispatchEvent(new PointerEvent(name,
            {pointerId, pointerType: 'touch', clientX: box.x + x, clientY: box.y + 150, bubbles: true}));
        send('pointerdown', 11, 100); send('pointerdown', 12, 200);
        send('pointermove', 12, 260); send('pointermove', 11, 60);
        send('pointerup', 11, 60); send('pointerup', 12, 260); }"""
    )
    settle(page)
    np.testing.assert_allclose(np.ptp(places(page), axis=0) / np.ptp(where, axis=0), 2.0, rtol=1e-6)
    assert page.eval_on_selector("#map-points", "x => getComputedStyle(x).touchAction") == "none"
    before = places(page)
    page.set_viewport_size({"width": 340, "height": 700})
    settle(page)
    assert np.ptp(places(page)[:, 0]) < np.ptp(before[:, 0])
    check_names(page)


LAYOUT = make_layout(LABELS)
CASES = {
    "missing positions, and entities in no cluster, of which one is empty": (
        np.where(np.arange(N) < 50, -1, np.where(LABELS == 1, 4, LABELS)),
        np.where(np.arange(N)[:, None] % 4 == 0, np.nan, LAYOUT),
    ),
    "no positions": (LABELS, np.full((N, 2), np.nan)),
    "one entity": (np.zeros(1, dtype=int), np.ones((1, 2))),
    "equal positions of one cluster": (np.zeros(N, dtype=int), np.ones((N, 2))),
    "points on a line in no cluster": (np.full(N, -1), np.c_[np.arange(N), np.zeros(N)]),
    "500 clusters": (np.arange(1500) % 500, np.random.default_rng(0).normal(size=(1500, 2))),
}


@pytest.mark.parametrize("case", CASES)
def test_unusual_data(visit, tmp_path, case):
    labels, layout = CASES[case]
    n_clusters = len(np.unique(labels[labels >= 0]))
    page = visit(save_report(tmp_path / "case.html", labels, layout))
    where = places(page, len(labels))
    np.testing.assert_array_equal(np.isnan(where[:, 0]), np.isnan(layout[:, 0]))
    shown = where[~np.isnan(where[:, 0])]
    pixels = picture(page)
    x, y = np.floor(shown).astype(int).T
    assert (pixels[y, x, 3] > 0).all()
    groups = check_names(page)
    assert len(groups) == 0 if not len(shown) else min(n_clusters, 1) <= len(groups) <= n_clusters
    if case == "500 clusters":
        assert len(groups) > 25
    page.focus("#map-points")
    for key in ("n", "Enter", "+", "ArrowLeft", "Escape", "0"):
        page.keyboard.press(key)
    page.click("#map-as-table")
    page.click("#map-as-table")
    page.mouse.move(*on_screen(page, 200, 150))
    settle(page)
    if "entities in no cluster" in case:
        assert "no group: 50 items" in page.text_content("#map-legend")


def test_hostile_names(visit, tmp_path):
    scripts = ["שלום עולם קבוצה", "中文名称" * 12, "👩‍👩‍👧‍👦🎉" * 30, "word " * 40, "x" * 200, ""]
    names = [*ALL, *scripts]
    labels = np.arange(300) % len(names)
    ids = [f"{names[i % len(names)]}{i}" for i in range(300)]
    values = np.array([names[i % 5] for i in range(300)], dtype=object)
    columns = [
        OriginalColumn(ALL[0], values, "category"),
        OriginalColumn(ALL[2], np.arange(300.0) ** 2, "number", unit=ALL[1]),
    ]
    layout = np.random.default_rng(0).normal(size=(300, 2)) + 4 * np.c_[np.cos(labels), np.sin(labels)]
    page = visit(save_report(tmp_path / "hostile.html", labels, layout, names=names, ids=ids, columns=columns))
    check_names(page)
    for option in range(page.locator("#map-color option").count()):
        page.select_option("#map-color", str(option))
        for place in places(page, 300)[:20]:
            page.mouse.move(*on_screen(page, *place))
        settle(page)
    page.click("#map-as-table")
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("#map img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1300


def test_many_points_are_drawn_honestly(visit, tmp_path):
    rng = np.random.default_rng(0)
    n = 60_000
    labels = np.arange(n) % 4
    layout = rng.normal(size=(n, 2)) * np.where(labels == 0, 0.3, 1.0)[:, None] + CENTERS[labels] * [1.0, 0.8]
    layout[7] = [5.0, 4.0]  # a point by itself
    path = save_report(tmp_path / "large.html", labels, layout, ids=None)
    page = visit(path)
    where, pixels = places(page, n), picture(page)
    x, y = np.floor(where).astype(int).T
    opacity = pixels[y, x, 3]
    assert opacity.min() > 0
    assert opacity[7] > 50
    centers = [np.median(where[labels == group], axis=0) for group in range(4)]
    dense, sparse = (np.linalg.norm(where - centers[group], axis=1) < 8 for group in (0, 1))
    edge = (np.linalg.norm(where - centers[1], axis=1) > 60) & (labels == 1)
    assert opacity[dense].mean() > opacity[sparse].mean() > opacity[edge].mean() + 20
    assert len(check_names(page)) == 4
    page.mouse.move(*on_screen(page, *where[7]))
    assert page.text_content("#map-card").startswith("7group d3")
