"""Compress columns of numbers and names for the script of the page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .markup import Html, tag

BROWSER_ARRAYS = {"u1": "Uint8Array", "i2": "Int16Array", "u2": "Uint16Array", "i4": "Int32Array"}


def pack_numbers(values: Any, kind: str) -> dict[str, str]:
    """Pack integers as a typed array of the browser, compressed and in base64; i2 becomes i4 for large numbers."""
    if kind == "i2" and np.max(values, initial=0) > np.iinfo(np.int16).max:  # numbers of very many clusters
        kind = "i4"
    return {"array": BROWSER_ARRAYS[kind], "data": _compress(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes())}


def pack_names(names: Sequence[str]) -> dict[str, str]:
    """Pack names without line breaks, one per line."""
    return {"array": "names", "data": _compress("\n".join(names).encode("utf-8", "replace"))}


def _compress(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def measure_packed(column: Mapping[str, str]) -> int:
    """Return the number of bytes that a packed column takes in the page."""
    return len(column["data"]) + 100


def data_block(data: Mapping[str, Any]) -> Html:
    """Return the data as a script element; characters of markup are escaped, so that the data cannot end it."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Html(text), type="application/json", id="report-data")
