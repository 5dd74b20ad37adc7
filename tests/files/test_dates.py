"""Dates, times and truth values are read as numbers, and ambiguous dates are refused."""

import datetime as dt

import numpy as np
import pytest

from consilience.files.conversion import convert_column, convert_columns
from consilience.files.dates import convert_dates, format_days
from consilience.files.readings import AmbiguousColumnError, ColumnReading

pytestmark = pytest.mark.quick


def to_cells(*cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def count_days(*parts):
    return (dt.datetime(*parts) - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)


@pytest.mark.parametrize(
    ("texts", "parts"),
    [
        (("2020-03-31", "2020.03.31", "31.03.2020", "31/03/2020", "03/31/2020"), (2020, 3, 31)),
        (("31 Mar 2020", "31-Mar-20", "March 31, 2020"), (2020, 3, 31)),
        (("2020/3/1", "2020-03"), (2020, 3, 1)),
        (("1.2.2020", "1 Feb 2020"), (2020, 2, 1)),
        (("31-03-85",), (1985, 3, 31)),
        (("31.03.21",), (2021, 3, 31)),
        (("1st December 2020",), (2020, 12, 1)),
        (("Sept. 3, 2020",), (2020, 9, 3)),
        (("May 2020",), (2020, 5, 1)),
        (("2020-03-31T13:45", "3/31/2020 1:45 PM"), (2020, 3, 31, 13, 45)),
        (("2020-03-31 13:45:30",), (2020, 3, 31, 13, 45, 30)),
        (("3/31/2020 12:05 am",), (2020, 3, 31, 0, 5)),
        (("2020-03-31T01:30:00Z",), (2020, 3, 31, 1, 30)),
        (("2020-03-31T01:30:00+02:00",), (2020, 3, 30, 23, 30)),
        (("1969-12-31 12:00",), (1969, 12, 31, 12)),
    ],
)
def test_dates_become_days(texts, parts):
    for text in texts:
        conversion = convert_dates("sold", to_cells(text, None))
        np.testing.assert_allclose(conversion.numbers, [count_days(*parts), np.nan], atol=1e-9, err_msg=text)
        assert format_days(conversion.numbers[0]).startswith(dt.datetime(*parts).strftime("%Y-%m-%d"))


def test_other_cells_are_not_dates():
    others = ["", "2020", "1.2", "31.02.2020", "2019-20", "1.10.2", "12:5", "25:00", "32/13/2020", "x" * 99]
    assert [text for text in [*others, "Marvin 2020"] if convert_dates("sold", to_cells(text)) is not None] == []


def test_times_become_hours():
    conversion = convert_column("at", to_cells("8:30", "23:00:36", "", "12:00 am", "1:15 p.m."))
    np.testing.assert_allclose(conversion.numbers, [8.5, 23.01, np.nan, 0, 13.25])
    assert conversion.reading.kind == "time"


@pytest.mark.parametrize(("cells", "order"), [(("3/4/2020", "13/4/2020"), "dmy"), (("3/4/2020", "4/13/2020"), "mdy")])
def test_whole_column_decides_order_of_day_and_month(cells, order):
    conversion = convert_dates("sold", to_cells(*cells))
    assert conversion.reading.form == order
    month, day = (4, 3) if order == "dmy" else (3, 4)
    assert conversion.numbers[0] == count_days(2020, month, day)


def test_ambiguous_dates_are_refused():
    message = "column 'sold': '3/4/2020' in row 2 may be 2020-04-03 or 2020-03-04: write its dates as YYYY-MM-DD"
    with pytest.raises(AmbiguousColumnError, match=message):
        convert_dates("sold", to_cells("5/5/2020", "3/4/2020"))
    message = "column 'sold' has '13/4/2020', with the day first, and '4/13/2020', with the month first"
    with pytest.raises(ValueError, match=message):
        convert_dates("sold", to_cells("13/4/2020", "4/13/2020"))


def test_other_columns_decide_ambiguous_ones():
    columns = {
        "built": to_cells("3/4/2020", "5/6/2020"),
        "sold": to_cells("13/4/2021", "5/6/2021"),
        "price": to_cells("1.202 €", "911 €"),
        "fee": to_cells("1.202,50 €", "911 €"),
    }
    conversions = convert_columns(columns)
    assert conversions["built"].numbers.tolist() == [count_days(2020, 4, 3), count_days(2020, 6, 5)]
    assert conversions["price"].numbers.tolist() == [1202.0, 911.0]
    with pytest.raises(AmbiguousColumnError, match=r"may be 1\.202 or 1202"):
        convert_columns({name: columns[name] for name in ("sold", "price")})


def test_reading_of_the_fit_decides_new_cells():
    assert convert_column("d", to_cells("3/4/2020"), ColumnReading("date", "mdy")).numbers == count_days(2020, 3, 4)
    assert convert_column("p", to_cells("1.234"), ColumnReading("amount", ",")).numbers == 1234
    assert convert_column("t", to_cells("yes"), ColumnReading("truth")).numbers == 1
    with pytest.raises(ValueError, match=r"column 'p' had '\$' as its unit in the fit, and now has '€'"):
        convert_column("p", to_cells("5 €"), ColumnReading("amount", ".", "$"))


def test_cells_that_cannot_be_read_are_refused_or_empty():
    cells = [*(f"2020-01-{day:02}" for day in range(1, 29)), "tbd"]
    with pytest.raises(ValueError, match=r"column 'd' holds dates, but 'tbd' in row 29 \(1 in all\): correct or empty"):
        convert_column("d", to_cells(*cells))
    conversion = convert_column("d", to_cells(*cells), lenient=True)
    assert np.isnan(conversion.numbers[28])
    assert (list(conversion.unread), conversion.reading.lenient) == ([28], True)


def test_truth_values_are_1_and_0():
    for pair in (("yes", "no"), ("Y", "n"), ("TRUE", "False"), ("t", "f")):
        conversion = convert_column("ok", to_cells(*pair, None, " NA "))
        np.testing.assert_array_equal(conversion.numbers, [1, 0, np.nan, np.nan])
    for others in (("yes", "yes"), ("yes", "no", "perhaps"), ("m", "f")):
        assert convert_column("ok", to_cells(*others)) is None
