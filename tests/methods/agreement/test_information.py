"""Mutual information in bits."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from consilience.methods.agreement.ensemble import compute_chance_bits, mutual_information


@pytest.mark.parametrize("k", [1, 2, 7])
def test_mutual_information_equals_that_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    first = rng.integers(k, size=50)
    second = np.where(rng.random(50) < 0.5, first, rng.integers(k, size=50))
    expected = mutual_info_score(first, second) / np.log(2)
    assert mutual_information(first, second, k) == pytest.approx(expected, abs=1e-12)
    assert mutual_information(first, second, k + 3) == pytest.approx(expected, abs=1e-12)


def test_mutual_information_of_no_entities_is_zero():
    assert mutual_information(np.zeros(0, int), np.zeros(0, int), 3) == 0


def test_bits_by_chance_are_the_mean_of_unrelated_labels():
    rng = np.random.default_rng(0)
    draws = [mutual_information(rng.integers(4, size=300), rng.integers(4, size=300), 4) for _ in range(200)]
    assert compute_chance_bits(300, 4) == pytest.approx(np.mean(draws), rel=0.1)
