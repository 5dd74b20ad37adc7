"""Array kinds that every test of arrays runs on, and settings of all property tests."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# How long an example takes depends on how busy the machine is, so that neither a deadline nor slow examples are errors.
settings.register_profile("without time limits", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("without time limits")


def _torch(values):
    return pytest.importorskip("torch").asarray(np.ascontiguousarray(values))


KINDS = {"numpy": np.asarray, "array_api_strict": array_api_strict.asarray, "torch": _torch}


@pytest.fixture(params=KINDS)
def to_kind(request):
    """A function that makes a numpy array an array of another library."""
    return KINDS[request.param]
