"""Files to be read, and a short way to read them."""

import json

import pytest

from consilience.files import InputFiles, parse_view, read_files


@pytest.fixture
def put(tmp_path):
    """Write a file and say where it is: text and bytes as they are, a list of records as lines of JSON."""

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
    """The only view of a file, called «view»."""

    def only(where, kind=None, **options):
        (content,) = read(f"view={where}", kinds={} if kind is None else {"view": kind}, **options).contents
        return content

    return only
