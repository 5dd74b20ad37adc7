"""A short run of every section of the fuzzers; ``make fuzz`` makes a long one."""

import pytest

from tests.fuzz.case import Case
from tests.fuzz.sections import SECTIONS, run_case

CASES = {  # of `make test`, and of `make test-all`
    "fits": (45, 120),
    "files": (15, 40),
    "h5mu": (2, 6),
    "open_sparse": (10, 30),
    "suggest_constraints": (5, 15),
    "plot": (3, 15),
    "compare": (2, 8),
}
SHORT = [(section, range(CASES[section][0])) for section in SECTIONS]
REST = [(section, range(*CASES[section])) for section in SECTIONS]


@pytest.mark.parametrize(
    ("section", "seeds"), [*SHORT, *(pytest.param(*rest, marks=pytest.mark.protocol) for rest in REST)]
)
def test_short_run(section, seeds):
    """Every case is accepted or refused cleanly; `python -m tests.fuzz SECTION --seed SEED` repeats one of them."""
    for seed in seeds:
        case = Case(section, seed)
        try:
            assert run_case(case) in ("accepted", "refused")
        except Exception as error:
            error.add_note(f"to repeat: python -m tests.fuzz {section} --seed {seed}\n{case.notes}")
            raise
