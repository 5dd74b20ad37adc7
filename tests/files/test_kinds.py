"""Kinds of views are detected or forced, and impossible kinds are refused."""

import gzip

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
    ("kind", "tables"),
    [
        ("numbers", [[RNG.normal(size=40)], [RNG.integers(0, 100, 40)], [RNG.normal(size=40), np.arange(40)]]),
        ("numbers", [[*np.eye(40, 12).T[:-1], np.linspace(0, 1, 40)]]),
        ("text", [[SENTENCES], [SENTENCES, NAMES]]),
        ("names", [[NAMES]]),
        ("categories", [[LEVELS], [LEVELS, LEVELS[::-1]], [LEVELS, RNG.normal(size=40)]]),
        ("counts", [list(np.eye(40, 12, dtype=int).T)]),
    ],
)
def test_kinds_of_tables_are_detected(put, content, kind, tables):
    for columns in tables:
        assert content(put("t.csv", table(*columns))).kind == kind


def test_kinds_of_fields_are_detected(put, content):
    for values, kind in (
        ([["a", "b"]] * 20, "counts"),
        ([{"a": 2}, {"b": 1}] * 10, "counts"),
        ([[0.5, i] for i in range(20)], "numbers"),
        ([i / 2 for i in range(20)], "numbers"),
    ):
        assert content(put("t.jsonl", [{"x": value} for value in values])).kind == kind


COUNTS = RNG.poisson(0.1, size=(30, 20))
POINTS = RNG.normal(size=(12, 3))
ALIKE = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))


def save_matrix(tmp_path, X):
    (sp.save_npz if sp.issparse(X) else np.savez)(tmp_path / "X.npz", X)
    return tmp_path / "X.npz"


@pytest.mark.parametrize(
    ("kind", "matrices"),
    [
        ("counts", [COUNTS, COUNTS.astype(float), COUNTS > 0]),
        ("numbers", [-COUNTS, COUNTS / 2, POINTS, POINTS @ POINTS.T, 1 - ALIKE, ALIKE[:2, :2]]),
        ("numbers", [ALIKE + np.triu(np.full((12, 12), 0.1), 1)]),  # not symmetric
        ("similarities", [ALIKE]),
    ],
)
def test_kinds_of_matrices_are_detected(tmp_path, content, kind, matrices):
    for X in matrices:
        for make in (np.asarray, sp.csr_array):
            assert content(save_matrix(tmp_path, make(X))).kind == kind
    assert content(save_matrix(tmp_path, COUNTS + 1)).kind == "numbers"  # and counts if they are sparse
    assert content(save_matrix(tmp_path, sp.csr_array(COUNTS + 1))).kind == "counts"


def test_kind_of_matrix_can_be_forced_but_not_to_text_or_an_unknown_one(tmp_path, content):
    np.save(tmp_path / "X.npy", ALIKE)
    with pytest.raises(ValueError, match=f"there is no kind 'pictures': choose among {', '.join(KINDS)}"):
        content(tmp_path / "X.npy", "pictures")
    for kind in ("numbers", "counts", "similarities"):
        view = content(tmp_path / "X.npy", kind)
        assert (view.kind, view.reason) == (kind, "set by --kind")
    for kind in ("text", "names", "categories", "links"):
        message = rf"view 'view' \(.*X\.npy\) is a matrix: it can be numbers or counts or .*, not {kind}"
        with pytest.raises(ValueError, match=message):
            content(tmp_path / "X.npy", kind)


def test_numbers_read_as_text_keep_their_spelling(put, read):
    path = put("view.csv", "code\n007\n7\n1e5\n")
    for kind in ("text", "names", "categories"):
        for name in ("view=", ""):  # given, or that of the file
            (view,) = read(f"{name}{path}", kinds={"view": kind}).contents
            values = view.data["code"] if kind == "categories" else view.data
            assert values.tolist() == ["007", "7", "1e5"]


def test_selected_columns_that_mix_kinds_are_refused_with_remedy(put, content):
    remedy = r"make them separate views \(--view NAME=FILE:COLUMN\), or name their kind \(--kind view=\.\.\.\)"
    for columns, message in (
        ([SENTENCES, RNG.normal(size=40)], r"mixes numbers \('c1'\) and text \('c0'\)"),
        ([NAMES, RNG.normal(size=40)], r"mixes names \('c0'\) and numbers \('c1'\)"),
        ([SENTENCES, LEVELS], r"mixes categories \('c1'\) and text \('c0'\)"),
    ):
        with pytest.raises(ValueError, match=rf"view 'view' {message}: {remedy}"):
            content(f"{put('t.csv', table(*columns))}:c0,c1")


@pytest.mark.parametrize(
    ("cells", "kind", "message"),
    [
        (["?!", *range(39)], None, r"holds numbers, but '\?!' in row 1 \(1 in all\)\. Correct or empty"),
        ([*range(17), "?!", *range(22)], "numbers", r"holds numbers, but '\?!' in row 18 \(1 in all\)\. Correct or"),
        ([*range(39), "?!"], "counts", r"holds numbers, but '\?!' in row 40 \(1 in all\)\. Correct or empty"),
        ([*range(6000), "oops", "oops"], None, r"holds numbers, but 'oops' in row 6001 \(2 in all\)"),
        ([*range(40), "=SUM(A1:A40)"], None, r"'=SUM\(A1:A40\)' in row 41 .* It is a formula: export the file with"),
        ([*range(40), "x" * 1000], None, r"but 'x{40}\.\.\.' in row 41"),
        (LEVELS, "numbers", "holds 'red', which is not a number"),
    ],
)
def test_stray_word_among_numbers_is_named_by_its_row(put, content, cells, kind, message):
    with pytest.raises(ValueError, match=f"view 'view': column 'c0' .*{message}"):
        content(put("t.csv", table(cells)), kind)


def test_negative_or_infinite_counts_are_refused(put, tmp_path, content):
    for X in (-COUNTS, sp.csr_array(-COUNTS)):
        with pytest.raises(ValueError, match=r"view 'view' holds -\d, which is not a count: --kind view=numbers"):
            content(save_matrix(tmp_path, X), "counts")
    for count in ("-1", "-5", "NaN", "Infinity"):
        path = put("t.jsonl", f'{{"x": {{"a": {count}, "b": 2}}}}\n' * 4)
        with pytest.raises(ValueError, match=r"view 'view'.*count"):
            fit_and_encode([content(path)], rare=False)


def test_similarities_must_be_finite_and_square(tmp_path, content):
    for value in (np.nan, np.inf):
        X = ALIKE.copy()
        X[3, 4] = value
        with pytest.raises(ValueError, match=r"'view' has similarities that are NaN or infinite: fill them in, or 0"):
            content(save_matrix(tmp_path, X), "similarities")
    with pytest.raises(ValueError, match=r"'view' \(.*X\.npz\) has 5 rows and 12 columns: similarities are a square"):
        fit_and_encode([content(save_matrix(tmp_path, ALIKE[:5]), "similarities")], rare=False)


def test_bags_cannot_be_numbers_and_two_columns_of_them_are_put_together(put, content):
    bags = content(put("t.jsonl", [{"x": ["a"], "y": ["a", "b"]}, {"x": ["c"]}, {"y": []}])).data
    assert bags.tolist() == [{"x=a": 1, "y=a": 1, "y=b": 1}, {"x=c": 1}, None]
    for kind in ("numbers", "similarities"):
        with pytest.raises(ValueError, match=r"view 'view': column 'x'"):
            content(put("t.jsonl", [{"x": ["a", "b"]}] * 5), kind)
    with pytest.raises(ValueError, match=r"view 'view': column 'x' holds \"\{'a': 1\.0\}\", which is not a number"):
        content(put("t.jsonl", [{"x": ["a"], "y": 3}] * 5), "counts")


def test_table_without_columns_or_cells_is_refused(put, content):
    with pytest.raises(ValueError, match=r"view 'view' \(.*t\.csv\) has no columns left beside the id and the labels"):
        content(put("t.csv", "id\n1\n2\n"))
    for kind in ("numbers", "counts"):
        with pytest.raises(ValueError, match=r"every cell is empty|no view describes any entity"):
            fit_and_encode([content(put("t.csv", "x,y\n,\n,\n"), kind)], rare=False)


def read_links(content, path, kind=None):
    view = content(path, kind)
    assert view.kind == "links"
    return [array.tolist() for array in view.data]


def test_links_are_detected_by_their_columns(put, content):
    for header in ("source,target", "from,to", "src,dst", "citing,cited", "head,tail", "Source,Target"):
        assert read_links(content, put("t.csv", f"{header}\na,b\n")) == [["a"], ["b"], [1.0]]
    assert read_links(content, put("t.csv", "source,target,weight\na,b,2\n")) == [["a"], ["b"], [2.0]]
    for header in ("target,source", "source,target,year", "source,target,weight,x", "a,b"):
        path = put("t.csv", header + "\n" + f"{','.join('1' * len(header.split(',')))}\n" * 5)
        assert content(path).kind != "links"


def test_links_can_be_forced_and_their_columns_selected(put, content):
    assert read_links(content, put("t.csv", "x,y\n007,7\n8,\n,9\n"), "links") == [["007"], ["7"], [1.0]]
    path = put("t.csv", "year,from,to,w\n1,7,8,3\n")
    for kind in (None, "links"):
        assert read_links(content, f"{path}:from,to", kind) == [["7"], ["8"], [1.0]]
    assert read_links(content, f"{path}:from,to,w", "links") == [["7"], ["8"], [3.0]]


def test_ids_of_links_are_text(put, read):
    for name, whole in (
        ("t.csv", b"source,target\n1000001,2\n"),
        ("t.csv.gz", gzip.compress(b"source,target\n1000001,2\n", mtime=0)),
        ("t.jsonl", b'{"source": 1000001, "target": 2}\n'),
        ("t.csv.gz", gzip.compress(b"a,b\n1000001,2\n", mtime=0)),
        ("t.v2.csv", b"a,b\n1000001,2\n"),
    ):
        kinds = {"t": "links"} if b"source" not in whole else {}
        (view,) = read(put(name, whole), kinds=kinds).contents
        assert view.kind == "links"
        assert [array.tolist() for array in view.data[:2]] == [["1000001"], ["2"]]


def test_weights_and_number_of_columns_of_links_are_checked(put, content):
    for weight, shown in (("-1", "-1"), ("inf", "inf"), ("", "none"), ("heavy", "heavy")):
        message = rf"the third column of links must be weights, 0 or more, but row 2 has {shown}: correct it"
        with pytest.raises(ValueError, match=message):
            content(put("t.csv", f"source,target,weight\na,b,1\nb,c,{weight}\n"))
    message = "links are two columns of ids and an optional weight, not"
    with pytest.raises(ValueError, match=rf"{message} 1 column: name them, as in .*t\.csv:source,target"):
        content(put("t.csv", "a\nx\n"), "links")
    with pytest.raises(ValueError, match=rf"{message} 4 columns: for a matrix .* per entity, --kind view=similarities"):
        content(put("t.csv", "a,b,c,d\n" + "1,0,0,1\n" * 4), "links")


def test_matrix_of_joint_papers_is_counts(tmp_path, content):
    papers = sp.csr_array(RNG.random((60, 90)) < 0.01, dtype=float)
    authors = sp.csr_array(papers @ papers.T + sp.eye_array(60))  # symmetric, and largest on the diagonal
    for X in (authors, authors.toarray()):
        view = content(save_matrix(tmp_path, X))
        assert view.kind == "counts"
        assert "--kind view=similarities if they compare the entities" in view.reason


def test_dense_table_of_histograms_is_numbers(tmp_path, put, content):
    X = RNG.poisson(0.16, size=(60, 30))  # 15% not 0
    for path in (save_matrix(tmp_path, X), put("X.csv", table(*X.T))):
        view = content(path)
        assert view.kind == "numbers"
        assert "of them not 0; --kind view=counts if they count words or events" in view.reason
    pixels = np.where(RNG.random((60, 30)) < 0.05, RNG.integers(20, 255, size=(60, 30)), 0)
    assert content(save_matrix(tmp_path, pixels)).kind == "numbers"


def test_infinite_cells_are_refused_by_row_and_column(tmp_path, put, content):
    message = r"view 'view' has an infinite number in row 3, column 'b' \(1 in all\): correct the cell, or leave it"
    for cell in ("inf", "-inf", "Infinity"):
        with pytest.raises(ValueError, match=message):
            content(put("t.csv", f"a,b\n1,2\n3,4\n5,{cell}\n"))
    rows = "".join(f"{level},{i}\n" for i, level in enumerate(LEVELS))
    with pytest.raises(ValueError, match="view 'view' has an infinite number in row 41, column 'size'"):
        content(put("t.csv", f"colour,size\n{rows}red,inf\n"))
    X = COUNTS.astype(float)
    X[4, 7] = np.inf
    for make, kind in ((np.asarray, None), (sp.csr_array, None), (np.asarray, "counts"), (sp.csr_array, "numbers")):
        with pytest.raises(ValueError, match=r"view 'view' has an infinite number in row 5, column 8 \(1 in all\)"):
            content(save_matrix(tmp_path, make(X)), kind)
