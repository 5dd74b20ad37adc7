"""Views from the columns of a frame."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from consilience import Views

PRODUCTS = {
    "title": ["steel knife", "bread knife", None, "wooden chair"],
    "notes": ["sharp", None, None, "four legs"],
    "brand": ["Acme", "Globex", None, "Acme"],
    "color": ["red", None, None, "blue"],
    "price": [20.0, 10.0, None, 30.0],
    "weight": [None, 2.0, None, 4.0],
    "sku": ["a", "b", "c", "d"],
}
LIBRARIES = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_columns_of_each_kind_are_encoded(make):
    views = Views.from_frame(
        make(PRODUCTS), text=["title", "notes"], names="sku", categories=["brand", "color"], numbers=["price", "weight"]
    )
    assert views.names == ("text", "names", "categories", "numbers")
    assert views.ids is None
    joined = ["steel knife sharp", "bread knife", "", "wooden chair four legs"]
    expected = TfidfVectorizer(sublinear_tf=True).fit(filter(None, joined))
    assert sp.issparse(views["text"])
    np.testing.assert_allclose(views["text"].toarray(), expected.transform(joined).toarray())
    assert views.feature_names("text").tolist() == expected.get_feature_names_out().tolist()
    assert views.feature_names("names").tolist() == [" a ", " b ", " c ", " d "]
    assert views.feature_names("categories").tolist() == ["brand=Acme", "brand=Globex", "color=blue", "color=red"]
    nan = [np.nan] * 4
    np.testing.assert_array_equal(views["categories"], [[1, 0, 0, 1], [0, 1, 0, 0], nan, [1, 0, 1, 0]])
    price = (np.array([20, 10, np.nan, 30]) - 20) / np.std([20, 10, 30])
    weight = (np.array([3, 2, np.nan, 4]) - 3) / np.std([3, 2, 4])  # 3 is the median
    np.testing.assert_allclose(views["numbers"], np.column_stack([price, weight]))
    assert views.feature_names("numbers").tolist() == ["price", "weight"]
    assert views.present.tolist() == [[True] * 4, [True] * 4, [False, True, False, False], [True] * 4]


def test_mappings_make_several_views_of_a_kind():
    views = Views.from_frame(PRODUCTS, text={"title": "title", "all": ["title", "notes"]}, numbers={"cost": ["price"]})
    assert views.names == ("title", "all", "cost")
    assert views["all"].shape[1] > views["title"].shape[1]


def test_texts_without_any_of_the_terms_lack_the_view():
    texts = [f"knife number{i}" if i % 3 else f"spoon number{i}" for i in range(24)]
    views = Views.from_frame({"t": [*texts, "unique words"]}, text="t")
    assert views.feature_names("text").tolist() == ["spoon"]  # knife is in most of the texts
    assert views.present[:, 0].tolist() == [i % 3 == 0 for i in range(24)] + [False]


def test_ids_are_a_column_a_sequence_or_an_index_that_does_not_number_rows():
    for ids in ("sku", list("abcd"), np.array(list("abcd"))):
        assert Views.from_frame(PRODUCTS, numbers="price", ids=ids).ids.tolist() == list("abcd")
    frame = pd.DataFrame(PRODUCTS)
    assert Views.from_frame(frame, numbers="price").ids is None
    assert Views.from_frame(frame.set_index("sku"), numbers="price").ids.tolist() == list("abcd")
    assert Views.from_frame(frame[frame["price"] > 10], numbers="price").ids.tolist() == [0, 3]


def test_types_of_pandas_columns():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "c": pd.Categorical(["u", None, "v"]),
            0: [1.0, 2.0, 3.0],
        }
    )
    views = Views.from_frame(frame, numbers=["n", "flag", 0], categories="c")
    np.testing.assert_allclose(views["numbers"][:, 0], np.array([-1, 0, 1]) / np.std([-1, 0, 1]))
    np.testing.assert_array_equal(views["categories"], [[1, 0], [np.nan] * 2, [0, 1]])


BAD = {
    "no columns": ({}, ValueError, "Views needs at least one view"),
    "unknown": ({"text": ["tilte"]}, ValueError, "view 'text' selects column 'tilte', which the data does not have"),
    "empty group": ({"numbers": []}, ValueError, "view 'numbers' selects no column"),
    "same name": ({"text": {"a": "title"}, "numbers": {"a": "price"}}, ValueError, "two views are called 'a'"),
    "no numbers": ({"numbers": "title"}, ValueError, "view 'numbers': column 'title' holds something that is not"),
    "unknown ids": ({"numbers": "price", "ids": "id"}, ValueError, "ids names column 'id'; the columns are 'title'"),
    "repeated ids": ({"numbers": "price", "ids": [1, 1, 2, 3]}, ValueError, "has the id 1 more than once"),
    "too few ids": ({"numbers": "price", "ids": [1]}, ValueError, "has 4 rows but 1 ids"),
}


@pytest.mark.parametrize(("options", "error", "message"), BAD.values(), ids=BAD)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        Views.from_frame(PRODUCTS, **options)


@pytest.mark.parametrize(
    ("frame", "kind", "message"),
    [
        (np.eye(2), "numbers", "from_frame takes a frame or a dict of lists, got ndarray"),
        ({"a": [1], "b": [1, 2]}, "numbers", r"columns of one length .*{'a': 1, 'b': 2}"),
        ({}, "numbers", "columns of one length and at least one row"),
        (pl.LazyFrame({"a": [1]}), "numbers", "is a lazy frame"),
        ({"a": [None, None]}, "numbers", "view 'numbers': every cell is empty"),
        ({"a": [np.inf, 1.0]}, "numbers", "view 'numbers': has infinite numbers"),
        ({"a": [None, None]}, "text", "view 'text': no word is in two texts"),
        ({"a": [None, None]}, "categories", "view 'categories': every cell"),
    ],
    ids=["array", "lengths", "empty", "lazy", "missing", "infinite", "no text", "no categories"],
)
def test_bad_frames_are_refused(frame, kind, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Views.from_frame(frame, **{kind: "a"})
