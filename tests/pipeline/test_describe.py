"""Descriptions in Python, original columns of all kinds of data, and pairs of times and events."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.pipeline.follow_up import pair_follow_up
from patients import GROUPS, N_PATIENTS, make_clinic

pd = pytest.importorskip("pandas")
QUICK = {"n_clusters": 3, "method": "k-means", "assess": False}


def make_views(seed=0):
    rng = np.random.default_rng(seed)
    return {
        name: pd.DataFrame(rng.normal(size=(N_PATIENTS, 3)) + 6.0 * np.eye(3)[GROUPS], columns=list(letters))
        for name, letters in (("genes", "abc"), ("proteins", "def"))
    }


@pytest.fixture(scope="module")
def clinic():
    cells = make_clinic()
    return pd.DataFrame({name: [None if cell == "" else cell for cell in column] for name, column in cells.items()})


def get_columns(result):
    return {column.name: column for column in result._run.columns}


def test_names_frames_and_mappings_describe_alike(clinic):
    views = make_views()
    with_age = {**views, "genes": views["genes"].assign(age=clinic["age"], sex=clinic["sex"])}
    results = [
        cs.cluster(with_age, describe=["age", "sex"], **QUICK),
        cs.cluster(views, describe=clinic[["age", "sex"]], **QUICK),
        cs.cluster(views, describe={"age": clinic["age"].to_numpy(), "sex": clinic["sex"].tolist()}, **QUICK),
        cs.cluster(views, describe={"age": clinic["age"][::-1], "sex": clinic["sex"]}, **QUICK),  # joined by the index
    ]
    for result in results:
        assert np.array_equal(result.labels, results[0].labels)
        assert result.summary["descriptions"] == results[0].summary["descriptions"]
        assert get_columns(result)["age"].is_description
        assert not get_columns(result)["a"].is_description


def test_frames_with_ids_are_joined_by_them(clinic):
    views = {name: frame.set_axis(clinic["patient"]) for name, frame in make_views().items()}
    views["proteins"] = views["proteins"][::-1]
    described = clinic.set_index("patient")[["age"]][10:][::-1]
    age = get_columns(cs.cluster(views, describe=described, **QUICK))["age"].values
    np.testing.assert_array_equal(age, np.where(np.arange(N_PATIENTS) < 10, np.nan, clinic["age"]))


def test_a_saved_run_is_described_again(clinic, tmp_path):
    views = make_views()
    result = cs.cluster(views, describe=clinic[["age"]], **QUICK)
    folder = result.save(tmp_path / "run")
    assert [column.name for column in cs.load_run(folder, views)._run.data.descriptions] == []
    loaded = cs.load_run(folder, views, describe=clinic[["age", "months", "event"]])
    assert [column.name for column in loaded._run.data.descriptions] == ["age", "months/event"]
    with pytest.raises(
        ValueError, match=r"'a' was used to find the clusters \(view 'genes'\).* again with describe=\['a'\]"
    ):
        _ = cs.load_run(folder, views, describe=["a"]).report


@pytest.mark.parametrize(
    ("describe", "message"),
    [
        ({"x": [1, 2], "y": [1]}, "describe must have as many values in each column, got {'x': 2, 'y': 1}"),
        (["agee"], r"no file of a view has a column 'agee' \(describe\)"),
        ({"x": [1, 2]}, "has 2 rows without ids for 150 entities: give one row per entity"),
        ({"a": np.arange(N_PATIENTS)}, "describe has a column 'a', and so has the data"),
    ],
)
def test_refusals(describe, message):
    with pytest.raises(ValueError, match=message):
        cs.cluster(make_views(), describe=describe, **QUICK)


def test_original_columns_keep_their_units(clinic):
    data = clinic.drop(columns=["patient", "unused", "site"]).assign(
        opened=[f"{8 + i % 9}:30" for i in range(N_PATIENTS)], alive=[bool(i % 3) for i in range(N_PATIENTS)]
    )
    columns = get_columns(cs.cluster(data, **QUICK))
    categories = dict.fromkeys(("sex", "stage", "event", "smoker", "alive"), "category")
    kinds = {"age": "number", "months": "number", "admitted": "date", "cost": "number", "opened": "number"}
    assert {name: column.kind for name, column in columns.items()} == {**categories, **kinds, "notes": "text"}
    assert {name: column.unit for name, column in columns.items() if column.unit} == {"cost": "$", "opened": "h"}
    assert columns["opened"].values[0] == 8.5
    assert columns["cost"].values[2] == float(clinic["cost"][2].replace("$", "").replace(",", ""))
    assert set(columns["smoker"].values) == {"yes", "no"}
    assert set(columns["event"].values) == {"0", "1"}
    assert np.isnan(columns["age"].values[3])
    days = (pd.to_datetime(clinic["admitted"]) - pd.Timestamp(0)).dt.days
    np.testing.assert_array_equal(columns["admitted"].values, days)


def test_entities_without_data_have_no_cell_and_numbered_columns_are_left_out():
    data = pd.DataFrame({"x": [1.0, 2.0, np.nan, 9.0, 8.0], "y": [1.0, 2.0, np.nan, 9.0, 7.0]})
    result = cs.cluster(data, 2, method="k-means", assess=False, describe={"z": np.arange(5.0)})
    columns = get_columns(result)
    assert columns["z"].values.tolist() == [0, 1, 3, 4]
    assert columns["x"].values.tolist() == [1, 2, 9, 8]
    X = np.random.default_rng(0).normal(size=(40, 12)) + np.repeat([0, 5], 20)[:, None]
    frame = pd.DataFrame(X, columns=[f"pixel_{i}" for i in range(12)]).assign(size=X[:, 0])
    assert list(get_columns(cs.cluster(frame, 2, method="k-means", assess=False))) == ["size"]


def test_the_strongest_columns_of_wide_matrices_are_taken(tune):
    tune("pipeline.columns", max_features=4, min_features=4)
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (N_PATIENTS, 50)).astype(float)
    X[:, :3] += rng.poisson(40.0, (N_PATIENTS, 3)) * np.eye(3)[GROUPS]
    names = np.array([f"gene {letter}{i * 7}" for i, letter in enumerate("abcdefghij" * 5)])
    for matrix in (X, sp.csr_array(X)):
        view = cs.Views.from_inputs({"genes": cs.data.inputs.ViewInput(matrix, columns=names)})
        columns = get_columns(cs.cluster(view, **QUICK))
        assert len(columns) <= 4
        assert set(names[:3]) <= set(columns)
        np.testing.assert_array_equal(columns[names[1]].values, X[:, 1])


def test_columns_of_single_cells_describe_them():
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(index=[f"G{'abcdefgh'[i % 8]}{i * 3}" for i in range(30)])
    cells = anndata.AnnData(
        sp.csr_array(rng.poisson(2.0, (60, 30)).astype(np.float32)),
        obs=pd.DataFrame({"age": np.arange(60.0), "tissue": ["a", "b"] * 30}, index=[f"c{i}" for i in range(60)]),
        var=genes,
    )
    result = cs.cluster(cells, 2, assess=False, describe=["age", "tissue"])
    descriptions = result._run.data.descriptions
    assert [(column.name, column.kind) for column in descriptions] == [("age", "number"), ("tissue", "category")]
    assert descriptions[0].values.tolist() == list(range(60))


def build(name, values):
    array = np.asarray(values)
    kind = "category" if array.dtype.kind in "OU" else "number"
    return OriginalColumn(name, array.astype(object) if kind == "category" else array.astype(float), kind, "", True)


TIMES = [5.0, 3.0, 8.0, 1.0]


@pytest.mark.parametrize(
    ("time_name", "event_name", "cells", "expected"),
    [
        ("months", "event", [0, 1, 1, 0], "0110"),
        ("OS.time", "OS", ["0", "1", "0", "1"], "0101"),
        ("OS_MONTHS", "OS_STATUS", ["1:DECEASED", "0:LIVING", "0:LIVING", "1:DECEASED"], "1001"),
        ("days_to_last_follow_up", "vital_status", ["Alive", "Dead", "Alive", "Alive"], "0100"),
        ("time", "status", [1, 2, 2, 1], "0110"),  # as in R
        ("time", "censored", [0, 1, 1, 0], "1001"),
        ("time", "censored", ["yes", "no", "no", "yes"], "0110"),
        ("followUpTime", "died", ["True", "False", "False", "False"], "1000"),
        ("survival_years", "relapse", ["no event", "event", "no event", "event"], "0101"),
        ("duration", "alive", ["y", "n", "y", "y"], "0100"),
        ("months", "status", ["censored", "dead", "dead", "censored"], "0110"),
    ],
)
def test_times_and_events_are_recognized_by_their_names(time_name, event_name, cells, expected):
    columns = [build("age", [50, 60, 70, 80]), build(time_name, TIMES), build(event_name, cells)]
    paired, notes = pair_follow_up(columns, {})
    assert [column.name for column in paired] == ["age", f"{time_name}/{event_name}"]
    assert paired[1].event.tolist() == [mark == "1" for mark in expected]
    assert paired[1].values.tolist() == TIMES
    assert paired[1].is_description
    (note,) = notes
    assert f"{time_name!r} is the time and {event_name!r} says whether" in note
    assert f"is the event, {expected.count('1')} of 4" in note


def test_other_columns_are_not_paired():
    for first, second in (
        (("age_years", TIMES), ("event", [0, 1, 1, 0])),  # not a follow-up
        (("months", TIMES), ("status", ["a", "b", "b", "a"])),  # which one is the event?
        (("months", TIMES), ("status", [0, 1, 2, 1])),
        (("months", [-1.0, 2.0, 3.0, 4.0]), ("event", [0, 1, 1, 0])),
        (("months", TIMES), ("sex", ["m", "f", "m", "f"])),
    ):
        paired, notes = pair_follow_up([build(*first), build(*second)], {})
        assert [column.name for column in paired] == [first[0], second[0]]
        assert notes == []


def test_several_pairs_are_recognized_by_what_their_names_share():
    columns = [build("os_time", TIMES), build("os_event", [0, 1, 1, 0])]
    columns += [build("pfs_time", TIMES), build("pfs_event", [1, 1, 1, 0])]
    paired, _ = pair_follow_up(columns, {})
    assert [column.name for column in paired] == ["os_time/os_event", "pfs_time/pfs_event"]
    paired, notes = pair_follow_up([build("months", TIMES), build("days", TIMES), build("event", [0, 1, 1, 0])], {})
    assert len(paired) == 3
    assert notes == [
        "The columns 'months', 'days', 'event' may be times and events. To compare survival, name the pair: --describe "
        "'months/event'."
    ]


def test_a_pair_of_the_user_comes_first_and_lacks_incomplete_entities():
    columns = [build("m", [5.0, np.nan, 8.0, 1.0]), build("x", [1, 1, 0, 0])]
    columns[1].values[0] = np.nan
    (pair,), (note,) = pair_follow_up(columns, {"m": "x"})
    assert (pair.name, pair.event.tolist()) == ("m/x", [False, False, False, False])
    np.testing.assert_array_equal(pair.values, [np.nan, np.nan, 8, 1])
    assert note.endswith("2 entities without a time or an event are left out of it.")
    for cells in ([1, 1, 1, 1], [0, 0, 0, 0]):  # all or none may have had the event
        (pair,), (note,) = pair_follow_up([build("t", TIMES), build("dead", cells)], {"t": "dead"})
        assert pair.event.tolist() == [bool(cell) for cell in cells]
    assert "no entity has had the event, 0 of 4" in note
