"""Memory: what there is of it, and what is said where a device has none left."""

import numpy as np
import pytest

from consilience.arrays import available_device_memory, available_memory, explain_out_of_memory


class OutOfMemoryError(RuntimeError):
    """As torch and cupy call theirs."""


class OfALibrary(OutOfMemoryError):
    pass


@pytest.mark.parametrize("kind", [OutOfMemoryError, OfALibrary])
def test_a_full_device_is_told_of(kind):
    with (
        pytest.raises(MemoryError, match="a table of 7 rows does not fit the device: lower n_landmarks") as error,
        explain_out_of_memory("a table of 7 rows", "lower n_landmarks"),
    ):
        raise kind("tried to allocate 40 GiB")
    assert isinstance(error.value.__cause__, kind)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt])
def test_other_errors_pass(kind):
    with pytest.raises(kind, match="as it was"), explain_out_of_memory("a table"):
        raise kind("as it was")


def test_arrays_that_lie_here_are_on_no_device(to_kind):
    assert available_device_memory(to_kind(np.ones(3))) is None


def test_there_is_memory():
    free = available_memory()
    assert free is None or free > 0
