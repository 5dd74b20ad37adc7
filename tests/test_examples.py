"""The example scripts run without warnings and print what they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import HANG_LIMIT

EXAMPLES = Path(__file__).parents[1] / "examples"
EXPECTED = {
    "constraints.py": ["without answers: adjusted Rand index 0.", "with answers: adjusted Rand index 1.00"],
    "digits.py": ["agreement with the digits (NMI): 0.8", "predicted from pixels alone: ["],
    "large_data.py": [
        "from files: adjusted Rand index 1.00",
        "as a stream: adjusted Rand index",
        "with dask: adjusted",
    ],
    "missing_views.py": ["82 complete patients: adjusted Rand index 1.00", "65 incomplete patients:", "Stable: "],
    "number_of_clusters.py": ["chosen number: 4", "NMI with the true topics: 1.0"],
    "pipeline.py": ["best parameters: {", "adjusted Rand index on held-out rows: 0.9"],
    "table.py": ["160 entities in 4 clusters", "Stable: ", "report of "],
    "text_and_links.py": [
        "documents with one view: 246",
        "words and links agree for 9",
        "keep their cluster when the data is resampled",
    ],
}
IGNORED = (
    "ignore:FigureCanvasAgg is non-interactive",  # where a display exists, plt.show() warns that none opens
    "ignore::DeprecationWarning:matplotlib._fontconfig_pattern",  # old versions, with recent ones of pyparsing
    "ignore::DeprecationWarning:matplotlib._mathtext",
)


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_example_runs(name, tmp_path):
    command = [sys.executable, "-W", "error", *(f"-W{warning}" for warning in IGNORED), EXAMPLES / name]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert [text for text in EXPECTED[name] if text not in result.stdout] == []
    assert list(tmp_path.iterdir()) == []
