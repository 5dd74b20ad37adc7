"""Names of clusters."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import consilience as cs
from consilience.data.inputs import ViewInput
from consilience.datasets import load_word_senses
from consilience.explain import NO_CLUSTER, name_clusters

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


# --- terms ------------------------------------------------------------------------------------------------------------


def test_words_name_clusters():
    rng = np.random.default_rng(0)
    words = [["space", "orbit"], ["bike", "ride"], ["gun", "law"]]
    noise = ["city", "house", "music", "table", "window", "paper"]
    texts = [" ".join([*words[label], *rng.choice(noise, 2)]) for label in LABELS]
    views = cs.Views.from_frame({"text": texts}, text="text")
    assert split_words(name_clusters(LABELS, views)) == [set(pair) for pair in words]


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
            if p - q > 2 * np.sqrt(p * (1 - p) / 200 + q * (1 - q) / 400) and p > 0.05:
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
    shifted = cs.Views.from_inputs({"n": make_view(values * 1e6 - 3e9, ["unit_price", "weight"])})
    assert split_words(name_clusters(LABELS, shifted)) == names


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


def test_letters_are_truth_values_only_without_other_letters():
    for letters, expected in (("fm", ["f", "m"]), ("ft", ["not paid", "paid"])):
        frame = {"paid": [letters[int(label > 0)] for label in LABELS]}
        names = name_clusters(np.minimum(LABELS, 1), cs.Views.from_frame(frame, categories="paid"))
        assert names == expected


def test_two_valued_and_mostly_zero_columns_have_no_level():
    values = np.column_stack([LABELS == 0, np.where(LABELS == 2, np.arange(30), 0)]).astype(float)
    views = cs.Views.from_inputs({"n": make_view(values, ["member", "visits"])})
    assert name_clusters(LABELS, views) == ["member", "not member", "visits, not member"]


@pytest.mark.parametrize(
    "features",
    [
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
    ],
    ids=lambda features: features[0],
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_features_without_meaning_are_left_out(features, make):
    values = make((LABELS[:, None] == np.arange(3)).astype(float))
    assert name_clusters(LABELS, cs.Views.from_inputs({"v": make_view(values, features)})) == [
        "cluster 0",
        "cluster 1",
        "cluster 2",
    ]


def test_features_with_numbers_that_are_no_block_are_kept():
    values = (LABELS[:, None] == np.arange(3)).astype(float)
    views = cs.Views.from_inputs({"v": make_view(sp.csr_array(values), ["CD4", "CD8", "GATA3"])})
    assert name_clusters(LABELS, views) == ["CD4", "CD8", "GATA3"]


def test_views_without_names_of_features_are_left_out():
    views = cs.Views({"v": (LABELS[:, None] == np.arange(3)).astype(float)})
    assert name_clusters(LABELS, views) == ["cluster 0", "cluster 1", "cluster 2"]


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("knife", "knives"),
        ("cat", "cats"),
        ("city", "cities"),
        ("box", "boxes"),
        ("glove", "gloves"),
        ("Wolf", "wolves"),
    ],
)
def test_singular_and_plural_are_one_term(singular, plural):
    values = np.zeros((30, 3))
    values[:6, 0], values[4:10, 1], values[10:20, 2] = 1, 1, 1
    views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), [singular, plural, "shoe"])})
    first, second, _ = name_clusters(LABELS, views)
    assert (first, second) == (plural, "shoe")
    values[:7, 0] = 1
    views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), [singular, plural, "shoe"])})
    assert name_clusters(LABELS, views)[0] == singular


def test_words_of_texts_replace_features_without_meaning():
    texts = [["steel knife", "red apple", "garden chair"][label] for label in LABELS]
    vectors = np.eye(3)[LABELS]
    expected = [{"steel", "knife"}, {"red", "apple"}, {"garden", "chair"}]
    views = cs.Views({"title": vectors})
    assert split_words(name_clusters(LABELS, views, {"title": texts})) == expected
    assert split_words(name_clusters(LABELS, views, {"other": [*texts[:-1], None]})) == expected
    words = cs.Views.from_inputs({"title": make_view(sp.csr_array(vectors), ["alpha", "beta", "gamma"])})
    assert name_clusters(LABELS, words, {"title": texts}) == ["alpha", "beta", "gamma"]


# --- names ------------------------------------------------------------------------------------------------------------


def test_texts_without_words_name_no_cluster():
    views = cs.Views({"phone": sp.csr_array(np.eye(4))})
    phones = ["0171-1", "0171-2", None, "the 99"]
    assert name_clusters([0, 0, 1, 1], views, {"phone": phones}) == ["cluster 0", "cluster 1"]


def test_clusters_with_the_same_terms_get_further_terms():
    labels = np.repeat(np.arange(6), 50)
    values = np.zeros((300, 4))
    values[:100, :2] = 1
    values[:10, 2] = values[50:60, 3] = 1  # too weak to be part of a name that is unique without them
    views = cs.Views.from_inputs({"w": make_view(sp.csr_array(values), ["faith", "god", "bible", "church"])})
    assert name_clusters(labels, views)[:3] == ["faith, god, bible", "faith, god, church", "cluster 2"]
    labels[50:100] = 0
    assert name_clusters(labels, views)[0] == "faith, god"


def test_clusters_that_no_term_tells_apart_are_numbered():
    views = make_words("god faith", "god faith", "car engine")
    assert name_clusters(LABELS, views) == ["cluster 0 (faith, god)", "cluster 1 (faith, god)", "car, engine"]


def test_entities_without_a_cluster_do_not_count():
    views = make_words("god faith", "car engine", "tree leaf")
    labels = np.where(LABELS == 2, -1, LABELS)
    names = name_clusters(labels, views)
    assert names == name_clusters(LABELS, views)[:2]
    assert np.append(names, NO_CLUSTER)[labels].tolist()[-1] == "no cluster"


def test_empty_and_single_clusters_are_numbered():
    views = make_words("god faith", "car engine", "tree leaf")
    assert name_clusters(np.where(LABELS == 1, 3, LABELS), views)[1] == "cluster 1"
    assert name_clusters(np.zeros(30, dtype=int), views) == ["cluster 0"]
    assert name_clusters(np.full(30, -1), views) == []


def test_wrong_number_of_labels_is_refused():
    with pytest.raises(ValueError, match=r"labels must have one cluster per entity, shape \(30,\), got \(3,\)"):
        name_clusters([0, 1, 2], make_words("aa bb", "cc dd", "ee ff"))


@settings(max_examples=50, deadline=None)
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


def test_names_of_word_senses():
    data = load_word_senses()
    labels = np.unique(data.target, return_inverse=True)[1]
    names = dict(zip(data.target_names, name_clusters(labels, data.views), strict=True))
    assert {name.rpartition(".")[2] for name in data.target_names} >= {"food", "person", "plant"}
    for kind in ("body", "food", "person", "plant", "substance"):
        assert kind in names[f"noun.{kind}"], names


def test_many_rows_and_terms_take_no_more_than_seconds():
    rng = np.random.default_rng(0)
    values = sp.random_array((20_000, 50_000), density=0.001, format="csr", rng=rng)
    features = [f"word{'abcdefghij'[i % 10]}{i // 10}z" for i in range(50_000)]
    views = cs.Views.from_inputs({"v": make_view(values, features)})
    start = time.perf_counter()
    assert len(name_clusters(rng.integers(1000, size=20_000), views)) == 1000
    assert time.perf_counter() - start < 20
