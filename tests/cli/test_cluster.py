"""The shapes that data comes in: what is written equals what the estimator says when it is called by hand."""

import csv
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

import consilience as cs
from consilience import registry
from consilience.persist import load
from stage import (
    CLASSES,
    FAST,
    FILES,
    IDS,
    N,
    assert_refused,
    get_clusters,
    list_folder,
    make_blobs,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: cluster")  # whose runs are shared

QUICK = "-k", 3, "--no-assess"


def standardize(X):
    """Of the rows that are there, mean 0 and variance 1; an empty cell among others is the column's median."""
    lost = np.isnan(X).all(axis=1)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    X = (X - X[~lost].mean(axis=0)) / X[~lost].std(axis=0)
    return np.where(lost[:, None], np.nan, X)


def read_table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def join_by_id(folder):
    """Join two files by id; return the ids in the order of their first occurrence, and the views."""
    tables = {name: {row["id"]: row for row in read_table(folder / f"{name}.csv")} for name in "ab"}
    ids = list(dict.fromkeys([*tables["a"], *tables["b"]]))
    blocks = {
        name: [[float(table[i][f"{name}{j}"]) if i in table else np.nan for j in range(3)] for i in ids]
        for name, table in tables.items()
    }
    return ids, cs.Views({name: standardize(np.array(block)) for name, block in blocks.items()})


BY_HAND = {
    "consilience": lambda: cs.Consilience(3, random_state=0),
    "spectral": lambda: cs.CoTrainedSpectral(3, random_state=0),
    "kernel-addition": lambda: cs.baselines.KernelAddition(3, random_state=0),
    "co-regularized": lambda: cs.baselines.CoRegularizedSpectral(3, random_state=0),
    "cca-k-means": lambda: cs.baselines.CCAKMeans(3, random_state=0),
    "co-em": lambda: cs.CoEM(3, families="gaussian", eta=0.5, random_state=0),
    "spherical": lambda: cs.MultiViewSphericalKMeans(3, random_state=0),
    "k-means": lambda: cs.MultiViewKMeans(3, random_state=0),
    "convex": lambda: cs.ConvexMixture(3, divergence="squared-euclidean"),
    "agglomerative": lambda: cs.MultiViewAgglomerative(3, metric="euclidean"),
    "constrained": lambda: cs.MultiViewConstrainedKMeans(3, init="farthest", random_state=0),
}
OF_SIMILARITIES = {
    "consilience": lambda: cs.Consilience(3, affinity="precomputed", random_state=0),
    "kernel-addition": lambda: cs.baselines.KernelAddition(3, affinity="precomputed", random_state=0),
    "co-regularized": lambda: cs.baselines.CoRegularizedSpectral(3, affinity="precomputed", random_state=0),
    "spectral": lambda: cs.CoTrainedSpectral(3, affinity="precomputed", random_state=0),
    "convex": lambda: cs.ConvexMixture(3, divergence="kernel"),
}


def check_folder(folder, ids, model, names, n_columns):
    """All files are there, whole, and say what the model says."""
    assert set(list_folder(folder)) == FILES
    rows, facts = read_labels(folder), read_summary(folder)
    assessed = facts["assessment"] is not None
    expected = [
        "id",
        "cluster",
        "name",
        *["confidence", "confidence in words"] * (facts["mean_confidence"] is not None),
    ]
    calibrated = assessed or not hasattr(model, "calibrate")
    has_probabilities = hasattr(model, "predict_proba") and calibrated
    expected += ["second", "second name"] * has_probabilities + ["stability"] * assessed
    assert list(rows[0]) == [*expected, "contested", *(f"cluster by {name}" for name in names)]
    assert [row["id"] for row in rows] == ids
    assert get_clusters(rows) == model.labels_.tolist()
    for name in names:
        assert [int(row[f"cluster by {name}"] or -1) for row in rows] == model.view_labels_[name].tolist()
    by_view = np.array([[row[f"cluster by {name}"] for name in names] for row in rows])
    assert [row["contested"] == "yes" for row in rows] == [len(set(labels) - {""}) > 1 for labels in by_view.tolist()]
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in {"confidence", "stability"} & set(row))
    assert facts["entities"] == len(ids)
    assert facts["clusters"] == len(set(get_clusters(rows)))
    assert facts["sizes"] == [Counter(get_clusters(rows))[c] for c in range(facts["clusters"])]
    assert facts["contested"] == sum(row["contested"] == "yes" for row in rows)
    assert facts["mean_confidence"] is None if not assessed else 0 <= facts["mean_confidence"] <= 1
    assert facts["outliers"] == 0
    assert {name: view["columns"] for name, view in facts["views"].items()} == dict(zip(names, n_columns, strict=True))
    assert {name: view["present"] for name, view in facts["views"].items()} == {
        name: sum(row[f"cluster by {name}"] != "" for row in rows) for name in names
    }
    for v, name in enumerate(names):
        for w in range(len(names)):
            both = (by_view[:, v] != "") & (by_view[:, w] != "")
            agreed = np.mean(by_view[both, v] == by_view[both, w]) if both.any() else None
            assert facts["agreement"][name][w] == pytest.approx(agreed)
    saved = load(folder / "model.zip")
    assert saved["estimator"].labels_.tolist() == get_clusters(rows)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    return rows, facts


@pytest.mark.parametrize("method", BY_HAND)
def test_tables_joined_by_id_with_missing_views(method, clustered, data):
    folder = clustered(method)
    ids, views = join_by_id(data)
    model = BY_HAND[method]().fit(views)
    rows, facts = check_folder(folder, ids, model, ["a", "b"], [3, 3])
    content = load(folder / "model.zip")
    saved, saved_assessment = content["estimator"], content["assessment"]
    if hasattr(saved, "predict_proba"):
        shares = saved.predict_proba(views)
        places = np.arange(len(rows)), model.labels_
        shares[places] = -1
        following = ["" if row.max() < 5e-5 else str(row.argmax()) for row in shares]
        assert [row["second"] for row in rows] == following
        assert [row["second name"] for row in rows] == [number and facts["names"][int(number)] for number in following]
    if saved_assessment is not None:
        assert facts["mean_confidence"] == pytest.approx(saved_assessment.confidence.mean())
    assert [view["present"] for view in facts["views"].values()] == [N * 4 // 5] * 2
    assert (facts["method"], facts["estimator"], facts["seed"]) == (method, type(model).__name__, 0)


@pytest.mark.parametrize(("kind", "models"), [("numbers", BY_HAND), ("similarities", OF_SIMILARITIES)])
def test_options_follow_from_the_kind_of_the_views(kind, models):
    for method, by_hand in models.items():
        built = registry.find_estimator(method).build(3, {"a": kind, "b": kind}, seed=0).get_params()
        for name, value in by_hand().get_params().items():
            assert built[name] in (value, {"a": value, "b": value}), (method, name)


def test_text_and_links_of_the_included_data_set(tmp_path):
    run_successfully("datasets", "word-senses", "--out", tmp_path / "senses")
    senses = read_table(tmp_path / "senses" / "senses.csv")[:400]
    ids = [row["id"] for row in senses]
    links = [row for row in read_table(tmp_path / "senses" / "links.csv") if {row["source"], row["target"]} <= {*ids}]
    table = write_csv(tmp_path / "senses.csv", senses[0], (row.values() for row in senses))
    file = write_csv(tmp_path / "links.csv", links[0], (row.values() for row in links))
    options = ["--view", f"gloss={table}:gloss", "--view", f"lemmas={table}:lemmas", "--view", f"links={file}"]
    for encoding in ("gloss=words", "lemmas=words", "links=rows"):
        options += ["--encode", encoding]
    options += ["--labels", "kind", "-k", 3, "--set", "n_init=1", "--no-assess"]
    run_successfully("cluster", *options, "--out", tmp_path / "out")
    place = {entity: i for i, entity in enumerate(ids)}

    def weighed(counts):
        """Logarithmic counts times rarity, rows of unit length; empty rows are missing."""
        X = sp.csr_array(counts, dtype=np.float64)
        rarity = np.log((1 + X.shape[0]) / (1 + np.asarray((X != 0).sum(axis=0)).ravel())) + 1
        X = sp.csr_array(X.log1p() @ sp.diags_array(rarity))
        length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1)) @ X)

    def build_link_matrix(end, other):
        others = {entity: j for j, entity in enumerate(dict.fromkeys(row[other] for row in links))}
        at = [(place[row[end]], others[row[other]]) for row in links]
        return sp.csr_array((np.ones(len(at)), tuple(np.array(at).T)), shape=(len(ids), len(others)))

    words = CountVectorizer(min_df=2, max_df=0.5, stop_words="english").fit_transform([row["gloss"] for row in senses])
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=2, max_df=0.5)
    blocks = {
        "gloss": words,
        "lemmas": letters.fit_transform([row["lemmas"] for row in senses]),
        "links-out": build_link_matrix("source", "target"),
        "links-in": build_link_matrix("target", "source"),
    }
    blocks = {name: weighed(block) for name, block in blocks.items()}
    present = np.stack([np.diff(block.indptr) > 0 for block in blocks.values()], axis=1)
    views = cs.Views(blocks, present=present, ids=ids)
    model = cs.Consilience(3, n_init=1, random_state=0).fit(views)
    columns = [block.shape[1] for block in blocks.values()]
    _, facts = check_folder(tmp_path / "out", ids, model, list(blocks), columns)
    assert {name: view["kind"] for name, view in facts["views"].items()} == {
        "gloss": "text", "lemmas": "names", "links-out": "links", "links-in": "links",
    }  # fmt: skip
    kinds = [row["kind"] for row in senses]
    assert facts["scores"]["nmi"] == pytest.approx(cs.metrics.normalized_mutual_info_score(kinds, model.labels_))
    information = {row["view"]: row["share"] for row in facts["view_information"]}
    expected = dict(zip(model.view_information_["view"], model.view_information_["share"], strict=True))
    assert information == pytest.approx(expected)


def test_one_table_with_column_groups_and_classes(data, tmp_path):
    file = data / "groups.csv"
    arguments = "--view", f"x={file}:x_*", "--view", f"y={file}:y_0,y_1,y_2", "--labels", "class", "--method", "co-em"
    ran = run_successfully("cluster", *arguments, "-k", 3, "--no-assess", "--out", tmp_path / "out")
    table = read_table(file)
    X = np.array([[float(row[c] or "nan") for c in table[0] if c != "class"] for row in table])
    views = cs.Views({"x": standardize(X[:, :3]), "y": standardize(X[:, 3:])})
    model = BY_HAND["co-em"]().fit(views)
    _, facts = check_folder(tmp_path / "out", [str(i) for i in range(N)], model, ["x", "y"], [3, 3])
    assert facts["scores"]["ari"] == pytest.approx(cs.metrics.adjusted_rand_score(CLASSES, model.labels_))
    filled = [f"View {name!r}: 1 empty cell in otherwise filled rows got the median" for name in "xy"]
    assert all(any(note.startswith(note_start) for note in facts["notes"]) for note_start in filled)
    assert all(note_start in ran.err for note_start in filled)


@pytest.mark.parametrize(
    "method", ["spherical", "convex", "constrained", "kernel-addition", "co-regularized", "kernel-product", "cca"]
)
def test_rows_of_the_fit_keep_their_clusters_in_predict(method, ab, tmp_path):
    out = tmp_path / "out"
    run_successfully("cluster", *ab, *QUICK, "--method", method, "--out", out)
    assert set(list_folder(out)) == FILES
    run_successfully("predict", out, *ab, "--out", tmp_path / "new.csv")
    fitted, placed = (get_clusters(read_labels(path)) for path in (out, tmp_path / "new.csv"))
    assert cs.metrics.adjusted_rand_score(fitted, placed) > 0.9


def test_known_classes_never_reach_a_view(data, tmp_path):
    run_successfully("cluster", "--view", data / "groups.csv", "--labels", "class", *FAST, "--out", tmp_path / "out")
    assert read_summary(tmp_path / "out")["views"]["groups"]["columns"] == 6


@pytest.mark.parametrize("method", OF_SIMILARITIES)
def test_precomputed_similarities(method, data, tmp_path):
    arguments = "--view", data / "near.npy", "--view", data / "like.npy", "--method", method
    run_successfully("cluster", *arguments, "-k", 3, "--no-assess", "--out", tmp_path / "out")
    views = cs.Views({name: np.load(data / f"{name}.npy") for name in ("near", "like")})
    model = OF_SIMILARITIES[method]().fit(views)
    _, facts = check_folder(tmp_path / "out", [str(i) for i in range(N)], model, ["near", "like"], [N, N])
    assert {view["kind"] for view in facts["views"].values()} == {"similarities"}


def test_refused_similarities_name_suitable_methods(data, tmp_path):
    ran = run_command("cluster", "--view", data / "near.npy", *FAST, "--out", tmp_path / "out")
    takers = ["consilience", "spectral", "kernel-addition", "co-regularized", "convex", "kernel-product"]
    takers = " or ".join([*takers, "minimum-disagreement"])
    assert_refused(ran, f"view 'near' holds similarities, which --method k-means cannot take: use {takers}")
    assert ran.error_line.endswith(takers)


def write_papers(folder):
    """Write texts of three topics, and citations within each."""
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice([f"{'xyz'[i % 3]}{j}" for j in range(9)], 8)) for i in range(60)]
    (folder / "papers.csv").write_text("id,text\n" + "".join(f"p{i},{text}\n" for i, text in enumerate(words)))
    pairs = [(i, int(j)) for i in range(60) for j in rng.choice(np.arange(i % 3, 60, 3), 3)]
    (folder / "cites.csv").write_text("source,target\n" + "".join(f"p{i},p{j}\n" for i, j in pairs))
    return "--view", folder / "papers.csv:text", "--view", folder / "cites.csv", "--kind", "papers=text"


@pytest.mark.parametrize(
    ("encoding", "names"), [("graph", ["papers", "cites"]), ("smooth", ["papers", "papers-over-cites"])]
)
def test_links_are_encoded_as_the_user_says(encoding, names, tmp_path):
    views = write_papers(tmp_path)
    out = tmp_path / "out"
    ran = run_successfully("cluster", *views, "--encode", f"cites={encoding}", "-k", 3, "--no-assess", "--out", out)
    assert "going links" not in ran.err
    facts = read_summary(out)
    assert list(facts["views"]) == names
    labels = (out / "labels.csv").read_text().splitlines()[1:]
    clusters = [line.split(",")[1] for line in labels]
    assert len(set(zip(clusters, [i % 3 for i in range(60)], strict=True))) == 3
    run_successfully("predict", out, *views[:4], "--out", tmp_path / "new.csv")
    predicted = [line.split(",")[1] for line in (tmp_path / "new.csv").read_text().splitlines()[1:]]
    assert predicted == clusters


def test_graph_that_some_entities_lack_is_compared_alone(tmp_path):
    views = write_papers(tmp_path)
    with (tmp_path / "papers.csv").open("r+") as file:
        header, *lines = file.readlines()
        lines[5:5] = [f"q{i},{'xyz'[i % 3]}1 {'xyz'[i % 3]}2 {'xyz'[i % 3]}3\n" for i in range(6)]  # without citations
        file.seek(0)
        file.writelines([header, *lines])
    ran = run_successfully("cluster", *views, "--encode", "cites=graph", *QUICK, "--out", tmp_path / "out")
    assert "Not compared with" not in ran.err
    (row,) = [row for row in read_summary(tmp_path / "out")["comparison"] if row["method"] == "cites alone"]
    assert row["entities"] == 60
    assert row["same_as_all"] > 0.9


@pytest.mark.parametrize("method", ["k-means", "convex"])
def test_auto_finds_the_number_of_clusters(method, ab, tmp_path):
    run_successfully("cluster", *ab, "--method", method, "--no-assess", "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert facts["clusters"] == 3
    assert (facts["selection"] is None) == (method == "convex")  # which needs no search


def test_auto_names_the_supported_numbers(ab, tmp_path):
    ran = run_successfully("cluster", *ab, "--no-assess", "--out", tmp_path / "out")
    selection = read_summary(tmp_path / "out")["selection"]
    assert selection["supported"][0] == 3
    assert selection["reason"].startswith("3 clusters")
    assert "\n".join([selection["reason"], *selection["sentences"]]) in ran.out
    assert selection["table"][0]["n_clusters"] == 2
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert 'id="selection"' in page
    run_successfully("report", tmp_path / "out", "--force")
    again = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    section = page.partition('<section id="selection"')[2].partition("</section>")[0]
    assert section in again


@pytest.fixture
def independent(tmp_path):
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{name}.npy" for name in ("left", "right")]
    for path in paths:
        np.save(path, rng.normal(size=(80, 4)))
    return [argument for path in paths for argument in ("--view", path)]


def test_auto_gives_one_cluster_without_evidence_for_groups(independent, tmp_path):
    ran = run_successfully("cluster", *independent, "--out", tmp_path / "out")
    assert "No evidence for groups: " in ran.out
    assert "use -k N to get N clusters anyway." in ran.out
    facts = read_summary(tmp_path / "out")
    assert (facts["clusters"], facts["comparison"]) == (1, None)
    assert not re.search("agree on|contested|support the|same_as_all|Not assessed|calibrated", ran.out + ran.err)
    assert not {"confidence", "second"} & set(read_labels(tmp_path / "out")[0])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<title>No evidence for groups in 80 items</title>" in page
    overview = page.partition('<section id="overview"')[2].partition("</section>")[0]
    assert '<strong class="badge">No evidence for groups</strong>' in overview
    assert "use -k N to get N groups anyway." in overview
    assert "Confidence" not in overview
    sections = set(re.findall(r'<section id="([\w-]+)"', page))
    assert sections == {"overview", "find", "data", "selection", "view-maps", "method"}
    section = page.partition('<section id="selection"')[2].partition("</section>")[0]
    assert 'class="bar"' not in section


def test_compare_needs_groups(independent):
    ran = run_command("compare", *independent)
    assert "No evidence for groups" not in ran.out
    assert ran.error_line.startswith("consilience: No evidence for groups: ")
    assert ran.error_line.endswith("Give -k N to compare methods anyway")
    ran = run_command("compare", *independent, "-k", "small-groups")
    assert_refused(ran, "-k small-groups is for `consilience cluster` only: give -k N to compare methods", code=2)


@pytest.fixture
def duplicates(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 2)
    paths = [tmp_path / f"{name}.npy" for name in ("left", "right")]
    for path in paths:
        np.save(path, rng.normal(size=(30, 10))[groups] + 0.05 * rng.normal(size=(60, 10)))
    return [argument for path in paths for argument in ("--view", path)]


def test_small_groups_are_duplicates(duplicates, tmp_path):
    ran = run_successfully("cluster", *duplicates, "-k", "small-groups", "--out", tmp_path / "out")
    assert "30 groups, 0 of them single entities; the largest has 2 entities." in ran.out
    assert "(the default for all kinds of views), 30 of 2 entities\n" in ran.out
    assert "note: " not in ran.err
    facts = read_summary(tmp_path / "out")
    assert facts["sizes"] == [2] * 30
    assert (facts["assessment"], facts["comparison"], facts["notes"]) == (None, None, [])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Groups by their number of items" in page
    assert '<strong class="badge">Small groups</strong>' in page
    assert '<section id="contested"' not in page


def test_known_pairs_hold_in_small_groups(duplicates, tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b,type\n0,59,must\n2,3,cannot\n")
    pairs = ["--constraints", tmp_path / "pairs.csv"]
    ran = run_successfully("cluster", *duplicates, "-k", "small-groups", *pairs, "--out", tmp_path / "out")
    assert "2 of 2 constraints are satisfied." in ran.out
    with (tmp_path / "out" / "labels.csv").open() as file:
        labels = [row["cluster"] for row in csv.DictReader(file)]
    assert labels[0] == labels[1] == labels[58] == labels[59]
    assert labels[2] != labels[3]
    assert labels[4] == labels[5]


def test_texts_of_small_groups_are_used_by_their_words(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("ha", "mo", "lu", "ki", "te") for b in ("ner", "san", "bel", "rik", "dor")]
    people = [[" ".join(rng.choice(words, 2)), f"0{rng.integers(10**8)}"] for _ in range(40) for _ in range(2)]
    people[1::2] = people[::2]
    write_csv(tmp_path / "people.csv", ["no", "name", "phone"], [[f"C{i}", *row] for i, row in enumerate(people)])
    ran = run_successfully("cluster", tmp_path / "people.csv", "-k", "small-groups", "--out", tmp_path / "out")
    assert "name-meaning" not in ran.out  # two encodings of the same name would confirm each other
    assert "40 groups, 0 of them single entities" in ran.out


def test_small_groups_need_the_default_method(duplicates, tmp_path):
    ran = run_command("cluster", *duplicates, "-k", "small-groups", "--method", "k-means", "--out", tmp_path / "out")
    assert_refused(ran, "-k small-groups works with --method consilience, not with k-means", code=2)
    assert not (tmp_path / "out").exists()


def test_auto_is_refused_with_too_few_entities(tmp_path):
    np.save(tmp_path / "few.npy", np.random.default_rng(0).normal(size=(5, 2)))
    ran = run_command("cluster", "--view", tmp_path / "few.npy", "--out", tmp_path / "out")
    assert ran.error_line.endswith("5 entities are too few to choose the number of clusters: give -k N")


@pytest.fixture(scope="module")
def kinds_of_views(data, tmp_path_factory):
    """Views of several kinds, three groups in each."""
    folder = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(0)
    topics = ["apple pear plum cherry grape", "iron steel copper zinc lead", "river lake ocean stream pond"]
    texts = [" ".join(rng.choice(topics[c].split(), 6)) + " the of and" for c in CLASSES]
    write_csv(folder / "texts.csv", ["id", "text"], zip(IDS, texts, strict=True))
    counts = rng.poisson(np.where(np.arange(60) % 3 == CLASSES[:, None], 0.5, 0.02))
    counts[np.arange(N), CLASSES] += 1
    sp.save_npz(folder / "counts.npz", sp.csr_array(counts))
    np.save(folder / "many.npy", make_blobs(8, columns=12))
    return {
        "counts": [folder / "counts.npz"],
        "many numbers": [folder / "many.npy"],
        "mixed": [f"{folder / 'texts.csv'}:text", data / "a.csv", data / "kinds.csv", data / "links.csv"],
    }


@pytest.mark.parametrize("kind", ["counts", "many numbers", "mixed"])
def test_auto_is_consilience_for_all_kinds_of_views(kind, kinds_of_views, tmp_path):
    views = [argument for file in kinds_of_views[kind] for argument in ("--view", file)]
    ran = run_successfully("cluster", *views, *QUICK, "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert (facts["method"], facts["estimator"]) == ("consilience", "Consilience")
    assert "3 clusters by cross-fitted agreement of the views (the default for all kinds of views)" in ran.out
    classes = dict(zip(IDS, CLASSES, strict=True)) | {str(i): c for i, c in enumerate(CLASSES)}
    rows = read_labels(tmp_path / "out")
    truth = [classes[row["id"]] for row in rows]
    assert cs.metrics.adjusted_rand_score(truth, get_clusters(rows)) > 0.8


def test_information_of_each_view_is_printed(clustered, tmp_path):
    """Without an assessment a view of noise is named; views that know the groups are not."""
    np.save(tmp_path / "left.npy", make_blobs(0))
    np.save(tmp_path / "right.npy", make_blobs(1))
    np.save(tmp_path / "noise.npy", np.random.default_rng(5).normal(size=(N, 20)))
    views = [argument for name in ("left", "right", "noise") for argument in ("--view", tmp_path / f"{name}.npy")]
    ran = run_successfully("cluster", *views, *QUICK, "--out", tmp_path / "out")
    assert "View 'noise' does not support the clusters: it tells next to nothing about them." in ran.out
    assert ran.out.count("support the clusters") == 1
    facts = read_summary(tmp_path / "out")
    shares = {row["view"]: row["share"] for row in facts["view_information"]}
    assert shares["noise"] < 0.05 < 0.8 < min(shares["left"], shares["right"])
    assert all(set(row) == {"view", "bits", "baseline", "share"} for row in facts["view_information"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert 'id="information"' in page
    assert "View &#x27;noise&#x27; does not support the groups" in page
    assert facts["runner_up"] is None
    assert "alternative" not in read_labels(tmp_path / "out")[0]
    assert read_summary(clustered("k-means"))["view_information"] is None


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """Two views that hold two groupings. The second mirrors the first, so that both groupings are equally clear."""
    folder = tmp_path_factory.mktemp("crossed")
    first, second = np.arange(160) % 2, np.arange(160) // 2 % 2
    left = np.random.default_rng(0).normal(size=(160, 2)) + np.stack([4 * first, 3 * second], axis=1)
    mirrored = np.arange(160) - first - 2 * second + second + 2 * first  # the entity with both groups exchanged
    np.save(folder / "left.npy", left)
    np.save(folder / "right.npy", left[mirrored][:, ::-1])
    return folder, first, second


def test_second_grouping_is_printed_and_written(crossed, tmp_path):
    folder, first, second = crossed
    views = "--view", folder / "left.npy", "--view", folder / "right.npy"
    ran = run_successfully("cluster", *views, "-k", 2, "--out", tmp_path / "out")
    rows, facts = read_labels(tmp_path / "out"), read_summary(tmp_path / "out")
    alternative = [int(row["alternative"]) for row in rows]
    pairs = {True: (first, second), False: (second, first)}
    is_first = cs.metrics.adjusted_rand_score(first, get_clusters(rows)) > 0.5
    wanted, other = pairs[is_first]
    assert cs.metrics.adjusted_rand_score(wanted, get_clusters(rows)) > 0.8
    assert cs.metrics.adjusted_rand_score(other, alternative) > 0.8
    assert facts["runner_up"]["sizes"] == np.bincount(alternative).tolist()
    assert facts["runner_up"]["similarity"] < 0.5
    assert facts["runner_up"]["scores"] is None
    assert "Two groupings are equally supported by your views" in ran.out
    assert ", ".join(map(str, facts["runner_up"]["sizes"])) in ran.out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("Two groupings are equally supported by your views") == 2
    run_successfully("report", tmp_path / "out", "--out", tmp_path / "again.html")
    assert "A second grouping" in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_note_about_a_sample_of_many_entities(ab, tmp_path, monkeypatch):
    declaration = registry.find_estimator("consilience")
    small = replace(declaration, choose_options=lambda kinds: declaration.choose_options(kinds) | {"sample_size": 40})
    monkeypatch.setitem(registry._DECLARATIONS, "consilience", small)
    ran = run_successfully("cluster", *ab, *QUICK, "--out", tmp_path / "out")
    note = "Clusters are found in a random sample of 40 entities; the others are predicted from the sample."
    assert f"note: {note}\n" in ran.err
    assert note in read_summary(tmp_path / "out")["notes"]
    assert len(set(get_clusters(read_labels(tmp_path / "out")))) == 3


def test_view_named_like_a_direction_of_links_is_refused(data, tmp_path):
    views = "--view", f"l={data / 'links.csv'}", "--view", f"l-out={data / 'a.csv'}"
    ran = run_command("cluster", *views, "-k", 3, "--out", tmp_path / "out")
    assert_refused(ran, "two views are called 'l-out': give each its own name (--view NAME=FILE)")
    assert not (tmp_path / "out").exists()


def test_equal_seeds_give_equal_files(ab, clustered, tmp_path):
    run_successfully("cluster", *ab, "-k", 3, "--method", "consilience", "--out", tmp_path / "out")
    for name in ("labels.csv", "model.zip"):
        assert (tmp_path / "out" / name).read_bytes() == (clustered("consilience") / name).read_bytes()


def test_seed_is_passed_to_the_estimator(tmp_path):
    rng = np.random.default_rng(0)
    blocks = {name: rng.normal(size=(80, 4)) for name in ("noise", "other")}
    for name, block in blocks.items():
        np.save(tmp_path / f"{name}.npy", block)
    files = [argument for name in blocks for argument in ("--view", tmp_path / f"{name}.npy")]
    options = "-k", 5, "--method", "k-means", "--seed", 2, "--no-assess", "--out", tmp_path / "out"
    run_successfully("cluster", *files, *options)
    views = cs.Views({name: standardize(block) for name, block in blocks.items()})
    expected, other = (cs.MultiViewKMeans(5, random_state=seed).fit(views).labels_.tolist() for seed in (2, 0))
    assert get_clusters(read_labels(tmp_path / "out")) == expected != other


def test_only_known_classes_are_scored(ab, tmp_path):
    rows = ((i, "xyz"[c] if n % 3 else "") for n, (i, c) in enumerate(zip(IDS, CLASSES, strict=True)))
    file = write_csv(tmp_path / "known.csv", ["id", "class"], rows)
    run_successfully("cluster", *ab, *FAST, "--labels", file, "--out", tmp_path / "out")
    facts = read_summary(tmp_path / "out")
    assert facts["scores"]["nmi"] == pytest.approx(1)
    assert {row["method"]: row["nmi"] for row in facts["comparison"]}["all views together"] == pytest.approx(1)


def test_entity_without_data_is_left_out_and_keeps_its_row_number(tmp_path):
    for seed, name in enumerate(("left", "right")):
        X = make_blobs(seed)
        X[0] = np.nan
        np.save(tmp_path / f"{name}.npy", X)
    views = "--view", tmp_path / "left.npy", "--view", tmp_path / "right.npy"
    file = write_csv(tmp_path / "links.csv", ["first", "second", "type"], [(58, 59, "must")])
    options = "--method", "constrained", "--constraints", file, "--no-assess"
    ran = run_successfully("cluster", *views, "-k", 3, *options, "--out", tmp_path / "out")
    assert "note: Entity 0 has no data in any view: left out." in ran.err
    facts, rows = read_summary(tmp_path / "out"), [str(i) for i in range(1, N)]
    assert (facts["entities"], facts["left_out"], facts["constraints"]["given"]) == (N - 1, 1, 1)
    assert [row["id"] for row in read_labels(tmp_path / "out")] == rows
    run_successfully("predict", tmp_path / "out", *views, "--out", tmp_path / "placed.csv")
    assert [row["id"] for row in read_labels(tmp_path / "placed.csv")] == rows
