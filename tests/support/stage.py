"""Run the command line in the tests, and read its results."""

import contextlib
import csv
import io
import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from consilience.cli import main

FILES = {"labels.csv", "summary.json", "model.zip", "report.html", "run.toml", "groups.xlsx", "items.csv", "groups.csv"}
N = 60
IDS = [f"e{i:02}" for i in range(N)]
CLASSES = np.repeat([0, 1, 2], 20)
FAST = "-k", 3, "--method", "k-means", "--no-assess"  # options of a fast run


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def error_line(self):
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


def run_command(*arguments, top=None):
    """Run the command, or another program with the parser `top`, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments], parser=top)
        except SystemExit as end:
            code = end.code
    return CommandResult(code, out.getvalue(), err.getvalue())


def run_successfully(*arguments, top=None):
    ran = run_command(*arguments, top=top)
    assert ran.code == 0, ran.err
    return ran


def get_messages(err):
    """Return the lines of standard error that are neither notes nor about steps, such as "read it (0.1 s)"."""
    is_progress = re.compile(r"note: .*|.* \([0-9.]+ (s|min)\)|.*: [0-9.]+ (s|min) so far.*")
    return [line for line in err.strip().splitlines() if not is_progress.fullmatch(line)]


def assert_refused(ran, *words, code=1):
    """Check that the command failed with one sentence, no traceback, and this exit code."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.err
    assert ran.error_line.startswith("consilience: ")
    assert get_messages(ran.err) == [ran.error_line]
    for part in words:
        assert part in ran.error_line


def list_folder(folder):
    """List all files of a folder, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def write_csv(path, header, rows, delimiter=","):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(header)
        table.writerows(rows)
    return path


def read_labels(path):
    """Read a table of labels, or the one in a folder."""
    path = Path(path)
    with (path / "labels.csv" if path.is_dir() else path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def get_clusters(rows):
    return [int(row["cluster"]) for row in rows]


def read_summary(folder):
    """Read the summary as strict JSON, without NaN."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"), parse_constant=refuse)


def write_undated(report):
    """Return the page of a report without the minute in which it was made."""
    page, n_dates = re.subn(r"<time .*?</time>", "", report.to_html())
    assert n_dates == 1
    return page


def make_blobs(seed, columns=3, separation=6.0):
    """Return three clear groups; there must be at least three columns."""
    return np.random.default_rng(seed).normal(size=(N, columns)) + separation * np.eye(columns)[CLASSES]
