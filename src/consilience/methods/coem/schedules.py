"""The weight of the consensus, round by round (Bickel & Scheffer 2005, step 2b of Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

N_ANNEALED = 25  # rounds from the first eta to zero


def constant_eta(eta: float) -> Iterator[tuple[float, bool]]:
    """The same weight of the consensus in all rounds."""
    while True:
        yield eta, True


def anneal_eta(etas: Iterable[float]) -> Iterator[tuple[float, bool]]:
    """One weight a round; the last one stays."""
    etas = list(etas)
    yield from ((eta, False) for eta in etas[:-1])
    yield from constant_eta(etas[-1])


def linear(eta: float) -> list[float]:
    """Equal steps down to zero."""
    return [eta * (1 - t / N_ANNEALED) for t in range(N_ANNEALED + 1)]


def geometric(eta: float) -> list[float]:
    """Equal ratios down to a hundredth, then zero."""
    return [eta * 0.01 ** (t / (N_ANNEALED - 1)) for t in range(N_ANNEALED)] + [0.0]


SCHEDULES: dict[str, Callable[[float], list[float]]] = {"linear": linear, "geometric": geometric}
