"""Numbers with units are read as numbers in one unit."""

import numpy as np
import pytest

from consilience.files.quantities import convert_quantities
from consilience.files.readings import AmbiguousColumnError, ColumnReading

pytestmark = pytest.mark.quick


def convert(*cells, **options):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return convert_quantities("x", column, **options)


@pytest.mark.parametrize(
    ("cells", "numbers", "unit"),
    [
        (["90 min", "1 h 30", "45min", None], [90, 90, 45, np.nan], "min"),
        (["1h30m", "2 h", "15 m", "3h"], [1.5, 2, 0.25, 3], "h"),
        (["2 hours, 5 minutes", "1 hour"], [2 + 1 / 12, 1], "hours"),
        (["PT1H30M", "PT45M"], [90, 45], "M"),
        (["10 Std.", "30 Min."], [10, 0.5], "Std."),
        (["5 kg", "500 g", "1,5 kg"], [5, 0.5, 1.5], "kg"),
        (["1 234 km", "500 km"], [1234, 500], "km"),
        (["5 m", "7 m", "1 km"], [5, 7, 1000], "m"),
        (["12 GB", "512 MB", "1 TB", "2 GB"], [12, 0.512, 1000, 2], "GB"),
        (["1.2K", "900", "3M", "4K"], [1.2, 0.9, 3000, 4], "K"),
        (["5'11\"", "6'", "5'2\""], [5 + 11 / 12, 6, 5 + 2 / 12], "'"),
        (["3 rooms", "1 room", "2 rooms"], [3, 1, 2], "rooms"),
        (["5 °C", "-3 °C", "\u22121 °C"], [5, -3, -1], "°C"),
    ],
)
def test_quantities_have_the_most_frequent_unit(cells, numbers, unit):
    conversion = convert(*cells)
    np.testing.assert_allclose(conversion.numbers, numbers)
    assert conversion.reading == ColumnReading("quantity", conversion.reading.form, unit, has_plain="900" in cells)


def test_other_cells_are_no_quantities():
    codes = [["12A", "13A", "14B"], ["12A", "13A", "14A"], ["A1", "A2"], ["0.png", "1.png"], ["12", "13"], [None, None]]
    words = [["90 min", "2 Seasons", "1 Season"], ["12 items", "13 apples", "5 stars"], ["red 5 kg", "blue 3 kg"]]
    for cells in (*codes, *words, ["2020-01-31", "2020-02-28"]):
        assert convert(*cells) is None, cells


def test_cells_that_cannot_be_read_are_empty_or_refused():
    cells = [*[f"{i} kg" for i in range(20)], "heavy"]
    conversion = convert(*cells, lenient=True)
    assert (conversion.unread, np.isnan(conversion.numbers[-1])) == ([20], True)
    with pytest.raises(ValueError, match=r"column 'x' holds quantities, but 'heavy' in row 21 \(1 in all\)"):
        convert(*cells)


def test_word_in_place_of_many_quantities_is_empty():
    conversion = convert(*[f"{i} days" for i in range(20)], *["none due"] * 10, lenient=True)
    assert conversion.unread == list(range(20, 30))
    assert convert(*[f"{i} days" for i in range(20)], *["none due", "soon"] * 5, lenient=True) is None


def test_new_rows_are_read_in_the_unit_of_the_fit():
    reading = convert("90 min", "1 h 30", "45 min").reading
    assert convert("2 h", "3 min", reading=reading).numbers.tolist() == [120, 3]
    with pytest.raises(ValueError, match="column 'x' holds quantities, but '5 kg' in row 1"):
        convert("5 kg", reading=reading)


def test_quantity_that_can_be_read_in_two_ways_is_refused():
    with pytest.raises(AmbiguousColumnError, match=r"column 'x': '1\.500 kg' in row 1 may be 1\.5 or 1500"):
        convert("1.500 kg", "2 kg")


def test_other_columns_tell_the_decimal_mark_of_quantities(put, read):
    rows = "".join(f"{i}.5,1.{i}50 kg\n" for i in range(1, 9))
    (content,) = read(put("t.csv", f"x,weight\n{rows}")).contents
    assert content.data[0][:2].tolist() == [[1.5, 1.15], [2.5, 1.25]]
