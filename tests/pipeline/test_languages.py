"""Notes on the languages of texts, and on groups that follow them; saved models encode new texts as in the fit."""

import numpy as np
import pytest

import consilience as cs
from consilience.pipeline.languages import describe_following, describe_languages

PATTERNS = {
    "French": "le {0} était très bien, mais nous n'avons pas aimé {1}",
    "German": "das {0} war sehr gut, aber {1} hat uns nicht gefallen",
    "English": "the {0} was very good, but we did not like {1}",
}
WORDS = {
    "French": "lit bain drap salle vin plat pain sel",
    "German": "Bett Bad Tuch Raum Wein Platte Brot Salz",
    "English": "bed bath towel room wine plate bread salt",
}


def write_reviews(language, n=40):
    rng = np.random.default_rng(0)
    return [PATTERNS[language].format(*rng.choice(WORDS[language].split(), 2, replace=False)) for _ in range(n)]


def make_languages(**numbers):
    names = [("" if name == "unknown" else None if name == "missing" else name) for name in numbers]
    return np.repeat(np.array(names, dtype=object), list(numbers.values()))


def test_languages_are_named_with_their_numbers():
    languages = make_languages(English=1500, French=120, Czech=3, unknown=40, missing=90)
    assert describe_languages("review", languages) == (
        "The texts of 'review' are in English (1,500) and French (120); the other 43 are in other languages or not "
        "recognized."
    )
    assert describe_languages("review", make_languages(French=7, German=7, English=9)) == (
        "The texts of 'review' are in English (9), French (7) and German (7)."
    )


def test_one_language_and_groups_that_follow_it_by_chance_are_not_noted():
    mixed = {"English": 900, "French": 30}
    for numbers in ({"English": 90}, {"French": 90}, {"unknown": 90}, mixed, {"a": 4, "b": 4}):
        assert describe_languages("review", make_languages(**numbers)) is None
    rng = np.random.default_rng(0)
    languages = rng.choice(np.array(["English", "French"], dtype=object), 60)
    assert describe_following("review", languages, rng.integers(20, size=60)) is None


def repeat_groups(*rows):
    """Return languages and labels, from the numbers of texts of each language in each group."""
    languages = np.repeat(
        np.array(["English", "French", "German"][: len(rows)], dtype=object), [sum(row) for row in rows]
    )
    return languages, np.concatenate([np.repeat(np.arange(len(row)), row) for row in rows])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[97, 3], [3, 97]], "97% of its texts are in the language of most texts of their group"),
        ([[50, 50, 0, 0], [0, 4, 48, 48]], "98% of its texts are in the language of most texts of their group"),
        ([[80, 0], [78, 2], [0, 80]], "99% of its texts are in the group of most texts of their language"),
        ([[50, 50], [50, 50]], None),
        ([[70, 30], [30, 70]], None),
        ([[100, 0], [4, 0]], None),
        ([[50, 50]], None),
    ],
)  # fmt: skip
def test_groups_that_follow_the_language_are_noted(rows, message):
    languages, labels = repeat_groups(*rows)
    note = describe_following("review", languages, labels)
    if message is None:
        assert note is None
    else:
        assert note.startswith(f"The groups follow the language of 'review': {message}. ")
        assert "(--encode review=PATH)" in note
    outliers = np.full(len(labels), -1)
    assert describe_following("review", languages, outliers) is None
    unknown = np.full(len(labels), "", dtype=object)
    assert describe_following("review", unknown, labels) is None


@pytest.fixture(scope="module")
def result():
    texts = [text for language in PATTERNS for text in write_reviews(language)]
    return cs.cluster({"review": texts}, 3, assess=False, encode={"review": "words"})


def test_run_says_that_groups_follow_the_language(result):
    languages, following = [note for note in result.notes if "'review'" in note]
    assert languages == "The texts of 'review' are in English (40), French (40) and German (40)."
    assert following.startswith("The groups follow the language of 'review': 100% of its texts are in the language")
    assert '(encode={"review": "PATH"})' in following
    assert "The groups follow the language of" in result.report.to_html()
    stop_words = {"le", "était", "mais", "nous", "pas", "das", "war", "aber", "uns", "nicht", "the", "was", "not"}
    assert not stop_words & set(", ".join(result.names).replace(", ", " ").split())
    assert not stop_words & set(result.views.feature_names("review"))


def test_saved_model_encodes_new_texts_as_in_the_fit(result, tmp_path):
    loaded = cs.load_run(result.save(tmp_path / "run"))
    assert (loaded.notes, loaded.names) == (result.notes, result.names)
    new = {"review": ["le lit et les draps", "das Bett und der Wein", None, "the bread, et le pain"]}
    with pytest.warns(UserWarning, match="Entity 2 has no data"), pytest.warns(UserWarning, match="fit no cluster"):
        assert loaded.predict(new).tolist() == result.predict(new).tolist()
    everything = {"review": [text for language in PATTERNS for text in write_reviews(language)]}
    assert loaded.predict(everything).tolist() == result.labels.tolist()


def test_english_texts_are_not_noted():
    texts = write_reviews("English") + ["the engine of the car is old and it needs a wheel"] * 40
    assert not any("language" in note for note in cs.cluster({"review": texts}, 2, assess=False).notes)
