"""Names on a map stay apart and on the map."""

from io import BytesIO
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from consilience.plot import JointMapDisplay
from consilience.plot._labels import MAX_COVERED, N_FREE, place_boxes, sum_occupied_cells

pytestmark = pytest.mark.quick

NOTHING = np.zeros((201, 201), dtype=int)  # of a map of 400 by 400 points
ROOM, NO_BOX = np.array([400.0, 400.0]), np.zeros(4)


def overlaps(a, b):
    return bool((a[:2] < b[2:]).all() and (b[:2] < a[2:]).all())


@pytest.mark.parametrize("seed", range(2))
def test_boxes_are_apart_and_on_the_map(seed):
    rng = np.random.default_rng(seed)
    n = 60
    anchors, boxes = rng.uniform(0, 400, (n, 2)), rng.uniform([30, 8], [110, 24], (n, 2))
    reserved = np.array([0.0, 0.0, 120.0, 12.0])
    centers = place_boxes(anchors, boxes, NOTHING, ROOM, reserved, 10.0)
    is_placed = np.isfinite(centers).all(axis=1)
    bounds = np.hstack([centers - boxes / 2, centers + boxes / 2])[is_placed]
    assert 10 < len(bounds) < n
    assert not any(overlaps(a, b) for a, b in combinations([reserved, *bounds], 2))
    assert bounds[:, :2].min() >= 0
    assert bounds[:, 2:].max() <= 400
    assert boxes[is_placed].prod(axis=1)[N_FREE:].sum() <= MAX_COVERED * ROOM.prod()


def place(anchors, boxes, occupied=NOTHING):
    return place_boxes(np.array(anchors), np.array(boxes), occupied, ROOM, NO_BOX, 10.0)


def test_box_without_obstacles_is_on_its_anchor_and_the_first_of_two_keeps_it():
    anchors = [[100.0, 200.0], [300.0, 50.0]]
    assert place(anchors, [[60.0, 10.0]] * 2).tolist() == anchors
    first, second = place([[200.0, 200.0]] * 2, [[20.0, 20.0]] * 2)
    assert first.tolist() == [200.0, 200.0]
    assert np.abs(second - first).max() >= 20
    too_large, second = place([[200.0, 200.0]] * 2, [[500.0, 10.0], [50.0, 10.0]])
    assert np.isnan(too_large).all()
    assert second.tolist() == [200.0, 200.0]


def test_box_moves_off_points():
    rng = np.random.default_rng(0)
    points = rng.uniform([150, 190], [250, 210], (5000, 2))
    occupied = sum_occupied_cells(points, ROOM, 1.0)
    center = place([[200.0, 200.0]], [[60.0, 12.0]], occupied)[0]
    assert abs(center[1] - 200) > 15


def test_occupied_cells_equal_literal_count():
    points = np.random.default_rng(1).uniform(-20, 60, (50, 2))
    for radius in (0.0, 2.0, 5.0):
        counts = sum_occupied_cells(points, np.array([40.0, 30.0]), radius)
        around = range(-round(radius / 2), round(radius / 2) + 1)
        covered = {
            (int(x // 2) + dx, int(y // 2) + dy)
            for x, y in points
            if 0 <= x < 40 and 0 <= y < 30
            for dx in around
            for dy in around
        }
        for right, top in [(0, 0), (3, 9), (20, 15), (11, 7)]:
            assert counts[right, top] == sum(0 <= x < right and 0 <= y < top for x, y in covered)


def draw_map(n_clusters, n=400, size=(4, 4), **options):
    rng = np.random.default_rng(n_clusters)
    labels = rng.integers(0, n_clusters, n)
    layout = 6 * rng.normal(size=(n_clusters, 2))[labels] + rng.normal(size=(n, 2))
    figure = Figure(figsize=size)
    display = JointMapDisplay(layout, labels, [f"group, number {c}" for c in range(n_clusters)])
    return display.plot(figure.subplots(), **options)


@pytest.mark.parametrize(("n_clusters", "suffix"), [(1, "png"), (12, "pdf"), (40, "svg"), (300, "png")])
def test_drawn_names_do_not_overlap_in_any_format(n_clusters, suffix):
    display = draw_map(n_clusters, n=1200)
    display.figure_.savefig(BytesIO(), format=suffix)
    visible = [label for label in display.labels_.values() if label.get_visible()]
    boxes = [label.get_bbox_patch().get_window_extent() for label in visible]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert 1 <= len(visible) <= n_clusters
    assert len(visible) == n_clusters or n_clusters >= 40
    display.figure_.draw_without_rendering()
    n_named = sum(label.get_visible() for label in display.labels_.values())
    notes = [text.get_text() for text in display.ax_.texts]
    assert any(note.startswith(f"{n_named} of ") for note in notes) == (n_named < n_clusters)


def test_largest_or_chosen_groups_are_named():
    labels = np.repeat(np.arange(200), np.arange(200, 0, -1))
    layout = np.random.default_rng(0).normal(size=(len(labels), 2))
    display = JointMapDisplay(layout, labels).plot(Figure(figsize=(2, 2)).subplots())
    display.figure_.draw_without_rendering()
    assert list(display.labels_)[:3] == [0, 1, 2]
    assert display.labels_[0].get_visible()
    assert sorted(draw_map(12, clusters=[3, 5]).labels_) == [3, 5]


def test_names_are_placed_again_if_the_figure_shrinks():
    display = draw_map(30, n=900, size=(9, 9))
    display.figure_.draw_without_rendering()
    n_large = sum(label.get_visible() for label in display.labels_.values())
    display.figure_.set_size_inches(2.5, 2.5)
    display.figure_.draw_without_rendering()
    n_small = sum(label.get_visible() for label in display.labels_.values())
    assert n_small < n_large == 30
