"""Schedules of the weight of the consensus, one value per round (Bickel & Scheffer 2005, step 2b of Table 1)."""

from __future__ import annotations

from collections.abc import Callable

N_ROUNDS = 25  # rounds from the first eta to zero


def linear(eta: float) -> list[float]:
    """Lower eta to zero in equal steps."""
    return [eta * (1 - t / N_ROUNDS) for t in range(N_ROUNDS + 1)]


def geometric(eta: float) -> list[float]:
    """Lower eta to a hundredth in equal ratios, then to zero."""
    return [eta * 0.01 ** (t / (N_ROUNDS - 1)) for t in range(N_ROUNDS)] + [0.0]


SCHEDULES: dict[str, Callable[[float], list[float]]] = {"linear": linear, "geometric": geometric}
