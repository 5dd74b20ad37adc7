"""Changes between two clusterings: matches, splits, merges, appeared and vanished clusters, moves."""

from itertools import permutations

import numpy as np
import pytest

from consilience.pipeline.changes import LEAST_OVERLAP, compare_labels, match_by_overlap

SHOP = ["chairs", "knives", "forks", "spoons", "phones"]
LATER = ["chairs", "knives", "", "cutlery", "", "bread knives", "lamps"]


@pytest.fixture
def shop():
    """Knives split, forks merge with spoons, phones vanish, lamps appear, and twelve chairs move."""
    before = np.repeat([0, 1, 2, 3, 4], [400, 460, 100, 150, 60])
    ids = np.array([f"p{i}" for i in range(len(before))], object)
    after = before.copy()
    after[400:520] = 5
    after[before == 2] = 3
    after[:12] = 3
    stays = before != 4
    later_ids = [*ids[stays], *(f"n{i}" for i in range(80))]
    return ids, before, later_ids, np.concatenate([after[stays], np.full(80, 6)])


def test_changes_are_told(shop):
    changes = compare_labels(*shop, names1=SHOP, names2=LATER)
    assert changes.matches == {0: 0, 1: 1, 3: 3}
    assert changes.splits == {1: [1, 5]}
    assert changes.merges == {3: [3, 2]}
    assert (changes.appeared, changes.vanished) == ([6], [4])
    assert (changes.n_shared, changes.n_only_before, changes.n_only_after, changes.n_moved) == (1110, 60, 80, 232)
    assert changes.sentences == [
        "'knives' split into 'knives' (340) and 'bread knives' (120).",
        "'spoons' (150) and 'forks' (100) merged into 'cutlery' (262).",
        "'lamps' (80) appeared: all of its entities are new.",
        "'phones' (60) vanished: none of its entities is in the data any more.",
        "232 of 1,110 entities (21%) have moved, most from 'knives' to 'bread knives' (120).",
    ]
    assert repr(changes).startswith("5 clusters before, 5 after; 1,110 entities are in both, 60 only before, 80 only")


def test_backwards_splits_are_merges_and_numbers_do_not_matter(shop):
    ids, before, later_ids, after = shop
    forward, backward = compare_labels(*shop), compare_labels(later_ids, after, ids, before)
    assert backward.matches == {new: old for old, new in forward.matches.items()}
    assert (backward.splits, backward.merges) == (forward.merges, forward.splits)
    assert (backward.appeared, backward.vanished) == (forward.vanished, forward.appeared)
    assert (backward.n_moved, backward.agreement) == (forward.n_moved, pytest.approx(forward.agreement))
    order = np.random.default_rng(0).permutation(len(ids))
    changes = compare_labels(ids, before, ids[order], (4 - before)[order])
    assert changes.matches == {number: 4 - number for number in range(5)}
    assert (changes.n_moved, changes.agreement) == (0, 1.0)
    assert changes.sentences[0] == "Nothing has split, merged, appeared or vanished."


def match_literally(before, after):
    """Try every assignment of clusters, and return the largest sum of Jaccard indices of at least a third."""
    olds, news = np.unique(before[before >= 0]), np.unique(after[after >= 0])
    index = np.zeros((len(olds), len(news) + len(olds)))
    for i, old in enumerate(olds):
        for j, new in enumerate(news):
            both = np.sum((before == old) & (after == new))
            index[i, j] = both / np.sum((before == old) | (after == new))
    index[index < LEAST_OVERLAP] = 0
    columns = range(index.shape[1])
    return max(sum(index[i, j] for i, j in enumerate(chosen)) for chosen in permutations(columns, len(olds)))


@pytest.mark.parametrize("seed", range(3))
def test_matching_is_the_best_assignment(seed):
    rng = np.random.default_rng(seed)
    before = rng.integers(-1, 3, size=24)
    after = np.where(rng.random(24) < 0.4, rng.integers(-1, 3, size=24), (before + 1) % 3)
    matches = match_by_overlap(before, after)
    assert len(set(matches.values())) == len(matches)
    indices = [
        np.sum((before == old) & (after == new)) / np.sum((before == old) | (after == new))
        for old, new in matches.items()
    ]
    assert min(indices, default=1) >= LEAST_OVERLAP
    assert sum(indices) == pytest.approx(match_literally(before, after))
    labels = np.repeat(np.arange(5_000), 3)
    after = labels[::-1].copy()
    after[0] = 5_000
    assert match_by_overlap(labels, 5_000 - after) == {number: 1 + number for number in range(5_000)}


def test_dissolved_cluster_vanishes_and_scattered_one_appears():
    before = np.repeat([0, 1, 2, 3], [40, 40, 40, 9])
    after = before.copy()
    after[120:] = np.repeat([0, 1, 2], 3)
    after[[0, 40, 80]] = 4
    changes = compare_labels(range(129), before, range(129), after, names1="abcd", names2="abcde")
    assert (changes.splits, changes.merges, changes.appeared, changes.vanished) == ({}, {}, [4], [3])
    assert "'d' (9) vanished: its entities are now in 'a' (3), 'b' (3) and 'c' (3)." in changes.sentences
    assert "'e' (3) appeared: its entities were in 'a' (1), 'b' (1) and 'c' (1)." in changes.sentences


def test_entities_in_no_cluster_move_and_stay():
    changes = compare_labels("abcdef", [0, 0, 0, 0, -1, -1], "abcdef", [0, 0, 0, -1, -1, 0])
    assert changes.matches == {0: 0}
    moved = zip(*(changes.moved[name] for name in ("id", "before", "after")), strict=True)
    assert list(moved) == [("d", 0, -1), ("f", -1, 0)]
    assert changes.sentences[-1].endswith("2 of 6 entities (33%) have moved, most from 'cluster 0' to no cluster (1).")


def test_to_dict_has_names_and_counts(shop):
    facts = compare_labels(*shop, names1=SHOP, names2=LATER).to_dict()
    into = [(row["cluster"], row["name"], row["entities"]) for row in facts["split"][0]["into"]]
    assert into == [(1, "knives", 340), (5, "bread knives", 120)]
    assert [row["name"] for row in facts["merged"][0]["from"]] == ["spoons", "forks"]
    kept = {"before": 0, "after": 0, "name": "chairs", "size_before": 400, "size": 388, "common": 388}
    assert facts["kept"][0] == kept
    assert [row["size"] for row in (*facts["appeared"], *facts["vanished"])] == [80, 60]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ab", [0, 0], "cd", [0, 0]), "no entity in common.* ids such as 'a', the second such as 'c'"),
        (("aa", [0, 0], "ab", [0, 0]), "the id 'a' occurs more than once"),
        (("abc", [0, 0], "ab", [0, 0]), "3 ids for 2 labels"),
    ],
)
def test_ids_that_cannot_be_compared_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_labels(*arguments)
