"""Names that users give, names at all levels, and the noun for the entities."""

import json

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.files import ViewContent
from consilience.pipeline.config import read_config
from consilience.pipeline.names import choose_noun, match_names, read_names
from stage import assert_refused, run_command, write_csv


@pytest.fixture
def products():
    rng = np.random.default_rng(0)
    words = [
        ["steel", "knife", "blade", "sharp"],
        ["red", "apple", "sweet", "fruit"],
        ["chair", "garden", "seat", "oak"],
    ]
    titles = [" ".join(rng.permutation(words[label])) for label in np.repeat([0, 1, 2], 20)]
    return pd.DataFrame({"title": titles, "price": np.repeat([20.0, 1.0, 90.0], 20) + rng.normal(size=60)})


@pytest.fixture
def cluster(products):
    def cluster(**options):
        return cs.cluster(products, 3, assess=False, method="k-means", **options)

    return cluster


def test_names_replace_automatic_ones_everywhere(cluster, products, tmp_path):
    automatic = cluster()
    number = int(automatic.labels[0])
    result = cluster(names={number: "knives", automatic.names[automatic.labels[20]]: "fruit"})
    expected = ["knives"] * 20 + ["fruit"] * 20 + [automatic.names[automatic.labels[40]]] * 20
    assert result.frame["name"].tolist() == expected
    assert result.summary["names"] == result.names
    assert result.summary["given_names"] == {number: "knives", int(automatic.labels[20]): "fruit"}
    assert result.predict_frame(products)["name"].tolist() == expected
    assert "knives" in repr(result)
    assert result.report._facts.names == result.names
    loaded = cs.load_run(result.save(tmp_path / "run"), products)
    assert loaded.frame["name"].tolist() == expected
    assert (
        loaded.save(tmp_path / "again").joinpath("labels.csv").read_text() == (tmp_path / "run/labels.csv").read_text()
    )


def test_namer_gets_descriptions_and_names_files_count_more(cluster, tmp_path):
    seen = []

    def name(description):
        seen.append(description)
        return f"{description.terms[0].name}!" if description.number else 3

    path = tmp_path / "names.csv"
    path.write_text("cluster,size,name\n1,20,mine\n")
    result = cluster(namer=name, names=path)
    assert [description.number for description in seen] == [0, 1, 2]
    assert all(len(description.texts) == 5 for description in seen)
    assert all("elsewhere" in sentence for description in seen for sentence in description.differences)
    assert any(description.differences for description in seen)
    assert result.names == [seen[0].name, "mine", f"{seen[2].terms[0].name}!"]
    assert any("namer, for the cluster" in note and "must be a string, got int" in note for note in result.notes)
    assert result.summary["inputs"]["names"] == str(path)


def test_names_of_no_cluster_are_noted_and_those_of_another_told_apart(cluster):
    _, second, third = cluster().names
    result = cluster(names={7: "knives", "nothing": "more", 0: second.upper()})
    (note,) = [note for note in result.notes if "no cluster" in note]
    assert note.startswith("names: there is no cluster '7'; clusters are 0 to 2, the first is '")
    assert note.endswith("It is ignored.")
    assert result.names == [second.upper(), f"{second} (1)", third]


def test_results_are_renamed_without_fitting(cluster, products, tmp_path):
    result = cluster()
    renamed = result.rename({0: "knives"})
    assert renamed.names == ["knives", *result.names[1:]]
    assert renamed.model is result.model
    assert result.names[0] != "knives"
    again = cs.load_run(renamed.save(tmp_path / "run"), products).rename({"knives": "blades", 2: "knives"})
    assert again.names == ["blades", result.names[1], "knives"]
    assert set(again.frame["name"]) == set(again.names)
    assert again.summary["given_names"] == {"0": "blades", "2": "knives"}
    with pytest.raises(ValueError, match=r"names: there is no cluster '9'; clusters are 0 to 2, the first is 'knives'"):
        renamed.rename({9: "x"})
    with pytest.raises(ValueError, match=r"names: 'knives' is already the name of cluster 0: rename it, too"):
        renamed.rename({1: "Knives"})


@pytest.mark.parametrize(
    ("content", "suffix", "message"),
    [
        ("number,new\n0,x\n", "csv", r"must have columns 'cluster' .* and 'name' .*; it has 'number', 'new'"),
        ("cluster,name\n0,x\n1,X\n", "csv", r"gives the name 'x' to several clusters: give each a name of its own"),
        ("cluster,name\n0,x\n0,y\n", "csv", r"names the cluster '0' twice: 'x' and 'y'"),
        ("cluster,name\n0,\n1,a\n", "csv", r"cluster '0': the name of a cluster is empty"),
        ('{"0": 3}', "json", r"cluster '0': the name of a cluster must be a string, got int"),
        ('["a"]', "json", r"must have an object such as .*, got \['a'\]"),
        ('{"0": "a"', "json", r"cannot be read: "),
        pytest.param('{"0": ' + "[" * 100_000, "json", "cannot be read: its values are nested too deeply", id="nested"),
    ],
)
def test_unusable_files_of_names_are_refused_before_the_fit(content, suffix, message, tmp_path):
    path = tmp_path / f"names.{suffix}"
    path.write_text(content)
    with pytest.raises((ValueError, TypeError), match=rf"names\.{suffix} \(names\).*{message}"):
        cs.cluster("no such file.csv", names=path)


def test_namers_of_a_wrong_type_and_lacking_files_are_refused():
    with pytest.raises(
        TypeError, match="namer must be a function of a ClusterDescription that returns a name, got 'x'"
    ):
        cs.cluster("x.csv", namer="x")
    with pytest.raises(FileNotFoundError, match=r"there is no file nothing\.csv"):
        cs.cluster("x.csv", names="nothing.csv")


def test_files_of_names_are_read(tmp_path):
    table, mapping = tmp_path / "a.csv", tmp_path / "b.json"
    table.write_text("cluster,name\n 0,=1+2\nred apple,人工智能\n")
    mapping.write_text(json.dumps({"0": "=1+2", "red apple": "人工智能"}))
    assert read_names(str(table)) == read_names(str(mapping)) == {"0": "=1+2", "red apple": "人工智能"}
    assert match_names({"0": "a", "Red Apple": "b", "5": "c"}, ["knife", "red apple"]) == ({0: "a", 1: "b"}, ["5"])
    with pytest.raises(ValueError, match="gives cluster 0 two names: 'a' and 'b'"):
        match_names({"0": "a", "knife": "b"}, ["knife"])
    assert match_names({"0": "knife"}, ["knife"]) == ({}, [])


def test_file_of_names_is_in_the_settings_and_formulas_are_quoted(cluster, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("cluster,name\n0,=HYPERLINK(1)\n")
    result = cluster(names=path)
    folder = result.save(tmp_path / "run")
    assert f"--names={path}" in read_config(folder / "run.toml")
    assert ",'=HYPERLINK(1)" in (folder / "labels.csv").read_text()
    assert ",=HYPERLINK" not in (folder / "labels.csv").read_text()
    run = result._run  # levels have the names of clusters
    assert run.level_names[3] == run.cluster_names
    assert run.level_names[1] == ["all"]
    assert len(set(run.level_names[2])) == 2


NOUNS = [
    (["products.csv:title", "products.csv:price,size"], None, "products"),
    (["data/My Products 2024.v2.xlsx#Sheet1"], None, "products"),
    (["amazon_reviews-2023.parquet"], None, "reviews"),
    (["People.csv"], None, "people"),
    (["data['papers']"], None, "papers"),
    (["news.csv"], None, "items"),
    (["customers and orders.csv"], None, "items"),
    (["data"], None, "items"),
    (["clinic.csv", "genes.parquet"], "patient_id", "patients"),
    (["clinic.csv", "genes.parquet"], "patient", "patients"),
    (["clinic.csv", "genes.parquet"], "cityId", "cities"),
    (["clinic.csv", "genes.parquet"], "BOX ID", "boxes"),
    (["a.csv", "b.csv"], "android", "items"),
    (["recs.csv"], None, "items"),
    (["movie_recs_2024.csv"], None, "items"),
    (["cats.csv"], None, "cats"),
    (["words.csv"], None, "words"),
    (["a.csv", "b.csv"], "rec_id", "items"),
    (["a.csv", "b.csv"], "unique_id", "items"),
]


def test_nouns_come_from_the_only_file_or_the_id_column():
    def make_content(origin, kind="text"):
        return ViewContent(origin, origin, kind, None, 1, None)

    for origins, id_column, noun in NOUNS:
        contents = list(map(make_content, origins))
        assert choose_noun(contents, id_column) == noun
        links = [*contents, make_content("citations.csv", "links")]
        assert choose_noun(links, id_column) == noun, "files of links do not count"


def test_dates_and_times_are_early_and_late_in_names():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 30)
    hours = 7 + 9 * labels + rng.normal(size=60) * 0.5
    days = np.datetime64("2004-05-06") + (900 * labels + rng.normal(size=60) * 50).astype(int)
    frame = pd.DataFrame({"listed": days.astype(str), "opens": [f"{int(hour):02d}:30" for hour in hours]})
    result = cs.cluster(frame, 2, assess=False, method="k-means")
    assert sorted(result._run.cluster_names) == ["early listed, early opens", "late listed, late opens"]
    assert "early listed" in result.report.to_html()


@pytest.mark.parametrize(
    ("option", "path", "problem"),
    [
        ("--names", "/dev/zero", "is a device"),
        ("--constraints", "no-such-file.csv", "there is no file"),
        ("--mapping", "/dev/zero", "is a device"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_their_option(option, path, problem, tmp_path):
    views = [write_csv(tmp_path / f"{name}.csv", ["id", name], [(f"P{i}", i) for i in range(9)]) for name in "ab"]
    ran = run_command("cluster", *views, option, path, "--out", tmp_path / "out")
    assert_refused(ran, problem, f"({option})")
