"""Choose encodings of texts and links from files."""

import numpy as np
import pytest

from consilience.data import Table
from consilience.files import fit_and_encode, join_contents
from consilience.files.kinds import ViewContent
from consilience.pipeline import encodings
from consilience.pipeline.encodings import (
    describe_choice,
    draw_entities,
    select_encodings,
    take_common_entities,
    take_entities,
)
from consilience.selection import RepresentationChoice


def build_contents(n=300, n_groups=4, text_share=0.25, homophily=0.9, seed=0):
    """Papers of four groups: words that show the group weakly, and links that mostly stay within it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_groups, size=n)
    ids = np.array([f"p{i}" for i in range(n)], dtype=object)
    texts = []
    for group in y.tolist():
        topical = rng.random(12) < text_share
        words = np.where(topical, group * 40 + rng.integers(40, size=12), n_groups * 40 + rng.integers(100, size=12))
        texts.append(" ".join(f"word{word}" for word in words))
    sources = rng.integers(n, size=3 * n)
    within = [rng.choice(np.flatnonzero(y == y[source])) for source in sources.tolist()]
    targets = np.where(rng.random(3 * n) < homophily, within, rng.integers(n, size=3 * n))
    links = ids[sources], ids[targets], np.ones(3 * n)
    contents = [
        ViewContent("text", "papers.csv", "text", np.array(texts, dtype=object), n, ids),
        ViewContent("cites", "cites.csv", "links", links, 3 * n, None),
    ]
    return contents, y


def choose_always(name):
    def compare(candidates, **options):
        compare.calls.append((candidates, options))
        names = list(candidates)
        table = Table({"candidate": np.array(names), "score": np.linspace(0.5, 0.9, len(names))})
        return RepresentationChoice(name if name in candidates else names[0], table, "", 1)

    compare.calls = []
    return compare


@pytest.fixture
def short_texts(monkeypatch):
    """Offer two encodings of texts that need no further package."""
    monkeypatch.setattr(
        encodings,
        "list_text_candidates",
        lambda content: ["words", "words+lsa"] if content.kind == "text" else ["words"],
    )


@pytest.mark.parametrize(("text_share", "homophily"), [(0.15, 0.9), (0.6, 0)])
def test_links_that_join_alike_entities_are_used_beyond_rows(text_share, homophily):
    contents, _ = build_contents(text_share=text_share, homophily=homophily)
    choices = select_encodings(contents, join_contents(contents), rare=True, encode={"text": "words"}, n_clusters=4)
    assert choices.encode["text"] == "words"
    assert choices.tables["cites"]["candidate"].tolist() == ["rows", "graph", "rows+smooth", "smooth"]
    (note,) = choices.notes
    if homophily:
        assert choices.encode["cites"] in ("graph", "rows+smooth", "smooth")
        assert note.startswith("View 'cites' is used ")
        assert note.endswith("--encode cites=rows keeps the default.")
    else:
        assert choices.encode["cites"] == "rows"
        assert note.startswith("View 'cites' is used as rows of linked ids: other encodings do not make")


def test_contents_are_chosen_in_turn_with_links_last(short_texts, monkeypatch):
    contents, _ = build_contents(n=100)
    compare = choose_always("words+lsa")
    monkeypatch.setattr(encodings, "compare_representations", compare)
    choices = select_encodings(contents[::-1], join_contents(contents), rare=True, n_clusters=3)
    assert choices.encode == {"text": "words+lsa", "cites": "rows"}
    (texts, text_options), (links, link_options) = compare.calls
    assert texts["words"].names == ("cites-out", "cites-in", "text")
    assert "text-topics" in links["rows"].names  # the choice for the text holds when links are compared
    assert links["graph"].names == ("cites", "text", "text-topics")
    assert (text_options["precomputed"], link_options["precomputed"]) == (set(), {"cites"})
    assert text_options["dependent"] == set()
    assert link_options["dependent"] == {"text-over-cites", "text-topics-over-cites"}
    assert (text_options["least_kept"], link_options["least_kept"]) == (0.5, 0.98)
    assert text_options["n_clusters"] == 3


def test_encodings_of_the_user_are_kept(short_texts):
    contents, _ = build_contents(n=100)
    user = {"text": "lsa", "cites": "graph"}
    choices = select_encodings(contents, join_contents(contents), rare=True, encode=user)
    assert (choices.encode, choices.notes, choices.tables) == (user, [], {})
    contents, _ = build_contents(n=30)
    choices = select_encodings(contents, join_contents(contents), rare=True)
    assert choices.encode == {}, "too few entities keep the default"
    words = "View 'text' is used by its words: encodings could not be compared (30 different entities are too few"
    assert choices.notes[0].startswith(words)


def test_sample_is_encoded_as_its_entities_alone():
    """Rows of links and words of a sample are those of files that only have the sampled entities."""
    contents, _ = build_contents(n=200)
    entities = join_contents(contents)
    sample = np.sort(np.random.default_rng(0).choice(200, 120, replace=False))
    sampled_contents, sampled_entities = take_entities(contents, entities, sample)
    sampled = fit_and_encode(sampled_contents, rare=True, entities=sampled_entities)
    names = set(entities.ids[sample].tolist())
    text, cites = contents
    kept = [source in names and target in names for source, target in zip(*cites.data[:2], strict=True)]
    alone = [
        ViewContent("text", "papers.csv", "text", text.data[sample], len(sample), text.ids[sample]),
        ViewContent("cites", "cites.csv", "links", tuple(column[kept] for column in cites.data), sum(kept), None),
    ]
    expected = fit_and_encode(alone, rare=True)
    assert sampled.views.names == expected.views.names
    assert sampled.ids.tolist() == expected.ids.tolist()
    for name, block in expected.views.items():
        np.testing.assert_array_equal(sampled.views[name].toarray(), block.toarray())
    assert take_entities(contents, entities, np.arange(200)) == (contents, entities)


def test_large_data_is_sampled(monkeypatch, tune):
    tune("pipeline.encodings", max_sampled=150)
    contents, _ = build_contents(n=400)
    entities = join_contents(contents)
    rng = np.random.default_rng(0)
    random, grown = draw_entities(entities, None, rng), draw_entities(entities, contents[1], rng)
    assert len(random) == len(grown) == 150

    def count_links(sample):
        names = entities.ids[sample]
        return int((np.isin(contents[1].data[0], names) & np.isin(contents[1].data[1], names)).sum())

    assert count_links(grown) > 1.3 * count_links(random)
    compare = choose_always("graph")
    monkeypatch.setattr(encodings, "compare_representations", compare)
    select_encodings(contents, entities, rare=True, encode={"text": "words"})
    assert {len(views) for views in compare.calls[0][0].values()} == {150}


def test_common_entities():
    contents, _ = build_contents(n=100)
    texts = contents[0].data.copy()
    texts[:3] = None
    sparse = [ViewContent("text", "papers.csv", "text", texts, 100, contents[0].ids), contents[1]]
    encoded = {
        "all": fit_and_encode(contents, rare=True),
        "words": fit_and_encode(sparse[:1], rare=True, entities=join_contents(contents)),
    }
    common = take_common_entities(encoded)
    assert {name: len(views) for name, views in common.items()} == {"all": 97, "words": 97}
    assert common["all"].ids.tolist() == common["words"].ids.tolist()


def test_description_of_a_choice():
    content = ViewContent("gloss", "senses.csv", "text", [], 0, None)
    table = Table({"candidate": np.array(["words", "words+semantic"]), "score": np.array([0.484, 0.611])})
    assert describe_choice(content, RepresentationChoice("words+semantic", table, "", 1)) == (
        "View 'gloss' is used by its meaning beside its words: from other entities the views then predict 61% of the "
        "information about the clusters, against 48%. --encode gloss=words keeps the default."
    )
    assert describe_choice(content, RepresentationChoice("words", table, "", 1)) == (
        "View 'gloss' is used by its words: other encodings do not make clusters that the views predict clearly better."
    )
