"""What a loader hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Views


@dataclass(frozen=True, eq=False)
class Dataset:
    """Views with their true classes, and where they come from. Unpacks into ``views, y``."""

    name: str
    views: Views
    target: np.ndarray
    target_names: tuple[str, ...]
    description: str
    citation: str
    licence: str

    def __iter__(self) -> Any:
        return iter((self.views, self.target))
