"""Files and folders appear whole, or not at all."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from consilience.files import check_folder, check_free, whole_file, whole_folder

NOT_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
NAMES = ("a.txt", "b.txt")


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o077, 0o002])
def mask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("make", [str, lambda path: path], ids=["text", "path"])
def test_a_file_is_there_when_the_block_ends(tmp_path, overwrite, make):
    with whole_file(make(tmp_path / "x.txt"), overwrite) as temporary:
        temporary.write_text("content")
        assert not (tmp_path / "x.txt").exists()
        assert temporary.parent == tmp_path
    assert (tmp_path / "x.txt").read_text() == "content"
    assert below(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_left_of_a_block_that_fails(tmp_path, error, overwrite):
    def write():
        with whole_file(tmp_path / "x.txt", overwrite) as temporary:
            temporary.write_text("half")
            raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        write()
    assert below(tmp_path) == []


def test_a_file_that_is_there_is_kept(tmp_path):
    (tmp_path / "x.txt").write_text("old")
    told = r"x\.txt is there already: choose another name, or ask to write over it"
    with pytest.raises(FileExistsError, match=told), whole_file(tmp_path / "x.txt"):
        pytest.fail("the block must not run")
    with pytest.raises(FileExistsError, match=told):
        check_free(tmp_path / "x.txt", False)
    assert (tmp_path / "x.txt").read_text() == "old"


def test_a_file_that_is_there_is_kept_if_the_block_fails(tmp_path):
    (tmp_path / "x.txt").write_text("old")

    def write():
        with whole_file(tmp_path / "x.txt", overwrite=True) as temporary:
            temporary.write_text("half")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write()
    assert (tmp_path / "x.txt").read_text() == "old"
    assert below(tmp_path) == ["x.txt"]


def test_a_file_is_written_over_on_purpose(tmp_path):
    (tmp_path / "x.txt").write_text("old")
    check_free(tmp_path / "x.txt", True)
    with whole_file(tmp_path / "x.txt", overwrite=True) as temporary:
        temporary.write_text("new")
        assert (tmp_path / "x.txt").read_text() == "old"
    assert (tmp_path / "x.txt").read_text() == "new"


def test_a_file_that_comes_up_meanwhile_is_kept(tmp_path):
    def write():
        with whole_file(tmp_path / "x.txt") as temporary:
            temporary.write_text("mine")
            (tmp_path / "x.txt").write_text("theirs")

    with pytest.raises(FileExistsError, match=r"x\.txt has come up meanwhile: choose another name"):
        write()
    assert (tmp_path / "x.txt").read_text() == "theirs"
    assert below(tmp_path) == ["x.txt"]


def test_a_link_to_nowhere_is_kept(tmp_path):
    (tmp_path / "x.txt").symlink_to(tmp_path / "nowhere")

    def write():
        with whole_file(tmp_path / "x.txt") as temporary:
            temporary.write_text("mine")

    with pytest.raises(FileExistsError, match=r"x\.txt (is there already|has come up meanwhile)"):
        write()
    assert below(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_is_no_file(tmp_path, overwrite):
    (tmp_path / "x").mkdir()
    with pytest.raises(IsADirectoryError, match="x is a folder: name a file"), whole_file(tmp_path / "x", overwrite):
        pytest.fail("the block must not run")


def test_a_file_needs_its_folder(tmp_path):
    told = "missing is no folder: make it first, or choose another"
    with pytest.raises(FileNotFoundError, match=told), whole_file(tmp_path / "missing" / "x.txt"):
        pytest.fail("the block must not run")
    assert below(tmp_path) == []


def test_a_file_cannot_lie_in_a_file(tmp_path):
    (tmp_path / "x").write_text("file")
    with pytest.raises(NotADirectoryError, match=r"cannot write into .*x: "), whole_file(tmp_path / "x" / "y"):
        pytest.fail("the block must not run")


def test_a_name_too_long_is_told_of(tmp_path):
    told = r"cannot write into .*: File name too long"
    with pytest.raises(OSError, match=told), whole_file(tmp_path / ("x" * 250)):
        pytest.fail("the block must not run")


def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    with whole_file(tmp_path / "x.txt") as temporary:
        temporary.write_text("content")
    (tmp_path / "usual.txt").write_text("content")
    assert mode(tmp_path / "x.txt") == mode(tmp_path / "usual.txt") == 0o666 & ~mask
    with whole_folder(tmp_path / "out", NAMES) as folder:
        (folder / "a.txt").write_text("a")
    (tmp_path / "usual").mkdir()
    assert mode(tmp_path / "out") == mode(tmp_path / "usual") == 0o777 & ~mask
    assert mode(tmp_path / "out" / "a.txt") == 0o666 & ~mask


@NOT_ROOT
def test_a_folder_that_cannot_be_written_is_told_of(tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError, match=r"cannot write into .*"), whole_file(tmp_path / "x.txt"):
            pytest.fail("the block must not run")
        with pytest.raises(PermissionError, match=r"cannot write into .*: choose another folder"):
            check_folder(tmp_path / "out", NAMES, False)
    finally:
        tmp_path.chmod(0o755)


def write_both(folder, text="new"):
    for name in NAMES:
        (folder / name).write_text(text)


@pytest.mark.parametrize("there", ["nothing", "parent", "empty"])
def test_a_folder_is_there_when_the_block_ends(tmp_path, there):
    final = tmp_path / "deep" / "out"
    if there == "parent":
        final.parent.mkdir()
    elif there == "empty":
        final.mkdir(parents=True)
    with whole_folder(final, NAMES) as folder:
        write_both(folder)
        assert not any((final / name).exists() for name in NAMES)
    assert below(tmp_path) == ["deep", "deep/out", "deep/out/a.txt", "deep/out/b.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("there", [False, True])
def test_no_folder_is_left_of_a_block_that_fails(tmp_path, error, there):
    final = tmp_path / "out"
    if there:
        final.mkdir()
        (final / "a.txt").write_text("old")

    def write():
        with whole_folder(final, NAMES, overwrite=there) as folder:
            write_both(folder)
            raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        write()
    assert below(tmp_path) == (["out", "out/a.txt"] if there else [])
    if there:
        assert (final / "a.txt").read_text() == "old"


def test_no_folders_above_are_left_of_a_block_that_fails(tmp_path):
    def write():
        with whole_folder(tmp_path / "deep" / "out", NAMES):
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write()
    assert below(tmp_path) == []


def test_a_folder_keeps_its_other_files(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "a.txt").write_text("old")
    with whole_folder(tmp_path, NAMES, overwrite=True) as folder:
        write_both(folder)
        assert (tmp_path / "a.txt").read_text() == "old"
    assert below(tmp_path) == ["a.txt", "b.txt", "mine.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_files_in_a_folder_are_kept(tmp_path):
    write_both(tmp_path, "old")
    told = r"holds a\.txt, b\.txt already: choose another folder, or write over with --force"
    with pytest.raises(FileExistsError, match=told), whole_folder(tmp_path, NAMES):
        pytest.fail("the block must not run")
    with pytest.raises(FileExistsError, match=told):
        check_folder(tmp_path, NAMES, False)
    assert (tmp_path / "a.txt").read_text() == "old"


def test_files_that_were_not_announced_are_kept(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")

    def write():
        with whole_folder(tmp_path, NAMES) as folder:
            (folder / "mine.txt").write_text("theirs")

    with pytest.raises((ValueError, OSError), match=r"mine\.txt"):
        write()
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_files_that_come_up_meanwhile_are_kept(tmp_path):
    def write():
        with whole_folder(tmp_path / "out", NAMES) as folder:
            write_both(folder)
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "a.txt").write_text("theirs")

    with pytest.raises(FileExistsError, match=r"a\.txt"):
        write()
    assert (tmp_path / "out" / "a.txt").read_text() == "theirs"


def test_a_folder_may_hold_folders(tmp_path):
    with whole_folder(tmp_path / "out", ("sub",)) as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "x.txt").write_text("x")
    assert below(tmp_path) == ["out", "out/sub", "out/sub/x.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_no_folder(tmp_path, overwrite):
    (tmp_path / "x").write_text("file")
    with (
        pytest.raises(NotADirectoryError, match="x is a file: name a folder"),
        whole_folder(tmp_path / "x", NAMES, overwrite),
    ):
        pytest.fail("the block must not run")
    assert (tmp_path / "x").read_text() == "file"


def test_a_folder_cannot_lie_in_a_file(tmp_path):
    (tmp_path / "x").write_text("file")
    told = "cannot write into .*x: choose another folder"
    with pytest.raises(PermissionError, match=told), whole_folder(tmp_path / "x" / "y" / "z", NAMES):
        pytest.fail("the block must not run")


@pytest.mark.parametrize("name", [".", "out/", "../here/out"])
def test_a_folder_may_be_named_from_where_one_is(tmp_path, monkeypatch, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with whole_folder(name, NAMES) as folder:
        write_both(folder)
    assert {one.split("/")[-1] for one in below(tmp_path)} - {"here", "out"} == set(NAMES)


KILLED = """
import os, signal, sys
from pathlib import Path
from consilience.files import whole_file, whole_folder
final = Path(sys.argv[2])
if sys.argv[1] == "file":
    with whole_file(final, overwrite=True) as temporary:
        temporary.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
with whole_folder(final, ("a.txt",), overwrite=True) as folder:
    (folder / "a.txt").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("there", [False, True])
def test_a_kill_in_the_middle_leaves_what_was_there(tmp_path, what, there):
    final = tmp_path / "out"
    held = final if what == "file" else final / "a.txt"
    if there:
        held.parent.mkdir(exist_ok=True)
        held.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, what, str(final)], timeout=120)
    assert done.returncode == -signal.SIGKILL
    if there:
        assert held.read_text() == "old"
    else:
        assert not final.exists()
    left = [path.name for path in tmp_path.iterdir() if path != final]
    assert all(name.startswith(".out.") and name.endswith(".partial") for name in left)


def test_files_that_were_placed_give_way_if_another_cannot_be(tmp_path):
    """In a folder that holds something else, and with one of the names taken meanwhile."""
    final = tmp_path / "out"
    final.mkdir()
    (final / "else").write_text("kept")

    def write():
        with whole_folder(final, ("a", "b")) as folder:
            (folder / "a").write_text("new")
            (folder / "b").write_text("new")
            (final / "b").write_text("came up")

    with pytest.raises(FileExistsError, match="has come up meanwhile"):
        write()
    assert {path.name: path.read_text() for path in final.iterdir()} == {"else": "kept", "b": "came up"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
