"""The names that the API reference lists."""

from __future__ import annotations

import re
from pathlib import Path

LISTED = re.compile(r"^   ([\w.]+)$|^\.\. data:: ([\w.]+)$", flags=re.MULTILINE)


def read_reference(page: Path) -> list[str]:
    """Return the names in the tables of the page, in their order, such as ``metrics.evaluate``."""
    return [table or data for table, data in LISTED.findall(page.read_text(encoding="utf-8"))]
