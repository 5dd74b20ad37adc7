"""Compiled kernels work whether or not their machine code can be cached on disk."""

import os
import subprocess
import sys
from pathlib import Path

import consilience

# The cache folders that numba tries are those of NUMBA_CACHE_DIR, of the source file and of the user. To make all of
# them impossible for root too, whom permissions do not stop, numba's check of a folder is made to fail.
READ_ONLY = """
import errno
from numba.core import caching

def refuse(locator):
    raise OSError(errno.EROFS, "Read-only file system", locator.get_cache_path())

caching._CacheLocator.ensure_cache_path = refuse
"""
IMPORTS = """
import consilience.arrays.csr_kernels as kernels
import consilience.methods.constrained.kernels, consilience.methods.agglomerative.kernels
print(kernels.label_sums._cache.cache_path)
"""
FIT = """
import numpy as np
import scipy.sparse as sp
import consilience as cs

counts = np.random.default_rng(0).poisson(0.5, (60, 20))
counts[:30, :10] += 5
print(*cs.MultiViewKMeans(2, random_state=0).fit({"words": sp.csr_array(counts.astype(float))}).labels_, sep="")
"""


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_kernels_are_cached_on_disk():
    (cache_path,) = run_python(IMPORTS)
    assert os.path.isdir(cache_path)


def test_kernels_compile_without_a_cache_folder():
    cache_path, labels = run_python(READ_ONLY + IMPORTS + FIT)
    assert cache_path == "None"
    assert labels in ("0" * 30 + "1" * 30, "1" * 30 + "0" * 30)


def test_all_compiled_functions_use_our_decorator():
    package = Path(consilience.__file__).parent
    users = [path.name for path in package.rglob("*.py") if "njit" in path.read_text(encoding="utf-8")]
    assert users == ["compile.py"]
