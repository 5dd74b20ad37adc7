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


def read_and_catch(path):
    """Return the type and message of the error; None if the file is read."""
    try:
        read_file(path)
    except BaseException as error:
        return type(error), str(error)
    return None


def is_clear_refusal(refusal, path):
    """Whether the error is a short message that names the file."""
    kind, message = refusal
    return issubclass(kind, ValueError | OSError) and path.name in message and len(message) < 1000


@pytest.mark.parametrize("ending", ENDINGS)
def test_missing_file_is_refused(tmp_path, ending):
    with pytest.raises(FileNotFoundError, match=rf"there is no file .*x\{ending}"):
        read_file(tmp_path / f"x{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
def test_folder_is_refused(tmp_path, ending):
    (tmp_path / f"x{ending}").mkdir()
    with pytest.raises(IsADirectoryError, match=rf"x\{ending} is a folder: name a file in it"):
        read_file(tmp_path / f"x{ending}")


@pytest.mark.parametrize("ending", ENDINGS)
def test_empty_file_is_refused(put, ending):
    with pytest.raises(ValueError, match=rf"x\{ending} is empty"):
        read_file(put(f"x{ending}", b""))


@pytest.mark.parametrize("name", ["x", "x.docx", "x.gz", "x.csv.zip", ".csv", "x.", "csv"])
def test_unknown_suffix_is_refused(put, name):
    with pytest.raises(
        ValueError, match=r"the file type is taken from the suffix, which must be one of \.csv, \.tsv, .*\.h5mu"
    ):
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


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "jsonl"])
@pytest.mark.parametrize("what", BINARY)
def test_binary_file_is_named_by_its_format(put, ending, what):
    whole, expected_message = BINARY[what]
    with pytest.raises(ValueError, match=rf"x\.{ending} is not text but {expected_message}"):
        read_file(put(f"x.{ending}", whole))


@pytest.mark.parametrize("what", BINARY)
def test_binary_content_within_gzip_is_refused(put, what):
    whole, expected_message = BINARY[what]
    with pytest.raises(ValueError, match=rf"x\.csv\.gz is not text but {expected_message}"):
        read_file(put("x.csv.gz", gzip.compress(whole, mtime=0)))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_zero_byte_is_named_by_its_line(put, ending):
    good = {"csv": b"x,2\n", "jsonl": b'{"x": 1}\n'}[ending]
    with pytest.raises(ValueError, match=rf"x\.{ending} is not text: line 3001 holds a zero byte"):
        read_file(put(f"x.{ending}", good * 3000 + b"1,\x00\n"))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("byte", [b"\xe9", b"\x80", b"\xc3(", b"\xed\xa0\x80"])
def test_invalid_utf_8_is_refused(put, ending, byte):
    with pytest.raises(
        ValueError, match=rf"x\.{ending} is not UTF-8 near line 1: save it as UTF-8 \(in Excel: CSV UTF-8\)"
    ):
        read_file(put(f"x.{ending}", byte + b"\n1\n"))


def test_invalid_utf_8_is_named_by_its_line(put):
    with pytest.raises(ValueError, match=r"x\.csv is not UTF-8 near line (299|300|301): save it as UTF-8"):
        read_file(put("x.csv", b"x,y\n" + b"1,2\n" * 298 + b"\xe9,2\n" + b"1,2\n" * 500))


@pytest.mark.parametrize("damage", [b"\x00", b"\x00\xd8\x00\xd8"], ids=["odd length", "half a character"])
def test_damaged_utf_16_is_named_by_its_line(put, damage):
    whole = b"\xff\xfe" + ("x,y\n" + "1,2\n" * 20).encode("utf-16-le") + damage
    with pytest.raises(ValueError, match=r"x\.csv is UTF-16 text, but truncated or damaged near line \d+: save it as"):
        read_file(put("x.csv", whole))


@pytest.mark.parametrize("name", ["x.csv.gz", "x.jsonl.gz"])
def test_gz_suffix_without_gzip_is_refused(put, name):
    with pytest.raises(ValueError, match=rf"{name} ends in \.gz but is not compressed by gzip: rename it"):
        read_file(put(name, b"x,y\n1,2\n"))


def market(X):
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, X, precision=3)
    return buffer.getvalue()


def svmlight(X):
    buffer = io.BytesIO()
    dump_svmlight_file(X, np.zeros(len(X)), buffer)
    return buffer.getvalue()


def parquet():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"x": np.arange(50.0), "s": [f"a{i}" for i in range(50)]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def compress(whole):
    return gzip.compress(whole, mtime=0)


NUMBERS = np.arange(40.0).reshape(20, 2)
WHOLE = {
    "x.csv.gz": lambda: compress(ROWS),
    "x.jsonl.gz": lambda: compress(b'{"x": 1}\n' * 200),
    "x.npy": lambda: as_bytes(np.save, NUMBERS),
    "x.npz": lambda: as_bytes(np.savez, NUMBERS),
    "packed.npz": lambda: as_bytes(np.savez_compressed, NUMBERS),
    "sparse.npz": lambda: as_bytes(sp.save_npz, sp.csr_array(NUMBERS)),
    "x.parquet": parquet,
    "x.svm.gz": lambda: compress(svmlight(NUMBERS)),
    "x.mtx.gz": lambda: compress(market(sp.csr_array(NUMBERS.astype(int)))),
}


@pytest.mark.parametrize("name", WHOLE)
def test_file_truncated_anywhere_is_refused(put, name):
    whole = WHOLE[name]()
    cuts = sorted({*range(1, 25), *range(25, len(whole), max(1, len(whole) // 40)), len(whole) - 1})
    refusals = {cut: read_and_catch(put(name, whole[:cut])) for cut in cuts}
    path = put(name, whole)
    assert [
        (cut, refusal) for cut, refusal in refusals.items() if refusal is None or not is_clear_refusal(refusal, path)
    ] == []


@pytest.mark.parametrize("name", WHOLE)
def test_file_with_changed_byte_is_read_or_refused(put, name):
    whole = WHOLE[name]()
    rng = np.random.default_rng(0)
    places = sorted({*range(25), *rng.integers(0, len(whole), 60).tolist(), *range(len(whole) - 25, len(whole))})
    wrong = []
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        path = put(name, bytes(changed))
        refusal = read_and_catch(path)
        if refusal is not None and not is_clear_refusal(refusal, path):
            wrong.append((place, refusal))
    assert wrong == []


@pytest.mark.parametrize("name", ["x.csv.gz", "x.jsonl.gz", "x.svm.gz", "x.mtx.gz"])
def test_damage_within_gzip_is_refused(put, name):
    head = gzip.compress(b"", mtime=0)[:10]
    body = zlib.compress(ROWS, wbits=-15)
    path = put(name, head + body[:20] + b"\xff" * 200)
    with pytest.raises(ValueError, match=name):
        read_file(path)


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending not in (".npz", ".mtx")])
def test_noise_is_refused(put, ending):
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 100, 5000):
        path = put(f"noise{ending}", rng.bytes(size))
        refusal = read_and_catch(path)
        if size >= 100:
            assert refusal is not None
        assert refusal is None or is_clear_refusal(refusal, path), refusal


@pytest.mark.parametrize("ending", ENDINGS)
def test_file_of_another_format_is_refused(put, ending):
    for name, make in WHOLE.items():
        if (
            name.endswith(ending)
            or {name[1:], ending} == {".parquet", ".pq"}
            or (name.endswith(".npz") and ending == ".npy")
        ):
            continue
        path = put(f"other{ending}", make())
        refusal = read_and_catch(path)
        assert refusal is not None, name
        assert is_clear_refusal(refusal, path), (name, refusal)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
@pytest.mark.parametrize("target", ["link.csv", "nowhere.csv"])
def test_link_that_leads_nowhere_is_refused(target, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / target)
    with pytest.raises(
        FileNotFoundError, match=rf"there is no file .*link\.csv: it is a link to .*{target}, which leads"
    ):
        read_file(tmp_path / "link.csv")
