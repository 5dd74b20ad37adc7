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


def test_names_of_identifiers():
    names = ["product_id", "SKU", "customerId", "Unnamed: 0", "Item No", "order-key", "ISBN"]
    others = ["paid", "grid", "keyboard", "Nova", "humid", "price"]
    assert [name for name in [*names, *others] if has_id_name(name)] == names


@pytest.mark.parametrize(
    ("guess", "tables"),
    [
        ("patient", [{"x": NUMBERS, "patient": CODES}]),
        ("sku", [{"who": CODES, "sku": WORDS}]),
        ("order_id", [{"order_id": WHOLE, "x": NUMBERS}]),
        ("country", [{"country": WORDS, "x": NUMBERS}]),
        ("full name", [{"x": NUMBERS, "full name": WORDS}]),
        (
            None,
            [
                {"amount": WHOLE, "x": NUMBERS},
                {"x": NUMBERS, "country": WORDS},
                {"day": DATES, "x": NUMBERS},
                {"sold": write_prices("{}.{}00 €"), "x": NUMBERS},  # which may be 1.100 or 1100
                {"sold": write_prices("${},{}/kg"), "x": NUMBERS},
                {"story": STORIES, "x": NUMBERS},
                {"sku": CODES},
                {"sku": np.repeat(CODES[:10], 2), "x": NUMBERS},
                {"sku": np.array([None, *CODES[1:]], dtype=object), "x": NUMBERS},
            ],
        ),
    ],
)
def test_column_of_one_table(guess, tables):
    for columns in tables:
        assert guess_id_column({Path("t.csv"): columns}) == guess
        assert guess_id_column({Path("t.csv"): columns}, taken=frozenset(columns)) is None


def test_common_column_of_two_tables_or_one_with_the_ids_of_matrices_and_links():
    tables = {Path("a"): {"code": CODES, "person": WORDS}, Path("b"): {"code": CODES[:5], "y": NUMBERS[:5]}}
    assert guess_id_column(tables) == "code"
    second = {"x": NUMBERS[5:], "sample": CODES[5:][::-1]}
    assert guess_id_column({Path("a"): {"patient": CODES, "x": NUMBERS}, Path("b"): second}) == "patient,sample"
    columns = {"sku": CODES, "paper": WHOLE, "x": NUMBERS}
    assert guess_id_column({Path("t"): columns}, [{"100", "101", "119"}]) == "paper"
