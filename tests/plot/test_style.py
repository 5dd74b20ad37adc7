"""Styles can be told apart."""

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from consilience.plot._figure import COLORS, LINE_COLORS, escape_name, line_style, luminance, marker_style, pluralize

pytestmark = pytest.mark.quick


def test_colors_differ_in_gray_and_lines_can_be_seen_on_white():
    assert min(abs(luminance(to_rgb(a)) - luminance(to_rgb(b))) for a, b in combinations(COLORS, 2)) > 12
    assert max(luminance(to_rgb(color)) for color in LINE_COLORS) < 75
    assert (luminance((0, 0, 0)), round(luminance((1, 1, 1)))) == (0, 100)


def test_styles_of_66_clusters_and_20_views_differ():
    assert len({marker_style(i) for i in range(66)}) == 66
    assert marker_style(66) == marker_style(0)
    assert all(a != b for i in range(66) for a, b in zip(marker_style(i), marker_style(i + 1), strict=True))
    assert len({line_style(i) for i in range(20)}) == 20
    assert marker_style(-1) not in {marker_style(i) for i in range(66)}


def test_text():
    names = {"a\n\tb\x00c": "a b c", "x" * 100: "x" * 12 + "…" + "x" * 11, "$5 and \\$": r"\$5 and \\$"}
    names |= {"\u200b\n": "(blank)", "é": "é", "\U0001f984": "□", "\ud800": "□"}
    assert [escape_name(name) for name in names] == list(names.values())
    assert (pluralize(1, "entity"), pluralize(2000, "entity")) == ("1 entity", "2,000 entities")
