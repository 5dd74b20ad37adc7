"""Cases for tests with many parameters: every two values occur together, but not all combinations."""

from itertools import combinations, product

import pytest


def cover_pairs(**values):
    """Parametrize a test so that any two values of two parameters share a case, with few cases."""
    assert len(values) > 1, "give two parameters or more"
    candidates = list(product(*(range(len(choices)) for choices in values.values())))
    uncovered = set().union(*map(list_pairs, candidates))
    chosen = []
    while uncovered:
        chosen.append(max(candidates, key=lambda case: len(list_pairs(case) & uncovered)))
        uncovered -= list_pairs(chosen[-1])
    choices = [list(choice) for choice in values.values()]
    cases = [tuple(choices[p][i] for p, i in enumerate(case)) for case in chosen]
    return pytest.mark.parametrize(tuple(values), cases)


def list_pairs(case):
    """Return the pairs of values of a case, by the positions of parameter and value."""
    return set(combinations(enumerate(case), 2))
