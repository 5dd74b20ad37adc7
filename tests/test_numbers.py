"""Checks of single numbers."""

from fractions import Fraction

import numpy as np
import pytest

from consilience._numbers import is_integer, is_real, is_truth_value


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), True])
def test_whole_numbers_of_python_and_numpy_are_integers(value):
    assert is_integer(value)
    assert is_real(value)


@pytest.mark.parametrize("value", [3.0, np.float32(3), Fraction(3, 2), "3", None, np.array(3), np.True_])
def test_other_values_are_no_integers(value):
    assert not is_integer(value)


def test_bounds_of_integers_are_inclusive():
    assert is_integer(1, least=1)
    assert not is_integer(0, least=1)
    assert is_integer(5, 1, 5)
    assert not is_integer(6, 1, 5)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), Fraction(3, 2), float("nan")])
def test_real_numbers_are_real(value):
    assert is_real(value)


@pytest.mark.parametrize("value", ["1.5", None, 1j, np.array(1.5)])
def test_other_values_are_not_real(value):
    assert not is_real(value)


def test_truth_values():
    assert is_truth_value(True)
    assert is_truth_value(np.False_)
    assert not is_truth_value(1)
