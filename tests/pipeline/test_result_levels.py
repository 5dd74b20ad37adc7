"""`Result.at`, `Result.hierarchy` and `Result.map`."""

import numpy as np
import pytest

import consilience as cs
from consilience.persist import load, save
from consilience.pipeline.level import Level

WORDS = ["steel knife", "steel fork", "red apple", "red cherry", "garden chair"]


@pytest.fixture(scope="module")
def kitchen():
    """Five clusters of items with sizes and titles; the last row has no data."""
    rng = np.random.default_rng(0)
    kind = np.arange(100) % 5
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [30.0, 30.0], [33.0, 30.0], [90.0, 0.0]])
    size = np.vstack([centers[kind] + rng.normal(size=(100, 2)) * 0.5, [[np.nan, np.nan]]])
    titles = [*(f"{WORDS[k]} {rng.choice(['old', 'new', 'big'])}" for k in kind), None]
    return {"size": size, "title": np.array(titles, dtype=object)}, kind


@pytest.fixture(scope="module")
def result(kitchen):
    return cs.cluster(kitchen[0], n_clusters=5, kinds={"title": "text"}, assess=False)


def test_level_merges_similar_clusters(result, kitchen):
    level = result.at(3)
    kind = kitchen[1]
    assert level.labels.shape == (101,)
    assert level.labels[-1] == result.labels[-1] == result.frame["cluster"].tolist()[-1] == -1
    assert cs.metrics.adjusted_rand_score(np.array([0, 0, 1, 1, 2])[kind], level.labels[:-1]) == 1
    assert sorted(level.sizes) == [20, 40, 40]
    assert sorted(map(len, level.merged)) == [1, 2, 2]
    for group, clusters in enumerate(level.merged):
        assert set(result.labels[level.labels == group]) == set(clusters)
    steel = level.names[level.labels[0]]
    assert "steel" in steel
    level = result.at(5)
    np.testing.assert_array_equal(level.labels, result.labels)
    assert (level.names, level.merged) == (result.names, [[0], [1], [2], [3], [4]])
    assert (result.at(1).merged, result.at(1).sizes) == ([[0, 1, 2, 3, 4]], [100])
    with pytest.raises(ValueError, match=r"n=6 is more than the 5 clusters of .* run cs.cluster\(data, n_clusters=6\)"):
        result.at(6)
    for n in (0, 2.5):
        with pytest.raises(ValueError, match=f"n must be an integer of 1 or more, got {n}"):
            result.at(n)


def test_level_shows_a_table(result):
    level = result.at(2)
    assert list(level.clusters) == ["group", "name", "size", "clusters"]
    assert repr(level).startswith("5 clusters merged into 2 groups\n\ngroup  name")
    assert "<table>" in level._repr_html_()
    many = Level(np.arange(25), [f"<b>{i}" for i in range(25)], [[i] for i in range(25)])
    assert repr(many).endswith("... and 5 more")
    assert "<b>3" not in many._repr_html_()


def test_map_has_a_position_for_each_entity_with_data(result, kitchen):
    positions = result.map
    assert positions.shape == (101, 2)
    assert np.isnan(positions).all(axis=1).tolist() == [False] * 100 + [True]
    kind = kitchen[1]
    means = np.stack([positions[:-1][kind == k].mean(axis=0) for k in range(5)])
    nearest = ((positions[:-1, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == kind) > 0.95


def test_loaded_run_has_its_levels_without_the_data(result, tmp_path):
    folder = result.save(tmp_path / "run")
    loaded = cs.load_run(folder)
    for n in result.hierarchy.levels:
        np.testing.assert_array_equal(loaded.at(n).labels, result.at(n).labels)
        assert loaded.at(n).names == result.at(n).names
    np.testing.assert_array_equal(loaded.hierarchy.heights, result.hierarchy.heights)
    assert loaded.hierarchy.order == result.hierarchy.order


def test_runs_of_earlier_versions_compute_levels_from_the_data(result, kitchen, tmp_path):
    folder = result.save(tmp_path / "run", include_data=False)
    saved = load(folder / "model.zip")
    del saved["hierarchy"], saved["level_names"]
    save(saved, folder / "model.zip", overwrite=True)
    with pytest.raises(ValueError, match="was made from data in memory"):
        cs.load_run(folder).at(2)
    level = cs.load_run(folder, kitchen[0]).at(2)
    assert level.names == result.at(2).names
    np.testing.assert_array_equal(level.labels, result.at(2).labels)


def test_names_of_unusual_levels(monkeypatch, result):
    usual = result.at(3)
    monkeypatch.setattr(type(result.hierarchy), "levels", [1, 3, 5])
    run = result._run
    run.__dict__.pop("level_names", None)
    names = run.name_level(4)
    assert len(set(names)) == 4
    unchanged = {tuple(clusters): name for clusters, name in zip(usual.merged, usual.names, strict=True)}
    groups = result.hierarchy.cut(4)
    for group, name in enumerate(names):
        clusters = tuple(np.flatnonzero(groups == group).tolist())
        assert unchanged.get(clusters, name) == name
    run.__dict__.pop("level_names", None)


def test_outliers_have_no_group():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9, rng.normal(size=(30, 2)) - 9, [[80, -80]]])
    result = cs.cluster({"a": X, "b": X + rng.normal(size=X.shape) * 0.1}, n_clusters=3, outliers=0.03, assess=False)
    assert (result.labels == -1).any()
    np.testing.assert_array_equal(result.at(2).labels == -1, result.labels == -1)
    assert sum(result.at(2).sizes) == np.sum(result.labels >= 0)
