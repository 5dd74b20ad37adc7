"""Files and folders appear completely or not at all."""

import os
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from consilience.files import check_output_file, check_output_folder, stage_file, stage_folder

NOT_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
NAMES = ("a.txt", "b.txt")


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def write_both(folder, text="new"):
    for name in NAMES:
        (folder / name).write_text(text)


def fail(staged, write, error):
    """Write, and raise an error in the middle."""
    with staged as temporary:
        write(temporary)
        raise error("in the middle")


def read_all(folder):
    """Return the text of each file below a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o077, 0o002])
def mask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_file_appears_when_block_ends(tmp_path):
    for make, overwrite in ((str, False), (Path, True)):
        with stage_file(make(tmp_path / make.__name__), overwrite) as temporary:
            temporary.write_text("content")
            assert not (tmp_path / make.__name__).exists()
            assert temporary.is_relative_to(tmp_path)
        assert (tmp_path / make.__name__).read_text() == "content"
    assert below(tmp_path) == ["Path", "str"]


@pytest.mark.parametrize(("error", "exists"), [(RuntimeError, True), (KeyboardInterrupt, False), (SystemExit, True)])
def test_failed_block_leaves_files_as_they_were(tmp_path, error, exists):
    if exists:
        (tmp_path / "x.txt").write_text("old")

    with pytest.raises(error, match="in the middle"):
        fail(stage_file(tmp_path / "x.txt", overwrite=exists), lambda path: path.write_text("half"), error)
    assert read_all(tmp_path) == ({"x.txt": "old"} if exists else {})
    assert len(below(tmp_path)) == exists


def test_existing_file_is_overwritten_only_on_request(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    message = r"x\.txt already exists: choose another name, or pass overwrite=True"
    with pytest.raises(FileExistsError, match=message), stage_file(path):
        pytest.fail("the block must not run")
    with pytest.raises(FileExistsError, match=message):
        check_output_file(path, False)
    check_output_file(path, True)
    with stage_file(path, overwrite=True) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_file_created_meanwhile_and_broken_link_are_kept(tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "nowhere")

    def write(name):
        with stage_file(tmp_path / name) as temporary:
            temporary.write_text("mine")
            (tmp_path / "x.txt").write_text("theirs")

    with pytest.raises(FileExistsError, match=r"x\.txt was created by another process: choose another name"):
        write("x.txt")
    with pytest.raises(FileExistsError, match=r"link\.txt (already exists|was created by another process)"):
        write("link.txt")
    assert below(tmp_path) == ["link.txt", "x.txt"]
    assert (tmp_path / "x.txt").read_text() == "theirs"


FILE, FOLDER = stage_file, partial(stage_folder, names=NAMES)
PLACES = [
    (FILE, "folder", IsADirectoryError, "folder is a folder: name a file"),
    (FILE, "file/y", NotADirectoryError, r"cannot write into .*file: "),
    (FILE, "missing/x", FileNotFoundError, "missing does not exist: create the folder first, or choose another"),
    (FOLDER, "file", NotADirectoryError, "file is a file: name a folder"),
    (FOLDER, "file/y/z", PermissionError, "cannot write into .*file: choose another folder"),
    (FOLDER, "folder", IsADirectoryError, r"a\.txt is a folder, not a file of an older run: choose another"),
]


def test_unsuitable_places_are_refused(tmp_path):
    (tmp_path / "file").write_text("content")
    (tmp_path / "folder" / "a.txt").mkdir(parents=True)
    before = below(tmp_path)
    for stage, name, error, message in PLACES:
        with pytest.raises(error, match=message), stage(tmp_path / name, overwrite=True):
            pytest.fail("the block must not run")
        if "older run" not in message:
            with pytest.raises(error, match=message), stage(tmp_path / name):
                pytest.fail("the block must not run")
    assert below(tmp_path) == before
    assert (tmp_path / "file").read_text() == "content"


def test_names_that_are_too_long_are_refused(tmp_path):
    for name in ("x" * 256, "y/" * 2040 + "x", f"missing/{'x' * 256}"):
        for check in (check_output_file, partial(check_output_folder, names=NAMES)):
            with pytest.raises(OSError, match=r"has [\d,]+ characters, too many for a file name: shorten it"):
                check(tmp_path / name, overwrite=False)
    assert below(tmp_path) == []
    with stage_file(tmp_path / ("x" * 255)) as temporary:
        temporary.write_text("content")
    with stage_folder(tmp_path / ("y" * 255), NAMES) as folder:
        write_both(folder)
    assert below(tmp_path) == ["x" * 255, "y" * 255, *(f"{'y' * 255}/{name}" for name in NAMES)]


def test_links_to_folders_are_accepted_unless_they_are_broken(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for path in (tmp_path / "link", tmp_path / "link" / "out"):
        with pytest.raises(FileNotFoundError, match=r"is a link to .*target, which does not exist: make that folder"):
            check_output_folder(path, NAMES, True)
    (tmp_path / "target").mkdir()
    with stage_folder(tmp_path / "link", NAMES) as folder:
        write_both(folder)
    assert (tmp_path / "link").is_symlink()
    assert below(tmp_path / "target") == list(NAMES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_and_devices_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(ValueError, match="is a device or a pipe, which cannot be replaced by a file: name a file"):
            check_output_file(path, True)


def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    with stage_file(tmp_path / "x.txt") as temporary:
        temporary.write_text("content")
    (tmp_path / "usual.txt").write_text("content")
    assert mode(tmp_path / "x.txt") == mode(tmp_path / "usual.txt") == 0o666 & ~mask
    with stage_folder(tmp_path / "out", NAMES) as folder:
        (folder / "a.txt").write_text("a")
    (tmp_path / "usual").mkdir()
    assert mode(tmp_path / "out") == mode(tmp_path / "usual") == 0o777 & ~mask
    assert mode(tmp_path / "out" / "a.txt") == 0o666 & ~mask


@NOT_ROOT
def test_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError, match=r"cannot write into .*"), stage_file(tmp_path / "x.txt"):
            pytest.fail("the block must not run")
        with pytest.raises(PermissionError, match=r"cannot write into .*: choose another folder"):
            check_output_folder(tmp_path / "out", NAMES, False)
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("existing", [".", "deep", "deep/out"])
def test_folder_appears_when_block_ends(tmp_path, existing):
    final = tmp_path / "deep" / "out"
    (tmp_path / existing).mkdir(parents=True, exist_ok=True)
    with stage_folder(final, NAMES) as folder:
        write_both(folder)
        assert not any((final / name).exists() for name in NAMES)
    assert below(tmp_path) == ["deep", "deep/out", "deep/out/a.txt", "deep/out/b.txt"]


@pytest.mark.parametrize(("error", "existing"), [(RuntimeError, True), (KeyboardInterrupt, False)])
def test_failed_block_leaves_no_folder(tmp_path, error, existing):
    final = tmp_path / "deep" / "out"
    if existing:
        final.mkdir(parents=True)
        (final / "a.txt").write_text("old")

    with pytest.raises(error, match="in the middle"):
        fail(stage_folder(final, NAMES, overwrite=existing), write_both, error)
    assert below(tmp_path) == (["deep", "deep/out", "deep/out/a.txt"] if existing else [])
    assert read_all(tmp_path) == ({"deep/out/a.txt": "old"} if existing else {})


def test_folder_keeps_its_files_unless_they_may_be_overwritten(tmp_path):
    write_both(tmp_path, "old")
    (tmp_path / "mine.txt").write_text("old")
    message = r"holds a\.txt, b\.txt already: choose another folder, or write over with --force"
    with pytest.raises(FileExistsError, match=message), stage_folder(tmp_path, NAMES):
        pytest.fail("the block must not run")
    with pytest.raises(FileExistsError, match=message):
        check_output_folder(tmp_path, NAMES, False)
    with stage_folder(tmp_path, (*NAMES, "sub"), overwrite=True) as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "x.txt").write_text("new")
        (folder / "a.txt").write_text("new")
        assert (tmp_path / "a.txt").read_text() == "old"
    assert read_all(tmp_path) == {"a.txt": "new", "mine.txt": "old", "sub/x.txt": "new"}  # without the outdated b.txt

    with pytest.raises((ValueError, OSError), match=r"mine\.txt"), stage_folder(tmp_path, ("c.txt",)) as folder:
        (folder / "mine.txt").write_text("theirs")
    assert (tmp_path / "mine.txt").read_text() == "old"


def test_folder_may_be_relative(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in (".", "out/", "../here/other"):
        with stage_folder(name, NAMES) as folder:
            write_both(folder)
    assert set(read_all(tmp_path)) == {f"here/{place}{name}" for place in ("", "out/", "other/") for name in NAMES}


def test_placed_files_are_rolled_back_if_another_fails(tmp_path):
    """Rollback in a folder with other files, or in a new one, if a name is taken meanwhile."""

    def write(final):
        with stage_folder(final, NAMES) as folder:
            write_both(folder)
            final.mkdir(exist_ok=True)
            (final / "b.txt").write_text("came up")

    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "else").write_text("kept")
    for name in ("out", "new"):
        with pytest.raises(FileExistsError, match=r"b\.txt was created by another process"):
            write(tmp_path / name)
    assert read_all(tmp_path) == {"out/else": "kept", "out/b.txt": "came up", "new/b.txt": "came up"}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "new"}


def test_new_files_are_taken_back_if_an_outdated_one_cannot_be_removed(tmp_path, monkeypatch):
    write_both(tmp_path, "old")
    unlink = Path.unlink

    def fail(path, missing_ok=False):
        if path == tmp_path / "b.txt":
            raise PermissionError("not allowed")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", fail)
    with pytest.raises(PermissionError, match="not allowed"), stage_folder(tmp_path, NAMES, overwrite=True) as folder:
        (folder / "a.txt").write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(NAMES, "old")


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="this system has no limit on the size of files")
def test_file_that_grows_too_large_is_named(tmp_path):
    code = """
import resource, sys
from pathlib import Path
from consilience.files import stage_file, stage_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for stage, write in (
    (lambda path: stage_folder(path, ()), lambda new: [(new / str(n)).write_bytes(bytes(n)) for n in (9, 2000)]),
    (stage_file, lambda new: new.write_bytes(bytes(2000))),
):
    try:
        with stage(Path(sys.argv[1]) / "out") as new:
            write(new)
    except OSError as error:
        print(error.filename)
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(tmp_path / "out" / "2000"), str(tmp_path / "out")]
