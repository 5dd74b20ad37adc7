"""Small pictures of entities for the report."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from .reading import open_picture

THUMBNAIL_SIDE = 64  # pixels


def find_thumbnails(pictures: Mapping[str, np.ndarray]) -> Callable[[int], bytes | None] | None:
    """Return a function from the position of an entity to its picture in the first view that has one.

    Parameters
    ----------
    pictures : mapping of view name to array of paths or bytes
        The path of each entity's picture, or a small picture that was drawn before; None if there is none. Without any
        view, there is no function.
    """
    if not pictures:
        return None

    def find_thumbnail(row: int) -> bytes | None:
        sources = (sources[row] for sources in pictures.values() if sources[row] is not None)
        drawn = (source if isinstance(source, bytes) else draw_thumbnail(source) for source in sources)
        return next((content for content in drawn if content is not None), None)

    return find_thumbnail


def draw_thumbnail(path: Path) -> bytes | None:
    """Return a small JPEG of a picture, None if it cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = open_picture(path, THUMBNAIL_SIDE)
    except Exception:  # a broken file makes a decoder raise whatever it likes
        return None
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    content = io.BytesIO()
    image.save(content, "JPEG", quality=75, optimize=True)  # a page has up to 2,000 of them
    return content.getvalue()
