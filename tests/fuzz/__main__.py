"""``python -m tests.fuzz``: run sections of the fuzzers, or one case again by its seed."""

from __future__ import annotations

import argparse
import os
import sys

from ..support.waiting import HANG_LIMIT
from .case import Case
from .driver import FAILED, summarize
from .sections import SECTIONS, run_case


def main() -> int:
    """Run the sections that the arguments name; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"default: all of {', '.join(SECTIONS)}")
    parser.add_argument("--seed", type=int, help="run the single case with this seed, and show its traceback")
    parser.add_argument("--first", type=int, default=0, help="seed of the first case (default: %(default)s)")
    parser.add_argument("--cases", type=int, default=1000, help="cases per section (default: %(default)s)")
    parser.add_argument("--fits", type=int, help="cases of the section fits (default: as --cases)")
    parser.add_argument("--files", type=int, help="cases of the section files (default: as --cases)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument(
        "--limit",
        type=float,
        default=HANG_LIMIT,
        help="seconds of wall time after which a case counts as hanging, many times more than any case takes, so that "
        "a busy machine fails no case (default: %(default)s)",
    )
    options = parser.parse_args()
    unknown = [section for section in options.sections if section not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}: choose among {', '.join(SECTIONS)}")
    sections = options.sections or SECTIONS
    if options.seed is not None:
        return run_again(sections, options.seed)
    counts = {"fits": options.fits, "files": options.files}
    sizes = {section: options.cases if counts.get(section) is None else counts[section] for section in sections}
    jobs = [(section, options.first + i) for section in sections for i in range(sizes[section])]
    return print_summary(summarize(jobs, options.jobs, options.limit))


def run_again(sections: list[str], seed: int) -> int:
    """Run one case per section in this process; an error ends it with a traceback."""
    for section in sections:
        case = Case(section, seed)
        try:
            outcome = run_case(case)
            print(f"{section} --seed {seed}: {outcome}")
        finally:
            for name, value in case.notes.items():
                print(f"  {name}: {value}")
    return 0


def print_summary(summaries: dict) -> int:
    """Print a line per section and a line per failure."""
    print(f"{'section':<20} {'cases':>7} {'accepted':>9} {'refused':>8} {'failures':>9}")
    for section, summary in summaries.items():
        counts = summary.outcomes
        numbers = counts.total(), counts["accepted"], counts["refused"], counts[FAILED]
        print("{:<20} {:>7} {:>9} {:>8} {:>9}".format(section, *numbers))
    for section, summary in summaries.items():
        for seed, message in sorted(summary.failures):
            print(f"{section} --seed {seed}: {message}")
    return int(any(summary.failures for summary in summaries.values()))


if __name__ == "__main__":
    sys.exit(main())
