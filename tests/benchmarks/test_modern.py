"""The harness of the comparison, on a tiny made set; no other library is needed."""

import json

import numpy as np
import pytest

import consilience as cs
from benchmarks.modern.run import Limits, read_records, run_comparison
from benchmarks.modern.sets import detect_kind, prepare
from benchmarks.modern.tables import (
    MOST_MISSING,
    collect_failures,
    compute_mean_nmi,
    compute_mean_ranks,
    count_wins_and_losses,
    group_results,
    rank_lines,
    render_all_tables,
)
from waiting import HANG_LIMIT

TWO_SEEDS = Limits(n_seeds=2, fit=HANG_LIMIT)
CATALOGUE = """
import time

import consilience as cs
from benchmarks.modern.methods import Method, build_with_seed, declare_method, fit_ours


def broken(data, seed):
    raise ValueError("cannot do this")


def slow(data, seed):
    time.sleep(600)


def crash(data, seed):
    import os
    os._exit(3)


METHODS = {
    **declare_method("k-means", fit_ours(build_with_seed(cs.MultiViewKMeans))),
    **declare_method("convex", fit_ours(lambda data, seed: cs.ConvexMixture(data.n_clusters)), random=False),
    **declare_method("broken", broken),
    **declare_method("slow", slow),
    **declare_method("crash", crash),
    **declare_method("lacking", broken, "no_such_package"),
    "shared": Method(
        {"first": lambda made, seed: made, "second": lambda made, seed: made + seed}, share=lambda data: data.target
    ),
}
"""


@pytest.fixture(scope="module")
def made():
    return cs.datasets.make_gaussian_views(40, n_clusters=2, separation=8, random_state=0)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """A folder that holds a module of methods."""
    folder = tmp_path_factory.mktemp("catalogue")
    (folder / "made_methods.py").write_text(CATALOGUE)
    return folder


@pytest.fixture
def start(tmp_path, monkeypatch, made, catalogue):
    """Run methods of the catalogue on the set into one folder, and read the records."""
    monkeypatch.syspath_prepend(catalogue)

    def started(*methods, limits=TWO_SEEDS):
        run_comparison(tmp_path / "out", {"made": lambda: made}, methods, limits, "made_methods", say=lambda _: None)
        return read_records(tmp_path / "out" / "records.jsonl")

    return started


def test_randomized_methods_run_once_per_seed_and_others_once(start):
    records = start("k-means", "convex")
    fits = [(record["line"], record["seed"]) for record in records if "line" in record]
    assert fits == [("k-means", 0), ("k-means", 1), ("convex", 0)]
    for record in records:
        if "nmi" in record:
            assert min(record["nmi"], record["ari"]) > 0.5
            assert record["n_found"] == 2
            assert record["cpu"] >= 0
            assert record["wall"] > 0
            assert record["mib"] >= 0
    assert start("k-means", "convex") == records  # nothing is computed again
    more = start("k-means", "convex", limits=Limits(n_seeds=3, fit=HANG_LIMIT))
    assert more[: len(records)] == records
    assert [(record["line"], record["seed"]) for record in more[len(records) :] if "line" in record] == [("k-means", 2)]


def test_incomplete_line_is_run_again(start, tmp_path):
    records = start("k-means")
    path = tmp_path / "out" / "records.jsonl"
    lines = path.read_text().splitlines()
    path.write_text(lines[0] + "\n" + lines[1][:20])
    again = start("k-means")
    assert [record.get("seed") for record in again] == [0, 1, None]
    assert [record.get("nmi") for record in again] == [record.get("nmi") for record in records]


def test_errors_crashes_and_missing_packages_are_recorded(start):
    records = start("broken", "crash", "lacking", "k-means")
    failed = {record["method"]: record["failed"] for record in records if "failed" in record}
    assert failed == {
        "broken": "ValueError: cannot do this",
        "crash": "crashed, exit status 3",
        "lacking": "ModuleNotFoundError: No module named 'no_such_package'",
    }
    assert sum("nmi" in record for record in records) == 2  # the last method ran
    assert start("broken", "crash", "lacking", "k-means") == records


def test_timeout_is_recorded_and_retried_with_a_larger_limit(start):
    records = start("slow", limits=Limits(n_seeds=1, fit=0.2))
    assert [record.get("failed") for record in records] == ["no result within 0 s", None]
    assert start("slow", limits=Limits(n_seeds=1, fit=0.2)) == records
    assert len(start("slow", limits=Limits(n_seeds=1, fit=0.3))) == 2 * len(records)


def test_time_for_a_pair_ends_the_seeds_and_more_time_goes_on(start):
    records = start("k-means", limits=Limits(n_seeds=3, pair=0))
    assert [record.get("seed") for record in records] == [0, None]
    assert records[-1]["done"] == "no time for more seeds"
    assert start("k-means", limits=Limits(n_seeds=3, pair=0)) == records
    records = start("k-means", limits=Limits(n_seeds=3, pair=HANG_LIMIT))
    assert [record.get("seed") for record in records] == [0, None, 1, 2, None]


def test_lines_may_share_their_work(start):
    fits = [(record["line"], record["seed"]) for record in start("shared") if "line" in record]
    assert fits == [("first", 0), ("second", 0), ("first", 1), ("second", 1)]


def test_a_set_that_cannot_be_had_is_a_line(tmp_path):
    def lost():
        raise FileNotFoundError("no folder of data")

    run_comparison(tmp_path, {"lost": lost}, ["CoEM"], Limits(n_seeds=1), say=lambda _: None)
    assert read_records(tmp_path / "records.jsonl")[0]["failed"] == "no data: no folder of data"


def test_preparation_weighs_counts_standardises_numbers_and_marks_empty_rows():
    words, _ = cs.datasets.make_text_views(60, n_clusters=2, random_state=0)
    name = words.names[0]
    counts = words[name].copy()
    counts.data[counts.indptr[3] : counts.indptr[4]] = 0
    counts.eliminate_zeros()
    numbers = np.random.default_rng(0).normal(5, 2, (60, 3))
    numbers[7, 1] = np.nan
    data = prepare({"words": counts, "numbers": numbers}, np.arange(60) % 2)
    assert data.kinds == {"words": "counts", "numbers": "numbers"}
    assert detect_kind(counts * 0.5) == "weights"
    assert not data.weighed.present[3, 0]
    assert data.weighed.present.sum() == 119
    lengths = np.sqrt(data.weighed["words"].multiply(data.weighed["words"]).sum(axis=1))
    np.testing.assert_allclose(np.delete(lengths, 3), 1)
    np.testing.assert_allclose(data.dense[1].mean(axis=0), 0, atol=1e-12)
    assert not data.dense[0][3].any()
    assert np.isnan(data.with_gaps[0][3]).all()
    assert not np.isnan(data.with_gaps[1]).any()
    assert data.dense[0].shape[1] < counts.shape[1]


def fit(line, data, nmi, seed=0, **other):
    scores = {"ari": nmi / 2, "cpu": 1.0, "mib": 10.0, "n_found": 3}
    return {"method": line, "line": line, "set": data, "seed": seed, "nmi": nmi, **scores, **other}


MADE_UP = [
    fit("consilience auto", "a", 0.8),
    fit("consilience auto", "a", 0.6, seed=1),
    fit("consilience auto", "b", 0.2),
    fit("other", "a", 0.5),
    fit("other", "b", 0.4),
    fit("partly", "a", 0.9),
    {"method": "partly", "set": "b", "failed": "no result within 5 s"},
    {"method": "partly", "set": "b", "done": "failed", "fit": 5},
    {"method": "late", "set": "a", "failed": "no result within 5 s"},
    fit("late", "a", 0.1),
]


def test_means_ranks_and_wins():
    scores = group_results(MADE_UP)
    assert compute_mean_nmi(scores, "consilience auto", ["a", "b"]) == pytest.approx(0.45)
    assert compute_mean_nmi(scores, "partly", ["a"]) == pytest.approx(0.9)
    # on b, where `partly` and `late` have no result, they share the ranks 3 and 4
    assert compute_mean_ranks(scores, ["a", "b"]) == {"consilience auto": 2, "other": 2, "partly": 2.25, "late": 3.75}
    assert compute_mean_ranks(scores, ["a"]) == {"partly": 1, "consilience auto": 2, "other": 3, "late": 4}
    assert count_wins_and_losses(scores, "consilience auto", "other") == "1 : 1"
    assert count_wins_and_losses(scores, "consilience auto", "partly") == "0 : 1"
    assert collect_failures(MADE_UP) == {"partly": {"b": "no result within 5 s"}}  # `late` came in a second run


def test_lines_with_many_failures_are_not_ranked_and_change_no_rank():
    sets = list("abcdef")
    full = [fit(line, data, nmi) for line, nmi in {"x": 0.5, "y": 0.4}.items() for data in sets]
    few = [fit("few", data, 0.9) for data in sets[: MOST_MISSING - 1]]
    most = [fit("most", data, 0.9) for data in sets[MOST_MISSING:]]
    ranks = rank_lines(group_results([*full, *few, *most]), sets)
    assert {line: values.tolist() for line, values in ranks.items()} == {
        "x": [1, 1, 1, 2, 2, 2],
        "y": [2, 2, 2, 3, 3, 3],
        "most": [3, 3, 3, 1, 1, 1],
    }
    assert rank_lines({}, sets) == {}


def test_tables_show_spread_seeds_and_failures():
    text = render_all_tables(json.loads(json.dumps(MADE_UP)), ["b", "a", "never run"])
    assert "| method | b | a |" in text
    assert "| consilience auto | .20 (1) | .70 ±.14 (2) |" in text
    assert "| partly |  | .90 (1) |" in text
    assert "| partly | no result within 5 s | b |" in text
    assert "| consilience auto | 2.0 | 0.450 | 0.225 | 2 of 2 |  | 1 | 10 |" in text
