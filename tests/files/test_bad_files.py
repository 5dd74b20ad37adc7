"""Damaged and wrong files are refused with one sentence that names them."""

import gzip
import io
import os
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from consilience.files.formats import FORMATS, read_file

ENDINGS = list(FORMATS)
ROWS = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(2000))


def as_bytes(save, *what, **how):
    buffer = io.BytesIO()
    save(buffer, *what, **how)
    return buffer.getvalue()


def is_refused(path):
    """Whether a file is refused, by a short message that names it."""
    try:
        read_file(path)
    except (ValueError, OSError) as error:
        message = str(error)
    else:
        return False
    assert path.name in message
    assert len(message) < 1000
    return True


@pytest.mark.parametrize("ending", ENDINGS)
def test_missing_file_folder_and_empty_file_are_refused(put, tmp_path, ending):
    with pytest.raises(FileNotFoundError, match=rf"there is no file .*x\{ending}"):
        read_file(tmp_path / f"x{ending}")
    (tmp_path / f"y{ending}").mkdir()
    with pytest.raises(IsADirectoryError, match=rf"y\{ending} is a folder: name a file in it"):
        read_file(tmp_path / f"y{ending}")
    with pytest.raises(ValueError, match=rf"x\{ending} is empty"):
        read_file(put(f"x{ending}", b""))


def test_unknown_suffix_is_refused(put):
    for name in ("x", "x.docx", "x.gz", "x.csv.zip", ".csv", "x.", "csv"):
        with pytest.raises(ValueError, match=r"type is taken from the suffix, which must be one of \.csv, .*\.h5mu"):
            read_file(put(name, b"x,y\n1,2\n"))


BINARY = {
    "zip": (as_bytes(np.savez, np.eye(3)), r"a zip archive \(an \.xlsx or \.npz file\?\)"),
    "gzip": (gzip.compress(ROWS, mtime=0), r"compressed by gzip: let its name end in \.gz"),
    "numpy": (as_bytes(np.save, np.eye(3)), r"a numpy array: let its name end in \.npy"),
    "parquet": (b"PAR1" + bytes(100), r"a Parquet file: let its name end in \.parquet"),
    "hdf": (b"\x89HDF\r\n\x1a\n" + bytes(100), r"an HDF5 file: let its name end in \.h5ad or \.h5mu"),
    "pdf": (b"%PDF-1.7\n", "a PDF"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
    "utf-32 with a mark": ("x,y\n1,2\n".encode("utf-32"), "UTF-32 text: save it as UTF-8"),
    "utf-16 without a mark": ("x,y\n1,2\n".encode("utf-16-le"), "binary"),
    "utf-32": ("x,y\n1,2\n".encode("utf-32-be"), "binary"),
    "zeros": (bytes(5000), "binary"),
}


@pytest.mark.parametrize("what", BINARY)
def test_binary_file_is_named_by_its_format(put, what):
    whole, expected_message = BINARY[what]
    for ending in ("csv", "txt", "jsonl", "csv.gz"):
        with pytest.raises(ValueError, match=rf"x\.{ending} is not text but {expected_message}"):
            read_file(put(f"x.{ending}", gzip.compress(whole, mtime=0) if ending.endswith("gz") else whole))


def test_zero_byte_is_named_by_its_line(put):
    for ending, good in {"csv": b"x,2\n", "jsonl": b'{"x": 1}\n'}.items():
        with pytest.raises(ValueError, match=rf"x\.{ending} is not text: line 3001 holds a zero byte"):
            read_file(put(f"x.{ending}", good * 3000 + b"1,\x00\n"))


def test_invalid_utf_8_and_utf_16_are_named_by_their_lines(put):
    for byte in (b"\xe9", b"\x80", b"\xc3(", b"\xed\xa0\x80"):
        for name in ("x.csv", "x.jsonl"):
            with pytest.raises(ValueError, match=rf"{name} is not UTF-8 near line 1: .* \(in Excel: CSV UTF-8\)"):
                read_file(put(name, byte + b"\n1\n"))
    with pytest.raises(ValueError, match=r"x\.csv is not UTF-8 near line (299|300|301): save it as UTF-8"):
        read_file(put("x.csv", b"x,y\n" + b"1,2\n" * 298 + b"\xe9,2\n" + b"1,2\n" * 500))
    whole = b"\xff\xfe" + ("x,y\n" + "1,2\n" * 20).encode("utf-16-le")
    for damage in (b"\x00", b"\x00\xd8\x00\xd8"):  # an odd length, and half a character
        with pytest.raises(ValueError, match=r"x\.csv is UTF-16 text, but truncated or damaged near line \d+: save"):
            read_file(put("x.csv", whole + damage))


def write_parquet():
    polars = pytest.importorskip("polars")
    return as_bytes(polars.DataFrame({"x": np.arange(50.0), "s": [f"a{i}" for i in range(50)]}).write_parquet)


NUMBERS = np.arange(40.0).reshape(20, 2)
WHOLE = {
    "x.csv.gz": lambda: gzip.compress(ROWS, mtime=0),
    "x.jsonl.gz": lambda: gzip.compress(b'{"x": 1}\n' * 200, mtime=0),
    "x.npy": lambda: as_bytes(np.save, NUMBERS),
    "x.npz": lambda: as_bytes(np.savez, NUMBERS),
    "packed.npz": lambda: as_bytes(np.savez_compressed, NUMBERS),
    "sparse.npz": lambda: as_bytes(sp.save_npz, sp.csr_array(NUMBERS)),
    "x.parquet": write_parquet,
    "x.svm.gz": lambda: gzip.compress(as_bytes(lambda file: dump_svmlight_file(NUMBERS, np.zeros(20), file)), mtime=0),
    "x.mtx.gz": lambda: gzip.compress(as_bytes(scipy.io.mmwrite, sp.csr_array(NUMBERS.astype(int))), mtime=0),
}


@pytest.mark.parametrize("name", WHOLE)
def test_file_truncated_anywhere_is_refused(put, name):
    whole = WHOLE[name]()
    for cut in sorted({*range(1, 25), *range(25, len(whole), max(1, len(whole) // 20)), len(whole) - 1}):
        assert is_refused(put(name, whole[:cut])), cut


@pytest.mark.parametrize("name", WHOLE)
def test_file_with_changed_byte_is_read_or_refused(put, name):
    whole = WHOLE[name]()
    rng = np.random.default_rng(0)
    places = sorted({*range(25), *rng.integers(0, len(whole), 30).tolist(), *range(len(whole) - 25, len(whole))})
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        is_refused(put(name, bytes(changed)))


def test_damage_within_gzip_and_files_that_only_seem_compressed_are_refused(put):
    damaged = gzip.compress(b"", mtime=0)[:10] + zlib.compress(ROWS, wbits=-15)[:20] + b"\xff" * 200
    for name in ("x.csv.gz", "x.jsonl.gz", "x.svm.gz", "x.mtx.gz"):
        with pytest.raises(ValueError, match=name):
            read_file(put(name, damaged))
    for name in ("x.csv.gz", "x.jsonl.gz"):
        with pytest.raises(ValueError, match=rf"{name} ends in \.gz but is not compressed by gzip: rename it"):
            read_file(put(name, b"x,y\n1,2\n"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_noise_and_files_of_another_format_are_refused(put, ending):
    path = put(f"other{ending}", b"")
    same = {".pq": (".parquet",), ".npy": (".npy", ".npz")}.get(ending, (ending,))
    contents = [make() for name, make in WHOLE.items() if not name.endswith(same)]
    if ending not in (".npz", ".mtx"):
        rng = np.random.default_rng(0)
        contents += [rng.bytes(100), rng.bytes(5000)]
    if ending.startswith(".h5"):
        contents = contents[-1:]  # each of these reads starts a process
    for content in contents:
        path.write_bytes(content)
        assert is_refused(path), content[:20]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
def test_link_that_leads_nowhere_is_refused(tmp_path):
    for target in ("link.csv", "nowhere.csv"):
        (tmp_path / "link.csv").unlink(missing_ok=True)
        (tmp_path / "link.csv").symlink_to(tmp_path / target)
        with pytest.raises(FileNotFoundError, match=rf"no file .*link\.csv: it is a link to .*{target}, which leads"):
            read_file(tmp_path / "link.csv")
