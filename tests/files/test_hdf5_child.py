"""Damaged H5AD files on which HDF5 loops or crashes, and the child process that reads them."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from consilience.files.formats import annotated, hdf5_child, read_file
from single_cell import write_cells

ad = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at other processes through /proc")

X = np.random.default_rng(0).normal(size=(8, 5))
CELLS = [f"cell{i}" for i in range(8)]


def write(path, **fields):
    return write_cells(ad.AnnData(X, obs=pd.DataFrame({"kind": ["a", "b"] * 4}, index=CELLS), **fields), path)


def make_hdf5_loop(path):
    """Shorten the free space at the end of the first global heap, so that zeros follow it.

    HDF5 takes the zeros for a heap object of length 0, and never gets past it.
    """
    content = bytearray(path.read_bytes())

    def number(start, n_bytes):
        return int.from_bytes(content[start : start + n_bytes], "little")

    position = content.index(b"GCOL") + 16
    while number(position, 2):  # index of the object; 0 is the free space
        position += 16 + -(-number(position + 8, 8) // 8) * 8
    assert number(position + 8, 8) > 64
    content[position + 8 : position + 16] = (32).to_bytes(8, "little")
    path.write_bytes(content)
    return path


@pytest.fixture
def loop_file(tmp_path):
    return make_hdf5_loop(write(tmp_path / "loop.h5ad"))


@pytest.mark.skipif(os.name != "posix", reason="measures the processor time of child processes")
def test_time_limit_ends_looping_reader_and_spares_others(loop_file, tmp_path, tune):
    healthy = write(tmp_path / "healthy.h5ad")
    before = os.times()
    read_file(healthy)
    after = os.times()
    time_taken = after.children_user + after.children_system - before.children_user - before.children_system
    limit = 1 + math.ceil(time_taken)  # of the processor, which does not depend on other programs
    tune("files.formats.annotated", start_seconds=limit)
    np.testing.assert_array_equal(read_file(healthy).matrices["X"].values, X)
    with pytest.raises(ValueError, match=rf"loop\.h5ad: took longer than {limit} s to read: it is probably damaged"):
        read_file(loop_file)


def find_reader(parent, path):
    """Wait until a child of the process has the file open, and return its id."""
    while True:
        assert parent.poll() is None, parent.communicate()
        for child in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split():
            try:
                targets = [os.readlink(link) for link in Path(f"/proc/{child}/fd").iterdir()]
            except OSError:
                continue  # a file was closed meanwhile
            if str(path) in targets:
                return int(child)
        time.sleep(0.05)


def has_ended(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@needs_proc
@pytest.mark.skipif(sys.platform != "linux", reason="other kernels cannot end a process with its parent")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_looping_reader_ends_with_the_command(loop_file, number, code):
    command = [sys.executable, "-m", "consilience", "cluster", "--view", str(loop_file), "-k", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=loop_file.parent) as command:
        reader = find_reader(command, loop_file)
        command.send_signal(number)
        _, stderr = command.communicate()
    assert command.returncode == code
    if number == signal.SIGINT:
        assert stderr.splitlines()[-1].startswith("consilience: stopped before anything was done")
        assert "Traceback" not in stderr
    while not has_ended(reader):
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (signal.SIGSEGV, ValueError, r"t\.h5ad: the reader crashed \(SIGSEGV\): it is probably damaged"),
        (signal.SIGABRT, ValueError, r"t\.h5ad: the reader crashed \(SIGABRT\): it is probably damaged"),
        (signal.SIGKILL, ValueError, r"t\.h5ad: the reader was killed \(SIGKILL\), most likely because memory ran out"),
        (signal.SIGINT, KeyboardInterrupt, None),
        (signal.SIGTERM, KeyboardInterrupt, None),
    ],
)
def test_crash_of_reader_is_message_and_signal_to_it_an_interrupt(tmp_path, monkeypatch, number, error, message):
    child = tmp_path / "child.py"
    child.write_text(f"import os, signal\nsignal.signal(2, signal.SIG_DFL)\nos.kill(os.getpid(), {int(number)})\n")
    monkeypatch.setattr(annotated, "CHILD", child)
    with pytest.raises(error, match=message):
        read_file(write(tmp_path / "t.h5ad"))


def test_data_set_that_is_larger_than_its_file_is_refused(tmp_path):
    path = write(tmp_path / "t.h5ad")
    with h5py.File(path, "a") as file:
        attributes = dict(file["X"].attrs)
        del file["X"]
        file.create_dataset("X", shape=(10**9, 100), dtype="f8", chunks=(100, 100)).attrs.update(attributes)
    with pytest.raises(
        ValueError, match=r"t\.h5ad cannot .*: X announces 800,000,000,000 bytes, too many for a file of"
    ):
        read_file(path)


def test_blocks_of_any_layout_round_trip(tmp_path):
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8)}, index=CELLS)
    texts = pd.DataFrame({"c": list("abcdefgh")}, index=CELLS)
    blocks = {"fortran": np.asfortranarray(X), "empty": X[:, :0], "bool": X > 0, "frame": frame, "texts": texts}
    collection = read_file(write(tmp_path / "t.h5ad", obsm=blocks))
    for name in ("fortran", "empty", "bool", "frame"):
        np.testing.assert_array_equal(collection.matrices[name].values, np.asarray(blocks[name]))
        assert collection.matrices[name].values.dtype == np.asarray(blocks[name]).dtype
    assert collection.matrices["texts"].values.ravel().tolist() == list("abcdefgh")


def test_missing_package_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "t.h5ad")
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "anndata.py").write_text("raise ImportError('no module')\n")
    monkeypatch.syspath_prepend(tmp_path / "shadow")
    with pytest.raises(ImportError, match=r"t\.h5ad: these files need anndata: pip install 'consilience\[mudata\]'"):
        read_file(path)


def test_texts_with_a_mask_of_missing_values_are_read_as_plain_texts(tmp_path):
    with h5py.File(tmp_path / "texts.h5", "w") as file:
        for name in ("plain", "masked/values"):
            file.create_dataset(name, data=["a", "ü"], dtype=h5py.string_dtype())
        file["masked/mask"] = [False, False]
        assert hdf5_child.read_texts(file, "plain").tolist() == ["a", "ü"]
        assert hdf5_child.read_texts(file, "masked").tolist() == ["a", "ü"]
