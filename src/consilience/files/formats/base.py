"""What every file format needs: the input file, the content that a reader returns, and the declaration of a format."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..images.reading import Pictures

# Sizes of a sparse matrix that a file of any length may announce. Hashed features have many empty columns.
ALWAYS_ALLOWED = {"rows": 2**22, "columns": 2**25}
DROP_EMPTY = {
    "rows": "X.tocsr()[np.diff(X.tocsr().indptr) > 0]",
    "columns": "X.tocsc()[:, np.diff(X.tocsc().indptr) > 0]",
}
DEFLATE_RATIO = 1032  # the most that gzip and zip can compress by


@dataclass(frozen=True)
class InputFile:
    """A file to read: the path that the user gave, and the location of its bytes.

    The two differ for pipes, whose content is copied to a temporary file. Messages show the user's path (`str`), and
    functions that open files get the location (`os.fspath`).
    """

    path: Path
    location: Path
    sheet: str | None = None  # of a workbook; None: the first one with data

    def __str__(self) -> str:
        return str(self.path)

    def __fspath__(self) -> str:
        return str(self.location)

    @property
    def n_bytes(self) -> int:
        """Length of the file."""
        return self.location.stat().st_size

    @property
    def is_gzip(self) -> bool:
        """Whether the name ends in .gz."""
        return self.location.suffix.lower() == ".gz"

    @property
    def suffix(self) -> str:
        """Suffix that names the format, in lower case and without .gz."""
        suffixes = [suffix.lower() for suffix in self.location.suffixes]
        if self.is_gzip:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    def open(self) -> io.BufferedReader:
        """Open the file for reading bytes."""
        return self.location.open("rb")


@dataclass(frozen=True)
class WrittenNumbers:
    """The columns of numbers whose cells are texts in a table, and the decimal mark that the table shows."""

    columns: frozenset[str] = frozenset()
    mark: str = ""  # '.' or ','; '?' if the table contradicts itself; '' if nothing shows it
    shown: tuple[str, str] = ("", "")  # a column and a cell that show the mark
    # Columns -> a number such as 1.157. It has been read as 1157 if the mark is ',', and may be 1157 if it is '?'.
    grouped: Mapping[str, str] = field(default_factory=dict)


NOTHING_WRITTEN = WrittenNumbers()


@dataclass(frozen=True, eq=False)
class FileTable:
    """Named columns of one length: numbers (NaN if empty), texts (None if empty), bags of terms, or vectors.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_rows, ...)
        The columns by name, such as `to_column` builds them.
    id_column : str, optional
        The column that identifies the rows, if the source says so as the index of a frame does.
    categories : frozenset of str, default=frozenset()
        The columns that have a categorical type.
    codes : frozenset of str, default=frozenset()
        The columns of numbers whose cells are other texts than the numbers, such as 007.
    written : WrittenNumbers, optional
        The columns of numbers whose cells are texts, and their decimal mark; by default there are none.
    emptied : dict of str to dict of str to int, optional
        The words such as NA that stood in cells which are now empty, and how many cells had each, by column.

    Examples
    --------
    >>> from consilience.files import FileTable, to_column
    >>> columns = {"code": to_column(["a", "b"], as_text=True), "price": to_column([1.5, None], as_text=False)}
    >>> table = FileTable(columns, id_column="code")
    >>> table.columns["price"].tolist()
    [1.5, nan]
    """

    columns: dict[str, np.ndarray]
    id_column: str | None = None
    categories: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    written: WrittenNumbers = NOTHING_WRITTEN
    emptied: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """A matrix of numbers, dense or sparse, with the names of its rows and columns if the file has any.

    Parameters
    ----------
    values : ndarray, or sparse matrix of scipy, of shape (n_rows, n_columns)
        The numbers.
    ids : ndarray of shape (n_rows,), optional
        Names of the rows.
    features : ndarray of shape (n_columns,), optional
        Names of the columns.
    is_expression : bool, default=False
        Whether these are the measurements of a single-cell file, whose raw counts are normalized.
    modality : str, default=''
        The file's names for what was measured.
    raw_block : str, default=''
        Name of the block with the raw counts, if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.files import FileMatrix
    >>> matrix = FileMatrix(np.array([[1.5, 2.0], [3.0, 0.5]]), features=np.array(["length", "width"], dtype=object))
    >>> matrix.values.shape, matrix.features.tolist(), matrix.ids
    ((2, 2), ['length', 'width'], None)
    """

    values: Any
    ids: np.ndarray | None = None
    features: np.ndarray | None = None
    is_expression: bool = False
    modality: str = ""
    raw_block: str = ""


@dataclass(frozen=True, eq=False)
class FileCollection:
    """Several matrices over entities with ids, and columns that describe the entities.

    Parameters
    ----------
    matrices : dict of str to FileMatrix
        The matrices by the names of their views, with a row for each entity.
    columns : dict of str to ndarray of shape (n_entities,), optional
        Columns that describe the entities, by name.
    ids : ndarray of shape (n_entities,), optional
        Ids of the entities.
    optional : dict of str to callable, optional
        Functions that read further matrices, which are views only if they are named.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.files import FileCollection, FileMatrix
    >>> matrices = {"size": FileMatrix(np.ones((2, 3))), "color": FileMatrix(np.ones((2, 5)))}
    >>> collection = FileCollection(matrices, ids=np.array(["a", "b"], dtype=object))
    >>> {name: matrix.values.shape for name, matrix in collection.matrices.items()}
    {'size': (2, 3), 'color': (2, 5)}
    """

    matrices: dict[str, FileMatrix]
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    ids: np.ndarray | None = None
    optional: dict[str, Callable[[], FileMatrix]] = field(default_factory=dict)


FileContent = FileTable | FileMatrix | FileCollection | Pictures  # pictures: of a folder


@dataclass(frozen=True)
class TableOptions:
    """How a table is read: columns that are never taken for numbers, and the delimiter (None: detected).

    A reader may leave out all but `columns`, if these are not None.
    """

    as_text: frozenset[str] = frozenset()
    delimiter: str | None = None
    columns: frozenset[str] | None = None


@dataclass(frozen=True)
class FileFormat:
    """Declaration of a file format.

    Parameters
    ----------
    suffixes : tuple of str
        Suffixes of the file names, in lower case and with the dot.
    read : callable
        Reads an ``InputFile`` and returns a `FileTable`, `FileMatrix` or `FileCollection`. The reader of a table also
        gets ``TableOptions``. A file that cannot be read raises a ValueError that names it.
    is_table : bool, default=False
        Whether the files have named columns.
    has_sheets : bool, default=False
        Whether a file can hold several tables, of which the user names one as FILE#SHEET.
    detect : callable, optional
        Says whether a file that starts with these bytes has the format. Pipes, which have no suffix, are recognized by
        it; bytes of a byte order mark and white space at the start are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.files import FileFormat, FileMatrix
    >>> file_format = FileFormat((".spaced",), lambda path: FileMatrix(np.loadtxt(path)))
    >>> file_format.suffixes, file_format.is_table
    (('.spaced',), False)
    """

    suffixes: tuple[str, ...]
    read: Callable[..., FileContent]
    is_table: bool = False
    has_sheets: bool = False
    detect: Callable[[bytes], bool] | None = None


FORMATS: dict[str, FileFormat] = {}  # by suffix


def register_format(file_format: FileFormat) -> None:
    """Make the files of a format readable, by the command line as well.

    Parameters
    ----------
    file_format : FileFormat
        The format, whose suffixes must be new.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from consilience.files import FORMATS, FileFormat, FileMatrix, register_format
    >>> from consilience.files import InputFiles, parse_view, read_files
    >>> register_format(FileFormat((".spaced",), lambda path: FileMatrix(np.loadtxt(path))))
    >>> with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
    ...     np.savetxt(f"{folder}/size.spaced", [[1.5, 2.0], [3.0, 0.5]])
    ...     read_files([parse_view(f"{folder}/size.spaced")], inputs=inputs).contents[0].data[0].tolist()
    [[1.5, 2.0], [3.0, 0.5]]
    >>> del FORMATS[".spaced"]  # as before
    """
    for suffix in file_format.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            raise ValueError(f"the suffix {suffix!r} must start with a dot and be in lower case")
        if suffix in FORMATS:
            raise ValueError(f"the suffix {suffix!r} belongs to another file format already: choose another suffix")
    FORMATS.update(dict.fromkeys(file_format.suffixes, file_format))


def max_content_bytes(path: InputFile) -> int:
    """Largest number of bytes that a file can hold, decompressed if its name ends in .gz."""
    return path.n_bytes * (DEFLATE_RATIO if path.is_gzip else 1)


def check_sparse_shape(path: InputFile, n_rows: int, n_columns: int, n_bytes: int) -> None:
    """Refuse a sparse matrix with more rows or columns than bytes, unless they are few enough to allocate anyway.

    Empty rows and columns take no bytes in a sparse file, but memory in every later step.
    """
    for size, axis in ((n_rows, "rows"), (n_columns, "columns")):
        if not 0 <= size <= max(ALWAYS_ALLOWED[axis], n_bytes):
            raise ValueError(
                f"{size:,} {axis} are announced, which is not plausible for a file of {path.n_bytes:,} bytes. It is "
                f"probably damaged; if it is not, save it without empty {axis}: {DROP_EMPTY[axis]} in scipy"
            )


def check_n_values(path: InputFile, n_values: int, bytes_per_value: int, what: str) -> None:
    """Refuse a text file that is too short for the values that it announces; the last one may lack its line end."""
    if n_values * bytes_per_value - 1 > max_content_bytes(path):
        raise ValueError(f"{n_values:,} {what} are announced, which is too many for a file of {path.n_bytes:,} bytes")
