"""`--encode`: views by meaning from files to the report and to new entities."""

import re

import numpy as np
import pytest

from consilience.data import Views
from consilience.pipeline.single_views import concatenate_views
from consilience.registry import find_estimator, join_kinds
from stage import assert_refused, get_clusters, read_labels, read_summary, run_command, run_successfully, write_csv

pytest.importorskip("wordllama")

pytestmark = pytest.mark.xdist_group("command: encode")  # whose runs are shared

THINGS = {
    "animal": ["dog", "cat", "horse", "wolf"],
    "vehicle": ["car", "truck", "bus", "train"],
    "food": ["bread", "cheese", "soup", "apple"],
}
PHRASES = ["a young {}", "the {} of a farmer", "an old {} that is big", "any {}", "{} from the city", "my first {}"]


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """A table of short texts, which share few words within their class, and of numbers that tell classes apart."""
    path = tmp_path_factory.mktemp("things") / "things.csv"
    rng = np.random.default_rng(0)
    rows = [
        (f"{word}{i}", phrase.format(word), *np.round(rng.normal(size=2) + 4 * number, 3), name)
        for number, (name, words) in enumerate(THINGS.items())
        for word in words
        for i, phrase in enumerate(PHRASES)
    ]
    write_csv(path, ["id", "text", "x", "y", "class"], rows)
    return path


def name_views(path):
    return "--view", f"text={path}:text", "--view", f"size={path}:x,y"


ENCODINGS = ["semantic", "words+semantic", "lsa"]


@pytest.fixture(scope="module")
def runs(things, tmp_path_factory):
    """Folders of runs, by encoding."""
    folders = {}
    for encoding in ENCODINGS:
        folders[encoding] = tmp_path_factory.mktemp("runs") / encoding
        options = ("--labels", "class", "-k", 3, "--encode", f"text={encoding}", "--no-assess")
        run_successfully("cluster", *name_views(things), *options, "--out", folders[encoding])
    return folders


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_new_entities_are_encoded_as_in_the_fit(runs, things, tmp_path, encoding):
    run_successfully("predict", runs[encoding], *name_views(things), "--out", tmp_path / "new.csv")
    fitted, new = read_labels(runs[encoding] / "labels.csv"), read_labels(tmp_path / "new.csv")
    assert np.mean(np.array(get_clusters(fitted)) == np.array(get_clusters(new))) > 0.9


def test_summary_records_encodings_and_kinds(runs):
    facts = read_summary(runs["words+semantic"])
    assert facts["inputs"]["encode"] == ["text=words+semantic"]
    assert {name: view["kind"] for name, view in facts["views"].items()} == {
        "text": "text",
        "text-meaning": "embedding",
        "size": "numbers",
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_report_describes_clusters_by_words_and_can_be_written_again(runs, encoding, tmp_path):
    page = (runs[encoding] / "report.html").read_text(encoding="utf-8")
    blocks = page.partition('class="group-pages"')[2].partition("</section>")[0]
    headings = re.findall(r"<h4><bdi>([^<]*)", blocks)
    assert {"text", "size"} <= set(headings)
    assert "text-meaning" not in headings  # it has the texts of the view 'text'
    assert "<small>column </small>" not in blocks  # no dimension without a name
    terms = re.findall(r'<span class="term"><bdi>([^<]*)', blocks)
    assert {"dog", "bread", "car"} & set(terms)
    run_successfully("report", runs[encoding], "--out", tmp_path / "again.html")
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert re.sub(r"<time.*?</time>", "", again) == re.sub(r"<time.*?</time>", "", page)


@pytest.mark.parametrize("method", ["co-em", "agglomerative", "convex"])
def test_methods_take_embeddings(method, things, tmp_path):
    options = ("-k", 3, "--method", method, "--no-assess", "--encode", "text=words+semantic", "--labels", "class")
    run_successfully("cluster", *name_views(things), *options, "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert facts["views"]["text-meaning"]["kind"] == "embedding"
    assert facts["clusters"] == 3
    assert facts["scores"]["nmi"] > 0.5


@pytest.mark.parametrize(
    ("encodings", "message", "code"),
    [
        (["tekst=words"], "--encode names the view 'tekst', but the views are 'text', 'size'. Did you mean 'text'?", 1),
        (["text=semantc"], "Did you mean 'semantic'?", 1),
        (["text"], "--encode needs the form NAME=ENCODING, got 'text'", 2),
        (["text=words", "text=lsa"], "--encode text is given twice: words and lsa", 2),
    ],
)
def test_unsuitable_encodings_are_refused(things, tmp_path, monkeypatch, encodings, message, code):
    monkeypatch.chdir(things.parent)
    options = [word for encoding in encodings for word in ("--encode", encoding)]
    ran = run_command("cluster", *name_views("things.csv"), "-k", 3, *options, "--out", tmp_path / "out")
    assert_refused(ran, message, code=code)
    assert not (tmp_path / "out").exists()


def test_compare_takes_encodings(things, compare_few):
    compare_few("k-means")
    printed = run_successfully("compare", *name_views(things), "-k", 3, "--refits", 0, "--encode", "text=semantic").out
    assert "embedding" in printed


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"a": "text", "b": "links"}, "counts"),
        ({"a": "text", "b": "embedding"}, "embedding"),
        ({"a": "embedding", "b": "numbers"}, "numbers"),
    ],
)
def test_kind_of_views_side_by_side(kinds, expected):
    assert join_kinds(kinds) == expected


def test_embeddings_keep_their_length_side_by_side():
    rows = np.eye(4)
    joined, kinds = concatenate_views(
        Views({"a": rows, "b": rows}), {"a": "embedding", "b": "numbers"}, raw_counts=False
    )
    np.testing.assert_allclose(joined["all"], np.hstack([rows, rows / 2]))
    assert kinds == {"all": "numbers"}


def test_options_for_embeddings():
    kinds = {"a": "embedding", "b": "numbers"}
    assert find_estimator("co-em").choose_options(kinds)["families"] == {"a": "von-mises-fisher", "b": "gaussian"}
    assert find_estimator("agglomerative").choose_options(kinds)["metric"] == {"a": "cosine", "b": "euclidean"}
    assert find_estimator("convex").choose_options(kinds)["divergence"] == {"a": "cosine", "b": "squared-euclidean"}
