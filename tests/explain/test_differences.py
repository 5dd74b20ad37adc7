"""What marks clusters in original units, against numpy's quartiles and literal counts."""

import numpy as np
import pytest
from scipy import stats

from consilience.explain import OriginalColumn, find_differences
from consilience.explain.differences import format_dates, format_range, write_share

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2, -1], [60, 50, 40, 10])


def read_numbers(text):
    return [float(part) for part in text.removesuffix(" $").split("–")]


def test_numbers_are_compared_by_their_quartiles():
    values = RNG.normal(50 + 30.0 * LABELS, 10)
    column = OriginalColumn("price", values, "number", "$")
    for cluster, differences in enumerate(find_differences(LABELS, [column])[:2]):
        (difference,) = differences
        inside, outside = values[cluster == LABELS], values[(LABELS >= 0) & (cluster != LABELS)]
        assert read_numbers(difference.text) == pytest.approx(np.quantile(inside, [0.25, 0.75]).tolist(), abs=0.5)
        assert read_numbers(difference.elsewhere) == pytest.approx(np.quantile(outside, [0.25, 0.75]).tolist(), abs=0.5)
        assert difference.sentence == f"price {difference.text}, elsewhere {difference.elsewhere}"
        if cluster == 0:
            delta = np.mean(np.sign(inside[:, None] - outside))
            assert difference.strength == pytest.approx(abs(delta))
        else:  # in the middle, neither larger nor smaller than the others
            ranks = stats.rankdata(values[LABELS >= 0])
            distance = np.abs(ranks - ranks.mean())
            is_inside = LABELS[LABELS >= 0] == 1
            delta = np.mean(np.sign(distance[is_inside][:, None] - distance[~is_inside]))
            assert difference.strength == pytest.approx(abs(delta))
    values = RNG.integers(0, 4, len(LABELS)) + 5.0 * (LABELS == 1)  # with ties and gaps
    values[::7] = np.nan
    (difference,) = find_differences(LABELS, [OriginalColumn("n", values, "number")])[1]
    inside, outside = values[LABELS == 1], values[(LABELS >= 0) & (LABELS != 1)]
    expected = [format_range(*np.nanquantile(rows, [0.25, 0.75]), "", True) for rows in (inside, outside)]
    assert [difference.text, difference.elsewhere] == expected


def test_dates_are_written_as_dates():
    days = 18262.0 + 400 * (LABELS == 0) + np.arange(len(LABELS)) % 30
    (difference,) = find_differences(LABELS, [OriginalColumn("day", days, "date")])[0]
    assert difference.text.startswith("2021-02-1")
    assert difference.elsewhere.startswith("2020-01-0")
    assert format_dates(0.6, 0.9) == "1970-01-01"


def test_categories_are_compared_by_their_shares():
    words = np.where(LABELS == 1, "blue", np.where(np.arange(len(LABELS)) % 2, "red", "green")).astype(object)
    words[0] = None
    first, second, _ = find_differences(LABELS, [OriginalColumn("color", words, "category")])
    assert second[0].sentence == "color blue in 100%, elsewhere 0%"
    assert (second[0].text, second[0].elsewhere, second[0].strength) == ("blue 100%", "blue 0%", 1.0)
    assert [difference.sentence for difference in first] == ["color blue in 0%, elsewhere 56%"] + [
        difference.sentence for difference in first[1:]
    ]


def test_words_and_phrases_of_texts():
    texts = np.array(["a chef knife", "the paring knife"] * 80, dtype=object)
    texts[LABELS == 2] = ["santoku knife of steel", "knife with a wooden handle", "wooden handle santoku", None] * 10
    marks = find_differences(LABELS, [OriginalColumn("title", texts, "text")])[2]
    sentences = [difference.sentence for difference in marks]
    assert "'santoku' in 67% of texts, elsewhere 0%" in sentences
    assert "'wooden handle' in 67% of texts, elsewhere 0%" in sentences  # and not the words by themselves
    assert not any("'of" in sentence or "with" in sentence or "'wooden'" in sentence for sentence in sentences)
    texts = np.array(["数据 算法", "数据 模型", "猫 狗", "猫 鸟"] * 10, dtype=object)
    first, second = find_differences([0, 0, 1, 1] * 10, [OriginalColumn("text", texts, "text")])
    assert first[0].sentence == "'数据' in 100% of texts, elsewhere 0%"
    assert not any(mark.sentence.startswith(("'数'", "'据'")) for mark in first)  # nor characters of a term
    assert second[0].sentence == "'猫' in 100% of texts, elsewhere 0%"


def test_the_strongest_difference_is_first_whatever_its_kind():
    n = len(LABELS)
    columns = [
        OriginalColumn("slightly", RNG.normal(1.0 * (LABELS == 0), 1), "number"),
        OriginalColumn("fully", np.where(LABELS == 0, "yes", "no").astype(object), "category"),
        OriginalColumn("noise", RNG.normal(size=n), "number"),
        OriginalColumn("times", RNG.normal(9.0 * (LABELS == 0), 1) ** 2, "number", event=np.ones(n, dtype=bool)),
    ]
    marks = find_differences(LABELS, columns)[0]
    assert [mark.column for mark in marks] == ["fully", "slightly"]
    assert [mark.strength for mark in marks] == sorted((mark.strength for mark in marks), reverse=True)
    assert len(find_differences(LABELS, columns, 1)[0]) == 1


def test_noise_marks_no_cluster():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 20, 2000)
    columns = [OriginalColumn(f"x{i}", rng.normal(size=2000), "number") for i in range(30)]
    columns += [
        OriginalColumn(f"c{i}", rng.choice(["a", "b", "c"], 2000).astype(object), "category") for i in range(10)
    ]
    assert sum(map(len, find_differences(labels, columns))) <= 1


def test_a_rare_word_in_a_tiny_cluster_is_chance():
    labels = np.repeat([0, 1], [3, 997])
    texts = np.array(["plain text"] * 1000, dtype=object)
    texts[[0, 500, 501]] = "rare text"
    assert find_differences(labels, [OriginalColumn("t", texts, "text")])[0] == []
    assert stats.binom.sf(0, 3, 0.003) > 0.005


def test_numbers_that_mostly_are_zero_are_compared_by_the_share_above():
    counts = np.where(RNG.random(len(LABELS)) < 0.1 + 0.4 * (LABELS == 1), 3.0, 0.0)
    counts[0] = 5.0
    (difference,) = find_differences(LABELS, [OriginalColumn("visits", counts, "number")])[1]
    inside = np.mean(counts[LABELS == 1] > 0)
    outside = np.mean(counts[(LABELS >= 0) & (LABELS != 1)] > 0)
    assert difference.sentence == f"visits above 0 in {inside:.0%}, elsewhere {outside:.0%}"


def test_equal_quartiles_are_replaced_by_means():
    values, labels = np.repeat([1.0, 2, 3, 1, 2], [100, 300, 100, 200, 300]), np.repeat([0, 1], 500)
    marks = find_differences(labels, [OriginalColumn("rating", values, "number")])[0]
    assert [mark.sentence for mark in marks] == ["rating 2, elsewhere 1–2"]
    values, labels = np.repeat([1.0, 2, 3, 1, 2, 3], [30, 60, 110, 45, 95, 60]), np.repeat([0, 1], 200)
    (mark,) = find_differences(labels, [OriginalColumn("rating", values, "number")])[0]
    assert mark.sentence == "rating 2.4 on average, elsewhere 2.1"


def test_nothing_differs_without_other_clusters_and_in_constant_and_empty_columns():
    same = [
        OriginalColumn("one", np.ones(160), "number"),
        OriginalColumn("same", np.array(["a"] * 160, dtype=object), "category"),
        OriginalColumn("empty", np.full(160, np.nan), "number"),
        OriginalColumn("none", np.full(160, None), "category"),
        OriginalColumn("no text", np.full(160, None), "text"),
    ]
    assert find_differences(LABELS, same) == [[], [], []]
    others = [
        OriginalColumn("x", np.arange(160.0), "number"),
        OriginalColumn("c", np.array(["a", "b"] * 80, dtype=object), "category"),
        OriginalColumn("t", np.array(["word"] * 160, dtype=object), "text"),
    ]
    assert find_differences(np.zeros(160, dtype=int), [*same, *others]) == [[]]
    assert find_differences(np.full(160, -1), [*same, *others]) == []
    with pytest.raises(ValueError, match="column 'x' must have one cell per entity"):
        find_differences(LABELS, [OriginalColumn("x", np.zeros(3), "number")])


def test_numbers_are_rounded_to_what_their_range_tells():
    assert format_range(3.49, 8.99, "$") == "3.5–9.0 $"
    assert format_range(0.4, 912.0) == "0.4–910"
    assert format_range(1_234_567, 1_234_569, is_whole=True) == "1,234,567–1,234,569"
    assert [write_share(share) for share in (0, 0.001, 0.344, 0.999, 1)] == ["0%", "<1%", "34%", ">99%", "100%"]
