"""`Result.predict` and `predict_frame` warn of what the command notes, in the terms of Python."""

import warnings

import numpy as np
import pandas as pd
import pytest

import consilience as cs
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


def test_usual_rows_give_no_warning(result, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.predict(table)
    assert result.prediction_notes == []


def test_rows_of_another_kind_are_a_warning(result, table):
    with pytest.warns(UserWarning, match=r"100 of 100 new rows fit no cluster.*other units") as caught:
        result.predict(table * 100 + 5000)
    assert result.prediction_notes == [str(warning.message) for warning in caught]
    assert caught[0].filename == __file__
    new = pd.concat([table, table[:20] * [1, -9, 40]])
    with pytest.warns(UserWarning, match=r"new rows fit no cluster.*`Result\.update` finds them"):
        result.predict_frame(new.reset_index(drop=True))


def test_cells_that_cannot_be_read_and_empty_rows_are_warnings(table, tmp_path):
    prices = table.assign(price=[f"${price:.2f}" for price in table["width"]])
    prices.loc[7, "price"] = "call us"
    result = cs.cluster(prices, 2, assess=False)
    new = prices.astype(object)
    new.loc[9, "price"] = "on request"
    new.loc[5] = None
    with pytest.warns(UserWarning, match="cannot be read, and count as empty|no data in any view") as caught:
        frame = result.predict_frame(new)
    assert frame["cluster"][5] == -1
    texts = [str(warning.message) for warning in caught]
    assert texts == result.prediction_notes
    new.to_csv(tmp_path / "new.csv", index=False)
    ran = run_successfully("predict", result.save(tmp_path / "run"), "--view", f"data={tmp_path / 'new.csv'}")
    notes = [line.removeprefix("note: ") for line in ran.err.splitlines() if line.startswith("note: ")]
    assert len(texts) == len(notes) == 2
    for text, note in zip(texts, notes, strict=True):
        assert text.split()[-6:] == note.split()[-6:]
