"""Readers of file formats, chosen by the suffix of the file name. docs/add-a-file-format.md says how to add one."""

from __future__ import annotations

from pathlib import Path

from ..images.reading import find_pictures
from . import annotated, arrays, delimited, excel, jsonl, market, parquet
from .base import (
    FORMATS,
    FileCollection,
    FileContent,
    FileFormat,
    FileMatrix,
    FileTable,
    InputFile,
    TableOptions,
    register_format,
)
from .inputs import InputFiles, parse_path, read_document, split_sheet

for _format in (
    *(delimited.FORMAT, jsonl.FORMAT, jsonl.JSON, parquet.FORMAT, excel.FORMAT),
    *(arrays.NPY, arrays.NPZ, market.MATRIX_MARKET, market.SVMLIGHT, annotated.H5AD, annotated.H5MU),
):
    register_format(_format)


def read_file(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileContent:
    """Read a file, or a folder of pictures; columns named in `as_text` are never taken for numbers."""
    with InputFiles() as inputs:
        return read_path(path, inputs, as_text, delimiter)


def read_path(
    path: Path,
    inputs: InputFiles,
    as_text: frozenset[str] = frozenset(),
    delimiter: str | None = None,
    columns: frozenset[str] | None = None,
) -> FileContent:
    """Read a file, a folder of pictures, or the object in memory that the path stands for.

    If only `columns` are needed, the others may be left out.
    """
    if path in inputs.objects:
        return inputs.objects[path](as_text)
    return find_pictures(path) if path.is_dir() else read_input(inputs.locate(path), as_text, delimiter, columns)


def read_input(
    file: InputFile,
    as_text: frozenset[str] = frozenset(),
    delimiter: str | None = None,
    columns: frozenset[str] | None = None,
) -> FileContent:
    """Read a file that `InputFiles` has located, such as a pipe that is read more than once."""
    file_format = _find_format(file)
    options = (TableOptions(as_text, delimiter, columns),) if file_format.is_table else ()
    try:
        content = file_format.read(file, *options)
    except ValueError as error:
        if str(file) in str(error):
            raise
        raise ValueError(f"{file} cannot be read: {error}") from error
    if not isinstance(content, FileTable if file_format.is_table else FileContent):
        expected = "FileTable" if file_format.is_table else "FileTable, FileMatrix or FileCollection"
        raise TypeError(
            f"{file}: the reader of {file.suffix} files, declared with is_table={file_format.is_table}, must return a "
            f"{expected}, got {type(content).__name__}"
        )
    return content


def is_table(path: Path, inputs: InputFiles) -> bool:
    """Whether the file, or the object in its place, has named columns."""
    if path in inputs.objects:
        return type(inputs.objects[path](frozenset())) is FileTable
    return not path.is_dir() and _find_format(inputs.locate(path)).is_table


def _find_format(file: InputFile) -> FileFormat:
    """Return the format that the suffix names; refuse an empty file and an unknown suffix."""
    if not file.n_bytes:
        raise ValueError(f"{file} is empty")
    if file.suffix not in FORMATS:
        raise ValueError(f"{file}: the file type is taken from the suffix, which must be one of {', '.join(FORMATS)}")
    return FORMATS[file.suffix]


__all__ = [
    "FORMATS",
    "FileCollection",
    "FileContent",
    "FileFormat",
    "FileMatrix",
    "FileTable",
    "InputFile",
    "InputFiles",
    "TableOptions",
    "is_table",
    "parse_path",
    "read_document",
    "read_file",
    "read_input",
    "read_path",
    "register_format",
    "split_sheet",
]
