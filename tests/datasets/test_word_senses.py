"""Word senses: content of the file, the views built from it, and the script that builds the file."""

import gzip
import pickle
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from consilience.datasets import load_word_senses, read_word_senses

PACKAGE = files("consilience.datasets")
TOOL = Path(__file__).parents[2] / "tools" / "build_word_senses.py"
WORDNET = Path("/usr/share/wordnet")
SIZES = {
    "noun.animal": 555,
    "noun.artifact": 703,
    "noun.body": 162,
    "noun.food": 128,
    "noun.location": 312,
    "noun.person": 504,
    "noun.plant": 490,
    "noun.substance": 161,
}


@pytest.fixture(scope="module")
def senses():
    return read_word_senses()


@pytest.fixture(scope="module")
def data():
    return load_word_senses()


def row_words(views, view, row):
    block = views[view][[row]].tocoo()
    return dict(zip(views.feature_names(view)[block.coords[1]].tolist(), block.data.tolist(), strict=True))


def test_texts_have_unique_ids_and_neither_examples_nor_underscores(senses):
    assert len(senses.ids) == len(senses.lemmas) == len(senses.glosses) == len(senses.kinds) == 3015
    assert list(senses.ids) == sorted(set(senses.ids))
    assert {kind: senses.kinds.count(kind) for kind in SIZES} == SIZES
    assert all(senses.glosses)
    assert not any('"' in gloss for gloss in senses.glosses)
    assert not any("_" in lemmas for lemmas in senses.lemmas)
    firsts = [lemmas.split(", ")[0].replace(" ", "_").lower() for lemmas in senses.lemmas]
    assert firsts == [name.rsplit(".", 2)[0] for name in senses.ids]


def test_synset_matches_wordnet(senses):
    row = senses.ids.index("horse.n.01")
    assert senses.lemmas[row] == "horse, Equus caballus"
    assert senses.glosses[row] == "solid-hoofed herbivorous quadruped domesticated since prehistoric times"
    assert senses.kinds[row] == "noun.animal"
    assert {link for link in senses.links if "horse.n.01" in link} >= {
        ("horse.n.01", "equine.n.01"),
        ("horse.n.01", "equus.n.01"),
        ("racehorse.n.01", "horse.n.01"),
    }


def test_links_are_between_known_ids_each_once_in_one_direction(senses):
    ids, links = set(senses.ids), set(senses.links)
    assert len(links) == len(senses.links) == 3664
    assert all(source in ids and target in ids for source, target in links)
    assert not any(source == target for source, target in links)
    assert not any((target, source) in links for source, target in links)


def test_labels_are_kinds_and_views_have_names(data, senses):
    views, y = data
    assert data.target_names == tuple(SIZES)
    assert [data.target_names[label] for label in y] == list(senses.kinds)
    assert views.ids.tolist() == list(senses.ids)
    assert "WORDNET-LICENSE.txt" in data.license
    assert views.names == ("gloss", "lemma", "links")
    for name, block in views.items():
        assert block.shape == (3015, len(set(views.feature_names(name))))
        assert block.dtype.kind == "i"
        assert block.data.min() > 0
    assert views.feature_names("links").tolist() == views.ids.tolist()


def test_links_view_matches_loop_over_links(data, senses):
    position = {name: i for i, name in enumerate(senses.ids)}
    expected = np.zeros((3015, 3015), dtype=int)
    for source, target in senses.links:
        expected[position[source], position[target]] = 1
        expected[position[target], position[source]] = 1
    assert np.array_equal(data.views["links"].toarray(), expected)


def test_words_and_letters_of_synset(data, senses):
    row = senses.ids.index("horse.n.01")
    words = ["solid", "hoofed", "herbivorous", "domesticated", "prehistoric", "times"]
    assert row_words(data.views, "gloss", row) == dict.fromkeys(words, 1)  # no other synset is a "quadruped"
    letters = [" ho", "hor", "ors", "rse", "se ", " eq", "equ", "quu", "uus"]
    letters += [" ca", "cab", "aba", "bal", "all", "llu", "lus"]
    assert row_words(data.views, "lemma", row) == dict.fromkeys(letters, 1) | {"us ": 2}
    assert not any("," in name for name in data.views.feature_names("lemma"))


def test_synset_has_views_with_data_and_no_word_of_its_own(data):
    views = data.views
    for view in ("gloss", "lemma"):
        assert np.bincount(views[view].indices, minlength=views[view].shape[1]).min() == 2
    for v, (_, block) in enumerate(views.items()):
        assert np.array_equal(views.present[:, v], block.sum(axis=1) > 0)
    assert views.present.any(axis=1).all()
    assert views.present.sum(axis=0).tolist() == [2983, 3015, 2782]


def test_file_is_small_plain_text_with_its_license():
    notice = (PACKAGE / "WORDNET-LICENSE.txt").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in notice
    packed = (PACKAGE / "word_senses.tsv.gz").read_bytes()
    assert len(packed) < 400_000
    lines = gzip.decompress(packed).decode("utf-8").splitlines()
    assert lines[0].split("\t") == ["id", "kind", "lemmas", "gloss", "links"]
    assert {line.count("\t") for line in lines} == {4}


def test_reading_unpickles_nothing(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the data was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    assert len(read_word_senses().ids) == len(load_word_senses().views)


def test_file_can_be_rebuilt(tmp_path):
    source = WORDNET / "data.noun"
    if not source.exists():
        pytest.skip("WordNet's files are not installed (Debian: wordnet-base)")
    if source.stat().st_size != 15_300_280:
        pytest.skip("WordNet's files are of another edition than 3.0")
    made = [tmp_path / "one.tsv.gz", tmp_path / "two.tsv.gz"]
    for path in made:
        subprocess.run([sys.executable, str(TOOL), str(WORDNET), str(path)], check=True)
    first, second = (path.read_bytes() for path in made)
    assert first == second
    # compare texts, because other versions of zlib compress differently
    assert gzip.decompress(first) == gzip.decompress((PACKAGE / "word_senses.tsv.gz").read_bytes())
