"""`consilience.cluster`: one call from data of any form to clusters, the same as on the command line."""

import json
import logging
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from stage import read_labels, run_successfully, write_undated

WORDS = (
    ("sweet", "fruit", "juice", "ripe"),
    ("steel", "blade", "handle", "sharp"),
    ("cotton", "shirt", "sleeve", "soft"),
)


ENCODE = {"description": "words"}  # nothing to choose, which saves time
QUICK = {"method": "k-means", "encode": ENCODE, "assess": False}


@pytest.fixture(scope="module")
def products():
    """A table of 90 products of three kinds: a code, a price, a color and a description."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], 30)
    texts = [" ".join(["a", "product", "with", *rng.choice(WORDS[k], 5), *rng.choice(WORDS[k], 3)]) for k in kind]
    return pd.DataFrame(
        {
            "sku": [f"P{i:03d}" for i in range(90)],
            "price": np.round(np.array([3.0, 40.0, 15.0])[kind] + rng.normal(size=90), 2),
            "color": np.array(["red", "grey", "blue"])[np.where(rng.random(90) < 0.9, kind, rng.integers(3, size=90))],
            "description": texts,
            "kind": np.array(["food", "knife", "cloth"])[kind],
        }
    )


@pytest.fixture(scope="module")
def result(products):
    return cs.cluster(products, 3, labels="kind", encode=ENCODE)


def test_table_is_split_into_views_and_clustered_and_its_frame_has_the_results(result, products):
    assert result.summary["scores"]["nmi"] > 0.95
    assert result.n_clusters == 3
    assert sum(result.sizes) == len(products) == len(result.labels)
    assert "description" in result.views.names
    assert result.ids.tolist() == products["sku"].tolist()
    frame = result.frame
    assert type(frame) is pd.DataFrame
    pd.testing.assert_frame_equal(frame[list(products)], products)
    assert frame["cluster"].tolist() == result.labels.tolist()
    assert frame["name"].tolist() == [result.names[label] for label in result.labels]
    assert {"confidence", "second", "cluster by description"} <= set(frame)


@pytest.fixture(scope="module")
def run_of_file(products, tmp_path_factory):
    """The folder of a run of the command, and the table that it has read."""
    path = tmp_path_factory.mktemp("files") / "products.csv"
    products.to_csv(path, index=False)
    folder = path.with_name("out")
    options = "-k", 3, "--labels", "kind", "--encode", "description=words", "--no-assess"
    run_successfully("cluster", path, *options, "--out", folder)
    return folder, path


def test_command_line_gives_the_same_labels(result, products, run_of_file):
    folder, path = run_of_file
    rows = read_labels(folder)
    assert [row["id"] for row in rows] == result.ids.tolist()
    assert [int(row["cluster"]) for row in rows] == result.labels.tolist()
    assert [row["name"] for row in rows] == [result.names[label] for label in result.labels]
    loaded = cs.load_run(folder)
    assert loaded.frame["description"].tolist() == products["description"].tolist()
    assert loaded.frame["price"].tolist() == products["price"].tolist()
    assert [int(label) for label in loaded.frame["cluster"]] == result.labels.tolist()
    assert list(loaded.views.names) == list(json.loads((folder / "summary.json").read_text())["views"])
    assert "<html" in loaded.report.to_html()
    assert loaded.predict(path).tolist() == result.predict(products).tolist()
    assert loaded.predict({"products": path}).tolist() == result.predict(products).tolist()


def test_polars_frame_gives_the_same_labels_and_a_polars_frame(result, products):
    polars = pytest.importorskip("polars")
    again = cs.cluster(polars.from_pandas(products), 3, labels="kind", encode=ENCODE, assess=False)
    assert again.labels.tolist() == result.labels.tolist()
    assert type(again.frame) is polars.DataFrame


def test_prediction_of_the_data_gives_its_labels(result, products):
    shuffled = products.sample(frac=1, random_state=1)
    predicted = result.predict(shuffled)
    by_id = dict(zip(result.ids.tolist(), result.labels.tolist(), strict=True))
    assert np.mean(predicted == [by_id[sku] for sku in shuffled["sku"]]) > 0.95
    frame = result.predict_frame(shuffled)
    assert frame["cluster"].tolist() == predicted.tolist()
    assert frame["name"].tolist() == [result.names[label] for label in predicted]
    assert frame["confidence"].between(0.9, 1).all()
    assert set(frame["confidence in words"]) == {"sure"}


def test_saved_run_is_loaded_and_changed_data_is_refused(result, products, tmp_path):
    folder = result.save(tmp_path / "run")
    loaded = cs.load_run(folder)
    assert (loaded.names, loaded.sizes, loaded.notes) == (result.names, result.sizes, result.notes)
    assert loaded.predict(products).tolist() == result.predict(products).tolist()
    pd.testing.assert_frame_equal(cs.load_run(folder, products).frame, result.frame)
    with pytest.raises(ValueError, match="changed since the model was fitted"):
        _ = cs.load_run(folder, products.assign(price=products["price"] + 1)).views
    with pytest.raises(FileExistsError, match="overwrite=True"):
        result.save(folder)
    with pytest.raises(FileNotFoundError, match="is not the folder of a run"):
        cs.load_run(tmp_path)


@pytest.mark.parametrize("of_files", [False, True])
def test_run_with_labels_and_seeds_in_memory_is_loaded(of_files, products, tmp_path):
    data, labels = products.drop(columns="kind"), {} if of_files else {"labels": products["kind"]}
    seeds = products["kind"].where(np.arange(90) % 5 == 0).tolist()
    if of_files:
        data.to_csv(tmp_path / "products.csv", index=False)
    result = cs.cluster(
        tmp_path / "products.csv" if of_files else data, 3, seeds=seeds, random_state=7, **labels, **QUICK
    )
    folder, again = result.save(tmp_path / "run"), () if of_files else (data,)
    if not of_files:
        with pytest.raises(ValueError, match=r"seeds in memory: .* cs\.load_run\(folder, data, seeds=seeds\)"):
            _ = cs.load_run(folder, data).report
    loaded = cs.load_run(folder, *again, seeds=seeds, **labels)
    assert write_undated(loaded.report) == write_undated(result.report)
    assert ("<title>90 products in 3 groups</title>" in loaded.report.to_html()) == of_files


def test_series_of_classes_are_joined_by_their_index(products):
    shuffled = products["kind"].sample(frac=1, random_state=1)
    result = cs.cluster(products.drop(columns="kind"), 3, labels=shuffled, seeds=shuffled[:30], **QUICK)
    assert result.summary["scores"]["nmi"] > 0.95
    seeds = result.summary["seeds"]
    assert [row["entities"] for row in seeds] == shuffled[:30].value_counts().sort_index().tolist()
    assert [row["in_cluster"] for row in seeds] == [row["entities"] for row in seeds]
    data = products.set_index("sku")  # views that lack some of the entities
    views = {"numbers": data[["price"]].iloc[:80], "text": data[["description"]].iloc[10:]}
    labels = data["kind"].sample(frac=1, random_state=1)
    assert cs.cluster(views, 3, labels=labels, encode={"text": "words"}, assess=False).summary["scores"]["nmi"] > 0.9


def test_classes_that_are_not_known_are_no_class(products):
    unknown = [None, float("nan"), "", pd.NA]
    seeds = [kind if i % 5 == 0 else unknown[i % 4] for i, kind in enumerate(products["kind"])]
    result = cs.cluster(products.drop(columns="kind"), 3, seeds=seeds, **QUICK)
    assert [row["class"] for row in result.summary["seeds"]] == ["cloth", "food", "knife"]
    assert sum(row["entities"] for row in result.summary["seeds"]) == 18


@pytest.mark.parametrize(("option", "take"), [("labels", list), ("seeds", np.asarray), ("labels", pd.Series)])
def test_classes_that_are_also_a_column_of_the_data_are_refused(products, option, take):
    with pytest.raises(ValueError, match=f"{option} are also the column 'kind' of the data.*{option}='kind'"):
        cs.cluster(products, 3, **{option: take(products["kind"])})


def test_mapping_of_objects_and_paths(products, tmp_path):
    numbers = products.set_index("sku")[["price"]]
    products[["sku", "description"]].to_csv(tmp_path / "texts.csv", index=False)
    data = {"numbers": numbers, "text": f"{tmp_path / 'texts.csv'}:description"}
    result = cs.cluster(data, 3, id_column="sku", method="k-means", assess=False)
    assert list(result.views.names) == ["numbers", "text"]
    assert result.ids.tolist() == products["sku"].tolist()


def test_constraints_in_memory_are_by_position_or_id_and_steps_are_logged(products, caplog):
    views, _ = cs.datasets.make_gaussian_views(30, separation=2, random_state=0)
    blocks = {name * 1000: block for name, block in views.items()}  # longer than names of files can be
    with caplog.at_level(logging.INFO, logger="consilience"):
        result = cs.cluster(blocks, 3, constraints=cs.Constraints([(0, 1)], [(0, 2)]), assess=False)
    assert any(message.startswith("fitted the model (") for message in caplog.messages)
    assert result.views.names == tuple(blocks)
    assert (result.summary["constraints"]["given"], result.summary["constraints"]["kept"]) == (2, 2)
    by_id = cs.Constraints([("P000", "P001")], [("P000", "P089")])
    result = cs.cluster(products, 3, constraints=by_id, encode=ENCODE, assess=False)
    assert result.summary["constraints"]["kept"] == 2


def test_ids_that_do_not_match_are_refused(products):
    others = products.assign(sku=[f"Z{i}" for i in range(90)])
    message = r"shares no id.* is the id column right \(id_column\)\? .* give mapping=\[FILE\]"
    with pytest.raises(ValueError, match=message):
        cs.cluster({"a": products[["sku", "price"]], "b": others[["sku", "description"]]}, 3, id_column="sku")


def test_large_table_of_all_columns_is_not_compared(products, tune):
    tune("pipeline.single_views", max_cells=1000)
    result = cs.cluster(products, 3, labels="kind", encode=ENCODE, assess=False)
    assert any(note.startswith("Not compared with views side by side: sparse and dense") for note in result.notes)
    assert "views side by side" not in [row["method"] for row in result.summary["comparison"].rows()]
    assert "description alone" in [row["method"] for row in result.summary["comparison"].rows()]


LONG_TEXT = "x" * 1_000_000


def test_long_texts_take_little_memory(result, tmp_path):
    """A category, a class and the name of a column are long; the last as one of many columns."""
    result.report.save(tmp_path / "first.html")  # imports what the next one needs, which is slow when it is traced
    columns = {
        LONG_TEXT: [i % 3 + i / 1000 for i in range(150)],
        "color": [["red", "green", "blue"][i % 3] for i in range(150)],
        "kind": ["abc"[i % 3] for i in range(150)],
        **{f"number{j}": [(i * 7 + j) % 11 + i / 100 for i in range(150)] for j in range(60)},
    }
    columns["color"][4] = columns["kind"][7] = LONG_TEXT
    tracemalloc.start()
    try:
        long = cs.cluster(pd.DataFrame(columns), 3, labels="kind", method="k-means", assess=False)
        long.report.save(tmp_path / "report.html")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 150 * len(LONG_TEXT)  # an array of strings of that length takes four times as much


def test_notes_name_arguments_of_python(products):
    data = products.assign(url="https://shop.example/" + products["sku"])
    notes = cs.cluster(data, 3, **QUICK).notes
    assert any(
        note.endswith('To choose columns yourself, use data={"NAME": frame[["COLUMN", "COLUMN"]]}.') for note in notes
    )
    assert any(note.endswith('Use a column anyway with kinds={"COLUMN": "KIND"}.') for note in notes)


def test_representations_and_report_of_a_call(result):
    assert repr(result).splitlines()[0].startswith("90 entities in 3 clusters; views: ")
    assert all(name in repr(result) for name in result.names)
    html = result._repr_html_()
    assert "<table>" in html
    assert html.count("<tr>") == 4
    page = result.report.to_html()
    assert "Rows are identified by the column" in page
    assert not re.search(r" \(?--[a-z]+ ", page), "the page speaks of Python"


@pytest.mark.parametrize("library", ["pandas", "polars", "files"])
def test_frame_of_several_tables_has_the_columns_of_all(library, products, tmp_path):
    shop = products[["sku", "price", "color"]].sample(80, random_state=0)
    texts = products[["sku", "description"]].assign(color="as described")
    data = {"shop": shop, "texts": texts}
    if library == "polars":
        polars = pytest.importorskip("polars")
        data = {name: polars.from_pandas(frame) for name, frame in data.items()}
    if library == "files":
        for name, frame in data.items():
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        data = {name: tmp_path / f"{name}.csv" for name in data}
    result = cs.cluster(data, 3, id_column="sku", method="k-means", assess=False)
    frame = result.frame
    assert type(frame).__module__.partition(".")[0] == {"files": "consilience"}.get(library, library)
    table = pd.DataFrame({name: list(frame[name]) for name in list(frame if library == "files" else frame.columns)})
    assert list(table)[:6] == ["sku", "price", "color", "description", "color_2", "cluster"]
    assert table["sku"].tolist() == result.ids.tolist()
    assert table["cluster"].tolist() == result.labels.tolist()
    expected = products.set_index("sku").loc[table["sku"]].reset_index()
    is_sold = expected["sku"].isin(shop["sku"])
    assert table["description"].tolist() == expected["description"].tolist()
    np.testing.assert_array_equal(table["price"].astype(float), expected["price"].where(is_sold))
    assert table["color"][is_sold].tolist() == expected["color"][is_sold].tolist()
    assert table["color"][~is_sold].isna().all()
    new = result.predict_frame({"shop": data["shop"]})
    assert list(new if library == "files" else new.columns)[:4] == ["sku", "price", "color", "cluster"]


def test_loaded_run_has_the_clusters_without_unconfirmed_views_and_its_frame_no_matrices(products, tmp_path):
    noise = np.random.default_rng(0).normal(size=(90, 5))
    data = {"shop": products.drop(columns="kind"), "noise": noise}
    result = cs.cluster(data, 3, encode=ENCODE)
    assert list(result.frame)[:5] == ["sku", "price", "color", "description", "cluster"]
    assert "without noise" in result.frame
    folder = result.save(tmp_path / "run")
    loaded = cs.load_run(folder, data)
    pd.testing.assert_frame_equal(loaded.frame, result.frame)
    again = loaded.save(tmp_path / "again")
    assert (again / "labels.csv").read_bytes() == (folder / "labels.csv").read_bytes()


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of 24 blue and 24 red pictures, with a table of captions."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("pictures") / "photos"
    folder.mkdir()
    for i in range(48):
        color = np.array([[40, 60, 200], [200, 50, 40]])[i % 2]
        pixels = np.clip(color + rng.normal(scale=12, size=(40, 40, 3)), 0, 255)
        image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i:02}.png")
    words = [["waves", "sea", "boat"], ["evening", "dusk", "clouds"]]
    captions = [f"{' '.join(rng.choice(words[i % 2], 2))} on day {i}" for i in range(48)]
    return folder, pd.DataFrame({"file": [f"{i:02}.png" for i in range(48)], "caption": captions})


def test_clusters_of_pictures_are_named_by_their_captions(photos):
    folder, captions = photos
    result = cs.cluster({"caption": captions, "photo": folder}, 2, assess=False)
    assert {"sea", "boat", "waves"} & set(result.names[result.labels[0]].split(", "))
    assert not any("blue" in name or "red" in name for name in result.names)


def test_clusters_of_pictures_alone_are_named_by_colors(photos):
    result = cs.cluster(photos[0], 2, assess=False)
    assert "blue" in result.names[result.labels[0]]
    assert "red" in result.names[result.labels[1]]
    assert not any("top" in name or "bottom" in name for name in result.names)


def test_id_column_of_filtered_frames_joins_them(products):
    """The index of a filtered frame has gaps, but tells nothing that a column called id does not."""
    prices = products.rename(columns={"sku": "id"})[["id", "price"]].iloc[5:]
    texts = products.rename(columns={"sku": "id"})[["id", "description"]].sort_values("description", ignore_index=True)
    result = cs.cluster({"price": prices, "text": texts}, 3, method="k-means", assess=False)
    frame = result.frame.set_index("id").loc[products["sku"]]
    assert frame["description"].tolist() == products["description"].tolist()
    np.testing.assert_array_equal(frame["price"], products["price"].where(np.arange(90) >= 5))


@pytest.mark.parametrize("name", [None, "part"])
def test_id_column_replaces_an_index_that_repeats(products, name):
    halves = pd.concat([products[:45], products[45:].reset_index(drop=True)]).rename_axis(name)
    data = halves.drop(columns="kind")
    result = cs.cluster(data, 3, id_column="sku", labels=halves["kind"], **QUICK)
    assert result.ids.tolist() == products["sku"].tolist()
    assert result.summary["scores"]["nmi"] > 0.95
    pd.testing.assert_frame_equal(result.frame[list(data)], data)
    with pytest.raises(ValueError, match=r"view 'data' has '0' more than once in its index.*reset_index\(drop=True\)"):
        cs.cluster(data, 3, id_column="sku", labels=products["kind"])


def test_index_that_repeats_is_refused_unless_rows_are_matched_by_position(products):
    numbers = pd.concat([products[:45], products[45:].reset_index(drop=True)])[["price"]]
    result = cs.cluster({"price": numbers, "text": products["description"]}, 3, method="k-means", assess=False)
    assert result.ids.tolist() == list(range(90))
    assert (
        result.frame[["description", "price"]].to_numpy().tolist()
        == products[["description", "price"]].to_numpy().tolist()
    )
    with pytest.raises(ValueError, match=r"data\['price'\] has the id '0' more than once in its index"):
        cs.cluster({"price": numbers, "text": products["description"][::-1]}, 3)
    message = (
        r"data has the id 'red' more than once in its index: .*name an id column \(id_column\), or call reset_index"
    )
    with pytest.raises(ValueError, match=message):
        cs.cluster(products.set_index("color"), 3)
