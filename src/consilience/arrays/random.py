"""Random generators."""

from __future__ import annotations

from typing import Any

import numpy as np


def make_generator(random_state: Any) -> np.random.Generator:
    """Make a numpy Generator from a random state of scikit-learn; the global one is never used."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)
