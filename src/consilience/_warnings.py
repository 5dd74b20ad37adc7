"""Where warnings point."""

from __future__ import annotations

import sys


def find_stack_level() -> int:
    """Return the stack level of the first caller outside consilience and scikit-learn, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("consilience", "sklearn"):
            break
        frame, level = frame.f_back, level + 1
    return level
