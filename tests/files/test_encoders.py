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

from consilience.files import ViewEncoding, encode, fit_and_encode, join_contents
from consilience.files.encoders import (
    MAX_LEVELS,
    CategoriesEncoder,
    CountsEncoder,
    LinksEncoder,
    NumbersEncoder,
    SimilaritiesEncoder,
    TermWeighting,
    TextEncoder,
)

RNG = np.random.default_rng(0)


def to_objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def encode_new(X, new=None):
    encoder = NumbersEncoder().fit((X, None))
    return encoder.transform((X if new is None else new, None))


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool"])
def test_complete_numbers_are_standardized_as_scikit_learn_does(kind):
    X = (RNG.normal(size=(30, 4)) * [1, 100, 0.01, 3] + [0, 5, -3, 1e3]).astype(kind)
    np.testing.assert_allclose(encode_new(X), StandardScaler().fit_transform(X.astype(np.float64)), atol=1e-9)


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-1000, 1000)))
@settings(max_examples=60, deadline=None)
def test_any_whole_numbers_are_standardized_as_scikit_learn_does(X):
    np.testing.assert_allclose(encode_new(X), StandardScaler().fit_transform(X), atol=1e-9)


def test_constant_column_is_zero():
    np.testing.assert_array_equal(encode_new(np.full((5, 2), 0.1)), np.zeros((5, 2)))


@pytest.mark.parametrize("unit", [1e-12, 1e-15, 1e-100])
def test_unit_of_measurement_does_not_matter(unit):
    X = RNG.normal(size=(20, 2))
    np.testing.assert_allclose(encode_new(X * unit), encode_new(X), rtol=1e-6)


def test_empty_cells_get_median():
    X = np.array([[1.0, 5], [2, np.nan], [6, 7], [np.nan, 9], [np.nan, np.nan]])
    filled = np.array([[1.0, 5], [2, 7], [6, 7], [2, 9]])
    result = encode_new(X)
    np.testing.assert_allclose(result[:4], StandardScaler().fit_transform(filled))
    assert np.isnan(result[4]).all()


@pytest.mark.parametrize("exponent", [-1040, -700, -300, 300, 500, 700, 1020])
def test_numbers_of_any_unit_are_standardized(exponent):
    X = RNG.normal(size=(9, 2))
    np.testing.assert_allclose(
        encode_new(np.ldexp(X, exponent)), encode_new(X), rtol=1e-2 if exponent < -1000 else 1e-14
    )


def test_huge_numbers_are_standardized():
    X = np.array([[1.7e308, 1], [-1.7e308, 2], [1e308, 3], [1.6e308, 4], [np.nan, 5]])
    np.testing.assert_allclose(encode_new(X), encode_new(X / [1e308, 1]), rtol=1e-14)


def test_tiny_numbers_are_standardized_to_finite_ones():
    assert np.isfinite(encode_new(np.array([[0.0], [5e-324], [5e-324]]))).all()


def test_empty_column_is_zero():
    X = np.column_stack([np.arange(4.0), np.full(4, np.nan)])
    assert encode_new(X)[:, 1].tolist() == [0.0] * 4


def test_new_numbers_are_scaled_as_in_fit():
    X, new = RNG.normal(size=(20, 3)), RNG.normal(size=(5, 3))
    np.testing.assert_allclose(encode_new(X, new), StandardScaler().fit(X).transform(new))
    new[0, 0] = np.nan
    assert encode_new(X, new)[0, 0] == pytest.approx((np.median(X[:, 0]) - X[:, 0].mean()) / X[:, 0].std())


def test_sparse_numbers_stay_as_they_are():
    X = sp.random_array((6, 5), density=0.4, format="csr", rng=RNG)
    np.testing.assert_array_equal(encode_new(X).toarray(), X.toarray())


def test_new_sparse_numbers_are_scaled_as_in_fit():
    X = RNG.normal(size=(20, 3))
    result = encode_new(X, sp.csr_array(X))
    np.testing.assert_allclose(result.toarray() if sp.issparse(result) else result, encode_new(X))


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("make", [np.zeros, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("encoder", [NumbersEncoder(), CountsEncoder(False), CountsEncoder(True)])
def test_other_number_of_columns_is_refused(encoder, make, width):
    encoder.fit((make((5, 3)), None))
    message = f"{width} columns, but 3 in the model: give the same columns in the same order"
    with pytest.raises(ValueError, match=message):
        encoder.transform((make((5, width)), None))


def test_other_number_of_entities_is_refused():
    encoder = SimilaritiesEncoder().fit((np.eye(4), None))
    with pytest.raises(
        ValueError, match="5 columns, but the model was fitted to 4 entities: give the similarity of each new entity"
    ):
        encoder.transform((np.eye(5), None))


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
FEW = to_objects("Red apple, red!", None, "green apple", "", "a pear")
MANY = to_objects(*(" ".join(RNG.choice(WORDS, RNG.integers(1, 9))) for _ in range(60)), None)


def count_terms(texts, **how):
    texts_present = [text for text in texts if text is not None]
    limits = {"min_df": 2} if len(texts_present) >= 20 else {}
    limits |= {"max_df": 0.5} if limits and "analyzer" not in how else {}  # words only
    counter = CountVectorizer(**how, **limits).fit(texts_present)
    return counter, counter.transform(["" if text is None else text for text in texts]).toarray()


@pytest.mark.parametrize("texts", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize(("kind", "how"), [("text", {}), ("names", {"analyzer": "char_wb", "ngram_range": (3, 3)})])
def test_raw_terms_are_counted_as_scikit_learn_does(texts, kind, how):
    encoder = TextEncoder(kind, rare=False).fit(texts)
    counter, wanted = count_terms(texts, **how)
    assert encoder.features.tolist() == counter.get_feature_names_out().tolist()
    np.testing.assert_array_equal(encoder.transform(texts).toarray(), wanted)


def weight_by_formula(counts, n_rows):
    """Logarithmic counts times log((1 + n) / (1 + rows with the term)) + 1, rows of length 1."""
    weighed = np.zeros(counts.shape)
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            n_documents = sum(counts[row, j] != 0 for row in range(counts.shape[0]))
            weighed[i, j] = np.log(1 + counts[i, j]) * (np.log((1 + n_rows) / (1 + n_documents)) + 1)
        length = np.sqrt(sum(weighed[i, j] ** 2 for j in range(counts.shape[1])))
        if length > 0:
            weighed[i] /= length
    return weighed


@pytest.mark.parametrize("kind", ["text", "names"])
@pytest.mark.parametrize("texts", [FEW, MANY], ids=["few", "many"])
def test_rare_terms_weigh_more(texts, kind):
    raw = TextEncoder(kind, rare=False).fit(texts).transform(texts).toarray()
    n_present = sum(text is not None for text in texts)
    result = TextEncoder(kind, rare=True).fit(texts).transform(texts).toarray()
    np.testing.assert_allclose(result, weight_by_formula(raw, n_present), atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_counts_are_weighted_by_tf_idf(make):
    X = RNG.poisson(0.7, size=(12, 6)).astype(float)
    result = CountsEncoder(rare=True).fit((make(X), None)).transform((make(X), None))
    assert sp.issparse(result) == (make is sp.csr_array)
    np.testing.assert_allclose(
        result.toarray() if sp.issparse(result) else result, weight_by_formula(X, 12), atol=1e-12
    )
    raw = CountsEncoder(rare=False).fit((make(X), None)).transform((make(X), None))
    np.testing.assert_array_equal(raw.toarray() if sp.issparse(raw) else raw, X)


def test_empty_rows_stay_empty_when_weighted():
    assert TermWeighting(True).fit(np.zeros((3, 2))).transform(np.zeros((3, 2))).tolist() == [[0, 0]] * 3


def test_unknown_words_are_ignored():
    encoder = TextEncoder("text", rare=False).fit(FEW)
    new = encoder.transform(to_objects("red banana", "banana", None))
    assert encoder.features.tolist() == ["apple", "green", "pear", "red"]
    np.testing.assert_array_equal(new.toarray(), [[0, 0, 0, 1], [0] * 4, [0] * 4])


@pytest.mark.parametrize(
    "texts", [to_objects(None, None), to_objects("", "."), to_objects(*(f"w{i}" for i in range(30)))]
)
def test_texts_without_words_are_refused(texts):
    with pytest.raises(ValueError, match="no word is in two of the texts, or all are in more than half of them"):
        TextEncoder("text", rare=False).fit(texts)


TOPICS = {
    "English": ("The {0} was very good, but we did not like the {1}.", "room bed towels pool menu wine cheese soup"),
    "French": ("Le {0} était très bien, mais nous n'avons pas aimé le {1}.", "lit salle bain drap vin plat pain sel"),
    "German": ("Das {0} war sehr gut, aber das {1} hat uns nicht gefallen.", "Bett Bad Tuch Kissen Wein Brot Salz"),
    "Hindi": ("यह {0} बहुत अच्छा था लेकिन {1} नहीं।", "कमरा बाग सड़क नमक"),
}


def write_reviews(language, n=40):
    pattern, words = TOPICS[language]
    return [pattern.format(*RNG.choice(words.split(), 2, replace=False)) for _ in range(n)]


@pytest.mark.parametrize(
    ("languages", "left_out"),
    [
        (["French"], "était très mais nous pas le"),
        (["German", "French"], "das war sehr aber uns nicht était très mais nous pas le"),
        (["English", "German"], "the was very but we not das war sehr aber uns nicht"),
        (["Hindi", "English"], "the was very but we not"),
    ],
)
def test_stop_words_of_all_languages_are_left_out(languages, left_out):
    texts = to_objects(*(text for language in languages for text in write_reviews(language)), None)
    encoder = TextEncoder("text", rare=False).fit(texts)
    assert set(encoder.languages) == set(languages)
    assert not set(left_out.split()) & set(encoder.features)
    assert {TOPICS[name][1].split()[1].lower() for name in languages if name != "Hindi"} <= set(encoder.features)
    assert all(name in encoder.note for name in languages)


def test_english_texts_with_quotations_lose_english_stop_words_only():
    texts = to_objects(*write_reviews("English", 95), *write_reviews("German", 4))
    encoder = TextEncoder("text", rare=False).fit(texts)
    counter, wanted = count_terms(texts, stop_words="english")
    assert encoder.features.tolist() == counter.get_feature_names_out().tolist()
    np.testing.assert_array_equal(encoder.transform(texts).toarray(), wanted)
    assert (encoder.languages, encoder.note) == (["English"], "")


def test_stop_words_are_kept_if_there_are_no_other_words():
    texts = to_objects(*["oui, je ne suis pas moi", "et pour qui est-ce donc", "non, nous ne sommes pas ici"] * 10)
    encoder = TextEncoder("text", rare=False).fit(texts)
    assert {"oui", "pour", "nous"} <= set(encoder.features)
    assert (encoder.languages, encoder.note) == ([], "")


def test_names_have_no_language():
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


def test_bags_are_counted():
    encoder = CountsEncoder(rare=False).fit(BAGS)
    assert encoder.features.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(encoder.transform(BAGS).toarray(), [[1, 2, 0], [0] * 3, [0] * 3, [0, 0, 0.5]])
    new = encoder.transform(to_objects({"z": 9.0, "c": 1.0}, {"z": 1.0}))
    np.testing.assert_array_equal(new.toarray(), [[0, 0, 1], [0, 0, 0]])


def test_missing_count_is_zero():
    X = np.array([[1.0, np.nan], [np.nan, np.nan]])
    assert CountsEncoder(False).fit((X, None)).transform((X, None)).tolist() == [[1, 0], [0, 0]]


COUNTED = np.eye(9) - np.diag([1, 0, 0, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("rare", [False, True])
def test_sparse_counts_match_dense_counts(rare):
    X = COUNTED.copy()
    X[0, 8] = np.nan
    encoder = CountsEncoder(rare)
    result = encoder.fit((sp.csr_array(X), None)).transform((sp.csr_array(X), None))
    np.testing.assert_allclose(result.toarray(), CountsEncoder(rare).fit((COUNTED, None)).transform((COUNTED, None)))


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


def test_text_that_most_rows_share_is_no_missing_view():
    texts = to_objects(
        *["all machines run without trouble"] * 50, *(f"the {word} was broken again" for word in WORDS * 2)
    )
    encoder = TextEncoder("text", rare=True).fit(texts)
    assert encoder.present(encoder.transform(texts)).all()
    assert {"machines", "alpha"} <= set(encoder.features)


def test_letters_of_the_most_frequent_name_are_used():
    names = to_objects(*["English"] * 50, *(f"Lang{word}" for word in WORDS * 2))
    encoder = TextEncoder("names", rare=True).fit(names)
    assert encoder.present(encoder.transform(names)).all()


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


@pytest.mark.parametrize(
    ("common", "rare", "n_levels"),
    [(70, 50, 2), (90, 19, 20), (40, 50, 51), (55, 40, 41)],
    ids=["many", "few categories", "most are rare", "few rows"],
)
def test_rare_ones_of_many_categories_share_a_column(common, rare, n_levels):
    cells = to_objects(*["Unknown"] * common, *(f"name {i}" for i in range(rare)))
    encoder = CategoriesEncoder().fit({"tag": cells})
    assert len(encoder.features) == n_levels
    assert ("tag=(others)" in encoder.features) == (n_levels == 2)
    np.testing.assert_array_equal(encoder.transform({"tag": cells}).sum(axis=1), 1)


def test_unknown_levels_are_all_zero():
    encoder = CategoriesEncoder().fit(LEVELS)
    new = {"colour": to_objects("violet", "red", "violet"), "size": to_objects("s", "xl", "xl")}
    result = encoder.transform(new)
    np.testing.assert_array_equal(result[:2], [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0]])
    assert np.isnan(result[2]).all()


MIXED = "id,colour,size\n" + "".join(f"{i},{['red', 'blue'][i % 2]},{i}\n" for i in range(40))


@pytest.fixture
def model(put, content):
    return fit_and_encode([content(put("old.csv", MIXED))], rare=False)


def new_rows(content, path, model):
    """Read new rows with the kind of the model, as for a saved model."""
    new = [content(path, model.kinds["view"])]
    return encode(new, model.encodings, join_contents(new)).views["view"]


@pytest.mark.parametrize("cell", ["7", "NA", ""])
def test_new_mixed_columns_are_encoded_as_in_fit(put, content, model, cell):
    result = np.asarray(new_rows(content, put("new.csv", f"id,colour,size\n7,blue,7\n8,blue,{cell}\n"), model))
    wanted = 7.0 if cell == "7" else np.median(np.arange(40))
    scale = np.arange(40).std()
    np.testing.assert_allclose(result[0], [1, 0, (7 - 19.5) / scale])
    if cell == "7":
        np.testing.assert_allclose(result[1], [1, 0, (wanted - 19.5) / scale])
    else:
        np.testing.assert_allclose(result[1, :2], [1, 0])


@pytest.mark.parametrize("missing", ["colour", "size"])
def test_new_categories_need_all_columns(put, content, model, missing):
    columns = {"colour": "red", "size": "1"}
    del columns[missing]
    path = put("new.csv", f"id,{','.join(columns)}\n1,{','.join(columns.values())}\n")
    with pytest.raises(ValueError, match=rf"view 'view'.*{missing}"):
        new_rows(content, path, model)


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


@pytest.mark.parametrize("direction", ["out", "in"])
def test_unknown_ends_are_ignored(direction):
    encoder = LinksEncoder(direction, rare=False).fit(((SOURCES, TARGETS, WEIGHTS), IDS))
    new = (to_objects("new", "new", "z"), to_objects("b", "z", "new"), np.ones(3)), to_objects("new", "other")
    result = encoder.transform(new).toarray()
    assert result.shape == (2, len(encoder.features))
    assert result.sum() == (1 if direction == "out" else 0)
    assert result[1].sum() == 0


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


def to_dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("case", CASES)
def test_transform_is_repeatable(case):
    make, data = CASES[case]
    encoder = make()
    assert encoder.fit(data) is encoder
    once = encoder.transform(data)
    np.testing.assert_array_equal(to_dense(once), to_dense(encoder.transform(data)))
    np.testing.assert_array_equal(to_dense(once), to_dense(make().fit(data).transform(data)))
    assert encoder.features is None or len(encoder.features) == once.shape[1]


@pytest.mark.parametrize("case", CASES)
def test_saved_encoders_round_trip(case, tmp_path):
    persist = pytest.importorskip("consilience.persist")
    make, data = CASES[case]
    part = ViewEncoding("view", make().fit(data))
    persist.save({"part": part}, tmp_path / "model.zip")
    again = persist.load(tmp_path / "model.zip")["part"]
    assert type(again.encoder) is type(part.encoder)
    assert again.encoder.kind == part.encoder.kind
    np.testing.assert_array_equal(to_dense(again.encoder.transform(data)), to_dense(part.encoder.transform(data)))
    if part.encoder.features is not None:
        assert again.encoder.features.tolist() == part.encoder.features.tolist()
