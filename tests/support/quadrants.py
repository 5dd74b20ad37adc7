"""Constraints between the entities of each view, and how many of them labels violate."""

from consilience import Constraints
from consilience.datasets import make_four_quadrants


def sample_constraints(views, y, n=20, seed=0):
    """Sample constraints in each view between entities that have it."""
    constraints = {}
    for v, name in enumerate(views.names):
        rows = views.present[:, v].nonzero()[0]
        constraints[name] = Constraints.sample(y[rows], n, random_state=seed).renumbered(rows)
    return constraints


def make_quadrants(seed=0, n=20, mapped=0.5, n_samples=200):
    views, y = make_four_quadrants(n_samples, mapped=mapped, random_state=seed)
    return views, y, sample_constraints(views, y, n, seed)


def count_violations(labels, constraints):
    parted = labels[constraints.must_link[:, 0]] != labels[constraints.must_link[:, 1]]
    joined = labels[constraints.cannot_link[:, 0]] == labels[constraints.cannot_link[:, 1]]
    return int(parted.sum() + joined.sum())
