"""Files with different ids: `--mapping`, and constraints that are given in a view."""

import numpy as np
import pytest

import consilience as cs
from consilience.metrics import pairwise_scores
from stage import (
    CLASSES,
    FAST,
    N,
    assert_refused,
    list_folder,
    make_blobs,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: mapping")  # whose runs are shared

PAGES, IMAGES = [f"p{i}" for i in range(N)], [f"i{i}" for i in range(N)]
IN_BOTH = [*range(12), *range(20, 32), *range(40, 52)]  # of each class the first twelve
ONLY_PAGE = [i for i in range(N) if i not in IN_BOTH and i % 2 == 0]
ONLY_IMAGE = [i for i in range(N) if i not in IN_BOTH and i % 2 == 1]
HEADER = ["first", "second", "type", "view"]
FEW = "--no-assess", "--quiet"


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    """Pages and images with ids of their own, of which 36 of 60 entities have both."""
    folder = tmp_path_factory.mktemp("collections")
    X, Y = np.round(make_blobs(0), 4), np.round(make_blobs(1), 4)
    pages = [[PAGES[i], *X[i], "xyz"[CLASSES[i]]] for i in sorted(IN_BOTH + ONLY_PAGE)]
    images = [[IMAGES[i], *Y[i], "xyz"[CLASSES[i]]] for i in sorted(IN_BOTH + ONLY_IMAGE)[::-1]]
    write_csv(folder / "pages.csv", ["id", "a", "b", "c", "class"], pages)
    write_csv(folder / "images.csv", ["id", "d", "e", "f", "class"], images)
    write_csv(folder / "map.csv", ["page", "image"], [(PAGES[i], IMAGES[i]) for i in IN_BOTH])
    return folder


@pytest.fixture(scope="module")
def views(collections):
    return "--view", f"page={collections / 'pages.csv'}:a,b,c", "--view", f"image={collections / 'images.csv'}:d,e,f"


@pytest.fixture(scope="module")
def mapped(collections, views):
    return *views, "--mapping", collections / "map.csv"


def read_both(collections):
    """Read the two files by hand, as blocks and the pairs of rows that the mapping joins."""
    rows = {"page": sorted(IN_BOTH + ONLY_PAGE), "image": sorted(IN_BOTH + ONLY_IMAGE)[::-1]}
    X, Y = np.round(make_blobs(0), 4)[rows["page"]], np.round(make_blobs(1), 4)[rows["image"]]
    blocks = {name: (block - block.mean(axis=0)) / block.std(axis=0) for name, block in (("page", X), ("image", Y))}
    return blocks, rows, [(rows["page"].index(i), rows["image"].index(i)) for i in IN_BOTH]


METHODS = {
    "consilience": lambda: cs.Consilience(3, random_state=0),
    "k-means": lambda: cs.MultiViewKMeans(3, random_state=0),
    "constrained": lambda: cs.MultiViewConstrainedKMeans(3, init="farthest", random_state=0),
}


@pytest.fixture(scope="module")
def aligned(mapped, tmp_path_factory):
    """The folder of a run with three clusters, of each method made once, and what was printed."""
    made = {}

    def run(method):
        if method not in made:
            folder = tmp_path_factory.mktemp("aligned") / method
            options = "--method", method, "--labels", "class", "--no-assess"
            made[method] = folder, run_successfully("cluster", *mapped, "-k", 3, *options, "--out", folder)
        return made[method]

    return run


@pytest.mark.parametrize("method", METHODS)
def test_clusters_equal_those_of_aligned_views(method, aligned, collections):
    blocks, rows, pairs = read_both(collections)
    views = cs.align(blocks, {("page", "image"): pairs})
    labels = METHODS[method]().fit(views).labels_
    table = read_labels(aligned(method)[0])
    assert [int(row["cluster"]) for row in table] == labels.tolist()
    for row, (page, image) in zip(table, views.rows.tolist(), strict=True):
        assert row["id in page"] == ("" if page < 0 else PAGES[rows["page"][page]])
        assert row["id in image"] == ("" if image < 0 else IMAGES[rows["image"][image]])


def test_every_row_of_every_file_has_a_cluster(aligned):
    folder, ran = aligned("consilience")
    rows, facts = read_labels(folder), read_summary(folder)
    assert list(rows[0])[:4] == ["id", "id in page", "id in image", "cluster"]
    assert {row["id in page"] for row in rows} - {""} == {PAGES[i] for i in IN_BOTH + ONLY_PAGE}
    assert {row["id in image"] for row in rows} - {""} == {IMAGES[i] for i in IN_BOTH + ONLY_IMAGE}
    assert rows[0]["id"] == "p0 / i0"
    assert len({row["id"] for row in rows}) == len(rows) == N
    line = "mapping: 36 entities in page and image, 12 in page alone, 12 in image alone"
    assert f"  {line}\n" in ran.out
    assert line.replace("entities", "items") in (folder / "report.html").read_text()
    assert facts["mapping"] == {
        "mapped": [{"views": ["page", "image"], "entities": 36}],
        "unmapped": {"page": 12, "image": 12},
    }
    truth = [CLASSES[int((row["id in page"] or row["id in image"])[1:])] for row in rows]
    expected = pairwise_scores(truth, [int(row["cluster"]) for row in rows]).f
    assert facts["scores"]["f"] == pytest.approx(expected)


def test_same_ids_mean_different_entities_unless_mapped(tmp_path):
    """Both files count their rows from 0; the second is in the opposite order."""
    for name, X in (("a", make_blobs(0)), ("b", make_blobs(1)[::-1])):
        write_csv(tmp_path / f"{name}.csv", ["id", "x", "y", "z"], ([i, *row] for i, row in enumerate(np.round(X, 4))))
    file = write_csv(tmp_path / "map.csv", ["a", "b"], [(i, N - 1 - i) for i in range(0, N, 4)])
    views = "--view", tmp_path / "a.csv", "--view", tmp_path / "b.csv", "--mapping", file
    run_successfully("cluster", *views, "-k", 3, *FEW, "--out", tmp_path / "out")
    rows = read_labels(tmp_path / "out")
    assert rows[0]["id"] == "a:0 / b:59"  # 0 alone is ambiguous
    assert rows[1]["id"] == "a:1"
    ids = {(row["id in a"], row["id in b"]) for row in rows}
    alone = [i for i in range(N) if i % 4]
    assert ids == {
        *((str(i), str(N - 1 - i)) for i in range(0, N, 4)),
        *((str(i), "") for i in alone),
        *(("", str(N - 1 - i)) for i in alone),
    }
    truth = [CLASSES[int(row["id in a"])] if row["id in a"] else CLASSES[N - 1 - int(row["id in b"])] for row in rows]
    assert pairwise_scores(truth, [int(row["cluster"]) for row in rows]).f > 0.95


def test_many_to_one_mapping_makes_an_entity_of_each_pair(views, tmp_path):
    pairs = [(PAGES[i], IMAGES[i]) for i in IN_BOTH] + [("p0", "i1"), ("p0", "i2")]
    file = write_csv(tmp_path / "map.csv", ["page", "image"], pairs)
    arguments = *views, "--mapping", file, "-k", 3, *FEW
    run_successfully("cluster", *arguments, "--method", "constrained", "--out", tmp_path / "out")
    rows = read_labels(tmp_path / "out")
    assert [row["id"] for row in rows if row["id in page"] == "p0"] == ["p0 / i2", "p0 / i1", "p0 / i0"]
    assert len({row["cluster by page"] for row in rows if row["id in page"] == "p0"}) == 1  # one point in its view
    assert read_summary(tmp_path / "out")["mapping"]["mapped"][0]["entities"] == 38
    constraints = write_csv(tmp_path / "c.csv", HEADER, [("p0", "p50", "cannot", "page")])
    ran = run_successfully("cluster", *arguments[:-1], "--constraints", constraints, "--out", tmp_path / "bound")
    assert "1 rows become 3 constraints between entities, because the mapping makes several entities" in ran.err
    assert read_summary(tmp_path / "bound")["constraints"]["given"] == 3


def test_three_views_need_named_columns(mapped, tmp_path):
    text = write_csv(tmp_path / "t.csv", ["id", "t"], [(f"t{i}", "abc"[CLASSES[i]] * 3 + " word") for i in range(N)])
    arguments = *mapped, "--view", f"text={text}", "--kind", "text=categories", *FAST, "--out", tmp_path / "out"
    ran = run_command("cluster", *arguments)
    assert_refused(ran, "no --mapping names view 'text': add one between it and another view")
    file = write_csv(tmp_path / "wrong.csv", ["page", "words"], [("p0", "t0")])
    ran = run_command("cluster", *arguments, "--mapping", file)
    assert_refused(ran, "has a column 'words', which is no view: call the columns like two of the views")
    file = write_csv(tmp_path / "more.csv", ["text", "page"], [(f"t{i}", PAGES[i]) for i in IN_BOTH])
    run_successfully("cluster", *arguments, "--mapping", file)
    mapped = read_summary(tmp_path / "out")["mapping"]["mapped"]
    assert [(pair["views"], pair["entities"]) for pair in mapped] == [
        (["page", "image"], 36), (["page", "text"], 36), (["image", "text"], 36)
    ]  # fmt: skip


def test_links_and_similarities_are_mapped(collections, tmp_path):
    """A view of links has the ids of its ends, a matrix those of its rows."""
    rng = np.random.default_rng(0)
    ends = [(f"n{i}", f"n{20 * CLASSES[i] + j}") for i in range(N) for j in rng.permutation(20)[:5]]
    write_csv(tmp_path / "links.csv", ["source", "target"], ends)
    X = make_blobs(5)
    near = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 20)
    np.savez(tmp_path / "near.npz", X=near, ids=np.array([f"s{i}" for i in range(N)]))
    pages = sorted(IN_BOTH + ONLY_PAGE)
    maps = [
        write_csv(tmp_path / "1.csv", ["page", "links"], [(PAGES[i], f"n{i}") for i in pages[:40]]),
        write_csv(tmp_path / "2.csv", ["near", "page"], [(f"s{i}", PAGES[i]) for i in pages]),
    ]
    views = "--view", f"page={collections / 'pages.csv'}:a,b,c", "--view", tmp_path / "links.csv"
    views += "--view", tmp_path / "near.npz", "--mapping", maps[0], "--mapping", maps[1]
    run_successfully("cluster", *views, "-k", 3, *FEW, "--out", tmp_path / "out")
    facts, rows = read_summary(tmp_path / "out"), read_labels(tmp_path / "out")
    assert facts["views"]["near"]["present"] == N
    assert facts["views"]["links-out"]["present"] == 40
    assert len(rows) == N  # a node that no other view describes is no entity
    truth = [CLASSES[int(row["id in near"][1:])] for row in rows]
    assert pairwise_scores(truth, [int(row["cluster"]) for row in rows]).f > 0.9
    again = "predict", tmp_path / "out", *views, "--out", tmp_path / "again.csv"
    run_successfully(*again)
    assert [row["cluster"] for row in read_labels(tmp_path / "again.csv")] == [row["cluster"] for row in rows]


def test_id_columns_with_different_names(tmp_path):
    """--id COLUMN,COLUMN: the first of the columns that a file has."""
    write_csv(tmp_path / "p.csv", ["page", "x"], [(f"p{i}", i % 3 * 5 + i / 99) for i in range(30)])
    write_csv(tmp_path / "i.csv", ["image", "y"], [(f"i{i}", i % 3 * 5 - i / 99) for i in range(30)])
    file = write_csv(tmp_path / "m.csv", ["p", "i"], [(f"p{i}", f"i{i}") for i in range(20)])
    views = "--view", tmp_path / "p.csv", "--view", tmp_path / "i.csv", "--mapping", file, "--id", "page,image"
    run_successfully("cluster", *views, "-k", 3, "--method", "k-means", *FEW, "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert (facts["entities"], facts["views"]["p"]["columns"]) == (40, 1)
    ran = run_command("predict", tmp_path / "out", *views[:-2])
    assert ran.code == 0, ran.err
    ran = run_command("cluster", *views[:-1], "page,picture", "-k", 3, *FEW, "--out", tmp_path / "out2")
    assert_refused(ran, "i.csv has no column 'page,picture' (--id); it has 'image', 'y'")


def test_labels_in_a_file_of_their_own(mapped, tmp_path):
    file = write_csv(tmp_path / "classes.csv", ["id", "class"], [(f"p{i}", CLASSES[i]) for i in range(N)])
    run_successfully("cluster", *mapped, *FAST, "--labels", file, "--out", tmp_path / "out")
    assert read_summary(tmp_path / "out")["scores"]["f"] > 0.9


def test_ambiguous_ids_of_labels_are_refused(tmp_path):
    for name, X in (("a", make_blobs(0)), ("b", make_blobs(1)[::-1])):
        write_csv(tmp_path / f"{name}.csv", ["id", "x", "y", "z"], ([i, *row] for i, row in enumerate(np.round(X, 4))))
    file = write_csv(tmp_path / "map.csv", ["a", "b"], [(i, N - 1 - i) for i in range(N)])
    classes = write_csv(tmp_path / "classes.csv", ["id", "class"], [(0, "x")])
    views = "--view", tmp_path / "a.csv", "--view", tmp_path / "b.csv", "--mapping", file, "-k", 3
    ran = run_command("cluster", *views, "--labels", classes, "--out", tmp_path / "out")
    assert_refused(ran, "(--labels): '0' means different entities in the views 'a', 'b'. Give the classes in a column")
    pairs = write_csv(tmp_path / "pairs.csv", HEADER[:3], [(0, 1, "must")])
    ran = run_command("cluster", *views, "--constraints", pairs, "--out", tmp_path / "out")
    assert_refused(ran, "row 1: '0' means different entities in the views 'a', 'b'. Add a column 'view'")


@pytest.mark.parametrize("method", ["consilience", "constrained"])
def test_report_and_predict_read_the_mapping_again(method, aligned, mapped, collections, tmp_path):
    out, _ = aligned(method)
    run_successfully("report", out, "--labels", "class", "--out", tmp_path / "again.html", "--quiet")
    page = (tmp_path / "again.html").read_text()
    assert "mapping: 36 items in page and image" in page
    assert "Comparison with the known classes" in page
    run_successfully("predict", out, *mapped, "--out", tmp_path / "placed.csv", "--quiet")
    placed, fitted = read_labels(tmp_path / "placed.csv"), read_labels(out)
    names = "id", "id in page", "id in image"
    assert [[row[name] for name in names] for row in placed] == [[row[name] for name in names] for row in fitted]
    alone = run_successfully("predict", out, "--view", f"image={collections / 'images.csv'}")
    assert alone.out.startswith("id,cluster")
    ran = run_command("predict", out, *mapped[:4])
    assert_refused(ran, "the views of the model have different ids, joined by --mapping: give --mapping FILE")


def test_changed_mapping_is_noticed(views, tmp_path):
    file = write_csv(tmp_path / "map.csv", ["page", "image"], [(PAGES[i], IMAGES[i]) for i in IN_BOTH])
    run_successfully("cluster", *views, "--mapping", file, *FAST, "--out", tmp_path / "out")
    write_csv(file, ["page", "image"], [(PAGES[i], IMAGES[i]) for i in IN_BOTH[:-1]])
    ran = run_command("report", tmp_path / "out", "--force")
    assert_refused(ran, "the files have changed since the model was fitted")


def test_compare_takes_a_mapping(mapped, compare_few):
    compare_few("k-means")
    ran = run_successfully("compare", *mapped, "-k", 3, "--refits", 0, "--labels", "class")
    assert "Yes, several views help here" in ran.out or "Several views make little difference here" in ran.out
    assert "60 entities, 2 views" in ran.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("page,image\np0,i0\np1,i999\n", "names 'i999' in row 2, which view 'image' does not have (1 such in all)"),
        ("page,image\np77,i0\np78,i1\n", "names 'p77' in row 1, which view 'page' does not have (2 such in all)"),
        ("page,image\np0,\n,i1\n", "maps nothing: no row has an id of 'page' and one of 'image'. Fill in both"),
        ("page,image\n", "has a header, but no rows"),
        ("", "is empty"),
        ("page,image,note\np0,i0,x\n", "has 3 columns: give two columns, called like two views"),
        ("page\np0\n", "has 1 column: give two columns, called like two views"),
        ("p0,i0\np1,i1\n", "has no header: 'p0' and 'i0' in its first line are ids. Add the line page,image"),
    ],
)  # fmt: skip
def test_invalid_mappings_are_refused(content, words, views, tmp_path):
    (tmp_path / "map.csv").write_text(content)
    before = list_folder(tmp_path)
    ran = run_command("cluster", *views, "--mapping", tmp_path / "map.csv", "-k", 3, "--out", tmp_path / "out")
    assert_refused(ran, f"{tmp_path / 'map.csv'}", words)
    assert list_folder(tmp_path) == before


def test_mapping_needs_two_views_with_ids(views, collections, data, tmp_path):
    end = "--mapping", collections / "map.csv", "-k", 3, "--out", tmp_path / "out"
    ran = run_command("cluster", *views[:2], *end)
    assert_refused(ran, "--mapping joins two views, but 'page' is the only view: give another --view")
    ran = run_command("cluster", *views[:2], "--view", f"image={data / 'near-raw.npy'}", *end)
    assert_refused(ran, "view 'image' (", "has no ids, which --mapping needs: give --id COLUMN")


def test_files_with_different_ids_suggest_a_mapping(views, tmp_path):
    ran = run_command("cluster", *views, "-k", 3, "--out", tmp_path / "out")
    assert_refused(ran, "shares no id with the other views", "For files with different ids give --mapping FILE")


@pytest.mark.parametrize("header", [("one", "two"), ("other", "page")])
def test_two_views_accept_any_header_with_a_note(header, views, tmp_path):
    swapped = header[1] == "page"
    pairs = [(IMAGES[i], PAGES[i]) if swapped else (PAGES[i], IMAGES[i]) for i in IN_BOTH]
    file = write_csv(tmp_path / "map.csv", header, [*pairs, pairs[0], (pairs[1][0], "")])  # which change nothing
    ran = run_successfully("cluster", *views, "--mapping", file, *FAST, "--out", tmp_path / "out")
    first, second = ("image", "page") if swapped else ("page", "image")
    assert f"column {header[0]!r} holds ids of view {first!r}, column {header[1]!r} those of {second!r}" in ran.err
    assert "map.csv lists pairs more than once (1 in all): they count once" in ran.err
    assert read_summary(tmp_path / "out")["mapping"]["mapped"][0]["entities"] == 36


def test_ids_that_look_like_formulas_are_guarded(tmp_path):
    write_csv(tmp_path / "p.csv", ["id", "x"], [(f"p{i}", i % 3 * 5 + i / 99) for i in range(30)])
    write_csv(tmp_path / "i.csv", ["id", "y"], [(f"=i{i}", i % 3 * 5 - i / 99) for i in range(30)])
    file = write_csv(tmp_path / "m.csv", ["p", "i"], [("p0", "=i0")])
    views = "--view", tmp_path / "p.csv", "--view", tmp_path / "i.csv", "--mapping", file
    ran = run_successfully("cluster", *views, *FAST, "--out", tmp_path / "out")
    rows = read_labels(tmp_path / "out")
    assert (rows[0]["id"], rows[0]["id in i"]) == ("p0 / =i0", "'=i0")
    assert "30 ids start like a formula" in ran.err


def test_constraints_are_given_in_a_view(mapped, collections, tmp_path):
    """The constraints reach the estimator by view; a method without views in constraints joins them."""
    rows = [("p0", "p1", "must", "page"), ("p0", "p21", "cannot", "page"), ("i40", "i41", "must", "image")]
    file = write_csv(tmp_path / "pairs.csv", HEADER, rows)
    arguments = "cluster", *mapped, "-k", 3, "--constraints", file, "--no-assess"
    ran = run_successfully(*arguments, "--method", "constrained", "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert facts["constraints"] == {
        "kept": 3, "given": 3, "views": {"page": {"kept": 2, "given": 2}, "image": {"kept": 1, "given": 1}}
    }  # fmt: skip
    satisfied = "3 of 3 constraints are satisfied (in page 2 of 2; in image 1 of 1)."
    assert satisfied in ran.out
    assert f"constraints: {satisfied}" in (tmp_path / "out" / "report.html").read_text()
    blocks, numbers, pairs = read_both(collections)
    views = cs.align(blocks, {("page", "image"): pairs})
    page, image = (numbers[name].index for name in ("page", "image"))
    links = {
        "page": cs.Constraints([(page(0), page(1))], [(page(0), page(21))], by="row"),
        "image": cs.Constraints([(image(40), image(41))], by="row"),
    }
    model = METHODS["constrained"]().fit(views, constraints=links)
    assert [int(row["cluster"]) for row in read_labels(tmp_path / "out")] == model.labels_.tolist()
    ran = run_successfully(*arguments, "--out", tmp_path / "joint")
    assert "--method consilience takes constraints between entities, not by view" in ran.err
    assert read_summary(tmp_path / "joint")["constraints"]["kept"] == 3


def test_view_column_without_a_mapping(ab, tmp_path):
    labels = []
    for header in (HEADER[:3], HEADER):
        file = write_csv(tmp_path / "pairs.csv", header, [("e00", "e03", "must", "a")[: len(header)]])
        options = "-k", 3, "--constraints", file, *FEW, "--out", tmp_path / "out", "--force"
        run_successfully("cluster", *ab, *options)
        labels.append(read_labels(tmp_path / "out"))
    assert [row["cluster"] for row in labels[0]] == [row["cluster"] for row in labels[1]]
    assert "id in a" not in labels[0][0]
    assert read_summary(tmp_path / "out")["mapping"] is None


def test_constraints_between_views_hold_for_entities(mapped, tmp_path):
    """Without a column view, ids may come from different files, and names of entities are accepted."""
    rows = [("p0", "i45", "must"), ("p1 / i1", "i50", "cannot")]
    file = write_csv(tmp_path / "pairs.csv", HEADER[:3], rows)
    run_successfully("cluster", *mapped, "-k", 3, "--constraints", file, *FEW, "--out", tmp_path / "out")
    assert read_summary(tmp_path / "out")["constraints"] == {"kept": 2, "given": 2}
    cluster = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "out")}
    assert cluster["p0 / i0"] == cluster["p45 / i45" if 45 in IN_BOTH else "i45"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("i0", "p1", "must", "page"), "names 'i0' in row 1, which view 'page' does not have: correct the id"),
        (("p0", "p1", "must", "sound"), "names the view 'sound' in row 1; the views are 'page', 'image'. Name one"),
        (("p0", "p1", "must", ""), "names no view in row 1; the views are 'page', 'image'. Name one in each row"),
        (("p0", "p0", "must", "page"), "must-link ('p0 / i0', 'p0 / i0') is between an entity and itself: leave it"),
    ],
)
def test_invalid_views_of_constraints_are_refused(row, words, mapped, tmp_path):
    file = write_csv(tmp_path / "pairs.csv", HEADER, [row])
    ran = run_command("cluster", *mapped, "-k", 3, "--constraints", file, "--out", tmp_path / "out")
    assert_refused(ran, f"{file} (--constraints)", words)


def test_constraint_in_a_view_that_an_entity_lacks(ab, clustered, tmp_path):
    rows = read_labels(clustered("k-means"))
    lacks = next(row["id"] for row in rows if not row["cluster by a"])
    has = next(row["id"] for row in rows if row["cluster by a"])
    file = write_csv(tmp_path / "pairs.csv", HEADER, [(has, lacks, "must", "a")])
    ran = run_command("cluster", *ab, "-k", 3, "--constraints", file, "--out", tmp_path / "out")
    assert_refused(ran, f"gives row 1 in view 'a', in which '{lacks}' has no data: name another view")


@pytest.mark.parametrize(("n_mapped", "count"), [(1, "1 entity"), (2, "2 entities"), (3, None)])
def test_mapping_of_fewer_entities_than_clusters_is_noted(n_mapped, count, views, tmp_path):
    pairs = [(PAGES[i], IMAGES[i]) for i in IN_BOTH[:n_mapped]]
    file = write_csv(tmp_path / "map.csv", ["page", "image"], pairs)
    ran = run_successfully("cluster", *views, "--mapping", file, *FAST, "--out", tmp_path / "out")
    notes = [note for note in read_summary(tmp_path / "out")["notes"] if "belong together" in note]
    few = f"shares only {count} with other views, fewer than the 3 clusters"
    assert [note.partition(few)[0] for note in notes] == (["View 'page' ", "View 'image' "] if count else [])
    assert all(f"note: {note}" in ran.err for note in notes)
