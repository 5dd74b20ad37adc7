"""Fixtures that write files and read them."""

import json

import pytest

from consilience.files import InputFiles, parse_view, read_files


@pytest.fixture
def put(tmp_path):
    """Write a file and return its path: text or bytes literally, a list of records as JSON lines."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(record) + "\n" for record in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def read():
    """Read views that are named as on the command line."""

    def reading(*views, **options):
        with InputFiles() as inputs:
            return read_files([parse_view(str(view)) for view in views], inputs=inputs, **options)

    return reading


@pytest.fixture
def content(read):
    """Read the only view of a file, called "view"."""

    def only(where, kind=None, **options):
        (content,) = read(f"view={where}", kinds={} if kind is None else {"view": kind}, **options).contents
        return content

    return only
