"""Models as files that run no code when loaded."""

from .load import load
from .save import save

__all__ = ["load", "save"]
