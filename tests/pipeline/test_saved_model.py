"""Model files whose names, levels, ids and facts about an earlier run do not fit the clusters."""

import numpy as np
import pytest

import consilience as cs
from consilience.explain import Hierarchy
from consilience.persist import load, save
from consilience.pipeline.saved_model import check_saved
from stage import assert_refused, run_command

N = 40


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of an update of a run with four clusters of 40 entities."""
    rng = np.random.default_rng(0)
    center = np.repeat([0.0, 8.0, 20.0, 28.0], N // 4)[:, None]
    data = {"size": center + rng.normal(size=(N, 2)), "weight": center + rng.normal(size=(N, 3))}
    result = cs.cluster(data, n_clusters=4, assess=False)
    return result.update(data).save(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def saved(run):
    return load(run / "model.zip")


def merge(*pairs, clusters=range(4)):
    return Hierarchy(np.array(clusters), np.array(pairs), np.zeros(len(pairs)))


def test_model_that_was_written_is_accepted(run, saved):
    assert {"names", "hierarchy", "level_names", "update", "kept"} <= saved.keys()
    check_saved(saved, "model.zip")
    check_saved({"estimator": saved["estimator"]}, "model.zip")  # of an early version
    assert cs.load_run(run).at(2).sizes == [20, 20]


DAMAGES = {
    "names of numbers": ({"names": [1, 2, 3, 4]}, "must be a list of texts"),
    "names as a text": ({"names": "abcd"}, "must be a list of texts"),
    "no names": ({"names": None}, "must be a list of texts"),
    "few names": ({"names": ["a"]}, "1 names for 4 clusters"),
    "no level names": ({"level_names": None}, "must be a tree, and its names a mapping"),
    "levels as texts": ({"level_names": {"2": ["a", "b"]}}, "must be numbers of groups"),
    "few level names": ({"level_names": {2: ["a"]}}, "1 names for 2 clusters"),
    "level beyond the clusters": ({"level_names": {9: []}}, "n=9 must be between 1 and"),
    "no tree": ({"hierarchy": "tree"}, "must be a tree"),
    "tree of other clusters": ({"hierarchy": merge((0, 1), clusters=(0, 10**13))}, "is of other clusters"),
    "tree of texts": ({"hierarchy": Hierarchy("a", None, 3)}, "is of other clusters"),
    "nodes that do not exist": ({"hierarchy": merge((9, 9), (8, 8), (1, 2))}, "merges clusters that do not exist"),
    "nodes before they are made": ({"hierarchy": merge((0, 5), (1, 4), (2, 3))}, "merges clusters that do not exist"),
    "nodes that merge twice": ({"hierarchy": merge((0, 1), (0, 1), (2, 3))}, "merges clusters that do not exist"),
    "ids as a text": ({"ids": "abc"}, "ids of shape"),
    "other entities": ({"kept": np.ones(3, bool)}, "which of its entities are the 40"),
}
UPDATE_DAMAGES = {
    "huge number for new clusters": ({"next_cluster": 10**13}, "does not say how it was compared"),
    "huge numbers of clusters": ({"labels": np.full(N, 10**12)}, "clusters are numbered from"),
    "labels as a text": ({"labels": "abc"}, "labels must be one integer per entity"),
    "few labels": ({"labels": np.zeros(3, int)}, "3 clusters of an earlier run for 40 entities"),
    "clusters without names": ({"names": {}}, "lacks names and sizes"),
    "names of numbers": ({"names": dict.fromkeys(range(4), 5)}, "must be texts"),
    "sizes as texts": ({"sizes": dict.fromkeys(range(4), "5")}, "must be integers"),
    "unknown comparison": ({"compared_by": "magic"}, "does not say how it was compared"),
}


@pytest.mark.parametrize("name", [*DAMAGES, *UPDATE_DAMAGES])
def test_facts_that_do_not_fit_are_refused(saved, name):
    change, message = DAMAGES[name] if name in DAMAGES else UPDATE_DAMAGES[name]
    changed = change if name in DAMAGES else {"update": {**saved["update"], **change}}  # about an earlier run
    with pytest.raises(ValueError, match=f"^model.zip is damaged: .*{message}"):
        check_saved({**saved, **changed}, "model.zip")


def test_commands_and_load_run_refuse_them(saved, tmp_path):
    save({**saved, "names": [1, 2, 3, 4]}, tmp_path / "model.zip")
    (tmp_path / "labels.csv").write_text("id,cluster\n")
    with pytest.raises(ValueError, match="names of clusters must be a list of texts"):
        cs.load_run(tmp_path)
    assert_refused(run_command("predict", tmp_path, "--view", "size=x.csv"), "model.zip is damaged")
