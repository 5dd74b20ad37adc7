"""The tables of docs/leaderboard.md, rendered from the records in docs/modern.

docs/modern holds ``records.csv`` (a line per fit, or per method and set that failed), ``sets.csv`` (sizes of the sets),
``origins.csv`` (where the sets come from), ``published.csv`` (results of other papers and repositories) and
``tables.md`` (all tables). In the page each table stands between ``<!-- table NAME -->`` and ``<!-- end -->``, where
``python -m benchmarks.modern --page`` replaces it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .collection import PART_SIGN, REST, WHOLE, is_case, is_part
from .sets import Prepared
from .tables import Record, Results, collect_failures, group_results, render_all_tables, render_table

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ("method", "line", "set", "seed", "nmi", "ari", "n_found", "cpu", "mib", "failed")
AUTO = "consilience auto"
OURS = (
    AUTO, "Consilience", "KernelAddition", "CoRegularizedSpectral", "CoTrainedSpectral", "MultiViewSphericalKMeans",
    "MultiViewKMeans", "CoEM, as the command",
)  # fmt: skip
SHOWN = {  # names in the page
    "side by side, spectral": "scikit-learn spectral, columns side by side",
    "side by side, k-means": "scikit-learn k-means, columns side by side",
}
MOST_MISSING = 3  # sets without a result up to which a line is ranked; it shares the last rank there
EQUAL = 0.01  # differences of NMI that do not count
N_RESAMPLES = 10_000
QUANTILES = (0.025, 0.975)


def store_records(folder: Path, records: Iterable[Record], sets: Mapping[str, Prepared], lines: Iterable[str]) -> None:
    """Write the records of these lines and sets in a fixed order, and the sizes of the sets."""
    wanted = set(lines)
    kept = [record for record in records if record["set"] in sets and record.get("line", record["method"]) in wanted]
    kept = [record for record in kept if "nmi" in record or "failed" in record]
    kept.sort(key=lambda record: (record["method"], record["set"], record.get("line", ""), record.get("seed", 0)))
    rounded = [
        {key: round(value, 5) if key in ("nmi", "ari") else value for key, value in record.items()} for record in kept
    ]
    write_table(folder / "records.csv", COLUMNS, rounded)
    sizes = [
        {"set": name, "entities": len(data.target), "views": len(data.dense), "clusters": data.n_clusters}
        for name, data in sets.items()
    ]
    write_table(folder / "sets.csv", ("set", "entities", "views", "clusters"), sizes)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def read_table(path: Path) -> list[dict[str, str]]:
    """Read rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_stored(folder: Path) -> list[Record]:
    """Read the stored records: empty cells are left out, figures are numbers."""
    numbers = {"seed": int, "n_found": int, "nmi": float, "ari": float, "cpu": float, "mib": float}
    return [
        {key: numbers.get(key, str)(value) for key, value in row.items() if value}
        for row in read_table(folder / "records.csv")
    ]


def update_docs(docs: Path = DOCS) -> None:
    """Write the tables of the page and the file of all tables."""
    folder, page = docs / "modern", docs / "leaderboard.md"
    records = read_stored(folder)
    sizes = {row["set"]: row for row in read_table(folder / "sets.csv")}
    tables = render_tables(records, sizes, read_table(folder / "published.csv"))
    tables["origins"] = render_origins(read_table(folder / "origins.csv"))
    page.write_text(replace_tables(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    text = f"# All tables of the leaderboard\n\n{render_tables_by_part(records, list(sizes))}"
    (folder / "tables.md").write_text(text, encoding="utf-8")


def render_tables_by_part(records: Sequence[Record], sets: Sequence[str]) -> str:
    """Render all tables of the usual sets, and then separately those of each kind of part and of useless views."""
    sections = {
        "": [name for name in sets if not is_part(name) and not is_case(name)],
        "Other entities of the same sets": [name for name in sets if name.endswith(PART_SIGN + REST)],
        "All entities": [name for name in sets if name.endswith(PART_SIGN + WHOLE)],
        "Sets with a useless view": [name for name in sets if is_case(name)],
    }
    texts = []
    for title, names in sections.items():
        chosen = [record for record in records if record["set"] in set(names)]
        if chosen:
            heading = f"## {title}\n\n" if title else ""
            texts.append(heading + render_all_tables(chosen, names, level=3 if title else 2))
    return "\n".join(texts)


def replace_tables(page: str, tables: Mapping[str, str]) -> str:
    """Replace the tables of a page; a name that has no table is an error."""
    pattern = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
    return pattern.sub(lambda match: f"{match[1]}\n{tables[match[2]]}\n{match[3]}", page)


def render_tables(
    records: Sequence[Record], sizes: Mapping[str, Mapping[str, str]], published: Sequence[Mapping[str, str]]
) -> dict[str, str]:
    """Render the tables of the page by name."""
    scores = group_results(records)
    sets = [name for name in sizes if not is_part(name)]
    plain = select_sets(scores, sets)
    ranked = {line: cells for line, cells in plain.items() if len(sets) - len(cells) <= MOST_MISSING}
    rest = [name for name in sizes if name.endswith(PART_SIGN + REST)]
    return {
        "headline": render_headline(ranked, sets),
        "ranking": render_leaders(ranked, sets),
        "partial": render_partial({line: cells for line, cells in plain.items() if line not in ranked}, plain, sets),
        "sets": render_sets(plain, sets, sizes),
        "losses": render_losses(plain, sets),
        "published-losses": render_published_losses(scores, published),
        "published": render_published(scores, sizes, published),
        "failures": render_failures(records, sets),
        "rest": render_rest(scores, rest) if rest else "No results; `make bench-modern` computes them.\n",
    }


def select_sets(scores: Results, sets: Iterable[str]) -> Results:
    """Keep the results on these sets; lines without any are dropped."""
    wanted = set(sets)
    kept = {line: {name: cell for name, cell in cells.items() if name in wanted} for line, cells in scores.items()}
    return {line: cells for line, cells in kept.items() if cells}


def collect_means(scores: Results, sets: Sequence[str], score: str = "nmi") -> dict[str, np.ndarray]:
    """Return the mean over the seeds of each line on each set, NaN without a result."""
    return {
        line: np.array([getattr(cells[name], score).mean() if name in cells else np.nan for name in sets])
        for line, cells in scores.items()
    }


def rank_lines(means: Mapping[str, np.ndarray]) -> np.ndarray:
    """Rank the lines on each set, (lines, sets): 1 is the best; lines without a result share the last ranks."""
    nmi = np.array([np.nan_to_num(values, nan=-1.0) for values in means.values()])
    return rankdata(-nmi, axis=0)


def bootstrap_means(values: np.ndarray) -> np.ndarray:
    """Return an interval of the mean over sets: 95% of the means over sets drawn with replacement, (2, lines)."""
    draws = np.random.default_rng(0).integers(values.shape[1], size=(N_RESAMPLES, values.shape[1]))
    return np.quantile(values[:, draws].mean(axis=2), QUANTILES, axis=1)


def count_outcomes(gaps: np.ndarray) -> str:
    """Count the sets on which a difference is positive, small and negative."""
    gaps = gaps[~np.isnan(gaps)]
    return f"{(gaps >= EQUAL).sum()} : {(np.abs(gaps) < EQUAL).sum()} : {(gaps <= -EQUAL).sum()}"


def show_line(line: str) -> str:
    """Return the name of a line in the page; ours are set in bold."""
    return f"**{line}**" if line in OURS else SHOWN.get(line, line)


def show_score(value: float) -> str:
    """Format a score or a difference with three digits and without the leading zero; NaN is empty."""
    return "" if np.isnan(value) else f"{value:.3f}".replace("0.", ".", 1)


def show_mean(values: np.ndarray) -> str:
    """Format the mean over the sets with a result; the number of these sets follows if some have none."""
    n_results = int((~np.isnan(values)).sum())
    missing = f" ({n_results} set{'s' * (n_results > 1)})" if n_results < len(values) else ""
    return show_score(np.nanmean(values)) + missing


def compute_median_seconds(cells: Mapping[str, Any]) -> str:
    """Return the median over the sets of the median processor seconds of a fit."""
    return f"{np.median([np.median(cell.cpu) for cell in cells.values()]):.2g}"


def render_headline(scores: Results, sets: Sequence[str]) -> str:
    """Say in a paragraph how the automatic choice and the best of the other libraries compare."""
    means = collect_means(scores, sets)
    ranks = dict(zip(means, rank_lines(means).mean(axis=1), strict=True))
    mean_nmi = {line: np.nanmean(values) for line, values in means.items()}
    others = [line for line in means if line not in OURS]
    complete = [line for line in others if not np.isnan(means[line]).any()]
    by_rank, by_nmi = min(others, key=ranks.__getitem__), max(complete, key=mean_nmi.__getitem__)
    best_of_others = np.nanmax([means[line] for line in others], axis=0)
    n_lost = int((best_of_others - means[AUTO] >= EQUAL).sum())
    return (
        f"On the {len(sets)} sets {AUTO} has a mean NMI of {show_score(mean_nmi[AUTO])} and a mean rank of "
        f"{ranks[AUTO]:.1f} among {len(means)} methods. Of the {len(others)} methods of other libraries and ports the "
        f"best mean rank is {ranks[by_rank]:.1f} ({show_line(by_rank)}), the best mean NMI "
        f"{show_score(mean_nmi[by_nmi])} ({show_line(by_nmi)}). On {n_lost} of the sets at least one of them is better "
        f"than {AUTO} by {show_score(EQUAL).rstrip('0')} or more.\n"
    )


def render_leaders(scores: Results, sets: Sequence[str]) -> str:
    """Render the lines by mean rank, with intervals over the sets, and compared with the automatic choice."""
    means = collect_means(scores, sets)
    ranks, ari = rank_lines(means), collect_means(scores, sets, "ari")
    low, high = bootstrap_means(ranks)
    rows = []
    for i, line in sorted(enumerate(means), key=lambda pair: ranks[pair[0]].mean()):
        gaps = means[AUTO] - means[line]
        both = gaps[~np.isnan(gaps)]
        lower, upper = bootstrap_means(both[None])[:, 0]
        rows.append(
            [
                show_line(line),
                f"{ranks[i].mean():.1f}",
                f"{low[i]:.1f} to {high[i]:.1f}",
                show_mean(means[line]),
                show_mean(ari[line]),
                "" if line == AUTO else f"{show_score(both.mean())} ({show_score(lower)} to {show_score(upper)})",
                "" if line == AUTO else count_outcomes(gaps),
                compute_median_seconds(scores[line]),
                str(len(scores[line])),
            ]
        )
    head = ["method", "mean rank", "95% interval", "NMI", "ARI", "auto's lead in NMI (95% interval)"]
    return render_table([*head, "auto better : equal : worse", "CPU s", "sets"], rows)


def render_partial(scores: Results, plain: Results, sets: Sequence[str]) -> str:
    """Render the lines that have results on fewer sets, next to the automatic choice on the same sets."""
    means, auto = collect_means(scores, sets), collect_means({AUTO: plain[AUTO]}, sets)[AUTO]
    rows = []
    for line, values in sorted(means.items(), key=lambda pair: -(~np.isnan(pair[1])).sum()):
        both = ~np.isnan(values) & ~np.isnan(auto)
        counts = count_outcomes(auto - values)
        rows.append(
            [
                show_line(line),
                str(both.sum()),
                show_score(values[both].mean()),
                show_score(auto[both].mean()),
                counts,
                compute_median_seconds(scores[line]),
            ]
        )
    return render_table(["method", "sets", "NMI", "auto's NMI there", "auto better : equal : worse", "CPU s"], rows)


def find_best(means: Mapping[str, np.ndarray], position: int, lines: Iterable[str]) -> tuple[str, float]:
    """Return the best of some lines on a set, and its NMI; no name and NaN if none has a result."""
    scores = {line: means[line][position] for line in lines if not np.isnan(means[line][position])}
    best = max(scores, key=scores.__getitem__, default="")
    return best, scores.get(best, np.nan)


def render_sets(scores: Results, sets: Sequence[str], sizes: Mapping[str, Mapping[str, str]]) -> str:
    """Render the results set by set: those of this project and the best of the others."""
    means = collect_means(scores, sets)
    others, single = [line for line in means if line not in OURS], OURS[2:]
    rows = []
    for i, name in enumerate(sets):
        peer, peer_nmi = find_best(means, i, others)
        method, nmi = find_best(means, i, [line for line in single if line in means])
        auto, by_seed = means[AUTO][i], scores[AUTO][name].nmi
        values = [auto, means["Consilience"][i], nmi, peer_nmi]
        cells = [f"**{show_score(value)}**" if value == np.nanmax(values) else show_score(value) for value in values]
        size = f"{int(sizes[name]['entities']):,}, {sizes[name]['views']}, {sizes[name]['clusters']}"
        cells[2] += f" {method}"
        cells[3] += f" {SHOWN.get(peer, peer)}"
        rows.append([name, size, cells[0], show_score(np.ptp(by_seed)) if len(by_seed) > 1 else "", *cells[1:]])
    head = ["set", "entities, views, clusters", "auto", "range of its seeds", "`Consilience` on the views as they are"]
    return render_table([*head, "best of our other methods", "best of the others"], rows)


def render_losses(scores: Results, sets: Sequence[str]) -> str:
    """Render the sets on which a line of another library is better than the automatic choice."""
    means = collect_means(scores, sets)
    others = [line for line in means if line not in OURS]
    rows = []
    for i, name in enumerate(sets):
        auto = means[AUTO][i]
        better = sorted((line for line in others if means[line][i] - auto >= EQUAL), key=lambda line: -means[line][i])
        if better:
            best = ", ".join(f"{SHOWN.get(line, line)} {show_score(means[line][i])}" for line in better[:3])
            rows.append((means[better[0]][i] - auto, [name, show_score(auto), best, str(len(better))]))
    rows.sort(key=lambda row: -row[0])
    return render_table(["set", "auto", "the best that are better", "how many are"], [row for _, row in rows])


def render_rest(scores: Results, sets: Sequence[str]) -> str:
    """Render the results on other entities of the same sets, for lines that have all that the automatic choice has."""
    sets = [name for name in sets if name in scores[AUTO]]
    chosen = select_sets(scores, sets)
    means = {line: values for line, values in collect_means(chosen, sets).items() if not np.isnan(values).any()}
    ranks = rank_lines(means)
    rows = [
        [
            show_line(line),
            f"{ranks[i].mean():.1f}",
            show_score(means[line].mean()),
            count_outcomes(means[AUTO] - means[line]),
        ]
        for i, line in sorted(enumerate(means), key=lambda pair: ranks[pair[0]].mean())
    ]
    for row in rows:
        if row[0] == show_line(AUTO):
            row[-1] = ""
    return render_table(["method", "mean rank", "NMI", "auto better : equal : worse"], rows)


def find_run(scores: Results, name: str) -> str:
    """Return the part that a published result is compared with: all entities of the set if they were run."""
    whole = f"{name}{PART_SIGN}{WHOLE}"
    return whole if whole in scores.get(AUTO, {}) else name


def show_published_score(row: Mapping[str, str]) -> str:
    """Format a published NMI, with the accuracy if it was published."""
    return f"{row['nmi']} / {row['accuracy']}" if row["accuracy"] else row["nmi"]


def show_source(addresses: str) -> str:
    """Render addresses, separated by blanks, as links; of a repository the owner and the name are shown."""
    links = [f"[{url.removeprefix('https://github.com/')}]({url})" for url in addresses.split()]
    return ", ".join(links)


def render_published_losses(scores: Results, published: Sequence[Mapping[str, str]]) -> str:
    """Render the published results that are better than those of the automatic choice."""
    rows = []
    for row in published:
        used = find_run(scores, row["set"])
        auto = scores[AUTO][used].nmi.mean()
        if float(row["nmi"]) - auto >= EQUAL:
            gap = float(row["nmi"]) - auto
            rows.append((gap, [row["set"], show_score(auto), row["method"], show_published_score(row), row["tuned"]]))
    rows.sort(key=lambda pair: -pair[0])
    head = ["set", "auto NMI", "published method", "its NMI / accuracy", "tuned by classes"]
    return render_table(head, [row for _, row in rows])


def render_published(
    scores: Results, sizes: Mapping[str, Mapping[str, str]], published: Sequence[Mapping[str, str]]
) -> str:
    """Render the published results next to those of this project."""
    rows = []
    for name in dict.fromkeys(row["set"] for row in published):
        used = find_run(scores, name)
        measured = [
            show_score(scores[line][used].nmi.mean()) if used in scores.get(line, {}) else "not run"
            for line in (AUTO, "GMC (port)")
        ]
        for i, row in enumerate(row for row in published if row["set"] == name):
            first = [name, f"{int(sizes[used]['entities']):,}", *measured] if i == 0 else [""] * 4
            figures = [row["method"], show_published_score(row), row["entities"], row["tuned"]]
            rows.append([*first, *figures, show_source(row["source"])])
    head = ["set", "our entities", "auto NMI", "GMC (port) NMI", "published method", "its NMI / accuracy"]
    return render_table([*head, "its entities, views", "tuned by classes", "source"], rows)


def render_origins(origins: Sequence[Mapping[str, str]]) -> str:
    """Render where the sets come from."""
    rows = [[row["set"], row["what"], row["cite"], show_source(row["copy"]) or row["made"]] for row in origins]
    return render_table(["set", "what", "cite", "copy that was used"], rows)


def render_failures(records: Sequence[Record], sets: Sequence[str]) -> str:
    """Render the reasons of methods without a result on some sets."""
    plain = [record for record in records if record["set"] in set(sets)]
    rows = []
    for method, reasons in collect_failures(plain).items():
        for why in dict.fromkeys(reasons.values()):
            names = [name for name, reason in reasons.items() if reason == why]
            rows.append([method, why.replace("|", "\\|"), f"{len(names)}: {', '.join(names)}"])
    return render_table(["method", "reason", "sets"], rows)
