"""Decode JSON values and arrays into the objects that were saved. Nothing in a file is trusted.

Objects are created without calling their class: only attributes are set, only of declared classes, and none that
would hide a method. Arrays that compiled code indexes are checked here, because compiled code does not check them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property, partial
from math import prod
from types import MemberDescriptorType, MethodType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._saving import SAVED_CLASSES, SAVED_REFERENCES, Declaration, DeclaredNames
from .._version import __version__
from ..arrays import CSR
from ..data import Table, Views
from .archive import UnreadableError
from .arrays import build_sparse, parse_dtype, parse_shape

FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Decodes nodes, which refer to `arrays` by number; `origin` names the file in messages."""

    def __init__(self, arrays: list[np.ndarray], origin: str) -> None:
        self.arrays, self.origin = arrays, origin

    def decode(self, node: Any) -> Any:
        """Return the value of a node."""
        match node:
            case None | bool() | int() | float() | str():
                return node
            case list():
                return [self.decode(item) for item in node]
        (kind, content), *more = node.items()
        if more or kind not in DECODERS:
            raise ValueError(f"{kind!r} is not a kind of value")
        return DECODERS[kind](self, content)

    def _decode_pairs(self, content: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(value) for key, value in content}

    def _decode_array(self, content: Any) -> np.ndarray:
        if type(content) is not int or not 0 <= content < len(self.arrays):
            raise ValueError(f"there is no array {content!r}")
        return self.arrays[content]

    def _decode_objects(self, content: Any) -> np.ndarray:
        shape, items = parse_shape(content["shape"]), content["items"]
        if prod(shape) != len(items):
            raise ValueError(f"{len(items)} items do not fill an array of shape {shape}")
        array = np.empty(len(items), object)
        for i, item in enumerate(items):
            array[i] = self.decode(item)
        return array.reshape(shape)

    def _decode_sparse(self, content: Any) -> Any:
        parts = [self._decode_array(part["array"]) for part in content["parts"]]
        return build_sparse(content["kind"], parse_shape(content["shape"]), *parts)

    def _find(self, names: DeclaredNames, name: Any, version: Any) -> Declaration:
        """Return the declaration of a name, or refuse a name or version that this library does not have."""
        declaration = names.by_name.get(name)
        if declaration is None:
            raise UnreadableError(
                f"{self.origin} contains {name!r}, which consilience {__version__} does not know: upgrade consilience, "
                "load it with the version that saved it, or import the module that declares the name"
            )
        is_older = type(version) is int and version < declaration.version
        if version != declaration.version and not (is_older and declaration.upgrade):
            raise UnreadableError(
                f"{self.origin} contains version {str(version)[:20]} of {name!r}, but consilience {__version__} reads "
                f"version {declaration.version}: load it with the version that saved it, or save the model again"
            )
        return declaration

    def _decode_reference(self, content: Any) -> Callable[..., Any]:
        return self._find(SAVED_REFERENCES, content["name"], content["version"]).declared

    def _decode_method(self, content: Any) -> MethodType:
        function, owner = self._decode_reference(content), self.decode(content["of"])
        if getattr(type(owner), function.__name__, None) is not function:
            raise ValueError(f"{content['name']!r} is not a method of {type(owner).__name__}")
        return MethodType(function, owner)

    def _decode_partial(self, content: Any) -> partial:
        return partial(self._decode_reference(content), *map(self.decode, content["arguments"]))

    def _decode_named_tuple(self, content: Any) -> Any:
        cls = self._find(SAVED_CLASSES, content["class"], content["version"]).declared
        items = content["items"]
        if not issubclass(cls, tuple) or len(items) != len(cls._fields):
            raise ValueError(f"{cls.__name__} does not have {len(items)} items")
        return tuple.__new__(cls, map(self.decode, items))

    def _decode_object(self, content: Any) -> Any:
        declaration = self._find(SAVED_CLASSES, content["class"], content["version"])
        cls = declaration.declared
        attributes = {name: self.decode(value) for name, value in content["attributes"].items()}
        if declaration.upgrade and content["version"] != declaration.version:
            attributes = declaration.upgrade(attributes, content["version"])
        created: Any = object.__new__(cls)
        if cls is Views:
            check_views_state(attributes)
            created.__setstate__(attributes)
            return created
        for name in attributes:
            if not is_settable(cls, name):
                raise ValueError(f"{cls.__name__} has no attribute {name!r} to set")
        if missing := list_required(cls) - set(attributes):
            raise ValueError(f"{cls.__name__} lacks its attribute {min(missing)}")
        for name, value in attributes.items():
            object.__setattr__(created, name, value)  # also sets attributes of frozen objects
        if cls is CSR:
            check_csr(created)
        return created


DECODERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "float": lambda _, content: FLOATS[content],
    "tuple": lambda decoder, content: tuple(map(decoder.decode, content)),
    "dict": Decoder._decode_pairs,
    "table": lambda decoder, content: Table(decoder._decode_pairs(content)),
    "slice": lambda decoder, content: slice(*map(decoder.decode, content)),
    "array": Decoder._decode_array,
    "objects": Decoder._decode_objects,
    "scalar": lambda _, content: np.ndarray((), parse_dtype(content["dtype"]), bytes.fromhex(content["bytes"]))[()],
    "dtype": lambda _, content: parse_dtype(content),
    "sparse": Decoder._decode_sparse,
    "reference": Decoder._decode_reference,
    "method": Decoder._decode_method,
    "partial": Decoder._decode_partial,
    "named tuple": Decoder._decode_named_tuple,
    "object": Decoder._decode_object,
}


def is_settable(cls: type, name: str) -> bool:
    """Return whether instances have this attribute, so that setting it hides nothing of the class."""
    if not name.isidentifier() or name.startswith("__"):
        return False
    class_attribute = inspect.getattr_static(cls, name, MISSING)
    is_stored = isinstance(class_attribute, cached_property | MemberDescriptorType)  # MemberDescriptorType: a slot
    return is_stored or class_attribute is MISSING or name in list_fields(cls)


def list_fields(cls: type) -> set[str]:
    """Return the fields of a dataclass; none for other classes."""
    return {field.name for field in fields(cls)} if is_dataclass(cls) else set()


def list_required(cls: type) -> set[str]:
    """Return the attributes that every instance has."""
    if issubclass(cls, BaseEstimator):
        return set(cls._get_param_names())  # type: ignore[attr-defined]
    return list_fields(cls) if is_dataclass(cls) else set(getattr(cls, "__slots__", ()))


def check_csr(rows: CSR) -> None:
    """Refuse sparse rows with offsets or columns out of bounds, which compiled loops would follow."""
    starts, indices, data = rows.indptr, rows.indices, rows.data
    if any(getattr(part, "ndim", None) != 1 for part in (starts, indices, data)) or type(rows.n_columns) is not int:
        raise ValueError("sparse rows need three arrays and a number of columns")
    if starts.dtype.kind != "i" or indices.dtype.kind != "i" or data.dtype.kind not in "biuf":
        raise ValueError("sparse rows need integer indices and numbers")
    if not len(starts) or starts[0] < 0 or starts[-1] > min(len(indices), len(data)) or (np.diff(starts) < 0).any():
        raise ValueError("sparse rows have offsets out of bounds")
    if indices.min(initial=0) < 0 or indices.max(initial=-1) >= rows.n_columns:
        raise ValueError("sparse rows have columns out of bounds")


def check_views_state(state: dict[str, Any]) -> None:
    """Refuse views whose parts do not match."""
    blocks, columns, present = state["blocks"], state["columns"], state["present"]
    expected = {name.removeprefix("_") for name in Views.__slots__}
    is_mask = isinstance(present, np.ndarray) and present.dtype == bool
    if set(state) != expected or not is_mask or list(columns) != list(blocks):
        raise ValueError(f"views need {', '.join(sorted(expected))}")
    if not blocks or present.shape != (len(present), len(blocks)):
        raise ValueError("views need a presence mask of entities by views")
    for name, block in blocks.items():
        if not isinstance(name, str) or len(block.shape) != 2 or block.shape[0] != len(present):
            raise ValueError("views need named blocks over the same entities")
        names = columns[name]
        if names is not None and (not isinstance(names, np.ndarray) or names.shape != block.shape[1:]):
            raise ValueError(f"view {name!r} needs a name for each of its {block.shape[1]:,} columns, or none")
