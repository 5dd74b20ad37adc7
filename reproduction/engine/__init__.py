"""How a table is run: studies and claims, cells that are kept, verdicts."""

from .outcome import Outcome, Panel, Verdict, judge
from .study import CANNOT, FAILS, HOLDS, Claim, Evidence, Figure, Paper, Score, Study, Unit, Untestable

__all__ = [
    "CANNOT",
    "FAILS",
    "HOLDS",
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
    "judge",
]
