"""Encode a model as JSON values and a list of arrays.

None, booleans, integers, finite floats, text and lists are JSON values themselves. Everything else is a JSON object
with one key, its kind: ``{"tuple": [...]}``, ``{"array": 3}``, ``{"object": {...}}``; `decode` has one function per
kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from types import MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._saving import SAVED_CLASSES, SAVED_REFERENCES
from ..arrays import is_array
from ..data import Table
from .arrays import KINDS, split_sparse

RANDOM = np.random.Generator | np.random.RandomState | np.random.BitGenerator | np.random.SeedSequence


class Encoder:
    """Encodes values as nodes; nodes refer to `arrays` by number."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[tuple[Any, ...], int] = {}  # of arrays, by their memory
        self._open: set[int] = set()  # ids of the values that contain the current one, to detect cycles

    def encode(self, value: Any, path: str = "") -> Any:
        """Return the node of a value; the path says where it is, in case it is refused."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if isfinite(value) else {"float": repr(value)}
        if id(value) in self._open:
            name = type(value).__name__
            raise ValueError(f"{_locate(path)}a {name} that contains itself cannot be saved: remove the cycle")
        self._open.add(id(value))
        node = self._encode_composed(value, path)
        self._open.discard(id(value))
        return node

    def _encode_composed(self, value: Any, path: str) -> Any:
        for kind, encode in ENCODERS:
            if isinstance(value, kind) and (kind in WITH_SUBCLASSES or type(value) is kind):
                return encode(self, value, path)
        if (declaration := SAVED_CLASSES.find(type(value))) is not None:
            node = {"class": declaration.name, "version": declaration.version}
            if isinstance(value, tuple):
                items = zip(value._fields, value, strict=True)  # type: ignore[attr-defined]
                return {"named tuple": {**node, "items": [self.encode(item, f"{path}.{name}") for name, item in items]}}
            attributes = {
                name: None
                if name == "random_state" and isinstance(content, RANDOM)
                else self.encode(content, f"{path}.{name}")
                for name, content in list_attributes(value).items()
            }
            return {"object": {**node, "attributes": attributes}}
        if callable(value):
            return {"reference": self._encode_reference(value, path)}
        raise TypeError(f"{_locate(path)}{explain_refusal(value)}")

    def _encode_reference(self, function: Any, path: str) -> dict[str, Any]:
        declaration = SAVED_REFERENCES.find(function)
        if declaration is None:
            raise TypeError(f"{_locate(path)}{explain_refusal(function)}")
        return {"name": declaration.name, "version": declaration.version}

    def _encode_items(self, values: Any, path: str) -> list[Any]:
        return [self.encode(value, f"{path}[{i}]") for i, value in enumerate(values)]

    def _encode_pairs(self, mapping: dict[Any, Any], path: str) -> list[Any]:
        return [
            [self.encode(key, f"{path}.{key}"), self.encode(value, f"{path}.{key}")] for key, value in mapping.items()
        ]

    def _encode_array(self, value: np.ndarray, path: str) -> Any:
        if value.dtype == object:
            return {"objects": {"shape": list(value.shape), "items": self._encode_items(value.ravel().tolist(), path)}}
        if value.dtype.kind not in KINDS:
            raise TypeError(f"{_locate(path)}an array of {value.dtype} cannot be saved: make it numbers or text")
        memory = value.__array_interface__["data"][0], value.shape, value.strides, value.dtype.str
        if memory not in self._numbers:
            self._numbers[memory] = len(self.arrays)
            self.arrays.append(np.asarray(value))  # the reference keeps the memory from being reused
        return {"array": self._numbers[memory]}

    def _encode_scalar(self, value: np.generic, path: str) -> Any:
        if value.dtype.kind not in KINDS:
            raise TypeError(f"{_locate(path)}a {type(value).__name__} cannot be saved: make it a number or text")
        return {"scalar": {"dtype": value.dtype.str, "bytes": value.tobytes().hex()}}

    def _encode_sparse(self, value: Any, path: str) -> Any:
        try:
            parts = split_sparse(value)
        except TypeError as error:
            raise TypeError(f"{_locate(path)}{error}") from error
        nodes = [self._encode_array(part, path) for part in parts]
        return {"sparse": {"kind": type(value).__name__, "shape": [int(n) for n in value.shape], "parts": nodes}}

    def _encode_dtype(self, value: np.dtype, path: str) -> Any:
        if value.kind not in KINDS:
            raise TypeError(f"{_locate(path)}the dtype {value} cannot be saved: use one of numbers or text")
        return {"dtype": value.str}

    def _encode_partial(self, value: partial, path: str) -> Any:
        if value.keywords:
            raise TypeError(f"{_locate(path)}{explain_refusal(value.func)}")
        node = self._encode_reference(value.func, path)
        return {"partial": {**node, "arguments": self._encode_items(value.args, path)}}

    def _encode_method(self, value: MethodType, path: str) -> Any:
        return {"method": {**self._encode_reference(value.__func__, path), "of": self.encode(value.__self__, path)}}


ENCODERS: list[tuple[Any, Callable[[Encoder, Any, str], Any]]] = [
    (list, Encoder._encode_items),
    (tuple, lambda encoder, value, path: {"tuple": encoder._encode_items(value, path)}),
    (dict, lambda encoder, value, path: {"dict": encoder._encode_pairs(value, path)}),
    (Table, lambda encoder, value, path: {"table": encoder._encode_pairs(value, path)}),
    (slice, lambda encoder, value, path: {"slice": encoder._encode_items((value.start, value.stop, value.step), path)}),
    (np.ndarray, Encoder._encode_array),
    (np.memmap, Encoder._encode_array),
    (np.generic, Encoder._encode_scalar),
    (np.dtype, Encoder._encode_dtype),
    (sp.sparray, Encoder._encode_sparse),
    (sp.spmatrix, Encoder._encode_sparse),
    (partial, Encoder._encode_partial),
    (MethodType, Encoder._encode_method),
]
WITH_SUBCLASSES = (np.generic, np.dtype, sp.sparray, sp.spmatrix)  # the types of values are subclasses of these


def list_attributes(value: Any) -> dict[str, Any]:
    """Return the state of an object as a dict of attributes."""
    state = value.__getstate__()
    if isinstance(state, tuple):  # of the dict, and of the slots
        return {**(state[0] or {}), **state[1]}
    return state or {}


def explain_refusal(value: Any) -> str:
    """Say why a value cannot be saved, and what to do."""
    package = type(value).__module__.partition(".")[0]
    if hasattr(value, "__qualname__"):
        return (
            f"the function {value.__qualname__} cannot be saved, because a file holds no code: use a name or an object "
            "of consilience in its place, or set it to None before saving"
        )
    if is_array(value):
        return f"an array of {package} cannot be saved: fit on numpy arrays, which views.map(numpy.asarray) gives"
    return (
        f"a {type(value).__name__} of {package} cannot be saved: files hold objects of consilience, numpy and scipy "
        "arrays and plain values. Leave it out and create it again after loading, use joblib for files that only you "
        "load, or declare a class of your own with consilience.persist.save_as"
    )


def _locate(path: str) -> str:
    return f"attribute {path.removeprefix('.')}: " if path else ""
