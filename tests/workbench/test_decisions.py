"""The log of decisions: what counts, and what stays on the disk."""

import errno
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consilience.workbench import decisions
from consilience.workbench.decisions import FILE_NAME, LOCK_NAME, DecisionLog, ReadOnlyError, compute_check, find_active
from waiting import HANG_LIMIT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")

RUN = "0123abcd"
MERGE = {"action": "merge", "groups": [0, 1]}
UNDO, REVERT = {"action": "undo", "of": 1}, {"action": "revert", "decisions": [1]}
SOURCE = Path(decisions.__file__).parents[2]

WRITER = """
import sys
from itertools import repeat
from pathlib import Path
from consilience.workbench.decisions import DecisionLog

log = DecisionLog.open(Path(sys.argv[1]), sys.argv[2])
print("open" if log.read_only is None else "read-only", flush=True)
for name in sys.stdin if len(sys.argv) == 3 else repeat("n" * 200_000):
    print(log.append({"action": "rename", "name": name})["number"], flush=True)
"""


@pytest.fixture
def open_log(tmp_path):
    """Return a function that opens the log of the folder; close all logs at the end."""
    logs = []

    def open_in_folder(run_key=RUN):
        logs.append(DecisionLog.open(tmp_path, run_key))
        return logs[-1]

    yield open_in_folder
    for log in logs:
        log.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / FILE_NAME


@pytest.fixture
def start_writer(tmp_path):
    """Return a function that starts a process which appends an entry per line of its input, or without end."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), RUN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )
        processes.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.wait(timeout=HANG_LIMIT)
        process.stdin.close()
        process.stdout.close()


def write_log(log, n_entries):
    """Append entries, close the log, and return the lines of the file."""
    for number in range(1, n_entries + 1):
        log.append({"action": "rename", "name": f"name {number}"})
    log.close()
    return log.path.read_bytes().splitlines(keepends=True)


def list_numbers(entries):
    return [entry["number"] for entry in entries]


def replace_line(path, line_number, line):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line_number - 1] = line
    path.write_bytes(b"".join(lines))


def encode(entry):
    """Return a line with the right checksum."""
    return json.dumps({**entry, "check": compute_check(entry)}).encode() + b"\n"


# what is written


def test_file_has_a_header_and_numbered_entries(open_log, path):
    log = open_log()
    assert log.entries == []
    assert not path.exists()
    entry = {"action": "rename", "number": 99, "time": "never", "check": "x"}  # fields that are reserved
    appended = [log.append({**entry, "name": name}) for name in "abc"]
    assert list_numbers(appended) == [1, 2, 3]
    assert [entry["name"] for entry in appended] == ["a", "b", "c"]
    assert all(entry["check"] == compute_check(entry) for entry in appended)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["time"]) for entry in appended)
    log.close()
    assert open_log().entries == log.entries == appended
    lines = path.read_bytes().splitlines()
    assert len(lines) == 4
    assert json.loads(lines[0]) == {"what": "consilience decisions", "version": 1, "run": RUN}


def test_checksum_does_not_depend_on_order_of_fields():
    first, second = {"action": "merge", "groups": [0, 1]}, {"groups": [0, 1], "action": "merge"}
    assert compute_check(first) == compute_check(second) == compute_check({**first, "check": "old"})
    assert compute_check(first) != compute_check({**first, "groups": [1, 0]})


def test_values_are_read_as_they_were_returned(open_log):
    log = open_log()
    for values in (
        {"name": "naïve – 日本 🦆 \u2028 \x00 \ud800"},
        {"name": "n" * 100_000},
        {"items": ['"', "\\", "\n", ""]},
        {"numbers": [0.1, -0.0, 1e300, 2**70, True, None]},
        {"names": {2: "b", 10: "a"}},  # sorted differently as numbers and as the texts that JSON makes of them
        {"items": ("a", "b")},
    ):
        log.append({"action": "rename", **values})
    log.close()
    assert open_log().entries == log.entries


def test_entry_that_json_lacks_or_that_names_no_earlier_entry_is_refused(open_log, path):
    log = open_log()
    log.append(MERGE)
    content = path.read_bytes()
    for value, error, message in [
        ({1, 2}, TypeError, "set is not JSON serializable"),
        (b"bytes", TypeError, "bytes is not JSON serializable"),
        (float("nan"), ValueError, "Out of range float values are not JSON compliant"),
        (float("inf"), ValueError, "Out of range float values are not JSON compliant"),
    ]:
        with pytest.raises(error, match=message):
            log.append({"action": "rename", "name": value})
    for entry, message in [
        ({}, "an entry needs the name of an action, got None"),
        ({"action": ""}, "an entry needs the name of an action, got ''"),
        ({"action": 3}, "an entry needs the name of an action, got 3"),
        ({"action": "undo"}, "'undo' must name earlier entries, from 1 to 1, got None"),
        ({"action": "undo", "of": 2}, "'undo' must name earlier entries, from 1 to 1, got 2"),
        ({"action": "undo", "of": 0}, "'undo' must name earlier entries, from 1 to 1, got 0"),
        ({"action": "undo", "of": True}, "'undo' must name earlier entries, from 1 to 1, got True"),
        ({"action": "undo", "of": 1.0}, "'undo' must name earlier entries, from 1 to 1, got 1.0"),
        ({"action": "merge", "replaces": [5]}, "'merge' must name earlier entries, from 1 to 1, got 5"),
        ({"action": "merge", "replaces": 1}, "replaces of 'merge' must be a list of numbers, got 1"),
        ({"action": "revert"}, r"decisions of 'revert' must be a list of numbers, got \[\]"),
        ({"action": "revert", "decisions": ["1"]}, "'revert' must name earlier entries, from 1 to 1, got '1'"),
    ]:
        with pytest.raises(ValueError, match=message):
            log.append(entry)
    assert path.read_bytes() == content
    assert log.append(MERGE)["number"] == 2


def test_oversize_entry_is_refused_and_oversize_line_is_damage(open_log, tune, path):
    tune("workbench.decisions", max_line_bytes=300)
    log = open_log()
    with pytest.raises(ValueError, match=r"the decision takes 3[0-9][0-9] bytes, and at most 300 are allowed"):
        log.append({"action": "rename", "name": "n" * 300})
    assert not path.exists()
    write_log(log, 2)
    for end in (b"\n", b""):
        replace_line(path, 3, b'"' + b"x" * 400 + end)
        with pytest.raises(ValueError, match=r"line 3 of .* is damaged \(it has more than 300 bytes\)"):
            open_log()


def test_entry_is_synchronized_before_it_is_returned(open_log, monkeypatch, path):
    log, synchronized, fsync = open_log(), [], os.fsync

    def record(descriptor):
        synchronized.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    log.append(MERGE)
    assert synchronized == [path.stat().st_ino, path.parent.stat().st_ino]
    log.append(MERGE)
    assert synchronized[2:] == [path.stat().st_ino]


def test_folder_that_cannot_be_synchronized_is_accepted(open_log, monkeypatch):
    log, fsync = open_log(), os.fsync

    def refuse_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    assert log.append(MERGE)["number"] == 1


def test_entries_of_threads_get_consecutive_numbers(open_log):
    log = open_log()
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(log.append, [{"action": "rename", "name": str(i)} for i in range(12)]))
    log.close()
    assert list_numbers(log.entries) == list(range(1, 13))
    assert open_log().entries == log.entries


# which decisions count


def find_active_slowly(entries):
    """Follow the definition of `find_active` literally."""

    def is_cancelled(number, after=0):
        undos = [undo for undo in entries if undo["action"] == "undo" and undo["of"] == number]
        return any(undo["number"] > after and not is_cancelled(undo["number"]) for undo in undos)

    active = []
    for entry in entries:
        number, action = entry["number"], entry["action"]
        if is_cancelled(number) or action in ("undo", "keep"):
            continue
        if action == "revert":
            active = []
            for other in entry["decisions"]:
                is_decision = entries[other - 1]["action"] not in ("undo", "keep", "revert")
                if is_decision and other not in active and not is_cancelled(other, after=number):
                    active.append(other)
        else:
            active = [other for other in active if other not in entry.get("replaces", [])] + [number]
    return active


@st.composite
def draw_entries(draw):
    entries = []
    for number in range(1, draw(st.integers(0, 14)) + 1):
        earlier = st.integers(1, max(number - 1, 1))
        actions = ["merge", "keep"] if number == 1 else ["merge", "merge", "undo", "undo", "undo", "revert", "keep"]
        entry = {"number": number, "action": draw(st.sampled_from(actions))}
        if entry["action"] == "undo":
            entry["of"] = draw(earlier)
        elif entry["action"] == "revert":
            entry["decisions"] = draw(st.lists(earlier, max_size=4))
        elif entry["action"] == "merge" and number > 1 and draw(st.booleans()):
            entry["replaces"] = draw(st.lists(earlier, max_size=2))
        entries.append(entry)
    return entries


@example([{**entry, "number": number} for number, entry in enumerate((MERGE, UNDO, REVERT, UNDO), 1)])
@given(draw_entries())
def test_active_decisions_follow_from_definition(entries):
    active = find_active(entries)
    assert list_numbers(active) == find_active_slowly(entries)
    assert active == [entries[entry["number"] - 1] for entry in active]


@given(draw_entries().filter(bool))
def test_undo_of_last_entry_and_its_redo_restore_active_decisions(entries):
    n_entries = len(entries)
    undo = {"number": n_entries + 1, "action": "undo", "of": n_entries}
    redo = {"number": n_entries + 2, "action": "undo", "of": n_entries + 1}
    assert find_active([*entries, undo]) == find_active(entries[:-1])
    assert find_active([*entries, undo, redo]) == find_active(entries)


@given(draw_entries(), st.data())
def test_revert_returns_to_decisions_of_any_earlier_moment(entries, data):
    earlier = find_active(entries[: data.draw(st.integers(0, len(entries)))])
    revert = {"number": len(entries) + 1, "action": "revert", "decisions": list_numbers(earlier)}
    assert find_active([*entries, revert]) == earlier


def test_listed_and_appended_entries_are_copies(open_log):
    log = open_log()
    log.append(MERGE)["action"] = "changed"
    log.list_active()[0]["action"] = "changed"
    assert [entry["action"] for entry in (*log.entries, *log.list_active())] == ["merge", "merge"]


# files that were interrupted or damaged


def test_file_cut_anywhere_in_last_entry_keeps_earlier_entries(open_log, path):
    lines = write_log(open_log(), 3)
    content, start = b"".join(lines), len(b"".join(lines[:-1]))
    for end in range(start, len(content)):
        path.write_bytes(content[:end])
        log = open_log()
        n_kept = 3 if end == len(content) - 1 else 2  # an entry that lacks only the newline is complete
        assert list_numbers(log.entries) == list(range(1, n_kept + 1))
        assert path.read_bytes() in (content[:end], b"".join(lines[: n_kept + 1]))
        assert log.append(MERGE)["number"] == n_kept + 1
        log.close()
        reopened = open_log()
        assert reopened.entries == log.entries
        reopened.close()
        assert path.read_bytes().startswith(b"".join(lines[: n_kept + 1]))


def test_file_cut_anywhere_in_header_is_empty_log(open_log, path):
    header = write_log(open_log(), 1)[0]
    for end in range(len(header) + 1):
        path.write_bytes(header[:end])
        log = open_log()
        assert log.entries == []
        log.append(MERGE)
        log.close()
        assert path.read_bytes().startswith(header)
        reopened = open_log()
        assert list_numbers(reopened.entries) == [1]
        reopened.close()


def test_damaged_line_in_middle_is_named_with_remedy(open_log, path):
    write_log(open_log(), 3)
    for line, reason in [
        (b"\n", "it is not JSON"),
        (b"{\n", "it is not JSON"),
        (b"[1]\n", "it is not a JSON object"),
        (b"\xff\xfe\n", "it is not UTF-8 text"),
        (b"[" * 200_000 + b"\n", "its lists are nested too deeply"),
        (b'{"action":"merge"}\n', "its checksum is wrong"),
        (b'{"action":"merge","x":NaN}\n', "not JSON compliant"),
        (encode({"action": "merge", "number": 7}), "it should have the number 2, got 7"),
        (encode({"action": "merge"}), "it should have the number 2, got None"),
        (encode({"number": 2}), "an entry needs the name of an action"),
        (encode({"action": "undo", "of": 2, "number": 2}), "'undo' must name earlier entries, from 1 to 1, got 2"),
        (encode({"action": "merge", "replaces": {"a": 1}, "number": 2}), "must be a list of numbers"),
    ]:
        replace_line(path, 3, line)
        content = path.read_bytes()
        damage = rf"(?s)line 3 of .*decisions\.jsonl is damaged \(.*{reason}.*\)"
        with pytest.raises(ValueError, match=rf"{damage}: restore a copy .* or delete this line and"):
            open_log()
        assert path.read_bytes() == content


def test_every_changed_byte_of_entry_is_noticed(open_log, path):
    lines = write_log(open_log(), 3)
    for position in range(len(lines[2]) - 1):
        changed = bytearray(lines[2])
        changed[position] ^= 1
        path.write_bytes(b"".join([*lines[:2], bytes(changed), lines[3]]))
        with pytest.raises(ValueError, match=r"line 3 of .* is damaged"):
            open_log()


def test_file_that_an_editor_saved_can_be_read_and_appended_to(open_log, path):
    content = b"".join(write_log(open_log(), 3)[:3])
    for saved in (content.rstrip(b"\n"), content.replace(b"\n", b"\r\n")):  # as an editor of Windows does
        path.write_bytes(saved)
        log = open_log()
        assert list_numbers(log.entries) == [1, 2]
        assert log.append(MERGE)["number"] == 3
        log.close()
        reopened = open_log()
        assert list_numbers(reopened.entries) == [1, 2, 3]
        reopened.close()


def test_file_of_another_run_version_or_program_is_refused_and_kept(open_log, path):
    write_log(open_log(), 1)
    written = path.read_bytes()
    newer = json.dumps({"what": "consilience decisions", "version": 2, "run": RUN}).encode()
    version = "has version 2, and this version of consilience reads version 1: install the version of consilience that"
    other = "is not a file of decisions: move the file to another folder"
    for content, run, message in (
        (written, "another", r"decisions about another run: move the file .* or restore the files"),
        (newer + b"\n", RUN, version),
        (b"{}\n", RUN, other),
        (b'{"what": "other"}\n', RUN, other),
        (b'{"a": 1}', RUN, other),
        (b"notes of mine", RUN, r"line 1 of .*decisions\.jsonl is damaged \(it is not JSON\).*move the file"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            open_log(run)
        assert path.read_bytes() == content
    path.write_bytes(written)
    assert open_log().read_only is None  # opening that fails releases the lock


def test_folder_in_place_of_file_and_missing_folder_are_refused(open_log, path, tmp_path):
    path.mkdir()
    with pytest.raises(OSError, match=r"decisions\.jsonl"):
        open_log()
    with pytest.raises(FileNotFoundError, match="missing"):
        DecisionLog.open(tmp_path / "missing", RUN)


# links and permissions


def test_linked_lock_is_refused_and_its_target_kept(open_log, tmp_path):
    target = tmp_path / "target"
    (tmp_path / LOCK_NAME).symlink_to(target)
    with pytest.raises(OSError, match=r"decisions\.lock is a symbolic link: delete it"):
        open_log()
    assert not target.exists()


def test_linked_file_is_read_and_appended_to(open_log, path, tmp_path):
    write_log(open_log(), 1)
    target = tmp_path / "target"
    path.rename(target)
    path.symlink_to(target)
    assert open_log().append(MERGE)["number"] == 2
    assert len(target.read_bytes().splitlines()) == 3


def test_dangling_link_creates_no_file_elsewhere(open_log, path, tmp_path):
    target = tmp_path / "target"
    path.symlink_to(target)
    log = open_log()
    with pytest.raises(OSError, match=r"the decision was not saved in .*decisions\.jsonl"):
        log.append(MERGE)
    assert not target.exists()
    assert path.is_symlink()


def refuse_to_open(monkeypatch, name, number):
    """Let os.open fail for the files of a name."""
    open_file = os.open

    def open_others(path, *arguments, **options):
        if Path(path).name == name:
            raise OSError(number, os.strerror(number), str(path))
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_others)


def test_log_is_read_only_until_its_lock_can_be_created(open_log, monkeypatch, tmp_path):
    write_log(open_log(), 2)
    unwritable = f"{re.escape(str(tmp_path))} is not writable: change its permissions to make changes here"
    full = "cannot be created: No space left on device; free space"
    for number, reason in ((errno.EACCES, unwritable), (errno.EROFS, unwritable), (errno.ENOSPC, full)):
        with monkeypatch.context() as patch:
            refuse_to_open(patch, LOCK_NAME, number)
            log = open_log()
            assert re.search(reason, log.read_only)
            assert list_numbers(log.entries) == [1, 2]
            with pytest.raises(ReadOnlyError, match=reason):
                log.append(MERGE)
            assert not log.reload()
    refuse_to_open(monkeypatch, LOCK_NAME, errno.EIO)
    with pytest.raises(OSError, match=r"decisions\.lock"):
        open_log()
    monkeypatch.undo()
    assert log.reload()
    assert log.append(MERGE)["number"] == 3


@pytest.mark.parametrize("is_present", [True, False])
def test_file_without_write_permission_is_read_only(open_log, monkeypatch, tmp_path, path, is_present):
    if is_present:
        write_log(open_log(), 1)
    target = path if is_present else tmp_path
    access = os.access
    monkeypatch.setattr(os, "access", lambda name, mode: Path(name) != target and access(name, mode))
    log = open_log()
    assert log.read_only == f"{target} is not writable: change its permissions to make changes here"
    with pytest.raises(ReadOnlyError, match="is not writable"):
        log.append(MERGE)


def test_read_only_log_leaves_unfinished_line_to_its_writer(open_log, path):
    log = open_log()
    log.append(MERGE)
    with path.open("ab") as file:
        file.write(b'{"action"')
    content = path.read_bytes()
    reader = open_log()
    assert reader.read_only is not None
    assert list_numbers(reader.entries) == [1]
    assert path.read_bytes() == content


def test_file_system_without_locks_can_be_written(open_log, monkeypatch):
    monkeypatch.setattr(decisions.fcntl, "flock", fail(OSError(errno.ENOLCK, "No locks available")))
    assert open_log().append(MERGE)["number"] == 1


def test_file_changed_by_other_program_is_not_appended_to(open_log, path):
    log = open_log()
    log.append(MERGE)
    with path.open("ab") as file:
        file.write(b"other\n")
    content = path.read_bytes()
    with pytest.raises(ReadOnlyError, match=r"another program has changed .*: open the run again"):
        log.append(MERGE)
    assert path.read_bytes() == content


def test_deleted_file_is_not_begun_anew(open_log, path):
    log = open_log()
    log.append(MERGE)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"the decision was not saved in .*: No such file"):
        log.append(MERGE)
    assert not path.exists()


def test_closed_log_can_be_read_only(open_log):
    log = open_log()
    log.append(MERGE)
    log.close()
    log.close()
    with pytest.raises(ReadOnlyError, match="have been closed: open the run again to make changes"):
        log.append(MERGE)
    assert not log.reload()
    assert list_numbers(log.list_active()) == [1]


# several processes


def test_second_process_is_read_only_and_takes_over(open_log, start_writer):
    writer, state = start_writer()
    assert state == "open"
    log = open_log()
    assert log.read_only.startswith("another workbench has ")
    with pytest.raises(ReadOnlyError, match=r"another workbench has .* open: close it to make changes here"):
        log.append(MERGE)
    assert not log.reload()
    writer.stdin.write("a\nb\n")
    writer.stdin.flush()
    assert [writer.stdout.readline() for _ in "ab"] == ["1\n", "2\n"]
    assert log.reload()
    assert list_numbers(log.entries) == [1, 2]
    assert not log.reload()
    writer.stdin.close()
    writer.wait(timeout=HANG_LIMIT)
    assert log.reload()
    assert log.read_only is None
    assert log.append(MERGE)["number"] == 3
    assert start_writer()[1] == "read-only"


def test_damaged_file_keeps_entries_of_reader_and_is_not_taken_over(open_log, path):
    writer = open_log()
    writer.append(MERGE)
    reader = open_log()
    reason, content = reader.read_only, path.read_bytes()
    path.write_bytes(content + b"damage\n")
    assert reader.reload()
    assert "line 3 of" in reader.read_only
    assert list_numbers(reader.entries) == [1]
    assert not reader.reload()
    path.write_bytes(content)
    assert reader.reload()
    assert reader.read_only == reason
    path.write_bytes(content + b"damage\n")
    writer.close()
    assert reader.reload()
    with pytest.raises(ReadOnlyError, match=r"line 3 of .* is damaged"):
        reader.append(MERGE)
    path.write_bytes(content)
    assert reader.reload()
    assert reader.append(MERGE)["number"] == 2


def test_acknowledged_entries_survive_kills(open_log, start_writer):
    rng = random.Random(0)
    for _ in range(4):
        process, state = start_writer("without end")
        assert state == "open"
        acknowledged = [process.stdout.readline()]
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        acknowledged += process.stdout.readlines()
        assert process.wait(timeout=HANG_LIMIT) == -signal.SIGKILL
        log = open_log()
        assert log.read_only is None
        assert len(log.entries) >= int([line for line in acknowledged if line.endswith("\n")][-1])
        log.append(MERGE)
        log.close()


# full disks


def fail_to_write(n_bytes):
    """Return a version of os.write for a disk that has room for some bytes."""
    write, n_left = os.write, n_bytes

    def write_some(descriptor, content):
        nonlocal n_left
        if not n_left:
            raise OSError(errno.ENOSPC, "No space left on device")
        n_written = write(descriptor, bytes(content[: min(n_left, 7)]))
        n_left -= n_written
        return n_written

    return write_some


def fail(error):
    """Return a function that raises the error."""

    def raise_error(*_):
        raise error

    return raise_error


@pytest.fixture(params=[0, 2])
def filled(request, open_log, path):
    """A log with some entries, their number, and the content of the file, None if there is none."""
    log = open_log()
    for _ in range(request.param):
        log.append(MERGE)
    return log, request.param, path.read_bytes() if request.param else None


def read_if_there(path):
    return path.read_bytes() if path.exists() else None


def check_next_append(log, n_entries, open_log):
    """Check that an append after failures is the next entry, and that all entries are read again."""
    assert log.append({"action": "rename", "name": "next"})["number"] == n_entries + 1
    log.close()
    assert open_log().entries == log.entries


def test_full_disk_leaves_file_unchanged(filled, open_log, monkeypatch, path):
    log, n_entries, content = filled
    for n_bytes in (0, 1, 40, 80):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", fail_to_write(n_bytes))
            with pytest.raises(OSError, match=r"not saved in .*decisions\.jsonl: No space left on device") as raised:
                log.append(MERGE)
        assert raised.value.errno == errno.ENOSPC
        assert read_if_there(path) == content
        assert len(log.entries) == n_entries
    monkeypatch.setattr(os, "write", fail_to_write(10_000))  # a few bytes at a time
    check_next_append(log, n_entries, open_log)


def test_failed_synchronization_leaves_file_unchanged(filled, open_log, monkeypatch, path):
    log, n_entries, content = filled
    for error, message in ((OSError(errno.EIO, os.strerror(errno.EIO)), "Input/output error"), (OSError("why"), "why")):
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail(error))
            with pytest.raises(OSError, match=rf"not saved in .*decisions\.jsonl: {message}"):
                log.append(MERGE)
    assert read_if_there(path) == content
    check_next_append(log, n_entries, open_log)


def test_bytes_that_could_not_be_removed_are_removed_by_next_append(filled, open_log, monkeypatch):
    log, n_entries, _ = filled
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail_to_write(20))
        patch.setattr(os, "ftruncate", fail(OSError(errno.EIO, "Input/output error")))
        for _ in range(2):
            with pytest.raises(OSError, match=r"not saved in .*decisions\.jsonl"):
                log.append(MERGE)
    check_next_append(log, n_entries, open_log)


def test_interrupted_append_leaves_log_unchanged(filled, open_log, monkeypatch, path):
    log, n_entries, content = filled
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            log.append(MERGE)
    assert path.read_bytes().startswith(content or b"")
    assert len(log.entries) == n_entries
    check_next_append(log, n_entries, open_log)
