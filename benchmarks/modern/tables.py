"""Render records as Markdown: scores per data set, means and ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

Record = Mapping[str, Any]
HEADLINE = "consilience auto"
FULL = 3  # number of seeds; smaller numbers are shown
MOST_MISSING = 3  # sets without a result up to which a line is ranked; it shares the last rank on them


@dataclass(frozen=True)
class Cell:
    """The fits of one method on one set."""

    nmi: np.ndarray
    ari: np.ndarray
    cpu: np.ndarray
    mib: np.ndarray
    n_found: np.ndarray

    @classmethod
    def of(cls, records: Sequence[Record]) -> Cell:
        return cls(*(np.array([record[key] for record in records], dtype=float) for key in cls.__dataclass_fields__))


Results = dict[str, dict[str, Cell]]  # by line and set


def group_results(records: Iterable[Record]) -> Results:
    """Group the results by line and data set."""
    fits: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if "nmi" in record:
            fits.setdefault((record["line"], record["set"]), []).append(record)
    cells_by_line: Results = {}
    for (line, data), fits_of_pair in fits.items():
        cells_by_line.setdefault(line, {})[data] = Cell.of(fits_of_pair)
    return cells_by_line


def collect_failures(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """Collect the reasons by method and data set for pairs without any result."""
    records = list(records)
    fitted = {(record["method"], record["set"]) for record in records if "nmi" in record}
    reasons: dict[str, dict[str, str]] = {}
    for record in records:
        if "failed" in record and (record["method"], record["set"]) not in fitted:
            reasons.setdefault(record["method"], {})[record["set"]] = record["failed"]
    return reasons


def describe_seeds(scores: Results) -> str:
    """Describe how many seeds the pairs of a line and a data set have."""
    seeds = Counter(len(cell.nmi) for cells in scores.values() for cell in cells.values())
    counts = [f"{n} with {n_seeds} seed{'s' * (n_seeds > 1)}" for n_seeds, n in sorted(seeds.items(), reverse=True)]
    pairs = "pair" if seeds.total() == 1 else "pairs"
    return (
        f"{seeds.total()} {pairs} of a line and a set: {', '.join(counts)}. Means over seeds; ± is the standard "
        f"deviation where it is .01 or more; a number in parentheses is the number of seeds where it is less than "
        f"{FULL}.\n"
    )


def compute_mean_nmi(scores: Results, line: str, sets: Iterable[str]) -> float:
    return float(np.mean([scores[line][data].nmi.mean() for data in sets]))


def collect_means(scores: Results, sets: Sequence[str], score: str = "nmi") -> dict[str, np.ndarray]:
    """Return the mean over the seeds of each line on each set, NaN without a result."""
    return {
        line: np.array([getattr(cells[name], score).mean() if name in cells else np.nan for name in sets])
        for line, cells in scores.items()
    }


def rank_lines(scores: Results, sets: Sequence[str]) -> dict[str, np.ndarray]:
    """Rank the lines by NMI on each set: 1 is the best, and equal values share the mean of their ranks.

    Lines without a result on a set share the last ranks there. Lines without a result on more than `MOST_MISSING` sets
    are left out, and do not affect the ranks of the others.
    """
    means = collect_means(scores, sets)
    means = {line: values for line, values in means.items() if np.isnan(values).sum() <= MOST_MISSING}
    if not means:
        return {}
    nmi = np.array([np.nan_to_num(values, nan=-np.inf) for values in means.values()])
    return dict(zip(means, rankdata(-nmi, axis=0), strict=True))


def compute_mean_ranks(scores: Results, sets: Sequence[str]) -> dict[str, float]:
    """Compute the mean over the sets of the ranks of `rank_lines`."""
    return {line: float(ranks.mean()) for line, ranks in rank_lines(scores, sets).items()}


def count_wins_and_losses(scores: Results, line: str, other: str) -> str:
    """Count the common data sets on which the mean NMI of a line is above and below that of another."""
    common = [data for data in scores.get(line, {}) if data in scores.get(other, {})]
    gaps = np.array([scores[line][data].nmi.mean() - scores[other][data].nmi.mean() for data in common])
    return f"{(gaps > 0).sum()} : {(gaps < 0).sum()}"


def render_summary(
    records: Iterable[Record], lines: Sequence[str], sets: Sequence[str], against: str | None = None
) -> str:
    """Compare lines over sets: means, ranks, wins and losses against one line (default: the first), and NMI per set.

    Only lines and data sets with results appear. Means are over the data sets of a line, next to the mean of `against`
    over the same data sets. Lines that `rank_lines` leaves out come last.
    """
    scores = restrict_results(group_results(records), lines, sets)
    if not scores:
        return "No results.\n"
    sets = [data for data in sets if any(data in cells for cells in scores.values())]
    against = against or next(iter(scores))
    ranks = compute_mean_ranks(scores, sets)
    order = sorted(scores, key=lambda line: ranks.get(line, np.inf))
    rows = []
    for line in order:
        cells = scores[line]
        shared = [data for data in cells if data in scores.get(against, {})]
        rows.append(
            [
                line,
                f"{compute_mean_nmi(scores, line, cells):.3f}",
                f"{np.mean([cell.ari.mean() for cell in cells.values()]):.3f}",
                show_rank(ranks, line),
                f"{len(cells)} of {len(sets)}",
                count_wins_and_losses(scores, line, against) if line != against else "",
                f"{compute_mean_nmi(scores, against, shared):.3f}" if shared else "",
            ]
        )
    head = ["method", "mean NMI", "mean ARI", "mean rank", "sets", f"better : worse than {against}"]
    means = render_table([*head, f"mean NMI of {against} on the same sets"], rows)
    return f"{means}\nNMI per set:\n\n{render_by_set(scores, order, sets, lambda cell: _format_spread(cell.nmi))}"


def restrict_results(scores: Results, lines: Iterable[str], sets: Iterable[str]) -> Results:
    """Keep the results of these lines and data sets, in the order of the lines; lines without results are dropped."""
    wanted = set(sets)
    kept = {line: {data: cell for data, cell in scores.get(line, {}).items() if data in wanted} for line in lines}
    return {line: cells for line, cells in kept.items() if cells}


def render_all_tables(records: Sequence[Record], sets: Sequence[str], level: int = 2) -> str:
    """Render all tables; `sets` is the order of the columns, `level` that of the headings."""
    scores = group_results(records)
    sets = [data for data in sets if any(data in cells for cells in scores.values())]
    ranks = compute_mean_ranks(scores, sets)
    order = sorted(scores, key=lambda line: (ranks.get(line, np.inf), -compute_mean_nmi(scores, line, scores[line])))
    tables = {
        "Ranking": render_ranking(scores, order, sets, ranks),
        "NMI": render_by_set(scores, order, sets, lambda cell: f"{_format_spread(cell.nmi)}{_format_seed_count(cell)}"),
        "ARI": render_by_set(scores, order, sets, lambda cell: _format_spread(cell.ari)),
        "Clusters found": render_by_set(scores, order, sets, lambda cell: f"{cell.n_found.mean():.3g}"),
        "CPU seconds": render_by_set(scores, order, sets, lambda cell: f"{np.median(cell.cpu):.2g}"),
        "Peak MiB": render_by_set(scores, order, sets, lambda cell: f"{cell.mib.max():.0f}"),
    }
    failures = [
        [method, why.replace("|", "\\|"), "; ".join(data for data, reason in reasons.items() if reason == why)]
        for method, reasons in collect_failures(records).items()
        for why in dict.fromkeys(reasons.values())
    ]
    if failures:
        tables["Failed"] = render_table(["method", "why", "sets"], failures)
    return "\n".join(
        [describe_seeds(scores), *(f"{'#' * level} {title}\n\n{table}" for title, table in tables.items())]
    )


def show_rank(ranks: Mapping[str, float], line: str) -> str:
    """Format the mean rank of a line; it is empty for lines that are not ranked."""
    return f"{ranks[line]:.1f}" if line in ranks else ""


def render_ranking(scores: Results, order: Sequence[str], sets: Sequence[str], ranks: Mapping[str, float]) -> str:
    rows = [
        [
            line,
            show_rank(ranks, line),
            f"{compute_mean_nmi(scores, line, scores[line]):.3f}",
            f"{np.mean([cell.ari.mean() for cell in scores[line].values()]):.3f}",
            f"{len(scores[line])} of {len(sets)}",
            count_wins_and_losses(scores, HEADLINE, line) if line != HEADLINE else "",
            f"{np.median([np.median(cell.cpu) for cell in scores[line].values()]):.2g}",
            f"{max(cell.mib.max() for cell in scores[line].values()):.0f}",
        ]
        for line in order
    ]
    head = ["method", "mean rank", "mean NMI", "mean ARI", "sets", f"{HEADLINE} better : worse", "CPU s", "most MiB"]
    return render_table(head, rows)


def render_by_set(scores: Results, order: Sequence[str], sets: Sequence[str], show: Callable[[Cell], str]) -> str:
    rows = [[line, *(show(scores[line][data]) if data in scores[line] else "" for data in sets)] for line in order]
    return render_table(["method", *sets], rows)


def _format_spread(values: np.ndarray) -> str:
    """Format the mean over the seeds, and the standard deviation if it is visible."""
    mean = f"{values.mean():.2f}".replace("0.", ".", 1)
    deviation = f"{values.std(ddof=1):.2f}".replace("0.", ".", 1) if len(values) > 1 else ".00"
    return mean if deviation == ".00" else f"{mean} ±{deviation}"


def _format_seed_count(cell: Cell) -> str:
    return f" ({len(cell.nmi)})" if len(cell.nmi) < FULL else ""


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
