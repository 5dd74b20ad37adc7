"""Files that announce more than they hold are refused before memory is allocated for it."""

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files.formats import read_file

MANY = 200_000_000
COORDINATES = "%%MatrixMarket matrix coordinate real general\n"
MEASURE = """
import json, resource, sys
from pathlib import Path
import numpy, scipy.sparse, sklearn.datasets
from consilience.files.formats import read_file

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

results = {}
for path in map(Path, sys.argv[1:]):
    before = peak()
    try:
        read_file(path)
        message = None
    except ValueError as error:
        message = str(error)
    results[path.name] = message, (peak() - before) * 1024
print(json.dumps(results))
"""


def save(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def array_of(n_rows):
    """Bytes of a .npy file that announces three columns and holds 12 numbers."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (n_rows, 3)})
    return file.getvalue() + bytes(96)


def zip_of(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)
    return file.getvalue()


SPARSE = {"data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}
POINTS = {"data": np.ones(2), "row": [0, 1], "col": [0, 1]}
NOT_PLAUSIBLE = "are announced, which is not plausible for a file of"
FILES = {
    "rows.mtx": (f"{COORDINATES}{MANY} 3 2\n1 1 1\n2 2 1\n", f"200,000,000 rows {NOT_PLAUSIBLE} 72 bytes"),
    "columns.mtx": (f"{COORDINATES}3 {MANY} 2\n1 1 1\n2 2 1\n", f"200,000,000 columns {NOT_PLAUSIBLE} 72 bytes"),
    "empty.mtx": (f"{COORDINATES}{MANY} 3 0\n", f"200,000,000 rows {NOT_PLAUSIBLE}"),
    "negative.mtx": (f"{COORDINATES}-3 3 0\n", f"-3 rows {NOT_PLAUSIBLE}"),
    "packed.mtx.gz": (gzip.compress(f"{COORDINATES}{MANY} 3 1\n1 1 1\n".encode(), mtime=0), f"rows {NOT_PLAUSIBLE}"),
    "entries.mtx": (f"{COORDINATES}3 3 {MANY}\n1 1 1\n", "200,000,000 entries are announced, which is too many"),
    "dense.mtx": (f"%%MatrixMarket matrix array real general\n{MANY} 3\n1\n", "600,000,000 numbers are announced,"),
    "cut.mtx": (f"{COORDINATES}3 3 2\n1 1 1E", "cannot be read as a Matrix Market file"),  # and does not crash
    "cut too.mtx": (f"{COORDINATES}3 3 2\n1 1 1.5e-", "cannot be read as a Matrix Market file"),
    "index.svm": (f"1 1:1\n1 {MANY}:1\n", f"200,000,000 columns {NOT_PLAUSIBLE}"),
    "packed.svm.gz": (gzip.compress(f"1 1:1\n1 {MANY}:1\n".encode(), mtime=0), f"columns {NOT_PLAUSIBLE}"),
    "coo.npz": (save(**POINTS, shape=(MANY, 3), format="coo"), f"200,000,000 rows {NOT_PLAUSIBLE}"),
    "csc.npz": (save(**SPARSE, shape=(MANY, 2), format="csc"), f"200,000,000 rows {NOT_PLAUSIBLE}"),
    "csr.npz": (save(**SPARSE, shape=(2, MANY), format="csr"), f"200,000,000 columns {NOT_PLAUSIBLE}"),
    "dia.npz": (save(data=np.ones((1, 2)), offsets=[0], shape=(MANY, MANY), format="dia"), f"rows {NOT_PLAUSIBLE}"),
    "array.npy": (array_of(MANY), "cannot be read as a numpy file: "),
    "packed.npz": (zip_of(array_of(MANY)), "cannot be read as a numpy file: "),
}


def test_announced_size_is_refused_without_memory(tmp_path):
    pytest.importorskip("resource")
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    command = [sys.executable, "-c", MEASURE, *(str(tmp_path / name) for name in FILES)]
    results = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for name, (message, n_bytes) in results.items():
        assert message is not None, name
        assert name in message
        assert FILES[name][1] in message
        assert n_bytes < 200 * 2**20, name  # the offsets of 2e8 rows alone take 1,600 MB


def test_short_file_may_have_many_empty_rows_or_columns(put):
    for shape, entries in (((4_000_000, 3), "1\n1 1 1\n"), ((1, 30_000_000), "1\n1 1 1\n"), ((0, 0), "0\n")):
        path = put("x.mtx", f"{COORDINATES}{shape[0]} {shape[1]} {entries}")
        assert read_file(path).values.shape == shape


def test_shortest_entries_are_not_too_many_for_their_file(put):
    pattern = "%%MatrixMarket matrix coordinate pattern general\n9 9 2\n1 1\n2 2"
    np.testing.assert_array_equal(read_file(put("x.mtx", pattern)).values.toarray(), np.diag([1, 1, *[0] * 7]))
    dense = "%%MatrixMarket matrix array integer general\n9 1\n" + "\n".join("123456789")
    assert read_file(put("y.mtx", dense)).values.ravel().tolist() == list(range(1, 10))


@pytest.mark.parametrize(("sizes", "shape"), [(f"{MANY} 3", (2, 3)), (f"3 {MANY}", (3, 2))])
def test_refusal_tells_how_to_drop_empty_rows_or_columns(put, sizes, shape):
    pattern = r"if it is not, save it without empty (rows|columns): .* in scipy$"
    with pytest.raises(ValueError, match=pattern) as caught:
        read_file(put("x.mtx", f"{COORDINATES}{sizes} 2\n1 1 1\n2 2 1\n"))
    advice = re.search(r"empty \w+: (.*) in scipy", str(caught.value))[1]
    X = sp.coo_array(([1.0, 1.0], ([0, 2], [0, 2])), shape=(3, 3))
    assert eval(advice, {"X": X, "np": np}).shape == shape


def test_message_says_how_many_values_file_has(put):
    with pytest.raises(ValueError, match="2 entries are announced, but the file has 1"):
        read_file(put("x.mtx", f"{COORDINATES}3 3 2\n1 1 1\n"))
    with pytest.raises(ValueError, match="4 numbers are announced, but the file has 3"):
        read_file(put("x.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"))
