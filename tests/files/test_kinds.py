"""Kinds of views are detected or forced, and impossible kinds are refused."""

import gzip
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files import KINDS, fit_and_encode

RNG = np.random.default_rng(0)
SENTENCES = [f"a study of thing {i} and of some others like it" for i in range(40)]
NAMES = [f"Person Number{i}" for i in range(40)]
LEVELS = ["red", "green", "blue", "green"] * 10


def table(*columns, names=None):
    names = names or [f"c{i}" for i in range(len(columns))]
    return "\n".join(",".join(map(str, row)) for row in [names, *zip(*columns, strict=True)]) + "\n"


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ([RNG.normal(size=40)], "numbers"),
        ([RNG.integers(0, 100, 40)], "numbers"),
        ([RNG.normal(size=40), np.arange(40)], "numbers"),
        ([SENTENCES], "text"),
        ([SENTENCES, NAMES], "text"),
        ([NAMES], "names"),
        ([LEVELS], "categories"),
        ([LEVELS, LEVELS[::-1]], "categories"),
        ([LEVELS, RNG.normal(size=40)], "categories"),
        (list(np.eye(40, 12, dtype=int).T), "counts"),
        ([*np.eye(40, 12).T[:-1], np.linspace(0, 1, 40)], "numbers"),
    ],
)
def test_kinds_of_tables_are_detected(put, content, columns, kind):
    assert content(put("t.csv", table(*columns))).kind == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([["a", "b"]] * 20, "counts"),
        ([{"a": 2}, {"b": 1}] * 10, "counts"),
        ([[0.5, i] for i in range(20)], "numbers"),
        ([i / 2 for i in range(20)], "numbers"),
    ],
)
def test_kinds_of_fields_are_detected(put, content, values, kind):
    assert content(put("t.jsonl", [{"x": value} for value in values])).kind == kind


COUNTS = RNG.poisson(0.1, size=(30, 20))
POINTS = RNG.normal(size=(12, 3))
ALIKE = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (COUNTS, "counts"),
        (COUNTS.astype(float), "counts"),
        (COUNTS > 0, "counts"),
        (-COUNTS, "numbers"),
        (COUNTS / 2, "numbers"),
        (COUNTS + 1, "numbers"),
        (POINTS, "numbers"),
        (ALIKE, "similarities"),
        (POINTS @ POINTS.T, "numbers"),
        (1 - ALIKE, "numbers"),
        (ALIKE + np.triu(np.full((12, 12), 0.1), 1), "numbers"),
        (ALIKE[:2, :2], "numbers"),
    ],
    ids=[
        "counts",
        "real",
        "truth",
        "negative",
        "halves",
        "many",
        "points",
        "alike",
        "products",
        "unlike",
        "askew",
        "two",
    ],
)
def test_kinds_of_matrices_are_detected(tmp_path, content, make, X, kind):
    if make is sp.csr_array and kind == "numbers" and (X >= 0).all() and np.array_equal(X, np.floor(X)):
        kind = "counts"  # whole numbers in sparse storage, at any density
    if make is sp.csr_array:
        sp.save_npz(tmp_path / "X.npz", make(X))
    else:
        np.savez(tmp_path / "X.npz", X)
    assert content(tmp_path / "X.npz").kind == kind


@pytest.mark.parametrize("kind", ["numbers", "counts", "similarities"])
def test_kind_of_matrix_can_be_forced(tmp_path, content, kind):
    np.save(tmp_path / "X.npy", ALIKE)
    view = content(tmp_path / "X.npy", kind)
    assert (view.kind, view.reason) == (kind, "set by --kind")


@pytest.mark.parametrize("kind", ["text", "names", "categories", "links"])
def test_matrix_cannot_be_text(tmp_path, content, kind):
    np.save(tmp_path / "X.npy", ALIKE)
    message = rf"view 'view' \(.*X\.npy\) is a matrix: it can be numbers or counts or .*, not {kind}"
    with pytest.raises(ValueError, match=message):
        content(tmp_path / "X.npy", kind)


@pytest.mark.parametrize("kind", ["text", "names", "categories"])
def test_numbers_read_as_text_keep_their_spelling(put, content, kind):
    view = content(put("t.csv", "code\n007\n7\n1e5\n"), kind)
    values = view.data["code"] if kind == "categories" else view.data
    assert values.tolist() == ["007", "7", "1e5"]


@pytest.mark.parametrize("name", ["view=", ""])
def test_kind_can_be_forced_by_file_name(put, read, name):
    path = put("view.csv", "code\n007\n7\n")
    (view,) = read(f"{name}{path}", kinds={"view": "categories"}).contents
    assert view.data["code"].tolist() == ["007", "7"]


def test_unknown_kind_is_refused(put, content):
    with pytest.raises(ValueError, match=f"there is no kind 'pictures': choose among {', '.join(KINDS)}"):
        content(put("t.csv", "x\n1\n"), "pictures")


def test_kind_of_unknown_view_is_refused(put, read):
    with pytest.raises(ValueError, match="--kind names 'other'; the views are 't'"):
        read(put("t.csv", "x\n1\n"), kinds={"other": "numbers"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([SENTENCES, RNG.normal(size=40)], r"mixes numbers \('c1'\) and text \('c0'\)"),
        ([NAMES, RNG.normal(size=40)], r"mixes names \('c0'\) and numbers \('c1'\)"),
        ([SENTENCES, LEVELS], r"mixes categories \('c1'\) and text \('c0'\)"),
    ],
)
def test_selected_columns_that_mix_kinds_are_refused_with_remedy(put, content, columns, message):
    remedy = r"make them separate views \(--view NAME=FILE:COLUMN\), or name their kind \(--kind view=\.\.\.\)"
    with pytest.raises(ValueError, match=rf"view 'view' {message}: {remedy}"):
        content(f"{put('t.csv', table(*columns))}:c0,c1")


@pytest.mark.parametrize("row", [0, 17, 39])
@pytest.mark.parametrize("kind", [None, "numbers", "counts"])
def test_stray_word_among_numbers_is_named_by_its_row(put, content, row, kind):
    cells = [str(i) for i in range(40)]
    cells[row] = "unknown"
    message = rf"view 'view': column 'c0' holds numbers, but 'unknown' in row {row + 1} \(1 in all\)\. Correct or empty"
    with pytest.raises(ValueError, match=message):
        content(put("t.csv", table(cells)), kind)


def test_late_stray_word_is_named_by_its_row(put, content):
    cells = [*map(str, range(6000)), "oops", "oops"]
    with pytest.raises(ValueError, match=r"column 'c0' holds numbers, but 'oops' in row 6001 \(2 in all\)"):
        content(put("t.csv", table(cells)))


def test_formula_among_numbers_is_refused(put, content):
    cells = [*map(str, range(40)), "=SUM(A1:A40)"]
    with pytest.raises(
        ValueError, match=r"'=SUM\(A1:A40\)' in row 41 .* It is a formula: export the file with its val"
    ):
        content(put("t.csv", table(cells)))


def test_long_cell_is_shortened_in_message(put, content):
    with pytest.raises(ValueError, match=r"but 'x{40}\.\.\.' in row 41"):
        content(put("t.csv", table([*map(str, range(40)), "x" * 1000])))


def test_words_cannot_be_forced_to_numbers(put, content):
    with pytest.raises(ValueError, match=r"view 'view': column 'c0' holds 'red', which is not a number"):
        content(put("t.csv", table(LEVELS)), "numbers")


@pytest.mark.parametrize("X", [-COUNTS, sp.csr_array(-COUNTS)], ids=["dense", "sparse"])
def test_negative_counts_are_refused(tmp_path, content, X):
    if sp.issparse(X):
        sp.save_npz(tmp_path / "X.npz", X)
    else:
        np.savez(tmp_path / "X.npz", X)
    with pytest.raises(ValueError, match=r"view 'view' holds -\d, which is not a count: --kind view=numbers"):
        content(tmp_path / "X.npz", "counts")


@pytest.mark.parametrize("count", ["-1", "-5", "NaN", "Infinity"])
def test_negative_or_infinite_counts_in_bags_are_refused(put, content, count):
    path = put("t.jsonl", f'{{"x": {{"a": {count}, "b": 2}}}}\n' * 4)
    with pytest.raises(ValueError, match=r"view 'view'.*count"):
        fit_and_encode([content(path)], rare=False)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_similarities_must_be_finite(tmp_path, content, value):
    X = ALIKE.copy()
    X[3, 4] = value
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=r"view 'view' has similarities that are NaN or infinite: fill them in, or 0"):
        content(tmp_path / "X.npy", "similarities")


def test_similarities_must_be_square(tmp_path, content):
    np.save(tmp_path / "X.npy", ALIKE[:5])
    with pytest.raises(
        ValueError, match=r"view 'view' \(.*X\.npy\) has 5 rows and 12 columns: similarities are a square"
    ):
        fit_and_encode([content(tmp_path / "X.npy", "similarities")], rare=False)


@pytest.mark.parametrize("kind", ["numbers", "similarities"])
def test_bags_cannot_be_numbers(put, content, kind):
    with pytest.raises(ValueError, match=r"view 'view': column 'x'"):
        content(put("t.jsonl", [{"x": ["a", "b"]}] * 5), kind)


def test_two_columns_of_bags_are_put_together(put, content):
    bags = content(put("t.jsonl", [{"x": ["a"], "y": ["a", "b"]}, {"x": ["c"]}, {"y": []}])).data
    assert bags.tolist() == [{"x=a": 1, "y=a": 1, "y=b": 1}, {"x=c": 1}, None]


def test_bags_beside_numbers_are_no_counts(put, content):
    with pytest.raises(ValueError, match=r"view 'view': column 'x' holds \"\{'a': 1\.0\}\", which is not a number"):
        content(put("t.jsonl", [{"x": ["a"], "y": 3}] * 5), "counts")


def test_table_of_ids_only_is_refused(put, content):
    with pytest.raises(ValueError, match=r"view 'view' \(.*t\.csv\) has no columns left beside the id and the labels"):
        content(put("t.csv", "id\n1\n2\n"))


@pytest.mark.parametrize("kind", ["numbers", "counts"])
def test_table_of_empty_cells_is_refused(put, content, kind):
    with pytest.raises(ValueError, match=r"every cell is empty|no view describes any entity"):
        fit_and_encode([content(put("t.csv", "x,y\n,\n,\n"), kind)], rare=False)


EDGES = ["source,target", "from,to", "src,dst", "citing,cited", "head,tail", "Source,Target", "source,target,weight"]


@pytest.mark.parametrize("header", EDGES)
def test_links_are_detected_by_their_columns(put, content, header):
    row = "a,b,2" if "weight" in header else "a,b"
    view = content(put("t.csv", f"{header}\n{row}\n"))
    assert view.kind == "links"
    assert [array.tolist() for array in view.data] == [["a"], ["b"], [2.0 if "weight" in header else 1.0]]


@pytest.mark.parametrize("header", ["target,source", "source,target,year", "source,target,weight,x", "a,b"])
def test_other_columns_are_not_links(put, content, header):
    path = put("t.csv", header + "\n" + f"{','.join('1' * len(header.split(',')))}\n" * 5)
    assert content(path).kind != "links"


def test_links_can_be_forced(put, content):
    view = content(put("t.csv", "x,y\n007,7\n8,\n,9\n"), "links")
    assert [array.tolist() for array in view.data] == [["007"], ["7"], [1.0]]


@pytest.mark.parametrize("kind", [None, "links"])
def test_columns_of_links_can_be_selected(put, content, kind):
    view = content(f"{put('t.csv', 'year,from,to' + chr(10) + '1,7,8' + chr(10))}:from,to", kind)
    assert [array.tolist() for array in view.data] == [["7"], ["8"], [1.0]]


def test_weights_of_links_can_be_selected(put, content):
    view = content(f"{put('t.csv', 'year,x,y,w' + chr(10) + '1,7,8,3' + chr(10))}:x,y,w", "links")
    assert [array.tolist() for array in view.data] == [["7"], ["8"], [3.0]]


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("t.csv", b"source,target\n1000001,2\n"),
        ("t.csv.gz", gzip.compress(b"source,target\n1000001,2\n", mtime=0)),
        ("t.jsonl", b'{"source": 1000001, "target": 2}\n'),
    ],
)
def test_ids_of_links_are_text(put, read, name, whole):
    (view,) = read(put(name, whole)).contents
    assert view.kind == "links"
    assert [array.tolist() for array in view.data[:2]] == [["1000001"], ["2"]]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.v2.csv"])
def test_kind_of_file_with_two_suffixes_can_be_forced(put, read, name):
    whole = b"a,b\n1000001,2\n"
    path = put(name, gzip.compress(whole, mtime=0) if name.endswith(".gz") else whole)
    (view,) = read(path, kinds={"t": "links"}).contents
    assert [array.tolist() for array in view.data[:2]] == [["1000001"], ["2"]]


@pytest.mark.parametrize(("weights", "shown"), [("-1", "-1"), ("inf", "inf"), ("", "none"), ("heavy", "heavy")])
def test_weights_of_links_are_checked(put, content, weights, shown):
    with pytest.raises(
        ValueError, match=rf"the third column of links must be weights, 0 or more, but row 2 has {shown}: correct it"
    ):
        content(put("t.csv", f"source,target,weight\na,b,1\nb,c,{weights}\n"))


@pytest.mark.parametrize("header", ["a", "a,b,c,d"])
def test_links_must_be_two_or_three_columns(put, content, header):
    path = put("t.csv", header + "\n" + ",".join("1" * len(header.split(","))) + "\n")
    with pytest.raises(ValueError, match=r"links are two columns of ids and an optional weight, not \d column"):
        content(path, "links")


def test_links_that_are_a_matrix_are_refused_with_the_kinds_of_a_matrix(put, content):
    path = put("t.csv", "a,b,c,d\n" + "1,0,0,1\n" * 4)
    with pytest.raises(
        ValueError, match="not 4 columns: for a matrix with a column per entity, --kind view=similarities"
    ):
        content(path, "links")
    with pytest.raises(ValueError, match=r"not 1 column: name them, as in .*t\.csv:source,target"):
        content(put("t.csv", "a\nx\n"), "links")


@pytest.mark.parametrize("storage", ["sparse", "dense"])
def test_matrix_of_joint_papers_is_counts(tmp_path, content, storage):
    papers = sp.csr_array(RNG.random((60, 90)) < 0.01, dtype=float)
    authors = sp.csr_array(papers @ papers.T + sp.eye_array(60))  # symmetric, and largest on the diagonal
    if storage == "sparse":
        sp.save_npz(tmp_path / "authors.npz", authors)
    else:
        np.savez(tmp_path / "authors.npz", authors.toarray())
    view = content(tmp_path / "authors.npz")
    assert view.kind == "counts"
    assert "--kind view=similarities if they compare the entities" in view.reason


@pytest.mark.parametrize("storage", ["matrix", "table"])
def test_dense_table_of_histograms_is_numbers(tmp_path, put, content, storage):
    X = RNG.poisson(0.16, size=(60, 30))  # 15% not 0
    if storage == "matrix":
        np.save(tmp_path / "X.npy", X)
        view = content(tmp_path / "X.npy")
    else:
        view = content(put("X.csv", table(*X.T)))
    assert view.kind == "numbers"
    assert "of them not 0; --kind view=counts if they count words or events" in view.reason


def test_dense_table_of_large_whole_numbers_is_numbers(tmp_path, content):
    pixels = np.where(RNG.random((60, 30)) < 0.05, RNG.integers(20, 255, size=(60, 30)), 0)
    np.save(tmp_path / "X.npy", pixels)
    assert content(tmp_path / "X.npy").kind == "numbers"


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_raw_counts_of_single_cell_files_are_expression(tmp_path, content, make):
    ad = pytest.importorskip("anndata")
    counts = RNG.poisson(2.0, size=(30, 8)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ad.AnnData(make(counts)).write(tmp_path / "cells.h5ad")
        ad.AnnData(np.log1p(counts)).write(tmp_path / "logged.h5ad")
    raw, logged = (content(f"{tmp_path / name}:X") for name in ("cells.h5ad", "logged.h5ad"))
    assert (raw.kind, raw.reason) == ("expression", "raw counts of genes")
    assert (logged.kind, logged.reason) == ("numbers", "not raw counts, taken as they are")


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity"])
def test_infinite_cells_are_refused_by_row_and_column(put, content, cell):
    message = (
        r"view 'view' has an infinite number in row 3, column 'b' \(1 in all\): correct the cell, or leave it empty"
    )
    with pytest.raises(ValueError, match=message):
        content(put("t.csv", f"a,b\n1,2\n3,4\n5,{cell}\n"))


@pytest.mark.parametrize("kind", [None, "counts", "numbers"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_infinities_in_matrix_are_refused(tmp_path, content, make, kind):
    X = COUNTS.astype(float)
    X[4, 7] = np.inf
    if make is sp.csr_array:
        sp.save_npz(tmp_path / "X.npz", make(X))
    else:
        np.savez(tmp_path / "X.npz", X)
    with pytest.raises(ValueError, match=r"view 'view' has an infinite number in row 5, column 8 \(1 in all\)"):
        content(tmp_path / "X.npz", kind)


def test_infinity_among_categories_is_refused(put, content):
    rows = "".join(f"{level},{i}\n" for i, level in enumerate(LEVELS))
    with pytest.raises(ValueError, match="view 'view' has an infinite number in row 41, column 'size'"):
        content(put("t.csv", f"colour,size\n{rows}red,inf\n"))
