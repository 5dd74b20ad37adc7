"""Columns of numbers and names, small enough to travel within a page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .markup import Html, tag

ARRAYS = {"i2": "Int16Array", "u2": "Uint16Array", "i4": "Int32Array"}


def pack_numbers(values: Any, kind: str) -> dict[str, str]:
    """Whole numbers as a typed array of the browser: deflated, in letters."""
    return {"array": ARRAYS[kind], "data": _compress(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes())}


def pack_names(names: Sequence[str]) -> dict[str, str]:
    """Names that hold no line break, one a line."""
    return {"array": "names", "data": _compress("\n".join(names).encode("utf-8", "replace"))}


def _compress(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def packed_size(column: Mapping[str, str]) -> int:
    """Bytes that a packed column takes in the page."""
    return len(column["data"]) + 100


def data_block(data: Mapping[str, Any]) -> Html:
    """The data as an element that nothing in it can end: the characters that markup is made of are written as codes."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Html(text), type="application/json", id="report-data")
