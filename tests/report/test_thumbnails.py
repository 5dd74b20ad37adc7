"""Pictures of entities in the report."""

import base64
import re

import numpy as np
import pytest

import consilience as cs
from consilience.report import Report
from consilience.report.facts import MAX_THUMBNAILS

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")  # one pixel
ADDRESS = f"data:image/gif;base64,{base64.b64encode(GIF).decode()}"


@pytest.fixture(scope="module")
def fitted():
    views, _ = cs.datasets.make_gaussian_views(60, separation=8, random_state=0)
    return cs.MultiViewKMeans(3, random_state=0).fit(views), views


def remove_date(page):
    return page[: page.index("<footer>")] + page[page.index("</footer>") :]


def test_pictures_are_shown_once_per_entity_and_escaped(fitted):
    model, views = fitted
    ids = [f'<b>"{i}"' for i in range(len(views))]
    views = cs.Views({name: views[name] for name in views.names}, ids=ids)
    called = []

    def draw(row):
        called.append(row)
        return GIF if row % 2 else None

    report = Report(model, views, thumbnails=draw)
    page = report.to_html()
    assert sorted(called) == list(range(60))  # few enough for the table of all entities
    assert page.count(f'<img src="{ADDRESS}"') >= 3
    assert page.count('alt="&lt;b&gt;&quot;1&quot;" class="thumbnail" data-row="1"') <= 2
    assert page.count(ADDRESS) >= 30
    assert "<b>&quot;" not in page
    assert remove_date(report.to_html()) == remove_date(page)


def test_page_contains_the_picture_of_each_of_many_entities_once():
    n = 1000
    views, _ = cs.datasets.make_gaussian_views(n, separation=4, random_state=0)
    model = cs.MultiViewKMeans(3, n_init=1, random_state=0).fit(views)
    rng = np.random.default_rng(0)
    pictures = [b"\xff\xd8\xff" + rng.bytes(900) for _ in range(n)]
    page = Report(model, views, thumbnails=pictures, layout=rng.normal(size=(n, 2))).to_html()
    addresses = re.findall(r"data:image/jpeg;base64,[\w+/=]+", page)
    assert len(addresses) == len(set(addresses)) == n
    n_shown = page.count('class="thumbnail"')
    assert n_shown > len(re.findall('<img src="data:image/jpeg', page)) > 20  # others repeat a picture
    assert len(page) < 2_500_000


def test_pictures_stand_before_features_which_are_shown_on_request(fitted):
    model, views = fitted
    page = Report(model, views, thumbnails=[GIF] * 60).to_html()
    group = page.partition('<article id="group-0"')[2].partition("</article>")[0]
    order = [group.index(text) for text in (ADDRESS, "What marks it", "<details>", 'class="marks"', "</details>")]
    assert order == sorted(order)
    plain = Report(model, views).to_html().partition('<article id="group-0"')[2].partition("</article>")[0]
    assert "<details>" not in plain
    assert plain.index("What marks it") < plain.index("Typical members")


def test_unsuitable_pictures_are_refused(fitted):
    model, views = fitted
    assert "<img" not in Report(model, views, thumbnails=[None] * 60).to_html()
    with pytest.raises(ValueError, match="thumbnails: 2 entries for 60 entities; give one per entity"):
        Report(model, views, thumbnails=[GIF, GIF])
    for content, message in (
        (b"<svg onload='alert(1)'>", "must be the content of a JPEG, PNG, GIF or WebP file"),
        (GIF + bytes(30_000), r"has 30,042 bytes, more than 30,000: make it smaller"),
    ):
        with pytest.raises(ValueError, match=f"the thumbnail of entity '.*' {message}"):
            Report(model, views, thumbnails=lambda row, content=content: content).to_html()


def test_page_stays_small_with_many_entities():
    n = 10_000
    views, _ = cs.datasets.make_gaussian_views(n, separation=8, random_state=0)
    model = cs.MultiViewKMeans(3, n_init=1, random_state=0).fit(views)
    rng = np.random.default_rng(0)
    layout, picture = rng.normal(size=(n, 2)), b"\xff\xd8\xff" + rng.bytes(2500)
    called = []
    page = Report(model, views, thumbnails=lambda row: called.append(row) or picture, layout=layout).to_html()
    assert len(called) <= MAX_THUMBNAILS
    assert len(page) < 10_000_000
    large = b"\xff\xd8\xff" + rng.bytes(29_000)
    assert len(Report(model, views, thumbnails=lambda row: large, layout=layout).to_html()) < 10_000_000
