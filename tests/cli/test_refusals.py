"""Whatever is wrong is told in one sentence, and nothing is left behind."""

import errno
import os
import pickle
import shutil
import subprocess

import numpy as np
import pytest

from consilience.pipeline.outputs import guard
from stage import FILES, IDS, assert_refused, list_folder, read_labels, run_command, run_successfully, write_csv


def cluster(*arguments, out):
    return run_command("cluster", *arguments, "-k", 3, "--out", out)


def frame(folder, name, header, rows, **options):
    return write_csv(folder / name, header, rows, **options)


NUMBERS = [(entity, i, 2 * i % 7, i % 5) for i, entity in enumerate(IDS)]


def missing_file(folder):
    return ["--view", f"x={folder / 'none.csv'}"], f"there is no file {folder / 'none.csv'}"


def folder_for_a_file(folder):
    return ["--view", f"x={folder}"], f"{folder} is a folder: name a file in it"


def unknown_ending(folder):
    (folder / "x.docx").write_bytes(b"PK\x03\x04")
    return ["--view", f"x={folder / 'x.docx'}"], "the file type is taken from the suffix, which must be one of .csv"


def empty_file(folder):
    (folder / "x.csv").touch()
    return ["--view", f"x={folder / 'x.csv'}"], "x.csv is empty"


def header_alone(folder):
    return ["--view", frame(folder, "x.csv", ["id", "p"], [])], "x.csv has a header, but no rows"


def wrong_delimiter(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", file, "--delimiter", ";", "--id", "id"], "x.csv: the header has no ';' (--delimiter): is"


def delimiter_of_two(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", file, "--delimiter", "::"], "--delimiter is one character, or tab, comma, semicolon or space"


def rows_of_unequal_length(folder):
    (folder / "x.csv").write_text("id,p,q\na,1,2\nb,1\n")
    return ["--view", folder / "x.csv"], "x.csv: line 3 has 2 cells, but the header has 3: is ',' the delimiter"


def column_twice(folder):
    return ["--view", frame(folder, "x.csv", ["id", "p", "p"], [("a", 1, 2)])], "x.csv has two columns called 'p'"


def id_twice(folder):
    rows = [*NUMBERS, ("e07", 1, 2, 3)]
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], rows)
    return ["--view", file], "x.csv has the id 'e07' more than once: aggregate or drop the repeated rows"


def empty_id(folder):
    file = frame(folder, "x.csv", ["id", "p"], [("a", 1), ("", 2)])
    return ["--view", file], "x.csv has no id in row 2: give the row an id, or drop it"


def nothing_in_common(folder):
    first = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    other = frame(folder, "y.csv", ["id", "p"], [(f"z{i}", i) for i in range(9)])
    return [
        "--view",
        first,
        "--view",
        other,
    ], "view 'x' ({0}/x.csv) shares no id with the other views: its first is 'e00'"


def lengths_without_ids(folder):
    np.save(folder / "x.npy", np.ones((5, 2)))
    np.save(folder / "y.npy", np.ones((6, 2)))
    views = ["--view", folder / "x.npy", "--view", folder / "y.npy"]
    return views, "view 'y' ({0}/y.npy) has 6 rows, view 'x' 5: without ids rows are matched by position"


def column_that_is_not_there(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", f"x={file}:p,nope"], "x.csv has no column 'nope'; it has 'id', 'p', 'q', 'r'"


def id_that_is_not_there(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", file, "--id", "nope"], "x.csv has no column 'nope' (--id)"


def binary_as_csv(folder):
    np.save(folder / "x.npy", np.ones(5))
    shutil.move(folder / "x.npy", folder / "x.csv")
    return ["--view", folder / "x.csv"], "x.csv is not text but a numpy array: let its name end in .npy"


def bytes_as_csv(folder):
    (folder / "x.csv").write_bytes(bytes(range(256)) * 40)
    return ["--view", folder / "x.csv"], "x.csv is not text but binary"


def latin_1(folder):
    (folder / "x.csv").write_bytes("id,p\na,é\n".encode("latin-1"))
    return ["--view", folder / "x.csv"], "x.csv is not UTF-8 near line"


def text_as_npy(folder):
    (folder / "x.npy").write_text("1,2\n3,4\n")
    return ["--view", folder / "x.npy"], "x.npy"


def pickle_as_npy(folder):
    (folder / "x.npy").write_bytes(pickle.dumps([1, 2]))
    return ["--view", folder / "x.npy"], "only numbers are read"


def objects_as_npy(folder):
    np.save(folder / "x.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    return ["--view", folder / "x.npy"], "x.npy holds Python objects"


def empty_view(folder):
    first = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    other = frame(folder, "y.csv", ["id", "p"], [(entity, "") for entity in IDS])
    return ["--view", first, "--view", other], "{0}/y.csv has no column that can be used: 'p' (empty)"


def view_of_ids_alone(folder):
    file = frame(folder, "x.csv", ["id"], [(entity,) for entity in IDS])
    return ["--view", file], "view 'x' ({0}/x.csv) has no columns left beside the id and the labels: name some"


def classes_of_another_length(folder):
    np.save(folder / "x.npy", np.ones((5, 2)))
    file = frame(folder, "y.csv", ["class"], [["p"], ["q"], ["p"]])
    return ["--view", folder / "x.npy", "--labels", file], "y.csv:class (--labels) has 3 labels for 5 entities"


def classes_of_others(folder):
    first = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    other = frame(folder, "y.csv", ["id", "class"], [("z", "p")])
    return ["--view", first, "--labels", other], "y.csv:class (--labels) has no label for any of the entities"


def classes_that_are_not_there(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", file, "--labels", "kind"], "no file has a column 'kind' (--labels)"


def classes_among_several(folder):
    first = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    other = frame(folder, "y.csv", ["id", "p", "q"], [("e00", 1, 2)])
    return ["--view", first, "--labels", other], "y.csv (--labels) has the columns 'p', 'q': name one of them"


def formula_among_numbers(folder):
    rows = [(entity, "=A1+1" if entity == "e07" else i, i % 3) for i, entity in enumerate(IDS)]
    file = frame(folder, "x.csv", ["id", "p", "q"], rows)
    return ["--view", f"x={file}"], "column 'p' holds numbers, but '=A1+1' in row 8 (1 in all). It is a formula: export"


def columns_of_different_kinds(folder):
    rows = [(entity, i, f"a long text about many things, number {i}, and more") for i, entity in enumerate(IDS)]
    file = frame(folder, "x.csv", ["id", "p", "q"], rows)
    return ["--view", f"x={file}:p,q"], "view 'x' mixes numbers ('p') and text ('q'): make them separate views"


def kind_of_no_view(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", file, "--kind", "z=counts"], "--kind names 'z'; the views are 'x'"


def negative_counts(folder):
    np.save(folder / "x.npy", np.array([[1, -2], [3, 4], [5, 6]]))
    return ["--view", folder / "x.npy", "--kind", "x=counts"], "view 'x' holds -2, which is not a count"


def similarities_that_are_no_square(folder):
    np.save(folder / "x.npy", np.ones((5, 3)))
    return [
        "--view",
        folder / "x.npy",
        "--kind",
        "x=similarities",
    ], "has 5 rows and 3 columns: similarities are a square"


def two_views_of_one_name(folder):
    file = frame(folder, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    return ["--view", f"x={file}:p", "--view", f"x={file}:q"], "two views are called 'x'"


def view_without_a_name(folder):
    return ["--view", "=x.csv"], "a view is named as NAME=FILE, got '=x.csv': the name is missing"


def view_without_a_file(folder):
    return ["--view", "x="], "a view is named as NAME=FILE, got 'x=': the file is missing"


def links_among_rows(folder):
    np.save(folder / "x.npy", np.ones((5, 2)))
    file = frame(folder, "y.csv", ["source", "target"], [("p", "q")])
    return ["--view", folder / "x.npy", "--view", file], "view 'y' links ids, but the other views have none: give --id"


def broken_cells(folder):
    (folder / "x.h5mu").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    return ["--view", folder / "x.h5mu"], "x.h5mu cannot be read as .h5mu"


def broken_gzip(folder):
    (folder / "x.csv.gz").write_bytes(b"id,p\na,1\n")
    return ["--view", folder / "x.csv.gz"], "x.csv.gz ends in .gz but is not compressed by gzip: rename it"


def more_clusters_than_entities(folder):
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(2, 2)))
    return ["--view", folder / "x.npy"], "-k 3 is more than the number of entities, 2: give a smaller one"


WRONG = [
    missing_file, folder_for_a_file, unknown_ending, empty_file, header_alone, wrong_delimiter, delimiter_of_two,
    rows_of_unequal_length, column_twice, id_twice, empty_id, nothing_in_common, lengths_without_ids,
    column_that_is_not_there, id_that_is_not_there, binary_as_csv, bytes_as_csv, latin_1, text_as_npy, pickle_as_npy,
    objects_as_npy, empty_view, view_of_ids_alone, classes_of_another_length, classes_of_others,
    classes_that_are_not_there, classes_among_several, formula_among_numbers, columns_of_different_kinds,
    kind_of_no_view, negative_counts, similarities_that_are_no_square, two_views_of_one_name,
    view_without_a_name, view_without_a_file, links_among_rows, broken_cells, broken_gzip,
    more_clusters_than_entities,
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_data_is_one_sentence_and_leaves_no_files(wrong, tmp_path):
    (tmp_path / "in").mkdir()
    arguments, words = wrong(tmp_path / "in")
    before = list_folder(tmp_path)
    ran = cluster(*arguments, out=tmp_path / "out")
    assert_refused(ran, words.format(tmp_path / "in"))
    assert list_folder(tmp_path) == before


def test_delimiter_that_does_not_occur_is_refused(tmp_path):
    file = frame(tmp_path, "x.csv", ["id", "p", "q", "r"], NUMBERS)
    assert_refused(cluster("--view", file, "--delimiter", ";", out=tmp_path / "out"), "--delimiter")


def test_endless_line_is_refused(tmp_path, tune):
    tune("files.formats.text", max_line_length=2000)
    for name in ("x.csv", "y.jsonl"):
        (tmp_path / name).write_text("id,p\n" if name == "x.csv" else "")
        with (tmp_path / name).open("a") as file:
            file.write("1" * 10_000)
        ran = cluster("--view", tmp_path / name, out=tmp_path / "out")
        assert_refused(ran, f"{name}: line {'2' if name == 'x.csv' else '1'} is longer than", "is this a text file")


# Where it is written.


def test_existing_results_are_kept(ab, tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    (tmp_path / "other.txt").write_text("mine, too")
    ran = cluster(*ab, out=tmp_path)
    assert_refused(ran, f"{tmp_path} holds labels.csv already: choose another folder, or write over with --force")
    assert (tmp_path / "labels.csv").read_text() == "mine"
    run_successfully("cluster", *ab, "-k", 3, "--out", tmp_path, "--force")
    assert len(read_labels(tmp_path)) > 0
    assert (tmp_path / "other.txt").read_text() == "mine, too"
    assert list_folder(tmp_path) == sorted([*FILES, "other.txt"])


def test_file_in_place_of_folder_is_refused(ab, tmp_path):
    (tmp_path / "out").write_text("mine")
    assert_refused(cluster(*ab, out=tmp_path / "out"), f"{tmp_path / 'out'} is a file: name a folder")
    assert_refused(cluster(*ab, out=tmp_path / "out" / "deeper"), f"cannot write into {tmp_path / 'out'}")


def test_parent_folders_are_created(ab, tmp_path):
    run_successfully("cluster", *ab, "-k", 3, "--out", tmp_path / "p" / "q")
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


@pytest.mark.parametrize("command", COMMANDS)
def test_empty_out_is_refused_before_any_file_is_read(command, bad_out):
    ran = bad_out(command, "")
    assert ran.code == 2
    assert ran.error_line.endswith("consilience: argument --out: the path is empty: name a file or a folder")


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 2100 + "x"])
@pytest.mark.parametrize("command", COMMANDS)
def test_too_long_out_is_refused_before_any_file_is_read(command, name, bad_out):
    assert_refused(bad_out(command, name), f"has {len(name):,} characters, too many for a file name: shorten it")


@pytest.mark.parametrize("command", COMMANDS)
def test_dangling_link_as_out_is_refused_before_any_file_is_read(command, bad_out, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    writes_file = command in ("compare", "predict", "report")
    expected = "link already exists" if writes_file else "link is a link to nowhere, which does not exist"
    assert_refused(bad_out(command, "link"), expected)


@pytest.mark.parametrize("command", ["compare", "predict", "report"])
def test_missing_folder_of_out_is_refused_before_any_file_is_read(command, bad_out):
    assert_refused(bad_out(command, "missing/x"), "missing does not exist: create the folder first, or choose another")


def no_access(path, mode, **_):
    return not mode & os.W_OK


def test_unwritable_folder_is_refused_before_any_work(ab, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", no_access)
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


@pytest.mark.parametrize("size", ["4k", "16k", "64k", "100k"])
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


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5, 6])
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


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_files_are_moved_together_or_not_at_all(force, ab, tmp_path, monkeypatch):
    """In a folder that is there already, empty or with older results, stopped between two files."""
    out = tmp_path / "out"
    out.mkdir()
    if force:
        run_successfully("cluster", *ab, "-k", 3, "--out", out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    placed = []

    def stopping(real):
        def place(source, target, **options):
            if os.path.dirname(target) == os.fspath(out):
                placed.append(target)
                if len(placed) == 2:
                    raise KeyboardInterrupt
            return real(source, target, **options)

        return place

    for name in ("link", "rename", "replace"):
        monkeypatch.setattr(os, name, stopping(getattr(os, name)))
    ran = run_command("cluster", *ab, "-k", 4, "--out", out, *force)
    now = {path.name: path.read_bytes() for path in out.iterdir()}
    if ran.code == 0:
        assert len(read_labels(out)) > 0
    else:
        assert ran.error_line.endswith("nothing was written")
        assert now == before


# What might run, or be taken for markup.

SCRIPT = "<script>alert(1)</script>"


def test_ids_that_are_markup_or_formulas_are_harmless(tmp_path):
    ids = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2", SCRIPT, *IDS[5:]]
    words = [
        f"{text} {SCRIPT} <img src=x onerror=alert(2)>" for text in ("cat dog mouse", "sun moon star", "red green")
    ]
    first = frame(tmp_path, "text.csv", ["id", "story"], [(entity, words[i % 3]) for i, entity in enumerate(ids)])
    other = frame(tmp_path, "x.csv", ["id", SCRIPT, "q"], [(entity, i % 3, i % 3 * 2) for i, entity in enumerate(ids)])
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


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_formulas_get_an_apostrophe(start):
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
        (["nothing"], "there is no command 'nothing': choose from cluster, open, predict"),
        (["cluster"], "name the files, as in `consilience cluster products.csv`, or the views (--view NAME=FILE)"),
        (["cluster", "x.csv", "--kind", "x=pictures"], "argument --kind: there is no kind 'pictures': choose from"),
        (["cluster", "x.csv", "--kind", "counts"], "argument --kind: 'counts' does not have the form NAME=KIND"),
        (
            ["cluster", "--view", "x.csv", "-k", "0"],
            "'0' must be a number of clusters, auto or small-groups",
        ),
        (
            ["cluster", "--view", "x.csv", "-k", "-3"],
            "'-3' must be a number of clusters, auto or small-groups",
        ),
        (
            ["cluster", "--view", "x.csv", "-k", "many"],
            "'many' must be a number of clusters, auto or small-groups",
        ),
        (
            ["cluster", "--view", "x.csv", "-k", "2.5"],
            "'2.5' must be a number of clusters, auto or small-groups",
        ),
        (["cluster", "--view", "x.csv", "--method", "magic"], "there is no method 'magic': choose from auto,"),
        (["cluster", "--view", "x.csv", "--seed", "x"], "argument --seed: 'x' is not an integer of 0 or more"),
        (["predict", "--view", "x.csv"], "the following arguments are required: MODEL"),
        (["report"], "the following arguments are required: FOLDER"),
        pytest.param(
            ["cluster", "--view", "x.csv", "-k", "²"], "'²' must be a number of clusters, auto or small-groups"
        ),
        pytest.param(
            ["cluster", "--view", "x.csv", "--seed", "-1"], "--seed"
        ),
        pytest.param(
            ["compare", "--view", "x.csv", "--refits", "-1"], "--refits"
        ),
    ],
)  # fmt: skip
def test_wrong_arguments_exit_with_2(arguments, words):
    ran = run_command(*arguments)
    assert ran.code == 2
    assert words in ran.err.splitlines()[-1]
    assert ran.out == ""


def test_more_clusters_than_entities_are_refused(ab, tmp_path):
    assert_refused(
        run_command("cluster", *ab, "-k", 500, "--out", tmp_path / "out"),
        "-k 500 is more than the number of entities",
        "give a smaller one",
    )


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


def test_missing_constraints_are_refused_before_the_views_are_prepared(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(30, 2)))
    arguments = "--view", tmp_path / "x.npy", "-k", 2, "--constraints", tmp_path / "none.csv"
    ran = run_command("cluster", *arguments, "--out", tmp_path / "out")
    assert_refused(ran, f"there is no file {tmp_path / 'none.csv'}")
    assert "prepared the views" not in ran.err


def test_table_of_empty_columns_is_refused(tmp_path):
    (tmp_path / "empty.csv").write_text("id,a,b\n" + "".join(f"{i},,\n" for i in range(20)))
    ran = run_command("cluster", tmp_path / "empty.csv", "--out", tmp_path / "out")
    assert_refused(ran, "has no column that can be used: 'a', 'b' (empty). Give another table")
