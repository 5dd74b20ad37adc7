"""``consilience compare``: whether several views help here, and which method to take."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import SingleView
from ..baselines import compare as lay_side_by_side
from ..data import Table, Views
from ..files import check_output_file, fit_and_encode, stage_file
from ..methods import CoTrainedSpectral, MultiViewSphericalKMeans
from ..report.versions import list_versions
from .alone import concatenate_views
from .job import SMALL_GROUPS, LoadedData, check_inputs_stay, choose_k, describe_data, describe_selection, load_data
from .methods import METHODS, Setting
from .outputs import write_json
from .say import Terminal, UsageError

CLOSE = 0.02  # a difference that another seed could make
ALONE, JOINED = "alone", "side by side"
SHOWN = (
    "estimator",
    "entities",
    "nmi",
    "ari",
    "f",
    "entropy",
    "agreement",
    "stability",
    "verdict",
    "disagreement",
    "impurity",
    "seconds",
)


def run_compare(options: argparse.Namespace, say: Terminal) -> None:
    """Every suitable method and baseline on the same entities, one table, and what it says in words."""
    out = None if options.out is None else Path(options.out)
    if out is not None:
        check_output_file(out, options.force)
        check_inputs_stay([out], options)
    data = load_data(options, say)
    say.result(describe_data(data))
    k = int(options.k) if options.k.isdecimal() else find_n_clusters(data, options, say)
    rows = []
    for name, views, estimator, who in list_candidates(data, k, options.seed, say):
        classes = None if data.classes is None else data.classes[who]
        with say.step(f"trying {name}", f"tried {name}", about=name):
            table = lay_side_by_side(
                views,
                {name: estimator},
                classes,
                random_state=options.seed,
                n_refits=options.refits,
                assess=options.assess,
            )
        rows += [{**row, "entities": len(who)} for row in table.rows()]
    table = Table.from_rows(rows)
    words = describe_comparison(table, data.classes is not None)
    shown = Table({name: table[name] for name in SHOWN if name in table})
    say.result(f"\n{k} clusters, seed {options.seed}\n{shown}\n\n{words}", always=out is None)
    if out is None:
        return
    facts = {"clusters": k, "seed": options.seed, "table": table, "words": words, "notes": say.notes}
    with stage_file(out, options.force) as temporary:
        write_json(temporary, {**facts, "versions": list_versions(), "command": options.command_line})
    say.left = f"the results are in {out}"
    say.result(f"\nWritten to {out}")


def find_n_clusters(data: LoadedData, options: argparse.Namespace, say: Terminal) -> int:
    """Return the number of clusters with the most support; methods cannot be compared without groups."""
    if options.k == SMALL_GROUPS:
        raise UsageError(f"-k {SMALL_GROUPS} is for `consilience cluster`: methods cannot be compared by it")
    selection = choose_k(data, options.seed, say)
    if not selection.supported:
        raise ValueError(f"{selection.reason} Give -k N to compare methods anyway")
    say.result(f"\n{describe_selection(selection)}")
    return selection.n_clusters


def list_candidates(data: LoadedData, k: int, seed: int, say: Terminal) -> Iterator[tuple[str, Views, Any, np.ndarray]]:
    """Name, data, estimator and which entities of all that suits: methods, columns side by side, each view alone."""
    kinds, everybody = data.prepared.kinds, np.arange(len(data.views))
    alike = "similarities" in kinds.values()
    for name, method in METHODS.items():
        if method.few_columns or (alike and not method.similarities):
            continue
        if method.most is not None and len(data.views) > method.most:
            say.note(f"{name} is left out: more than {method.most:,} entities.")
            continue
        yield name, _views_for(data, method.rare), method.build(Setting(k, seed, kinds)), everybody
    views = _views_for(data, True)
    if views.n_views < 2:
        return
    if not alike:
        joined, _ = concatenate_views(views, kinds, rare=True)
        one_view = {"spectral": CoTrainedSpectral, "spherical": MultiViewSphericalKMeans}
        for how, kind in one_view.items():
            yield f"{how}, {JOINED}", joined, kind(k, random_state=seed), everybody
        for v, name in enumerate(views.names):
            there = np.flatnonzero(views.present[:, v])  # of the others a view says nothing, right or wrong
            for how, kind in one_view.items():
                yield f"{name} {ALONE}, {how}", views[there], SingleView(kind(k, random_state=seed), name), there


def _views_for(data: LoadedData, rare: bool) -> Views:
    if METHODS[data.method].rare == rare:
        return data.views
    return fit_and_encode(data.reading.contents, rare=rare).views


def describe_comparison(table: Table, scored: bool) -> str:
    """The table's answer to the two questions, and how far to believe it."""
    column = "nmi" if scored else "stability"
    values = dict(zip(table["estimator"].tolist(), table[column].tolist(), strict=True))
    values = {name: value for name, value in values.items() if not np.isnan(value)}
    alone, joined = (
        {name: value for name, value in values.items() if mark in name} for mark in (f" {ALONE},", f", {JOINED}")
    )
    several = {name: value for name, value in values.items() if name not in alone and name not in joined}
    if not several:
        return f"No method could be judged: {'see the notes' if scored else 'give --labels, or --refits of 1 or more'}."
    best = max(several, key=lambda name: several[name])
    if not scored:
        return _describe_stability(several, alone, joined)
    if not alone:
        return f"The best here is {best} (NMI {several[best]:.2f})."
    one = max(alone, key=lambda name: alone[name])
    gain = several[best] - alone[one]
    verdict = "Yes, several views help here" if gain > CLOSE else "No, several views do not help here"
    verdict = "Several views make little difference here" if abs(gain) <= CLOSE else verdict
    sizes = dict(zip(table["estimator"].tolist(), table["entities"].tolist(), strict=True))
    among = "" if sizes[one] == sizes[best] else f" among the {sizes[one]:,} entities that have it"
    words = f"{verdict}: {best} has NMI {several[best]:.2f}, the best single view ({one}) {alone[one]:.2f}{among}"
    if joined:
        other = max(joined, key=lambda name: joined[name])
        ahead = several[best] - joined[other]
        rank = "which is level" if abs(ahead) <= CLOSE else "which is behind" if ahead > 0 else "which is ahead"
        words += f", all columns {JOINED} {joined[other]:.2f} ({other}), {rank}"
    return (
        f"{words}. NMI was looked up among the known labels, so the best of {len(values)} flatters itself a little; "
        f"differences below {CLOSE} mean nothing."
    )


def _describe_stability(several: dict[str, float], alone: dict[str, float], joined: dict[str, float]) -> str:
    """Name the most stable methods, which is all that the table shows without known labels."""
    best = max(several, key=lambda name: several[name])
    words = [
        f"Without known labels no table can say which clusters are right. What it says: most stable is {best} "
        f"({several[best]:.2f} on other samples)"
    ]
    if alone:
        one = max(alone, key=lambda name: alone[name])
        words.append(f"the stablest single view is {one} ({alone[one]:.2f})")
    if joined:
        other = max(joined, key=lambda name: joined[name])
        words.append(f"all columns {JOINED} have {joined[other]:.2f}")
    return "; ".join(words) + "."
