"""The example scripts run without warnings and print what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

from waiting import HANG_LIMIT

EXAMPLES = Path(__file__).parents[1] / "examples"
EXPECTED = {
    "constraints.py": ["with 30 constraints: adjusted Rand index", "ask about these pairs: [["],
    "digits.py": ["agreement with the digits (NMI): 0.8", "predicted from pixels alone: ["],
    "large_data.py": ["from files: adjusted Rand index 1.00", "as a stream: adjusted Rand index", "dask"],
    "number_of_clusters.py": ["chosen number: 4"],
    "pipeline.py": ["best parameters: {", "adjusted Rand index on held-out rows: 0.9"],
    "text_and_links.py": ["documents with one view: 246", "Stable: "],
}


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_example_runs(name, tmp_path):
    command = [sys.executable, "-W", "error", EXAMPLES / name]
    result = subprocess.run(command, capture_output=True, text=True, timeout=HANG_LIMIT, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [text for text in EXPECTED[name] if text not in result.stdout] == []
    assert list(tmp_path.iterdir()) == []
