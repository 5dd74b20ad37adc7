"""Names of clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import consilience as cs
from consilience.data.inputs import ViewInput
from consilience.datasets import load_word_senses
from consilience.explain import NO_CLUSTER, name_clusters, terms
from waiting import limit_cpu_seconds

LABELS = np.repeat([0, 1, 2], 10)


def make_view(values, features):
    return ViewInput(values, columns=np.array(features, dtype=str))


def make_words(*texts, times=10):
    """A view of words: each text is that of all entities of one cluster."""
    counter = CountVectorizer()
    counts = counter.fit_transform([text for text in texts for _ in range(times)])
    return cs.Views.from_inputs({"text": make_view(sp.csr_array(counts), counter.get_feature_names_out())})


def split_words(names):
    return [set(name.split(", ")) for name in names]


def test_terms_are_ranked_by_class_based_tf_idf():
    """Compare the order with the formula, computed cell by cell."""
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.05, 0.9, size=(3, 6))
    labels = np.repeat([0, 1, 2], 200)
    has = rng.random((600, 6)) < shares[labels]
    names = ["anna", "berta", "carla", "dora", "emma", "fanny"]
    views = cs.Views.from_inputs({"w": make_view(sp.csr_array(has.astype(float)), names)})
    for cluster, name in enumerate(name_clusters(labels, views)):
        scores = {}
        for column, term in enumerate(names):
            inside = [has[i, column] for i in range(600) if labels[i] == cluster]
            outside = [has[i, column] for i in range(600) if labels[i] != cluster]
            p, q, share = np.mean(inside), np.mean(outside), has[:, column].mean()
            if p - q > 2 * np.sqrt(p * (1 - p) / 200 + q * (1 - q) / 400) and p > 0.02 and p > 1.5 * q and q <= 0.5:
                p = (sum(inside) + 5 * share) / 205
                scores[term] = p * np.log(p / share)
        ranked = sorted(scores, key=lambda term: -scores[term])
        terms = [] if name.startswith("cluster") else name.split(", ")
        assert terms == ranked[: len(terms)]
        assert len(terms) >= min(2, len(ranked))


def test_high_and_low_numbers_name_clusters():
    rng = np.random.default_rng(2)
    means = np.array([[30, 1], [10, 1], [10, 9]])
    values = means[LABELS] + rng.normal(size=(30, 2)) * [1, 0.1]
    views = cs.Views.from_inputs({"n": make_view(values, ["unit_price", "weight"])})
    names = split_words(name_clusters(LABELS, views))
    assert "high unit price" in names[0]
    assert "low unit price" in names[1]
    assert names[2] >= {"high weight"}
    timed = split_words(name_clusters(LABELS, views, times={"n": ["unit_price"], "other": ["weight"]}))
    assert "late unit price" in timed[0]
    assert "early unit price" in timed[1]
    assert timed[2] >= {"high weight"}
    shifted = cs.Views.from_inputs({"n": make_view(values * 1e6 - 3e9, ["unit_price", "weight"])})
    assert split_words(name_clusters(LABELS, shifted)) == names
    two_valued = cs.Views.from_inputs({"n": make_view((LABELS[:, None] == 2) * 9.0, ["opens"])})
    assert name_clusters(LABELS // 2, two_valued) == ["not opens", "opens"]
    assert name_clusters(LABELS // 2, two_valued, times={"n": ["opens"]}) == ["early opens", "late opens"]


def test_categories_are_called_by_their_values():
    frame = {
        "brand": np.array(["Acme", "Globex", "Initech"])[LABELS].tolist(),
        "waterproof": np.array(["yes", "no", "yes"])[LABELS].tolist(),
        "doors": np.array(["4", "2", "4"])[LABELS].tolist(),
        "size": np.array(["large", "small", "large"])[LABELS].tolist(),
        "risk": np.array(["small", "large", "small"])[LABELS].tolist(),
    }
    for column, expected in {
        "brand": ["Acme", "Globex", "Initech"],
        "waterproof": [None, "not waterproof", None],
        "doors": [None, "doors 2", None],
    }.items():
        names = name_clusters(LABELS, cs.Views.from_frame(frame, categories=column))
        assert [name for name, term in zip(names, expected, strict=True) if term] == [t for t in expected if t]
    (_, second, _) = split_words(name_clusters(LABELS, cs.Views.from_frame(frame, categories=["size", "risk"])))
    assert second == {"size small", "risk large"}


def test_categories_that_say_nothing_alone_have_the_name_of_their_column():
    for values in (["high", "low", "medium"], ["I", "II", "IV"], ["a", "b", "C"], ["1", "2", "30"]):
        frame = {"stage": [values[label] for label in LABELS]}
        names = name_clusters(LABELS, cs.Views.from_frame(frame, categories="stage"))
        assert names == [f"stage {value}" for value in values]
    # letters are truth values only without other letters
    for letters, expected in (("fm", ["paid f", "paid m"]), ("ft", ["not paid", "paid"])):
        frame = {"paid": [letters[int(label > 0)] for label in LABELS]}
        names = name_clusters(np.minimum(LABELS, 1), cs.Views.from_frame(frame, categories="paid"))
        assert names == expected


MEANINGLESS = (
    ["img_0", "img_1", "img_2"],
    ["clip0", "clip1", "clip2"],
    ["pixel_17", "px3", "image 9"],
    ["PC1", "pc_2", "PC-4"],
    ["column 12", "x7", "f3"],
    ["title[3]", "title[4]", "title[9]"],
    ["1945", "12.5", "_"],
    ["bird.n.01", "http://a.b/c", "me@home"],
    ["the", "Having", "used"],
    [" ab", "abc", "bc "],
)


def test_features_without_meaning_are_left_out():
    values = (LABELS[:, None] == np.arange(3)).astype(float)
    for block in (values, sp.csr_array(values)):
        for features in MEANINGLESS:
            names = name_clusters(LABELS, cs.Views.from_inputs({"v": make_view(block, features)}))
            assert names == name_clusters(LABELS, cs.Views({"v": values})) == ["cluster 0", "cluster 1", "cluster 2"]
    kept = cs.Views.from_inputs({"v": make_view(sp.csr_array(values), ["CD4", "CD8", "GATA3"])})
    assert name_clusters(LABELS, kept) == ["CD4", "CD8", "GATA3"]


def test_singular_and_plural_are_one_term():
    pairs = {"knife": "knives", "city": "cities", "box": "boxes", "cat": "cats", "glove": "gloves", "Wolf": "wolves"}
    for singular, plural in pairs.items():
        values = np.zeros((30, 3))
        values[:6, 0], values[4:10, 1], values[10:20, 2] = 1, 1, 1
        views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), [singular, plural, "shoe"])})
        assert name_clusters(LABELS, views)[:2] == [plural, "shoe"]
        values[:7, 0] = 1
        views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), [singular, plural, "shoe"])})
        assert name_clusters(LABELS, views)[0] == singular


def test_words_of_texts_name_clusters_beside_the_features_of_other_views():
    texts = [["steel; knife", "red; apple", "garden; chair"][label] for label in LABELS]
    values = np.eye(3)[LABELS]
    expected = [{"steel", "knife"}, {"red", "apple"}, {"garden", "chair"}]
    for name, last in (("title", texts[-1]), ("other", None), ("other", float("nan"))):
        assert split_words(name_clusters(LABELS, cs.Views({"title": values}), {name: [*texts[:-1], last]})) == expected
    words = cs.Views.from_inputs({"title": make_view(sp.csr_array(values), ["alpha", "beta", "gamma"])})
    assert split_words(name_clusters(LABELS, words, {"title": texts})) == expected, "the texts are those of the view"
    numbers = cs.Views.from_inputs({"title": make_view(values, ["alpha", "beta", "gamma"])})
    assert "alpha" in name_clusters(LABELS, numbers, {"title": texts})[0]


def test_words_before_numbers_unless_words_mark_weakly():
    rng = np.random.default_rng(0)
    texts = [["steel", "apple", "chair"][label] if rng.random() < 0.8 else "other" for label in LABELS]
    values = np.eye(3)[LABELS] * 5 + rng.normal(size=(30, 3)) * 0.1
    values = np.hstack([values, values + rng.normal(size=(30, 3)) * 0.1])
    views = cs.Views.from_inputs({"n": make_view(values, ["width", "height", "depth", "weight", "price", "sales"])})
    for name, word in zip(name_clusters(LABELS, views, {"title": texts}), ("steel", "apple", "chair"), strict=True):
        first, *others = name.split(", ")
        assert first == word
        assert others
        assert all(other.startswith(("high", "low")) for other in others)
    texts = ["word" if i % 10 < (4 if i < 10 else 1) else "other" for i in range(30)]
    assert name_clusters(LABELS, views, {"title": texts})[0].startswith("high w")


NO_FEATURES = cs.Views({"v": np.zeros((30, 1))})


def name_by_text(*texts):
    """Return the names of three clusters whose entities all have the same text."""
    return name_clusters(LABELS, NO_FEATURES, {"t": [texts[label] for label in LABELS]})


def test_phrases_replace_their_words():
    names = name_by_text("we study: machine learning, today", "an apple tree in a garden", "fast cars on the road")
    assert [name.split(", ")[0] for name in names] == ["machine learning", "apple tree", "fast cars"]
    assert not any(word in names[0].split(", ") for word in ("machine", "learning"))


def test_phrases_are_kept_only_if_they_mark_better():
    """Nine of ten knives are knives of another kind; only three are bread knives."""
    kinds = ["bread", "steak", "butter", "pocket", "chef's", "bread", "steak", "fish", "cheese", "bread"]
    texts = [f"{kind} knife" for kind in kinds] + ["red apple"] * 10 + ["garden chair"] * 10
    first, *_ = name_clusters(LABELS, NO_FEATURES, {"t": texts})
    assert "knife" in first.split(", ")
    assert "bread knife" not in first
    # the article is in all texts; or both words of the phrase are common, and only the phrase is not
    assert name_by_text("die Birne ist reif", "die Gabel ist reif", "die Lampe ist reif") == ["Birne", "Gabel", "Lampe"]
    assert name_by_text("a black hole", "hole, black", "black; a hole")[0] == "black hole"


def test_phrases_may_share_a_word_and_end_at_stop_words_and_punctuation():
    names = name_by_text("Old World. New World", "New York Times", "fast red cars")
    assert names[0] == "New World, Old World"
    assert "York Times" not in names[1]
    assert "New York" in names[1]
    terms = name_by_text("cost of living; high rent", "red apple", "garden chair")[0].split(", ")
    assert "high rent" in terms
    assert not {"cost living", "living high", "cost of"} & set(terms)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["黒い猫が好きです", "犬と公園を歩く", "人工知能の研究"], ["猫", "公園", "人工知能"]),
        (["我的猫很可爱", "这只狗很大", "人工智能的论文"], ["猫", "狗", "人工智能"]),
        (["القط الأسود ينام", "سيارة سريعة جدا", "كتاب قديم جميل"], ["القط", "سيارة", "كتاب"]),
        (["חתול שחור", "מכונית מהירה", "ספר ישן"], ["חתול", "מכונית", "ספר"]),
        (["हिन्दी भाषा", "तेज़ गाड़ी", "पुरानी किताब"], ["हिन्दी", "गाड़ी", "किताब"]),
        (["я люблю кошек", "быстрая машина", "старая книга"], ["кошек", "машина", "книга"]),
        (["🐶 🐶", "🚗!", "👩\u200d🚀 🇩🇪"], ["🐶", "🚗", "👩\u200d🚀"]),
        (["<b>knife</b><script>alert(1)</script>", "<img src='x' alt=y>apple", "chair &amp; <!-- a note"],
         ["knife", "apple", "chair"]),
    ],
    ids=["Japanese", "Chinese", "Arabic", "Hebrew", "Hindi", "Russian", "emoji", "HTML"],
)  # fmt: skip
def test_texts_of_all_scripts_have_terms(texts, expected):
    rng = np.random.default_rng(0)
    strings = [texts[label] if rng.random() < 0.95 else "" for label in LABELS]
    names = name_clusters(LABELS, NO_FEATURES, {"t": strings})
    for name, term in zip(names, expected, strict=True):
        assert term in name
    assert not any(part in name for name in names for part in ("alert", "script", "src", "note", "<", "amp"))
    names = name_by_text("NASA rocket", "the Windows and windows of Windows", "iPhone")
    assert names == ["NASA rocket", "Windows", "iPhone"], "written forms are kept"


FRENCH = "le {0} est très bien, n'est-ce pas, et nous avons {1} pour la vie"
GERMAN = "das {0} ist gut und es war {1} für uns"
ENGLISH = "the {0} was long and we had {1} for us"


def write_texts(pattern, words, n):
    rng = np.random.default_rng(0)
    return [pattern.format(*rng.choice(words.split(), 2, replace=False)) for _ in range(n)]


def name_texts(*groups):
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    texts = [text for group in groups for text in group]
    return name_clusters(labels, cs.Views({"v": np.zeros((len(labels), 1))}), {"t": texts})


def test_function_words_of_the_language_of_a_cluster_do_not_name_it():
    english = write_texts(ENGLISH, "bed bath room", 100)
    for n in (4, 60):
        french = write_texts(FRENCH, "lit bain pain", n)
        terms = set(", ".join(name_texts(english, french)).replace(", ", " ").split())
        assert {"bed", "bath", "room"} & terms
        assert {"lit", "bain", "pain", "bien", "vie"} & terms
        assert not {"le", "est", "très", "est-ce", "pas", "et", "nous", "avons", "pour", "la"} & terms
    # they name clusters that nothing else marks
    french = ["où est-ce que tu es, et pour qui ?"] * 40
    assert split_words(name_texts(english, french))[1] <= {"où", "est-ce", "que", "tu", "es", "et", "pour", "qui"}


def test_words_that_are_function_words_in_another_language_name_clusters():
    """German "war" means "was"."""
    war, bed = write_texts(ENGLISH, "war army", 40), write_texts(ENGLISH, "bed bath room", 40)
    names = name_texts(war, bed, write_texts(GERMAN, "Bett Bad Tuch", 40))
    assert "war" in split_words(names)[0]
    assert not {"war", "und", "ist"} & split_words(names)[2]
    # words that are almost as frequent in other clusters are no terms, though the difference is significant
    rng = np.random.default_rng(0)
    texts = [
        [f"{'der' if rng.random() < share else 'ein'} {word}" for _ in range(1000)]
        for word, share in (("Messer", 0.5), ("Apfel", 0.4))
    ]
    assert name_texts(*texts) == ["Messer", "Apfel"]


@pytest.mark.parametrize(
    "cell",
    ["a" * 10**6, "<!--" * 250_000, "<a" * 500_000, "a@" * 500_000, "a.b+" * 250_000, "&amp;" * 200_000, "猫" * 10**6],
    ids=lambda cell: cell[:4],
)
def test_long_cells_take_no_time(cell):
    with limit_cpu_seconds(5):
        names = name_by_text(f"steel knife {cell}", "red apple", "garden chair")
    assert "steel knife" in names[0]
    assert all(len(name) < 150 for name in names)


def test_clusters_with_the_same_terms_get_further_terms():
    labels = np.repeat(np.arange(6), 50)
    values = np.zeros((300, 4))
    values[:100, :2] = 1
    values[:10, 2] = values[50:60, 3] = 1  # too weak to be part of a name that is unique without them
    views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), ["faith", "god", "bible", "church"])})
    assert name_clusters(labels, views)[:3] == ["faith, god, bible", "faith, god, church", "cluster 2"]
    labels[50:100] = 0
    assert name_clusters(labels, views)[0] == "faith, god"


def test_clusters_that_no_term_tells_apart_and_those_without_words_are_numbered():
    views = make_words("god faith", "god faith", "car engine")
    assert name_clusters(LABELS, views) == ["faith, god (0)", "faith, god (1)", "car, engine"]
    texts = {"phone": ["0171-1", "0171-2", None, "the 99"]}
    assert name_clusters([0, 0, 1, 1], cs.Views({"phone": sp.csr_array(np.eye(4))}), texts) == [
        "cluster 0",
        "cluster 1",
    ]


def test_entities_without_a_cluster_do_not_count_and_empty_and_single_clusters_are_numbered():
    views = make_words("god faith", "car engine", "tree leaf")
    labels = np.where(LABELS == 2, -1, LABELS)
    names = name_clusters(labels, views)
    assert names == name_clusters(LABELS, views)[:2]
    assert np.append(names, NO_CLUSTER)[labels].tolist()[-1] == "no cluster"
    assert name_clusters(np.where(LABELS == 1, 3, LABELS), views)[1] == "cluster 1"
    assert name_clusters(np.zeros(30, dtype=int), views) == ["cluster 0"]
    assert name_clusters(np.full(30, -1), views) == []
    with pytest.raises(ValueError, match=r"labels must have one cluster per entity, shape \(30,\), got \(3,\)"):
        name_clusters([0, 1, 2], views)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_names_are_short_different_and_deterministic(seed, n_clusters, dense):
    rng = np.random.default_rng(seed)
    values = (rng.random((60, 8)) < rng.random(8)).astype(float) * rng.integers(1, 4, size=(60, 8))
    features = rng.choice(
        ["knife", "knives", "a=b", "a, b", "b, a", "price", "the", "img_3", "x=yes"], 8, replace=False
    )
    views = cs.Views.from_inputs({"v": make_view(values if dense else sp.csr_array(values), features)})
    labels = rng.integers(-1, n_clusters, size=60)
    names = name_clusters(labels, views)
    assert len(names) == labels.max() + 1
    assert len(set(names)) == len(names)
    assert all(names)
    assert names == name_clusters(labels, views)


@pytest.fixture(scope="module")
def topics():
    """Labels of 600 texts of six topics, views without features, the texts, and the names of the topics."""
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=600)
    words = np.array([[f"topic{chr(97 + c)}{chr(97 + i)}" for i in range(8)] for c in range(6)])
    texts = [", ".join([*rng.choice(words[label], 3), *rng.choice(words.ravel(), 2)]) for label in labels]
    data = cs.Views({"v": np.zeros((600, 1))}), {"t": texts}
    return labels, data, name_clusters(labels, *data)


def test_previous_names_are_kept_while_their_terms_mark_the_clusters(topics):
    labels, data, names = topics
    rng = np.random.default_rng(0)
    moved = np.where(rng.random(600) < 0.1, rng.integers(6, size=600), labels)
    assert name_clusters(moved, *data) != names
    assert name_clusters(moved, *data, previous=names) == names
    for previous in (
        [*names[1:], names[0]],
        ["knives", None, "", *names[3:]],
        names[:2],
        [*names, "more", "names"],
    ):  # of other clusters
        assert name_clusters(labels, *data, previous=previous) == names


def test_a_previous_name_is_kept_once(topics):
    """Two halves of a cluster have the same terms; only the first keeps the name."""
    labels, data, (name, *_) = topics
    halves = np.where((labels == 0) & (np.arange(600) % 2 == 0), 6, labels)
    names = name_clusters(halves, *data, previous=[name, *[None] * 5, name])
    assert names[0] == name
    assert len(set(names)) == 7


def test_names_of_word_senses_hardly_change_if_few_entities_move():
    rng = np.random.default_rng(1)
    data = load_word_senses()
    labels = np.unique(data.target, return_inverse=True)[1]
    names = name_clusters(labels, data.views)
    named = dict(zip(data.target_names, names, strict=True))
    for kind in ("body", "food", "person", "plant", "substance"):
        assert kind in named[f"noun.{kind}"], named
    moved = np.where(rng.random(len(labels)) < 0.02, rng.integers(len(names), size=len(labels)), labels)
    assert sum(a == b for a, b in zip(names, name_clusters(moved, data.views), strict=True)) >= len(names) - 1


def test_samples_of_clusters_count_like_all_entities(monkeypatch, tune):
    """The shares of terms are those of all entities, though only a part of the large clusters is counted."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [5000, 500, 50])
    words = np.array(["knife", "apple", "chair"])
    texts = [f"{words[label] if rng.random() < 0.7 else 'other'} {rng.choice(words)}" for label in labels]
    views = cs.Views.from_frame({"price": rng.normal(size=5550) + labels}, numbers="price")
    whole = terms.count_terms(labels, views, {"t": texts})
    tune("explain.terms", max_entities=900)
    sample = terms.count_terms(labels, views, {"t": texts})
    assert sample.n_counted.tolist() == [300, 300, 50]
    assert sample.sizes.tolist() == whole.sizes.tolist() == [5000, 500, 50]
    for cluster in range(3):
        for term in whole.rank(cluster):
            (other,) = [other for other in sample.rank(cluster) if other.name == term.name]
            assert other.inside == pytest.approx(term.inside, abs=0.1)
            assert other.outside == pytest.approx(term.outside, abs=0.1)
    monkeypatch.undo()
    assert name_clusters(labels, views, {"t": texts})[:2] == ["knife", "apple, high price"]


def test_many_clusters_rows_and_terms_take_no_more_than_seconds():
    rng = np.random.default_rng(0)
    labels = rng.integers(500, size=40_000)
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "aeiou" for c in ("lum", "ner", "tok", "vis", "zar")] * 5
    texts = [f"{words[label]} {'xyzuvwq'[label % 7] * 3} filler" for label in labels]
    with limit_cpu_seconds(8):
        names = name_clusters(labels, cs.Views({"v": np.zeros((40_000, 1))}), {"t": texts})
    assert len(set(names)) == 500
    values = sp.random_array((5_000, 50_000), density=0.001, format="csr", rng=rng)
    features = [f"word{'abcdefghij'[i % 10]}{i // 10}z" for i in range(50_000)]
    views = cs.Views.from_inputs({"v": make_view(values, features)})
    with limit_cpu_seconds(8):
        assert len(name_clusters(rng.permutation(5_000) % 1000, views)) == 1000


def test_two_valued_and_mostly_zero_columns_have_no_level_and_rare_categories_name_no_cluster():
    values = np.column_stack([LABELS == 0, np.where(LABELS == 2, np.arange(30), 0)]).astype(float)
    views = cs.Views.from_inputs({"n": make_view(values, ["member", "visits"])})
    assert name_clusters(LABELS, views) == ["member", "not member", "visits, not member"]
    labels = np.repeat([0, 1], 40)
    indicators = np.stack([labels == 0, labels == 1, np.arange(80) % 2 == 0], axis=1).astype(float)
    features = ["language=English", "language=(others)", "flag=x"]
    names = name_clusters(labels, cs.Views.from_inputs({"table": make_view(indicators, features)}))
    assert names[0] == "English"
    assert "(others)" not in names[1]
