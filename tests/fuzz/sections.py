"""The sections of the fuzzers by name."""

from __future__ import annotations

from importlib import import_module

from .case import REFUSED, Case, Refused

SECTIONS = ("fits", "files", "h5mu", "open_sparse", "suggest_constraints", "plot", "compare")


def run_case(case: Case) -> str:
    """Run one case; return 'accepted' or 'refused', or raise what shows that a promise is broken."""
    check = import_module(f".{case.section}", __package__).check
    try:
        return check(case)
    except Refused as refusal:
        case.note(params_complaint=str(refusal))
        return REFUSED
    finally:
        case.close()
