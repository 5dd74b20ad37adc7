"""A short run of every section of the fuzzers; ``make fuzz`` makes a long one."""

import os

import numpy as np
import pytest

from tests.fuzz.case import Case
from tests.fuzz.files import peak_memory, reset_peak_memory
from tests.fuzz.sections import SECTIONS, run_case

CASES = {
    "fits": 120,
    "files": 40,
    "h5mu": 6,
    "metrics": 60,
    "align": 60,
    "open_sparse": 30,
    "kernel_kmeans": 40,
    "mixture_proportions": 40,
    "suggest_constraints": 15,
    "plot": 15,
    "compare": 8,
}
PARTS = {"fits": 4, "files": 4}  # tests per section, so that several processes share the work


@pytest.mark.parametrize(
    ("section", "part"), [(section, part) for section in SECTIONS for part in range(PARTS.get(section, 1))]
)
def test_short_run(section, part):
    """Every case is accepted or refused cleanly; `python -m tests.fuzz SECTION --seed SEED` repeats one of them."""
    for seed in range(part, CASES[section], PARTS.get(section, 1)):
        case = Case(section, seed)
        try:
            assert run_case(case) in ("accepted", "refused")
        except Exception as error:
            error.add_note(f"to repeat: python -m tests.fuzz {section} --seed {seed}\n{case.notes}")
            raise


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak of memory cannot be reset")
def test_peak_of_memory_forgets_earlier_cases():
    reset_peak_memory()
    before = peak_memory()[0]
    for _ in range(2):
        np.ones(2**25)  # 256 MiB
        assert peak_memory()[0] - before > 2**27
        reset_peak_memory()
        assert peak_memory()[0] - before < 2**27
