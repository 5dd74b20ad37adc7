"""Views may have any name: what separates names and values on the command line means nothing in Python."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import consilience as cs
from consilience.files.spec import join_pair, split_pair

NAMES = ["x=y", "=x", "x:y", "x,y", "x+y", "a/b", "a//b", "..", "x#y", "x'y", 'x"y', '"x"=', " x y ", "a.b", "-x", "*"]


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    centers = np.repeat([0.0, 6.0], 15)[:, None]
    return {"numbers": centers + rng.normal(size=(30, 2)), "more": centers + rng.normal(size=(30, 3))}


TEXTS = [*(f"sweet red fruit {i}" for i in range(15)), *(f"sharp steel blade {i}" for i in range(15))]


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_views_of_any_name_are_clustered_saved_loaded_predicted_and_drawn(kind, blocks, tmp_path):
    assert [split_pair(join_pair(name, "a=b")) for name in NAMES] == [(name, "a=b") for name in NAMES]
    names = NAMES if kind == "numbers" else NAMES[::3]
    data = dict.fromkeys(names, blocks["numbers"] if kind == "numbers" else TEXTS) | {"other": blocks["more"]}
    encode = {} if kind == "numbers" else dict.fromkeys(names, "words")
    kinds = dict.fromkeys(names, kind)
    result = cs.cluster(data, 2, kinds=kinds, encode=encode, method="k-means", assess=False)
    assert result.views.names == (*names, "other")
    loaded = cs.load_run(result.save(tmp_path / "run"), data)
    assert loaded.predict(data).tolist() == result.labels.tolist()
    assert loaded.views.names == (*names, "other")
    loaded.report.save(tmp_path / "report.html")
    plt.close(loaded.plot().figure_)
    assert loaded.update(data).views.names == (*names, "other")


def test_options_of_one_view_of_any_name(blocks, tmp_path):
    data = dict.fromkeys(("x=y", "a/b", " x "), blocks["numbers"]) | {"other": blocks["more"]}
    families = dict.fromkeys(data, "gaussian-full") | {"other": "gaussian"}
    options = {"n_init": 2, **{f"families.{name}": "gaussian-full" for name in data if name != "other"}}
    result = cs.cluster(data, 2, method="co-em", options=options, assess=False)
    assert result.model.families == families
    assert cs.load_run(result.save(tmp_path / "run")).update(data).model.families == families


def test_files_are_views_of_any_name(blocks, tmp_path):
    for part, block in blocks.items():
        np.save(tmp_path / f"{part}.npy", block)
    data = dict.fromkeys(("x=y", "a/b", " x ", '"'), tmp_path / "numbers.npy") | {"other": str(tmp_path / "more.npy")}
    result = cs.cluster(data, 2, kinds=dict.fromkeys(data, "numbers"), method="k-means", assess=False)
    loaded = cs.load_run(result.save(tmp_path / "run"))
    assert loaded.views.names == result.views.names == tuple(data)


def test_subclasses_of_strings_are_strings(blocks, tmp_path):
    class Word(str):
        __slots__ = ()

    table = cs.Table({"text": np.array(TEXTS, object), "class": np.repeat(["a", "b"], 15)})
    for word in (np.str_, Word):
        result = cs.cluster(
            {word("table"): table, "more": blocks["more"]},
            2,
            labels=word("class"),
            kinds={word("more"): word("numbers")},
            method=word("k-means"),
            assess=False,
            title=word("Groups"),
        )
        assert result.summary["scores"]["nmi"] == 1
        folder = result.save(tmp_path / word.__name__)
        assert Path(folder, "report.html").exists()
    assert cs.cluster(table, np.int64(2), describe=np.str_("class"), assess=False).summary["inputs"]["k"] == 2
