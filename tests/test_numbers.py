"""Checks of single numbers."""

from fractions import Fraction

import numpy as np
import pytest

from consilience._numbers import is_integer, is_real, is_truth_value

INTEGERS = [3, np.int64(3), np.uint8(3), True]
FRACTIONS = [3.0, 1.5, np.float32(1.5), Fraction(3, 2), float("nan")]
NEITHER = ["3", None, 1j, np.array(3), np.array(1.5)]


@pytest.mark.parametrize("value", [*INTEGERS, *FRACTIONS, *NEITHER], ids=repr)
def test_kinds_of_numbers(value):
    assert is_integer(value) == any(value is integer for integer in INTEGERS)
    assert is_real(value) == all(value is not other for other in NEITHER)


def test_bounds_of_integers_are_inclusive():
    assert [is_integer(value, 1, 5) for value in (0, 1, 5, 6)] == [False, True, True, False]
    assert [is_integer(value, least=1) for value in (0, 1)] == [False, True]


def test_truth_values():
    assert [is_truth_value(value) for value in (True, np.False_, 1)] == [True, True, False]
    assert not is_integer(np.True_)
