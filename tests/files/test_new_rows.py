"""New rows become the same numbers as the rows of the fit that they repeat, whichever and however many they are."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from consilience.files import InputFiles, ModelViews, encode, fit_and_encode, join_contents, parse_view, read_files

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
        writers = {
            ".csv": lambda: frame.to_csv(path, index=False),
            ".json": lambda: frame.to_json(path, orient="records"),
            ".parquet": lambda: frame.to_parquet(path),
        }
        writers[suffix]()
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
        """Check that new rows have the numbers of these rows of the fit."""
        reading = self.read(self.frame.iloc[rows] if frame is None else frame, suffix)
        result = encode(reading.contents, self.encoded.encodings, join_contents(reading.contents))
        for name in self.encoded.views.names:
            expected = to_rows(self.encoded.views[name])[rows]
            np.testing.assert_allclose(to_rows(result.views[name]), expected, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("cells", "rows"),
    [(["NA", "DE", "FR", "US"], [0, 4, 8, 1]), (["-", "+"], [0, 2, 4]), (["NA", "Bonn", "Rome", "Lyon"], [0])],
    ids=["codes", "signs", "empty"],
)
def test_fit_decides_which_words_are_values(tmp_path, cells, rows):
    Fit(tmp_path, {"cell": cells * (N // len(cells))}).check(rows)
