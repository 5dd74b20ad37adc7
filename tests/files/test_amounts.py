"""Prices, percentages and numbers with separators are read as numbers."""

import re

import numpy as np
import pytest

from consilience.files import encode, fit_and_encode, join_contents
from consilience.files.amounts import convert_amounts

pytestmark = pytest.mark.quick


def convert(*cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return convert_amounts("price", column)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$5", 5.0),
        ("$1,299.00", 1299.0),
        (" $ 1,299 ", 1299.0),
        ("-$5.50", -5.5),
        ("$-5.50", -5.5),
        ("($5.50)", -5.5),
        ("US$ 5", 5.0),
        ("R$ 1.200,50", 1200.5),
        ("$1.2M", 1_200_000.0),
        ("< $25k", 25_000.0),
        ("<0.5 %", 0.5),
        ("€12,50", 12.5),
        ("12,50 €", 12.5),
        ("1.234,56 €", 1234.56),
        ("1 234,50 €", 1234.5),
        ("1\u202f234,50 €", 1234.5),
        ("1'234.50 CHF", 1234.5),
        ("£.99", 0.99),
        ("¥1,000,000", 1e6),
        ("USD 7", 7.0),
        ("usd 7", 7.0),
        ("7 EUR", 7.0),
        ("12%", 12.0),
        ("12.5 %", 12.5),
        ("1,234,567", 1234567.0),
        ("3,5", 3.5),
        ("0,125", 0.125),
        ("₹1,23,456.50", 123456.5),
        ("12,34,567", 1234567.0),
        ("1 234,50 zł", 1234.5),
        ("1 234,50 Kč", 1234.5),
        ("Rs. 1,23,456", 123456.0),
        ("Rs 1,23,456/-", 123456.0),
        ("12,- €", 12.0),
        ("Fr. 1'234.–", 1234.0),
        ("1.234,56-", -1234.56),
        ("5.50- €", -5.5),
    ],
)
def test_amounts_are_converted(text, value):
    numbers, example, *_ = convert(text)
    assert numbers.tolist() == [value]
    assert example == f"{text.strip()!r} read as {value:.15g}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "free",
        "p12",
        "12 kg",
        "1,23,4567",
        "1,2,3",
        "2-",
        "(2-)",
        "12.05.2020",
        "1_000",
        "--5",
        "%5",
        "42",
        "4.2",
        " " * 9999,
    ],
)
def test_other_cells_are_not_amounts(text):
    assert convert(text) is None


@pytest.mark.parametrize("text", ["$5 dozen", "$5-$7", "-$5-", "($5-)", "5$6", "5 € each"])
def test_prices_in_unknown_formats_are_refused(text):
    with pytest.raises(
        ValueError, match=f"column 'price' looks like prices, but {re.escape(repr(text))} cannot be read"
    ):
        convert(text)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1,250", "2", "0,750"), [1.25, 2.0, 0.75]),
        (("1.202,00 €", "911 €", "1.300 €"), [1202.0, 911.0, 1300.0]),
        (("$1,202", "$911"), [1202.0, 911.0]),
        (("US$ 1,202", "US$ 911"), [1202.0, 911.0]),
        (("1,202", "1,202.50"), [1202.0, 1202.5]),
    ],
)
def test_other_cells_decide_meaning_of_separator(cells, values):
    assert convert(*cells)[0].tolist() == values


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("1.202 €", "911 €"), "'1.202 €' in row 1 may be 1.202 or 1202"),
        (("911 €", "1,202 €"), "'1,202 €' in row 2 may be 1202 or 1.202"),
        (("1,500", "4,250"), "'1,500' in row 1 may be 1500 or 1.5"),
    ],
)
def test_ambiguous_separators_are_refused(cells, message):
    with pytest.raises(
        ValueError, match=rf"column 'price': {re.escape(message)}: write its numbers with a decimal point"
    ):
        convert(*cells)


def write_prices(put, prices, name="t.csv"):
    return put(name, "price\n" + "".join(f'"{price}"\n' for price in prices))


@pytest.mark.parametrize(
    ("template", "shown"), [("${:,.2f}", "'$1,000.50' read as 1000.5"), ("{:.1f}%", "'1000.5%' read as 1000.5")]
)
def test_column_of_amounts_is_numbers(put, content, template, shown):
    prices = np.arange(40) + 1000.5
    view = content(write_prices(put, [template.format(price) for price in prices]))
    assert view.kind == "numbers"
    assert shown in view.reason
    assert view.data[0].ravel().tolist() == prices.tolist()


def test_empty_amounts_are_empty_cells(put, content):
    view = content(write_prices(put, ["$5", "", "n/a", "$7"]))
    np.testing.assert_array_equal(view.data[0].ravel(), [5, np.nan, np.nan, 7])


def test_decimal_commas_are_read(put, content):
    view = content(write_prices(put, ["12,50 €", "1.234,56 €", "7 €"]))
    assert view.data[0].ravel().tolist() == [12.5, 1234.56, 7.0]


def test_kind_names_keeps_amounts_as_text(put, content):
    view = content(write_prices(put, ["$5", "$6", "$7"]), "names")
    assert (view.kind, view.data.tolist()) == ("names", ["$5", "$6", "$7"])


def test_few_other_cells_among_amounts_are_refused(put, content):
    message = r"column 'price' holds amounts, but 'call us' in row 31 \(1 in all\): correct or empty these cells"
    with pytest.raises(ValueError, match=message):
        content(write_prices(put, [f"${i}" for i in range(30)] + ["call us"]))


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (["$5", "€6", "$7"], "column 'price' mixes '€' and '\\$': convert its numbers to one unit"),
        (["5%", "0.06", "7%"], "column 'price' mixes '%' and no unit: convert its numbers to one unit"),
        (["12,5", "1,234.5"], "column 'price' marks decimals by ',' in some cells and by '.' in others"),
        (["12,5 €", "12.5 €"], "column 'price' marks decimals by ',' in some cells and by '.' in others"),
    ],
)
def test_ambiguous_amounts_are_refused(put, content, prices, message):
    with pytest.raises(ValueError, match=message):
        content(write_prices(put, prices))


@pytest.mark.parametrize("beside", ["", "colour"])
def test_new_amounts_are_encoded_as_those_of_fit(put, read, beside):
    colours = ["red", "green"] * 10
    rows = [f'"${1000 + i:,}"' + (f",{colour}" if beside else "") for i, colour in enumerate(colours)]
    header = f"price,{beside}".rstrip(",")
    contents = read(put("t.csv", "\n".join([header, *rows]))).contents
    prepared = fit_and_encode(contents, rare=True)
    again = read(put("t.csv", "\n".join([header, *rows[:3]])), kinds={"t": contents[0].kind}).contents
    new = encode(again, prepared.encodings, join_contents(again))
    np.testing.assert_allclose(new.views["t"], prepared.views["t"][:3])
    assert np.ptp(new.views["t"][:, -1]) > 0
