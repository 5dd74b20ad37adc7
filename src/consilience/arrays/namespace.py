"""Which array library an array belongs to, conversion between libraries, and random generators."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

from .csr import CSR
from .device_csr import DeviceCSR

Array = Any  # an array of numpy, torch, cupy, array_api_strict, ... or our sparse rows
MOST_CLUSTERS = 256  # of which Triton's kernels keep scores and sums in registers
Seed = int | np.random.Generator | np.random.RandomState | None  # what `random_state` may be


def namespace(array: Array) -> Any:
    """The array-API namespace of `array`; for sparse rows that of their stored values."""
    if type(array) is np.ndarray:  # most calls: what follows takes several times as long
        return array_api_compat.numpy
    return array_api_compat.array_namespace(array.data if isinstance(array, CSR | DeviceCSR) else array)


def is_array(candidate: Any) -> bool:
    """Whether this is an array of any array-API library (numpy included)."""
    return array_api_compat.is_array_api_obj(candidate)


def to_numpy(array: Any) -> np.ndarray:
    """Convert to a numpy array, fetched from a device if need be."""
    if isinstance(array, np.ndarray | np.generic) or not is_array(array):
        return np.asarray(array)
    if array_api_compat.is_torch_array(array):
        array = array.detach()
    if array_api_compat.is_torch_array(array) or array_api_compat.is_cupy_array(array):
        array = array_api_compat.to_device(array, "cpu")
    return np.from_dlpack(array)


def asarray_like(values: Any, array: Array) -> Array:
    """Convert `values` to the library and device of `array`, without a copy if they are there already."""
    if isinstance(array, CSR | np.ndarray):
        return to_numpy(values)
    xp, device = namespace(array), array_api_compat.device(array)
    if is_array(values) and namespace(values) is xp:
        return array_api_compat.to_device(values, device)
    return xp.asarray(np.require(to_numpy(values), requirements=["C", "W"]), device=device)


def keep_where(mask: Array, values: Array, otherwise: float) -> Array:
    """Keep `values` where the mask holds, and put one number elsewhere."""
    if type(values) is np.ndarray:
        return np.where(mask, values, values.dtype.type(otherwise))
    xp = namespace(values)
    return xp.where(mask, values, xp.full_like(values, otherwise))


def float64_zeros(shape: tuple[int, ...], array: Array) -> Array:
    """Zeros of the library and on the device of `array`."""
    if type(array) is np.ndarray:
        return np.zeros(shape)
    xp = namespace(array)
    return xp.zeros(shape, dtype=xp.float64, device=array_api_compat.device(array))


def is_device_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix of torch or cupy, of any layout."""
    if array_api_compat.is_torch_array(X):
        return str(X.layout) != "torch.strided"
    return type(X).__module__.startswith("cupyx.scipy.sparse")


def can_use_triton(X: Array, n_clusters: int, dtype: str = "float32") -> bool:
    """Whether numbers of this type suit the kernels of Triton: on a GPU, or anywhere if Triton interprets them."""
    if not array_api_compat.is_torch_array(X) or str(X.dtype) != f"torch.{dtype}" or n_clusters > MOST_CLUSTERS:
        return False
    return (X.device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1") and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def make_generator(random_state: Seed) -> np.random.Generator:
    """Make a numpy Generator from a random state of scikit-learn; the global one is never used."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def concat_blocks(parts: Iterable[Array]) -> Array:
    """Concatenate arrays of one library along the rows."""
    blocks = list(parts)
    return namespace(blocks[0]).concat(blocks)


def fetch_numbers(numbers: Iterable[Array]) -> list[float]:
    """Fetch single numbers of one library from their device, all at once."""
    arrays = list(numbers)
    if type(arrays[0]) in (float, np.float64):
        return [float(number) for number in arrays]
    xp = namespace(arrays[0])
    return to_numpy(xp.stack([xp.asarray(number) for number in arrays])).tolist()


def machine_epsilon(X: Array) -> float:
    """Rounding unit of the dtype."""
    return float(namespace(X).finfo(X.dtype).eps)


def itemsize(X: Array) -> int:
    """Bytes per value."""
    return int(namespace(X).finfo(X.dtype).bits) // 8
