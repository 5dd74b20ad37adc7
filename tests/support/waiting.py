"""How tests wait: for an event, such as the exit of a process, and not for a number of seconds."""

import time
from contextlib import contextmanager

# Seconds after which a test that would hang forever is ended. This says nothing about speed: a busy machine may slow
# tests down many times before they reach it.
HANG_LIMIT = 1800
# Milliseconds after which a wait in a browser ends, where what a test waits for takes seconds.
PAGE_LIMIT = 300_000


def wait_until(condition):
    """Return as soon as the condition holds; raise TimeoutError if it does not hold within `HANG_LIMIT` seconds."""
    end = time.monotonic() + HANG_LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"the condition did not become true within {HANG_LIMIT} s")
        time.sleep(0.02)


@contextmanager
def limit_cpu_seconds(limit):
    """Fail if the code takes more CPU time than the limit, which should be many times what it takes."""
    start = time.process_time()
    yield
    assert time.process_time() - start < limit
