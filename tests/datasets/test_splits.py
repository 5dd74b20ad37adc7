"""Views of one block: divided columns and paired classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from consilience.datasets import make_paired_views, make_random_splits

pytestmark = pytest.mark.quick


@given(st.integers(1, 30), st.data(), st.booleans(), st.integers(0, 9))
def test_splits_cover_columns_and_share_none(n_columns, data, sparse, seed):
    n_views = data.draw(st.integers(1, n_columns))
    X = np.tile(np.arange(1, n_columns + 1), (3, 1))  # the value identifies the column
    views = make_random_splits(sp.csr_array(X) if sparse else X, n_views, random_state=seed)
    assert views.names == tuple(f"view{v}" for v in range(n_views))
    blocks = [(block.toarray() if sparse else block)[0].tolist() for _, block in views.items()]
    assert sorted(value for block in blocks for value in block) == X[0].tolist()
    sizes = [len(block) for block in blocks]
    assert max(sizes) - min(sizes) <= 1
    assert views.present.all()


def test_splits_repeat_by_seed_and_differ_between_seeds():
    X = np.random.default_rng(0).normal(size=(4, 40))
    first, again, other = (make_random_splits(X, random_state=seed)["view0"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    y, options = [0, 0, 1, 1], {"n_samples": 1}
    pairs = [make_paired_views(X, y, [(0, 1)], **options, random_state=seed)[0]["second"] for seed in (1, 1, *range(9))]
    assert np.array_equal(pairs[0], pairs[1])
    assert len({tuple(pair.ravel()) for pair in pairs}) == 2


def test_row_without_counts_lacks_view_unless_all_are_empty():
    X = sp.csr_array([[1, 1, 1, 1], [5, 0, 0, 0], [0, 0, 0, 0]])
    views = make_random_splits(X, 2, random_state=0)
    assert views.present[0].tolist() == [True, True]
    assert views.present[1].sum() == 1
    assert views.present[2].tolist() == [True, True]
    has_data = np.array([block.sum(axis=1) > 0 for _, block in views.items()]).T
    assert np.array_equal(views.present[:2], has_data[:2])


def test_zeros_of_dense_block_are_numbers():
    assert make_random_splits(np.zeros((3, 4)), random_state=0).present.all()


@pytest.mark.parametrize("n_views", [0, 4])
def test_splits_refuse_views_without_columns(n_views):
    with pytest.raises(ValueError, match=f"n_views={n_views} must be from 1 to the 3 columns of X"):
        make_random_splits(np.zeros((5, 3)), n_views)


def four_classes(n=400):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c", "d"], n)
    return rng.normal(size=(4 * n, 3)) + 5 * np.repeat(np.arange(4), n)[:, None], y


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_pairs_are_drawn_from_their_classes_and_no_row_twice(kind):
    X, y = four_classes(20)
    rows = np.column_stack([np.arange(80), X])  # the number identifies the row
    rows[:, 0] += 1
    views, pair = make_paired_views(kind(rows), y, [("a", "c"), ("d", "b")], n_samples=15, random_state=3)
    assert views.names == ("first", "second")
    assert pair.tolist() == [0] * 15 + [1] * 15
    for name, classes in (("first", "ad"), ("second", "cb")):
        block = views[name].toarray() if sp.issparse(views[name]) else views[name]
        numbers = np.round(block[:, 0]).astype(int) - 1
        for j in range(2):
            rows = numbers[pair == j]
            assert len(set(rows.tolist())) == 15
            assert set(y[rows].tolist()) == {classes[j]}


def test_paired_views_are_independent_given_pair():
    X, y = four_classes()
    views, pair = make_paired_views(X, y, [("a", "b"), ("c", "d")], n_samples=400, random_state=0)
    for j in range(2):
        between = np.corrcoef(views["first"][pair == j].T, views["second"][pair == j].T)[:3, 3:]
        assert np.abs(between).max() < 0.15


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": [("a", "x")]}, "pairs names the class 'x', which y does not have; it has 'a', 'b', 'c', 'd'"),
        ({"n_samples": 11}, "class 'a' has 10 rows, n_samples=11 are requested: draw fewer"),
        ({"n_samples": 0}, "n_samples=0 must be 1 or more"),
        ({"pairs": []}, "pairs must be pairs of classes, got "),
        ({"pairs": [("a", "b", "c")]}, "pairs must be pairs of classes, got "),
        ({"pairs": ["ab"]}, "pairs must be pairs of classes, got "),
        ({"pairs": None}, "pairs must be pairs of classes, got None"),
        ({"pairs": [("a", "a")], "n_samples": 6}, r"class 'a' has 10 rows, for both sides 2 \* n_samples=12 are"),
        ({"y": None}, r"y must give a class to each of the 40 rows of X, got shape \(\)"),
        ({"y": ["a"]}, r"y must give a class to each of the 40 rows of X, got shape \(1,\)"),
    ],
)
def test_impossible_pairs_are_refused(changed, message):
    X, y = four_classes(10)
    given_all = {"y": y, "pairs": [("a", "b")], "n_samples": 5} | changed
    with pytest.raises(ValueError, match=message):
        make_paired_views(X, given_all.pop("y"), given_all.pop("pairs"), **given_all)


def test_class_paired_with_itself_repeats_no_row():
    X, y = np.arange(10)[:, None], np.repeat("a", 10)
    views, _ = make_paired_views(X, y, [("a", "a")], n_samples=5, random_state=0)
    assert sorted([*views["first"].ravel().tolist(), *views["second"].ravel().tolist()]) == list(range(10))


def test_non_integers_are_refused():
    for value in (2.5, "2", None, True):
        X, y = four_classes(10)
        with pytest.raises(TypeError, match=f"n_views={value!r} must be an integer"):
            make_random_splits(X, value)
        with pytest.raises(TypeError, match=f"n_samples={value!r} must be an integer"):
            make_paired_views(X, y, [("a", "b")], n_samples=value)
        with pytest.raises(TypeError, match="'X' is None"):
            make_random_splits(None)


def test_names_of_frame_are_kept():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.arange(8).reshape(2, 4), index=["r", "s"], columns=list("abcd"))
    views = make_random_splits(frame, 2, random_state=0)
    assert views.ids.tolist() == ["r", "s"]
    for name, block in views.items():
        assert block[0].tolist() == ["abcd".index(column) for column in views.feature_names(name)]
    paired, _ = make_paired_views(frame, [0, 1], [(0, 1)], n_samples=1)
    assert paired.feature_names("second").tolist() == list("abcd")
    assert paired.ids is None
