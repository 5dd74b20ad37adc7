"""Count transfers from a simulated device: array_api_strict has devices that are not the CPU."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import array_api_strict
import numpy as np

DEVICE = array_api_strict.Device("device1")
CPU = array_api_strict.Device("CPU_DEVICE")
WAYS_OUT = ("__bool__", "__float__", "__int__", "__index__", "__complex__", "__dlpack__", "to_device")


@dataclass
class DeviceTransfers:
    """Shapes of the arrays that left the device, and of the numbers."""

    arrays: list[tuple[int, ...]] = field(default_factory=list)
    single: list[tuple[int, ...]] = field(default_factory=list)  # a list, because threads can append to it safely

    @property
    def numbers(self) -> int:
        return len(self.single)


def put_on_device(values):
    return array_api_strict.asarray(np.ascontiguousarray(values), device=DEVICE)


@contextmanager
def count_transfers() -> Iterator[DeviceTransfers]:
    """Count the transfers within the context: `.arrays` has shapes, `.numbers` the number of single numbers.

    Arrays on the CPU device do not count. `numpy.asarray` of an array on the other device raises an error.
    """
    fetched = DeviceTransfers()
    with ExitStack() as restored:
        for name in WAYS_OUT:
            restored.enter_context(patch.object(type(put_on_device(0.0)), name, _wrap_counted(name, fetched)))
        yield fetched


def _wrap_counted(name, fetched):
    original = getattr(type(put_on_device(0.0)), name)

    def way_out(self, *args, **kwargs):
        if self.device != CPU and (name != "to_device" or args[0] == CPU):
            (fetched.single if self.size == 1 else fetched.arrays).append(self.shape)
        return original(self, *args, **kwargs)

    return way_out
