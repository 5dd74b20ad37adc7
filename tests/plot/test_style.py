"""Styles can be told apart."""

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from consilience.plot._figure import COLORS, LINE_COLORS, escape_name, line_style, luminance, marker_style, pluralize

pytestmark = pytest.mark.quick


def test_colors_differ_in_gray():
    assert min(abs(luminance(to_rgb(a)) - luminance(to_rgb(b))) for a, b in combinations(COLORS, 2)) > 12


def test_lines_can_be_seen_on_white():
    assert max(luminance(to_rgb(colour)) for colour in LINE_COLORS) < 75
    assert luminance((0, 0, 0)) == 0
    assert round(luminance((1, 1, 1))) == 100


def test_styles_of_66_clusters_and_20_views_differ():
    assert len({marker_style(i) for i in range(66)}) == 66
    assert marker_style(66) == marker_style(0)
    assert len({line_style(i) for i in range(20)}) == 20
    assert marker_style(-1) not in {marker_style(i) for i in range(66)}


def test_neighbors_differ_in_color_and_marker():
    for i in range(66):
        assert all(a != b for a, b in zip(marker_style(i), marker_style(i + 1), strict=True))


def test_text():
    assert escape_name("a\n\tb\x00c") == "a b c"
    assert escape_name("x" * 100) == "x" * 12 + "…" + "x" * 11
    assert escape_name("$5 and \\$") == r"\$5 and \\$"
    assert escape_name("\u200b\n") == "(blank)"
    assert escape_name("é") == "é"
    assert escape_name("\U0001f984") == "□"
    assert escape_name("\ud800") == "□"
    assert (pluralize(1, "entity"), pluralize(2000, "entity"), pluralize(3, "cluster")) == (
        "1 entity",
        "2,000 entities",
        "3 clusters",
    )
