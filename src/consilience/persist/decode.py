"""From JSON values and arrays back to what they were made of. Nothing in a file is taken on trust.

Objects are made without a call of their class: only attributes are set, of classes in `known`, and none that would
hide a method. Arrays that compiled code relies on are checked here, since it checks nothing.
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

from ..arrays import CSR
from ..data import Table, Views
from ..methods import (
    Consilience,
    CoTrainedSpectral,
    MultiViewConstrainedKMeans,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
)
from .archive import UnreadableError, library_version
from .arrays import dtype_of, shape_of
from .known import CALLED, KNOWN
from .sparse import matrix_of

# Values of parameters that files written before their introduction lack: those that keep the behaviour of that time.
ADDED_PARAMETERS: dict[type, dict[str, Any]] = {
    MultiViewConstrainedKMeans: {"view_order": "given"},
    MultiViewKMeans: {"outliers": None},
    MultiViewSphericalKMeans: {"outliers": None},
    CoTrainedSpectral: {"outliers": None},
    Consilience: {"outliers": None},
}
# Attributes of estimators in files written before their removal; they are not restored.
REMOVED_ATTRIBUTES = frozenset({"error_bound_"})
FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Turns nodes into values; `arrays` is what they refer to by number, `origin` says whence they come."""

    def __init__(self, arrays: list[np.ndarray], origin: str) -> None:
        self.arrays, self.origin = arrays, origin

    def decode(self, node: Any) -> Any:
        """The value of a node."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.decode(own) for own in node]
        (tag, content), *more = node.items()
        if more or tag not in TURNS:
            raise ValueError(f"{tag!r} is no kind of value")
        return TURNS[tag](self, content)

    def _pairs(self, content: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(own) for key, own in content}

    def _array(self, content: Any) -> np.ndarray:
        if type(content) is not int or not 0 <= content < len(self.arrays):
            raise ValueError(f"there is no array {content!r}")
        return self.arrays[content]

    def _objects(self, content: Any) -> np.ndarray:
        shape, items = shape_of(content["shape"]), content["items"]
        if prod(shape) != len(items):
            raise ValueError(f"{len(items)} things do not make an array of shape {shape}")
        found = np.empty(len(items), object)
        for place, item in enumerate(items):
            found[place] = self.decode(item)
        return found.reshape(shape)

    def _sparse(self, content: Any) -> Any:
        parts = [self._array(part["array"]) for part in content["parts"]]
        return matrix_of(content["kind"], shape_of(content["shape"]), *parts)

    def _known(self, name: Any) -> type:
        if name not in KNOWN:
            raise UnreadableError(
                f"{self.origin} holds a {name!r}, which consilience {library_version()} does not know: load it with "
                "the version that saved it, or upgrade consilience"
            )
        return KNOWN[name]

    def _called(self, name: Any) -> Callable[..., Any]:
        if name not in CALLED:
            raise UnreadableError(
                f"{self.origin} calls {name!r}, which consilience {library_version()} does not know: load it with "
                "the version that saved it, or upgrade consilience"
            )
        return CALLED[name]

    def _method(self, content: Any) -> MethodType:
        function, owner = self._called(content["called"]), self.decode(content["of"])
        if getattr(type(owner), function.__name__, None) is not function:
            raise ValueError(f"{content['called']!r} is no method of a {type(owner).__name__}")
        return MethodType(function, owner)

    def _partial(self, content: Any) -> partial:
        return partial(self._called(content["called"]), *map(self.decode, content["arguments"]))

    def _named_tuple(self, content: Any) -> Any:
        cls = self._known(content["class"])
        if not issubclass(cls, tuple) or len(content["items"]) != len(cls._fields):  # type: ignore[attr-defined]
            raise ValueError(f"a {cls.__name__} is not made of {len(content['items'])} items")
        return tuple.__new__(cls, map(self.decode, content["items"]))

    def _object(self, content: Any) -> Any:
        cls = self._known(content["class"])
        attributes = {name: self.decode(own) for name, own in content["attributes"].items()}
        if issubclass(cls, BaseEstimator):
            attributes = {name: value for name, value in attributes.items() if name not in REMOVED_ATTRIBUTES}
        made: Any = object.__new__(cls)
        if cls is Views:
            check_views_state(attributes)
            made.__setstate__(attributes)
            return made
        for name in attributes:
            if not may_be_set(cls, name):
                raise ValueError(f"a {cls.__name__} has no attribute {name!r} to set")
        attributes |= {name: old for name, old in ADDED_PARAMETERS.get(cls, {}).items() if name not in attributes}
        if missing := needed(cls) - set(attributes):
            raise ValueError(f"a {cls.__name__} lacks its {min(missing)}")
        for name, own in attributes.items():
            object.__setattr__(made, name, own)  # also of frozen objects
        if cls is CSR:
            check_rows(made)
        return made


def _scalar(content: Any) -> Any:
    return np.ndarray((), dtype_of(content["dtype"]), bytes.fromhex(content["bytes"]))[()]


TURNS: dict[str, Callable[[Decoder, Any], Any]] = {
    "float": lambda _, content: FLOATS[content],
    "tuple": lambda own, content: tuple(map(own.decode, content)),
    "dict": Decoder._pairs,
    "table": lambda own, content: Table(own._pairs(content)),
    "slice": lambda own, content: slice(*map(own.decode, content)),
    "array": Decoder._array,
    "objects": Decoder._objects,
    "scalar": lambda _, content: _scalar(content),
    "dtype": lambda _, content: dtype_of(content),
    "sparse": Decoder._sparse,
    "called": Decoder._called,
    "method": Decoder._method,
    "partial": Decoder._partial,
    "named tuple": Decoder._named_tuple,
    "object": Decoder._object,
}


def may_be_set(cls: type, name: str) -> bool:
    """Whether instances have this attribute of their own, so that setting it hides nothing of the class."""
    if not name.isidentifier() or name.startswith("__"):
        return False
    of_class = inspect.getattr_static(cls, name, MISSING)
    own = isinstance(of_class, cached_property | MemberDescriptorType)  # remembered, or a slot
    return own or of_class is MISSING or name in field_names(cls)


def field_names(cls: type) -> set[str]:
    """The fields of a dataclass; of others none."""
    return {own.name for own in fields(cls)} if is_dataclass(cls) else set()


def needed(cls: type) -> set[str]:
    """The attributes that every instance has."""
    if issubclass(cls, BaseEstimator):
        return set(cls._get_param_names())  # type: ignore[attr-defined]
    return field_names(cls) | {name for name in getattr(cls, "__slots__", ()) if not is_dataclass(cls)}


def check_rows(rows: CSR) -> None:
    """Refuse sparse rows that point outside themselves: the compiled loops would follow."""
    parts = rows.indptr, rows.indices, rows.data
    if any(not isinstance(own, np.ndarray) or own.ndim != 1 for own in parts) or type(rows.n_columns) is not int:
        raise ValueError("sparse rows are three arrays and a number of columns")
    starts, indices, data = parts
    if starts.dtype.kind != "i" or indices.dtype.kind != "i" or data.dtype.kind not in "biuf":
        raise ValueError("sparse rows have numbers at whole numbers")
    if not len(starts) or starts[0] < 0 or starts[-1] > min(len(indices), len(data)) or (np.diff(starts) < 0).any():
        raise ValueError("sparse rows begin and end where there is nothing")
    if indices.min(initial=0) < 0 or indices.max(initial=-1) >= rows.n_columns:
        raise ValueError("sparse rows have columns that are not there")


def check_views_state(state: dict[str, Any]) -> None:
    """Refuse views whose parts do not fit together."""
    blocks, columns, present = state["blocks"], state["columns"], state["present"]
    wanted = {name.removeprefix("_") for name in Views.__slots__}
    if (
        set(state) != wanted
        or not isinstance(present, np.ndarray)
        or present.dtype != bool
        or list(columns) != list(blocks)
    ):
        raise ValueError(f"views are made of {', '.join(sorted(wanted))}")
    if not blocks or present.ndim != 2 or {(len(present), len(blocks))} != {present.shape}:
        raise ValueError("views say of each entity which views it has")
    for name, block in blocks.items():
        if not isinstance(name, str) or len(block.shape) != 2 or block.shape[0] != len(present):
            raise ValueError("views are named blocks over the same entities")
