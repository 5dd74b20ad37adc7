"""Which questions are asked."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, normalized_mutual_info_score

from consilience.arrays import to_numpy
from consilience.workbench.clustering import LEAST_EVIDENCE
from consilience.workbench.knowledge import DecisionSet
from consilience.workbench.questions import (
    EVIDENCE,
    LEAST_GAIN,
    Question,
    measure_division_accuracy,
    rank_questions,
    summarize_end,
    update_probability,
)
from four_groups import CLASSES, ROWS, ask, start


def answer(reclustering, clustering, decisions, pair, classes=CLASSES):
    """Answer by the classes, and return the groups and decisions after it."""
    action = "together" if classes[pair[0]] == classes[pair[1]] else "apart"
    return ask(reclustering, clustering, decisions, *pair, action)


def test_questions_are_ordered_by_gain_and_name_different_pairs(warm):
    questions = rank_questions(*start(warm, CLASSES))
    assert all(first.gain >= second.gain for first, second in pairwise(questions))
    assert len({frozenset(question.pair) for question in questions}) == len(questions) > 3
    for question in questions:
        assert question.pair[0] != question.pair[1]
        assert 0 <= question.probability <= 1
        assert 1 <= question.n_lacking <= LEAST_EVIDENCE
        assert question.gain == question.probability * question.n_items / question.n_lacking


def test_items_that_decisions_unite_are_not_compared(warm, tune):
    """The number of links that are considered is limited, because their closure grows with its square."""
    tune("workbench.questions", max_links=3)
    reclustering, clustering, _ = start(warm, CLASSES)
    united = [np.flatnonzero(k == CLASSES)[:20].tolist() for k in range(2)]
    entries = [
        {"number": k + 1, "action": "together", "items": [str(row) for row in rows]} for k, rows in enumerate(united)
    ]
    decisions = DecisionSet(entries, ROWS, len(CLASSES))
    questions = rank_questions(reclustering, clustering, decisions)
    pairs = [set(question.pair) for question in questions]
    assert pairs
    assert not any(pair <= set(rows) for pair in pairs for rows in united)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [(np.where(CLASSES == 1, 0, CLASSES), CLASSES), (CLASSES, np.where(CLASSES == 2, 0, CLASSES))],
    ids=["two classes in one group", "one class in two groups"],
)
def test_few_answers_correct_a_wrong_number_of_groups(warm, labels, classes):
    reclustering, clustering, decisions = start(warm, labels)
    before = normalized_mutual_info_score(classes, labels)
    for _ in range(8):
        question = rank_questions(reclustering, clustering, decisions)[0]
        clustering, decisions = answer(reclustering, clustering, decisions, question.pair, classes)
    assert len(clustering.numbers) == len(np.unique(classes))
    assert normalized_mutual_info_score(classes, clustering.labels) > before + 0.05


def test_answered_and_skipped_pairs_are_not_asked_again(warm):
    reclustering, clustering, decisions = start(warm, CLASSES)
    earlier = []
    for _ in range(6):
        question = rank_questions(reclustering, clustering, decisions)[0]
        assert frozenset(question.pair) not in earlier
        earlier.append(frozenset(question.pair))
        clustering, decisions = answer(reclustering, clustering, decisions, question.pair)
    first = rank_questions(reclustering, clustering, decisions)[0]
    skipped = frozenset(first.pair)
    left = rank_questions(reclustering, clustering, decisions, [skipped])
    assert skipped not in [frozenset(question.pair) for question in left]


def test_answers_against_a_question_lower_its_probability():
    assert update_probability(0.5, 0) == 0.5
    assert update_probability(0.5, 1) == pytest.approx(EVIDENCE / (1 + EVIDENCE))
    values = [update_probability(0.2, evidence) for evidence in (-2, -1, 0, 1)]
    assert values == sorted(values)


def test_accuracy_of_divisions_is_the_lowest_of_the_views_asked_for_each_alone(warm):
    reclustering, clustering, decisions = start(warm, np.where(CLASSES == 1, 0, CLASSES))
    divisions = [
        division for group in range(clustering.n_groups) for division in reclustering.find_divisions(clustering, group)
    ]
    together = measure_division_accuracy(reclustering, clustering, decisions, divisions)
    alone = [measure_division_accuracy(reclustering, clustering, decisions, [division])[0] for division in divisions]
    assert len(together) == len(alone) > 6
    assert np.corrcoef(together, alone)[0, 1] > 0.8  # the predictors of a view are weighted by all that they predict
    ensemble = warm.build_ensemble(2 * clustering.n_groups, decisions.knowledge)
    for division, accuracy in zip(divisions, alone, strict=True):
        by_view, labels = [], np.where(division.side < 0, -1, 2 * division.group + division.side)
        for view, votes in zip(warm.prepared, ensemble.vote(labels).by_view, strict=True):
            side = division.side[view.entities]
            predicted = to_numpy(votes)[:, 2 * division.group : 2 * division.group + 2].argmax(axis=1)
            if len(set(side[side >= 0].tolist())) == 2:
                by_view.append(balanced_accuracy_score(side[side >= 0], predicted[side >= 0]))
        assert accuracy == pytest.approx(min(by_view), abs=1e-9)


def test_end_is_announced_when_no_answer_is_expected_to_change_more_than_one_item():
    small = Question((0, 1), "same", 0.4, 1, 1, "reason")
    large = Question((0, 1), "same", 0.4, 50, 1, "reason")
    assert small.gain < LEAST_GAIN < large.gain
    assert summarize_end([]) == "There is nothing left to ask."
    assert "You can stop here" in summarize_end([small])
    assert summarize_end([large, small]) is None


def test_sentence_says_what_an_answer_may_change():
    sentences = {
        Question((0, 1), "same", 0.354, 1234, 2, "").sentence,
        Question((0, 1), "different", 0.7, 20, 1, "").sentence,
        Question((0, 1), "different", 0.7, 1, 1, "").sentence,
    }
    assert sentences == {
        "If yes, and another answer agrees, about 1,234 items change their group.",
        "If no, about 20 items change their group.",
        "The answer is unlikely to change other items.",
    }


def test_single_group_has_questions_about_its_parts_only(warm):
    questions = rank_questions(*start(warm, np.zeros(len(CLASSES), int)))
    assert {question.decisive for question in questions if question.n_items > 1} == {"different"}
