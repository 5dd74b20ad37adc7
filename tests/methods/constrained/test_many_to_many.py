"""Views whose rows are mapped to several rows of another view."""

import numpy as np
import pytest

import consilience as cs
from consilience import Constraints

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 20)
PAGES = 6 * Y[:, None] + RNG.normal(size=(40, 2))
IMAGES = 8 * np.repeat(Y, 2)[:, None] + RNG.normal(size=(80, 2))  # two of each page
EACH_TWO = [(i // 2, i) for i in range(0, 80, 1)]


def fit_model(mapping, constraints, **options):
    views = cs.align({"page": PAGES, "image": IMAGES}, {("page", "image"): mapping})
    return views, cs.MultiViewConstrainedKMeans(2, random_state=0, **options).fit(views, constraints=constraints)


def test_shared_row_is_one_point():
    """Each page belongs to two entities, but is clustered as one point."""
    centers = {"page": PAGES[[0, 39]], "image": IMAGES[[0, 79]]}
    views, model = fit_model(EACH_TWO, {}, transfer="direct", init=centers)
    assert len(views) == 80
    alone = cs.PCKMeans(2, init=centers["page"]).fit(PAGES)
    np.testing.assert_allclose(
        np.sort(model.cluster_centers_["page"], axis=0), np.sort(alone.cluster_centers_, axis=0), rtol=1e-12
    )
    labels = model.view_labels_["page"]
    assert (labels[::2] == labels[1::2]).all(), "both entities of a page have its label"


def test_rows_mapped_to_same_row_are_tied():
    _, model = fit_model(EACH_TWO[:8], {}, transfer="direct")
    images = model.constraints_["image"]
    assert images.must_link.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert images.must_weights.tolist() == [1.0] * 4
    assert model.constraints_["page"].size == 0


def test_constraint_reaches_all_mapped_rows():
    constraints = {"page": Constraints([(0, 1)], [(0, 39)], by="row")}
    views, model = fit_model(EACH_TWO, constraints, transfer="direct")
    rows = views.rows[:, 1]
    images = model.constraints_["image"]
    must = {frozenset(pair) for pair in rows[images.must_link].tolist()}
    assert {frozenset((i, j)) for i in (0, 1) for j in (2, 3)} <= must
    cannot = {frozenset(pair) for pair in rows[images.cannot_link].tolist()}
    # including what follows: page 1 is tied to page 0
    assert cannot == {frozenset((i, j)) for i in (0, 1, 2, 3) for j in (78, 79)}
    # between two images of one page, a constraint says nothing about the page
    views, model = fit_model(EACH_TWO, {"image": Constraints([(0, 1), (0, 2)], by="row")}, transfer="direct")
    pages = views.rows[:, 0][model.constraints_["page"].must_link]
    assert {frozenset(pair) for pair in pages.tolist()} == {frozenset((0, 1))}


@pytest.mark.parametrize("base", ["pck", "mpck"])
def test_finds_clusters_by_propagation(base):
    constraints = {"page": Constraints.from_table(Constraints.sample(Y, 12, random_state=0).table(), by="row")}
    views, model = fit_model(EACH_TWO, constraints, base=base)
    y = Y[views.rows[:, 0]]
    assert cs.metrics.adjusted_rand_score(y, model.labels_) > 0.9
    assert model.propagated_["page"].size > constraints["page"].size
    assert min(model.propagated_["page"].precision(y)) > 0.95
    assert cs.metrics.agreement_rate(model.view_labels_) > 0.9
