"""Files that are about the same things: who is in which, and what is known of whom."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.files import collect_ids, encode, fit_and_encode, match_classes

RNG = np.random.default_rng(0)
ALL = [f"{i:03d}" for i in range(50)]
VALUE = {one: float(i) for i, one in enumerate(ALL)}


def table(ids, column="x", factor=1.0):
    return f"id,{column}\n" + "".join(f"{one},{VALUE[one] * factor}\n" for one in ids)


def standardised(values):
    return (values - np.mean(values)) / np.std(values)


@pytest.fixture
def three(put):
    """Three files, each in an order of its own and without a fifth of the entities."""
    rng = np.random.default_rng(1)
    held = [rng.permutation(ALL)[:40].tolist() for _ in range(3)]
    return held, [
        put(f"{name}.csv", table(ids, name, v + 1)) for v, (name, ids) in enumerate(zip("abc", held, strict=True))
    ]


def test_everybody_is_where_they_are(three, read):
    held, paths = three
    found = fit_and_encode(read(*paths).contents, rare=False)
    wanted = list(dict.fromkeys([one for ids in held for one in ids]))
    assert found.views.ids.tolist() == wanted
    np.testing.assert_array_equal(found.views.present, [[one in ids for ids in held] for one in wanted])
    for v, (name, ids) in enumerate(zip("abc", held, strict=True)):
        values = dict(zip(ids, standardised([VALUE[one] for one in ids]), strict=True))
        there = found.views.present[:, v]
        block = np.asarray(found.views[name]).ravel()
        np.testing.assert_allclose(block[there], [values[one] for one in wanted if one in values])
        assert np.isnan(block[~there]).all()
    assert found.kept.all()


def test_the_order_of_rows_changes_only_the_order(three, read, put):
    held, paths = three
    before = fit_and_encode(read(*paths).contents, rare=False).views
    put("b.csv", table(held[1][::-1], "b", 2))
    after = fit_and_encode(read(*paths).contents, rare=False).views
    order = [before.ids.tolist().index(one) for one in after.ids.tolist()]
    for name in "abc":
        np.testing.assert_allclose(after[name], np.asarray(before[name])[order])


@pytest.mark.parametrize("usual", ["id", "ID", "Id"])
def test_the_usual_id_is_taken_and_told_of(put, read, usual):
    paths = [put(f"{name}.csv", f"{usual},x\n007,1\n7,2\n") for name in "ab"]
    reading = read(*paths)
    assert reading.id_column == usual
    assert reading.notes == [f"Entities are joined by the column {usual!r} (--id)."]
    assert collect_ids(reading.contents).tolist() == ["007", "7"]


def test_an_id_that_is_named_is_taken(put, read):
    paths = [put("a.csv", "who,x\n1,1\n2,2\n"), put("b.jsonl", [{"who": 2, "y": 3.5}, {"who": 1, "y": 1.5}])]
    reading = read(*paths, id_column="who")
    assert reading.notes == []
    assert fit_and_encode(reading.contents, rare=False).views["b"].ravel().tolist() == [-1.0, 1.0]


def test_an_id_that_is_not_there_is_told_of(put, read):
    with pytest.raises(ValueError, match=r"b\.csv has no column 'who' \(--id\); it has 'x', 'y'"):
        read(put("a.csv", "who,x\n1,1\n"), put("b.csv", "x,y\n1,1\n"), id_column="who")


def test_ids_that_repeat_are_told_of(put, read):
    with pytest.raises(ValueError, match=r"a\.csv has the id '7' more than once: aggregate or drop the repeated rows"):
        read(put("a.csv", "id,x\n7,1\n8,2\n7,3\n"))


@pytest.mark.parametrize("cell", ["", "  "])
def test_an_id_that_is_missing_is_told_of(put, read, cell):
    with pytest.raises(ValueError, match=r"a\.csv has no id in row 2: give the row an id, or drop it"):
        read(put("a.csv", f"id,x\n7,1\n{cell},2\n"))


def test_files_about_others_are_told_of(put, read):
    told = r"view 'b' \(.*b\.csv\) shares no id with the other views: its first is 'u', the first of 'a' is '1'"
    contents = read(
        put("a.csv", "id,x\n1,1\n2,2\n"), put("c.csv", "id,x\n2,1\n"), put("b.csv", "id,x\nu,1\nv,2\n")
    ).contents
    with pytest.raises(ValueError, match=told):
        fit_and_encode(contents, rare=False)


def test_a_matrix_without_ids_beside_tables_with_ids_is_told_of(put, read, tmp_path):
    np.save(tmp_path / "m.npy", RNG.normal(size=(2, 3)))
    told = r"view 'm' \(.*m\.npy\) has no ids, but other views have: add the column or, in an \.npz"
    with pytest.raises(ValueError, match=told):
        fit_and_encode(read(put("a.csv", "id,x\n1,1\n2,2\n"), tmp_path / "m.npy").contents, rare=False)


def test_a_matrix_with_ids_is_joined(put, read, tmp_path):
    X = RNG.normal(size=(3, 2))
    np.savez(tmp_path / "m.npz", X=X, ids=np.array(["c", "a", "b"]))
    found = fit_and_encode(read(put("t.csv", "id,x\na,1\nb,2\nc,4\n"), tmp_path / "m.npz").contents, rare=False)
    assert found.ids.tolist() == ["a", "b", "c"]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(found.views["m"], scaled[[1, 2, 0]])


def test_without_ids_rows_are_matched_by_their_place(put, read, tmp_path):
    np.save(tmp_path / "m.npy", np.arange(3.0)[:, None])
    found = fit_and_encode(read(put("t.csv", "x\n5\n6\n7\n"), tmp_path / "m.npy").contents, rare=False)
    assert found.ids is None
    assert found.views.ids is None
    np.testing.assert_allclose(found.views["t"], found.views["m"])


def test_without_ids_lengths_must_agree(put, read):
    told = r"view 'b' \(.*b\.csv\) has 3 rows, view 'a' 2: without ids rows are matched by position\. Give --id"
    with pytest.raises(ValueError, match=told):
        fit_and_encode(read(put("a.csv", "x\n1\n2\n"), put("b.csv", "x\n1\n2\n3\n")).contents, rare=False)


def test_two_views_of_one_name_are_told_of(put, read):
    with pytest.raises(ValueError, match=r"two views are called 'a': give each its own name \(--view NAME=FILE\)"):
        read(put("a.csv", "x\n1\n"), put("d/a.csv", "x\n1\n"))


def test_several_views_of_one_file(put, read):
    path = put("t.csv", "id,x,y,z\n1,1,2,3\n2,4,5,7\n")
    contents = read(f"one={path}:x", f"two={path}:y,z").contents
    assert [one.data[1].tolist() for one in contents] == [["x"], ["y", "z"]]
    assert [one.columns for one in contents] == [("x",), ("y", "z")]


def test_entities_without_any_view_are_left_out(put, read):
    paths = [put("a.csv", "id,x\n1,1\n2,\n3,3\n"), put("b.csv", "id,words\n1,red apple\n2,\n3,green apple\n4,\n")]
    found = fit_and_encode(read(*paths, kinds={"b": "text"}).contents, rare=False)
    assert found.ids.tolist() == ["1", "2", "3", "4"]
    assert found.kept.tolist() == [True, False, True, False]
    assert found.views.ids.tolist() == ["1", "3"]
    assert found.texts["b"].tolist() == ["red apple", "green apple"]


def test_a_view_of_nothing_but_empty_cells_says_nothing(put, read):
    contents = read(put("a.jsonl", [{"id": i, "words": None} for i in range(3)])).contents
    with pytest.raises(ValueError, match="no view describes any entity: check the files"):
        fit_and_encode(contents, rare=False)


def test_empty_cells_are_counted(put, read):
    found = fit_and_encode(read(put("a.csv", "x,y\n1,2\n,3\n4,?\n,\n")).contents, rare=False)
    assert found.filled == {"a": 2}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl"])
def test_links_join_tables_by_the_letters_of_their_ids(put, read, ending):
    pairs = [(1000001, 7), (7, 1000001), (7, 99), (98, 99)]
    if ending == "jsonl":
        links = put("e.jsonl", [{"source": a, "target": b} for a, b in pairs])
    else:
        whole = ("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs)).encode()
        links = put(f"e.{ending}", gzip.compress(whole, mtime=0) if ending.endswith("gz") else whole)
    found = fit_and_encode(read(links, put("t.csv", "id,x\n7,1\n1000001,2\n8,3\n")).contents, rare=False)
    assert found.views.names == ("e-out", "e-in", "t")
    assert found.views.ids.tolist() == ["7", "1000001", "8"]
    assert found.views.feature_names("e-out").tolist() == ["7", "1000001", "99"]
    np.testing.assert_array_equal(found.views["e-out"].toarray(), [[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(found.views.present, [[1, 1, 1], [1, 1, 1], [0, 0, 1]])


def test_links_alone_are_about_their_ends(put, read):
    found = fit_and_encode(read(put("e.csv", "source,target\nb,a\nc,a\n")).contents, rare=False)
    assert found.ids.tolist() == ["b", "c", "a"]
    np.testing.assert_array_equal(found.views.present, [[1, 0], [1, 0], [0, 1]])


def test_links_beside_tables_without_ids_are_told_of(put, read):
    with pytest.raises(ValueError, match="view 'e' links ids, but the other views have none: give --id COLUMN"):
        fit_and_encode(read(put("e.csv", "source,target\n1,2\n"), put("t.csv", "x\n1\n2\n")).contents, rare=False)


def test_a_view_called_as_one_direction_of_links_is_refused(put, read):
    paths = [put("e.csv", "source,target\n1,2\n"), put("e-out.csv", "id,x\n1,1\n2,2\n")]
    with pytest.raises(ValueError, match="e-out"):
        fit_and_encode(read(*paths).contents, rare=False)


def test_links_among_others_are_told_of(put, read):
    paths = [put("e.csv", "source,target\nu,v\n"), put("t.csv", "id,x\n1,1\n2,2\n")]
    with pytest.raises(ValueError, match=r"view 'e'.* id"):
        fit_and_encode(read(*paths).contents, rare=False)


POINTS = RNG.normal(size=(6, 2))
ALIKE = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
LETTERS = list("abcdef")


def alike(tmp_path, ids, sparse):
    """The similarities of these, in their order."""
    at = [LETTERS.index(one) for one in ids]
    X = ALIKE[np.ix_(at, at)]
    if sparse:
        X = sp.csr_array(X)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        parts = {"X": X}
    np.savez(tmp_path / "s.npz", **parts, ids=np.array(ids))
    return tmp_path / "s.npz"


def check_alike(found, ids):
    rows = found.views["s"]
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    at = [LETTERS.index(one) for one in found.ids.tolist()]
    there = np.array([one in ids for one in found.ids.tolist()])
    np.testing.assert_array_equal(found.views.present[:, found.views.names.index("s")], there)
    wanted = ALIKE[np.ix_(at, at)] * np.outer(there, there)
    np.testing.assert_allclose(rows[there], wanted[there])


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("ids", ["abcdef", "abcd", "badcfe", "cabfed", "fb"])
def test_similarities_are_put_in_order_by_row_and_column(put, read, tmp_path, ids, sparse):
    table = put("t.csv", "id,x\n" + "".join(f"{one},{i}\n" for i, one in enumerate(LETTERS)))
    reading = read(table, alike(tmp_path, list(ids), sparse), kinds={"s": "similarities"})
    found = fit_and_encode(reading.contents, rare=False)
    assert found.ids.tolist() == LETTERS
    check_alike(found, ids)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_similarities_that_come_first_set_the_order(put, read, tmp_path, sparse):
    table = put("t.csv", "id,x\n" + "".join(f"{one},{i}\n" for i, one in enumerate(LETTERS)))
    found = fit_and_encode(read(alike(tmp_path, list("cabfed"), sparse), table).contents, rare=False)
    assert found.ids.tolist() == list("cabfed")
    check_alike(found, "cabfed")


def test_new_entities_come_with_their_similarities_to_the_old(read, tmp_path):
    np.save(tmp_path / "s.npy", ALIKE)
    model = fit_and_encode(read(f"s={tmp_path / 's.npy'}").contents, rare=False)
    np.save(tmp_path / "new.npy", ALIKE[:2] / 2)
    new = read(f"s={tmp_path / 'new.npy'}", kinds={"s": "similarities"}).contents
    np.testing.assert_allclose(encode(new, model.encodings, None).views["s"], ALIKE[:2] / 2)


def test_new_entities_are_encoded_as_the_old_were(put, read):
    model = fit_and_encode(read(put("t.csv", "id,x\n" + "".join(f"{i},{i}\n" for i in range(10)))).contents, rare=False)
    new = read(put("t.csv", "id,x\n77,4.5\n78,\n79,9\n"), kinds={"t": "numbers"}).contents
    found = encode(new, model.encodings, collect_ids(new))
    np.testing.assert_allclose(found.views["t"].ravel(), [0, 4.5 / np.arange(10).std()], atol=1e-12)
    assert found.views.ids.tolist() == ["77", "79"]


def test_a_view_may_be_missing_from_new_data(put, read):
    paths = [put("a.csv", "id,x\n1,1\n2,2\n"), put("b.csv", "id,y\n1,1\n2,2\n")]
    model = fit_and_encode(read(*paths).contents, rare=False)
    new = read(paths[1]).contents
    assert encode(new, model.encodings, collect_ids(new)).views.names == ("b",)


def test_new_data_of_another_width_is_refused(put, read):
    model = fit_and_encode(read(put("t.csv", "x,y\n1,2\n3,5\n")).contents, rare=False)
    new = read(put("t.csv", "x,z\n1,3\n")).contents
    with pytest.raises(
        ValueError, match=r"view 't' \(.*t\.csv\): there is no column 'y', which the model was fitted on"
    ):
        encode(new, model.encodings, None)


def test_new_columns_are_known_by_name_not_by_place(put, read):
    model = fit_and_encode(read(put("t.csv", "x,y\n1,2\n3,5\n")).contents, rare=False)
    new = read(put("t.csv", "y,z,x\n2,7,1\n5,7,3\n")).contents
    np.testing.assert_allclose(encode(new, model.encodings, None).views["t"], model.views["t"])


CLASSES = "".join(f"{one},{'uv'[i % 2]}\n" for i, one in enumerate("1234"))


@pytest.fixture
def plain(put):
    return put("t.csv", "id,x,class\n" + "".join(f"{i},{i}.5,c{i % 2}\n" for i in (2, 1, 4, 3)))


def known(reading):
    ids = collect_ids(reading.contents)
    return match_classes(reading.known_classes, ids, 4).tolist()


def test_labels_by_column_are_no_part_of_the_view(plain, read):
    reading = read(plain, labels="class")
    assert reading.contents[0].columns == ("x",)
    assert known(reading) == ["c0", "c1", "c0", "c1"]


@pytest.mark.parametrize("header", ["id,truth", "id,7"])
def test_labels_by_file_are_joined_by_id(plain, read, put, header):
    reading = read(f"{plain}:x", labels=str(put("truth.csv", f"{header}\n{CLASSES}")))
    assert known(reading) == ["v", "u", "v", "u"]


def test_labels_by_file_and_column(plain, read, put):
    path = put("truth.csv", "id,other,truth\n" + CLASSES.replace(",", ",0,"))
    assert known(read(f"{plain}:x", labels=f"{path}:truth")) == ["v", "u", "v", "u"]


def test_labels_keep_their_letters(plain, read, put):
    path = put("truth.csv", "id,truth\n1,007\n2,7\n3,1000001\n4,1000002\n")
    assert known(read(f"{plain}:x", labels=f"{path}:truth")) == ["7", "007", "1000002", "1000001"]


def test_labels_by_file_keep_their_letters(plain, read, put):
    path = put("truth.csv", "id,truth\n1,1000001\n2,1000002\n3,1000003\n4,1000004\n")
    assert known(read(f"{plain}:x", labels=str(path))) == ["1000002", "1000001", "1000004", "1000003"]


def test_a_file_of_several_columns_is_no_label(plain, read, put):
    path = put("truth.csv", "id,other,truth\n1,2,3\n")
    with pytest.raises(
        ValueError, match=r"truth\.csv \(--labels\) has the columns 'other', 'truth': name one of them, .*:COLUMN"
    ):
        read(f"{plain}:x", labels=str(path))


def test_labels_that_are_nowhere_are_told_of(plain, read):
    with pytest.raises(ValueError, match=r"no file has a column 'truth' \(--labels\): name an existing one, or FILE:"):
        read(plain, labels="truth")


def test_a_column_of_labels_that_is_not_there_is_told_of(plain, read, put):
    with pytest.raises(ValueError, match=r"truth\.csv has no column 'missing'; it has 'id', 'truth'"):
        read(f"{plain}:x", labels=f"{put('truth.csv', 'id,truth' + chr(10) + CLASSES)}:missing")


def test_labels_of_nobody_are_told_of(plain, read, put):
    reading = read(f"{plain}:x", labels=str(put("truth.csv", "id,truth\nu,1\nv,2\n")))
    with pytest.raises(
        ValueError, match=r"truth\.csv:truth \(--labels\) has no label for any of the entities: do the ids"
    ):
        known(reading)


def test_labels_may_be_known_in_part(plain, read, put):
    path = put("truth.csv", "id,truth\n9,a\n3,b\n1,\n2,c\n")
    assert known(read(f"{plain}:x", labels=f"{path}:truth")) == ["c", "", "", "b"]


@pytest.mark.parametrize("values", [[3, 1, 2, 1], ["c", "a", "b", "a"], [[3], [1], [2], [1]]])
def test_labels_by_array(put, read, tmp_path, values):
    np.save(tmp_path / "y.npy", values)
    reading = read(put("a.csv", "x\n1\n2\n3\n4\n"), labels=str(tmp_path / "y.npy"))
    assert known(reading) == [str(one) for one in np.ravel(values)]


def test_labels_by_array_are_those_of_a_table(put, read, tmp_path):
    np.save(tmp_path / "y.npy", [0, 1, np.nan, 1])
    reading = read(put("a.csv", "x\n1\n2\n3\n4\n"), labels=str(tmp_path / "y.npy"))
    assert known(reading) == ["0", "1", "", "1"]


def test_labels_are_one_an_entity(put, read, tmp_path):
    np.save(tmp_path / "y.npy", np.eye(4))
    with pytest.raises(ValueError, match=r"y\.npy \(--labels\) must hold one label per entity, got shape \(4, 4\)"):
        read(put("a.csv", "x\n1\n2\n3\n4\n"), labels=str(tmp_path / "y.npy"))


def test_labels_are_as_many_as_entities(put, read, tmp_path):
    np.save(tmp_path / "y.npy", np.arange(3))
    reading = read(put("a.csv", "x\n1\n2\n3\n4\n"), labels=str(tmp_path / "y.npy"))
    with pytest.raises(ValueError, match=r"y\.npy \(--labels\) has 3 labels for 4 entities: give one each"):
        known(reading)


def test_two_labels_for_one_entity_are_told_of(plain, read, put):
    with pytest.raises(ValueError, match=r"truth\.csv.*'1' more than once"):
        known(read(f"{plain}:x", labels=str(put("truth.csv", "id,truth\n1,a\n1,b\n2,a\n"))))
