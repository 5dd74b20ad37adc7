"""The folder of a result from memory is complete: it is shown, saved and predicted with wherever it is moved."""

import shutil
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.files import KnownClasses
from consilience.persist import load, save
from stage import assert_refused, run_command, run_successfully, write_undated
from waiting import HANG_LIMIT

KINDS = np.repeat(["fruit", "knife", "shirt"], 15)
WORDS = {"fruit": "sweet red ripe juice", "knife": "sharp steel blade edge", "shirt": "soft cotton sleeve wear"}


@pytest.fixture(scope="module")
def products():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "sku": [f"P{i:02d}" for i in range(45)],
            "price": np.repeat([3.0, 40.0, 15.0], 15) + rng.normal(size=45).round(2),
            "listed": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 45), "D"),
            "text": [f"{WORDS[kind]} {i}" for i, kind in enumerate(KINDS)],
            "kind": KINDS,
            "age": rng.normal(size=45),
        }
    )


@pytest.fixture(scope="module")
def result(products):
    return cs.cluster(products, 3, labels="kind", describe=["age"], method="k-means", assess=False)


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    first = result.save(tmp_path_factory.mktemp("runs") / "first")
    return first.rename(first.with_name("moved"))


def check_complete(folder, result):
    """Check that a folder is enough for everything that a result shows."""
    loaded = cs.load_run(folder)
    assert write_undated(loaded.report) == write_undated(result.report)
    assert repr(loaded) == repr(result)
    np.testing.assert_array_equal(loaded.map, result.map)
    assert loaded.views.names == result.views.names
    plt.close(loaded.plot().figure_)
    return loaded


def test_moved_folder_is_complete(folder, result, products, tmp_path):
    loaded = check_complete(folder, result)
    frame = loaded.frame
    assert frame["text"].tolist() == products["text"].tolist()
    assert frame["cluster"].tolist() == result.labels.tolist()
    assert [column.name for column in loaded.columns] == [column.name for column in result.columns]
    assert loaded.predict(products).tolist() == result.labels.tolist()
    renamed = loaded.rename({0: "first"})
    assert check_complete(renamed.save(tmp_path / "again"), renamed).names[0] == "first"


def build_inputs(name):
    """Return data in memory and the options for it."""
    rng = np.random.default_rng(1)
    numbers = np.repeat([0.0, 9.0, 18.0], 15)[:, None] + rng.normal(size=(45, 3))
    texts = [WORDS[kind] for kind in KINDS]
    seeds = np.where(np.arange(45) % 5 == 0, KINDS, None)
    ids = [f"P{i}" for i in range(45)]
    links = pd.DataFrame({"source": ids, "target": [ids[i // 15 * 15 + i * 7 % 15] for i in range(45)]})
    named = pd.DataFrame({"id": ids, "text": texts})
    return {
        "matrices and constraints": ([numbers, numbers[:, :2]], {"constraints": cs.Constraints([[0, 1]], [[0, 30]])}),
        "a list and seeds": (texts, {"seeds": seeds}),
        "links and descriptions": (
            {"text": named, "links": links},
            {"describe": {"age": numbers[:, 0], "kind": KINDS}},
        ),
        "views": (cs.Views({"a": numbers, "b": numbers[:, :2]}), {"method": "k-means"}),
    }[name]


@pytest.mark.parametrize("name", ["matrices and constraints", "a list and seeds", "links and descriptions", "views"])
def test_folder_has_all_that_was_in_memory(name, tmp_path):
    data, options = build_inputs(name)
    result = cs.cluster(data, 3, assess=False, **options)
    check_complete(result.save(tmp_path / "run"), result)


def test_function_is_needed_for_new_texts_only(products, tmp_path):
    def count_letters(texts):
        return np.array([[text.count(letter) for letter in "aeioustr"] for text in texts], dtype=float)

    encode = {"text": count_letters}
    data = {"text": products["text"], "price": products[["price"]]}
    result = cs.cluster(data, 3, encode=encode, method="k-means", assess=False)
    folder = result.save(tmp_path / "run")
    assert "count_letters" not in (folder / "run.toml").read_text(encoding="utf-8")
    check_complete(folder, result)
    with pytest.raises(ValueError, match="the texts were encoded by the Python function"):
        cs.load_run(folder).predict(data)
    with pytest.raises(ValueError, match=r"a Python function has encoded 'text', which .* does not contain"):
        _ = cs.load_run(folder, data).views
    loaded = cs.load_run(folder, data, encode=encode)
    assert loaded.predict(data).tolist() == result.labels.tolist()
    pd.testing.assert_frame_equal(loaded.frame, result.frame)


def test_commands_take_the_folder(folder, tmp_path):
    run_successfully("report", folder, "--out", tmp_path / "report.html")
    run_successfully("figure", folder, "--kind", "map", "--out", tmp_path / "map.png")
    (tmp_path / "kinds.csv").write_text("kind\nfruit\n")
    ran = run_command("report", folder, "--labels", tmp_path / "kinds.csv", "--out", tmp_path / "other.html")
    assert_refused(ran, "was made from data in memory, to which labels")


def test_workbench_opens_the_folder(products, tmp_path):
    result = cs.cluster(products, 3, labels="kind", method="spectral", assess=False)
    loaded = cs.load_run(result.save(tmp_path / "run"))
    with loaded.open(browser=False, wait=False) as running:
        assert running.folder == tmp_path / "run"
        running.workbench.wait_until_ready(HANG_LIMIT)
        assert running.workbench.snapshot.clustering.labels.tolist() == result.labels.tolist()


def test_folder_may_leave_the_data_out(result, folder, products, tmp_path):
    without = result.save(tmp_path / "run", include_data=False)
    assert not (without / "data.zip").exists()
    loaded = cs.load_run(without)
    assert loaded.labels.tolist() == result.labels.tolist()
    with pytest.raises(ValueError, match=r"made from data in memory, which it does not contain: give the data again"):
        _ = loaded.views
    assert cs.load_run(without, products).views.names == result.views.names
    # further classes need the data
    with pytest.raises(ValueError, match=r"have to be joined: give the data, too, cs\.load_run\(folder, data"):
        _ = cs.load_run(folder, labels=KINDS).report
    assert "<html" in cs.load_run(folder, products, labels="kind", describe=["age"]).report.to_html()


def test_run_of_files_that_replaces_it_removes_the_data(result, products, tmp_path):
    products.to_csv(tmp_path / "products.csv", index=False)
    of_files = cs.cluster(tmp_path / "products.csv", 3, method="k-means", assess=False)
    folder = result.save(tmp_path / "run")
    of_files.save(folder, overwrite=True)
    assert not (folder / "data.zip").exists()
    assert cs.load_run(folder).views.names == of_files.views.names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"what": "consilience model"}, "does not have the data of a run"),
        ({"data": "another"}, "are of different runs"),
    ],
)
def test_other_files_are_refused(change, message, folder, tmp_path):
    copy = copy_run(folder, {**load(folder / "data.zip"), **change}, tmp_path / "copy")
    with pytest.raises(ValueError, match=message):
        _ = cs.load_run(copy).report


def copy_run(folder, stored, copy):
    """Write what a loaded run needs to another folder, with other data."""
    copy.mkdir()
    for name in ("labels.csv", "model.zip", "summary.json"):
        (copy / name).write_bytes((folder / name).read_bytes())
    save(stored, copy / "data.zip")
    return copy


def misplace(stored):
    """Return entities in rows that do not exist."""
    for rows in stored["entities"].rows.values():
        rows[0] = 45
    return {}


def widen(stored):
    """Return views of which one claims ten billion columns."""
    blocks = dict(stored["views"].items())
    name = next(iter(blocks))
    return {"views": cs.Views({**blocks, name: sp.csr_array((len(stored["views"]), 10**10))})}


def change_reading(stored, *known_classes):
    return {"reading": replace(stored["reading"], known_classes=list(known_classes))}


def change_content(stored, name, **changes):
    """Return the content of data.zip with other attributes of a view, which is named or has a column of this name."""
    contents = [
        replace(content, **changes) if name in (content.name, *(content.columns or ())) else content
        for content in stored["reading"].contents
    ]
    return {"reading": replace(stored["reading"], contents=contents)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: {"views": 3}, "it has no Views"),
        (lambda stored: {"views": stored["views"][:9]}, "it is not of the 45 entities"),
        (lambda stored: {"layout": stored["layout"][:9]}, "it has no position on the map"),
        (lambda stored: {"classes": stored["classes"][:9]}, "it does not have a class"),
        (lambda stored: {"entities": stored["reading"]}, "it has no Entities"),
        (lambda _: {"classes": 3}, ""),
        (misplace, "it has no row of '.*' for each entity"),
        (widen, "has 10,000,000,000 columns, which are not those of the model"),
        (lambda stored: change_content(stored, "price", readings={"price": 5}), "the readings of .* are none"),
        (lambda stored: change_content(stored, "text", data=["a"] * 45), "the data of 'text' is not 45 rows of text"),
        (lambda stored: change_content(stored, "text", n_rows="45"), "the number of rows of 'text' is none"),
        (lambda stored: change_content(stored, "text", kind="image"), "there is no kind 'image' of 'text'"),
        (lambda _: {"encoding_tables": 5}, "its tables of encodings are none"),
        (lambda stored: change_reading(stored, 3), "its known classes are none"),
        (
            lambda stored: change_reading(stored, KnownClasses("", KINDS, KINDS[:3], "")),
            "its known classes have no ids",
        ),
        (lambda _: {"encode": {"zz": "words"}}, "it encodes a view that it does not have"),
        (lambda _: {"encode": {"text": "/models/unknown"}}, "there is no encoding '/models/unknown'"),
        (lambda stored: {"layout": np.full_like(stored["layout"], np.nan)}, "it has no position on the map"),
        (lambda _: {"thumbnails": ["/home/user/secret.jpg"]}, "it does not have a small picture for each entity"),
    ],
)
def test_data_that_does_not_fit_is_refused(change, message, folder, tmp_path):
    stored = load(folder / "data.zip")
    copy = copy_run(folder, {**stored, **change(stored)}, tmp_path / "copy")
    with pytest.raises(ValueError, match=f"data.zip is damaged: .*{message}"):
        _ = cs.load_run(copy).views


@pytest.fixture(scope="module")
def photo_run(tmp_path_factory):
    """The folder of a run of pictures that are gone, and the report that it had; the workbench encodes them again."""
    image = pytest.importorskip("PIL.Image")
    tmp_path = tmp_path_factory.mktemp("photos")
    photos, rng = tmp_path / "photos", np.random.default_rng(0)
    photos.mkdir()
    for i in range(24):
        color = np.array([[40, 60, 200], [200, 50, 40]])[i % 2]
        pixels = np.clip(color + rng.normal(scale=12, size=(20, 20, 3)), 0, 255)
        image.fromarray(pixels.astype(np.uint8)).save(photos / f"{i:02}.png")
    captions = pd.DataFrame({"file": [f"{i:02}.png" for i in range(24)], "caption": ["sea", "dusk"] * 12})
    data = {"caption": captions, "photo": photos}
    result = cs.cluster(data, 2, kinds={"caption": "names"}, method="co-em", assess=False)
    folder = result.save(tmp_path / "run")
    written = write_undated(result.report)
    shutil.rmtree(photos)
    return folder, written


def test_folder_has_small_versions_of_pictures(photo_run, tmp_path):
    folder, written = photo_run
    assert "data:image/jpeg" in written
    loaded = cs.load_run(folder)
    assert write_undated(loaded.report) == written
    again = loaded.save(tmp_path / "again")
    assert write_undated(cs.load_run(again).report) == written
    with loaded.open(browser=False, wait=False) as running:
        running.workbench.wait_until_ready(HANG_LIMIT)
        assert running.workbench.opened.thumbnails(0).startswith(b"\xff\xd8\xff")


def test_pictures_that_a_folder_names_are_not_opened(photo_run, tmp_path):
    """A folder may come from anywhere: its report shows no pictures of the machine on which it is opened."""
    folder, _ = photo_run
    stored = load(folder / "data.zip")
    names = np.array([str(tmp_path / "secret.png")] * 24, dtype=object)
    for data in ({"names": names, "folder": str(tmp_path)}, {"light": names}):
        forged = {**stored, **change_content(stored, "photo", data=data)}
        copy = copy_run(folder, forged, tmp_path / f"copy of {next(iter(data))}")
        with pytest.raises(ValueError, match="the data of 'photo' is not 24 rows of images"):
            _ = cs.load_run(copy).report
