"""Figures hold what the tables hold, and come out the same each time."""

from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from made_up_outcomes import all_outcomes, plain_outcomes
from reproduction.engine import figures


def test_figures_are_written_as_reproducible_svg_and_png(tmp_path):
    for outcome in all_outcomes():
        written = figures.draw_figure(outcome, tmp_path)
        names = [f"{outcome.study.name}.{ending}" for ending in ("svg", "png")] if outcome.study.figure else []
        assert [path.name for path in written] == names
        assert all(path.parent == tmp_path and path.stat().st_size > 5000 for path in written)
        for path in written[:1]:  # names are hostile
            assert ET.fromstring(path.read_bytes()).tag.endswith("svg")
            assert "<script" not in path.read_text(encoding="utf-8")
    first, second = (
        [path.read_bytes() for path in figures.draw_figure(plain_outcomes()[0], tmp_path)] for _ in range(2)
    )
    assert first == second


def test_lines_and_markers_match_the_outcome(tmp_path):
    outcome = plain_outcomes()[0]
    drawn = figures.make_display(outcome)
    drawn.save(tmp_path / "own")
    panel = outcome.panels[0]
    for row in panel.rows:
        heights = drawn.drawn_[panel.name, row].get_ydata()
        assert list(heights) == pytest.approx([panel.mean(row, column) for column in panel.columns])
    assert list(drawn.published_["text and links", "co-EM"].get_ydata()) == [1.21]
    assert set(drawn.published_) == {("text and links", "co-EM"), ("text and links", "EM, merged")}


def test_nothing_is_drawn_without_numbers_figure_or_matplotlib(tmp_path, monkeypatch):
    lines, _, plain = plain_outcomes()
    with pytest.raises(ValueError, match="smith-2004 table-3 has no figure, only a table"):
        figures.make_display(plain)
    empty = type(lines)(lines.paper, lines.study, (), (), {"": "no data"}, 0.0)
    assert figures.draw_figure(empty, tmp_path) == figures.draw_figure(plain, tmp_path) == []
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    assert figures.draw_figure(lines, tmp_path) == []
    assert list(tmp_path.iterdir()) == []
