"""The choice among encodings of the same data."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.datasets import make_text_views
from consilience.selection import compare_representations
from consilience.selection.representations import (
    choose_by_shares,
    choose_numbers,
    draw_rows,
    grow_sample,
    measure_shares,
    prepare_different,
)

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def data():
    """Two views of words that show four groups weakly, and vectors that show them better."""
    words, y = make_text_views(300, n_clusters=4, n_words=(300, 300), topic_share=0.15, random_state=0)
    rng = np.random.default_rng(0)
    meaning = rng.normal(size=(4, 20))[y] + rng.normal(size=(300, 20))
    return SimpleNamespace(
        text=words["view0"],
        other=words["view1"],
        meaning=meaning,
        permuted=rng.permutation(meaning),
        noise=rng.normal(size=meaning.shape),
        y=y,
    )


def list_candidates(data, *names, other=True):
    common = {"other": data.other} if other else {}
    blocks = {
        "words": {"text": data.text},
        "meaning": {"text": data.meaning},
        "both": {"text": data.text, "text-meaning": data.meaning},
        "permuted": {"text": data.permuted},
        "beside permuted": {"text": data.text, "text-meaning": data.permuted},
        "noise": {"text": data.noise},
        "beside noise": {"text": data.text, "text-meaning": data.noise},
    }
    return {name: cs.Views({**blocks[name], **common}) for name in names}


@pytest.mark.parametrize(("n_clusters", "other"), [(4, False), (None, True)])
def test_chooses_an_informative_encoding(data, n_clusters, other):
    candidates = list_candidates(data, "words", "meaning", "both", "noise", other=other)
    choice = compare_representations(candidates, n_clusters=n_clusters)
    assert choice.name in ("meaning", "both")
    labels = {name: cs.Consilience(4, random_state=0).fit(candidates[name]).labels_ for name in ("words", choice.name)}
    quality = {name: normalized_mutual_info_score(data.y, clusters) for name, clusters in labels.items()}
    assert quality[choice.name] > quality["words"] + 0.1
    assert choice.table["candidate"].tolist() == list(candidates)
    row = dict(zip(candidates, choice.table["score"], strict=True))
    assert choice.sentence == (
        f"{choice.name!r} is used instead of 'words': left-out predictions carry {row[choice.name]:.0%} of the "
        f"information about its clusters, against {row['words']:.0%}."
    )
    assert choice.n_entities == 300


@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_useless_encodings_are_not_chosen(data, other, seed):
    useless = ("permuted", "beside permuted", "noise", "beside noise")
    candidates = list_candidates(data, "words", *useless, other=other)
    choice = compare_representations(candidates, n_clusters=4, random_state=seed)
    assert choice.name == "words"
    assert choice.sentence.startswith("'words' is used: ")


def test_clear_clusters_that_no_other_view_confirms_are_not_chosen(data):
    candidates = list_candidates(data, "words", "permuted", other=False)
    choice = compare_representations(candidates, n_clusters=4)
    score, kept = choice.table["score"], choice.table["kept"]
    assert score[1] > 1.02 * score[0]  # a view predicts its clusters, whatever they are worth
    assert kept[1] < 0.1
    assert choice.sentence == "'words' is used: 'permuted' has clearer clusters, but other views do not confirm them."


def test_equal_candidates_have_equal_scores_and_the_default_is_chosen(data):
    first = list_candidates(data, "both")["both"]
    copies = {"a": first, "b": cs.Views(dict(first.items())), "c": first}
    choice = compare_representations(copies, n_clusters=4, margin=0)
    assert choice.name == "a"
    assert len(set(choice.table["score"].tolist())) == 1
    np.testing.assert_array_equal(choice.table["kept"], 1)


def test_result_is_deterministic_for_any_number_of_threads(data):
    candidates = list_candidates(data, "words", "meaning", "both")
    first, second, other_seed = (
        compare_representations(candidates, n_clusters=4, n_jobs=n_jobs, random_state=seed)
        for n_jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    for column in ("score", "kept", "added"):
        np.testing.assert_array_equal(first.table[column], second.table[column])
    assert not np.array_equal(first.table["score"], other_seed.table["score"])
    assert repr(first) == f"{first.sentence}\n\n{first.table!r}"


def test_entities_may_lack_views(data):
    candidates = list_candidates(data, "words", "meaning", "both")
    lacks = np.random.default_rng(0).random(300) < 0.3
    holey = {}
    for name, views in candidates.items():
        present = views.present.copy()
        present[lacks, [view.startswith("text") for view in views.names].index(True)] = False
        holey[name] = cs.Views(dict(views.items()), present=present)
    assert compare_representations(holey, n_clusters=4).name in ("meaning", "both")


def test_similarities_are_compared(data):
    rng = np.random.default_rng(0)
    same = (data.y[:, None] == data.y) & (rng.random((300, 300)) < 0.02)
    graph = sp.csr_array((same | same.T | np.eye(300, dtype=bool)).astype(float))
    order = rng.permutation(300)
    words = dict(list_candidates(data, "words")["words"].items())
    candidates = {
        "words": cs.Views(words),
        "graph": cs.Views({**words, "graph": graph}),
        "shuffled": cs.Views({**words, "graph": sp.csr_array(graph[order][:, order])}),
    }
    choice = compare_representations(candidates, n_clusters=4, precomputed=["graph"])
    assert choice.name == "graph"
    smaller = compare_representations(candidates, n_clusters=4, precomputed=["graph"], max_entities=200)
    assert smaller.n_entities == 200


def test_dependent_views_do_not_judge(data):
    candidates = list_candidates(data, "words", "both")
    judging = compare_representations(candidates, n_clusters=4, margin=0)
    silent = compare_representations(candidates, n_clusters=4, margin=0, dependent=["text-meaning"])
    assert silent.table["kept"][1] == judging.table["kept"][1]
    assert silent.table["added"][1] == judging.table["added"][1]  # but must be worth adding
    pool = prepare_different(candidates, (), ["text-meaning"], 4)
    assert (pool.members, pool.judges) == ({"words": [0, 1], "both": [0, 2, 1]}, [0, 1])
    shares = measure_shares(pool, pool.build_predictors(range(3), 4), "both", [4], 0)
    assert shares[:2].mean() < shares.mean()
    assert silent.table["score"][1] < judging.table["score"][1]


def test_candidates_without_information_are_left_out(data):
    constant = cs.Views({"text": np.ones((300, 3)), "other": data.other})
    choice = compare_representations({**list_candidates(data, "words", "both"), "constant": constant}, n_clusters=4)
    assert choice.name == "both"
    assert np.isnan(choice.table["score"][2])
    assert not choice.table["eligible"][2]
    with pytest.raises(ValueError, match="a view of the default candidate 'constant' is constant"):
        compare_representations({"constant": constant, **list_candidates(data, "words")}, n_clusters=4)


def test_shares_are_those_of_the_estimator(data):
    """The judges' shares of one candidate's own views agree with what a refined fit reports of them."""
    candidates = list_candidates(data, "meaning", "both")
    pool = prepare_different(candidates, (), (), 4)
    assert pool.members == {"meaning": [0, 1], "both": [2, 0, 1]}  # the vectors have another name beside the words
    judges = pool.build_predictors([0, 1], 4)
    shares = measure_shares(pool, judges, "meaning", [4], 0)
    assert np.isnan(shares[2:]).all()
    model = cs.Consilience(4, random_state=0).fit(candidates["meaning"])
    np.testing.assert_allclose(shares[:2], model.view_information_["share"], atol=0.06)


def choose(shares, members=None, **options):
    members = members or {"a": [0, 1], "b": [0, 2], "c": [0, 1, 2]}
    settings = {"judges": [0, 1, 2], "least_kept": 0.6, "margin": 0.02, "n_entities": 10, **options}
    return choose_by_shares({name: np.array(values) for name, values in shares.items()}, members, **settings)


def test_rule_of_choice():
    shares = {"a": [0.6, 0.4, 0.2], "b": [0.6, 0.3, 0.5], "c": [0.6, 0.4, 0.4]}
    choice = choose(shares)
    assert choice.name == "b"  # means 0.4, 0.467, 0.467: the first of equal ones
    np.testing.assert_allclose(choice.table["kept"], [1, 0.9, 1])
    np.testing.assert_allclose(choice.table["added"], [np.nan, 1, 0.8])
    assert choose(shares, least_kept=0.95).name == "c"
    assert choose(shares, margin=0.2).name == "a"
    weak = {**shares, "b": [0.9, 0.9, 0.2], "c": [0.9, 0.9, 0.2]}
    assert choose(weak).name == "a"  # the new view predicts less than half of what the default's views do
    assert choose(weak).table["eligible"].tolist() == [True, False, False]
    assert choose(shares, judges=[0, 1]).name == "a"  # only the third view is predicted better
    unusable = {name: values for name, values in shares.items() if name != "b"}
    assert choose(unusable).name == "c"
    assert choose({"a": [0.0, 0.0, 0.0], "b": [0.0, 0.0, 0.0]}).name == "a"


def test_numbers_of_clusters():
    assert choose_numbers(None, 1000) == [4, 8, 16]
    assert choose_numbers(None, 170) == [4, 8]
    assert choose_numbers(7, 100) == [7]
    with pytest.raises(ValueError, match="79 different entities are too few to compare encodings"):
        choose_numbers(None, 79)
    with pytest.raises(ValueError, match="20 entities are too few to fit 7 clusters to each half"):
        choose_numbers(7, 20)


def test_sample_grows_along_links():
    rng = np.random.default_rng(0)
    n, m = 1000, 20
    group = np.arange(n) // m  # rings of 20 entities
    following = np.arange(n) // m * m + (np.arange(n) + 1) % m
    ring = sp.csr_array((np.ones(n), (np.arange(n), following)), shape=(n, n))
    graph = sp.csr_array(ring + ring.T)
    sample = grow_sample(graph, n, 400, rng)
    assert len(sample) == len(set(sample.tolist())) == 400
    assert np.diff(sample).min() > 0
    counts = np.bincount(group[sample], minlength=n // m)
    assert (counts == m).sum() >= 15  # most rings are whole; a random sample has hardly any
    everything = grow_sample(graph, n, n, rng)
    np.testing.assert_array_equal(everything, np.arange(n))


def test_sample_grows_over_nodes_that_are_no_entities():
    owner = np.arange(60) % 3  # three nodes beside the sixty entities, each linked with twenty
    linked = sp.csr_array((np.ones(60), (np.arange(60), owner)), shape=(60, 3))
    graph = sp.csr_array(sp.block_array([[None, linked], [linked.T, None]]))
    assert grow_sample(graph, 60, 45, np.random.default_rng(0)).max() < 60


def test_identical_entities_count_once(data):
    rows = np.r_[np.arange(300), np.zeros(60, int)]
    repeated = {name: views[rows] for name, views in list_candidates(data, "words", "both").items()}
    assert len(draw_rows(repeated, (), 1000, np.random.default_rng(0))) == 300
    assert compare_representations(repeated, n_clusters=4).n_entities == 300


def test_large_data_is_sampled(data):
    choice = compare_representations(list_candidates(data, "words", "both"), n_clusters=4, max_entities=200)
    assert choice.n_entities == 200


def test_bad_input(data):
    candidates = list_candidates(data, "words", "both")
    with pytest.raises(ValueError, match="candidates must be at least two sets of views to compare, got 1"):
        compare_representations(list_candidates(data, "words"))
    with pytest.raises(TypeError, match=r"candidate 'array' must be Views, got ndarray: use Views\(\.\.\.\)"):
        compare_representations({**candidates, "array": data.meaning})
    with pytest.raises(ValueError, match=r"'words' \(300 entities\) and 'both' \(299 entities\) must have the same"):
        compare_representations({**candidates, "both": candidates["both"][:299]})
    named = cs.Views(dict(candidates["both"].items()), ids=np.arange(300).astype(str))
    with pytest.raises(ValueError, match="must have the same entities in the same order"):
        compare_representations({**candidates, "both": named})
    with pytest.raises(ValueError, match="n_clusters"):
        compare_representations(candidates, n_clusters=1)
    with pytest.raises(ValueError, match="margin"):
        compare_representations(candidates, margin=-1)
    with pytest.raises(ValueError, match="candidates"):
        compare_representations(list(candidates.values()))
