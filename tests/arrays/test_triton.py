import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "support" / "triton_cases.py"


def test_kernels_agree_with_plain_products():
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    result = subprocess.run([sys.executable, str(CASES)], capture_output=True, text=True, env=environment, check=False)
    assert "all kernels agree" in result.stdout, result.stderr
