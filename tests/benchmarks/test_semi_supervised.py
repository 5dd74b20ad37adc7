"""`python -m benchmarks.semi_supervised`: learning curves of semi-supervised methods."""

import sys

import numpy as np
import pytest

from benchmarks import semi_supervised
from consilience.datasets import make_gaussian_views, make_text_views


def test_known_entities_are_drawn_per_class():
    y = np.repeat([0, 1, 2], [10, 20, 5])
    known_classes = semi_supervised.draw_known(y, 4, np.random.default_rng(0))
    assert np.bincount(known_classes[known_classes >= 0]).tolist() == [4, 4, 4]
    assert np.array_equal(known_classes[known_classes >= 0], y[known_classes >= 0])


def test_accuracy_with_and_without_matching():
    y = np.array([0, 0, 1, 1, 2, 2])
    labels = np.array([1, 1, 2, 2, 0, 1])
    assert semi_supervised.measure_accuracy(y, labels, matched=False) == 0
    assert semi_supervised.measure_accuracy(y, labels, matched=True) == pytest.approx(5 / 6)


@pytest.mark.parametrize("make", [make_text_views, make_gaussian_views])
def test_curves_have_every_method_and_number(make):
    options = {"topic_share": 0.5} if make is make_text_views else {"separation": 5}
    views, y = make(150, n_clusters=3, random_state=0, **options)
    results = list(semi_supervised.trace_curves(views, y, (0, 3), 2))
    methods = semi_supervised.make_methods(make is make_text_views, 3)
    clusterers = [name for name, method in methods.items() if hasattr(method, "n_clusters")]
    assert {name for name, number, *_ in results if number == 3} == {*methods}
    assert {name for name, number, *_ in results if number == 0} == {*clusterers}
    assert all(accuracy > 0.8 for name, number, accuracy, _ in results if name == "CoEM")


def test_prints_tables_and_writes_the_figure(monkeypatch, capsys, tmp_path):
    made = make_gaussian_views(150, n_clusters=3, separation=5, random_state=0)
    monkeypatch.setattr(semi_supervised, "DATA", {"made": lambda: made})
    monkeypatch.setattr(
        sys, "argv", ["x", "--draws", "1", "--known", "0", "2", "--figure", str(tmp_path / "curves.png")]
    )
    semi_supervised.main()
    out = capsys.readouterr().out
    assert "made: 150 entities, 3 classes" in out
    assert "2 per class" in out
    assert (tmp_path / "curves.png").stat().st_size > 1000
