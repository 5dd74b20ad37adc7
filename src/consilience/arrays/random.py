"""Randomness is handed in: one Generator, from which children are spawned."""

from __future__ import annotations

from typing import Any

import numpy as np


def make_generator(random_state: Any) -> np.random.Generator:
    """One numpy Generator from whatever scikit-learn calls a random state; the global one is never touched."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)
