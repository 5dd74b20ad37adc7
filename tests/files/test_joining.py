"""Files are joined by id, and known classes are matched with entities."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files import collect_ids, encode, fit_and_encode, join_contents, match_classes

RNG = np.random.default_rng(0)
ALL = [f"{i:03d}" for i in range(50)]
VALUE = {entity_id: float(i) for i, entity_id in enumerate(ALL)}


def test_rows_are_joined_by_id(put, read):
    """Three files are in different orders, and each lacks a fifth of the entities."""
    rng = np.random.default_rng(1)
    view_ids = {name: rng.permutation(ALL)[:40].tolist() for name in "abc"}
    paths = []
    for name, ids in view_ids.items():
        rows = "".join(f"{entity_id},{VALUE[entity_id]}\n" for entity_id in ids)
        paths.append(put(f"{name}.csv", f"id,{name}\n{rows}"))
    result = fit_and_encode(read(*paths).contents, rare=False)
    wanted = list(dict.fromkeys(entity_id for ids in view_ids.values() for entity_id in ids))
    assert result.views.ids.tolist() == wanted
    for v, (name, ids) in enumerate(view_ids.items()):
        present = result.views.present[:, v]
        np.testing.assert_array_equal(present, [entity_id in ids for entity_id in wanted])
        values = np.array([VALUE[entity_id] for entity_id in wanted])
        block = np.asarray(result.views[name]).ravel()
        np.testing.assert_allclose(block[present], (values[present] - values[present].mean()) / values[present].std())
        assert np.isnan(block[~present]).all()
    assert result.kept.all()


def test_usual_id_column_is_used_and_noted(put, read):
    for usual in ("id", "ID", "Id"):
        reading = read(*(put(f"{name}.csv", f"{usual},x\n007,1\n7,2\n") for name in "ab"))
        assert reading.id_column == usual
        assert reading.notes == [f"Entities are joined by the column {usual!r} (--id)."]
        assert collect_ids(reading.contents).tolist() == ["007", "7"]


def test_given_id_column_is_used(put, read):
    paths = [put("a.csv", "who,x\n1,1\n2,2\n"), put("b.jsonl", [{"who": 2, "y": 3.5}, {"who": 1, "y": 1.5}])]
    reading = read(*paths, id_column="who")
    assert reading.notes == []
    assert fit_and_encode(reading.contents, rare=False).views["b"].ravel().tolist() == [-1.0, 1.0]
    with pytest.raises(ValueError, match=r"c\.csv has no column 'who' \(--id\); it has 'x', 'y'"):
        read(paths[0], put("c.csv", "x,y\n1,1\n"), id_column="who")


PLAIN = "id,x\n1,1\n2,2\n"
REFUSED = {
    "repeated id": ({"a.csv": "id,x\n7,1\n8,2\n7,3\n"}, r"a\.csv has the id '7' more than once: aggregate or drop"),
    "no id": ({"a.csv": "id,x\n7,1\n,2\n"}, r"a\.csv has no id in row 2: give the row an id, or drop it"),
    "blank id": ({"a.csv": "id,x\n7,1\n  ,2\n"}, r"a\.csv has no id in row 2: give the row an id, or drop it"),
    "nothing shared": (
        {"a.csv": PLAIN, "c.csv": "id,x\n2,1\n", "b.csv": "id,x\nu,1\nv,2\n"},
        r"view 'b' \(.*b\.csv\) shares no id with the other views: its first is 'u', the first of 'a' is '1'",
    ),
    "other length": (
        {"a.csv": "x\n1\n2\n", "b.csv": "x\n1\n2\n3\n"},
        r"view 'b' \(.*b\.csv\) has 3 rows, view 'a' 2: without ids rows are matched by position\. Give --id",
    ),
    "same name": ({"a.csv": PLAIN, "d/a.csv": PLAIN}, r"two views are called 'a': give each its own name \(--view"),
    "empty": ({"a.jsonl": '{"id": 1, "b": {}, "c": null}\n'}, "no view describes any entity: check|no column"),
    "links beside no ids": (
        {"e.csv": "source,target\n1,2\n", "t.csv": "x\n1\n2\n"},
        "view 'e' links ids, but the other views have none: give --id COLUMN",
    ),
    "name of a direction": ({"e.csv": "source,target\n1,2\n", "e-out.csv": PLAIN}, "e-out"),
    "unknown ends": ({"e.csv": "source,target\nu,v\n", "t.csv": PLAIN}, r"view 'e'.* id"),
}


@pytest.mark.parametrize(("files", "message"), REFUSED.values(), ids=REFUSED)
def test_files_that_cannot_be_joined_are_refused(put, read, files, message):
    with pytest.raises(ValueError, match=message):
        fit_and_encode(read(*(put(name, text) for name, text in files.items())).contents, rare=False)


def test_matrix_that_fits_no_order_is_refused(put, read, tmp_path):
    advice = (
        r"give one row per id in the same order, or add the ids \(a column of a table, or an array 'ids' in an \.npz"
    )
    lengths = r"view 'm' \(.*m\.npy\) has 3 rows without ids, but view 'a' \(.*a\.csv\) has 2 rows with ids"
    orders = r"view 'm' \(.*\) has no ids, and the views 'a' and 'b' have as many rows \(2\) in different orders: add"
    for n_rows, other, message in ((3, PLAIN, f"{lengths}: {advice}"), (2, "id,x\n2,1\n1,2\n", orders)):
        np.save(tmp_path / "m.npy", RNG.normal(size=(n_rows, 3)))
        with pytest.raises(ValueError, match=message):
            read(put("a.csv", PLAIN), put("b.csv", other), tmp_path / "m.npy")


def test_matrix_with_ids_is_joined(put, read, tmp_path):
    X = RNG.normal(size=(3, 2))
    np.savez(tmp_path / "m.npz", X=X, ids=np.array(["c", "a", "b"]))
    result = fit_and_encode(read(put("t.csv", "id,x\na,1\nb,2\nc,4\n"), tmp_path / "m.npz").contents, rare=False)
    assert result.ids.tolist() == ["a", "b", "c"]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(result.views["m"], scaled[[1, 2, 0]])


def test_rows_are_matched_by_position_if_a_matrix_or_all_have_no_ids(put, read, tmp_path):
    np.save(tmp_path / "m.npy", np.array([[1.0, 2.0], [5.0, 3.0]]))
    reading = read(put("a.csv", "id,x\nu,1\nv,2\n"), put("b.csv", "id,y\nv,1\n"), tmp_path / "m.npy")
    assert reading.notes[-1] == "View 'm' has no ids: its 2 rows are matched by position with those of view 'a'."
    result = fit_and_encode(reading.contents, rare=False)
    assert result.ids.tolist() == ["u", "v"]
    np.testing.assert_allclose(result.views["m"], [[-1, -1], [1, 1]])
    result = fit_and_encode(read(put("t.csv", "x\n5\n7\n"), tmp_path / "m.npy").contents, rare=False)
    assert result.ids is result.views.ids is None
    np.testing.assert_allclose(np.repeat(result.views["t"], 2, axis=1), result.views["m"])


def test_entities_without_any_view_are_left_out_and_empty_cells_counted(put, read):
    result = fit_and_encode(read(put("a.csv", "x,y\n1,2\n,3\n4,?\n,\n")).contents, rare=False)
    assert result.filled == {"a": 2}
    paths = [put("a.csv", "id,x\n1,1\n2,\n3,3\n"), put("b.csv", "id,words\n1,red apple\n2,\n3,green apple\n4,\n")]
    result = fit_and_encode(read(*paths, kinds={"b": "text"}).contents, rare=False)
    assert result.ids.tolist() == ["1", "2", "3", "4"]
    assert result.kept.tolist() == [True, False, True, False]
    assert result.views.ids.tolist() == ["1", "3"]
    assert result.texts["b"].tolist() == ["red apple", "green apple"]
    contents = read(put("c.jsonl", [{"id": i, "words": None} for i in range(3)]), kinds={"c": "counts"}).contents
    with pytest.raises(ValueError, match="no view describes any entity: check the files"):
        fit_and_encode(contents, rare=False)


def test_links_join_tables_by_ids_as_text(put, read):
    links = put("e.csv", "source,target\n1000001,7\n7,1000001\n7,99\n98,99\n")
    result = fit_and_encode(read(links, put("t.csv", "id,x\n7,1\n1000001,2\n8,3\n")).contents, rare=False)
    assert result.views.names == ("e-out", "e-in", "t")
    assert result.views.ids.tolist() == ["7", "1000001", "8"]
    assert result.views.feature_names("e-out").tolist() == ["7", "1000001", "99"]
    np.testing.assert_array_equal(result.views["e-out"].toarray(), [[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(result.views.present, [[1, 1, 1], [1, 1, 1], [0, 0, 1]])
    result = fit_and_encode(read(put("e.csv", "source,target\nb,a\nc,a\n")).contents, rare=False)
    assert result.ids.tolist() == ["b", "c", "a"]
    np.testing.assert_array_equal(result.views.present, [[1, 0], [1, 0], [0, 1]])


POINTS = RNG.normal(size=(6, 2))
ALIKE = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
LETTERS = list("abcdef")


def write_similarities(tmp_path, ids, sparse):
    """Write the similarities of the entities in this order."""
    at = [LETTERS.index(entity_id) for entity_id in ids]
    parts = {"X": ALIKE[np.ix_(at, at)]}
    if sparse:
        X = sp.csr_array(parts["X"])
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "s.npz", **parts, ids=np.array(ids))
    return tmp_path / "s.npz"


def check_similarities(result, ids):
    rows = result.views["s"]
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    at = [LETTERS.index(entity_id) for entity_id in result.ids.tolist()]
    present = np.array([entity_id in ids for entity_id in result.ids.tolist()])
    np.testing.assert_array_equal(result.views.present[:, result.views.names.index("s")], present)
    wanted = ALIKE[np.ix_(at, at)] * np.outer(present, present)
    np.testing.assert_allclose(rows[present], wanted[present])


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_similarities_are_put_in_order_by_row_and_column(put, read, tmp_path, sparse):
    table = put("t.csv", "id,x\n" + "".join(f"{entity_id},{i}\n" for i, entity_id in enumerate(LETTERS)))
    for ids in ("abcdef", "abcd", "badcfe", "fb"):
        reading = read(table, write_similarities(tmp_path, list(ids), sparse), kinds={"s": "similarities"})
        result = fit_and_encode(reading.contents, rare=False)
        assert result.ids.tolist() == LETTERS
        check_similarities(result, ids)
    result = fit_and_encode(read(write_similarities(tmp_path, list("cabfed"), sparse), table).contents, rare=False)
    assert result.ids.tolist() == list("cabfed")  # those of the first view
    check_similarities(result, "cabfed")


def test_new_similarities_are_to_fitted_entities(read, tmp_path):
    np.save(tmp_path / "s.npy", ALIKE)
    model = fit_and_encode(read(f"s={tmp_path / 's.npy'}").contents, rare=False)
    np.save(tmp_path / "new.npy", ALIKE[:2] / 2)
    new = read(f"s={tmp_path / 'new.npy'}", kinds={"s": "similarities"}).contents
    np.testing.assert_allclose(encode(new, model.encodings, join_contents(new)).views["s"], ALIKE[:2] / 2)


def test_view_may_be_missing_from_new_data_and_columns_are_matched_by_name(put, read):
    model = fit_and_encode(read(put("t.csv", "x,y\n1,2\n3,5\n"), put("b.csv", "z\n1\n2\n")).contents, rare=False)
    new = read(put("t.csv", "y,z,x\n2,7,1\n5,7,3\n")).contents
    views = encode(new, model.encodings, join_contents(new)).views
    assert views.names == ("t",)
    np.testing.assert_allclose(views["t"], model.views["t"])
    new = read(put("t.csv", "x,z\n1,3\n")).contents
    with pytest.raises(ValueError, match=r"'t' \(.*t\.csv\): there is no column 'y', which the model was fitted on"):
        encode(new, model.encodings, join_contents(new))


CLASSES = "".join(f"{entity_id},{'uv'[i % 2]}\n" for i, entity_id in enumerate("1234"))


@pytest.fixture
def labeled_table(put):
    return put("t.csv", "id,x,class\n2,2.5,c0\n1,1.5,c1\n4,4.5,c0\n3,3.5,c1\n")


def match_known(reading):
    return match_classes(reading.known_classes, join_contents(reading.contents)).tolist()


def test_label_column_is_not_part_of_view(labeled_table, read):
    reading = read(labeled_table, labels="class")
    assert reading.contents[0].columns == ("x",)
    assert match_known(reading) == ["c0", "c1", "c0", "c1"]
    with pytest.raises(ValueError, match=r"no file has a column 'truth' \(--labels\): name an existing one, or FILE:"):
        read(labeled_table, labels="truth")


LABELS = {
    "file": (f"id,truth\n{CLASSES}", "", "vuvu"),
    "number as name": (f"id,7\n{CLASSES}", "", "vuvu"),
    "column": ("id,other,truth\n" + CLASSES.replace(",", ",0,"), ":truth", "vuvu"),
    "spelling": ("id,truth\n1,01\n2,1000002\n3,1000003\n4,1\n", "", ["1000002", "01", "1", "1000003"]),
    "incomplete": ("id,truth\n9,a\n3,b\n1,\n2,c\n", ":truth", ["c", "", "", "b"]),
}


@pytest.mark.parametrize(("text", "column", "expected"), LABELS.values(), ids=LABELS)
def test_labels_by_file_are_joined_by_id(labeled_table, read, put, text, column, expected):
    reading = read(f"{labeled_table}:x", labels=f"{put('truth.csv', text)}{column}")
    assert match_known(reading) == list(expected)


def test_unsuitable_files_of_labels_are_refused(labeled_table, read, put):
    for text, column, message in (
        ("id,other,truth\n1,2,3\n", "", r"\(--labels\) has the columns 'other', 'truth': name one of them, .*:COLUMN"),
        (f"id,truth\n{CLASSES}", ":missing", r"truth\.csv has no column 'missing'; it has 'id', 'truth'"),
        ("id,truth\nu,1\nv,2\n", "", r"truth\.csv:truth \(--labels\) has no label for any of the entities: do the ids"),
        ("id,truth\n1,a\n1,b\n2,a\n", "", r"truth\.csv.*'1' more than once"),
    ):
        with pytest.raises(ValueError, match=message):
            match_known(read(f"{labeled_table}:x", labels=f"{put('truth.csv', text)}{column}"))


def test_labels_by_array_are_one_per_entity(put, read, tmp_path):
    def read_array(values):
        np.save(tmp_path / "y.npy", values)
        return match_known(read(put("a.csv", "x\n1\n2\n3\n4\n"), labels=str(tmp_path / "y.npy")))

    assert read_array([3, 1, 2, 1]) == read_array([[3], [1], [2], [1]]) == ["3", "1", "2", "1"]
    assert read_array(["c", "a", "b", "a"]) == ["c", "a", "b", "a"]
    assert read_array([0, 1, np.nan, 1]) == ["0", "1", "", "1"]
    with pytest.raises(ValueError, match=r"y\.npy \(--labels\) must hold one label per entity, got shape \(4, 4\)"):
        read_array(np.eye(4))
    with pytest.raises(ValueError, match=r"y\.npy \(--labels\) has 3 labels for 4 entities: give one each"):
        read_array(np.arange(3))
