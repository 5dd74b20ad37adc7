"""The tables of docs/leaderboard.md, rendered from the records in docs/modern.

docs/modern holds ``records.csv`` (a line per fit, or per method and set that failed), ``sets.csv`` (sizes of the sets),
``origins.csv`` (where the sets come from; sets of one source are related), ``published.csv`` (results of other papers
and repositories) and ``tables.md`` (all tables). In the page each table stands between ``<!-- table NAME -->`` and
``<!-- end -->``, where ``python -m benchmarks.modern --page`` replaces it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .collection import PART_SIGN, REST, WHOLE, is_case, is_part
from .sets import Prepared
from .tables import (
    MOST_MISSING,
    Record,
    Results,
    collect_failures,
    collect_means,
    compute_mean_ranks,
    group_results,
    rank_lines,
    render_all_tables,
    render_table,
)

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ("method", "line", "set", "seed", "nmi", "ari", "n_found", "cpu", "mib", "failed")
AUTO = "consilience auto"
DEFAULT = "Consilience"
DENSE = "Consilience, input of the other libraries"
ALTERNATIVES = (  # other methods of consilience
    "KernelAddition", "CoRegularizedSpectral", "CoTrainedSpectral", "MultiViewSphericalKMeans", "MultiViewKMeans",
    "CoEM, as the command",
)  # fmt: skip
OURS = (AUTO, DEFAULT, DENSE, *ALTERNATIVES)
SHOWN = {  # names in the page
    "side by side, spectral": "scikit-learn spectral, columns side by side",
    "side by side, k-means": "scikit-learn k-means, columns side by side",
}
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
    """Read the stored records: empty cells are left out, and columns of numbers are converted."""
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
    origins = read_table(folder / "origins.csv")
    sources = {row["set"]: row["source"] for row in origins}
    tables = render_tables(records, sizes, sources, read_table(folder / "published.csv"))
    tables["origins"] = render_origins(origins)
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
    records: Sequence[Record],
    sizes: Mapping[str, Mapping[str, str]],
    sources: Mapping[str, str],
    published: Sequence[Mapping[str, str]],
) -> dict[str, str]:
    """Render the tables of the page by name; `sources` maps the names of the sets to the sources of their data."""
    scores = group_results(records)
    sets = [name for name in sizes if not is_part(name)]
    plain = select_sets(scores, sets)
    ranked = {line: cells for line, cells in plain.items() if len(sets) - len(cells) <= MOST_MISSING}
    rest = [name for name in sizes if name.endswith(PART_SIGN + REST)]
    return {
        "headline": render_headline(ranked, sets, sources),
        "dense-input": render_dense_input(ranked, sets, sources),
        "ranking": render_leaders(ranked, sets, sources),
        "partial": render_partial({line: cells for line, cells in plain.items() if line not in ranked}, plain, sets),
        "sets": render_sets(plain, sets, sizes),
        "losses": render_losses(plain, sets),
        "our-losses": render_our_losses(plain, sets),
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


def bootstrap_means(values: np.ndarray, sources: Sequence[str] | np.ndarray) -> np.ndarray:
    """Return a 95% interval of the mean over the sets, (2, lines), from samples of the sources with replacement.

    A source brings all of its sets each time that it is drawn: results on related sets are not independent.
    """
    names, positions = np.unique(sources, return_inverse=True)
    belongs = positions[:, None] == np.arange(len(names))
    draws = np.random.default_rng(0).integers(len(names), size=(N_RESAMPLES, len(names)))
    sums, counts = (values @ belongs)[:, draws].sum(axis=2), belongs.sum(axis=0)[draws].sum(axis=1)
    return np.quantile(sums / counts, QUANTILES, axis=1)


def show_gap(gaps: np.ndarray, sets: Sequence[str], sources: Mapping[str, str], name: str = "") -> str:
    """Format the mean of a difference over the sets that have it, with its interval, which may be given a name."""
    has_gap = ~np.isnan(gaps)
    set_sources = np.array([sources[data] for data in sets])
    lower, upper = bootstrap_means(gaps[None, has_gap], set_sources[has_gap])[:, 0]
    return f"{show_score(gaps[has_gap].mean())} ({name}{show_score(lower)} to {show_score(upper)})"


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


def find_best_complete(means: Mapping[str, np.ndarray]) -> str:
    """Return the line of another library or a port with results on all sets that has the best mean."""
    complete = [line for line, values in means.items() if line not in OURS and not np.isnan(values).any()]
    return max(complete, key=lambda line: means[line].mean())


def render_headline(scores: Results, sets: Sequence[str], sources: Mapping[str, str]) -> str:
    """Say in a paragraph how the automatic choice and the best of the other libraries compare."""
    means, ranks = collect_means(scores, sets), compute_mean_ranks(scores, sets)
    others = [line for line in means if line not in OURS]
    by_rank, by_nmi = min(others, key=ranks.__getitem__), find_best_complete(means)
    best_of_others = np.nanmax([means[line] for line in others], axis=0)
    n_lost = int((best_of_others - means[AUTO] >= EQUAL).sum())
    lead = show_gap(means[AUTO] - means[by_nmi], sets, sources, "95% interval ")
    return (
        f"On the {len(sets)} sets {AUTO} has a mean NMI of {show_score(np.nanmean(means[AUTO]))} and a mean rank of "
        f"{ranks[AUTO]:.1f} among the {len(means)} lines of the [ranking](#ranking). Of the {len(others)} lines of "
        f"other libraries and ports the best mean rank is {ranks[by_rank]:.1f} ({show_line(by_rank)}), the best mean "
        f"NMI {show_score(means[by_nmi].mean())} ({show_line(by_nmi)}), so that {AUTO} leads by {lead}. On {n_lost} "
        f"of the sets at least one of them is better than {AUTO} by {show_score(EQUAL).rstrip('0')} or more.\n"
    )


def render_dense_input(scores: Results, sets: Sequence[str], sources: Mapping[str, str]) -> str:
    """Say in a sentence what the input of the other libraries costs the default method."""
    if DENSE not in scores:
        return "No results; `make bench-modern` computes them.\n"
    means = collect_means(scores, sets)
    gaps, best = means[DENSE] - means[DEFAULT], find_best_complete(means)
    effect = "costs" if np.nanmean(gaps) < 0 else "gains"
    change = show_gap(gaps if effect == "gains" else -gaps, sets, sources, "95% interval ")
    lead = show_gap(means[DENSE] - means[best], sets, sources, "95% interval ")
    better, equal, worse = count_outcomes(gaps).split(" : ")
    return (
        f"The input of the other libraries (dense arrays, with zeros for missing views) {effect} `{DEFAULT}` {change} "
        f"in mean NMI: it has {show_mean(means[DENSE])} with it and {show_mean(means[DEFAULT])} on the views as they "
        f"are. With it the result is better on {better} sets, equal on {equal} and worse on {worse}, and the lead over "
        f"the best mean NMI of the other libraries ({show_line(best)}) is {lead}.\n"
    )


def render_leaders(scores: Results, sets: Sequence[str], sources: Mapping[str, str]) -> str:
    """Render the lines by mean rank, with intervals, and compared with the automatic choice."""
    means, ari, ranks = collect_means(scores, sets), collect_means(scores, sets, "ari"), rank_lines(scores, sets)
    set_sources = [sources[name] for name in sets]
    rows = []
    for line in sorted(means, key=lambda line: ranks[line].mean()):
        low, high = bootstrap_means(ranks[line][None], set_sources)[:, 0]
        gaps = means[AUTO] - means[line]
        rows.append(
            [
                show_line(line),
                f"{ranks[line].mean():.1f}",
                f"{low:.1f} to {high:.1f}",
                show_mean(means[line]),
                show_mean(ari[line]),
                "" if line == AUTO else show_gap(gaps, sets, sources),
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
    others = [line for line in means if line not in OURS]
    rows = []
    for i, name in enumerate(sets):
        peer, peer_nmi = find_best(means, i, others)
        method, nmi = find_best(means, i, [line for line in ALTERNATIVES if line in means])
        auto, by_seed = means[AUTO][i], scores[AUTO][name].nmi
        values = [auto, means[DEFAULT][i], nmi, peer_nmi]
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


def render_our_losses(scores: Results, sets: Sequence[str]) -> str:
    """Name the sets on which another method of consilience is better than the automatic choice, and the best there."""
    means = collect_means(scores, sets)
    losses = []
    for i, name in enumerate(sets):
        best, nmi = find_best(means, i, [line for line in ALTERNATIVES if line in means])
        gap = nmi - means[AUTO][i]
        if gap >= EQUAL:
            losses.append((gap, f"{name} ({best} {show_score(nmi)}, ahead by {show_score(gap)})"))
    if not losses:
        return "- **Our other methods**: none is ahead on any set.\n"
    return (
        f"- **Our other methods** are better than *{AUTO}* by {show_score(EQUAL).rstrip('0')} or more on {len(losses)} "
        f"sets: {'; '.join(text for _, text in sorted(losses, reverse=True))}.\n"
    )


def render_rest(scores: Results, sets: Sequence[str]) -> str:
    """Render the results on other entities of the same sets, for lines that have all that the automatic choice has."""
    sets = [name for name in sets if name in scores[AUTO]]
    chosen = select_sets(scores, sets)
    means = {line: values for line, values in collect_means(chosen, sets).items() if not np.isnan(values).any()}
    ranks = compute_mean_ranks({line: chosen[line] for line in means}, sets)
    rows = [
        [
            show_line(line),
            f"{ranks[line]:.1f}",
            show_score(means[line].mean()),
            count_outcomes(means[AUTO] - means[line]),
        ]
        for line in sorted(means, key=ranks.__getitem__)
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
            report = [row["method"], show_published_score(row), row["entities"], row["tuned"], row["checked"]]
            rows.append([*first, *report, show_source(row["source"])])
    head = ["set", "our entities", "auto NMI", "GMC (port) NMI", "published method", "its NMI / accuracy"]
    return render_table([*head, "its entities, views", "tuned by classes", "read again", "source"], rows)


def render_origins(origins: Sequence[Mapping[str, str]]) -> str:
    """Render where the sets come from."""
    rows = [
        [row["set"], row["what"], row["source"], row["cite"], show_source(row["copy"]) or row["made"]]
        for row in origins
    ]
    return render_table(["set", "what", "source of the data", "cite", "copy that was used"], rows)


def render_failures(records: Sequence[Record], sets: Sequence[str]) -> str:
    """Render the reasons of methods without a result on some sets."""
    plain = [record for record in records if record["set"] in set(sets)]
    rows = []
    for method, reasons in collect_failures(plain).items():
        for why in dict.fromkeys(reasons.values()):
            names = [name for name, reason in reasons.items() if reason == why]
            rows.append([method, why.replace("|", "\\|"), f"{len(names)}: {', '.join(names)}"])
    return render_table(["method", "reason", "sets"], rows)
