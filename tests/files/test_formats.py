"""Declared file formats."""

import numpy as np
import pytest

from consilience.files import FORMATS, FileFormat, FileMatrix, read_file, register_format
from consilience.files.formats.inputs import detect_suffix


@pytest.fixture
def numbers_format():
    file_format = FileFormat(
        (".numbers", ".nums"),
        lambda path: FileMatrix(np.loadtxt(path.location)),
        detect=lambda start: start.startswith(b"numbers"),
    )
    register_format(file_format)
    yield file_format
    for suffix in file_format.suffixes:
        del FORMATS[suffix]


@pytest.mark.parametrize("name", ["x.numbers", "x.nums", "X.NUMS"])
def test_registered_format_is_read_by_its_suffixes(numbers_format, put, name):
    assert read_file(put(name, "1 2\n3 4\n")).values.tolist() == [[1, 2], [3, 4]]


def test_registered_format_is_detected_by_its_first_bytes(numbers_format):
    assert detect_suffix(b"\n numbers 1 2") == ".numbers"


def test_messages_list_registered_suffixes(numbers_format, put):
    with pytest.raises(ValueError, match=r"x\.doc: the file type is taken from the suffix.*, \.numbers, \.nums$"):
        read_file(put("x.doc", "1 2\n"))


def test_suffix_of_another_format_is_refused(numbers_format):
    with pytest.raises(ValueError, match=r"the suffix '\.csv' belongs to another file format already"):
        register_format(FileFormat((".new", ".csv"), FileMatrix))
    assert ".new" not in FORMATS


@pytest.mark.parametrize("suffix", ["new", ".New"])
def test_suffix_without_dot_or_in_upper_case_is_refused(suffix):
    with pytest.raises(ValueError, match=f"the suffix '{suffix}' must start with a dot and be in lower case"):
        register_format(FileFormat((suffix,), FileMatrix))


def test_message_of_a_reader_gets_the_name_of_the_file(numbers_format, put):
    with pytest.raises(ValueError, match=r"x\.nums cannot be read: could not convert string 'a'"):
        read_file(put("x.nums", "1 a\n"))


@pytest.mark.parametrize(("is_table", "expected"), [(True, "FileTable"), (False, "FileTable, FileMatrix or .*")])
def test_content_of_the_wrong_class_is_refused(put, monkeypatch, is_table, expected):
    monkeypatch.setitem(FORMATS, ".wrong", FileFormat((".wrong",), lambda *_: np.eye(2), is_table=is_table))
    with pytest.raises(TypeError, match=rf"the reader of \.wrong files, .*must return a {expected}, got ndarray"):
        read_file(put("x.wrong", "1"))
