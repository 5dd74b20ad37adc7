"""Prices, percentages and numbers with separators are read as numbers."""

import re

import numpy as np
import pytest

from consilience.files.amounts import convert_amounts

pytestmark = pytest.mark.quick


def convert(*cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return convert_amounts("price", column)


@pytest.mark.parametrize(
    "amounts",
    [
        {"$5": 5, "$1,299.00": 1299, " $ 1,299 ": 1299, "US$ 5": 5, "£.99": 0.99, "¥1,000,000": 1e6, "usd 7": 7},
        {"-$5.50": -5.5, "$-5.50": -5.5, "($5.50)": -5.5, "1.234,56-": -1234.56, "5.50- €": -5.5},
        {"$1.2M": 1_200_000, "< $25k": 25_000, "<0.5 %": 0.5, "12%": 12, "12.5 %": 12.5},
        {"€12,50": 12.5, "12,50 €": 12.5, "1.234,56 €": 1234.56, "R$ 1.200,50": 1200.5, "7 EUR": 7, "0,125": 0.125},
        {"1 234,50 €": 1234.5, "1\u202f234,50 €": 1234.5, "1 234,50 zł": 1234.5, "1 234,50 Kč": 1234.5},
        {"1'234.50 CHF": 1234.5, "Fr. 1'234.–": 1234, "12,- €": 12},
        {"₹1,23,456.50": 123456.5, "12,34,567": 1234567, "Rs. 1,23,456": 123456, "Rs 1,23,456/-": 123456},
    ],
    ids=["symbol first", "negative", "suffixes", "decimal comma", "blanks", "Swiss", "Indian"],
)
def test_amounts_are_converted(amounts):
    for text, amount in amounts.items():
        numbers, note = convert(text)[:2]
        assert numbers.tolist() == [amount], text
        assert note == f"{text.strip()!r} read as {amount:.15g}"


def test_other_cells_are_not_amounts():
    others = ["", "$", "free", "p12", "12 kg", "1,23,4567", "1,2,3", "2-", "(2-)", "12.05.2020", "1_000", "--5", "%5"]
    others += ["42", "4.2", " " * 9999]
    assert [text for text in others if convert(text) is not None] == []


def test_prices_in_unknown_formats_are_refused():
    for text in ("$5 dozen", "$5-$7", "-$5-", "($5-)", "5$6", "5 € each"):
        with pytest.raises(ValueError, match=f"'price' looks like prices, but {re.escape(repr(text))} cannot be read"):
            convert(text)


def test_other_cells_decide_meaning_of_separator():
    assert convert("1,250", "2", "0,750")[0].tolist() == [1.25, 2.0, 0.75]
    assert convert("1.202,00 €", "911 €", "1.300 €")[0].tolist() == [1202.0, 911.0, 1300.0]
    assert convert("$1,202", "$911")[0].tolist() == [1202.0, 911.0]
    assert convert("US$ 1,202", "US$ 911")[0].tolist() == [1202.0, 911.0]
    assert convert("1,202", "1,202.50")[0].tolist() == [1202.0, 1202.5]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("1.202 €", "911 €"), "'1.202 €' in row 1 may be 1.202 or 1202"),
        (("911 €", "1,202 €"), "'1,202 €' in row 2 may be 1202 or 1.202"),
        (("1,500", "4,250"), "'1,500' in row 1 may be 1500 or 1.5"),
    ],
)
def test_ambiguous_separators_are_refused(cells, message):
    with pytest.raises(ValueError, match=rf"'price': {re.escape(message)}: write its numbers with a decimal point"):
        convert(*cells)


def write_prices(put, prices):
    return put("t.csv", "price\n" + "".join(f'"{price}"\n' for price in prices))


@pytest.mark.parametrize(
    ("prices", "numbers", "shown"),
    [
        (["$1,000.50", "", "n/a", "$7"], [1000.5, np.nan, np.nan, 7], "'$1,000.50' read as 1000.5"),
        (["1000.5%", "7%"], [1000.5, 7], "'1000.5%' read as 1000.5"),
        (["12,50 €", "1.234,56 €", "7 €"], [12.5, 1234.56, 7], "'1.234,56 €' read as 1234.56"),
    ],
)
def test_column_of_amounts_is_numbers_unless_its_kind_is_names(put, content, prices, numbers, shown):
    path = write_prices(put, prices)
    view = content(path)
    assert view.kind == "numbers"
    assert shown in view.reason
    np.testing.assert_array_equal(view.data[0].ravel(), numbers)
    if "" not in prices:
        assert content(path, "names").data.tolist() == prices


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (["$5", "€6", "$7"], "column 'price' mixes '€' and '\\$': convert its numbers to one unit"),
        (["5%", "0.06", "7%"], "column 'price' mixes '%' and no unit: convert its numbers to one unit"),
        (["12,5", "1,234.5"], "column 'price' marks decimals by ',' in some cells and by '.' in others"),
        (["12,5 €", "12.5 €"], "column 'price' marks decimals by ',' in some cells and by '.' in others"),
        (
            [*(f"${i}" for i in range(30)), "call us"],
            r"holds amounts, but 'call us' in row 31 \(1 in all\): correct or",
        ),
    ],
)
def test_ambiguous_amounts_are_refused(put, content, prices, message):
    with pytest.raises(ValueError, match=message):
        content(write_prices(put, prices))
