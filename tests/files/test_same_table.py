"""A table has the same contents in every format and spelling: views, kinds, values and ids."""

import csv
import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

from consilience.files import InputFiles, parse_view, read_files
from consilience.pipeline.memory import collect_memory
from workbooks import make_xlsx

N = 40
WORDS = ["oak", "wool", "Stahl", "glass", "Füße", "„paper“"]
TABLE = {
    "id": [f"{i:03}" for i in range(N)],
    "size": [i % 9 + 0.25 if i != 7 else None for i in range(N)],
    "count": [i * 37 % 11 for i in range(N)],
    "brand": [["Acme", "Nörd", "Volt"][i % 3] for i in range(N)],
    "added": [f"2023-0{1 + i % 9}-1{i % 10}" for i in range(N)],
    "sold": [f"{1 + i % 3},{i % 10}0 €" for i in range(N)],
    "shelf": [None if i % 8 == 5 else f"0{i % 4}1" for i in range(N)],
    "story": [f'made of {WORDS[i % 6]} and of "{WORDS[i % 5]}"; as {WORDS[i % 4]}, or so' for i in range(N)],
    "empty": [None] * N,
}
RECORDS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


def write_lines(mark=",", end="\n", before="", after="", trailing=False):
    buffer = io.StringIO(newline="")
    buffer.write(before)
    writer = csv.writer(buffer, delimiter=mark, lineterminator=(mark if trailing else "") + end)
    writer.writerows([TABLE, *zip(*TABLE.values(), strict=True)])
    return buffer.getvalue() + after


FILES = {
    "tab.tsv": write_lines("\t"),
    "tab.txt": write_lines("\t"),
    "semicolon.csv": write_lines(";"),
    "pipe.csv": write_lines("|"),
    "crlf.csv": write_lines(end="\r\n"),
    "cr.csv": write_lines(end="\r"),
    "bom.csv": "\ufeff" + write_lines(end="\r\n"),
    "blank lines.csv": write_lines(before="\n\n", after="\n\n\n"),
    "trailing.csv": write_lines(trailing=True),
    "trailing but in the header.csv": write_lines(";", trailing=True).replace(";\n", "\n", 1),
    "stated.csv": write_lines(";", "\r\n", before="sep=;\r\n"),
    "stated, quoted.csv": write_lines(";", "\r\n", before='"sep=;"\r\n'),
    "stated tab.csv": "\ufeff" + write_lines("\t", before="SEP=\t\r\n"),
    "stated in a row.csv": write_lines(";", before="sep=;;;;;;;;;\n"),
    "unicode.txt": write_lines("\t", "\r\n").encode("utf-16"),
    "unicode.csv": ("\ufeff" + write_lines(";", before="sep=;\n")).encode("utf-16-be"),
    "unicode, packed.tsv.gz": gzip.compress(write_lines("\t").encode("utf-16"), mtime=0),
    "packed.csv.gz": gzip.compress(write_lines().encode(), mtime=0),
    "lines.jsonl": "\r\n".join(json.dumps(record) for record in RECORDS),
    "lines.json": "\n".join(json.dumps(record) for record in RECORDS),
    "unicode.jsonl": "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS).encode("utf-16"),
    "array.json": json.dumps(RECORDS),
    "array, indented.json": json.dumps(RECORDS, indent=1, ensure_ascii=False),
    "columns.json": json.dumps(TABLE),
    "unicode.json": json.dumps(RECORDS, ensure_ascii=False).encode("utf-16"),
    "bom.json": json.dumps(RECORDS).encode("utf-8-sig"),
    "within.json.gz": gzip.compress(json.dumps({"data": RECORDS}).encode(), mtime=0),
    "sheet.xlsx": make_xlsx({"a": [list(TABLE), *(list(record.values()) for record in RECORDS)]}),
    "columns.parquet": pd.DataFrame(TABLE).to_parquet(),
}


def simplify(values):
    if isinstance(values, dict):
        return {name: simplify(column) for name, column in values.items()}
    if isinstance(values, tuple):
        return [simplify(part) for part in values]
    return [None if value != value else value for value in np.ravel(values).tolist()]


def describe(reading):
    """Return everything that a view holds, by name; the view of numbers is called after the file."""
    return [
        (each.kind, each.columns, simplify(() if each.ids is None else each.ids), simplify(each.data), each.readings)
        for each in reading.contents
    ]


def read_contents(data):
    memory = collect_memory(data, None, None, None, None)
    if memory is None:
        with InputFiles() as inputs:
            return describe(read_files([parse_view(data)], inputs=inputs))
    with InputFiles(memory.objects) as inputs:
        return describe(read_files(memory.specs, inputs=inputs))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "plain.csv"
    path.write_text(write_lines(), encoding="utf-8")
    contents = read_contents(str(path))
    (kind, columns, ids, numbers, _), story = contents
    assert (kind, columns) == ("categories", ("size", "count", "brand", "added", "sold", "shelf"))
    assert (ids, story[:4]) == (TABLE["id"], ("text", ("story",), TABLE["id"], TABLE["story"]))
    assert (numbers["size"], numbers["shelf"]) == (TABLE["size"], TABLE["shelf"])
    assert numbers["sold"] == [float(cell[:-2].replace(",", ".")) for cell in TABLE["sold"]]
    return contents


@pytest.mark.parametrize("ending", ["tsv", "txt", "csv", "gz", "jsonl", "json", "xlsx", "parquet"])
def test_file_has_the_contents_of_the_table(put, expected, ending):
    if ending in ("xlsx", "parquet"):
        pytest.importorskip({"xlsx": "python_calamine", "parquet": "pyarrow"}[ending], reason="not installed")
    for name, content in FILES.items():
        if name.endswith(f".{ending}"):
            assert read_contents(str(put(name, content))) == expected, name


def test_frame_has_the_contents_of_the_table(expected):
    frame = pd.DataFrame(TABLE)
    assert read_contents(frame) == read_contents(frame.set_index("id")) == expected


GERMAN = {"width": [976.0, 1157.0, 2345.0] * 12, "shelf": ["001", None, "011"] * 12}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.xlsx", "t.parquet", "t.json", "columns.json", "t.jsonl", ""])
def test_texts_with_decimal_commas_are_the_same_numbers_in_all_formats(tmp_path, name):
    path = tmp_path / name
    for prices in (["1,5", "2,25", "3,75"] * 12, ["1,5 €", "2,25 €", "3,75 €"] * 12):
        frame = pd.DataFrame({"width": ["976", "1.157", "2.345"] * 12, "price": prices, "shelf": GERMAN["shelf"]})
        match name:
            case "t.parquet":
                pytest.importorskip("pyarrow", reason="not installed")
                frame.to_parquet(path)
            case "t.xlsx":
                pytest.importorskip("python_calamine", reason="not installed")
                path.write_bytes(make_xlsx({"a": [list(frame), *frame.values.tolist()]}))
            case "t.json" | "t.jsonl":
                frame.to_json(path, orient="records", lines=name == "t.jsonl")
            case "columns.json":
                path.write_text(json.dumps(frame.to_dict("list")))
            case "t.csv" | "t.tsv":
                frame.to_csv(path, index=False, sep="," if name == "t.csv" else "\t")
        ((kind, columns, _, data, _),) = read_contents(str(path) if name else frame)
        assert (kind, columns) == ("categories", ("width", "price", "shelf"))
        assert data == {**GERMAN, "price": [1.5, 2.25, 3.75] * 12}


def test_stated_delimiter_counts_more_than_that_of_the_header(put, read):
    for mark in (",", ";", "\t"):
        (content,) = read(put("t.csv", f"sep={mark}\na:b|c|d|e{mark}x\n" + f"1{mark}2.5\n3{mark}4\n" * 4)).contents
        assert content.columns == ("a:b|c|d|e", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sep=;\n\nx;y\n1;2\n1;2;3\n", ": line 5 has 3 cells, but the header has 2"),  # counted from the start
        ("x,y\n1,2,\n3,4,5\n", ": line 3 has 3 cells, but the header has 2"),  # all rows must end so, or none
        ("sep=;\n", " is empty: it must start with a line that names the columns"),
    ],
)
def test_unsuitable_ends_and_stated_delimiters_are_refused(put, read, text, message):
    with pytest.raises(ValueError, match=rf"t\.csv{message}"):
        read(put("t.csv", text))
