"""Scores of clusterings, against scikit-learn and against sums over all pairs of entities."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import consilience.metrics as metrics

from .case import ACCEPTED, Case, call, require


def check(case: Case) -> str:
    """Compare a random pair of clusterings, or the labels of several views."""
    return case.choose([check_pairs, check_entropy, check_table, check_agreement])(case)


def random_labels(case: Case, n: int, lowest: int = 0) -> np.ndarray:
    return case.rng.integers(lowest, int(case.choose([1, 2, 3, 6, n + 1])), size=n)


def random_size(case: Case) -> int:
    return int(case.choose([1, 2, 3, 10, 30])) if not case.chance(0.03) else 0


def wrap(case: Case, labels: np.ndarray) -> Any:
    """Present labels as users do: arrays, lists or strings; a defect makes the case one whose result is not checked."""
    if case.chance(0.05):
        case.note(defect=True)
        odd = labels.astype(float)
        odd[: len(odd) // 2] = case.choose([np.nan, 0.5, np.inf])
        return case.choose([odd, labels[:-1], labels[:, None], None, "nonsense", [[0], [0, 1]]])
    kinds = [labels, labels.tolist(), labels.astype("int8"), np.array([f"c{i}" for i in labels]), labels.astype(float)]
    return case.choose(kinds)


def check_pairs(case: Case) -> str:
    """Precision, recall and F equal the counts over all pairs; swapping the arguments swaps precision and recall."""
    n = random_size(case)
    y, labels = random_labels(case, n), random_labels(case, n)
    inputs = wrap(case, y), wrap(case, labels)
    case.note(y=inputs[0], labels=inputs[1])
    scores = call(metrics.pairwise_scores, *inputs)
    if "defect" in case.notes:
        return ACCEPTED
    pairs = list(combinations(range(n), 2))
    together = [(i, j) for i, j in pairs if labels[i] == labels[j]]
    belong = [(i, j) for i, j in pairs if y[i] == y[j]]
    both = len(set(together) & set(belong))
    require(close(scores.precision, both / len(together) if together else 1), f"precision is {scores.precision}")
    require(close(scores.recall, both / len(belong) if belong else 1), f"recall is {scores.recall}")
    total = len(together) + len(belong)
    require(close(scores.f, 2 * both / total if total else 1), f"f is {scores.f}")
    swapped = call(metrics.pairwise_scores, inputs[1], inputs[0])
    require((swapped.precision, swapped.recall) == (scores.recall, scores.precision), "the scores do not swap")
    return ACCEPTED


def check_entropy(case: Case) -> str:
    """The entropy equals the sum over clusters, whatever the clusters are called."""
    n = random_size(case)
    y, labels = random_labels(case, n), random_labels(case, n)
    base = case.choose([2, math.e, 10, 2, 2]) if not case.chance(0.1) else case.choose([1, 0, -2, float("nan"), 1e-9])
    inputs = wrap(case, y), wrap(case, labels)
    case.note(y=inputs[0], labels=inputs[1], base=base)
    entropy = call(metrics.average_entropy, *inputs, base=base)
    if "defect" in case.notes:
        return ACCEPTED
    expected = 0.0
    for cluster in np.unique(labels):
        shares = np.unique(y[labels == cluster], return_counts=True)[1] / np.sum(labels == cluster)
        expected -= np.mean(labels == cluster) * np.sum(shares * np.log(shares)) / math.log(base)
    require(close(entropy, expected), f"the entropy is {entropy}, expected {expected}")
    renamed = case.rng.permutation(64)[labels]
    require(close(call(metrics.average_entropy, y, renamed, base=base), expected), "the names of clusters matter")
    return ACCEPTED


def check_table(case: Case) -> str:
    """`evaluate` repeats the scores of scikit-learn, one row per clustering."""
    n = random_size(case)
    y = random_labels(case, n)
    named = {f"m{i}": random_labels(case, n) for i in range(int(case.choose([1, 2, 3])))}
    inputs = {name: wrap(case, labels) for name, labels in named.items()} if not case.chance(0.03) else {}
    case.note(y=y, inputs=inputs)
    table = call(metrics.evaluate, wrap(case, y), inputs)
    if "defect" in case.notes:
        return ACCEPTED
    require(table.n_rows == len(inputs), f"{table.n_rows} rows for {len(inputs)} clusterings")
    for row, labels in zip(table.rows(), named.values(), strict=False):
        require(close(row["ari"], adjusted_rand_score(y, labels)), f"ari is {row['ari']}")
        require(close(row["nmi"], normalized_mutual_info_score(y, labels)), f"nmi is {row['nmi']}")
        require(row["clusters"] == len(set(labels.tolist())), f"{row['clusters']} clusters")
    repr(table)
    table._repr_html_()
    return ACCEPTED


def check_agreement(case: Case) -> str:
    """The agreement of views equals the share over entities, and does not depend on the order of views or entities."""
    n, n_views = random_size(case), int(case.choose([1, 2, 2, 3, 4]))
    labels = [random_labels(case, n, lowest=-1) for _ in range(n_views)]
    inputs = [wrap(case, part) if case.chance(0.1) else part for part in labels]
    shape = case.choose(["arguments", "list", "dict"])
    arguments = {"arguments": inputs, "list": [inputs], "dict": [dict(enumerate(inputs))]}[shape]
    case.note(inputs=inputs, shape=shape)
    matrix = call(metrics.agreement_matrix, *arguments)
    rate = call(metrics.agreement_rate, *arguments)
    bound = call(metrics.disagreement_bound, *arguments)
    if "defect" in case.notes:
        return ACCEPTED
    require(matrix.shape == (n_views, n_views), f"the matrix has shape {matrix.shape}")
    for a, b in combinations(range(n_views), 2):
        both = (labels[a] >= 0) & (labels[b] >= 0)
        expected = np.mean(labels[a][both] == labels[b][both]) if both.any() else np.nan
        require(close(matrix[a, b], expected) and close(matrix[b, a], expected), f"agreement[{a}, {b}] is wrong")
    counted = [set(column) - {-1} for column in zip(*labels, strict=True) if sum(c >= 0 for c in column) > 1]
    require(close(rate, np.mean([len(column) == 1 for column in counted]) if counted else 1), f"the rate is {rate}")
    apart = np.nan_to_num(1 - matrix, nan=1.0)
    np.fill_diagonal(apart, 1)
    require(close(bound, apart.min(axis=1).max()), f"the bound is {bound}")
    order = case.rng.permutation(n)
    require(close(call(metrics.agreement_rate, *[part[order] for part in labels[::-1]]), rate), "the order matters")
    return ACCEPTED


def close(value: float, expected: float) -> bool:
    return bool(np.isclose(value, expected, rtol=1e-9, atol=1e-12, equal_nan=True))
