"""Known classes of some entities, which the fit uses: `--seeds`."""

import numpy as np
import pytest

import consilience as cs
from consilience.metrics import evaluate
from consilience.pipeline.seeds import SeedClasses, describe_seeds
from consilience.registry import list_estimators
from stage import (
    CLASSES,
    FAST,
    IDS,
    N,
    assert_refused,
    get_clusters,
    make_blobs,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: seeds")  # whose runs are shared

NAMES = np.array(["river", "sea", "lake"])
CLUSTER = {"lake": 0, "river": 1, "sea": 2}  # the classes in order
SEEDED = [0, 1, 25, 26, 50]  # two of the first two classes, one of the third
FEW = "--no-assess", "--quiet"


def write_views(folder, seeded=SEEDED, separation=2.5):
    """Write two overlapping views, the first with the seeds and the classes."""
    X, Y = (np.round(make_blobs(seed, separation=separation), 4) for seed in (0, 1))
    seeds = [NAMES[CLASSES[i]] if i in seeded else "" for i in range(N)]
    rows = ([IDS[i], *X[i], seeds[i], NAMES[CLASSES[i]]] for i in range(N))
    write_csv(folder / "a.csv", ["id", "x", "y", "z", "seed", "class"], rows)
    write_csv(folder / "b.csv", ["id", "u", "v", "w"], ([IDS[i], *Y[i]] for i in range(N)))
    return "--view", f"a={folder / 'a.csv'}:x,y,z", "--view", f"b={folder / 'b.csv'}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture(scope="module")
def views(folder):
    return write_views(folder)


def read_by_hand():
    blocks = {name: np.round(make_blobs(seed, separation=2.5), 4) for seed, name in enumerate("ab")}
    numbers = np.full(N, -1)
    numbers[SEEDED] = [CLUSTER[NAMES[CLASSES[i]]] for i in SEEDED]
    scaled = {name: (X - X.mean(axis=0)) / X.std(axis=0) for name, X in blocks.items()}
    return cs.Views(scaled, ids=IDS), numbers


BY_HAND = {
    "co-em": lambda: cs.CoEM(3, families="gaussian", eta=0.5, random_state=0),
    "spherical": lambda: cs.MultiViewSphericalKMeans(3, random_state=0),
    "k-means": lambda: cs.MultiViewKMeans(3, random_state=0),
}


@pytest.fixture(scope="module")
def seeded(views, tmp_path_factory):
    """The folder of a run with seeds, of each method made once, and what was printed."""
    made = {}

    def run(method):
        if method not in made:
            folder = tmp_path_factory.mktemp("seeded") / method
            options = "--seeds", "seed", "--labels", "class", "--method", method, "-k", 3, "--no-assess"
            made[method] = folder, run_successfully("cluster", *views, *options, "--out", folder)
        return made[method]

    return run


@pytest.mark.parametrize("method", BY_HAND)
def test_fit_gets_the_seeds(method, seeded):
    folder, ran = seeded(method)
    data, numbers = read_by_hand()
    model = BY_HAND[method]().fit(data, numbers)
    rows, facts = read_labels(folder), read_summary(folder)
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert facts["seeds"] == [
        {"class": "lake", "entities": 1, "cluster": 0, "in_cluster": 1},
        {"class": "river", "entities": 2, "cluster": 1, "in_cluster": 2},
        {"class": "sea", "entities": 2, "cluster": 2, "in_cluster": 2},
    ]
    line = "lake (1 seed): cluster 0; river (2 seeds): cluster 1; sea (2 seeds): cluster 2."
    assert f"Seeds became clusters: {line}" in ran.out
    assert "(--seeds): the fit uses the classes of 5 entities of 60: lake, river, sea." in ran.err
    assert "--seeds has a single entity of 1 class (the first is 'lake')." in ran.err
    assert "Known classes that the fit has used" in (folder / "report.html").read_text()
    assert facts["comparison"] is None
    others = np.setdiff1d(np.arange(N), SEEDED)
    assert facts["scores"]["nmi"] == pytest.approx(evaluate(CLASSES[others], model.labels_[others])["nmi"][0])
    assert "Scores leave out the seeds, whose classes the fit knows: 55 entities are scored." in ran.err


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ("consilience", cs.Consilience(3, random_state=0)),
        ("constrained", cs.MultiViewConstrainedKMeans(3, init="farthest", random_state=0)),
    ],
)
def test_methods_with_constraints_take_seeds_as_constraints(method, model, seeded):
    folder, ran = seeded(method)
    assert f"--method {method} uses the seeds as constraints: must-links within a class" in ran.err
    links = cs.Constraints([(0, 1), (25, 26)], [(0, 25), (0, 50), (25, 50)])
    assert get_clusters(read_labels(folder)) == model.fit(read_by_hand()[0], constraints=links).labels_.tolist()
    facts = read_summary(folder)
    assert [row["in_cluster"] for row in facts["seeds"]] == [1, 2, 2]
    assert len({row["cluster"] for row in facts["seeds"]}) == 3
    assert facts["constraints"] is None  # those of --constraints only


def test_constraints_of_seeds_are_a_chain_of_each_class():
    seeds = SeedClasses("file", ["a", "b", "c"], np.array([-1, 1, 0, 1, 2, 0, 1]))
    links = seeds.to_constraints()
    assert links.must_link.tolist() == [[1, 3], [1, 6], [2, 5]]
    assert links.cannot_link.tolist() == [[1, 2], [1, 4], [2, 4]]
    assert links.closure().must_link.tolist() == [[1, 3], [1, 6], [2, 5], [3, 6]]
    in_view = seeds.to_constraints(np.array([True, False, True, True, False, True, True]))
    assert (in_view.must_link.tolist(), in_view.cannot_link.tolist()) == ([[2, 5], [3, 6]], [[2, 3]])


@pytest.mark.parametrize(
    ("method", "header"),
    [("auto", ["first", "second", "type", "weight"]), ("constrained", ["first", "second", "type", "weight", "view"])],
)
def test_seeds_and_constraints_are_combined(method, header, views, tmp_path):
    file = write_csv(tmp_path / "pairs.csv", header, [("e10", "e11", "cannot", 1000, "a")[: len(header)]])
    arguments = "--seeds", "seed", "--constraints", file, "--method", method, "-k", 3
    run_successfully("cluster", *views, *arguments, *FEW, "--out", tmp_path / "out")
    labels = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "out")}
    assert labels["e10"] != labels["e11"]
    assert labels["e00"] == labels["e01"] != labels["e25"] == labels["e26"]
    counts = read_summary(tmp_path / "out")["constraints"]
    assert (counts["kept"], counts["given"]) == (1, 1)


def test_file_of_seeds(views, folder, tmp_path):
    """FILE, FILE:COLUMN of a table for them alone, and FILE:COLUMN of a view's file are the same."""
    rows = [(IDS[i], NAMES[CLASSES[i]]) for i in SEEDED]
    alone = write_csv(tmp_path / "seeds.csv", ["id", "what"], rows)
    labels = []
    for seeds in ("seed", alone, f"{alone}:what", f"{folder / 'a.csv'}:seed"):
        out = tmp_path / str(len(labels))
        run_successfully("cluster", *views, "--seeds", seeds, "--method", "k-means", "-k", 3, *FEW, "--out", out)
        labels.append([row["cluster"] for row in read_labels(out)])
        assert read_summary(out)["views"]["a"]["columns"] == 3
    assert labels[0] == labels[1] == labels[2] == labels[3]


def test_seeds_are_no_feature(folder, tmp_path):
    """Neither as a column nor as FILE:COLUMN; a view that selects the column is refused."""
    write_csv(
        tmp_path / "t.csv", ["id", "x", "seed"], [(i, i % 2 + i / 99, "ab"[i % 2] if i < 6 else "") for i in range(40)]
    )
    arguments = "--method", "k-means", "-k", 2, *FEW
    for number, seeds in enumerate(("seed", f"{tmp_path / 't.csv'}:seed")):
        out = tmp_path / str(number)
        run_successfully("cluster", "--view", tmp_path / "t.csv", "--seeds", seeds, *arguments, "--out", out)
        assert read_summary(out)["views"]["t"]["columns"] == 1
    view = f"t={tmp_path / 't.csv'}:x,seed"
    ran = run_command("cluster", "--view", view, "--seeds", "seed", *arguments, "--out", tmp_path / "out")
    assert_refused(ran, "the column 'seed' of ", "is both a column of view 't' and --seeds: leave it out of the view")


def test_other_methods_take_no_seeds(views, tmp_path):
    takers = "consilience or co-em or spherical or k-means or constrained"
    for method in (name for name, method in list_estimators().items() if not method.uses_seeds):
        ran = run_command("cluster", *views, "-k", 3, "--method", method, "--seeds", "seed", "--out", tmp_path / "out")
        assert_refused(ran, f"--method {method} takes no --seeds: use {takers}", code=2)


def test_small_groups_take_no_seeds(views, tmp_path):
    ran = run_command("cluster", *views, "-k", "small-groups", "--seeds", "seed", "--out", tmp_path / "out")
    assert_refused(ran, "-k small-groups takes no --seeds: give -k N, or known pairs as --constraints", code=2)


@pytest.mark.parametrize("method", ["auto", "k-means"])
def test_more_classes_than_clusters_are_refused(method, views, tmp_path):
    ran = run_command("cluster", *views, "-k", 2, "--method", method, "--seeds", "seed", "--out", tmp_path / "out")
    assert_refused(ran, "(--seeds) has 3 classes (lake, river, sea), but -k is 2: each class is a cluster")


def test_auto_finds_at_least_as_many_clusters_as_classes(tmp_path):
    """The views support three clusters, the seeds know five classes."""
    X, Y = (np.round(make_blobs(seed), 4) for seed in (0, 1))
    kinds = [f"kind{CLASSES[i] * 2 + i % 2}" if CLASSES[i] < 2 else "kind4" for i in range(N)]
    seeds = [kinds[i] if i % 20 < 4 else "" for i in range(N)]
    write_csv(tmp_path / "a.csv", ["id", "x", "y", "z", "seed"], ([IDS[i], *X[i], seeds[i]] for i in range(N)))
    write_csv(tmp_path / "b.csv", ["id", "u", "v", "w"], ([IDS[i], *Y[i]] for i in range(N)))
    views = "--view", tmp_path / "a.csv", "--view", tmp_path / "b.csv"
    ran = run_successfully(
        "cluster", *views, "--seeds", "seed", "--method", "k-means", "--no-assess", "--out", tmp_path / "o"
    )
    assert "The views alone support 3 clusters, but --seeds has 5 classes: there are 5 clusters." in ran.err
    facts = read_summary(tmp_path / "o")
    assert (facts["clusters"], facts["selection"]) == (5, None)


def test_auto_keeps_its_number_if_there_are_fewer_classes(tmp_path):
    views = write_views(tmp_path, seeded=[0, 1, 25], separation=6.0)
    run_successfully("cluster", *views, "--seeds", "seed", "--method", "k-means", *FEW, "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert facts["clusters"] == 3
    assert [row["class"] for row in facts["seeds"]] == ["river", "sea"]
    assert [row["cluster"] for row in facts["seeds"]] == [0, 1]


@pytest.mark.parametrize("method", ["auto", "co-em", "k-means"])
def test_all_entities_known(method, tmp_path):
    """The clusters are the classes, and nothing is left to score."""
    views = write_views(tmp_path, seeded=range(N))
    arguments = "--seeds", "seed", "--labels", "class", "--method", method, "-k", 3, "--no-assess"
    ran = run_successfully("cluster", *views, *arguments, "--out", tmp_path / "out")
    result = "" if method == "auto" else ": clusters are classes"  # constraints may be violated
    assert f"All entities have a class in --seeds, so there is nothing left to find{result}." in ran.err
    assert "All entities with a class in --labels are seeds, which the fit knows: there are no scores." in ran.err
    assert "cross_validate" not in ran.err  # advice for users of the library
    assert read_summary(tmp_path / "out")["scores"] is None
    assert evaluate(CLASSES, get_clusters(read_labels(tmp_path / "out")))["ari"][0] == pytest.approx(1.0)


def test_single_class(tmp_path):
    views = write_views(tmp_path, seeded=[0, 1])
    for method in ("auto", "k-means"):
        arguments = "--seeds", "seed", "--method", method, "-k", 3, "--no-assess", "--out", tmp_path / method
        ran = run_successfully("cluster", *views, *arguments)
        assert "--seeds has a single class, 'river': it says nothing about the other clusters." in ran.err
        labels = get_clusters(read_labels(tmp_path / method))
        assert labels[0] == labels[1]
        assert len(set(labels)) == 3


@pytest.mark.parametrize("option", ["--seeds", "--labels"])
def test_each_file_has_the_classes_of_some_entities(option, tmp_path):
    """The rows of the files are in different orders; one entity has its class in both."""
    for seed, (name, rows) in enumerate({"a": [0, 25], "b": [25, 50]}.items()):
        X = np.round(make_blobs(seed), 4)
        classes = [NAMES[CLASSES[i]] if i in rows else "" for i in range(N)]
        cells = [[IDS[i], *X[i], classes[i]] for i in range(N)][:: -1 if seed else 1]
        write_csv(tmp_path / f"{name}.csv", ["id", *"xyz", "what"], cells)
    views = "--view", f"a={tmp_path / 'a.csv'}", "--view", f"b={tmp_path / 'b.csv'}"
    options = "-k", 3, "--method", "k-means", "--out", tmp_path / "out", *FEW
    run_successfully("cluster", *views, option, "what", *options)
    summary = read_summary(tmp_path / "out")
    if option == "--seeds":
        assert [(row["class"], row["entities"]) for row in summary["seeds"]] == [("lake", 1), ("river", 1), ("sea", 1)]
    else:
        assert summary["scores"]["nmi"] == 1
    text = (tmp_path / "b.csv").read_text().replace("sea", "lake")
    (tmp_path / "b.csv").write_text(text)
    ran = run_command("cluster", *views, option, "what", *options, "--force")
    words = "entity 'e25' has the class 'sea' in ", " and 'lake' in ", f"({option}): correct one, or name one file"
    assert_refused(ran, *words)


def test_seeds_without_ids_need_files_of_the_same_order(views, tmp_path):
    classes = np.array([NAMES[CLASSES[i]] if i in SEEDED else "" for i in range(N)])
    np.save(tmp_path / "seeds.npy", classes)
    Y = np.round(make_blobs(1), 4)
    write_csv(tmp_path / "b.csv", ["id", "u", "v", "w"], ([IDS[i], *Y[i]] for i in reversed(range(N))))
    first = views[:2]
    options = "--method", "k-means", "--seeds", tmp_path / "seeds.npy", "-k", "3", "--out", tmp_path / "out", *FEW
    ran = run_command("cluster", *first, "--view", f"b={tmp_path / 'b.csv'}", *options)
    assert_refused(ran, "seeds.npy (--seeds) has no ids, but the views are joined by ids: add them")
    run_successfully("cluster", *views, *options)
    seeded = np.array(get_clusters(read_labels(tmp_path / "out")))[SEEDED]
    assert seeded.tolist() == [CLUSTER[name] for name in classes[SEEDED]]
    file = write_csv(tmp_path / "few.csv", ["seed"], [["river"], ["sea"]])
    ran = run_command("cluster", *views, "--seeds", file, "-k", 3, "--out", tmp_path / "few")
    assert_refused(ran, f"few.csv:seed (--seeds) has 2 labels for {N} entities: give one each, or a column of ids")


def test_classes_that_are_numbers_are_ordered_by_value(tmp_path):
    rows = [(IDS[i], *np.round(make_blobs(0)[i], 4), [10, 9, 2][CLASSES[i]] if i % 20 < 2 else "") for i in range(N)]
    write_csv(tmp_path / "t.csv", ["id", "x", "y", "z", "seed"], rows)
    arguments = "--view", tmp_path / "t.csv", "--seeds", "seed", "--method", "k-means", "-k", 3, *FEW
    run_successfully("cluster", *arguments, "--out", tmp_path / "out")
    described = read_summary(tmp_path / "out")["seeds"]
    assert [(row["class"], row["cluster"]) for row in described] == [("2", 0), ("9", 1), ("10", 2)]


def test_minus_one_is_a_class_with_a_note(tmp_path):
    """In Python -1 means unknown; in a file an empty cell does."""
    views = write_views(tmp_path)
    seeds = write_csv(tmp_path / "seeds.csv", ["id", "what"], [(IDS[0], 1), (IDS[25], -1), (IDS[26], -1)])
    options = "--method", "k-means", "--seeds", seeds, "--out", tmp_path / "out", "--no-assess"
    ran = run_successfully("cluster", *views, *options, "-k", "3")
    assert "--seeds has a class '-1'. If it means that the class is unknown, leave these cells empty." in ran.err
    ran = run_command("cluster", *views, *options, "-k", "1", "--force")
    assert_refused(ran, "has 2 classes (-1, 1), but -k is 1: each class is a cluster, so give -k 2 or more")


def test_report_shows_the_seeds_again(seeded, tmp_path):
    run_successfully("report", seeded("co-em")[0], "--out", tmp_path / "again.html", "--labels", "class", "--quiet")
    page = (tmp_path / "again.html").read_text()
    assert "Known classes that the fit has used" in page
    assert "Scores leave out the seeds" in page


def test_changed_seeds_are_noticed(views, tmp_path):
    file = write_csv(tmp_path / "seeds.csv", ["id", "seed"], [("e00", "river"), ("e25", "sea")])
    run_successfully("cluster", *views, "--seeds", file, *FAST, "--out", tmp_path / "out")
    write_csv(file, ["id", "seed"], [("e00", "sea"), ("e25", "sea")])
    assert_refused(run_command("report", tmp_path / "out", "--force"), "the files have changed since")


def test_assessment_fits_halves_with_the_seeds(views, tmp_path, monkeypatch):
    calls = []

    def record(model, X, **options):
        calls.append(options)
        raise ValueError("recorded")

    monkeypatch.setattr("consilience.pipeline.reliance.assess", record)
    run_successfully(
        "cluster", *views, "--seeds", "seed", "--method", "k-means", "-k", 3, "--quiet", "--out", tmp_path / "o"
    )
    assert calls[0]["y"].tolist() == read_by_hand()[1].tolist()


def test_seeds_with_a_mapping(tmp_path):
    """Each file may have a column of seeds."""
    X, Y = (np.round(make_blobs(seed), 4) for seed in (0, 1))
    seeds = [NAMES[CLASSES[i]] if i % 20 == 0 else "" for i in range(N)]
    write_csv(tmp_path / "a.csv", ["id", "x", "y", "z", "seed"], ([f"a{i}", *X[i], seeds[i]] for i in range(40)))
    write_csv(tmp_path / "b.csv", ["id", "u", "v", "w", "seed"], ([f"b{i}", *Y[i], seeds[i]] for i in range(20, N)))
    file = write_csv(tmp_path / "map.csv", ["a", "b"], [(f"a{i}", f"b{i}") for i in range(20, 40)])
    views = "--view", tmp_path / "a.csv", "--view", tmp_path / "b.csv", "--mapping", file, "--seeds", "seed"
    for method in ("k-means", "auto"):
        run_successfully("cluster", *views, "--method", method, "-k", 3, *FEW, "--out", tmp_path / method)
        described = read_summary(tmp_path / method)["seeds"]
        assert [(row["class"], row["entities"]) for row in described] == [("lake", 1), ("river", 1), ("sea", 1)]


def test_classes_that_share_a_cluster_are_pointed_out():
    described = [
        {"class": name, "entities": 1, "cluster": cluster, "in_cluster": 1}
        for name, cluster in (("lake", 2), ("river", 0), ("sea", 2))
    ]
    assert describe_seeds(described).endswith("sea (1 seed): cluster 2. Cluster 2 has most seeds of 2 classes.")
    assert describe_seeds(described[:2]).endswith("river (1 seed): cluster 0.")
