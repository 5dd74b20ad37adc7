"""New rows become the same numbers as the rows of the fit that they repeat, whichever and however many they are."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from consilience.files import InputFiles, ModelViews, encode, fit_and_encode, join_contents, parse_view, read_files
from consilience.pipeline.prediction import list_unseen

N = 120
RNG = np.random.default_rng(0)
SIZES = RNG.normal(10, 2, N).round(3).tolist()
COLORS = RNG.choice(["red", "blue"], N).tolist()


def to_rows(X):
    return np.nan_to_num(X.toarray() if sp.issparse(X) else np.asarray(X), nan=-99)


class Fit:
    """Columns that were written to a CSV file, read and encoded; new rows are encoded with their encoders."""

    def __init__(self, folder, columns):
        self.folder, self.frame = folder, pd.DataFrame({"size": SIZES, "color": COLORS, **columns})
        path = folder / "table.csv"
        self.frame.to_csv(path, index=False)
        with InputFiles() as inputs:
            self.reading = read_files([parse_view(str(path))], inputs=inputs)
        self.encoded = fit_and_encode(self.reading.contents, rare=True)
        self.model = ModelViews.from_contents(self.reading.contents)

    def read(self, frame, suffix=".csv"):
        (self.folder / "new").mkdir(exist_ok=True)
        path = self.folder / "new" / f"table{suffix}"
        if suffix == ".csv":
            frame.to_csv(path, index=False)
        elif suffix == ".json":
            frame.to_json(path, orient="records")
        else:
            frame.to_parquet(path)
        with InputFiles() as inputs:
            return read_files(
                self.model.find_views(parse_view(str(path)), inputs),
                kinds=self.model.kinds,
                usual_ids=() if self.reading.id_column is None else (self.reading.id_column,),
                guess_id=False,
                readings=self.model.readings,
                value_words=self.model.value_words,
                inputs=inputs,
            )

    def check(self, rows, frame=None, suffix=".csv"):
        """Check that new rows have the numbers of these rows of the fit, and return what was read."""
        reading = self.read(self.frame.iloc[rows] if frame is None else frame, suffix)
        result = encode(reading.contents, self.encoded.encodings, join_contents(reading.contents))
        for name in self.encoded.views.names:
            expected = to_rows(self.encoded.views[name])[rows]
            np.testing.assert_allclose(to_rows(result.views[name]), expected, atol=1e-9, err_msg=name)
        return reading


@pytest.mark.parametrize("cells", [["NA", "DE", "FR", "US"], ["-", "+"], ["NA", "Bonn", "Rome", "Lyon"]])
def test_fit_decides_which_words_are_values(tmp_path, cells):
    Fit(tmp_path, {"cell": cells * (N // len(cells))}).check([0, 4, 8])


FLIGHTS = [None, *RNG.integers(1, 12, N - 1).tolist()]
ZIPS = [f"{number:05}" for number in RNG.integers(1, 12, N) * 100]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_codes_are_the_same_in_all_formats(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="not installed")
    fit = Fit(tmp_path, {"flight": FLIGHTS, "zip": ZIPS})
    assert "flight=1" in fit.encoded.views.feature_names("table").tolist()
    rows = [1, 2, 3]
    new = fit.frame.iloc[rows]
    fit.check(rows, new, suffix)
    fit.check(rows, new.assign(flight=new["flight"].astype(int), zip=new["zip"].astype(int)), suffix)


def test_codes_that_the_fit_tells_apart_stay_apart(tmp_path):
    fit = Fit(tmp_path, {"code": ["007", "7", "08", "A1"] * (N // 4)})
    assert {"code=007", "code=7"} <= set(fit.encoded.views.feature_names("table").tolist())
    fit.check([0])
    fit.check([1, 3])
    fit.check([2], fit.frame.iloc[[2]].assign(code=["8"]))


def test_values_that_the_fit_has_not_seen_are_noted(tmp_path):
    fit = Fit(tmp_path, {"zip": ZIPS})
    new = fit.frame.iloc[:4].assign(zip=["00100", "100", "99999", "88888"], color=["red", "blue", None, "violet"])
    origin = f"{tmp_path / 'new' / 'table.csv'}:size,color,zip"
    zips = "2 cells have values that the fit has not seen, such as '99999'; they count as empty."
    colors = "1 cell has a value that the fit has not seen, such as 'violet'; it counts as empty."
    assert list_unseen(fit.read(new).contents, fit.encoded.encodings) == [
        f"{origin}: column 'color': {colors}",
        f"{origin}: column 'zip': {zips}",
    ]


@pytest.mark.parametrize(("suffix", "color"), [(".csv", COLORS), (".json", SIZES)], ids=["categories", "numbers"])
def test_plain_numbers_are_in_the_unit_of_the_fit(tmp_path, suffix, color):
    fit = Fit(tmp_path, {"color": color, "runtime": ["90,5 min", "1 h 30", "45 min", "2 h"] * (N // 4)})
    new = fit.frame.iloc[:4].assign(runtime=[90.5, 90, 45, 120] if suffix == ".json" else ["90,5", 90, 45, 120])
    reading = fit.check([0, 1, 2, 3], new, suffix)
    assert not any("cannot be read" in note for content in reading.contents for note in content.notes)


def test_plain_numbers_beside_thousands_are_no_thousands(tmp_path):
    fit = Fit(tmp_path, {"views": ["1.2K", "800", "3K", "500"] * (N // 4)})
    fit.check([1, 3], fit.frame.iloc[[1, 3]].assign(views=[800, 500]), ".json")
    fit.check([1, 3])
    fit = Fit(tmp_path, {"views": ["1.2M", "3M"] * (N // 2)})
    (content,) = fit.read(fit.frame.iloc[:2].assign(views=[800, 500])).contents  # 800 may be 800 or 800M
    assert any("column 'views' holds quantities; '800' in row 1 and 1 more cell" in note for note in content.notes)


def test_numbers_of_numeric_type_have_no_decimal_comma(tmp_path):
    fit = Fit(tmp_path, {"price": ["1,157", "2,5", "12,25"] * (N // 3)})
    fit.check([0, 1, 2], fit.frame.iloc[:3].assign(price=[1.157, 2.5, 12.25]), ".json")


WORDS = ["steel", "apple", "river", "cotton", "engine", "garden"]
POOLED = [f"C{number}" for number in RNG.zipf(1.3, N) % 150]
VARIED = {
    "runtime": ["90 min", "1 h 30", "45 min", None, "2 h", "1,5 h"] * (N // 6),
    "views": ["1.2K", "800", "3M", "500", "7K", "NA"] * (N // 6),
    "genres": ["Comedy, Action", "Drama", "Action, Drama", "Comedy", None] * (N // 5),
    "added": pd.date_range("2020-01-01", periods=N, freq="9D").strftime("%Y%m%d").tolist(),
    "listed": [f"{1 + i % 28}/{1 + i % 12}/2020" for i in range(N)],
    "opens": [f"{i % 24}:30" for i in range(N)],
    "flight": FLIGHTS,
    "zip": ZIPS,
    "city": [*["Bonn"] * 60, *POOLED[60:]],
    "country": ["NA", "DE", "FR", "US", None] * (N // 5),
    "test": ["+", "-", "?"] * (N // 3),
    "town": ["Rome", "n/a", "Oslo", "-"] * (N // 4),
    "sold": ["yes", "no", "no", ""] * (N // 4),
    "price": [f"{1 + i % 7},{i % 10}5 €" for i in range(N)],
    "rate": [f"{i % 40}%" for i in range(N)],
    "mass": ["5.5", "7.25"] * (N // 2),
    "story": [f"a {WORDS[i % 6]} of {WORDS[i % 5]} beside the {WORDS[i * 7 % 6]} and more" for i in range(N)],
    "title": [f"{WORDS[i % 6]} {WORDS[i % 5]}{i}" for i in range(N)],
}
ORDERS = [[0], [1], [N - 1], [8, 2, 40], RNG.permutation(N)[:30].tolist()]


@pytest.mark.parametrize("column", ["runtime", "views", "listed", "price", "city", "country", "town"])
def test_rows_of_the_fit_have_its_numbers_again_without_other_columns(tmp_path, column):
    fit = Fit(tmp_path, {column: VARIED[column]})
    for rows in ([0], [5], [3, 3 + 60]):
        fit.check(rows)


@pytest.mark.quick
def test_rows_of_a_varied_table_have_its_numbers_again(tmp_path):
    fit = Fit(tmp_path, {"id": [f"P{i:03}" for i in range(N)], **VARIED})
    for rows in ORDERS:
        fit.check(rows)


def test_order_of_rows_does_not_matter(tmp_path):
    order = RNG.permutation(N)
    fits = []
    for name, rows in (("as it is", np.arange(N)), ("permuted", order)):
        (tmp_path / name).mkdir()
        table = pd.DataFrame({"size": SIZES, "color": COLORS, **VARIED}).iloc[rows]
        fits.append(Fit(tmp_path / name, table.to_dict("list")))
    first, second = (fit.model for fit in fits)
    assert first == second
    for name in fits[0].encoded.views.names:
        X, Y = (to_rows(fit.encoded.views[name]) for fit in fits)
        np.testing.assert_allclose(X[order], Y, atol=1e-9)
