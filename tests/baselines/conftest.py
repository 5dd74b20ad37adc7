"""One thread of BLAS and OpenMP: the tables of these tests are too small for more."""

import pytest
import threadpoolctl


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    with threadpoolctl.threadpool_limits(limits=1):
        yield
