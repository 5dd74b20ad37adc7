"""Whether numbers can be looked at for nothing, or only by waiting for a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .csr import CSR
from .namespace import Array
from .verbs import is_in_memory


def is_on_host(array: Array) -> bool:
    """Whether an array is, or is read, into the memory of this process, in numpy's hands; others are on a device."""
    return isinstance(array, np.ndarray | np.generic | CSR) or not is_in_memory(array)


def true_unless_known_false(condition: Any) -> bool:
    """Whether a condition may hold: on a device it may, for to look would be to wait.

    What follows must be right, if perhaps for nothing, where the condition does not hold.
    """
    return bool(condition) if is_on_host(condition) or isinstance(condition, bool) else True
