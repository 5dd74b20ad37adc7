"""Model files that run no code when they are loaded."""

from .._saving import refer_as, save_as
from .model_file import check_savable, load, save

__all__ = ["check_savable", "load", "refer_as", "save", "save_as"]
