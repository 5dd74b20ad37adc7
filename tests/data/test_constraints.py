"""Pairs that belong together and pairs that do not: how they are given, what follows from them, and who they reach."""

import pickle
import sys
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.validation import _check_method_params

import consilience as cs
import literal_constrained as literal
from consilience import Constraints

N = 8


def links_as_dicts(constraints):
    """({pair: weight}, {pair: weight}), each pair once and in order."""
    kinds = []
    for pairs, weights in (
        (constraints.must_link, constraints.must_weights),
        (constraints.cannot_link, constraints.cannot_weights),
    ):
        result = dict(zip(map(tuple, pairs.tolist()), weights.tolist(), strict=True))
        assert len(result) == len(weights), "a pair comes twice"
        kinds.append(result)
    return tuple(kinds)


def largest(triples):
    pairs = {}
    for i, j, w in triples:
        literal.keep_largest(pairs, i, j, w)
    return {pair: w for pair, w in pairs.items() if w > 0}


entities = st.integers(0, N - 1)
some_pairs = st.tuples(entities, entities).filter(lambda pair: pair[0] != pair[1])
some_weights = st.sampled_from([0.1, 0.25, 0.5, 1.0, 2.0, 7.5])
some_links = st.lists(st.tuples(some_pairs, some_weights).map(lambda link: (*link[0], link[1])), max_size=12)


def test_default_weight_is_1():
    constraints = Constraints(must_link=[(0, 1), (3, 2)], cannot_link=[(2, 5)])
    assert links_as_dicts(constraints) == ({(0, 1): 1.0, (2, 3): 1.0}, {(2, 5): 1.0})
    assert constraints.by == "position"
    assert constraints.size == 3
    assert links_as_dicts(Constraints([(0, 1), (1, 2, 0.5)]))[0] == {(0, 1): 1.0, (1, 2): 0.5}
    # pairs of weight 0 are left out
    assert links_as_dicts(Constraints([(0, 1, 0.0), (1, 2, 1.0)], [(0, 2, 0)])) == ({(1, 2): 1.0}, {})
    assert links_as_dicts(Constraints([(0, 1, 0.0), (1, 0, 2.0)]))[0] == {(0, 1): 2.0}


@pytest.mark.parametrize(
    "given_as",
    [
        np.array([[0, 1, 0.5], [4, 2, 3.0]]),
        [[0, 1, 0.5], [4, 2, 3.0]],
        iter([(0, 1, 0.5), (4, 2, 3.0)]),
        {(0, 1, 0.5), (4, 2, 3.0)},
        [np.array([0, 1, 0.5], object), (np.int32(4), np.uint8(2), np.float32(3))],
        pd.DataFrame({"a": [0, 4], "b": [1, 2], "w": [0.5, 3.0]}),
        pl.DataFrame({"a": [0, 4], "b": [1, 2], "w": [0.5, 3.0]}),
    ],
    ids=["floats", "lists", "iterator", "set", "numpy rows", "pandas", "polars"],
)
def test_pairs_with_weights_in_any_container(given_as):
    constraints = Constraints(cannot_link=given_as)
    assert constraints == Constraints(cannot_link=[(0, 1, 0.5), (4, 2, 3.0)])
    assert constraints.by == "position"
    assert constraints.cannot_link.dtype == np.int64


def test_pairs_as_integer_arrays():
    for dtype in (np.int8, np.uint16, np.int64, np.float32, np.float64, object):
        pairs, weights = np.array([[4, 2], [0, 1]], dtype), np.array([2, 1])
        constraints = Constraints(pairs, must_weights=weights)
        assert links_as_dicts(constraints)[0] == {(0, 1): 1.0, (2, 4): 2.0}
        assert (pairs.tolist(), weights.tolist()) == ([[4, 2], [0, 1]], [2, 1]), "the input is not modified"


def test_one_weight_for_all_or_one_per_pair():
    pairs = [(0, 1), (1, 2)]
    for_all = Constraints(pairs, pairs[:1], must_weights=3, cannot_weights=0.5)
    assert links_as_dicts(for_all) == ({(0, 1): 3.0, (1, 2): 3.0}, {(0, 1): 0.5})
    each = Constraints(pairs, must_weights=pd.Series([1.0, 2.0], index=[7, 8]))
    assert links_as_dicts(each)[0] == {(0, 1): 1.0, (1, 2): 2.0}


@settings(max_examples=30, deadline=None)
@given(some_links, some_links)
def test_repeated_pair_gets_its_largest_weight(must, cannot):
    constraints = Constraints(must, cannot)
    assert links_as_dicts(constraints) == (largest(must), largest(cannot))
    assert constraints.must_link.tolist() == sorted(constraints.must_link.tolist())


def test_large_numbers_do_not_collide():
    assert Constraints([(0, 2**31 - 1), (1, 2**31 - 1)]).size == 2
    with pytest.raises(ValueError, match=r"must-link \(0, 2147483648\) names a position that no data has"):
        Constraints([(0, 2**31)])


def test_empty_constraints():
    for none in (Constraints(), Constraints([], ()), Constraints(np.zeros((0, 3))), Constraints(pd.DataFrame())):
        assert none.size == 0
        assert none.by == "position"
        assert none.must_link.shape == none.cannot_link.shape == none.conflicts.shape == (0, 2)
        assert none == none.closure() == 3 * none == none.transfer([(0, 1)])
        assert repr(none) == "Constraints: 0 must-links, 0 cannot-links, by position"


def test_anything_but_integers_is_an_id():
    constraints = Constraints([("ann", "bob", 2)], [("bob", "eve")])
    assert constraints.by == "id"
    assert constraints.must_link.tolist() == [["ann", "bob"]]
    assert constraints.cannot_link.tolist() == [["bob", "eve"]]
    assert constraints.must_weights.tolist() == [2.0]
    assert Constraints([(0, 1)], [("bob", "eve")]).by == "id"
    assert Constraints(np.array([["ann", "bob", "0.5"]])).must_weights.tolist() == [0.5]
    when = [pd.Timestamp("2024-01-01"), pd.Timestamp("2025-01-01")]
    assert Constraints([tuple(when)]).positions(when[::-1]).must_link.tolist() == [[0, 1]]
    assert Constraints([(("a", 1), ("b", 2))]).must_link.tolist() == [[("a", 1), ("b", 2)]]
    assert Constraints([(True, "a")]).by == "id"


def test_integers_can_be_ids():
    constraints = Constraints([(30, 10)], by="id")
    assert constraints.by == "id"
    assert constraints.positions([10, 20, 30]) == Constraints([(0, 2)])
    assert Constraints([(-1, 4)], by="id").positions([4, -1]).must_link.tolist() == [[0, 1]]


def test_rows_stay_rows():
    constraints = Constraints([(0, 1)], [(1, 2)], by="row")
    for same in (constraints, 2 * constraints, constraints | constraints, constraints.closure()):
        assert same.by == "row"
    assert constraints.transfer([(0, 3), (1, 4)]).by == "row"
    assert constraints != Constraints([(0, 1)], [(1, 2)])


def test_attributes_are_copies():
    """Arrays are copies: who changes them changes no constraint."""
    for constraints in (Constraints([(0, 1)], [(1, 2)]), Constraints([("a", "b")], [("b", "c")])):
        before = links_as_dicts(constraints)
        for array in (constraints.must_link, constraints.cannot_link, constraints.must_weights):
            array[:] = 0
        assert links_as_dicts(constraints) == before


NOT_LISTED = [(0, 1), [0, 1], [(0,)], [(0, 1, 1.0, 2.0)], "ab", ["ab"], {0: 1}, None, 7]


@pytest.mark.parametrize("links", [*NOT_LISTED, np.array([0, 1]), np.eye(4), np.zeros((2, 2, 2))], ids=repr)
def test_links_that_are_no_pairs_are_refused(links):
    message = r"links are listed as pairs, \[\(entity, entity\), ...\], or with weights, \[\(entity, entity, weight\)"
    with pytest.raises(ValueError, match=f"must-{message}"):
        Constraints(links)
    with pytest.raises(ValueError, match=f"cannot-{message}"):
        Constraints((), links)


WHOLE_NUMBERS = "name whole numbers; use by='id' for names of entities"
ONE_NUMBER = "the weights of {} must be one number, or one for each of {} pairs"
RANGE = r"give a number from 0 to 1e\+100"
ITSELF = "is between an entity and itself: leave it out"
FRACTION = "{} name entities by whole numbers or ids, got a fraction or NaN"
BAD_LINKS = [
    ([], [], {"by": "name"}, "by must be 'position', 'id' or 'row', got 'name'"),
    ([("a", "b")], [], {"by": "position"}, f"constraints by position {WHOLE_NUMBERS}"),
    ([("a", "b")], [], {"by": "row"}, f"constraints by row {WHOLE_NUMBERS}"),
    ([(0, 1, 1.0)], [], {"must_weights": 2}, "weights of must-links are given twice: with the pairs and separately"),
    ([(0, 1), (1, 2)], [], {"must_weights": [1, 2, 3]}, ONE_NUMBER.format("must-links", 2)),
    ([], [(0, 1)], {"cannot_weights": "heavy"}, ONE_NUMBER.format("cannot-links", 1)),
    ([(0, 1, "heavy")], [], {}, "a constraint's weight is a number, got 'heavy'"),
    ([(0, 1, None)], [], {}, "a constraint's weight is a number, got None"),
    ([(0, 1, -1)], [], {}, rf"must-link \(0, 1\) has weight -1: {RANGE}"),
    ([("a", "b", np.nan)], [], {}, rf"must-link \('a', 'b'\) has weight nan: {RANGE}"),
    ([], [(0, 1), (2, 1)], {"cannot_weights": [1, np.inf]}, rf"cannot-link \(2, 1\) has weight inf: {RANGE}"),
    ([(3, 3)], [], {}, rf"must-link \(3, 3\) {ITSELF}"),
    ([], [("a", "a")], {}, rf"cannot-link \('a', 'a'\) {ITSELF}"),
    ([(0, -1)], [], {}, r"must-link \(0, -1\) names a position that no data has: count from 0"),
    ([], [(-2, 1)], {"by": "row"}, r"cannot-link \(-2, 1\) names a row that no data has: count from 0"),
    ([(0.5, 1)], [], {}, FRACTION.format("must-links")),
    ([], np.array([[0, np.nan]]), {}, FRACTION.format("cannot-links")),
    ([("a", float("nan"))], [], {}, FRACTION.format("must-links")),
]


@pytest.mark.parametrize(("must", "cannot", "options", "message"), BAD_LINKS)
def test_invalid_links_are_refused(must, cannot, options, message):
    with pytest.raises(TypeError if WHOLE_NUMBERS in message else ValueError, match=message):
        Constraints(must, cannot, **options)


def test_multiplication_scales_the_weights():
    constraints = Constraints([(0, 1, 2.0)], [(1, 2, 0.5)])
    for times in (10 * constraints, constraints * 10, np.float64(10) * constraints, constraints * np.int64(10)):
        assert links_as_dicts(times) == ({(0, 1): 20.0}, {(1, 2): 5.0})
    assert links_as_dicts(constraints) == ({(0, 1): 2.0}, {(1, 2): 0.5})
    named = 3 * Constraints([("a", "b")])
    assert named.must_link.tolist() == [["a", "b"]]
    assert named.must_weights.tolist() == [3.0]


def test_invalid_factors_are_refused():
    for factor in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=rf"weights are multiplied by a number above 0, got {factor!r}"):
            Constraints([(0, 1)]) * factor
    for factor in (1j, [2], None):
        with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
            Constraints([(0, 1)]) * factor


@settings(max_examples=25, deadline=None)
@given(some_links, some_links, some_links, some_links)
def test_union_keeps_the_largest_weight(must, cannot, other_must, other_cannot):
    together = Constraints(must + other_must, cannot + other_cannot)
    assert Constraints(must, cannot) | Constraints(other_must, other_cannot) == together
    named = [Constraints(must, cannot, by="id"), Constraints(other_must, other_cannot, by="id")]
    assert (named[0] | named[1]).positions(range(N)) == together


def test_union_of_positions_and_ids_is_refused():
    with pytest.raises(ValueError, match="constraints by position and by id do not mix: give both the same way"):
        Constraints([(0, 1)]) | Constraints([("a", "b")])
    with pytest.raises(ValueError, match="constraints by row and by position do not mix"):
        Constraints([(0, 1)], by="row") | Constraints([(0, 1)])
    with pytest.raises(TypeError, match="unsupported operand"):
        Constraints([(0, 1)]) | [(0, 1)]


def test_equality():
    constraints = Constraints([(0, 1), (2, 3, 0.5)], [(0, 2)])
    assert constraints == Constraints([(3, 2, 0.5), (1, 0), (0, 1, 0.1)], [(2, 0)])
    assert constraints != Constraints([(0, 1), (2, 3)], [(0, 2)]), "another weight"
    assert constraints != Constraints([(0, 1), (2, 3, 0.5), (0, 2)]), "another kind"
    assert constraints != Constraints([(0, 1), (2, 3, 0.5)], [(0, 2)], by="id"), "other entities"
    assert constraints != "constraints"
    assert Constraints([("a", "b"), ("c", "d")]) == Constraints([("d", "c"), ("b", "a")])
    with pytest.raises(TypeError, match="unhashable"):
        hash(constraints)


def test_survives_pickling_and_shows_counts():
    for constraints in (Constraints([(0, 1, 2)], [(1, 2)], by="row"), Constraints([("a", "b")], [("b", "c", 3)])):
        back = pickle.loads(pickle.dumps(constraints))
        assert back == constraints
        assert repr(back) == repr(constraints)
        assert back.closure() == constraints.closure()
    assert repr(Constraints([(0, 1)], [(1, 2), (2, 3)])) == "Constraints: 1 must-link, 2 cannot-links, by position"
    many = Constraints([(0, i) for i in range(1, 1235)], by="row")
    assert repr(many) == "Constraints: 1,234 must-links, 0 cannot-links, by row"


def test_scikit_learn_does_not_split_constraints():
    """Of what has a length, and as many as rows, scikit-learn's cross-validation takes the rows of a fold."""
    constraints = Constraints([(0, 1), (1, 2), (2, 3)])
    with pytest.raises(TypeError, match="has no len"):
        len(constraints)
    assert _check_method_params(np.eye(3), {"constraints": constraints}, [0, 1])["constraints"] is constraints


@settings(max_examples=80, deadline=None)
@given(some_links, some_links)
def test_closure_equals_reference(must, cannot):
    result = Constraints(must, cannot)
    closed = result.closure()
    assert links_as_dicts(closed) == literal.closure(N, must, cannot)
    assert closed.closure() == closed
    assert [tuple(pair) for pair in result.conflicts.tolist()] == literal.conflicts(N, must, cannot)


def test_conflicts_imply_nothing():
    """0, 1 and 2 are tied; that 0 and 2 are to be kept apart as well says nothing about 3."""
    named = Constraints([("d", "c"), ("c", "b")], [("b", "d", 5.0), ("b", "a", 0.5)])
    assert named.conflicts.tolist() == [["d", "b"]]
    must, cannot = links_as_dicts(named.closure().positions(list("dcba")))
    assert must == {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}
    assert cannot == {(0, 2): 5.0, (0, 3): 0.5, (1, 3): 0.5, (2, 3): 0.5}


def test_closure_of_a_long_chain():
    n = 1500
    assert n > sys.getrecursionlimit()
    weights = np.random.default_rng(0).uniform(1, 2, n - 1)
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    closed = Constraints(chain, [(0, n)], must_weights=weights).closure()
    assert len(closed.must_link) == n * (n - 1) // 2
    weakest = np.minimum.accumulate(weights)
    from_0 = closed.must_link[:, 0] == 0
    np.testing.assert_array_equal(closed.must_weights[from_0], weakest)
    np.testing.assert_array_equal(closed.cannot_weights, 1.0)
    assert len(closed.cannot_link) == n


def test_closure_larger_than_memory_is_refused(monkeypatch):
    monkeypatch.setattr("consilience.data.links.available_memory", lambda: 2**30)
    n = 20_000
    chain = Constraints([(i, i + 1) for i in range(n)])
    message = rf"all constraints that follow from the given ones are {n * (n + 1) // 2:,} pairs and need \d+\.\d GiB"
    with pytest.raises(MemoryError, match=message):
        chain.closure()
    assert len(chain.conflicts) == 0
    monkeypatch.setattr("consilience.data.links.available_memory", lambda: None)
    assert Constraints([(0, 1), (1, 2)]).closure().size == 3, "where the system does not say, there is enough"


def test_memory_check_counts_all_pairs(monkeypatch):
    """Two groups of 100, kept apart by two cannot-links: 4,950 pairs each, and 10,000 between them."""
    monkeypatch.setattr("consilience.data.links.available_memory", lambda: 1000)
    groups = [(first, first + i) for first in (0, 100) for i in range(1, 100)]
    with pytest.raises(MemoryError, match="all constraints that follow from the given ones are 19,900 pairs"):
        Constraints(groups, [(3, 150), (170, 4)]).closure()
    with pytest.raises(MemoryError, match="all constraints that follow from the given ones are 9,900 pairs"):
        Constraints(groups, [(3, 50), (170, 171)]).closure()
    to_many = [(0, i) for i in range(10)] + [(1, i) for i in range(10, 20)]
    message = "the constraints that the mapping transfers are 100 pairs and need 0.0 GiB, but 0.0 GiB are free"
    with pytest.raises(MemoryError, match=message):
        Constraints([(0, 1)]).transfer(to_many)


@settings(max_examples=60, deadline=None)
@given(some_links, some_links, st.lists(st.tuples(entities, entities), max_size=20))
def test_transfer_equals_reference(must, cannot, mapping):
    """Many to many; a pair whose ends come together falls away, and one with an end that is not mapped."""
    constraints = Constraints(must, cannot)
    expected = tuple(literal.transfer(links, set(mapping)) for links in links_as_dicts(constraints))
    assert links_as_dicts(constraints.transfer(mapping)) == expected
    numbers = np.arange(N) * 3 % 5
    assert constraints.renumbered(numbers) == constraints.transfer(list(enumerate(numbers.tolist())))
    assert links_as_dicts(constraints.transfer(np.array(mapping, np.uint8).reshape(-1, 2))) == expected


def test_invalid_mappings_are_refused():
    for mapping in ([0, 1], [(0, 1, 2)], [(0.5, 1)], [("a", "b")]):
        with pytest.raises(ValueError, match=r"a mapping lists pairs of positions, \[\(source, target\), ...\]"):
            Constraints([(0, 1)]).transfer(mapping)
    with pytest.raises(ValueError, match="constraints by id name the same entities everywhere: there is nothing to"):
        Constraints([("a", "b")]).transfer([(0, 1)])


@settings(max_examples=30, deadline=None)
@given(some_links, some_links, st.permutations(range(N)))
def test_positions_of_ids(must, cannot, order):
    result = Constraints(must, cannot, by="id").positions(order)
    assert result.by == "position"
    assert result == Constraints(must, cannot).transfer([(name, place) for place, name in enumerate(order)])


def test_unknown_ids_are_refused():
    with pytest.raises(ValueError, match="these constraints are by position, not by id"):
        Constraints([(0, 1)]).positions([0, 1])
    message = r"constraints name entity 'eve', which is not among the ids .* \(2 such\): leave it out, or say"
    with pytest.raises(ValueError, match=message):
        Constraints([("ann", "eve")], [("bob", "ann")]).positions(["ann", "zoe"])
    message = r"name entity 7, which is not among the ids .* leave it out, or say unknown='drop', or by='position'"
    with pytest.raises(ValueError, match=message):
        Constraints([(7, 1)], by="id").positions([1, 2])


def test_precision_is_the_share_of_correct_weight():
    y = ["a", "a", "b", "b"]
    constraints = Constraints([(0, 1, 3.0), (1, 2, 1.0)], [(0, 2), (0, 3), (2, 3), (0, 1)])
    assert constraints.precision(y) == (0.75, 0.5)
    assert constraints.precision(np.array(y)).must_link == 0.75
    assert constraints.precision(y).cannot_link == 0.5
    assert np.isnan(Constraints().precision(y)).all()
    message = r"classes are by position, these constraints by id: see positions\(\)"
    with pytest.raises(ValueError, match=message):
        Constraints([("a", "b")]).precision([0, 1])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=9), st.integers(0, 12), st.integers(0, 99))
def test_sample_is_correct_and_without_repetition(y, n, seed):
    classes = np.array(y)
    same = sum(y[i] == y[j] for i in range(len(y)) for j in range(i))
    other = len(y) * (len(y) - 1) // 2 - same
    n = min(n, 2 * same, 2 * other)
    constraints = Constraints.sample(classes, n, seed)
    must, cannot = links_as_dicts(constraints)
    assert (len(must), len(cannot)) == (n // 2, n - n // 2)
    assert all(classes[i] == classes[j] for i, j in must)
    assert all(classes[i] != classes[j] for i, j in cannot)
    assert set(must.values()) | set(cannot.values()) <= {1.0}
    assert constraints == Constraints.sample(y, n, seed)


def test_all_pairs_are_equally_likely():
    y = [2, 0, 1, 0, 2, 2, 0]
    n_draws = 1000
    rng = np.random.default_rng(0)
    drawn = Counter()
    for _ in range(n_draws):
        constraints = Constraints.sample(y, 5, rng)
        drawn.update(map(tuple, [*constraints.must_link.tolist(), *constraints.cannot_link.tolist()]))
    same = {(i, j): y[i] == y[j] for j in range(7) for i in range(j)}
    assert drawn.keys() == same.keys()
    n_same = sum(same.values())
    for pair, is_same in same.items():
        share = 2 / n_same if is_same else 3 / (len(same) - n_same)
        spread = np.sqrt(share * (1 - share) / n_draws)
        assert drawn[pair] / n_draws == pytest.approx(share, abs=5 * spread), pair


def test_sample_does_not_use_global_randomness():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert Constraints.sample([0, 0, 1], 2).size == 2
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    constraints, other = (Constraints.sample(np.arange(60) % 2, 20, np.random.RandomState(3)) for _ in range(2))
    assert constraints == other
    assert constraints != Constraints.sample(np.arange(60) % 2, 20, np.random.RandomState(4))


def test_sample_of_many_entities_needs_little_memory():
    """A hundred thousand entities have five thousand million pairs."""
    y = np.arange(100_000) % 3
    constraints = Constraints.sample(y, 1000, 0)
    assert constraints.precision(y) == (1.0, 1.0)
    assert constraints.size == 1000


def test_samples_larger_than_possible_are_refused():
    with pytest.raises(ValueError, match="4 must-links are requested, but the classes allow 2: request fewer"):
        Constraints.sample([0, 0, 1, 1], 8)
    with pytest.raises(ValueError, match="1 cannot-links are requested, but the classes allow 0: request fewer"):
        Constraints.sample([0, 0, 0], 2)
    with pytest.raises(ValueError, match="1 must-links are requested, but the classes allow 0: request fewer"):
        Constraints.sample([], 2)
    for n in (-1, 2.5, "all", None):
        with pytest.raises(ValueError, match=f"n must be a whole number of constraints, 0 or more, got {n!r}"):
            Constraints.sample([0, 0, 1], n)


BY = {
    "position": Constraints([(0, 1, 0.1), (2, 3)], [(10, 2, 1 / 3)]),
    "id": Constraints([("ann", "bob", 0.1)], [("bob", "eve"), ("a,b", 'say "c"', 1 / 3)]),
    "row": Constraints([(0, 1)], [(1, 2, 2.5)], by="row"),
    "whole ids": Constraints([(7, 9)], [(9, 11, 2)], by="id"),
    "none": Constraints(),
}


@pytest.mark.parametrize("by", BY)
def test_tables_and_files_round_trip(by, tmp_path):
    constraints, path = BY[by], tmp_path / "constraints.csv"
    pd.DataFrame(constraints.table()).to_csv(path, index=False)
    for make in (lambda table: table, dict, pd.DataFrame, pl.DataFrame, lambda _: path, lambda _: str(path)):
        table = make(constraints.table())
        assert Constraints.from_table(table, by=constraints.by) == constraints
        if by in ("position", "id", "none"):
            assert Constraints.from_table(table) == constraints


def test_handwritten_file(tmp_path):
    path = tmp_path / "links.csv"
    text = "type,second,first,who\nMust, 3 ,1,me\n CL ,2,1,you\nCANNOT_LINK,5,4,me\nml,4,3,us\n"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(text, encoding)
        assert Constraints.from_table(path) == Constraints([(1, 3), (3, 4)], [(1, 2), (4, 5)])


def test_table_has_typed_columns_of_which_some_may_be_missing():
    written = BY["position"].table()
    assert isinstance(written, cs.data.Table)
    assert {name: values.tolist() for name, values in written.items()} == {
        "first": [0, 2, 2],
        "second": [1, 3, 10],
        "type": ["must-link", "must-link", "cannot-link"],
        "weight": [0.1, 1.0, 1 / 3],
    }
    table = {"first": [0, 1], "second": (1, 2), "type": np.array(["must", "cannot"]), "note": ["x", None]}
    assert Constraints.from_table(table) == Constraints([(0, 1)], [(1, 2)])
    table["weight"] = ["2", 0.5]
    assert Constraints.from_table(table) == Constraints([(0, 1, 2)], [(1, 2, 0.5)])


COLUMNS = "columns 'first', 'second', 'type' and perhaps 'weight'; "
BAD_TABLES = [
    ({"first": [0], "last": [1], "type": ["must"]}, f"{COLUMNS}'second' is not among 'first', 'last', 'type': rename"),
    (pd.DataFrame({"a": [0]}), f"{COLUMNS}'first' is not among 'a': rename the columns"),
    ({"first": [0, 0], "second": [1, 2], "type": ["must", "perhaps"]}, "'must-link' or 'cannot-link', got 'perhaps'"),
    ({"first": [0], "second": [1], "type": ["must"], "weight": ["much"]}, "weight is a number, got 'much'"),
    ([(0, 1, "must")], "a table of constraints is a frame, a mapping of columns or a path, got list"),
]


@pytest.mark.parametrize(("table", "message"), BAD_TABLES)
def test_invalid_tables_are_refused(table, message):
    with pytest.raises(TypeError if isinstance(table, list) else ValueError, match=message):
        Constraints.from_table(table)


UNREADABLE = r"links\.csv cannot be read as a CSV file of constraints: .*"
BAD_FILES = {
    "a missing cell": (b"first,second,type,weight\n0,1,must\n", "a constraint's weight is a number, got None"),
    "names": (b"first,second,type\n0,ann,must\n", "constraints by position name whole numbers; use by='id'"),
    "no column first": (b"one,two\n0,1\n", "'first' is not among 'one', 'two': rename the columns"),
    "no column second": (b"first,type\n0,must\n", "'second' is not among 'first', 'type': rename the columns"),
    "a negative number": (b"first,second,type\n0,-1,must\n", r"must-link \(0, -1\) names a position that no data has"),
    "a long cell": (b"first,second,type\n" + b"x" * 200_000 + b",b,must\n", f"{UNREADABLE}larger than field limit"),
    "no UTF-8": (b"first,second,type\n\xff,b,must\n", f"{UNREADABLE}can't decode byte 0xff"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_invalid_files_are_refused(content, message, tmp_path):
    path = tmp_path / "links.csv"
    path.write_bytes(content)
    with pytest.raises((ValueError, TypeError), match=message):
        Constraints.from_table(path, by="position")
    with pytest.raises(ValueError, match=r"/dev/zero is a device, which may never end: give a CSV file"):
        Constraints.from_table("/dev/zero")


def test_unknown_ids_may_be_dropped():
    links = Constraints([("a", "b"), ("a", "z")], [("b", "c"), ("y", "z")], unknown="drop")
    for constraints in (links, pickle.loads(pickle.dumps(links)), 1 * links, links | Constraints([("a", "b")])):
        result = constraints.positions(["c", "b", "a"])
        assert result == Constraints([(1, 2)], [(0, 1)])
    with pytest.raises(ValueError, match=r"unknown must be 'error' or 'drop', got 'skip'"):
        Constraints(unknown="skip")
