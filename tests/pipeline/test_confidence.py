"""Confidence is one number, and the word follows from it: the same in all outputs of a run."""

import base64
import csv
import json
import re
import zlib
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.assessment.reference import WORDS, choose_words
from consilience.workbench.workbench import Workbench
from waiting import HANG_LIMIT

ENCODE = {"gloss": "words", "lemmas": "words"}  # nothing to choose, which saves time
RANKS = {word: rank for rank, (word, _) in enumerate(reversed(WORDS))}


@pytest.fixture(scope="module")
def senses():
    """Included data: senses of nouns for animals, plants and places, with their definitions and spellings."""
    senses = cs.datasets.read_word_senses()
    kinds = np.asarray(senses.kinds)
    rows = np.flatnonzero(np.isin(kinds, ["noun.animal", "noun.plant", "noun.location"]))[::10]
    glosses, lemmas = (np.asarray(texts, dtype=object)[rows] for texts in (senses.glosses, senses.lemmas))
    return pd.DataFrame({"id": np.asarray(senses.ids)[rows], "gloss": glosses, "lemmas": list(map(str, lemmas))})


@pytest.fixture(scope="module")
def result(senses):
    return cs.cluster(senses, 3, encode=ENCODE)


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("confidence") / "run")


def unpack_column(column, kind):
    return np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), dtype=kind).tolist()


def read_rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@contextmanager
def open_workbench(result, folder):
    workbench = Workbench(result, folder)
    workbench.start()
    try:
        workbench.wait_until_ready(HANG_LIMIT)
        yield workbench
    finally:
        workbench.close()


def test_word_is_a_function_of_the_number_and_a_higher_number_means_surer(result):
    numbers, words = (result.frame[name].tolist() for name in ("confidence", "confidence in words"))
    assert len(set(words)) > 1
    assert [next(word for word, least in WORDS if number >= least) for number in numbers] == words
    ranks = [RANKS[word] for _, word in sorted(zip(numbers, words, strict=True))]
    assert ranks == sorted(ranks)
    assert [round(number, 2) for number in numbers] == numbers  # the number that is shown decides


def test_all_outputs_have_the_same_number_and_word(result, folder):
    shown = [(number, str(word)) for number, word in result.frame[["confidence", "confidence in words"]].to_numpy()]
    for name in ("labels.csv", "items.csv"):
        rows = read_rows(folder / name)
        assert [(float(row["confidence"]), row["confidence in words"]) for row in rows] == shown
        assert "probability" not in rows[0]
    page = (folder / "report.html").read_text("utf-8")
    data = json.loads(re.search(r'<script[^>]*id="report-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    percents = unpack_column(data["columns"]["sure"], "<u2")
    assert [(percent / 100, data["words"][percent]) for percent in percents] == shown
    facts = json.loads((folder / "summary.json").read_text("utf-8"))
    assert facts["mean_confidence"] == pytest.approx(np.mean([number for number, _ in shown]))
    with open_workbench(result, folder) as workbench:
        packed, items = workbench.describe_state()["confidence"], workbench.describe_items()
        assert [(percent / 100, items["words"][percent]) for percent in unpack_column(packed, "u1")] == shown
        assert workbench.describe_item(0)["confidence"] == shown[0][0]


def test_new_rows_have_the_number_and_the_word(result, senses):
    placed = result.predict_frame(senses)
    assert "probability" not in placed
    fits = placed["fits"] == "yes"
    assert placed["confidence"][fits].between(0.01, 0.99).all()
    assert placed["confidence in words"][fits].tolist() == choose_words(placed["confidence"][fits].to_numpy()).tolist()
    assert placed["confidence"][~fits].isna().all()


def test_without_an_assessment_no_confidence_is_shown(senses, tmp_path):
    result = cs.cluster(senses[::3], 3, encode=ENCODE, method="k-means", assess=False)
    assert not {"confidence", "confidence in words", "probability"} & set(result.frame)
    folder = result.save(tmp_path / "run")
    assert "confidence" not in read_rows(folder / "labels.csv")[0]
    assert json.loads((folder / "summary.json").read_text("utf-8"))["mean_confidence"] is None
    with open_workbench(result, folder) as workbench:
        state = workbench.describe_state()
        assert state["confidence"] is None
        assert {group["confidence"] for group in state["groups"]} == {None}
