"""The page of all papers: whole, safe, and the same numbers as everywhere."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from made_up_outcomes import LONG, all_outcomes, plain_outcomes
from reproduction.engine import page as page_module
from reproduction.engine import tables
from reproduction.engine.entries import format_number, format_with_spread, iterate_entries
from waiting import PAGE_LIMIT

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><script>window.pwned=1</script></svg>'
VOID = {"meta", "link", "img", "br"}


class Reader(HTMLParser):
    """What is where on a page: the text, the elements, and that all are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.elements, self.text = [], [], ""
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.stack.append(name)

    def handle_endtag(self, name):
        assert self.stack.pop() == name

    def handle_data(self, data):
        if "style" not in self.stack:
            self.text += data

    def all(self, name):
        return [attributes for tag_name, attributes in self.elements if tag_name == name]


@pytest.fixture(scope="module")
def text():
    outcomes = all_outcomes()
    drawn = {(outcome.paper.name, outcome.study.name): SVG for outcome in outcomes if outcome.study.figure}
    return page_module.render_page(outcomes, drawn)


@pytest.fixture(scope="module")
def read(text):
    return Reader(text)


def test_both_numbers_and_reasons_are_on_the_page(read):
    for outcome in all_outcomes():
        for *_, entry in iterate_entries(outcome):
            assert format_with_spread(entry) in read.text
            if entry.published is not None:
                assert f"{entry.closeness} published {format_number(entry.published)}" in read.text
        for reason in outcome.missing.values():
            assert reason.replace("`", "") in read.text
    assert "Not the paper's own data" in read.text
    assert "quadrants: the paper's variances are not printed" in read.text
    assert "in none of 1 panels (other data: drawn with replacement)" in read.text


def test_page_needs_no_network(text, read):
    addresses = [attributes[name] for _, attributes in read.elements for name in ("href", "src") if name in attributes]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|url\((?!['\"]?data:)", text)
    (policy,) = (attributes["content"] for attributes in read.all("meta") if "http-equiv" in attributes)
    assert "default-src 'none'" in policy
    assert read.all("script") == []


def test_foreign_text_is_escaped(text, read):
    assert {name for name, _ in read.elements} <= {
        "html", "head", "meta", "title", "link", "style", "body", "header", "nav", "main", "section", "div", "footer",
        "a", "p", "h1", "h2", "h3", "h4", "ol", "ul", "li", "dl", "dt", "dd", "b", "i", "bdi", "code", "small", "span",
        "select", "option", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "details", "summary",
        "img", "label",
    }  # fmt: skip
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert "<script>window.pwned=1</script>" in read.text
    assert f'title="{LONG.strip()}"' in text, "long names are cut"


def test_counts_match_the_verdicts(text):
    counts = tables.count_verdicts(all_outcomes())
    big = re.findall(r"<dd><b>(\d+)</b></dd>", text)
    assert [int(number) for number in big] == [counts[status] for status in page_module.HEADLINE]
    assert "Where only other data are available, 1 claim holds and 2 do not." in text
    foot = re.search(r"<tfoot>.*</tfoot>", text).group()
    assert [int(number) for number in re.findall(r"<td>(\d+)</td>", foot)] == list(counts.values())
    tallies = re.findall(r'class="tally ([\w-]+)"><i aria-hidden="true">[^<]*</i>(\d+)<', text)
    plain = tables.count_verdicts(plain_outcomes())
    for status, name in page_module.CLASSES.items():  # a paper of one study has no list
        assert sum(int(n) for class_name, n in tallies if class_name == name) == plain[status]


def test_status_has_sign_and_word_and_names_become_headings(text):
    for status, sign in tables.SIGNS.items():
        signs = re.findall(rf'<span class="status {page_module.CLASSES[status]}">(.*?)</span>', text)
        assert set(signs) == {f'<i aria-hidden="true">{sign}</i> {status}'}
    names = {"figure-2-left": "Figure 2 left", "section-5-3": "Section 5.3"}
    assert [page_module.format_heading(name) for name in names] == list(names.values())
    prose = [page_module.format_prose(words) for words in ("see `word-counts` < 2", "a ` b <i>")]
    assert prose == ["see <code>word-counts</code> &lt; 2", "a ` b &lt;i&gt;"]


def test_headings_are_nested_and_ids_unique(read):
    levels = [int(name[1]) for name, _ in read.elements if re.fullmatch(r"h\d", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for attributes in read.all("a")} <= set(ids)


def test_tables_and_figures_are_accessible(read):
    assert all(attributes.get("scope") in {"row", "col"} for attributes in read.all("th"))
    assert len(read.all("caption")) == len(read.all("table"))
    pictures = read.all("img")
    assert len(pictures) == 3
    assert "average entropy by number of clusters, for text and links" in pictures[0]["alt"]
    assert "co-EM" in pictures[0]["alt"]
    assert all(attributes["src"].startswith("data:image/svg+xml;base64,") for attributes in pictures)


def test_tables_are_collapsible_next_to_figures(read):
    assert Reader(page_module.render_page(plain_outcomes(), {})).all("details") == []
    opened = ["open" in attributes for attributes in read.all("details")]
    assert opened == [True] * 3, "published numbers in each"
    lines = plain_outcomes()[0]
    unprinted = type(lines.paper)("unprinted-2000", "", "", "", lines.paper.studies, {})
    other = type(lines)(unprinted, lines.study, lines.panels, (), {}, 1.0)
    folded = Reader(page_module.render_page([other], {("unprinted-2000", "figure-1"): SVG}))
    assert ["open" in attributes for attributes in folded.all("details")] == [False]
    assert "How to read the tables" not in folded.text


def test_pages_are_reproducible_and_may_have_single_runs_or_no_outcomes(text):
    drawn = {(outcome.paper.name, outcome.study.name): SVG for outcome in all_outcomes() if outcome.study.figure}
    assert page_module.render_page(all_outcomes(), drawn) == text
    assert "±" not in Reader(page_module.render_page(plain_outcomes()[2:], {})).text
    assert "0 tables and figures of 0 papers" in Reader(page_module.render_page([], {})).text


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_browser_runs_no_script_and_nothing_overflows(width, scheme, text, tmp_path, browser):
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    messages, requests = [], []
    with browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.set_default_timeout(PAGE_LIMIT)
        page.on("console", lambda message: messages.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("window.pwned") is None
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.select_option("#colours", {"light": "dark", "dark": "light"}[scheme])
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background
    assert messages == []
    assert all(address.startswith(("file:", "data:")) for address in requests)
