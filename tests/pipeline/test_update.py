"""Runs that continue an earlier one: numbers and names of clusters, matches by ids or predictions, what is refused."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from stage import run_successfully

WORDS = {
    "chairs": ("wooden chair oak cushion leg seat armrest varnish", 60, 8),
    "knives": ("steel blade sharp handle forged kitchen edge chef", 30, 0.3),
    "bread": ("bread serrated loaf slicing crust bakery wave toast", 90, 1.2),
    "phones": ("phone battery screen camera wireless charger display app", 400, 0.2),
    "lamps": ("lamp bulb light shade desk switch glow socket", 45, 3),
    "forks": ("garden fork soil digging spade compost tines plant", 25, 2),
}


QUICK = {"encode": {"title": "words"}, "assess": False}  # nothing to choose, which saves time


def make_products(kinds, seed, first=0):
    """Return products of some kinds: a code, a title, and a price and a weight that depend on the kind."""
    rng = np.random.default_rng(seed)
    rows = []
    for i, kind in enumerate(kinds, first):
        words, price, weight = WORDS[kind]
        title = " ".join(rng.choice(words.split(), 5, replace=False))
        rows.append([f"P{i:04}", title, price * rng.lognormal(0, 0.1), weight * rng.lognormal(0, 0.1)])
    return pd.DataFrame(rows, columns=["sku", "title", "price", "weight"])


@pytest.fixture(scope="module")
def may():
    """Chairs, knives of which some are to become bread knives, phones and garden forks."""
    return make_products(["chairs"] * 50 + ["knives"] * 80 + ["phones"] * 40 + ["forks"] * 40, 1)


@pytest.fixture(scope="module")
def june(may):
    """Without phones, with lamps, and with bread knives that differ from other knives."""
    bread, lamps = make_products(["bread"] * 30, 2, 100), make_products(["lamps"] * 35, 3, 500)
    old = may[~may["sku"].isin([*bread["sku"], *may["sku"][130:170]])]
    return pd.concat([old, bread, lamps]).sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture(scope="module")
def first(may):
    result = cs.cluster(may, **QUICK)
    return result.rename({result.labels[60]: "sharp things"})


@pytest.fixture(scope="module")
def four(may):
    """A run whose number of clusters is given, which is faster."""
    return cs.cluster(may, 4, **QUICK)


@pytest.fixture(scope="module")
def second(first, june):
    return first.update(june)


def name_kinds(result, frame):
    """Return the kind of each cluster by its number, from the words of a title."""
    kinds = {}
    for label, title in zip(result.labels.tolist(), frame["title"], strict=True):
        kind = next(kind for kind, (words, *_) in WORDS.items() if title.split()[0] in words.split())
        kinds.setdefault(label, set()).add(kind)
    return kinds


def test_split_appeared_and_vanished_clusters_are_told_and_matched_ones_keep_their_names(first, second, may, june):
    before, after = name_kinds(first, may), name_kinds(second, june)
    assert sorted(map(sorted, after.values())) == [["bread"], ["chairs"], ["forks"], ["knives"], ["lamps"]]
    assert set(before) == {0, 1, 2, 3}
    number = {next(iter(kinds)): cluster for cluster, kinds in before.items()}
    later = {next(iter(kinds)): cluster for cluster, kinds in after.items()}
    assert all(later[kind] == number[kind] for kind in ("chairs", "knives", "forks"))
    assert {later["bread"], later["lamps"]} == {4, 5}
    changes = second.changes
    assert (changes.splits, changes.merges) == ({number["knives"]: [later["knives"], later["bread"]]}, {})
    assert (changes.appeared, changes.vanished) == ([later["lamps"]], [number["phones"]])
    assert (changes.n_shared, changes.n_moved) == (170, 30)
    assert all(second.names[kept] == first.names[kept] for kept in changes.matches)
    assert len(set(second.names)) == len(second.names)
    assert second.names[first.labels[60]] == "sharp things"
    assert "'sharp things' split into 'sharp things' (50)" in " ".join(changes.sentences)


def test_labels_frame_prediction_and_files_agree(second, june, tmp_path):
    loaded = cs.load_run(second.save(tmp_path / "june"), june)
    assert loaded.labels.tolist() == second.labels.tolist()
    assert loaded.frame["cluster"].tolist() == second.labels.tolist()
    assert second.predict(june).tolist() == second.labels.tolist() == loaded.predict(june).tolist()
    assert loaded.changes.to_dict() == second.changes.to_dict()
    assert loaded.names == second.names
    assert second.clusters["cluster"] == sorted(set(second.labels))
    probabilities = second.model.predict_proba(second.views)
    assert (probabilities.argmax(axis=1) == second.labels).all()
    page = loaded.report.to_html()
    assert "What changed" in page
    assert "split into" in page


def test_numbers_of_vanished_clusters_are_not_used_again(second, june):
    third = second.update(june[second.labels < 4])
    assert third.summary["changes"]["next_cluster"] == 6
    fourth = third.update(june)
    kinds = name_kinds(fourth, june)
    assert sorted(map(sorted, (kinds[6], kinds[7]))) == [["bread"], ["lamps"]]
    assert fourth.summary["sizes"][4] == fourth.summary["sizes"][5] == 0


@pytest.mark.parametrize(
    ("first_id", "note"),
    [(3000, "None of the ids"), (200, "Only 10 of the ids of the earlier result are in the new data")],
)
def test_without_common_ids_predictions_match_the_clusters(first_id, note, four, may):
    other = make_products(["forks"] * 40 + ["chairs"] * 45 + ["phones"] * 30 + ["knives"] * 50, 7, first_id)
    updated = four.update(other)
    assert updated.changes.compared_by == "predictions"
    assert updated.changes.matches == {0: 0, 1: 1, 2: 2, 3: 3}
    assert name_kinds(updated, other) == name_kinds(four, may)
    assert any(note in line for line in updated.notes)
    assert updated.names == four.names


def test_same_data_gives_the_same_clusters(four, may):
    order = np.random.default_rng(0).permutation(len(may))
    updated = four.update(may.iloc[order])
    assert updated.labels.tolist() == four.labels[order].tolist()
    assert updated.changes.n_moved == 0
    assert four.compare(updated).matches == {0: 0, 1: 1, 2: 2, 3: 3}
    updated = four.update(may.assign(price=may["price"] * 100, weight=may["weight"] * 1000))
    assert any("in other units than in the fit" in note for note in updated.notes)
    assert updated.changes.n_moved == 0


def test_rows_without_ids_are_compared_by_position_if_nothing_changed():
    rng = np.random.default_rng(0)
    center = np.repeat([0.0, 9.0], 30)[:, None]
    data = {"a": center + rng.normal(size=(60, 2)), "b": center + rng.normal(size=(60, 3))}
    result = cs.cluster(data, 2, assess=False)
    assert result.update(data).changes.compared_by == "rows"
    reordered = {name: block[::-1] for name, block in data.items()}
    updated = result.update(reordered)
    assert updated.changes.compared_by == "predictions"
    assert updated.labels.tolist() == result.labels[::-1].tolist()


def test_earlier_clusters_that_the_new_data_contradicts_are_given_up():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 20)
    before = {name: pd.DataFrame(9 * np.eye(6)[group] + rng.normal(size=(120, 6))) for name in "ab"}
    order = rng.permutation(120)
    after = {name: frame.set_axis([f"e{i}" for i in order]) for name, frame in before.items()}
    before = {name: frame.set_axis([f"e{i}" for i in range(120)]) for name, frame in before.items()}
    updated = cs.cluster(before, 6, assess=False).update(after)
    assert updated.changes.compared_by == "ids"
    assert cs.metrics.adjusted_rand_score(group, updated.labels) == 1


def test_update_is_as_stable_as_the_data_allows():
    views, _ = cs.datasets.make_gaussian_views(240, n_clusters=4, separation=2.2, random_state=3)
    blocks = {name: np.asarray(block) for name, block in views.items()}
    frames = {name: pd.DataFrame(block, index=[f"e{i}" for i in range(240)]) for name, block in blocks.items()}
    may, june = ({name: frame.iloc[rows] for name, frame in frames.items()} for rows in (slice(180), slice(60, 240)))
    result = cs.cluster(may, 4, assess=False)
    updated, fresh = result.update(june), cs.cluster(june, 4, assess=False)
    assert updated.changes.n_moved <= result.compare(fresh).n_moved
    score = [-model.cost_ for model in (updated.model, fresh.model)]
    assert score[0] >= 0.97 * score[1]


@pytest.mark.parametrize("method", ["k-means", "agglomerative", "co-em", "spectral"])
def test_other_methods_keep_numbers(method, may, june):
    result = cs.cluster(may, 4, method=method, **QUICK)
    updated = result.update(june)
    matches = updated.changes.matches
    assert matches
    assert all(number == kept for number, kept in matches.items())
    assert set(updated.labels) - set(matches) <= set(range(4, 8))
    for number in matches:  # the cluster that has the number shares most entities with the earlier one
        before = set(result.ids[result.labels == number])
        shared = {other: len(before & set(updated.ids[updated.labels == other])) for other in set(updated.labels)}
        assert shared[number] > 0


def test_unsuitable_new_data_is_refused(first, may):
    with pytest.raises(ValueError, match="no column 'weight'"):
        first.update(may.drop(columns="weight"))
    with pytest.raises(ValueError, match=r"no view 'title', which the earlier run has: add it \(data"):
        first.update(may.drop(columns="title"))
    with pytest.raises(ValueError, match="made from data in memory: give the new data"):
        first.update()
    agglomerative = cs.cluster(may, 4, method="agglomerative", **QUICK)
    with pytest.raises(ValueError, match=r'method="agglomerative" cannot predict .* clusters cannot be matched'):
        agglomerative.update(make_products(["forks"] * 20 + ["chairs"] * 20, 5, 8000))
    seeded = cs.cluster(may, 4, method="k-means", seeds=[*["a"] * 5, *[""] * 205], **QUICK)
    with pytest.raises(ValueError, match="seeds in memory: give those of the new data"):
        seeded.update(may)


def test_encoding_by_a_function_continues(may, june, tmp_path):
    encode = {"title": lambda texts: [[len(text), text.count("o"), text.count("e")] for text in texts]}
    result = cs.cluster(may, 4, encode=encode, method="k-means", assess=False)
    updated = result.update(june)
    assert updated.changes.n_shared == 170
    assert updated.summary["functions"] == ["title"]
    loaded = cs.load_run(result.save(tmp_path / "run"))
    with pytest.raises(ValueError, match="a Python function has encoded 'title'"):
        loaded.update(june)


def test_command_and_call_agree(four, may, june, tmp_path):
    may.to_csv(tmp_path / "may.csv", index=False)
    june.to_csv(tmp_path / "june.csv", index=False)
    options = "-k", 4, "--encode", "title=words", "--no-assess"
    run_successfully("cluster", tmp_path / "may.csv", *options, "--out", tmp_path / "may")
    run_successfully("update", tmp_path / "may", tmp_path / "june.csv", "--out", tmp_path / "june")
    loaded, updated = cs.load_run(tmp_path / "june"), four.update(june)
    assert loaded.labels.tolist() == updated.labels.tolist()
    assert loaded.changes.sentences == updated.changes.sentences
