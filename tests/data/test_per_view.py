"""Parameters per view."""

import pytest

from consilience.data.inputs import resolve_per_view


def test_values_by_name_by_position_and_for_all_views():
    for value in ({"b": 2, "a": 1}, [1, 2], (1, 2)):
        assert list(resolve_per_view("eta", value, ("a", "b")).items()) == [("a", 1), ("b", 2)]
    assert resolve_per_view("eta", "x", ("a", "b")) == {"a": "x", "b": "x"}
    assert resolve_per_view("eta", {"b": 2}, ("a", "b"), partial=True) == {"b": 2}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 1, "c": 2}, "eta names view 'c'; the views are 'a', 'b'"),
        ({"a": 1}, "eta has nothing for view 'b': name every one of 'a', 'b'"),
        ([1], r"eta lists 1 values for 2 views \('a', 'b'\): give one each"),
    ],
)
def test_refuses(value, message):
    with pytest.raises(ValueError, match=message):
        resolve_per_view("eta", value, ("a", "b"))
