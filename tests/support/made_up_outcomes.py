"""Outcomes of fictitious papers, with all kinds of content that renderings must handle."""

import numpy as np

from reproduction.engine import Claim, Evidence, Figure, Outcome, Paper, Study
from reproduction.engine.outcome import Panel, judge_study
from reproduction.engine.study import Unit

SCRIPT = "<script>window.pwned=1</script>"
PIPED = "a | b || `c` *d*"
ENDING = "</style></script><img src=x onerror=window.pwned=1>"
STEERING = "bell\x07 \x1b[31mred\nnext line \u202egnp.exe"
LONG = "a method whose name goes on and on " * 6
METHODS = (
    "Best single view",
    "Feature concatenation",
    "Kernel addition",
    "Kernel product",
    "CCA",
    "Minimum disagreement",
    "Co-trained spectral (2)",
    "Co-trained spectral (3)",
    "Co-regularised",
)
MEASURES = ("F", "precision", "recall", "entropy", "NMI", "adjusted Rand")


def nothing(run, **settings):
    return []


def study(
    name, panels, *, runs=5, claims=(), figure=None, note="", deviations=False, title="What it shows", other_data=""
):
    settings = tuple({"panel": panel} for panel in panels)
    return Study(
        name, title, "average entropy in bits; less is better", nothing, settings, runs, settings[:1], 1, tuple(claims),
        figure, deviations, note, other_data,
    )  # fmt: skip


def outcome(paper, declared, scores, missing=None):
    units = [
        Unit(paper.name, declared.name, settings, run) for settings in declared.settings for run in range(declared.runs)
    ]
    units = [unit for unit in units if unit.panel not in (missing or {}) or "half" in unit.panel]
    kept = {unit.key: {"seconds": 1.5, "scores": scores(unit.panel, unit.run)} for unit in units}
    return judge_study(paper, declared, units, kept, missing or {})


def curves(panel, run):
    rng = np.random.default_rng([run, len(panel)])
    return [
        (method, str(k), 1.8 - 0.15 * i - 0.05 * k + 0.08 * rng.normal())
        for i, method in enumerate(("EM, concatenated", "EM, merged", "co-EM"))
        for k in range(2, 13)
    ]


def measures(panel, run):
    rng = np.random.default_rng([run, len(panel), 3])
    return [
        (method, measure, 0.3 + 0.05 * i + 0.04 * j + 0.02 * rng.normal())
        for i, method in enumerate(METHODS)
        for j, measure in enumerate(MEASURES)
    ]


def wide(panel, run):
    rng = np.random.default_rng([run, 5])
    return [(method, f"{10 * k} links", 100 * rng.random()) for method in METHODS for k in range(1, 13)]


def odd(panel, run):
    names = (SCRIPT, PIPED, ENDING, STEERING, LONG)
    return [(row, column, 0.5 + 0.1 * run) for row in names for column in (SCRIPT, PIPED, LONG)]


def falls(panel):
    first, last = panel.mean("co-EM", "2"), panel.mean("co-EM", "12")
    return Evidence(last < first, f"{first:.3f} at 2 clusters, {last:.3f} at 12")


def never(panels):
    return Evidence(False, f"in none of {len(panels)} panels")


def plain_paper():
    claims = (
        Claim("Entropy falls with the number of clusters", falls),
        Claim("Single views are best everywhere", never, across=True),
        Claim("The picture of the lost figure falls", cannot="the picture is lost"),
    )
    lines = study(
        "figure-1",
        ("text and links", "half of the runs", "Protein"),
        claims=claims,
        figure=Figure("number of clusters", "average entropy"),
        note="The paper has 9,947 papers, our copy 2,708.",
    )
    bars = study("table-2", ("digits",), figure=Figure("measure", "score", bars=True), deviations=True)
    plain = study(
        "table-3",
        ("quadrants",),
        runs=1,
        claims=(
            Claim("No column is the best", never, across=True),
            Claim("CCA is never empty", lambda panel: Evidence(True, "12 of 12 columns")),
            Claim("All links are used", never, across=True, other_data=""),
            Claim("Half of them are", never, across=True, other_data="drawn with replacement"),
        ),
        other_data={"quadrants": "the paper's variances are not printed"},
    )
    published = {
        ("figure-1", "text and links", "co-EM", "6"): 1.21,
        ("figure-1", "text and links", "EM, merged", "6"): 0.4321,
        **{
            ("table-2", "digits", method, measure): value + 0.05 * (i % 3) * j / 3
            for i, method in enumerate(METHODS)
            for j, measure in enumerate(MEASURES)
            for value in [0.3 + 0.05 * i + 0.04 * j]
        },
        ("table-3", "quadrants", "CCA", "10 links"): 21.3,
    }
    return Paper(
        "smith-2004",
        "Smith & Jones 2004",
        "S. Smith and A. Jones. Many Views. Proceedings of Something, 2004",
        "Two views teach each other: what one is sure of, the other learns.",
        (lines, bars, plain),
        published,
    )


def hostile_paper():
    claims = (Claim(SCRIPT + PIPED, lambda panel: Evidence(True, ENDING + STEERING)), Claim(LONG, cannot=PIPED))
    hostile_study = study(
        "figure-9", (ENDING, PIPED), runs=2, claims=claims, figure=Figure(SCRIPT, "$x_{"), note=SCRIPT, title=ENDING
    )
    printed = {("figure-9", PIPED, PIPED, SCRIPT): 0.625}
    return Paper("hostile-1999", SCRIPT + PIPED, SCRIPT, ENDING + LONG, (hostile_study,), printed)


def plain_outcomes():
    paper = plain_paper()
    gone = {"Protein": "not found: put the file there", "half of the runs": "2 of 5 runs failed: MemoryError: no room"}
    return [
        outcome(paper, paper.studies[0], curves, gone),
        outcome(paper, paper.studies[1], measures),
        outcome(paper, paper.studies[2], wide),
    ]


def hostile_outcomes():
    paper = hostile_paper()
    return [outcome(paper, paper.studies[0], odd, {SCRIPT: ENDING + PIPED})]


def all_outcomes():
    return [*plain_outcomes(), *hostile_outcomes()]


__all__ = ["Outcome", "Panel", "all_outcomes", "hostile_outcomes", "plain_outcomes"]
