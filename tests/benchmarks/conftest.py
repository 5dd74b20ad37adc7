"""The benchmarks lie beside the package, at the root: found from there, however the tests are called."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
