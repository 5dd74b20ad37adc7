"""`Result.predict` and `predict_frame` warn of what the command notes, in the terms of Python."""

import warnings

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.pipeline.wording import put_in_python_terms
from stage import run_successfully


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    center = np.repeat([0.0, 12.0], 50)
    columns = {name: (center + rng.normal(size=100)).round(2) for name in ("length", "width", "height")}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def result(table):
    return cs.cluster(table, 2, assess=False)


def test_rows_of_another_kind_are_a_warning_and_usual_ones_none(result, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.predict(table)
    assert result.prediction_notes == []
    with pytest.warns(UserWarning, match=r"100 of 100 new rows fit no cluster.*other units") as caught:
        result.predict(table * 100 + 5000)
    assert result.prediction_notes == [str(warning.message) for warning in caught]
    assert caught[0].filename == __file__
    new = pd.concat([table, table[:20] * [1, -9, 40]])
    with pytest.warns(UserWarning, match=r"new rows fit no cluster.*`Result\.update` finds them"):
        result.predict_frame(new.reset_index(drop=True))


def check_notes(result, new, folder, expected, predict="predict"):
    """Check the notes on the prediction of a frame: by the call, and by the command in the terms of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predicted = getattr(result, predict)(new)
    assert [str(warning.message) for warning in caught] == result.prediction_notes
    assert result.prediction_notes[: len(expected)] == expected
    new.to_csv(folder / "data.csv", index=False)
    ran = run_successfully("predict", result.save(folder / "run"), "--view", f"data={folder / 'data.csv'}")
    notes = [line.removeprefix("note: ") for line in ran.err.splitlines() if line.startswith("note: ")]
    notes = [put_in_python_terms(note.replace(str(folder / "data.csv"), "data")) for note in notes]
    assert notes == result.prediction_notes
    return predicted


def test_cells_that_cannot_be_read_and_empty_rows_are_warnings(table, tmp_path):
    prices = table.assign(price=[f"${price:.2f}" for price in table["width"]])
    prices.loc[7, "price"] = "call us"
    result = cs.cluster(prices, 2, assess=False)
    new = prices.astype(object)
    new.loc[9, "price"] = "on request"
    new.loc[5] = None
    expected = [
        "data:length,width,height,price: column 'price' holds amounts; 'call us' in row 8 and 1 more cell cannot be "
        "read, and count as empty.",
        "Entity 5 has no data in any view: left out.",
    ]
    frame = check_notes(result, new, tmp_path, expected, "predict_frame")
    assert frame["cluster"][5] == -1
    assert len(result.prediction_notes) == 2


@pytest.mark.parametrize(
    ("columns", "n_wrong", "unread"),
    [
        (["length", "width"], 1, "row 1 cannot be read, and counts as"),
        (["length", "width", "color"], 100, "row 1 and 99 more cells cannot be read, and count as"),
    ],
    ids=["numbers", "mixed"],
)
def test_texts_in_place_of_numbers_are_noted_in_views_of_all_kinds(table, columns, n_wrong, unread, tmp_path):
    data = table.assign(color=["red", "blue"] * 50)[columns]
    result = cs.cluster(data, 2, assess=False)
    new = data.astype({"length": object})
    new.loc[: n_wrong - 1, "length"] = "foo"
    expected = f"data:{','.join(columns)}: column 'length' holds numbers; 'foo' in {unread} empty."
    check_notes(result, new, tmp_path, [expected])


def test_view_of_which_nothing_can_be_read_is_refused(table):
    result = cs.cluster({"size": table[["length"]], "rest": table[["width", "height"]]}, 2, assess=False)
    new = {"size": pd.DataFrame({"length": ["foo"] * 100}), "rest": table[["width", "height"]]}
    with pytest.raises(
        ValueError, match=r"view 'size' has no cell that can be read\. .*'length'.*'foo' in row 1 and 99"
    ):
        result.predict(new)


def test_numbers_may_be_written_in_another_way_than_in_the_fit(table, tmp_path):
    data = table.assign(color=["red", "blue"] * 50)
    result = cs.cluster(data, 2, assess=False)
    data.to_csv(tmp_path / "commas.csv", sep=";", decimal=",", index=False)
    for new in (data.assign(length=[f"${length}" for length in data["length"]]), tmp_path / "commas.csv"):
        assert (result.predict(new) == result.labels).all()
        assert result.prediction_notes == []
