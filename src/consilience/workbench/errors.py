"""Errors that the workbench reports to the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Contradiction(ValueError):
    """A decision that cannot hold together with earlier decisions.

    Parameters
    ----------
    sentence : str
        What the contradiction is.
    replaced : sequence of int
        Numbers of the earlier decisions that are withdrawn unless others are chosen.
    choices : sequence of sequences of (int, str)
        For each contradiction, the earlier decisions of which one must be withdrawn: number and sentence. The number 0
        stands for constraints of the run.
    """

    def __init__(
        self, sentence: str, replaced: Sequence[int] = (), choices: Sequence[Sequence[tuple[int, str]]] = ()
    ) -> None:
        super().__init__(sentence)
        self.replaced, self.choices = list(replaced), [list(choice) for choice in choices]


class OutdatedError(RuntimeError):
    """A request that refers to groups that have changed meanwhile."""


class NotReadyError(RuntimeError):
    """A request that came before the run was opened; it can be repeated later."""


def abbreviate(value: Any) -> str:
    """Return the beginning of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 50 else f"{text[:49]}…"
