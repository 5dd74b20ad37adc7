"""Memory: what there is of it, and what is said where a device has none left."""

import numpy as np
import pytest

from consilience.arrays import available_device_memory, available_memory, explain_out_of_memory


class OutOfMemoryError(RuntimeError):
    """As torch and cupy call theirs."""


class LibraryOutOfMemoryError(OutOfMemoryError):
    pass


@pytest.mark.parametrize("kind", [OutOfMemoryError, LibraryOutOfMemoryError])
def test_out_of_memory_error_says_what_does_not_fit(kind):
    with (
        pytest.raises(MemoryError, match="a table of 7 rows does not fit the device: lower n_landmarks") as error,
        explain_out_of_memory("a table of 7 rows", "lower n_landmarks"),
    ):
        raise kind("tried to allocate 40 GiB")
    assert isinstance(error.value.__cause__, kind)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt])
def test_other_errors_are_unchanged(kind):
    with pytest.raises(kind, match="as it was"), explain_out_of_memory("a table"):
        raise kind("as it was")


def test_host_arrays_have_no_device_memory(to_kind):
    assert available_device_memory(to_kind(np.ones(3))) is None


def test_available_memory_is_positive():
    free = available_memory()
    assert free is None or free > 0
