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


def test_registered_format_is_read_by_its_suffixes_and_detected_by_its_first_bytes(numbers_format, put):
    for name in ("x.numbers", "x.nums", "X.NUMS"):
        assert read_file(put(name, "1 2\n3 4\n")).values.tolist() == [[1, 2], [3, 4]]
    assert detect_suffix(b"\n numbers 1 2") == ".numbers"


def test_messages_list_registered_suffixes_and_name_the_file(numbers_format, put):
    with pytest.raises(ValueError, match=r"x\.doc: the file type is taken from the suffix.*, \.numbers, \.nums$"):
        read_file(put("x.doc", "1 2\n"))
    with pytest.raises(ValueError, match=r"x\.nums cannot be read: could not convert string 'a'"):
        read_file(put("x.nums", "1 a\n"))


def test_unsuitable_suffix_is_refused():
    for suffix, message in (
        (".csv", r"the suffix '\.csv' belongs to another file format already"),
        ("new", "the suffix 'new' must start with a dot and be in lower case"),
        (".New", r"the suffix '\.New' must start with a dot and be in lower case"),
    ):
        with pytest.raises(ValueError, match=message):
            register_format(FileFormat((".new", suffix), FileMatrix))
        assert ".new" not in FORMATS


@pytest.mark.parametrize(("is_table", "expected"), [(True, "FileTable"), (False, "FileTable, FileMatrix or .*")])
def test_content_of_the_wrong_class_is_refused(put, monkeypatch, is_table, expected):
    monkeypatch.setitem(FORMATS, ".wrong", FileFormat((".wrong",), lambda *_: np.eye(2), is_table=is_table))
    with pytest.raises(TypeError, match=rf"the reader of \.wrong files, .*must return a {expected}, got ndarray"):
        read_file(put("x.wrong", "1"))
