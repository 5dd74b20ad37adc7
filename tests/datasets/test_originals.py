"""Parsers of published files, on small files of the same formats."""

import io
from functools import partial

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array

from consilience.datasets.fetch.linqs import parse_linqs
from consilience.datasets.fetch.texts import parse_cluto, parse_newsgroups, parse_reuters, parse_segments
from consilience.datasets.fetch.uci import ADS_VIEWS, parse_ads, parse_digits, parse_letters, parse_pendigits
from consilience.datasets.fetch.webkb import parse_webkb, read_page


def dense(parsed, view):
    return parsed.blocks[view].values.toarray().tolist()


def columns(parsed, view):
    return parsed.blocks[view].columns.tolist()


def test_digits_are_six_tables_in_order():
    rng = np.random.default_rng(0)
    tables = {name: rng.normal(size=(20, 3)).round(4) for name in ("fou", "fac", "kar", "pix", "zer", "mor")}
    files = {
        f"mfeat-{name}": "\n".join("  ".join(map(str, row)) for row in X.tolist()).encode()
        for name, X in tables.items()
    }
    parsed = parse_digits(files)
    assert list(parsed.blocks) == list(tables)
    for name, X in tables.items():
        assert np.array_equal(parsed.blocks[name].values, X)
    assert parsed.target.tolist() == np.repeat(np.arange(10), 2).tolist()


def test_letters_have_sixteen_numbers():
    numbers = ",".join(map(str, range(16)))
    parsed = parse_letters({"letter-recognition.data": f"T,{numbers}\r\nA,{numbers}\n".encode()})
    assert parsed.blocks["features"].values.tolist() == [list(range(16))] * 2
    assert [parsed.names[label] for label in parsed.target] == ["T", "A"]
    assert columns(parsed, "features")[0] == "x-box"


PEN_LINE = " 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8"


def test_pendigits_of_training_file_come_first():
    other = PEN_LINE.replace(" 47", "  3").removesuffix("8") + "2"
    parsed = parse_pendigits({"pendigits.tes": PEN_LINE.encode(), "pendigits.tra": f"{other}\n{other}\n".encode()})
    stroke = [47, 100, 27, 81, 57, 37, 26, 0, 0, 23, 56, 53, 100, 90, 40, 98]
    strokes = parsed.blocks["strokes"].values.tolist()
    assert strokes == [[3, *stroke[1:]], [3, *stroke[1:]], stroke]
    assert [parsed.names[label] for label in parsed.target] == ["2", "2", "8"]
    assert columns(parsed, "strokes")[:3] == ["x1", "y1", "x2"]


def ad(first, kind, columns_of_ones=()):
    cells = ["0"] * 1554
    for column in columns_of_ones:
        cells[column] = "1"
    return ", ".join([*first, *cells, kind])


def test_ads_are_six_views_and_unknown_sizes_are_missing():
    lines = [
        ad(["125", " 125", "1.0", "1"], "ad.", columns_of_ones=(0, 457)),
        ad(["   ?", "   ?", "   ?", "1"], "nonad.", columns_of_ones=(1553,)),
        ad(["   ?", "   ?", "   ?", "0"], "nonad."),
    ]
    parsed = parse_ads({"ad.data": "\n".join(lines).encode()})
    assert {name: block.values.shape[1] for name, block in parsed.blocks.items()} == ADS_VIEWS
    assert [parsed.names[label] for label in parsed.target] == ["ad", "nonad", "nonad"]
    views = parsed.views()
    present = {views.names[v] for v in np.flatnonzero(views.present[0])}
    assert present == {"geometry", "url", "origurl"}
    assert views.present[1].tolist() == [False] * 5 + [True]
    assert (
        views.present[2].tolist() == [False] + [True] * 5
    )  # no view has data, so the empty rows of the sparse views are kept


AD = ad(["1", "1", "1", "1"], "ad.")


@pytest.mark.parametrize(
    ("parse", "file", "content", "message"),
    [
        (parse_ads, "ad.data", "1, 2, ad.\n", "2 columns before the class, not 1558"),
        (parse_ads, "ad.data", AD.replace(" 0", " ?", 1), "terms of url hold nan, which is not a whole number from 0"),
        (parse_ads, "ad.data", AD.replace(" 0", " inf", 1), "terms of url hold inf, which is not a whole number"),
        (parse_ads, "ad.data", AD.replace(" 0", " 2", 1), "terms of url hold 2.*, which is not a .* from 0 to 1"),
        (parse_ads, "ad.data", AD.replace(" 0", " 0.5", 1), "terms of url hold 0.5, which is not a whole number"),
        (parse_letters, "letter-recognition.data", "T" + ",nan" * 16, "features hold nan, which is not a whole number"),
        (parse_letters, "letter-recognition.data", "T" + ",1.5" * 16, "features hold 1.5, which is not a whole number"),
        (parse_letters, "letter-recognition.data", "T" + ",-3" * 16, "features hold -3.*, which is not a whole number"),
        (parse_pendigits, "pendigits.tes", PEN_LINE.replace("100", "101"), "strokes hold 101.0, .* from 0 to 100"),
        (parse_pendigits, "pendigits.tes", PEN_LINE.replace(" 47", "nan"), "strokes hold nan, which is not a whole"),
        (parse_pendigits, "pendigits.tes", PEN_LINE + "0", "digits hold 80.0, which is not a .* number from 0 to 9"),
        (partial(parse_linqs, parts=("x",)), "x.content", "p1 2 k\n", "words hold 2, .* whole number from 0 to 1"),
    ],
)
def test_impossible_values_are_refused(parse, file, content, message):
    others = {"pendigits.tes": {"pendigits.tra": PEN_LINE.encode()}, "x.content": {"x.cites": b""}}
    with pytest.raises(ValueError, match=message):
        parse({file: content.encode(), **others.get(file, {})})


@pytest.mark.parametrize(
    ("rows", "message"),
    [(21, r"view 'fou' has shape \(21, 1\) for 20 entities"), (20, r"view 'kar' has shape \(22, 1\) for 20")],
)
def test_digits_have_as_many_rows_as_classes(rows, message):
    files = {f"mfeat-{name}": b"1\n" * rows for name in ("fou", "fac", "kar", "pix", "zer", "mor")}
    parsed = parse_digits(files if rows == 21 else files | {"mfeat-kar": b"1\n" * 22})
    with pytest.raises(ValueError, match=message):
        parsed.check()
    with pytest.raises(ValueError, match="mfeat-zer holds numbers that are not finite"):
        parse_digits(files | {"mfeat-zer": b"nan\n" * rows})


def segment(counts, documents, terms):
    buffer = io.BytesIO()
    mmwrite(buffer, coo_array(np.array(counts).T))  # terms by documents
    return buffer.getvalue(), "\n".join(documents).encode(), "\n".join(terms).encode()


def test_segments_are_joined_by_document():
    parts = [
        segment([[1, 0], [2, 3], [0, 4]], ["sport.1", "tech.1", "tech.2"], ["ball", "chip"]),
        segment([[7, 0, 1], [8, 9, 0]], ["tech.1", "sport.1"], ["goal", "wire", "net"]),
    ]
    files = {
        f"bbc_seg{i + 1}of2.{end}": content
        for i, part in enumerate(parts)
        for end, content in zip(("mtx", "docs", "terms"), part, strict=True)
    }
    files["bbc.clist"] = b"sport: sport.1\ntech: tech.1,tech.2\n"
    parsed = parse_segments(files, "bbc", 2)
    assert dense(parsed, "seg1") == [[1, 0], [2, 3]]  # tech.2 has one segment only
    assert dense(parsed, "seg2") == [[8, 9, 0], [7, 0, 1]]
    assert columns(parsed, "seg2") == ["goal", "wire", "net"]
    assert parsed.blocks["seg1"].ids.tolist() == ["sport.1", "tech.1"]
    assert [parsed.names[label] for label in parsed.target] == ["sport", "tech"]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ("2 2 1\n1 1 0.5", "counts of x_seg1of1.mtx hold 0.5, which is not a whole number"),
        ("2 3 1\n1 1 1", "x_seg1of1.mtx has 3 documents, x_seg1of1.docs 2"),
        ("2 999999999999 1\n1 1 1", "x_seg1of1.mtx declares more than it holds"),
        ("2 2 999999999999\n1 1 1", "x_seg1of1.mtx declares more than it holds"),
    ],
)
def test_segments_that_contradict_themselves_are_refused(matrix, message):
    content = f"%%MatrixMarket matrix coordinate real general\n{matrix}\n".encode()
    files = {"x_seg1of1.mtx": content, "x_seg1of1.docs": b"a\nb", "x_seg1of1.terms": b"t\nu", "x.clist": b"c: a,b"}
    with pytest.raises(ValueError, match=message):
        parse_segments(files, "x", 1)


LANGUAGES = {"EN": 3, "FR": 2}
read_reuters = partial(parse_reuters, n_documents=6, widths=LANGUAGES)


def reuters():
    kinds = ["C15", "C15", "C15", "M11", "M11", "M11"]
    return {
        "Index_EN-EN": "\n".join(f"{kind} 1:{i + 1}.5 3:-0.25" for i, kind in enumerate(kinds)).encode(),
        "Index_EN-FR": "\n".join(f"{kind} 2:{i + 1}" for i, kind in enumerate(kinds)).encode(),
    }


def test_reuters_sample_is_balanced_and_aligned():
    parsed = read_reuters(reuters(), n_samples=4, random_state=1)
    assert np.bincount(parsed.target).tolist() == [2, 2]
    assert parsed.names == ("C15", "M11")
    english, french = dense(parsed, "EN"), dense(parsed, "FR")
    assert [row[0] - 0.5 for row in english] == [row[1] for row in french]
    assert {row[2] for row in english} == {-0.25}
    again, other = (dense(read_reuters(reuters(), n_samples=2, random_state=seed), "EN") for seed in (1, 1))
    assert again == other


def test_reuters_with_missing_lines_is_refused():
    with pytest.raises(ValueError, match=r"\[6\] documents, not 18758"):
        parse_reuters(reuters(), n_samples=2, widths=LANGUAGES)


def test_links_lead_from_second_id_to_first():
    files = {
        "x.content": b"p1\t1\t0\t1\tML\np2\t0\t1\t0\tAI\n3\t0\t0\t1\tML\n",
        "x.cites": b"p1\tp2\np1\tp2\np1\t3\np2\tp2\ngone\tp1\n",
    }
    parsed = parse_linqs(files, ("x",))
    assert dense(parsed, "text") == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert dense(parsed, "inbound") == [[0, 1, 1], [0, 1, 0], [0, 0, 0]]  # row: is cited by
    assert dense(parsed, "outbound") == np.transpose(dense(parsed, "inbound")).tolist()
    assert [parsed.names[label] for label in parsed.target] == ["ML", "AI", "ML"]
    views = parsed.views()
    assert views.ids.tolist() == ["p1", "p2", "3"]
    assert views.present.tolist() == [[True, True, False], [True, True, True], [True, False, True]]


def test_parts_of_set_are_concatenated():
    files = {"a.content": b"u 1 k\n", "a.cites": b"", "b.content": b"w 0 j\n", "b.cites": b"w w\n"}
    parsed = parse_linqs(files, ("a", "b"))
    assert parsed.blocks["text"].ids.tolist() == ["u", "w"]
    assert dense(parsed, "inbound") == [[0, 0], [0, 1]]


HEADER = b"Date: Tue, 03 Dec 1996 21:29:06 GMT\r\nServer: NCSA/1.4\r\nContent-type: text/html\r\n\r\n"


def page(body):
    return HEADER + b"<html><body>" + body + b"</body></html>"


WEB = {
    "webkb/course/cornell/http:^^a.edu^one^": page(b"Course one. <a href='two.html#top'>Second Course</a>"),
    "webkb/course/cornell/http:^^a.edu^one^two.html": page(b"Two &amp; <script>var hidden;</script> courses"),
    "webkb/student/misc/http:^^b.edu": page(b"Student <A HREF=http://a.edu/one>her course</a> <a href='#top'>self</a>"),
    "webkb/other/misc/http:^^c.edu^x.html": page(
        b"<a href='http://b.edu/'>Home of Ann</a><a href='http://[bad'>no</a>"
    ),
}


def test_pages_have_words_anchor_words_and_links():
    parsed = parse_webkb(WEB, min_df=1)
    ids = parsed.blocks["text"].ids.tolist()
    assert ids == ["http://a.edu/one/", "http://a.edu/one/two.html", "http://b.edu"]
    assert [parsed.names[label] for label in parsed.target] == ["course", "course", "student"]
    words = columns(parsed, "text")
    assert "hidden" not in words
    assert "server" not in words  # a word of the server's header
    assert dense(parsed, "text")[0][words.index("course")] == 2
    words = [{columns(parsed, "anchor")[j] for j in np.flatnonzero(row)} for row in dense(parsed, "anchor")]
    assert words == [
        {"her", "course"},
        {"second", "course"},
        {"home", "of", "ann"},
    ]  # without links of a page to itself
    assert columns(parsed, "inbound") == ["http://a.edu/one/", "http://c.edu/x.html", "http://b.edu"]
    assert dense(parsed, "inbound") == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]  # no page links to itself
    assert columns(parsed, "outbound") == ["http://a.edu/one/", "http://a.edu/one/two.html"]
    assert dense(parsed, "outbound") == [[0, 1], [0, 0], [1, 0]]


def test_words_of_few_pages_are_left_out():
    assert columns(parse_webkb(WEB, min_df=2), "text") == ["course"]


def test_malformed_pages_keep_readable_parts():
    read = read_page("course", "http://a.edu/", b"plain words, no header <a href=x>there <![oops broken")
    assert read.text.startswith("plain words, no header")
    assert read.links == [("http://a.edu/x", "there ")]


def test_endless_header_and_page_are_read_in_time():
    assert "line" in read_page("course", "http://a.edu/", b"key: line\r\n" * 2_000 + b"no header").text
    assert len(read_page("course", "http://a.edu/", b"x" * (2**21 + 5)).text) == 2**21


def test_messages_have_body_and_subject():
    message = (
        "From: ann@example.org\r\nSubject: Re: old\r\n cars\r\nLines: 2\r\n\r\n>quoted words\r\n\r\nNew words, x.\r\n"
    )
    files = {
        "20news-bydate-test/rec.autos/9": b"Subject: test part\n\nsome words here",
        "20news-bydate-train/rec.autos/10": message.encode(),
        "20news-bydate-train/alt.atheism/11": b"From: bob\n\nno subject, \xe9t\xe9 words",
    }
    parsed = parse_newsgroups(files, min_body=1, min_subject=1)
    assert parsed.names == ("alt.atheism", "rec.autos")
    assert parsed.target.tolist() == [0, 1, 1]  # training messages first, by group
    words = [{columns(parsed, "subject")[j] for j in np.flatnonzero(row)} for row in dense(parsed, "subject")]
    assert words == [set(), {"re", "old", "cars"}, {"test", "part"}]
    body = columns(parsed, "body")
    assert dense(parsed, "body")[1][body.index("words")] == 2
    assert "ann" not in body
    assert "lines" not in body
    assert parsed.views().present.tolist() == [[True, False], [True, True], [True, True]]
    assert columns(parse_newsgroups(files, min_body=3, min_subject=1), "body") == ["words"]


def test_cluto_columns_start_at_one_and_empty_columns_are_dropped():
    files = {
        "re0.mat": b"3 4 4\n1 2 4 1\n4 3\n1 1 \n",
        "re0.mat.rclass": b"money\ntrade\nmoney\n",
        "re0.mat.clabel": b"bank\nunused\nnobody\nship\n",
    }
    parsed = parse_cluto(files, "re0")
    assert dense(parsed, "text") == [[2, 1], [0, 3], [1, 0]]
    assert columns(parsed, "text") == ["bank", "ship"]
    assert [parsed.names[label] for label in parsed.target] == ["money", "trade", "money"]
    for name, content, message in (
        ("re0.mat", b"3 4 5\n1 2 4 1\n4 3\n1 1\n", "3 rows with 4 entries, not 3 with 5"),
        ("re0.mat.rclass", b"money\ntrade\n", "2 classes for 3 rows"),
        ("re0.mat", b"3 4 4\n1 2 9 1\n4 3\n1 1\n", "indices must be < 4"),
        ("re0.mat", b"3 4 4\n1 2 4 1\n4 3\n1 inf\n", r"counts hold inf, which is not a whole number"),
        ("re0.mat", b"3 4 4\n1 2 4 1\n4 3\n1 -2\n", r"counts hold -2.*, which is not a whole number"),
        ("re0.mat", b"3 4 4\n1 2 4 1\n4 3\n1 0.5\n", r"counts hold 0.5, which is not a whole number"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_cluto(files | {name: content}, "re0")
    wide = parse_cluto(files | {"re0.mat": b"3 999999999999 4\n1 2 4 1\n4 0\n1 1\n"}, "re0")
    assert dense(wide, "text") == [[2, 1], [0, 0], [1, 0]]  # only the used columns, whatever the header declares
    assert wide.views().present.all()
