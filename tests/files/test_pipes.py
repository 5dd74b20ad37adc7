"""Pipes and devices in place of files."""

import gzip
import io
import os
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from consilience import persist
from consilience.files.formats import FORMATS, InputFiles, inputs, read_file, read_input
from single_cell import make_mudata, write_cells
from workbooks import make_ods, make_xlsx

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

NUMBERS = np.arange(1.0, 13.0).reshape(4, 3)
CSV = b"id,x,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * i, -i) for i in range(4))


def to_bytes(write, *arguments, **options):
    file = io.BytesIO()
    write(file, *arguments, **options)
    return file.getvalue()


def to_single_cell(folder, suffix):
    anndata, _ = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    data = anndata.AnnData(NUMBERS)
    path = folder / f"written{suffix}"
    return write_cells(data if suffix == ".h5ad" else make_mudata(rna=data), path).read_bytes()


SAMPLES = {  # content of a file of each format
    ".csv": lambda _: CSV,
    ".csv.gz": lambda _: gzip.compress(CSV, mtime=0),
    ".tsv": lambda _: CSV.replace(b",", b"\t"),
    ".json": lambda _: b'[{"x": 1, "y": 2}, {"x": 3, "y": 4}]',
    ".jsonl": lambda _: b'{"x": 1, "y": 2}\n{"x": 3, "y": 4}\n',
    ".npy": lambda _: to_bytes(np.save, NUMBERS),
    ".npz": lambda _: to_bytes(np.savez, NUMBERS),
    ".mtx": lambda _: to_bytes(scipy.io.mmwrite, sp.csr_array(NUMBERS)),
    ".mtx.gz": lambda _: gzip.compress(to_bytes(scipy.io.mmwrite, sp.csr_array(NUMBERS)), mtime=0),
    ".svm": lambda _: to_bytes(lambda file: dump_svmlight_file(NUMBERS, np.arange(4), file)),
    ".svm.gz": lambda _: gzip.compress(to_bytes(lambda file: dump_svmlight_file(NUMBERS, np.zeros(4), file)), mtime=0),
    ".parquet": lambda _: to_bytes(pytest.importorskip("polars").DataFrame(NUMBERS).write_parquet),
    ".xlsx": lambda _: make_xlsx({"S": [["id", "x"], ["a", 1], ["b", 2.5]]}),
    ".ods": lambda _: make_ods({"S": [["id", "x"], ["a", 1], ["b", 2.5]]}),
    ".h5ad": lambda folder: to_single_cell(folder, ".h5ad"),
    ".h5mu": lambda folder: to_single_cell(folder, ".h5mu"),
}


@contextmanager
def pipe_of(content, path=None):
    """Path of a pipe with this content: a named pipe, or one like those of <(...) in a shell."""
    if path is not None:
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(content,))
        writer.start()
        yield path
        writer.join()
        return
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb") as file:
            file.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    yield Path(f"/dev/fd/{reading}")
    writer.join()
    os.close(reading)


def assert_same_content(actual, expected):
    assert type(actual) is type(expected)
    columns, expected_columns = (getattr(content, "columns", {}) for content in (actual, expected))
    assert list(columns) == list(expected_columns)
    for name, column in expected_columns.items():
        np.testing.assert_array_equal(columns[name], column)
    if hasattr(expected, "matrices"):
        assert list(actual.matrices) == list(expected.matrices)
        for name, matrix in expected.matrices.items():
            assert_same_matrix(actual.matrices[name].values, matrix.values)
    elif hasattr(expected, "values"):
        assert_same_matrix(actual.values, expected.values)


def assert_same_matrix(actual, expected):
    assert sp.issparse(actual) == sp.issparse(expected)
    dense = [matrix.toarray() if sp.issparse(matrix) else matrix for matrix in (actual, expected)]
    np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize("suffix", SAMPLES)
def test_pipe_is_read_like_file(tmp_path, put, suffix):
    content = SAMPLES[suffix](tmp_path)
    expected = read_file(put(f"file{suffix}", content))
    names = [None, "pipe", f"pipe{suffix}"]
    for name in names[:1] if suffix.startswith(".h5") else names:  # each of those reads starts a process
        with pipe_of(content, None if name is None else tmp_path / name) as path:
            assert_same_content(read_file(path), expected)


def test_format_is_detected_from_content():
    samples = {suffix for suffix in SAMPLES if not suffix.endswith(".gz")}
    assert {FORMATS[suffix].suffixes for suffix in samples} == {each.suffixes for each in FORMATS.values()}
    for start, suffix in (
        (b"", ".csv"),
        (b"\xef\xbb\xbf{}", ".jsonl"),
        (b"\n\n  {}", ".jsonl"),
        ('[\n{"x": 1}]'.encode("utf-16"), ".json"),
        (b"[x],y\n", ".csv"),
        (b"# comment\n-1 1:0.5 7:2e-3 # info\n", ".svm"),
        (b"+1.5e3 qid:2 1:4\r\n", ".svm"),
        (b"1:2,3:4\n", ".csv"),
        (b"time 10:30\n", ".csv"),
        (b"\x1f\x8bbroken", ".csv.gz"),
    ):
        assert inputs.detect_suffix(start) == suffix, start


def test_pipe_of_several_views_and_labels_or_of_links_is_read_once(read, put):
    with pipe_of(CSV) as path:
        reading = read(f"a={path}:x", f"b={path}:y", labels=f"{path}:id")
    assert [content.name for content in reading.contents] == ["a", "b"]
    assert reading.known_classes[0].classes.tolist() == ["0", "1", "2", "3"]
    with pipe_of(b"id,class\n" + b"".join(b"%d,c%d\n" % (i, i % 2) for i in range(4))) as path:
        reading = read(put("t.csv", CSV), labels=str(path))
    assert reading.known_classes[0].classes.tolist() == ["c0", "c1", "c0", "c1"]
    with pipe_of(b"source,target\n01,02\n02,03\n03,01\n") as path:
        (content,) = read(f"links={path}").contents
    assert content.kind == "links"
    assert content.data[0].tolist() == ["01", "02", "03"]


def test_two_names_of_one_pipe_are_read_once(tmp_path):
    link = tmp_path / "link.csv"
    with pipe_of(CSV, tmp_path / "pipe.csv") as path, InputFiles() as files:
        link.symlink_to(path)
        assert_same_content(*(read_input(files.locate(name)) for name in (path, link)))


def test_copies_of_pipes_are_deleted_and_errors_name_the_pipe(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pipe_of(CSV) as path:
        read_file(path)
    with pipe_of(b"x,y\n1\n") as path, pytest.raises(ValueError, match=rf"^{path}: line 2 has 1 cells, but the header"):
        read_file(path)
    assert list(tmp_path.iterdir()) == []


def test_devices_and_terminals_are_refused():
    pty = pytest.importorskip("pty")
    ends = pty.openpty()
    for path in ("/dev/zero", "/dev/random", "/dev/full", os.ttyname(ends[1])):
        for read in (read_file, persist.load):
            with pytest.raises(ValueError, match=rf"{path} is a device or a socket, which may never end: name a file"):
                read(Path(path))
    for end in ends:
        os.close(end)


def test_null_device_and_empty_pipe_are_empty_files_and_an_unnamed_file_is_read(put):
    with pytest.raises(ValueError, match="/dev/null is empty"):
        read_file(Path("/dev/null"))
    with pipe_of(b"") as path, pytest.raises(ValueError, match=rf"{path} is empty"):
        read_file(path)
    with put("t.data", CSV).open("rb") as file:
        assert list(read_file(Path(f"/dev/fd/{file.fileno()}")).columns) == ["id", "x", "y"]


def test_model_is_loaded_from_pipe_and_errors_name_the_pipe(tmp_path):
    persist.save({"n_clusters": 3}, tmp_path / "model.zip")
    with pipe_of((tmp_path / "model.zip").read_bytes(), tmp_path / "pipe") as path:
        assert persist.load(path) == {"n_clusters": 3}
    with pipe_of(b"no model") as path, pytest.raises(ValueError, match=rf"^{path} is not a model file"):
        persist.load(path)
    with pipe_of(to_bytes(np.savez, NUMBERS)) as path, pytest.raises(ValueError, match=rf"^{path} is a zip file"):
        persist.load(path)
