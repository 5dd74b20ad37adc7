"""Errors that the workbench reports to the page."""

from __future__ import annotations

from collections.abc import Sequence


class Contradiction(ValueError):
    """A decision that cannot hold together with earlier decisions.

    Parameters
    ----------
    sentence : str
        What the contradiction is.
    decisions : sequence of int
        Numbers of the earlier decisions that contradict the new one.
    sentences : sequence of str
        What these decisions say, in the same order.
    """

    def __init__(self, sentence: str, decisions: Sequence[int] = (), sentences: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.decisions = list(decisions)
        self.sentences = list(sentences)


class NotReadyError(RuntimeError):
    """A request that came before the run was opened; it can be repeated later."""
