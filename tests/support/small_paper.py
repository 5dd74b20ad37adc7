"""A paper of two small studies, for the tests of the command: ``python small_paper.py WORKED ARGUMENTS ...`` runs it.

Every unit that is worked leaves a line in the file WORKED, so that a test sees what was worked, and what was not.
While a file of that name with the suffix ``.hold`` exists, at most four units finish, so that a test can interrupt a
run that cannot have ended.
"""

import sys
import time
from pathlib import Path

from reproduction.engine import Claim, Evidence, Figure, Paper, Score, Study


def counting(run, log, data=None, n=1):
    log = Path(log)
    with log.open("a") as file:
        file.write(f"{data} {n} {run}\n")
    if len(log.read_text().splitlines()) > 4:  # with two workers, the first three units never wait
        while log.with_suffix(".hold").exists():
            time.sleep(0.02)
    yield Score("co-EM", str(n), 0.25 + 0.01 * run + 0.1 * n)
    yield Score("EM, concatenated", str(n), 0.75 + 0.01 * run + 0.1 * n)


def ahead(panel):
    pairs = [(panel.mean("co-EM", n), panel.mean("EM, concatenated", n)) for n in panel.columns]
    return Evidence(all(ours < other for ours, other in pairs), f"{len(pairs)} of {len(pairs)}")


def papers(log, runs=3):
    """The registry of the command, with one paper in it."""
    settings = {"log": str(log)}
    curve = Study(
        name="figure-1",
        title="Entropy over numbers of clusters",
        measure="average entropy in bits, lower is better",
        work=counting,
        settings=tuple({"panel": "Made up", "n": n, **settings} for n in (2, 4, 8)),
        runs=runs,
        quick=({"panel": "Made up", "n": 2, **settings},),
        quick_runs=2,
        claims=(
            Claim("co-EM is better at every number of clusters", ahead),
            Claim("co-EM is worse", lambda panel: Evidence(not ahead(panel).holds, "it is better")),
        ),
        figure=Figure("number of clusters", "average entropy"),
    )
    table = Study(
        name="table-2",
        title="Far away",
        measure="average entropy in bits, lower is better",
        work=counting,
        settings=({"panel": "Elsewhere", "data": "nowhere", **settings}, {"panel": "Here", **settings}),
        runs=1,
        quick=({"panel": "Here", **settings},),
        quick_runs=1,
        claims=(Claim("co-EM is better", ahead),),
        other_data={"Here": "half of the paper's set"},
    )
    printed = {("figure-1", "Made up", "co-EM", "4"): 0.69}
    told = "Made Up 2000", "A. Made Up: Of counting. 2000.", "Counting is good."
    paper = Paper("made-up-2000", *told, (curve, table), printed)
    return {paper.name: paper}


if __name__ == "__main__":
    from consilience.cli import main
    from reproduction import command as reproduce

    reproduce.PAPERS = papers(sys.argv[1], runs=6)
    sys.exit(main(sys.argv[2:], parser=reproduce.make_parser()))
