"""The id column is guessed from names and values."""

from pathlib import Path

import numpy as np
import pytest

from consilience.files.identifiers import guess_id_column, has_id_name

NUMBERS = np.linspace(0, 1, 20)
CODES = np.array([f"P{i:03}" for i in range(20)], dtype=object)
WORDS = np.array([f"Person Number{i}" for i in range(20)], dtype=object)
STORIES = np.array([f"a story about thing {i} and more" for i in range(20)], dtype=object)
DATES = np.array([f"2020-01-{i + 1:02}" for i in range(20)], dtype=object)
WHOLE = np.arange(100.0, 120.0)


def write_prices(form):
    return np.array([form.format(i + 1, i % 10) for i in range(20)], dtype=object)


@pytest.mark.parametrize("name", ["product_id", "SKU", "customerId", "Unnamed: 0", "Item No", "order-key", "ISBN"])
def test_names_of_identifiers(name):
    assert has_id_name(name)


@pytest.mark.parametrize("name", ["paid", "grid", "keyboard", "Nova", "humid", "price"])
def test_names_of_other_columns(name):
    assert not has_id_name(name)


@pytest.mark.parametrize(
    ("columns", "guess"),
    [
        ({"x": NUMBERS, "patient": CODES}, "patient"),
        ({"who": CODES, "sku": WORDS}, "sku"),
        ({"order_id": WHOLE, "x": NUMBERS}, "order_id"),
        ({"amount": WHOLE, "x": NUMBERS}, None),
        ({"country": WORDS, "x": NUMBERS}, "country"),
        ({"x": NUMBERS, "country": WORDS}, None),
        ({"x": NUMBERS, "full name": WORDS}, "full name"),
        ({"day": DATES, "x": NUMBERS}, None),
        ({"sold": write_prices("{}.{}00 €"), "x": NUMBERS}, None),  # which may be 1.100 or 1100
        ({"sold": write_prices("${},{}/kg"), "x": NUMBERS}, None),
        ({"story": STORIES, "x": NUMBERS}, None),
        ({"sku": CODES}, None),
        ({"sku": np.repeat(CODES[:10], 2), "x": NUMBERS}, None),
        ({"sku": np.array([None, *CODES[1:]], dtype=object), "x": NUMBERS}, None),
    ],
)
def test_column_of_one_table(columns, guess):
    assert guess_id_column({Path("t.csv"): columns}) == guess


def test_columns_with_another_purpose_are_not_taken():
    columns = {"sku": CODES, "x": NUMBERS, "y": NUMBERS}
    assert guess_id_column({Path("t.csv"): columns}, taken=frozenset({"sku"})) is None


def test_common_column_of_two_tables():
    tables = {Path("a"): {"code": CODES, "person": WORDS}, Path("b"): {"code": CODES[:5], "y": NUMBERS[:5]}}
    assert guess_id_column(tables) == "code"


def test_columns_with_the_same_values():
    tables = {Path("a"): {"patient": CODES, "x": NUMBERS}, Path("b"): {"x": NUMBERS, "sample": CODES[5:][::-1]}}
    tables[Path("b")]["x"] = NUMBERS[5:]
    assert guess_id_column(tables) == "patient,sample"


def test_ids_of_matrices_and_links_decide():
    columns = {"sku": CODES, "paper": WHOLE, "x": NUMBERS}
    assert guess_id_column({Path("t"): columns}, [{"100", "101", "119"}]) == "paper"
