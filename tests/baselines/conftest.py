"""Tables here are small: threads of BLAS and OpenMP would only wait for each other."""

import pytest
import threadpoolctl


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    with threadpoolctl.threadpool_limits(limits=1):
        yield
