"""Names by a function of the user."""

import numpy as np
import pytest

import consilience as cs
from consilience.explain.namer import check_name, describe_clusters, run_namer, separate_names
from consilience.explain.names import choose_names
from consilience.explain.terms import count_terms

LABELS = np.repeat([0, 1, -1], [6, 4, 2])
TEXTS = [["steel, knife", "red, apple", "nothing"][label] for label in np.repeat([0, 1, 2], [6, 4, 2])]


def describe():
    terms = count_terms(LABELS, cs.Views({"v": np.zeros((12, 1))}), {"t": TEXTS})
    ids = np.array([f"item {i}" for i in range(12)], dtype=object)
    return describe_clusters(terms, choose_names(terms), LABELS, np.linspace(0, 1, 12), ids, [TEXTS])


def test_descriptions_have_terms_sizes_and_typical_entities():
    first, second = describe()
    assert (first.number, first.size, first.share) == (0, 6, 0.6)
    assert {term.name for term in first.terms} == {"knife", "steel"}
    assert [(term.inside, term.outside) for term in first.terms] == [(1, 0), (1, 0)]
    assert set(first.ids) <= {f"item {i}" for i in range(6)}
    assert first.ids[0] == "item 5"  # the most confident
    assert first.texts == ["steel, knife"] * len(first.ids)
    assert second.name == "apple, red"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "TypeError: the name of a cluster must be a string, got NoneType"),
        (3, "TypeError: the name of a cluster must be a string, got int"),
        (" \n\u202e", "ValueError: the name of a cluster is empty"),
        ("x" * 81, "ValueError: the name of a cluster has 81 characters, more than 80: 'xxx"),
    ],
)
def test_unsuitable_names_are_noted_and_not_used(value, message):
    names, notes = run_namer(lambda cluster: value if cluster.number else "knives", describe())
    assert names == ["knives", "apple, red"]
    (note,) = notes
    assert f"namer, for the cluster 'apple, red': {message}" in note
    assert note.endswith("its name stays.")


def test_errors_of_the_function_are_noted_once_and_ctrl_c_is_not_caught():
    def stop(cluster):
        raise KeyboardInterrupt("stopped by the user")

    def fail(cluster):
        raise ConnectionError("no model at port 8080")

    names, notes = run_namer(fail, describe())
    assert names == ["knife, steel", "apple, red"]
    assert notes == [
        "namer, for the cluster 'knife, steel', and 1 more: ConnectionError: no model at port 8080; its name stays."
    ]
    with pytest.raises(KeyboardInterrupt, match="stopped by the user"):
        run_namer(stop, describe())


def test_function_names_clusters_and_coinciding_names_are_told_apart():
    names, notes = run_namer(lambda cluster: f"  the {cluster.terms[0].name}\nof {cluster.number} ", describe())
    assert (names, notes) == (["the knife of 0", "the apple of 1"], [])
    names, notes = run_namer(lambda cluster: "Things" if cluster.number else "things", describe())
    assert names == ["things", "Things (apple, red)"]
    assert "gave the name 'Things' to several clusters; its name is in parentheses" in notes[0]
    names, _ = run_namer(lambda cluster: "apple, red" if cluster.number == 0 else None, describe())
    assert len(set(names)) == 2


def test_names_keep_joiners_and_lose_controls_and_given_ones_stay():
    assert check_name("👩\u200d🚀 می\u200cخواهم") == "👩\u200d🚀 می\u200cخواهم"
    assert check_name("a\x00b\u202ec\td\u2028e") == "a b c d e"
    assert separate_names(["a", "A", "b"]) == ["a", "A (1)", "b"]
    assert separate_names(["a", "a", "b"], fixed=[1]) == ["a (0)", "a", "b"]
