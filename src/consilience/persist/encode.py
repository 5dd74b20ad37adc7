"""From a fitted model, or any tree of known things, to JSON values and a list of arrays.

None, True, False, whole and finite numbers, text and lists stand for themselves. Everything else is an object with one
key, which says what it is: ``{"tuple": [...]}``, ``{"array": 3}``, ``{"object": {...}}``; `decode` has one function for
each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from types import MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import is_array
from ..data import Table
from .arrays import KINDS
from .known import CALLED, KNOWN
from .sparse import parts_of

NAMES = {cls: name for name, cls in KNOWN.items()}
CALLED_NAMES = {function: name for name, function in CALLED.items()}
RANDOM = np.random.Generator | np.random.RandomState | np.random.BitGenerator | np.random.SeedSequence


class Encoder:
    """Turns values into nodes; `arrays` is what the nodes refer to by number."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[tuple[Any, ...], int] = {}  # of memory already taken
        self._open: set[int] = set()  # what is being turned: a thing within itself has no end

    def encode(self, value: Any, path: str = "") -> Any:
        """The node of a value; the path says where it is, should it be refused."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if isfinite(value) else {"float": repr(value)}
        if id(value) in self._open:
            raise ValueError(f"{_at(path)}a {type(value).__name__} that holds itself cannot be saved: break the circle")
        self._open.add(id(value))
        node = self._composed(value, path)
        self._open.discard(id(value))
        return node

    def _composed(self, value: Any, path: str) -> Any:
        for kind, turn in TURNS:
            if isinstance(value, kind) and (kind in LOOSE or type(value) is kind):
                return turn(self, value, path)
        if type(value) in NAMES:
            return self._tuple_of(value, path) if isinstance(value, tuple) else self._object(value, path)
        if _is_named(value):
            return {"called": CALLED_NAMES[value]}
        raise TypeError(f"{_at(path)}{refusal(value)}")

    def _each(self, values: Any, path: str) -> list[Any]:
        return [self.encode(own, f"{path}[{i}]") for i, own in enumerate(values)]

    def _pairs(self, value: dict[Any, Any], path: str) -> list[Any]:
        return [[self.encode(key, f"{path}.{key}"), self.encode(own, _below(path, key))] for key, own in value.items()]

    def _array(self, value: np.ndarray, path: str) -> Any:
        if value.dtype == object:
            return {"objects": {"shape": list(value.shape), "items": self._each(value.ravel().tolist(), path)}}
        if value.dtype.kind not in KINDS:
            raise TypeError(f"{_at(path)}an array of {value.dtype} cannot be saved: make it numbers or text")
        place = value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.str
        if place not in self._places:
            self._places[place] = len(self.arrays)
            self.arrays.append(np.asarray(value))  # held, so that its memory is not given to another
        return {"array": self._places[place]}

    def _scalar(self, value: np.generic, path: str) -> Any:
        if value.dtype.kind not in KINDS:
            raise TypeError(f"{_at(path)}a {type(value).__name__} cannot be saved: make it a number or text")
        return {"scalar": {"dtype": value.dtype.str, "bytes": value.tobytes().hex()}}

    def _sparse(self, value: Any, path: str) -> Any:
        try:
            parts = parts_of(value)
        except TypeError as error:
            raise TypeError(f"{_at(path)}{error}") from error
        nodes = [self._array(part, path) for part in parts]
        return {"sparse": {"kind": type(value).__name__, "shape": [int(n) for n in value.shape], "parts": nodes}}

    def _dtype(self, value: np.dtype, path: str) -> Any:
        if value.kind not in KINDS:
            raise TypeError(f"{_at(path)}the type {value} cannot be saved: give one of numbers or text")
        return {"dtype": value.str}

    def _partial(self, value: partial, path: str) -> Any:
        if not _is_named(value.func) or value.keywords:
            raise TypeError(f"{_at(path)}{refusal(value.func)}")
        return {"partial": {"called": CALLED_NAMES[value.func], "arguments": self._each(value.args, path)}}

    def _method(self, value: MethodType, path: str) -> Any:
        if value.__func__ not in CALLED_NAMES:
            raise TypeError(f"{_at(path)}{refusal(value)}")
        return {"method": {"called": CALLED_NAMES[value.__func__], "of": self.encode(value.__self__, path)}}

    def _tuple_of(self, value: Any, path: str) -> Any:
        items = [self.encode(own, _below(path, name)) for name, own in zip(value._fields, value, strict=True)]
        return {"named tuple": {"class": NAMES[type(value)], "items": items}}

    def _object(self, value: Any, path: str) -> Any:
        attributes = {
            name: None if name == "random_state" and isinstance(own, RANDOM) else self.encode(own, _below(path, name))
            for name, own in attributes_of(value).items()
        }
        return {"object": {"class": NAMES[type(value)], "attributes": attributes}}


TURNS: list[tuple[Any, Callable[[Encoder, Any, str], Any]]] = [
    (list, Encoder._each),
    (tuple, lambda own, value, path: {"tuple": own._each(value, path)}),
    (dict, lambda own, value, path: {"dict": own._pairs(value, path)}),
    (Table, lambda own, value, path: {"table": own._pairs(value, path)}),
    (slice, lambda own, value, path: {"slice": own._each((value.start, value.stop, value.step), path)}),
    (np.ndarray, Encoder._array),
    (np.memmap, Encoder._array),
    (np.generic, Encoder._scalar),
    (np.dtype, Encoder._dtype),
    (sp.sparray, Encoder._sparse),
    (sp.spmatrix, Encoder._sparse),
    (partial, Encoder._partial),
    (MethodType, Encoder._method),
]
LOOSE = (np.generic, np.dtype, sp.sparray, sp.spmatrix)  # numpy's and scipy's own kinds are subclasses of these


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object holds, by what it says itself is worth keeping."""
    state = value.__getstate__()
    if isinstance(state, tuple):  # of the dict, and of the slots
        return {**(state[0] or {}), **state[1]}
    return state or {}


def refusal(value: Any) -> str:
    """Why a thing cannot be saved, and what to do."""
    kind = type(value)
    if hasattr(value, "__qualname__"):
        return (
            f"the function {value.__qualname__} cannot be saved, for a file holds no code: use a name or an object of "
            "consilience in its place, or set it to None before saving"
        )
    if is_array(value):
        return (
            f"an array of {kind.__module__.partition('.')[0]} cannot be saved: fit on numpy arrays, which "
            "views.map(numpy.asarray) gives"
        )
    return (
        f"a {kind.__name__} of {kind.__module__.partition('.')[0]} cannot be saved: files hold consilience's own "
        "objects, numpy and scipy arrays and plain values. Leave it out and make it again after loading, or use joblib "
        "for files that only you load"
    )


def _is_named(value: Any) -> bool:
    return callable(value) and hasattr(value, "__qualname__") and value in CALLED_NAMES


def _at(path: str) -> str:
    return f"attribute {path.removeprefix('.')}: " if path else ""


def _below(path: str, name: Any) -> str:
    return f"{path}.{name}"
