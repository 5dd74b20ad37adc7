"""Constraints from a file: what is kept, what is refused."""

import pytest

import consilience as cs
from consilience.registry import list_estimators
from stage import (
    assert_refused,
    get_clusters,
    list_folder,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

USUAL = ["first", "second", "type"]


def by_id(folder):
    return {row["id"]: int(row["cluster"]) for row in read_labels(folder)}


@pytest.mark.parametrize(
    ("method", "header"),
    [
        ("auto", ["one", "two", "how"]),
        ("consilience", ["one", "two", "how", "much"]),
        ("constrained", ["weight", *USUAL[::-1]]),
    ],
)
def test_constraints_are_satisfied(method, header, ab, clustered, tmp_path):
    """Two entities of one cluster are told apart, two of different clusters are tied."""
    free = by_id(clustered("k-means"))
    inside = [entity for entity, c in free.items() if c == free["e00"]]
    outsider = next(entity for entity, c in free.items() if c != free["e00"])
    kinds = ("CL", "must_link") if method == "auto" else ("cannot", "must-link")
    rows = [(inside[0], entity, kinds[0], 1000) for entity in inside[1:6]] + [(inside[0], outsider, kinds[1], 1000)]
    rows = [row[::-1] if header[0] == "weight" else row[: len(header)] for row in rows]
    file = write_csv(tmp_path / "links.csv", header, rows)
    ran = run_successfully(
        "cluster", *ab, "-k", 3, "--constraints", file, "--no-assess", "--method", method, "--out", tmp_path / "out"
    )
    bound = by_id(tmp_path / "out")
    assert bound[inside[0]] == bound[outsider]
    assert all(bound[inside[0]] != bound[entity] for entity in inside[1:6])
    facts = read_summary(tmp_path / "out")
    assert facts["method"] == ("constrained" if method == "constrained" else "consilience")
    assert facts["constraints"] == {"kept": 6, "given": 6}
    assert facts["comparison"] is None
    assert "6 of 6 constraints are satisfied." in ran.out
    reason = "by cross-fitted agreement of the views (the default, also with constraints)"
    assert (reason in ran.out) == (method == "auto")


def test_auto_finds_k_with_constraints(ab, tmp_path):
    file = write_csv(tmp_path / "links.csv", USUAL, [("e00", "e03", "must")])
    run_successfully("cluster", *ab, "--constraints", file, "--no-assess", "--out", tmp_path / "out")
    assert (read_summary(tmp_path / "out")["method"], read_summary(tmp_path / "out")["clusters"]) == ("consilience", 3)


@pytest.mark.parametrize("names", [("near", "like"), ("near-raw", "like-raw")], ids=["similarities", "rows"])
def test_entities_without_ids_are_rows_counted_from_0(names, data, tmp_path):
    file = write_csv(tmp_path / "links.csv", USUAL, [(0, i, "cannot") for i in range(1, 6)] + [(0, 59, "must")])
    views = [argument for name in names for argument in ("--view", data / f"{name}.npy")]
    run_successfully("cluster", *views, "-k", 3, "--constraints", file, "--no-assess", "--out", tmp_path / "out")
    assert read_summary(tmp_path / "out")["constraints"] == {"kept": 6, "given": 6}
    labels = get_clusters(read_labels(tmp_path / "out"))
    assert labels[0] == labels[59]
    assert labels[0] not in labels[1:6]


def test_more_entities_than_the_default_takes_with_constraints(ab, tmp_path, tune):
    tune("pipeline.loading", max_constrained=50)
    file = write_csv(tmp_path / "links.csv", USUAL, [("e00", "e03", "must")])
    arguments = "cluster", *ab, "-k", 3, "--constraints", file, "--no-assess"
    run_successfully(*arguments, "--out", tmp_path / "auto")
    facts = read_summary(tmp_path / "auto")
    assert facts["method"] == "constrained"
    assert facts["method_chosen"] == "the default takes constraints for up to 50 entities"
    n = facts["entities"]
    words = f"--method consilience takes --constraints and --seeds for up to 50 entities, got {n}: use constrained"
    for options in (("--method", "consilience"), ("--set", "n_init=1")):  # settings keep the default method
        assert_refused(run_command(*arguments, *options, "--out", tmp_path / "out"), words)


def test_pair_that_must_and_cannot_be_together_is_refused(ab, tmp_path):
    rows = [("e00", "e01", "ML"), ("e02", "e03", "must"), ("e05", "e04", "must"), ("e03", "e02", "cannot-link")]
    file = write_csv(tmp_path / "links.csv", USUAL, [*rows, ("e04", "e05", "cannot")])
    ran = run_command("cluster", *ab, "-k", 3, "--constraints", file, "--out", tmp_path / "out")
    assert_refused(ran, "says of 'e02' and 'e03' both 'must' in row 2 and 'cannot-link' in row 4 (2 such pairs)")
    views = cs.datasets.make_gaussian_views(30, random_state=0)[0]
    with pytest.raises(ValueError, match="constraints has a must-link and a cannot-link of '3' and '4': leave one of"):
        cs.cluster(views, 2, constraints=cs.Constraints([(3, 4)], [(4, 3)]), assess=False)


def test_pair_that_views_contradict_is_refused_by_methods_that_join_the_views(data, tmp_path):
    views = "--view", f"near={data / 'near-raw.npy'}", "--view", f"like={data / 'like-raw.npy'}"
    rows = [(2, 3, "must", "near"), (3, 2, "cannot", "like"), (4, 5, "must", "near")]
    file = write_csv(tmp_path / "links.csv", [*USUAL, "view"], rows)
    arguments = "cluster", *views, "-k", 3, "--constraints", file, "--no-assess", "--out", tmp_path / "out"
    ran = run_command(*arguments)
    says = "says of '2' and '3' both 'must' in row 1 and 'cannot' in row 2 (1 such pair): delete one of the rows"
    assert_refused(ran, f"{says}, because --method consilience takes constraints between entities, not by view")
    run_successfully(*arguments, "--method", "constrained")


def test_chain_that_contradicts_a_cannot_link_is_named(ab, tmp_path):
    rows = [("e00", "e01", "must"), ("e01", "e02", "must"), ("e02", "e03", "must"), ("e00", "e03", "cannot")]
    file = write_csv(tmp_path / "links.csv", USUAL, [*rows, ("e01", "e03", "must")])
    ran = run_successfully("cluster", *ab, "-k", 3, "--constraints", file, "--no-assess", "--out", tmp_path / "out")
    chain = "as (e00, e03), which must-links tie together (e00 = e01 = e03): "
    assert f"cannot-links contradict must-links (1 such), {chain}" in ran.err
    assert "Constraints." not in ran.err  # of the library


def test_empty_weight_is_1(ab, tmp_path):
    labels = []
    for weight in ("", "1"):
        file = write_csv(tmp_path / "links.csv", [*USUAL, "weight"], [("e00", "e59", "must", weight)])
        options = "-k", 3, "--method", "constrained", "--constraints", file, "--no-assess"
        run_successfully("cluster", *ab, *options, "--out", tmp_path / f"out{weight}")
        labels.append(get_clusters(read_labels(tmp_path / f"out{weight}")))
    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("header", "row", "words"),
    [
        (USUAL, ("e00", "unknown", "must"), "names 'unknown' in row 1, which no view has: correct the id"),
        (USUAL, ("e00", "e03", "maybe"), "a constraint's type is 'must-link' or 'cannot-link', got 'maybe'"),
        (USUAL, ("e00", "e00", "must"), "must-link ('e00', 'e00') is between an entity and itself: leave it out"),
        ([*USUAL, "weight"], ("e00", "e03", "must", "heavy"), "a constraint's weight is a number, got 'heavy'"),
        (["one", "two"], ("e00", "e03"), "has 2 columns: give two ids, must or cannot, and optionally a weight and a"),
        (["a", "b", "c", "d", "e"], ("e00", "e03", "must", 1, 1), "has 5 columns: give two ids, must or cannot"),
        (USUAL, ("", "e03", "must"), "row 1"),
    ],
)
def test_invalid_constraints_are_refused(header, row, words, ab, tmp_path):
    file = write_csv(tmp_path / "links.csv", header, [row])
    before = list_folder(tmp_path)
    ran = run_command("cluster", *ab, "-k", 3, "--constraints", file, "--out", tmp_path / "out")
    assert_refused(ran, f"{file} (--constraints)", words)
    assert list_folder(tmp_path) == before


def test_missing_row_is_refused(data, tmp_path):
    file = write_csv(tmp_path / "links.csv", USUAL, [(0, 60, "must")])
    ran = run_command("cluster", data / "near-raw.npy", "-k", 3, "--constraints", file, "--out", tmp_path / "out")
    assert_refused(ran, "names '60' in row 1, which no view has: without --id entities are rows, counted from 0")


def test_other_methods_take_no_constraints(ab, tmp_path):
    file = write_csv(tmp_path / "links.csv", USUAL, [("e00", "e03", "must")])
    for method in (name for name, method in list_estimators().items() if not method.takes_constraints):
        ran = run_command("cluster", *ab, "-k", 3, "--method", method, "--constraints", file, "--out", tmp_path / "out")
        assert_refused(ran, f"--method {method} takes no --constraints: use consilience or constrained", code=2)


def test_matrix_of_constraints_is_refused(ab, data, tmp_path):
    ran = run_command("cluster", *ab, "-k", 3, "--constraints", data / "near.npy", "--out", tmp_path / "out")
    assert_refused(ran, "near.npy (--constraints) must be a table: two ids, must or cannot, and optionally a weight")
