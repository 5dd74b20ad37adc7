"""The page is complete, safe, small and reproducible."""

import base64
import hashlib
import json
import re
import zlib
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.report import Report, Section
from consilience.report.charts import draw_line
from consilience.report.facts import AGREEMENT_CAVEAT
from consilience.report.markup import SURROGATES, clean_text, format_share, join_html, mark_user_text, say_items, tag
from consilience.report.pack import pack_numbers
from consilience.report.sections.classes import order_by_match
from consilience.report.sections.groups import find_neighbors
from consilience.report.sections.maps import sample_entities
from consilience.report.sections.search import collect_texts
from hostile import ALL, ENDING, IMAGE, SCRIPT, hostile_report

SECTIONS = [
    "overview", "find", "hints", "data", "agreement", "view-maps", "contested", "classes", "comparison", "method",
]  # fmt: skip


class Outline(HTMLParser):
    """Elements of a page, and errors in their nesting."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.texts, self.errors = [], [], [], []
        self.feed(html)
        self.close()
        self.errors += [f"{name} stays open" for name in self.open]

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in ("meta", "link", "input", "br"):
            self.open.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.errors.append(f"</{name}>")

    def handle_data(self, text):
        self.texts.append((self.open[-1] if self.open else "", text))

    def find(self, name):
        return [attributes for element, attributes in self.elements if element == name]

    @property
    def data(self):
        return json.loads(next(text for _, text in self.texts if text.startswith('{"n"')))


ARRAYS = {"Uint8Array": "<u1", "Int16Array": "<i2", "Uint16Array": "<u2", "Int32Array": "<i4"}


def test_names_of_the_user_stay_as_they_are():
    for sentence, expected in (
        ("clusters.csv is split into the views 'a'.", "clusters.csv is split into the views 'a'."),
        ("/data/entities/2024.csv: 3 entities", "/data/entities/2024.csv: 3 items"),
        ("use --kind cluster=text, or data:cluster", "use --kind cluster=text, or data:cluster"),
        ("“cluster 1” is the largest cluster.", "“cluster 1” is the largest group."),
        ("'it's entity' (3) has left its cluster.", "'it's entity' (3) has left its group."),
        ('"it\'s entity" has left its cluster.', '"it\'s entity" has left its group.'),
        ("The name 'the entity is not closed", "The name 'the entity is not closed"),
        ("The entities' views: each cluster, one entity.", "The items' views: each group, one item."),
    ):
        assert say_items(sentence) == expected


def unpack(column):
    content = zlib.decompress(base64.b64decode(column["data"]))
    if column["array"] == "names":
        return content.decode().split("\n")
    return np.frombuffer(content, ARRAYS[column["array"]])


def fit_model(**options):
    views, y = cs.datasets.make_gaussian_views(120, separation=5, random_state=0, **options)
    return cs.MultiViewKMeans(3, n_init=2, random_state=0).fit(views), views, y


def make_model(labels, view_labels, **more):
    """Return an object with the attributes of a fitted model."""
    return SimpleNamespace(
        labels_=labels, view_labels_=view_labels, agreement_=cs.metrics.agreement_matrix(view_labels), **more
    )


def make_chain(n):
    """Return a hierarchy that merges n clusters one after the other."""
    merges = [[n + i - 1 if i else 0, i + 1] for i in range(n - 1)]
    return cs.explain.Hierarchy(np.arange(n), np.array(merges), np.arange(n - 1.0))


def get_section(html, name):
    """Return the content of a section of a page."""
    return html.partition(f'<section id="{name}"')[2].partition("</section>")[0]


def remove_date(html):
    return re.sub(r"<time.*?</time>", "", html)


@pytest.fixture(scope="module")
def full_page():
    model, views, y = fit_model(missing=0.2)
    comparison = cs.Table({"estimator": ["together", "alone"], "nmi": [0.9, 0.5], "seconds": [2.0, 1.0]})
    return Report(
        model, views, title="Full", labels=y, comparison=comparison, command="again", notes=["Read well."]
    ).to_html()


def test_sections_are_in_the_contents_headings_nested_and_landmarks_there(full_page):
    page = Outline(full_page)
    assert not page.errors
    assert [attributes["id"] for attributes in page.find("section")] == SECTIONS
    contents = full_page.partition('aria-label="Contents"')[2].partition("</nav>")[0]
    assert re.findall('href="#([^"]*)"', contents) == SECTIONS[2:]
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert {"header", "nav", "main", "footer"} <= {name for name, _ in page.elements}
    assert all("scope" in attributes for attributes in page.find("th"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert not {attributes["href"][1:] for attributes in page.find("a")} - set(ids)
    assert AGREEMENT_CAVEAT in get_section(full_page, "agreement")
    assert "error bound" not in full_page.lower()


def test_equal_clusterings_give_equal_pages_except_for_the_date(tmp_path):
    model, views, _ = fit_model()
    report = Report(model, views, title="In a <notebook>")
    html = remove_date(report.to_html())
    sections = [attributes["id"] for attributes in Outline(html).find("section")]
    assert sections == [name for name in SECTIONS if name not in ("classes", "comparison")]  # these are optional
    blocks = Report(model, dict(views.items()), title="In a <notebook>")
    assert remove_date(blocks.to_html()) == html
    frame = Outline(report._repr_html_())
    assert not frame.errors
    (attributes,) = frame.find("iframe")
    assert remove_date(attributes["srcdoc"]) == html
    path = report.save(tmp_path / "report.html")
    saved = path.read_text(encoding="utf-8")
    assert saved.count("<time") == 1
    assert remove_date(saved) == html
    assert html.endswith("</html>\n")
    with pytest.raises(FileExistsError, match="already exists"):
        report.save(path)
    assert report.save(path, overwrite=True) == path
    assert [attributes.name for attributes in tmp_path.iterdir()] == ["report.html"]


def test_page_uses_no_network_and_content_policy_allows_only_the_script(full_page):
    page = Outline(full_page)
    (script,) = re.findall(r"<script>(.*?)</script>", full_page, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(attributes["content"] for attributes in page.find("meta") if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; ")
    assert f"script-src 'sha256-{digest}';" in policy
    assert full_page.index("Content-Security-Policy") < full_page.index("<script")
    links = [attributes.get("src") or attributes.get("href") for _, attributes in page.elements]
    assert all(link.startswith(("#", "data:")) for link in links if link)
    assert "url(" not in full_page
    assert "@import" not in full_page
    assert "innerHTML" not in full_page


def test_extra_sections_stand_before_the_method_and_wrong_ones_are_refused():
    model, views, _ = fit_model()

    def build_costs(facts):
        return Section.build("costs", "Costs", "What it <costs>", tag("p", f"{facts.n} entities"))

    html = Report(model, views, extra_sections=[build_costs, lambda facts: None]).to_html()
    page = Outline(html)
    sections = [attributes["id"] for attributes in page.find("section")]
    assert sections[-2:] == ["costs", "method"]
    assert "What it &lt;costs&gt;</h2><p>120 entities</p>" in html
    with pytest.raises(TypeError, match="a section builder must return a Section or None, got str"):
        Report(model, views, extra_sections=[lambda facts: "<p>text</p>"]).to_html()
    for section_id in ("overview", "find"):
        section = Section.build(section_id, "Short", "Title")
        with pytest.raises(ValueError, match=f"two sections have the id '{section_id}': choose another"):
            Report(model, views, extra_sections=[lambda facts, section=section: section]).to_html()


def test_hostile_names_are_escaped():
    html = hostile_report().to_html()
    page = Outline(html)
    assert not page.errors
    assert len(page.find("script")) == 2
    assert not page.find("img")
    assert not any(key.startswith("on") for _, attributes in page.elements for key in attributes)
    shown = "".join(text for _, text in page.texts)
    assert all(clean_text(attributes)[:50] in shown for attributes in ALL)
    assert not SURROGATES.search(html)
    assert "\x00" not in html
    assert len(html.encode()) < 600_000
    block = html[html.index('id="report-data">') :].partition(">")[2].partition("</script>")[0]
    data = json.loads(block)  # which its content cannot end
    assert not set("<>&\u2028\u2029") & set(block)
    assert ENDING in data["views"]
    assert len(unpack(data["columns"]["ids"])) == data["n"] == 90


def test_data_block_has_all_entities():
    model, views, _ = fit_model(missing=0.3)
    columns = Outline(Report(model, views).to_html()).data["columns"]
    assert set(columns) == {"cluster", "contested", "second", "view0", "view1"}  # numbers need no names
    np.testing.assert_array_equal(unpack(columns["cluster"]), model.labels_)
    np.testing.assert_array_equal(unpack(columns["view1"]), model.view_labels_["view1"])
    np.testing.assert_array_equal(unpack(columns["contested"]), cs.explain.contested(model.view_labels_))
    columns = Outline(
        Report(model, views, confidence=np.append(np.nan, np.linspace(0, 1, len(views) - 1))).to_html()
    ).data["columns"]
    assert unpack(columns["sure"]).tolist()[:2] == [65535, 0]
    assert unpack(columns["sure"]).tolist()[-1] == 100


def make_large_report(n, ids, **options):
    rng = np.random.default_rng(0)
    y = rng.integers(20, size=n)
    blocks = {name: rng.normal(size=(n, 3)) + y[:, None] for name in ("text", "links", "images")}
    view_labels = {name: np.where(rng.random(n) < 0.2, rng.integers(-1, 20, size=n), y) for name in blocks}
    drawn = {"layout": blocks["text"][:, :2], "hierarchy": make_chain(20)}
    names = [f"kind {cluster}" for cluster in range(20)]
    model = make_model(y, view_labels)
    return Report(model, cs.Views(blocks, ids=ids), confidence=rng.random(n), names=names, **drawn, **options)


def test_100_000_entities_take_less_than_10_megabytes():
    html = make_large_report(100_000, [f"doc-{i * 7919 % 1_000_003:07d}.txt" for i in range(100_000)]).to_html()
    assert len(html.encode()) < 10_000_000
    columns = Outline(html).data["columns"]
    assert set(columns) == {"cluster", "sure", "contested", "ids", "view0", "view1", "view2"}
    assert "leaves out" not in html
    assert "A sample of" in html


def test_columns_that_do_not_fit_are_left_out_with_a_note(tune):
    tune("report.page", max_bytes=1_000_000)
    rng = np.random.default_rng(0)
    html = make_large_report(5000, [rng.bytes(90).hex() for _ in range(5000)]).to_html()
    assert len(html.encode()) < 1_000_000
    columns = Outline(html).data["columns"]
    assert set(columns) == {"cluster", "sure", "contested", "view0", "view1", "view2"}
    assert "it leaves out the ids (numbers from 0 replace them)" in html


def test_texts_are_cut_with_a_note_if_they_do_not_fit(tune):
    tune("report.page", max_bytes=1_500_000)
    rng = np.random.default_rng(0)
    texts = [f"{row} {rng.bytes(1000).hex()}" for row in range(1000)]
    html = make_large_report(1000, None, texts={"text": texts, "links": texts}).to_html()
    assert len(html.encode()) < 1_500_000
    data = Outline(html).data
    ((text, column),) = [(text, data["columns"][f"text{i}"]) for i, text in enumerate(data["texts"])]  # shared texts
    assert text == {"name": "text", "length": 1000}
    assert unpack(column) == [f"{text[:999]}…" for text in texts]
    assert "it leaves out what follows the first 1,000 characters of <bdi>text</bdi>" in html


def test_texts_and_categories_can_be_searched():
    model, views, _ = fit_model()
    texts = [f"story {i}\nof two lines" if i else "" for i in range(120)]
    column = cs.explain.OriginalColumn
    columns = [
        column("color", np.array(["red", None] * 60, dtype=object), "category"),
        column("story", np.array(texts, dtype=object), "text"),  # of the view
        column("size", np.arange(120.0), "number"),
    ]
    data = Outline(Report(model, views, texts={"view0": texts}, columns=columns).to_html()).data
    assert [text["name"] for text in data["texts"]] == ["view0", "color"]
    assert unpack(data["columns"]["text0"])[:2] == ["", "story 1 of two lines"]
    assert unpack(data["columns"]["text1"]) == ["red", ""] * 60


def test_cells_of_a_megabyte_are_cut():
    model, views, _ = fit_model()
    html = Report(model, views, texts={"view0": ["\U0001f600 word " * 100_000] * 3 + ["short"] * 117}).to_html()
    assert len(html) < 1_000_000
    assert {len(text) for text in unpack(Outline(html).data["columns"]["text0"])} == {2000, 5}


def test_groups_and_levels_are_in_the_data():
    y = np.repeat(np.arange(12), np.arange(12, 0, -1))
    views = cs.Views([np.random.default_rng(0).normal(size=(len(y), 3)) + 9 * y[:, None]] * 2)
    report = Report(make_model(y, {"view0": y, "view1": y}), views, confidence=np.ones(len(y)))
    facts, data = report._facts, Outline(report.to_html()).data
    assert [(group["cluster"], group["size"]) for group in data["groups"]] == [(c, 12 - c) for c in range(12)]
    assert [group["name"] for group in data["groups"]] == facts.names
    looks = {group["cluster"]: (group["color"], group["shape"]) for group in data["groups"]}
    assert len(set(looks.values())) == 12
    assert all(looks[a][0] != looks[b][0] for a, b in pairwise(data["order"]))  # neighbors in the tree
    assert [level["n"] for level in data["levels"]] == facts.hierarchy.levels
    for level in data["levels"]:
        np.testing.assert_array_equal(level["of"], facts.hierarchy.cut(level["n"]))
        assert level["names"] == facts.level_names[level["n"]]
    assert data["levels"][-1]["of"] == list(range(12))


def test_second_choice_is_the_most_probable_other_cluster():
    model, views, _ = fit_model()
    probabilities = model.predict_proba(views)
    probabilities[np.arange(120), model.labels_] = -1
    second = np.where(probabilities.max(axis=1) >= 0.0001, probabilities.argmax(axis=1), -1)
    np.testing.assert_array_equal(unpack(Outline(Report(model, views).to_html()).data["columns"]["second"]), second)
    passed = np.where(np.arange(120) % 2, (model.labels_ + 1) % 3, -1)
    columns = Outline(Report(model, views, second_choice=passed.tolist()).to_html()).data["columns"]
    np.testing.assert_array_equal(unpack(columns["second"]), passed)


def test_neighbors_are_second_choices_and_then_similar_groups():
    y = np.repeat(np.arange(4), 5)
    points = np.array([0.0, 1.0, 10.0, 11.0])[y][:, None]
    views = cs.Views([points, points])
    second = np.where(y == 0, 3, -1)
    model = make_model(y, {"view0": y, "view1": y})
    hierarchy = cs.explain.Hierarchy(np.arange(4), np.array([[0, 1], [2, 3], [4, 5]]), np.arange(3.0))
    options = {"confidence": np.ones(20), "hierarchy": hierarchy, "layout": np.hstack([points] * 2)}
    facts = Report(model, views, second_choice=second, **options)._facts
    neighbors = find_neighbors(facts.hierarchy, facts.labels, facts.second_choice)
    assert neighbors[0] == [(3, 5), (1, 0), (2, 0)]
    assert [other for other, _ in neighbors[2]][:1] == [3]


def test_group_page_shows_support_members_and_differences():
    y = np.arange(60) % 3
    view_labels = {"text": np.where(np.arange(60) < 15, 0, y), "links": np.where(y == 1, -1, y)}
    views = cs.Views({name: np.random.default_rng(0).normal(size=(60, 2)) + 9 * y[:, None] for name in view_labels})
    price = cs.explain.OriginalColumn("price", 10.0 * (y == 1) + np.arange(60) / 60, "number", unit="$")
    confidence = np.linspace(1, 0, 60)
    report = Report(
        make_model(y, view_labels), views, confidence=confidence, columns=[price], second_choice=(y + 1) % 3
    )
    page = report.to_html().partition('<article id="group-1"')[2].partition("</article>")[0]
    assert "price 10.25–10.73 $, elsewhere 0.25–0.74 $" in page
    support = page.partition("Which views support it")[2].partition("</ul>")[0]
    assert re.findall(r"means\">([^<]*)", support) == ["75%", "no member has it"]
    typical, borderline = page.split("Borderline members")
    assert re.findall(r"<b><bdi>(\d+)", typical.partition("Typical members")[2]) == ["1", "4", "7", "10", "13"]
    assert re.findall(r"<b><bdi>(\d+)", borderline) == ["58", "55", "52", "49", "46"]
    assert "2%, a guess, then " in borderline
    assert "second choice of 20 members" in page


def test_one_view_has_no_agreement():
    views = cs.Views({"only": np.random.default_rng(0).normal(size=(50, 4))})
    for kind in (cs.MultiViewKMeans, cs.PCKMeans):
        html = Report(kind(3, random_state=0).fit(views), views).to_html()
        assert "With one view there is no other view to agree with" in html
        assert AGREEMENT_CAVEAT not in html
        assert "is contested. These are the ones of the lowest confidence." in html


def test_one_cluster_has_no_sections_about_agreement():
    X = np.random.default_rng(0).normal(size=(20, 3))
    views = cs.Views([X, X + 1])
    html = Report(cs.MultiViewKMeans(1, random_state=0).fit(views), views).to_html()
    assert '<h1 id="overview-title"><bdi>20 items in 1 group</bdi></h1>' in html
    assert "What marks it" not in html
    page = Outline(html)
    sections = [attributes["id"] for attributes in page.find("section")]
    assert sections == ["overview", "find", "data", "view-maps", "method"]
    assert set(page.data["columns"]) == {"cluster"}
    assert 'id="level"' not in html
    assert not {attributes["href"][1:] for attributes in page.find("a")} - {
        attributes.get("id") for _, attributes in page.elements
    }


def test_500_groups_are_listed_and_the_largest_described():
    y = np.repeat(np.arange(500), np.where(np.arange(500) < 200, 3, 2))
    points = np.random.default_rng(0).normal(size=(len(y), 3)) + y[:, None]
    views = cs.Views([points, points])
    model = make_model(y, {"view0": y, "view1": y})
    drawn = {"layout": points[:, :2], "hierarchy": make_chain(500)}
    html = Report(model, views, confidence=np.ones(len(y)), **drawn).to_html()
    assert len(html) < 4_000_000
    page = Outline(html)
    assert not page.errors
    assert len(page.data["groups"]) == 500
    assert html.count(" data-group=") == 500
    assert len([attributes for attributes in page.find("article") if attributes["id"] != "merged"]) == 200
    assert "300 smaller groups have no description" in html
    ids = {attributes.get("id") for _, attributes in page.elements}
    built_by_script = {f"group-{cluster}" for cluster in range(200, 500)}
    assert not {attributes["href"][1:] for attributes in page.find("a")} - ids - built_by_script


def test_page_speaks_of_items_and_groups():
    views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=6, missing=0.1, random_state=0)
    views = cs.Views({**dict(views.items()), "cluster": np.random.default_rng(0).normal(size=(150, 3))})
    model = cs.Consilience(3, random_state=0).fit(views)
    assessment = cs.assess(model, views, refit=True, max_entities=120)
    selection = cs.select_n_clusters(cs.MultiViewKMeans(random_state=0), views, [2, 3, 4], random_state=0)
    age = OriginalColumn("age", np.arange(150.0), "number", is_description=True)
    comparison = cs.Table({"method": ["all"], "clusters": [3], "entities": [150]})
    page = Outline(
        Report(
            model, views, labels=[None, *y[1:]], assessment=assessment, selection=selection, columns=[age],
            comparison=comparison, names=["a", "b", "c"],
            notes=["2 entities have no view 'entity'; see `consilience cluster`."],
        ).to_html()
    )  # fmt: skip
    prose = " ".join(text for element, text in page.texts if element not in ("script", "style", "code", "bdi"))
    sentences = [text for element, text in page.texts if element == "bdi" and " " in text]
    shown = re.sub(r"'(cluster|entity)'|`.*?`", "", " ".join([prose, *sentences]))
    assert re.findall(r".{20}\b(?:entit|cluster(?!e|i)).{20}", shown, re.IGNORECASE) == []
    assert "2 items have no view 'entity'; see `consilience cluster`." in sentences


def test_entities_in_no_cluster_are_counted_and_not_contested():
    y = np.array([-1, 0, 1] * 10)
    view_labels = {"a": np.arange(30) % 2, "b": np.abs(y)}
    views = cs.Views({name: np.eye(30) for name in "abc"})
    html = Report(make_model(y, view_labels), views[["a", "b"]], confidence=np.ones(30)).to_html()
    assert '10 items are in no group: <a href="#find"' in get_section(html, "overview")
    assert "<bdi>30 items in 2 groups</bdi>" in html
    expected = (view_labels["a"] != view_labels["b"]) & (y >= 0)
    np.testing.assert_array_equal(unpack(Outline(html).data["columns"]["contested"]), expected)
    agreeing = {"a": np.abs(y), "b": np.abs(y)}
    html = Report(make_model(y, agreeing), views[["a", "b"]], confidence=np.ones(30)).to_html()
    assert "no cluster" not in get_section(html, "contested")
    missing = {"a": np.where(np.arange(30) == 4, -1, 1 - np.abs(y)), "b": np.abs(y), "c": 1 - np.abs(y)}
    html = Report(make_model(y, missing), views, confidence=np.ones(30)).to_html()
    assert get_section(html, "contested").count('–<span class="unseen">missing</span>') == 1
    outliers = np.full(30, -1)
    html = Report(make_model(outliers, {"a": outliers}), views[["a"]], confidence=np.ones(30)).to_html()
    assert "There are no groups." in html
    assert "30 items are in no group" in html


def test_entities_are_contested_by_confirmed_views():
    y = np.arange(120) % 3
    view_labels = {"view0": y, "view1": np.where(np.arange(120) < 12, 2, y), "view2": (y + 1) % 3}
    views = cs.Views({name: np.random.default_rng(0).normal(size=(120, 2)) for name in view_labels})
    options = {"confidence": np.ones(120), "noun": "papers"}
    assessment = assess_figures(support=(0.5, 0.5, 0.01))
    html = Report(make_model(y, view_labels), views, assessment=assessment, **options).to_html()
    assert "8 are contested by the 2 of 3 views that are confirmed." in get_section(html, "agreement")
    assert "8 papers are contested by the 2 of 3 views that are confirmed: " in get_section(html, "contested")
    assert unpack(Outline(html).data["columns"]["contested"]).sum() == 8
    assert "the confirmed views contradict each other on 10% of its 40 papers" in get_section(html, "hints")
    assessment = assess_figures(support=(0.01, 0.01, 0.01))
    html = Report(make_model(y, view_labels), views, assessment=assessment, **options).to_html()
    words = "None of the papers is contested, because no two views confirm each other."
    assert words in get_section(html, "contested")


def test_constant_view_has_a_report():
    for n in (2, 6):
        y = np.arange(n) % 2
        views = cs.Views({"same": np.ones((n, 2)), "other": np.eye(n)})
        assert f"{n} items" in Report(make_model(y, {"same": y, "other": y}), views, confidence=y).to_html()


def test_change_that_is_small_beside_the_values_looks_flat():
    for values, share in (
        ([2.08, 2.085, 2.09], 0.05),
        ([-2000, -1995, -1990], 0.05),
        ([1, 2, 4], 1),
        ([0.1, 0, -0.1], 1),
    ):
        drawing = str(draw_line(values, "cost"))
        heights = [float(y) for y in re.findall(r"[\d.]+,([\d.]+)", drawing.partition('points="')[2].partition('"')[0])]
        assert np.ptp(heights) == pytest.approx(share * 84, abs=1)
        assert (heights[0] > heights[-1]) == (values[0] < values[-1])


def test_weights_rounds_ids_missing_views_and_missing_convergence_are_shown():
    model, views, _ = fit_model(missing=0.4)
    model.converged_ = False
    model.view_weights_ = {"view0": 0.25, "view1": 0.75}
    model.history_ = cs.Table({"round": [1, 2, 3], "cost": [np.nan, 2.0, np.inf], "agreement": [0.1, np.nan, 0.3]})
    html = Report(model, cs.Views(views, ids=[f"mouse {i}" for i in range(120)])).to_html()
    assert "did not converge" in html
    assert "The model did not converge: " in html
    assert "Weight of each view" in html
    assert html.count("<polyline") == 1  # rounds without a number are left out
    assert not re.search(r"\bnan\b", re.sub(r"<script.*?</script>", "", html, flags=re.S), flags=re.I)
    assert draw_line([np.nan, 1.0], "cost") is None
    assert "<bdi>mouse " in html
    assert "Missing views" in html
    assert "only one view, which no other can contradict" in html


def make_page_with_support(shares, runner_up=None, **options):
    """Return the page of a model whose views support the clusters by these shares."""
    _, views, y = fit_model()
    view_labels = dict.fromkeys(shares, y)
    columns = {"view": list(shares), "bits": [1.58 * share for share in shares.values()]}
    columns |= {"baseline": [0.02] * len(shares), "share": list(shares.values())}
    model = make_model(
        y, view_labels, view_information_=cs.Table(columns), runner_up_=runner_up, confidence_=np.full(len(y), 0.5)
    )
    named = cs.Views({name: views[f"view{i}"] for i, name in enumerate(shares)})
    return Report(model, named, **options).to_html()


def test_support_of_each_view_has_a_bar():
    page = make_page_with_support({"text": 0.62, "links": 0.031})
    section = get_section(page, "information")
    assert re.findall(r"width:([\d.]+)%", section) == ["62.0", "3.1"]
    assert section.count("View &#x27;links&#x27; does not support the groups: they rest on view &#x27;text&#x27; alone")
    assert "A second grouping" not in section
    assert page.count("does not support the groups") == 2  # in the summary, too
    assert "does not support" not in make_page_with_support({"text": 0.62, "links": 0.31})


def test_second_grouping_is_tabulated_by_clusters():
    _, _, y = fit_model()
    other = np.arange(len(y)) % 2
    page = make_page_with_support({"text": 0.62, "links": 0.31}, runner_up=other)
    section = page.partition("A second grouping")[2].partition("</section>")[0]
    assert "another with groups of 60, 60 items" in section
    numbers = [int(number) for number in re.findall(r'--heat:[\d.]+">(\d+)<', section)]
    assert numbers == [int(((y == c) & (other == d)).sum()) for c in range(3) for d in range(2)]
    assert "Two groupings are equally supported by your views" in get_section(page, "hints")


def test_confidence_is_shown_and_explained_with_an_assessment_only():
    meaning = "Confidence is the estimated probability that an item belongs to the kind that is most frequent"
    assert meaning in make_page_with_support({"view0": 0.6, "view1": 0.5}, assessment=assess_figures())
    page = make_page_with_support({"view0": 0.6, "view1": 0.5})
    assert not re.search(r"Confidence is|>Confidence<|mean confidence|%, sure", page)


def assess_figures(disagreement=0.02, ambiguity=0.1, support=(0.5, 0.5), n=120, **more):
    """Return an assessment with these figures, of three clusters and one view per support."""
    names = [f"view{v}" for v in range(len(support))] if "names" not in more else more.pop("names")
    views = cs.Table(
        {
            "view": np.array(names),
            "support": np.array(support),
            "confirmed_by": np.array([names[0] if value >= 0.05 else "" for value in support]),
            "confirmed": np.array(support) >= 0.05,
            "trust": np.full(len(names), 0.4),
            "share": np.linspace(0.8, 0.1, len(names)),
        }
    )
    columns = {"cluster": [0, 1, 2], "size": [40, 40, 40], "stability": [0.9, 0.25, np.nan], "margin": [0.8] * 3}
    table = cs.Table({name: np.array(values) for name, values in columns.items()})
    stability = np.where(np.arange(n) % 2, 1.0, np.nan)
    return cs.Assessment(disagreement, ambiguity, table, views, stability, np.full(n, 0.5), [], n, 1, **more)


def test_page_begins_with_the_verdict():
    model, views, _ = fit_model()
    for disagreement, look, words in (
        (0.02, "stable", "Stable"),
        (0.3, "mixed", "Mixed"),
        (0.9, "unreliable", "Do not rely"),
    ):
        assessment = assess_figures(disagreement)
        html = Report(model, views, assessment=assessment, noun="papers").to_html()
        assert not Outline(html).errors
        overview = get_section(html, "overview")
        assert f'<div class="verdict {look}"><p class="reason"><strong class="badge">{words}</strong>' in overview
        assert f"{1 - disagreement:.0%} of papers keep their group when the data is resampled" in overview
        reliance = get_section(html, "reliance")
        for sentence in (assessment.reason[1:], assessment.worth, assessment.estimate):
            assert escape(say_items(sentence)) in reliance
    marks = re.findall(r'class="quality (\w+)" title="([^"]*)"', overview)
    assert marks == [
        ("stable", "stable: 90% stay in it when the data is resampled"),
        ("unreliable", "unstable: 25% stay in it when the data is resampled"),
    ]
    assert '<span class="quality">–<span class="unseen"> not assessed</span></span>' in overview


def test_impurity_needs_confirmed_views():
    model, views, _ = fit_model()
    html = Report(model, views, assessment=assess_figures(support=(0.01, 0.01))).to_html()
    assert "<dt>Estimated impurity</dt>" not in html
    assert "There is no estimate of the impurity, and no confidence, because no two views confirm each other." in html
    assert "<dt>Estimated impurity</dt>" in Report(model, views, assessment=assess_figures()).to_html()


def test_page_without_assessment_says_so(full_page):
    assert '<div class="verdict unknown"><p class="reason"><strong class="badge">Not assessed</strong>' in full_page
    assert "run it without --no-assess to find out." in full_page  # it has a command
    assert 'id="reliance"' not in full_page


def test_reliance_shows_views_clusters_and_the_alternative():
    y = np.arange(120) % 3
    blocks = {name: np.random.default_rng(0).normal(size=(120, 2)) for name in ("view0", "view1", "view2")}
    inner = assess_figures(support=(0.5, 0.5))
    without = cs.assessment.Alternative(("view2",), None, np.arange(120), inner, 0.93)
    assessment = assess_figures(0.3, support=(0.5, 0.5, 0.01), alternative=without, notes=["A limit <b>."])
    model = make_model(y, dict.fromkeys(blocks, y))
    html = Report(model, cs.Views(blocks), confidence=np.ones(120), assessment=assessment).to_html()
    advice = "Compare the result without 'view2': without it, 98% of items keep their group instead of 70%."
    assert escape(advice) in get_section(html, "overview")
    section = get_section(html, "reliance")
    assert re.findall(r'scope="row"><bdi>(view\d)', section) == ["view0", "view1", "view2"]
    assert section.count("no other view") == 1
    assert section.count("No other view confirms view &#x27;view2&#x27;") == 1
    assert "The result without <bdi>view2</bdi>" in section
    assert '<strong class="badge stable">Stable</strong>' in section
    assert "Its model is <code>assessment.alternative.model</code>." in section
    assert "labels.csv" not in section
    assert "A limit &lt;b&gt;." in section
    stabilities = re.findall(r"</span></span>([^<]*%|–)</span>", section.partition("How stable each group is")[2])
    assert stabilities == ["25%", "90%", "–"]
    hints = get_section(html, "hints")
    assert hints.count("No other view confirms view &#x27;view2&#x27;") == 1
    assert "agrees least with the others" not in hints


def test_assessment_replaces_the_sentence_about_unsupported_views():
    page = make_page_with_support({"view0": 0.62, "view1": 0.01}, assessment=assess_figures())
    assert "does not support the clusters" not in page
    section = get_section(page, "information")
    assert re.findall(r"width:([\d.]+)%", section) == ["62.0", "1.0"]


def test_stability_of_clusters_and_entities_is_shown(monkeypatch):
    model, views, _ = fit_model()
    confidence = np.array([0.9, 0.89, 0.5, 0.49, np.nan])[np.arange(120) % 5]
    monkeypatch.setattr(cs.Assessment, "confidence", confidence, raising=False)
    page = Outline(Report(model, views, assessment=assess_figures()).to_html())
    assert {group["cluster"]: group["stability"] for group in page.data["groups"]} == {0: 0.9, 1: 0.25, 2: None}
    columns = page.data["columns"]
    assert unpack(columns["stability"]).tolist() == [-1, 1000] * 60
    assert unpack(columns["sure"]).tolist() == [90, 89, 50, 49, 65535] * 24
    words = ["sure", "likely", "doubtful", "a guess"]
    assert [page.data["words"][percent] for percent in (90, 89, 50, 49)] == words


def test_hostile_view_names_in_the_assessment_and_the_support_are_escaped():
    y = np.arange(120) % 3
    names = [SCRIPT, ENDING, IMAGE]
    views = cs.Views({name: np.random.default_rng(0).normal(size=(120, 2)) for name in names})
    inner = assess_figures(names=names[:2])
    without = cs.assessment.Alternative((IMAGE,), None, np.arange(120), inner, 0.5)
    assessment = assess_figures(support=(0.5, 0.5, 0.01), names=names, alternative=without, notes=[SCRIPT])
    model = make_model(y, dict.fromkeys(names, y))
    for html in (
        Report(model, views, confidence=np.ones(120), assessment=assessment).to_html(),
        make_page_with_support({SCRIPT: 0.01, "links": 0.31}),
    ):
        page = Outline(html)
        assert not page.errors
        assert len(page.find("script")) == 2
        assert not page.find("img")


def test_supported_numbers_of_clusters_are_marked():
    model, views, _ = fit_model()
    selection = cs.select_n_clusters(cs.Consilience(), views, [2, 3, 4, 6])
    html = Report(model, views, selection=selection).to_html()
    assert not Outline(html).errors
    section = get_section(html, "selection")
    assert escape(say_items(selection.reason)) in section
    assert section.count(" supported</strong>") == len(selection.supported)
    assert "Bits beyond chance" in section
    none = cs.selection.Selection(1, "No evidence for groups: a <test>.", selection.table)
    html = Report(model, views, selection=none).to_html()
    section = get_section(html, "selection")
    assert 'class="bar"' not in section
    assert "Score, relative to the highest" not in section
    overview = get_section(html, "overview")
    assert '<strong class="badge">No evidence for groups</strong> <bdi>A &lt;test&gt;.</bdi>' in overview
    assert "form one group" not in overview  # there are three
    selection = cs.select_n_clusters(cs.Consilience(), views[[views.names[0]]], [2, 3])
    assert "Modularity" in get_section(Report(model, views, selection=selection).to_html(), "selection")


def test_small_groups_get_no_hints_about_size():
    y = np.arange(300) // 2
    views = cs.Views({name: np.random.default_rng(0).normal(size=(300, 2)) for name in "ab"})
    model = make_model(y, {"a": y, "b": (y + 1) % 150}, converged_=False)
    sizes = cs.Table({"size": np.array([2]), "groups": np.array([150])})
    groups = cs.selection.Selection(150, "150 groups.", sizes, (150,), labels=y)
    words = "did not converge", "less than 1% of the items"
    for selection, is_shown in ((None, True), (groups, False)):
        html = Report(model, views, confidence=np.ones(300), selection=selection).to_html()
        assert [text in get_section(html, "hints") for text in words] == [is_shown] * 2
        assert ('<section id="contested"' in html) == is_shown


def test_classes_are_named_and_unknown_ones_counted():
    model, views, y = fit_model()
    labels = y.astype(object)
    labels[:7] = None
    html = Report(model, views, labels=labels, class_names=["cat", "dog", "cow"]).to_html()
    table = html[html.index("Classes (rows) by groups") :]
    assert table.index("cat") < table.index("dog") < table.index("cow")
    assert "7 items of unknown class not counted." in html


def test_clusters_are_ordered_by_matching_class():
    counts = np.array([[0, 9, 1, 0], [8, 0, 0, 1], [1, 0, 7, 5]])
    assert order_by_match(counts).tolist() == [1, 0, 2, 3]


def test_best_of_each_column_is_marked():
    model, views, _ = fit_model()
    table = cs.Table.from_rows(
        [
            {"method": "a", "nmi": 0.9, "agreement": 0.7, "seconds": 3.0, "entropy": np.nan, "clusters": 3, "odd": 1.0},
            {"method": "b", "nmi": 0.5, "agreement": 0.8, "seconds": 1.0, "entropy": 0.5, "clusters": 4, "odd": 2.0},
        ]
    )
    html = Report(model, views, comparison=table).to_html()
    best = re.findall(r"<strong>([^<]*)</strong><span class=\"best\">", html)
    assert best == ["0.900", "1"]


def test_texts_are_quoted_and_changed_settings_marked():
    model, views, _ = fit_model()
    texts = [f"the story of {i}" if i % 3 else (None, float("nan"), " ", "")[i % 4] for i in range(120)]
    settings = {"scaling": "none", "loader": lambda: None, "object": object()}
    html = Report(model, views, texts={"view0": texts, "view1": None}, settings=settings).to_html()
    assert "the story of" in html
    assert "<bdi>nan</bdi>" not in html
    settings = html[html.index("<caption>Settings") :]
    assert re.search(r"<bdi>n_clusters</bdi>.*?<bdi>3</bdi>.*?changed", settings)
    assert re.search(r"<bdi>tol</bdi>.*?<bdi>1e-06</bdi>.*?default", settings)
    assert re.search(r"<bdi>scaling</bdi>.*?<bdi>none</bdi>.*?given", settings)
    assert cs.__version__ in settings
    assert "&lt;object object&gt;" in settings
    assert " at 0x" not in html


def test_what_does_not_fit_the_model_is_refused():
    model, views, _ = fit_model()
    for options, message in (
        ({"labels": [0, 1]}, "labels: 2 entries for 120 entities; give one class per entity"),
        ({"confidence": [0.5]}, "confidence: 1 entries for 120 entities; give one number per entity"),
        ({"assessment": assess_figures(n=1)}, "assessment: 1 entries for 120 entities; give the assessment"),
        ({"texts": {"view0": ["a"]}}, "texts of view 'view0': 1 entries for 120 entities; give one text per entity"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            Report(model, views, **options)
    for name, function in (("assessment", "cs.assess"), ("selection", "cs.select_n_clusters")):
        with pytest.raises(TypeError, match=f"{name} must come from {function}, got str"):
            Report(model, views, **{name: "yes"})
    with pytest.raises(ValueError, match="give the views that the model was fitted on"):
        Report(model, views[:5])
    with pytest.raises(ValueError, match="has no labels_: fit it first"):
        Report(cs.MultiViewKMeans(3), views)


def test_small_clusters_keep_points_on_the_map():
    labels = np.repeat([0, 1, 2], [99_000, 990, 10])
    rows = sample_entities(labels)
    shown = np.bincount(labels[rows])
    assert len(rows) <= 4000
    assert shown[2] == 10
    assert shown[1] >= 30
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(sample_entities(labels[:4000]), np.arange(4000))
    packed = pack_numbers([-1, 40_000], "i2")
    assert packed["array"] == "Int32Array"
    assert unpack(packed).tolist() == [-1, 40_000]
    assert pack_numbers([-1, 32_767], "i2")["array"] == "Int16Array"


def test_markup_escapes_by_default():
    assert tag("a", "<b>", title='"x"', hidden=None, open=False) == '<a title="&quot;x&quot;">&lt;b&gt;</a>'
    assert join_html(["&", tag("i", "&")]) == "&amp;<i>&amp;</i>"
    assert mark_user_text("x" * 70, 10) == f'<bdi title="{"x" * 70}">xxxxxxxxx…</bdi>'
    assert clean_text("a\x00b\ud800 c\n\td") == "a\ufffdb\ufffd c d"
    assert [format_share(share) for share in (0, 0.0001, 0.004, 0.5, 0.9951, 0.9999, 1, np.nan)] == [
        "0%", "<1%", "0.4%", "50%", "99.5%", ">99.9%", "100%", "–",
    ]  # fmt: skip


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    dark, bright = sorted((luminance(first), luminance(second)))
    return (bright + 0.05) / (dark + 0.05)


def mix(first, second, share):
    pairs = [(int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def test_colors_have_enough_contrast():
    style = (files("consilience.report") / "style.css").read_text()
    pairs = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", style)
    shade = float(re.search(r"var\(--heat\) \* (\d+)%", style)[1]) / 100
    for theme in range(2):
        colors = {name: values[theme] for name, *values in pairs}
        deepest = mix(colors["accent"], colors["card"], shade)
        for text in ("ink", "soft", "accent"):
            for ground in ("paper", "card", "wash"):
                assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
        assert contrast(colors["ink"], deepest) >= 4.5
        for verdict in ("stable", "mixed", "unreliable"):
            assert contrast(colors[verdict], colors["card"]) >= 4.5, verdict
        for sign in ["edge", *(f"k{i}" for i in range(10))]:
            assert contrast(colors[sign], colors["card"]) >= 3, sign


def test_model_of_a_single_view_has_a_report():
    _, views, _ = fit_model()
    model = cs.baselines.SingleView(cs.MultiViewKMeans(3, n_init=1, random_state=0), "view0").fit(views)
    page = Outline(Report(model, views).to_html())
    assert not page.errors
    np.testing.assert_array_equal(unpack(page.data["columns"]["cluster"]), model.labels_)


# --- titles and names of groups ---------------------------------------------------------------------------------------


def test_titles_and_names_of_levels_are_those_of_the_user_or_computed():
    model, views, _ = fit_model()
    names = ["knives", "apples", "chairs"]
    report = Report(model, views, names=names, noun="<b>")
    assert "<title>120 &lt;b&gt; in 3 groups</title>" in report.to_html()
    facts = report._facts
    assert list(facts.level_names) == [1, 2, 3]
    assert facts.level_names[3] == names
    assert facts.level_names[1] == ["all"]
    merged, single = np.bincount(facts.hierarchy.cut(2)).argsort()[::-1]
    assert facts.level_names[2][single] == names[facts.hierarchy.cut(2).tolist().index(single)]
    assert facts.level_names[2][merged].endswith(" and 1 more")
    facts = Report(model, views, level_names={1: ["all\x00 of it"], 3: names})._facts
    assert facts.level_names == {1: [clean_text("all\x00 of it")], 3: names}
    model.labels_ = np.zeros(120, dtype=int)
    assert Report(model, views, noun="patients")._facts.title == "120 patients in 1 group"


def test_texts_that_differ_late_are_both_searched():
    texts = [None] * 300
    views = cs.Views([np.arange(300.0)[:, None] // 100])
    columns = [
        OriginalColumn(name, np.array([*texts[:-1], name], dtype=object), "text") for name in ("first", "second")
    ]
    facts = Report(cs.MultiViewKMeans(3, random_state=0).fit(views), views, columns=columns)._facts
    assert list(collect_texts(facts)) == ["first", "second"]
