"""Array kinds that every test of arrays runs on."""

import array_api_strict
import numpy as np
import pytest


def _torch(values):
    return pytest.importorskip("torch").asarray(np.ascontiguousarray(values))


KINDS = {"numpy": np.asarray, "array_api_strict": array_api_strict.asarray, "torch": _torch}


@pytest.fixture(params=KINDS)
def to_kind(request):
    """A function that makes a numpy array an array of another library."""
    return KINDS[request.param]
