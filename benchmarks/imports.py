"""Time to import the package, and its estimators, next to `import sklearn.cluster`.

Each contestant is a new process; `seconds` is its processor time without that of an empty process, so that programs on
other cores count little. Bytecode is cached, in a folder of the benchmark if Python writes none beside the sources.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median, quantiles

from consilience import Table

IMPORTS = {
    "sklearn.cluster": "import sklearn.cluster",
    "consilience": "import consilience",
    "MultiViewKMeans": "from consilience import MultiViewKMeans",
    "CoEM": "from consilience import CoEM",
    "Consilience": "from consilience import Consilience",
    "all public names": "from consilience import *",
}


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    with tempfile.TemporaryDirectory() as cache:
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        variables["PYTHONPYCACHEPREFIX"] = cache
        times: dict[str, list[float]] = {name: [] for name in IMPORTS}
        for turn in range(2 if small else repeats + 1):
            empty = measure_processor_time("pass", variables)
            for name, code in IMPORTS.items():
                seconds = measure_processor_time(code, variables) - empty
                if turn:  # the first turn writes the bytecode
                    times[name].append(seconds)
    yield "imports, in new processes", compare_imports(times)


def measure_processor_time(code: str, variables: dict[str, str]) -> float:
    """Return the processor time of a new process that runs the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_imports(times: dict[str, list[float]]) -> Table:
    """Return one row per import, with the first as baseline."""
    rows = []
    for name, seconds in times.items():
        ratios = [mine / baseline for mine, baseline in zip(seconds, times[next(iter(times))], strict=True)]
        low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        row = {"import": name, "seconds": f"{median(seconds):.3f}", "ratio": f"{median(ratios):.2f}"}
        rows.append({**row, "quartiles": f"{low:.2f} to {high:.2f}"})
    return Table.from_rows(rows)
