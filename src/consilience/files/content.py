"""What a view is made of, once its kind is known and before it becomes numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("numbers", "counts", "text", "names", "categories", "links", "similarities")


@dataclass(frozen=True, eq=False)
class ViewContent:
    """One view of a kind: `data` is what the encoder of that kind takes.

    numbers, counts, similarities: (matrix, names of its columns or None); counts also: a column of bags of terms;
    text and names: a column of strings; categories: columns by name; links: (sources, targets, weights).
    """

    name: str
    where: str  # the file and columns, as the user said it
    kind: str
    data: Any
    n_rows: int
    ids: np.ndarray | None
    why: str = ""  # how the kind was found
    columns: tuple[str, ...] | None = None  # of the table it comes from
