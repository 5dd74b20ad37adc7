"""Tests of whether clusters differ in columns that were not used to find them, adjusted for the number of tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtrc
from scipy.stats import random_table, rankdata

from ..data import Table
from .columns import OriginalColumn
from .survival import compare_survival, score_times

MIN_EXPECTED = 5.0  # entities or events per cluster from which the chi-squared distribution is accurate
MIN_SHARE_EXPECTED = 0.8  # of the cells of a table that have this many, by Cochran's rule
MAX_LEVELS = 50  # categories of a column; rarer ones are tested as one
N_PERMUTATIONS, N_FEW = 9_999, 999  # few for many entities, and for tables with many cells
MANY_CELLS = MANY_ENTITIES = 2_000  # of many entities only scores of times are permuted: ranks have no large values
SIGNIFICANT = 0.05  # adjusted p-value below which groups are said to differ
SEED = 0  # of the permutations: the same data gives the same p-values


@dataclass(frozen=True)
class ColumnTest:
    """A test of one column."""

    test: str = "none"
    statistic: float = float("nan")
    p: float = float("nan")
    effect: float = float("nan")
    measure: str = ""  # of the effect
    n: int = 0  # entities with a value in a cluster


def compare_clusters(labels: Any, columns: Sequence[OriginalColumn]) -> Table:
    """Test for each description whether the clusters differ in it.

    Only columns that describe the clusters are tested (`OriginalColumn.is_description`). Columns that were used to find
    the clusters differ between them by construction, so that a p-value would mean nothing.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; entities with -1 are left out.
    columns : sequence of OriginalColumn
        The columns.

    Returns
    -------
    Table
        One row per description: ``column``; ``test`` ('Kruskal-Wallis' for numbers and dates, 'chi-squared' for
        categories, 'log-rank' for times until an event; 'none' for texts and for columns that are constant or empty),
        with '(permutation)' where few entities make the chi-squared distribution inaccurate; ``statistic``; ``p``;
        ``p_adjusted`` for all columns by Holm's method; ``effect`` and its ``measure``, from 0 to 1 (epsilon squared or
        Cramér's V); ``n``, the number of entities with a value.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> age = cs.explain.OriginalColumn("age", np.arange(20.0), "number", is_description=True)
    >>> cs.explain.compare_clusters(np.repeat([0, 1], 10), [age])["p"].round(5)
    array([0.00016])
    """
    labels, described = _check_input(labels, columns)
    tests = [_test_column(labels, column) for column in described]
    adjusted = adjust_holm([test.p for test in tests])
    rows = (
        {
            "column": column.name,
            "test": test.test,
            "statistic": test.statistic,
            "p": test.p,
            "p_adjusted": p_adjusted,
            "effect": test.effect,
            "measure": test.measure,
            "n": test.n,
        }
        for column, test, p_adjusted in zip(described, tests, adjusted.tolist(), strict=True)
    )
    return Table.from_rows(rows)


def compare_each_cluster(labels: Any, columns: Sequence[OriginalColumn]) -> Table:
    """Test for each cluster and description whether the cluster differs from all other entities.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; entities with -1 are left out.
    columns : sequence of OriginalColumn
        The columns, of which only descriptions are tested.

    Returns
    -------
    Table
        One row per column and cluster: ``column``, ``cluster``, ``p``, ``p_adjusted`` for all clusters and columns by
        Holm's method, ``effect`` and its ``measure``: of numbers and dates Cliff's delta, from -1 (all values are below
        those elsewhere) to 1; of categories Cramér's V; of times until an event the hazard ratio; and ``n``, the number
        of entities of the cluster with a value.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> age = cs.explain.OriginalColumn("age", np.arange(20.0), "number", is_description=True)
    >>> comparison = cs.explain.compare_each_cluster(np.repeat([0, 1], 10), [age])
    >>> comparison["cluster"].tolist(), comparison["effect"].round(2).tolist()
    ([0, 1], [-1.0, 1.0])
    """
    labels, described = _check_input(labels, columns)
    rows = [
        {"column": column.name, "cluster": cluster, "p": test.p, "effect": test.effect, "measure": test.measure}
        | {"n": test.n}
        for column in described
        for cluster, test in _test_each_cluster(labels, column)
    ]
    table = Table.from_rows(rows)
    if rows:
        table["p_adjusted"] = adjust_holm(table["p"])
    return table


def _check_input(labels: Any, columns: Sequence[OriginalColumn]) -> tuple[np.ndarray, list[OriginalColumn]]:
    labels = np.asarray(labels)
    for column in columns:
        if np.shape(column.values) != labels.shape:
            raise ValueError(
                f"column {column.name!r} must have one cell per entity, shape {labels.shape}, got "
                f"{np.shape(column.values)}"
            )
    return labels, [column for column in columns if column.is_description]


def adjust_holm(pvalues: Any) -> np.ndarray:
    """Adjust p-values for their number by Holm's method; NaN are no tests.

    Parameters
    ----------
    pvalues : array-like
        The p-values.

    Returns
    -------
    ndarray
        The adjusted p-values: if those below 0.05 are called differences, the probability is at most 5% that any of
        them is due to chance.

    Examples
    --------
    >>> adjust_holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    pvalues = np.asarray(pvalues, dtype=np.float64)
    adjusted = np.full(len(pvalues), np.nan)
    tested = np.flatnonzero(~np.isnan(pvalues))
    order = tested[np.argsort(pvalues[tested], kind="stable")]
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted


def encode_categories(column: OriginalColumn) -> tuple[list[str], np.ndarray]:
    """Return the categories of a column, the most frequent first, and the number of each entity's, -1 for none."""
    cells = column.values.tolist()
    counts: dict[str, int] = {}
    for cell in cells:
        if cell is not None:
            counts[cell] = counts.get(cell, 0) + 1
    names = sorted(counts, key=lambda name: (-counts[name], name))
    position: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    return names, np.array([position.get(cell, -1) for cell in cells], dtype=np.intp)


def _find_filled(labels: np.ndarray, column: OriginalColumn) -> np.ndarray:
    """Return the entities in a cluster that have a value."""
    if column.kind in ("category", "text"):
        has_value = np.array([cell is not None for cell in column.values.tolist()], dtype=bool)
    else:
        has_value = ~np.isnan(column.values.astype(np.float64))
    return np.flatnonzero((labels >= 0) & has_value)


def _test_column(labels: np.ndarray, column: OriginalColumn) -> ColumnTest:
    rows = _find_filled(labels, column)
    clusters, group = np.unique(labels[rows], return_inverse=True)
    if column.kind == "text" or len(clusters) < 2:
        return ColumnTest(n=len(rows))
    if column.event is not None:
        return _test_times(column.values[rows].astype(np.float64), column.event[rows], group)
    if column.kind == "category":
        return _test_table(_count_categories(column, rows, group))
    return _test_ranks(column.values[rows].astype(np.float64), group)


def _test_ranks(values: np.ndarray, group: np.ndarray) -> ColumnTest:
    """Test numbers by their ranks (Kruskal and Wallis)."""
    n, sizes = len(values), np.bincount(group)
    ranks = rankdata(values) - (n + 1) / 2
    variance = float(ranks @ ranks) / (n - 1)  # with ties
    if not variance:
        return ColumnTest(n=n)
    statistic = float((np.bincount(group, ranks) ** 2 / sizes).sum() / variance)
    effect = statistic / (n - 1)
    if sizes.min() < MIN_EXPECTED and n <= MANY_ENTITIES:
        p = _permute(ranks, group)
        return ColumnTest("Kruskal-Wallis (permutation)", statistic, p, effect, "epsilon squared", n)
    p = float(chdtrc(len(sizes) - 1, statistic))
    return ColumnTest("Kruskal-Wallis", statistic, p, effect, "epsilon squared", n)


def _permute(scores: np.ndarray, group: np.ndarray) -> float:
    """Return how often clusters of the same sizes differ as much in their mean scores if drawn at random."""
    rng = np.random.default_rng(SEED)
    sizes = np.bincount(group)
    observed = (np.bincount(group, scores) ** 2 / sizes).sum()
    n_larger, n_permutations = 0, _count_permutations(scores)
    for _ in range(n_permutations):
        sums = np.bincount(group, rng.permutation(scores))
        n_larger += (sums**2 / sizes).sum() >= observed * (1 - 1e-9)
    return (1 + n_larger) / (1 + n_permutations)


def _count_permutations(scores: np.ndarray) -> int:
    """Return how often to permute: more for few entities, so that it takes seconds at most."""
    return N_PERMUTATIONS if len(scores) <= MANY_ENTITIES else N_FEW


def _count_categories(column: OriginalColumn, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Count the categories of each cluster; the rarest of very many are counted as one."""
    _, codes = encode_categories(column)
    codes = np.minimum(codes[rows], MAX_LEVELS - 1)
    n_levels = int(codes.max(initial=0)) + 1
    n_groups = int(group.max(initial=-1)) + 1
    counts = np.bincount(group * n_levels + codes, minlength=n_groups * n_levels).reshape(n_groups, n_levels)
    return counts[:, counts.any(axis=0)]


def _test_table(counts: np.ndarray) -> ColumnTest:
    """Test a table of clusters by categories (Pearson), by permutation if the expected counts are small."""
    n, n_rows, n_columns = int(counts.sum()), *counts.shape
    if min(n_rows, n_columns) < 2:
        return ColumnTest(n=n)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    statistic = float(((counts - expected) ** 2 / expected).sum())
    effect = float(np.sqrt(statistic / (n * (min(n_rows, n_columns) - 1))))
    is_accurate = expected.min() >= 1 and np.mean(expected >= MIN_EXPECTED) >= MIN_SHARE_EXPECTED
    if is_accurate:
        p = float(chdtrc((n_rows - 1) * (n_columns - 1), statistic))
        return ColumnTest("chi-squared", statistic, p, effect, "Cramér's V", n)
    n_tables = N_PERMUTATIONS if counts.size <= MANY_CELLS else N_FEW
    tables, rng = random_table(counts.sum(axis=1), counts.sum(axis=0)), np.random.default_rng(SEED)
    n_larger = 0
    for start in range(0, n_tables, N_FEW):
        drawn = tables.rvs(min(N_FEW, n_tables - start), random_state=rng)
        n_larger += int((((drawn - expected) ** 2 / expected).sum(axis=(1, 2)) >= statistic * (1 - 1e-9)).sum())
    p = (1 + n_larger) / (1 + n_tables)
    return ColumnTest("chi-squared (permutation)", statistic, p, effect, "Cramér's V", n)


def _test_times(time: np.ndarray, event: np.ndarray, group: np.ndarray) -> ColumnTest:
    """Test times until an event (log-rank)."""
    result = compare_survival(time, event, group)
    n = len(time)
    if np.isnan(result.pvalue):
        return ColumnTest(n=n)
    if result.expected.min() < MIN_EXPECTED:
        p = _permute(score_times(time, event), group)
        return ColumnTest("log-rank (permutation)", result.statistic, p, n=n)
    return ColumnTest("log-rank", result.statistic, result.pvalue, n=n)


def _test_each_cluster(labels: np.ndarray, column: OriginalColumn) -> Iterator[tuple[int, ColumnTest]]:
    """Yield a test of each cluster against all other entities."""
    rows = _find_filled(labels, column)
    clusters, group = np.unique(labels[rows], return_inverse=True)
    sizes = np.bincount(group, minlength=len(clusters))
    if column.kind == "text" or len(clusters) < 2:
        tests = [ColumnTest(n=n) for n in sizes.tolist()]
    elif column.event is not None:
        tests = _test_times_apart(column.values[rows].astype(np.float64), column.event[rows], group)
    elif column.kind == "category":
        counts = _count_categories(column, rows, group)
        pairs = (np.stack([inside, counts.sum(axis=0) - inside]) for inside in counts)
        tests = [replace(_test_table(pair), n=n) for pair, n in zip(pairs, sizes.tolist(), strict=True)]
    else:
        tests = _test_ranks_apart(column.values[rows].astype(np.float64), group)
    yield from zip(clusters.tolist(), tests, strict=True)


def _test_ranks_apart(values: np.ndarray, group: np.ndarray) -> list[ColumnTest]:
    """Test the numbers of each cluster against all others by their ranks (Mann and Whitney)."""
    n, sizes = len(values), np.bincount(group)
    ranks = rankdata(values) - (n + 1) / 2
    variance = float(ranks @ ranks) / (n - 1)
    if not variance:
        return [ColumnTest(n=size) for size in sizes.tolist()]
    sums = np.bincount(group, ranks)
    statistics = sums**2 * n / (sizes * (n - sizes) * variance)
    effects = 2 * sums / (sizes * (n - sizes))
    is_few = (np.minimum(sizes, n - sizes) < MIN_EXPECTED) & (n <= MANY_ENTITIES)
    pvalues = _find_pvalues(statistics, ranks, sums, sizes, is_few)
    return [
        ColumnTest("Mann-Whitney", statistic, p, effect, "Cliff's delta", size)
        for statistic, p, effect, size in zip(
            statistics.tolist(), pvalues, effects.tolist(), sizes.tolist(), strict=True
        )
    ]


def _test_times_apart(time: np.ndarray, event: np.ndarray, group: np.ndarray) -> list[ColumnTest]:
    """Test the times of each cluster until an event against those of all others (log-rank)."""
    result, sizes = compare_survival(time, event, group), np.bincount(group)
    difference, has_variance = result.observed - result.expected, result.variance > 0
    statistics = np.where(has_variance, difference**2 / np.where(has_variance, result.variance, 1.0), np.nan)
    is_few = np.minimum(result.expected, result.observed.sum() - result.expected) < MIN_EXPECTED
    pvalues = _find_pvalues(statistics, score_times(time, event), difference, sizes, is_few)
    return [
        ColumnTest("log-rank", statistic, p, ratio, "hazard ratio", size)
        for statistic, p, ratio, size in zip(
            statistics.tolist(), pvalues, result.hazard_ratios.tolist(), sizes.tolist(), strict=True
        )
    ]


def _find_pvalues(
    statistics: np.ndarray, scores: np.ndarray, sums: np.ndarray, sizes: np.ndarray, is_few: np.ndarray
) -> list[float]:
    """Return the p-value of each cluster: by the chi-squared distribution, by permutation where few are expected.

    `sums` are those of the `scores`, whose mean is 0, over the entities of the clusters. If clusters are drawn at
    random, they depend on the size of the cluster only.
    """
    pvalues = chdtrc(1, statistics)
    few = np.flatnonzero(is_few & ~np.isnan(pvalues))
    if len(few):
        rng = np.random.default_rng(SEED)
        n_larger, n_permutations = np.zeros(len(few)), _count_permutations(scores)
        for _ in range(n_permutations):
            drawn = np.cumsum(rng.permutation(scores))[sizes[few] - 1]
            n_larger += np.abs(drawn) >= np.abs(sums[few]) * (1 - 1e-9)
        pvalues[few] = (1 + n_larger) / (1 + n_permutations)
    return pvalues.tolist()


def is_constant(column: OriginalColumn) -> bool:
    """Whether a column has the same value for all entities that have one."""
    return len({cell for cell in column.values.tolist() if cell is not None and cell == cell}) <= 1


def describe_test(column: OriginalColumn, row: Mapping[str, Any]) -> str:
    """Describe a row of `compare_clusters` in a line, such as 'groups differ (log-rank p = .002, adjusted .006)'."""
    if not row["n"]:
        return "empty"
    if row["test"] == "none":
        if column.kind == "text":
            return "texts are not tested"
        return "the same value for all" if column.event is None and is_constant(column) else "nothing to compare"
    adjusted = format_p(row["p_adjusted"], "").removeprefix(" = ").strip()
    chance = f"({row['test']} {format_p(row['p'])}, adjusted {adjusted})"
    what = " in survival" if column.event is not None else ""
    if row["p_adjusted"] < SIGNIFICANT:
        return f"groups differ{what} {chance}"
    return f"no clear difference{what} between groups {chance}"


def format_p(p: float, before: str = "p") -> str:
    """Write a p-value as papers do.

    Examples
    --------
    >>> [format_p(p) for p in (0.00001, 0.0031, 0.04, 0.234, 1.0)]
    ['p < .001', 'p = .003', 'p = .040', 'p = .23', 'p > .99']
    """
    if np.isnan(p):
        return "not tested"
    if p < 0.001:
        return f"{before} < .001"
    if p > 0.99:
        return f"{before} > .99"
    text = f"{p:.3f}" if p < 0.0995 else f"{p:.2f}"
    return f"{before} = {text[1:]}"
