"""Dask clients for the tests of this folder: with two processes, and within this process."""

import pytest

from stores import start_dask_client


@pytest.fixture(scope="session")
def two_processes():
    with start_dask_client(processes=True) as client:
        yield client


@pytest.fixture(scope="session")
def one_process():
    with start_dask_client(processes=False) as client:
        yield client


@pytest.fixture
def on_cluster(two_processes):
    """Use workers in two processes."""
    with two_processes.as_current():
        yield two_processes


@pytest.fixture
def in_process(one_process):
    """Use workers that are threads of this process."""
    with one_process.as_current():
        yield one_process
