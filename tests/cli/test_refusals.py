"""Whatever is wrong is told in one sentence, and nothing is left behind."""

import errno
import io
import os
import pickle
import subprocess

import numpy as np
import pytest

from consilience.pipeline.outputs import guard
from stage import FAST, FILES, IDS, assert_refused, list_folder, read_labels, run_command, run_successfully, write_csv


def cluster(*arguments, out):
    return run_command("cluster", *FAST, *arguments, "--out", out)


NUMBERS = "id,p,q\n" + "".join(f"{entity},{i},{2 * i % 7}\n" for i, entity in enumerate(IDS))
ONES = np.ones((5, 2))


def to_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


# Files with their contents, arguments, and the words that refuse them.
WRONG = [
    ({}, "--view x=none.csv", "there is no file none.csv"),
    ({"x.csv": NUMBERS}, "--view x.csv --delimiter ; --id id", "x.csv: the header has no ';' (--delimiter): is"),
    ({"x.csv": NUMBERS}, "--view x.csv --delimiter ::", "--delimiter is one character, or tab, comma, semicolon or"),
    ({"x.csv": "id,p,q\na,1,2\nb,1\n"}, "--view x.csv", "line 3 has 2 cells, but the header has 3: is ',' the delim"),
    ({"x.csv": to_npy(ONES)}, "--view x.csv", "x.csv is not text but a numpy array: let its name end in .npy"),
    ({"x.npy": pickle.dumps([1, 2])}, "--view x.npy", "only numbers are read"),
    ({"x.npy": np.eye(2)}, "--view x.npy", "-k 3 is more than the number of entities, 2: give a smaller one"),
    ({"x.npy": ONES}, "--view x.npy --method constrained --constraints none.csv", "there is no file none.csv"),
]


@pytest.mark.parametrize(("files", "arguments", "words"), WRONG, ids=[words[:40] for *_, words in WRONG])
def test_bad_data_is_one_sentence_and_leaves_no_files(files, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        content = to_npy(content) if isinstance(content, np.ndarray) else content
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = list_folder(tmp_path)
    ran = cluster(*arguments.split(), out=tmp_path / "out")
    assert_refused(ran, words)
    assert "prepared the views" not in ran.err or "none.csv" not in words
    assert list_folder(tmp_path) == before


# Where it is written.


def test_existing_results_are_kept(ab, tmp_path):
    (tmp_path / "groups.xlsx").write_text("mine")
    (tmp_path / "other.txt").write_text("mine, too")
    ran = cluster(*ab, out=tmp_path)
    assert_refused(ran, f"{tmp_path} holds groups.xlsx already: choose another folder, or write over with --force")
    assert (tmp_path / "groups.xlsx").read_text() == "mine"
    run_successfully("cluster", *ab, *FAST, "--out", tmp_path, "--force")
    assert len(read_labels(tmp_path)) > 0
    assert (tmp_path / "other.txt").read_text() == "mine, too"
    assert list_folder(tmp_path) == sorted([*FILES, "other.txt"])


def test_file_in_place_of_folder_is_refused(ab, tmp_path):
    (tmp_path / "out").write_text("mine")
    assert_refused(cluster(*ab, out=tmp_path / "out"), f"{tmp_path / 'out'} is a file: name a folder")
    assert_refused(cluster(*ab, out=tmp_path / "out" / "deeper"), f"cannot write into {tmp_path / 'out'}")


def test_parent_folders_are_created(ab, tmp_path):
    assert cluster(*ab, out=tmp_path / "p" / "q").code == 0
    assert list_folder(tmp_path / "p" / "q") == sorted(FILES)


COMMANDS = {
    "cluster": ["--view", "none.csv"],
    "compare": ["--view", "none.csv"],
    "predict": ["none.zip", "--view", "none.csv"],
    "report": ["none"],
    "datasets": ["word-senses"],
}


@pytest.fixture
def bad_out(tmp_path, monkeypatch):
    """Return a function that calls a command with a bad --out in a folder without input files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("consilience.cli.datasets.read_word_senses", None)

    def call(command, out):
        before = list_folder(tmp_path)
        ran = run_command(command, *COMMANDS[command], "--out", out)
        assert list_folder(tmp_path) == before
        return ran

    return call


def test_empty_out_is_refused_before_any_file_is_read(bad_out):
    for command in COMMANDS:
        ran = bad_out(command, "")
        assert ran.code == 2
        assert ran.error_line.endswith("consilience: argument --out: the path is empty: name a file or a folder")


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 2100 + "x"], ids=["name", "path"])
def test_too_long_out_is_refused_before_any_file_is_read(name, bad_out):
    for command in COMMANDS:
        words = f"has {len(name):,} characters, too many for a file name: shorten it"
        assert_refused(bad_out(command, name), words)


def test_dangling_link_as_out_is_refused_before_any_file_is_read(bad_out, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    for command in COMMANDS:
        writes_file = command in ("compare", "predict", "report")
        expected = "link already exists" if writes_file else "link is a link to nowhere, which does not exist"
        assert_refused(bad_out(command, "link"), expected)


def test_missing_folder_of_out_is_refused_before_any_file_is_read(bad_out):
    for command in ("compare", "predict", "report"):
        words = "missing does not exist: create the folder first, or choose another"
        assert_refused(bad_out(command, "missing/x"), words)


def test_unwritable_folder_is_refused_before_any_work(ab, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode, **_: not mode & os.W_OK)
    monkeypatch.setattr("consilience.pipeline.steps.load_data", None)
    ran = cluster(*ab, out=tmp_path / "out")
    assert_refused(ran, f"cannot write into {tmp_path}: choose another folder, or change its permissions")


@pytest.fixture
def mounted(tmp_path):
    """A function that mounts a small disk in the memory, where one may."""
    places = []

    def mount(options):
        place = tmp_path / "disk"
        place.mkdir()
        try:
            ran = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True)
        except FileNotFoundError:
            pytest.skip("there is no mount")
        if ran.returncode:
            pytest.skip("may not mount")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", place], check=True)


def test_read_only_disk_is_refused(mounted, ab):
    disk = mounted("ro,size=1m")
    assert_refused(cluster(*ab, out=disk / "out"), f"cannot write into {disk}: choose another folder")


@pytest.mark.parametrize("size", ["4k", "100k"])
def test_full_disk_is_reported(size, mounted, ab):
    disk = mounted(f"size={size}")
    assert_refused(cluster(*ab, out=disk / "out"), "the disk is full: nothing was written")
    assert list_folder(disk) == []


def test_full_disk_is_reported_by_predict(mounted, ab, clustered):
    disk = mounted("size=4k,nr_inodes=8")
    with (disk / "filler").open("wb") as file:
        file.write(bytes(4096))
    ran = run_command("predict", clustered("k-means"), *ab, "--out", disk / "labels.csv")
    assert_refused(ran, "the disk is full: nothing was written")
    assert list_folder(disk) == ["filler"]


@pytest.mark.parametrize("at", [1, 3, 6])
def test_disk_that_fills_up_leaves_no_files(at, ab, tmp_path, monkeypatch):
    """Every file is brought to the disk before its name is given to it."""
    left, real = [at], os.fsync

    def full(number):
        left[0] -= 1
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(number)

    monkeypatch.setattr(os, "fsync", full)
    assert_refused(cluster(*ab, out=tmp_path / "out"), "the disk is full: nothing was written")
    assert list_folder(tmp_path) == []


# What might run, or be taken for markup.

SCRIPT = "<script>alert(1)</script>"


def test_ids_that_are_markup_or_formulas_are_harmless(tmp_path):
    ids = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2", SCRIPT, *IDS[5:]]
    words = [
        f"{text} {SCRIPT} <img src=x onerror=alert(2)>" for text in ("cat dog mouse", "sun moon star", "red green")
    ]
    rows = [(entity, words[i % 3]) for i, entity in enumerate(ids)]
    first = write_csv(tmp_path / "text.csv", ["id", "story"], rows)
    rows = [(entity, i % 3, i % 3 * 2) for i, entity in enumerate(ids)]
    other = write_csv(tmp_path / "x.csv", ["id", SCRIPT, "q"], rows)
    views = "--view", f"{SCRIPT.replace('/', '')}={first}:story", "--view", f"x={other}"
    kind = "--kind", f"{SCRIPT.replace('/', '')}=text"
    ran = run_successfully("cluster", *views, *kind, "-k", 3, "--title", SCRIPT, "--out", tmp_path / "out")
    assert [row["id"] for row in read_labels(tmp_path / "out")][:5] == [
        "'=cmd|' /C calc'!A0", "'@SUM(1)", "'+1+1", "-2", SCRIPT,
    ]  # fmt: skip
    assert "note: 3 ids start like a formula: labels.csv has them with a ' in front" in ran.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("</script>") == page.count("<script")


def test_formulas_get_an_apostrophe():
    for start in ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"):
        assert guard(f"{start}SUM(1)") == f"'{start}SUM(1)"
        assert guard(f"a{start}SUM(1)") == f"a{start}SUM(1)"


@pytest.mark.parametrize("command", ["cluster", "compare"])
def test_view_name_that_is_not_utf8_is_refused_before_any_file_is_read(command, tmp_path):
    ran = run_command(command, "--view", "caf\udce9=none.csv", "--out", tmp_path / "out")
    assert_refused(ran, "the name of the view 'caf\\udce9' is not valid UTF-8: choose another name")


# Exit codes.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster", "x.csv", "--kind", "x=pictures"], "argument --kind: there is no kind 'pictures': choose from"),
        (["cluster", "--view", "x.csv", "-k", "0"], "'0' must be a number of clusters, auto or small-groups"),
        (["cluster", "--view", "x.csv", "-k", "many"], "'many' must be a number of clusters, auto or small-groups"),
        (["cluster", "--view", "x.csv", "-k", "2.5"], "'2.5' must be a number of clusters, auto or small-groups"),
        (["cluster", "--view", "x.csv", "-k", "\u00b2"], "'\u00b2' must be a number of clusters, auto or small-groups"),
        (["cluster", "--view", "x.csv", "--method", "magic"], "there is no method 'magic': choose from auto,"),
        (["cluster", "--view", "x.csv", "--seed", "x"], "argument --seed: 'x' is not an integer of 0 or more"),
        (["cluster", "--view", "x.csv", "--seed", "-1"], "--seed"),
        (["compare", "--view", "x.csv", "--refits", "-1"], "--refits"),
        (["predict", "--view", "x.csv"], "the following arguments are required: MODEL"),
        (["report"], "the following arguments are required: FOLDER"),
    ],
)
def test_wrong_arguments_exit_with_2(arguments, words):
    ran = run_command(*arguments)
    assert ran.code == 2
    assert words in ran.err.splitlines()[-1]
    assert ran.out == ""


def break_down(*_, **__):
    raise ZeroDivisionError("oops")


def test_unexpected_error_exits_with_3(ab, tmp_path, monkeypatch):
    monkeypatch.setattr("consilience.pipeline.steps.fit_model", break_down)
    ran = cluster(*ab, out=tmp_path / "out")
    assert_refused(ran, "unexpected ZeroDivisionError: oops. Run it again with --debug to see where", code=3)
    assert list_folder(tmp_path) == []


def test_debug_shows_the_traceback(ab, tmp_path, monkeypatch):
    monkeypatch.setattr("consilience.pipeline.steps.fit_model", break_down)
    ran = cluster(*ab, "--debug", out=tmp_path / "out")
    assert ran.code == 3
    assert "Traceback (most recent call last)" in ran.err
    assert "in break_down" in ran.err
    ran = cluster("--view", tmp_path / "none.csv", "--debug", out=tmp_path / "out")
    assert ran.code == 1
    assert "in locate" in ran.err


def test_memory_error_is_one_sentence(ab, tmp_path, monkeypatch):
    def too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr("consilience.pipeline.steps.fit_model", too_much)
    assert_refused(cluster(*ab, out=tmp_path / "out"), "memory ran out: use fewer entities, or another --method")
