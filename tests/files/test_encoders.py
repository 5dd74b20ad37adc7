"""Encoders match scikit-learn or their formulas, and encode new entities as in the fit."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from consilience.files import ViewEncoding
from consilience.files.encoders import (
    MAX_LEVELS,
    CategoriesEncoder,
    CountsEncoder,
    LinksEncoder,
    NumbersEncoder,
    SimilaritiesEncoder,
    TextEncoder,
)
from consilience.persist import load, save

RNG = np.random.default_rng(0)


def to_objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def to_dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def encode_new(X, new=None):
    return NumbersEncoder().fit((X, None)).transform((X if new is None else new, None))


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1000, 1000)))
@settings(max_examples=25)
def test_numbers_are_standardized_as_scikit_learn_does(X):
    for kind in ("float64", "float32", "int64", "bool"):
        numbers = X.astype(kind)
        np.testing.assert_allclose(
            encode_new(numbers), StandardScaler().fit_transform(numbers.astype(float)), atol=1e-9
        )


def test_constant_and_empty_columns_are_zero_and_empty_cells_get_the_median():
    np.testing.assert_array_equal(encode_new(np.full((5, 2), 0.1)), np.zeros((5, 2)))
    assert encode_new(np.column_stack([np.arange(4.0), np.full(4, np.nan)]))[:, 1].tolist() == [0.0] * 4
    X = np.array([[1.0, 5], [2, np.nan], [6, 7], [np.nan, 9], [np.nan, np.nan]])
    result = encode_new(X)
    np.testing.assert_allclose(result[:4], StandardScaler().fit_transform([[1.0, 5], [2, 7], [6, 7], [2, 9]]))
    assert np.isnan(result[4]).all()


def test_numbers_of_any_unit_are_standardized():
    X = RNG.normal(size=(9, 2))
    for exponent in (-1040, -700, -300, 300, 500, 700, 1020):
        rtol = 1e-2 if exponent < -1000 else 1e-14
        np.testing.assert_allclose(encode_new(np.ldexp(X, exponent)), encode_new(X), rtol=rtol)
    huge = np.array([[1.7e308, 1], [-1.7e308, 2], [1e308, 3], [1.6e308, 4], [np.nan, 5]])
    np.testing.assert_allclose(encode_new(huge), encode_new(huge / [1e308, 1]), rtol=1e-14)
    assert np.isfinite(encode_new(np.array([[0.0], [5e-324], [5e-324]]))).all()


def test_new_numbers_are_scaled_as_in_fit_and_sparse_ones_stay_as_they_are_unless_it_was_dense():
    X, new = RNG.normal(size=(20, 3)), RNG.normal(size=(5, 3))
    expected = StandardScaler().fit(X).transform(new)
    for make in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(to_dense(encode_new(X, make(new))), expected)
    new[0, 0] = np.nan
    assert encode_new(X, new)[0, 0] == pytest.approx((np.median(X[:, 0]) - X[:, 0].mean()) / X[:, 0].std())
    X = sp.random_array((6, 5), density=0.4, format="csr", rng=RNG)
    np.testing.assert_array_equal(encode_new(X).toarray(), X.toarray())


@pytest.mark.parametrize("encoder", [NumbersEncoder(), CountsEncoder(False), CountsEncoder(True)])
def test_other_number_of_columns_is_refused(encoder):
    for make, width in ((np.zeros, 2), (np.zeros, 4), (sp.csr_array, 2), (sp.csr_array, 4)):
        encoder.fit((make((5, 3)), None))
        message = f"{width} columns, but 3 in the model: give the same columns in the same order"
        with pytest.raises(ValueError, match=message):
            encoder.transform((make((5, width)), None))
    encoder = SimilaritiesEncoder().fit((np.eye(4), None))
    message = "5 columns, but the model was fitted to 4 entities: give the similarity of each new entity"
    with pytest.raises(ValueError, match=message):
        encoder.transform((np.eye(5), None))


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
FEW = to_objects("Red apple, red!", None, "green apple", "", "a pear")
MANY = to_objects(*(" ".join(RNG.choice(WORDS, RNG.integers(1, 9))) for _ in range(60)), None)


def count_terms(texts, **how):
    """Return the terms and their counts by scikit-learn."""
    limits = {} if texts is FEW else {"min_df": 2, "max_df": 1.0 if "analyzer" in how else 0.5}
    counter = CountVectorizer(**how, **limits).fit([text for text in texts if text is not None])
    counts = counter.transform(["" if text is None else text for text in texts])
    return counter.get_feature_names_out().tolist(), counts.toarray()


@pytest.mark.parametrize("texts", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize(("kind", "how"), [("text", {}), ("names", {"analyzer": "char_wb", "ngram_range": (3, 3)})])
def test_terms_are_counted_as_scikit_learn_does_and_rare_ones_weigh_more(texts, kind, how):
    encoder = TextEncoder(kind, rare=False).fit(texts)
    terms, wanted = count_terms(texts, **how)
    assert encoder.features.tolist() == terms
    np.testing.assert_array_equal(encoder.transform(texts).toarray(), wanted)
    n_present = sum(text is not None for text in texts)
    result = TextEncoder(kind, rare=True).fit(texts).transform(texts).toarray()
    np.testing.assert_allclose(result, weight_by_formula(wanted, n_present), atol=1e-12)


def weight_by_formula(counts, n_rows):
    """Logarithmic counts times log((1 + n) / (1 + rows with the term)) + 1, rows of length 1."""
    n_documents = (counts != 0).sum(axis=0)
    weighed = np.log(1 + counts) * (np.log((1 + n_rows) / (1 + n_documents)) + 1)
    lengths = np.sqrt((weighed**2).sum(axis=1, keepdims=True))
    return weighed / np.where(lengths > 0, lengths, 1)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_counts_are_weighted_by_tf_idf(make):
    X = RNG.poisson(0.7, size=(12, 6)).astype(float)
    X[3] = 0
    result = CountsEncoder(rare=True).fit((make(X), None)).transform((make(X), None))
    assert sp.issparse(result) == (make is sp.csr_array)
    np.testing.assert_allclose(to_dense(result), weight_by_formula(X, 12), atol=1e-12)
    raw = CountsEncoder(rare=False).fit((make(X), None)).transform((make(X), None))
    np.testing.assert_array_equal(to_dense(raw), X)


def test_unknown_words_are_ignored_and_texts_without_words_refused():
    new = TextEncoder("text", rare=False).fit(FEW).transform(to_objects("red banana", "banana", None))
    np.testing.assert_array_equal(new.toarray(), [[0, 0, 0, 1], [0] * 4, [0] * 4])
    for texts in ([None, None], ["", "."], [f"w{i}" for i in range(30)]):
        with pytest.raises(ValueError, match="no word is in two of the texts, or all are in more than half of them"):
            TextEncoder("text", rare=False).fit(to_objects(*texts))


TOPICS = {
    "English": ("The {0} was very good, but we did not like the {1}.", "room bed towels pool menu wine cheese soup"),
    "French": ("Le {0} était très bien, mais nous n'avons pas aimé le {1}.", "lit salle bain drap vin plat pain sel"),
    "German": ("Das {0} war sehr gut, aber das {1} hat uns nicht gefallen.", "Bett Bad Tuch Kissen Wein Brot Salz"),
    "Hindi": ("यह {0} बहुत अच्छा था लेकिन {1} नहीं।", "कमरा बाग सड़क नमक"),
}


def write_reviews(language, n=40):
    pattern, words = TOPICS[language]
    return [pattern.format(*RNG.choice(words.split(), 2, replace=False)) for _ in range(n)]


STOP_WORDS = {
    "English": "the was very but we not",
    "French": "était très mais nous pas le",
    "German": "das war sehr aber uns nicht",
    "Hindi": "",
}


@pytest.mark.parametrize("languages", [["French"], ["German", "French"], ["English", "German"], ["Hindi", "English"]])
def test_stop_words_of_all_languages_are_left_out(languages):
    texts = to_objects(*(text for language in languages for text in write_reviews(language)), None)
    encoder = TextEncoder("text", rare=False).fit(texts)
    assert set(encoder.languages) == set(languages)
    assert not {word for name in languages for word in STOP_WORDS[name].split()} & set(encoder.features)
    assert {TOPICS[name][1].split()[1].lower() for name in languages if name != "Hindi"} <= set(encoder.features)
    assert all(name in encoder.note for name in languages)


def test_english_texts_with_quotations_lose_english_stop_words_only():
    texts = to_objects(*write_reviews("English", 95), *write_reviews("German", 4))
    encoder = TextEncoder("text", rare=False).fit(texts)
    terms, wanted = count_terms(texts, stop_words="english")
    assert encoder.features.tolist() == terms
    np.testing.assert_array_equal(encoder.transform(texts).toarray(), wanted)
    assert (encoder.languages, encoder.note) == (["English"], "")


def test_stop_words_are_kept_in_names_and_if_there_are_no_other_words():
    texts = to_objects(*["oui, je ne suis pas moi", "et pour qui est-ce donc", "non, nous ne sommes pas ici"] * 10)
    encoder = TextEncoder("text", rare=False).fit(texts)
    assert {"oui", "pour", "nous"} <= set(encoder.features)
    assert (encoder.languages, encoder.note) == ([], "")
    encoder = TextEncoder("names", rare=False).fit(to_objects(*write_reviews("French", 10)))
    assert encoder.languages == []
    assert "le " in encoder.features


@pytest.mark.parametrize("kind", ["text", "names"])
def test_composed_and_decomposed_accents_are_the_same_letters(kind):
    texts = to_objects("le café de la gare", "CAFÉ NOIR", "crème brûlée", "İSTANBUL istanbul")
    decomposed = to_objects(*(unicodedata.normalize("NFD", text) for text in texts))
    encoder = TextEncoder(kind, rare=True).fit(texts)
    assert TextEncoder(kind, rare=True).fit(decomposed).features.tolist() == encoder.features.tolist()
    np.testing.assert_array_equal(encoder.transform(decomposed).toarray(), encoder.transform(texts).toarray())


BAGS = to_objects({"b": 2.0, "a": 1.0}, None, {}, {"c": 0.5})


def test_bags_are_counted_and_a_missing_count_is_zero():
    encoder = CountsEncoder(rare=False).fit(BAGS)
    assert encoder.features.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(encoder.transform(BAGS).toarray(), [[1, 2, 0], [0] * 3, [0] * 3, [0, 0, 0.5]])
    new = encoder.transform(to_objects({"z": 9.0, "c": 1.0}, {"z": 1.0}))
    np.testing.assert_array_equal(new.toarray(), [[0, 0, 1], [0, 0, 0]])
    X = np.eye(9)
    X[0, 0] = X[0, 8] = np.nan
    for rare in (False, True):
        zeros = CountsEncoder(rare).fit((np.nan_to_num(X), None)).transform((np.nan_to_num(X), None))
        for make in (np.asarray, sp.csr_array):
            result = CountsEncoder(rare).fit((make(X), None)).transform((make(X), None))
            np.testing.assert_allclose(to_dense(result), zeros)


LEVELS = {"colour": to_objects("red", "blue", None, "red", "green"), "size": to_objects("s", None, None, "l", "s")}


def test_categories_are_dummies():
    encoder = CategoriesEncoder().fit(LEVELS)
    wanted = pd.get_dummies(pd.DataFrame(LEVELS), prefix_sep="=", dtype=float)
    assert encoder.features.tolist() == list(wanted.columns)
    result = encoder.transform(LEVELS)
    lost = np.array([False, False, True, False, False])
    np.testing.assert_array_equal(result[~lost], wanted[~lost])
    assert np.isnan(result[lost]).all()


def test_numbers_among_categories_are_standardized():
    size = np.array([1.0, 2, 3, np.nan, np.nan])
    colour = to_objects("a", None, "b", "a", None)
    encoder = CategoriesEncoder().fit({"size": size, "colour": colour})
    assert encoder.features.tolist() == ["colour=a", "colour=b", "size"]
    result = encoder.transform({"size": size, "colour": colour})
    np.testing.assert_array_equal(result[:4, :2], [[1, 0], [0, 0], [0, 1], [1, 0]])
    deviation = np.std(size[:3])
    np.testing.assert_allclose(result[:, 2], [-1 / deviation, 0, 1 / deviation, 0, np.nan], atol=1e-12)
    assert np.isnan(result[4]).all()
    colour = to_objects("a", "a", "a")
    for cells in (("3", "NA", None), ("$3", "", "$2.00")):  # texts of new rows
        result = encoder.transform({"size": to_objects(*cells), "colour": colour})
        np.testing.assert_allclose(result[:, 2], [1 / deviation, 0, 0], atol=1e-12)
    with pytest.raises(ValueError, match="column 'size' held numbers in the fit, and now holds 'many'"):
        encoder.transform({"size": to_objects("3", "many", None), "colour": colour})


def test_text_or_name_that_most_rows_share_is_no_missing_view():
    for kind, shared, pattern in (
        ("text", "all machines run without trouble", "the {} was broken again"),
        ("names", "English", "Lang{}"),
    ):
        texts = to_objects(*[shared] * 50, *(pattern.format(word) for word in WORDS * 2))
        encoder = TextEncoder(kind, rare=True).fit(texts)
        assert encoder.present(encoder.transform(texts)).all()
        assert kind == "names" or {"machines", "alpha"} <= set(encoder.features)


def test_rarest_of_very_many_categories_share_a_column():
    common = [f"c{i:02}" for i in range(MAX_LEVELS)]
    cells = to_objects(*common * 2, "rare", "seldom", None)
    encoder = CategoriesEncoder().fit({"tag": cells})
    encoded = encoder.transform({"tag": cells})
    assert encoder.features[-1] == "tag=(others)"
    assert encoder.note == "the 2 rarest values of 'tag' count as one"
    assert encoded[:, -1][:-1].tolist() == [0] * (2 * MAX_LEVELS) + [1, 1]
    np.testing.assert_array_equal(encoded[:-1].sum(axis=1), 1)
    assert np.isnan(encoded[-1]).all()
    assert encoder.transform({"tag": to_objects("never seen")})[0, -1] == 1


def test_rare_ones_of_many_categories_share_a_column():
    """Unless there are few categories, most rows have rare ones, or there are few rows."""
    for common, rare, n_levels in ((70, 50, 2), (90, 19, 20), (40, 50, 51), (55, 40, 41)):
        cells = to_objects(*["Unknown"] * common, *(f"name {i}" for i in range(rare)))
        encoder = CategoriesEncoder().fit({"tag": cells})
        assert len(encoder.features) == n_levels
        assert ("tag=(others)" in encoder.features) == (n_levels == 2)
        np.testing.assert_array_equal(encoder.transform({"tag": cells}).sum(axis=1), 1)


def test_unknown_levels_are_all_zero_and_missing_columns_refused():
    encoder = CategoriesEncoder().fit(LEVELS)
    new = {"colour": to_objects("violet", "red", "violet"), "size": to_objects("s", "xl", "xl")}
    result = encoder.transform(new)
    np.testing.assert_array_equal(result[:2], [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0]])
    assert np.isnan(result[2]).all()
    for name in LEVELS:
        with pytest.raises(ValueError, match=f"there is no column '{name}', which the model was fitted on"):
            encoder.transform({other: LEVELS[other] for other in LEVELS if other != name})


SOURCES = to_objects(*"aabbcxa")
TARGETS = to_objects(*"bbcaayx")
WEIGHTS = np.array([1.0, 2, 0.5, 1, 3, 1, 4])
IDS = to_objects(*"cab")


@pytest.mark.parametrize("direction", ["out", "in"])
def test_links_are_added_up(direction):
    data = (SOURCES, TARGETS, WEIGHTS), IDS
    encoder = LinksEncoder(direction, rare=False).fit(data)
    result = encoder.transform(data).toarray()
    wanted = np.zeros((3, len(encoder.features)))
    for source, target, weight in zip(SOURCES, TARGETS, WEIGHTS, strict=True):
        near, far = (source, target) if direction == "out" else (target, source)
        if near in IDS.tolist():
            wanted[IDS.tolist().index(near), encoder.features.tolist().index(far)] += weight
    np.testing.assert_array_equal(result, wanted)
    assert set(encoder.features) == set(TARGETS if direction == "out" else SOURCES)
    rare = LinksEncoder(direction, rare=True).fit(data).transform(data).toarray()
    np.testing.assert_allclose(rare, weight_by_formula(wanted, 3), atol=1e-12)
    new = (to_objects("new", "new", "z"), to_objects("b", "z", "new"), np.ones(3)), to_objects("new", "other")
    result = encoder.transform(new).toarray()  # whose other ends are not in the model
    assert result.shape == (2, len(encoder.features))
    assert result.sum(axis=1).tolist() == [1 if direction == "out" else 0, 0]


CASES = {
    "numbers": (lambda: NumbersEncoder(), (np.array([[1.0, np.nan], [2, 3], [4, 9]]), to_objects("x", "y"))),
    "sparse numbers": (lambda: NumbersEncoder(), (sp.csr_array(np.eye(3)), None)),
    "counts": (lambda: CountsEncoder(True), (np.array([[1.0, 0], [2, 3]]), None)),
    "bags": (lambda: CountsEncoder(True), BAGS),
    "text": (lambda: TextEncoder("text", True), MANY),
    "names": (lambda: TextEncoder("names", False), FEW),
    "categories": (lambda: CategoriesEncoder(), LEVELS),
    "mixed": (lambda: CategoriesEncoder(), {"a": to_objects("u", "v"), "b": np.array([1.0, 2.0])}),
    "links out": (lambda: LinksEncoder("out", True), ((SOURCES, TARGETS, WEIGHTS), IDS)),
    "links in": (lambda: LinksEncoder("in", False), ((SOURCES, TARGETS, WEIGHTS), IDS)),
    "similarities": (lambda: SimilaritiesEncoder(to_objects("a", "b")), (np.eye(2), None)),
}


@pytest.mark.parametrize("case", CASES)
def test_saved_encoders_round_trip_and_encode_repeatably(case, tmp_path):
    make, data = CASES[case]
    encoder = make()
    assert encoder.fit(data) is encoder
    once = to_dense(encoder.transform(data))
    save({"part": ViewEncoding("view", encoder)}, tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")["part"].encoder
    assert type(again) is type(encoder)
    assert again.kind == encoder.kind
    for other in (encoder, make().fit(data), again):
        np.testing.assert_array_equal(to_dense(other.transform(data)), once)
    if encoder.features is not None:
        assert again.features.tolist() == encoder.features.tolist()
