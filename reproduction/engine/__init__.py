"""Run studies: declare tables and claims, store finished cells, judge the claims."""

from .outcome import Outcome, Panel, Verdict, judge_study
from .study import (
    CANNOT,
    FAILS,
    FAILS_ELSEWHERE,
    HOLDS,
    HOLDS_ELSEWHERE,
    Claim,
    Evidence,
    Figure,
    Paper,
    Score,
    Study,
    Unit,
    Untestable,
)

__all__ = [
    "CANNOT",
    "FAILS",
    "FAILS_ELSEWHERE",
    "HOLDS",
    "HOLDS_ELSEWHERE",
    "Claim",
    "Evidence",
    "Figure",
    "Outcome",
    "Panel",
    "Paper",
    "Score",
    "Study",
    "Unit",
    "Untestable",
    "Verdict",
    "judge_study",
]
