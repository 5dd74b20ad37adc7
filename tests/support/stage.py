"""What the tests of the command line share: how it is called, and what is looked for afterwards."""

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from consilience.cli import main

FILES = {"labels.csv", "summary.json", "model.zip", "report.html"}
N = 60
IDS = [f"e{i:02}" for i in range(N)]
CLASSES = np.repeat([0, 1, 2], 20)


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def error_line(self):
        """The last line of the errors, which is the sentence."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


def run_command(*arguments, top=None):
    """Run the command, or that of the parser `top`, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments], parser=top)
        except SystemExit as end:
            code = end.code
    return CommandResult(code, out.getvalue(), err.getvalue())


def run_successfully(*arguments, top=None):
    """Run a command that must succeed."""
    ran = run_command(*arguments, top=top)
    assert ran.code == 0, ran.err
    return ran


def assert_refused(ran, *words, code=1):
    """One sentence, no traceback, the right exit code."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.err
    assert ran.error_line.startswith("consilience: ")
    assert [line for line in ran.err.strip().splitlines() if not line.startswith("note: ")] == [ran.error_line]
    for one in words:
        assert one in ran.error_line


def list_folder(folder):
    """All that is in a folder, hidden files as well."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def write_csv(path, header, rows, delimiter=","):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(header)
        table.writerows(rows)
    return path


def read_labels(path):
    """Rows of a table of labels; of a folder, of the one in it."""
    path = Path(path)
    with (path / "labels.csv" if path.is_dir() else path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def get_clusters(rows):
    return [int(row["cluster"]) for row in rows]


def read_summary(folder):
    """The facts, by a reader that takes no NaN."""

    def no(constant):
        raise AssertionError(constant)

    return json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"), parse_constant=no)


def make_blobs(seed, columns=3, separation=6.0):
    """Three groups far apart, as many as there are columns at least."""
    return np.random.default_rng(seed).normal(size=(N, columns)) + separation * np.eye(columns)[CLASSES]
