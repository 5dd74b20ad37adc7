"""Shipped data matches its description, and synthetic data has the documented properties."""

import numpy as np
import pytest

from consilience.datasets import (
    load_digits_views,
    make_corrupted_views,
    make_gaussian_views,
    make_overlapping_views,
    make_text_views,
)


def test_digits_are_complete_and_cited():
    data = load_digits_views()
    views, y = data
    widths = {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
    assert {name: block.shape for name, block in views.items()} == {name: (2000, d) for name, d in widths.items()}
    assert np.bincount(y).tolist() == [200] * 10
    assert views.present.all()
    # first values of the published files, some of which are whole numbers
    assert views["fou"][0, :3].tolist() == [0.065882, 0.19731, 0.10383]
    assert views["mor"][0].tolist() == [1, 0, 0, 133.15, 1.3117, 1620.2]
    assert set(np.unique(views["pix"])) == set(range(7))
    assert "CC BY" in data.license
    assert "van Breukelen" in data.citation


@pytest.mark.parametrize("make", [make_gaussian_views, make_text_views])
def test_makers_repeat_by_seed_and_leave_no_entity_without_views(make):
    views, y = make(200, n_clusters=4, missing=0.5, random_state=3)
    again, y_again = make(200, n_clusters=4, missing=0.5, random_state=3)
    other, _ = make(200, n_clusters=4, missing=0.5, random_state=4)
    assert np.array_equal(y, y_again)
    assert np.array_equal(views.present, again.present)
    assert not np.array_equal(views.present, other.present)
    assert np.bincount(y).tolist() == [50] * 4
    assert views.present.any(axis=1).all()
    assert 0.4 < views.present.mean() < 0.8
    with pytest.raises(ValueError, match="missing must be a share from 0 to below 1, got 1"):
        make(missing=1)


def test_makers_take_generators_and_keep_global_state():
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, _ = make_text_views(20, random_state=np.random.default_rng(5))
    again, _ = make_text_views(20, random_state=np.random.default_rng(5))
    make_gaussian_views(20)
    assert (first["view0"] != again["view0"]).nnz == 0
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_gaussian_separation_is_in_standard_deviations():
    distances = []
    for seed in range(20):
        views, y = make_gaussian_views(2000, n_clusters=2, n_features=(6,), separation=5, random_state=seed)
        X = views["view0"]
        distances.append(np.sum((X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) ** 2))
        assert X[y == 0].std(axis=0).mean() == pytest.approx(1, abs=0.05)
    assert np.sqrt(np.mean(distances)) == pytest.approx(5, rel=0.15)


def test_views_are_independent_given_cluster():
    views, y = make_gaussian_views(4000, n_clusters=2, n_features=(2, 2), separation=3, random_state=0)
    for j in range(2):
        correlation = np.corrcoef(views["view0"][y == j].T, views["view1"][y == j].T)[:2, 2:]
        assert np.abs(correlation).max() < 0.08


def test_text_views_are_counts_and_empty_if_missing():
    views, _ = make_text_views(100, n_words=(40, 60), missing=0.3, random_state=0)
    for v, (_, block) in enumerate(views.items()):
        assert block.dtype.kind == "i"
        assert block.min() >= 0
        assert np.array_equal(np.asarray(block.sum(axis=1)) > 0, views.present[:, v])


@pytest.mark.parametrize("variance", [1.0, 0.5])
def test_overlapping_views_match_paper(variance):
    views, y = make_overlapping_views(40_000, variance=variance, random_state=0)
    assert np.bincount(y).tolist() == [20_000, 20_000]
    np.testing.assert_allclose(views["view0"][y == 1].mean(axis=0), [3, 4], atol=0.03)
    np.testing.assert_allclose(views["view1"][y == 0].mean(axis=0), [1, 2], atol=0.03)
    np.testing.assert_allclose(np.cov(views["view2"][y == 1].T), variance * np.array([[1, 0.4], [0.4, 0.7]]), atol=0.03)
    within = views["view0"] - np.where(y[:, None] == 0, [1, 1], [3, 4])
    between = np.corrcoef(within[y == 0].T, (views["view1"] - [1, 2])[y == 0].T)[:2, 2:]
    np.testing.assert_allclose(between, 0, atol=0.03)  # independent given the cluster


def test_corrupted_views_match_paper():
    views, y = make_corrupted_views(3000, n_views=3, n_noisy=2, n_corrupted=200, noise=2.5, random_state=0)
    assert views.names == ("view0", "view1", "view2", "noisy0", "noisy1")
    assert views.shape == (3000, 10)
    assert views.present.all()
    assert np.bincount(y).tolist() == [1000] * 3
    wrong = []
    for name in views.names[:3]:
        X = views[name]
        centres = np.array([np.median(X[y == c], axis=0) for c in range(3)])
        nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        wrong.append(nearest != y)
        assert 190 <= wrong[-1].sum() <= 215  # the clusters are separable except for a few points
        assert np.bincount((nearest - y)[wrong[-1]] % 3, minlength=3)[1:].min() > 60  # either other cluster
    first, second, third = wrong
    assert (first & second).sum() < 40  # drawn separately for each view
    assert (second & third).sum() < 40
    right = ~(first | second)
    moved = (views["view0"] - views["view1"])[right]
    np.testing.assert_allclose(moved, np.tile(moved[0], (right.sum(), 1)), atol=1e-9)  # a translation of the points
    assert np.abs(moved[0]).max() > 0.1
    noise = (views["noisy0"] - views["view0"])[~first]
    np.testing.assert_allclose(noise.std(axis=0), 2.5, rtol=0.05)
    other = (views["noisy1"] - views["view0"])[~first]
    assert abs(np.corrcoef(noise[:, 0], other[:, 0])[0, 1]) < 0.1


def test_corrupted_views_repeat_by_seed():
    views, y = make_corrupted_views(60, n_noisy=1, n_corrupted=5, random_state=3)
    again, y_again = make_corrupted_views(60, n_noisy=1, n_corrupted=5, random_state=3)
    other, _ = make_corrupted_views(60, n_noisy=1, n_corrupted=5, random_state=4)
    assert np.array_equal(y, y_again)
    for name in views.names:
        assert np.array_equal(views[name], again[name])
        assert not np.array_equal(views[name], other[name])


def test_corrupted_views_in_line_differ_only_in_means():
    options = {"n_samples": 300, "n_noisy": 1, "n_corrupted": 0, "noise": 0.0, "random_state": 0}
    triangle, y = make_corrupted_views(**options)
    line, y_line = make_corrupted_views(**options, in_line=True)
    assert np.array_equal(y, y_line)
    points = line["noisy0"]
    means = np.array([points[y == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(means, [[0, 0], [3, 0], [6, 0]], atol=0.2)
    moved = np.array([[0, 0], [-1, 0], [4, -3.5]])
    np.testing.assert_allclose(points - triangle["noisy0"], moved[y], atol=1e-12)


def test_corrupted_views_of_wider_clusters():
    views, y = make_corrupted_views(3000, n_views=1, n_noisy=1, noise=0.0, spread=0.8, random_state=0)
    np.testing.assert_allclose([views["noisy0"][y == c].std(axis=0) for c in range(3)], 0.8, rtol=0.06)
    means, _ = make_corrupted_views(60, n_views=1, n_corrupted=30, spread=0.0, random_state=0)
    assert len(np.unique(means["view0"].round(9), axis=0)) == 3  # also of the wrong points
    with pytest.raises(ValueError, match=r"noise=2.5 and spread=-1 must be 0 or more"):
        make_corrupted_views(60, spread=-1)


@pytest.mark.parametrize("n_corrupted", [-1, 61])
def test_too_many_corrupted_points_are_refused(n_corrupted):
    with pytest.raises(ValueError, match=f"n_corrupted={n_corrupted} must be from 0 to the 60 entities"):
        make_corrupted_views(60, n_corrupted=n_corrupted)
