"""The benchmark of link encodings."""

import numpy as np
import pytest

from benchmarks.link_encodings import ENCODINGS, compare_encodings, make_papers


def count_links_within_classes(data):
    sources, targets, _ = data.contents[-1].data
    return np.mean(data.classes[sources.astype(int)] == data.classes[targets.astype(int)])


@pytest.mark.parametrize(
    ("links", "least", "most"),
    [("alike", 0.7, 0.85), ("random", 0.2, 0.3), ("unlike", 0, 0.1), ("unrelated", 0.2, 0.3)],
)
def test_papers_link_as_their_name_says(links, least, most):
    data = make_papers(links)
    assert least < count_links_within_classes(data) < most
    assert 1.8 < len(data.contents[-1].data[0]) / len(data.classes) < 2.2


def test_table_has_a_row_per_encoding():
    table = compare_encodings(make_papers("alike", n=150, k=2), 1)
    assert table["links"].tolist() == ["left out", *ENCODINGS]
    assert (table["support"] > 0).all()
    assert ((table["nmi"] >= 0) & (table["nmi"] <= 1)).all()
