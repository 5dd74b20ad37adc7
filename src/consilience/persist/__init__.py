"""Model files that run no code when they are loaded."""

from .._saving import refer_as, save_as
from .load import load
from .save import check_savable, save

__all__ = ["check_savable", "load", "refer_as", "save", "save_as"]
