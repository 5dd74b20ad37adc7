"""Messages in the terms of Python: arguments of `consilience.cluster` in place of options of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

# option of the command line -> argument of `cluster`; the first that matches is used
ARGUMENTS: tuple[tuple[str, str], ...] = (
    (r"(labels|seeds|describe) \(--\1\)", r"\1"),  # of data in memory, whose origin is the argument itself
    (r"--view NAME=FILE:COLUMN\b", 'data={"NAME": frame[["COLUMN"]]}'),
    (r"--view NAME=FILE:COLUMNS\b", 'data={"NAME": frame[["COLUMN", "COLUMN"]]}'),
    (r"--view (\S+)=(\S+):(\S+\b)", r'data={"\1": ...}'),
    (r"--view NAME=FILE\b", 'data={"NAME": ...}'),
    (r"--view\b", "data"),
    (r"--kind (\S+)=(\w+)", r'kinds={"\1": "\2"}'),
    (r"--kind\b", "kinds"),
    (r"--encode (\S+)=([\w.+/]+)", r'encode={"\1": "\2"}'),
    (r"--encode\b", "encode"),
    (r"--id (\w+)", r'id_column="\1"'),
    (r"--id\b", "id_column"),
    (r"--method ([\w-]+)", r'method="\1"'),
    (r"--method\b", "method"),
    (r"--set ([\w.]+)=([^\s:]+)", r'options={"\1": \2}'),
    (r"--set\b", "options"),
    (r"-k small-groups\b", 'n_clusters="small-groups"'),
    (r"-k (N|\d+)", r"n_clusters=\1"),
    (r"-k\b", "n_clusters"),
    (r"--mapping FILE\b", "mapping=[FILE]"),
    (r"\(--delimiter\)", "(if not, read it with pandas.read_csv(path, sep=...))"),
    (r"--outliers (\w+)", r"outliers=\1"),
    (r"--describe ('[^']+')", r"describe=[\1]"),
    (r"--(describe|labels|seeds|constraints|outliers|mapping|title|delimiter|names)\b", r"\1"),
    (r"--seed\b", "random_state"),
    (r"write over with --force\b", "pass overwrite=True"),
    (r"--force\b", "overwrite=True"),
    (r"`consilience cluster`", "`consilience.cluster`"),
    (r"`consilience compare`", "`consilience.compare`"),
    (r"`consilience update`", "`Result.update`"),
    (r" in labels\.csv\b", " of Result.frame"),
)


def put_in_python_terms(message: str) -> str:
    """Replace options of the command line by the arguments of `consilience.cluster`.

    Examples
    --------
    >>> put_in_python_terms("declare them as names (--kind code=names), or use -k 5")
    'declare them as names (kinds={"code": "names"}), or use n_clusters=5'
    """
    for pattern, replacement in ARGUMENTS:
        message = re.sub(rf"(?<![\w-])(?:{pattern})", replacement, message)
    return message


@contextmanager
def raise_in_python_terms() -> Iterator[None]:
    """Name arguments of `cluster` in errors, in place of options of the command line."""
    try:
        yield
    except (ValueError, TypeError, FileExistsError, FileNotFoundError) as error:
        message = put_in_python_terms(str(error))
        if message == str(error):
            raise
        raise type(error)(message) from error
