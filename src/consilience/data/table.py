"""A small table: a dict of columns that prints as rows, so that results can be read without pandas."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


class Table(dict):
    """Columns by name, all of one length.

    ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` take it as it is, and libraries that read dataframes
    through the interchange protocol or Arrow's stream interface can read it.

    Examples
    --------
    >>> table = Table.from_rows([{"method": "a", "score": 0.51234}, {"method": "b", "score": 1.0}])
    >>> table["score"].tolist()
    [0.51234, 1.0]
    >>> table
    method   score
    a       0.5123
    b       1.0000
    """

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Build from one mapping per row; the first row names the columns.

        Parameters
        ----------
        rows : iterable of mapping
            The cells of each row, by the name of the column. All rows have the same columns.
        """
        rows = list(rows)
        return cls({name: np.asarray([row[name] for row in rows]) for name in rows[0]} if rows else {})

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dict."""
        return [dict(zip(self, values, strict=True)) for values in zip(*self.values(), strict=True)]

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame.

        Examples
        --------
        >>> Table({"k": [2, 3], "score": [0.5, 0.75]}).to_pandas()["score"].max()
        np.float64(0.75)
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install 'consilience[frames]'") from error
        return pd.DataFrame(dict(self))

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        """The dataframe interchange protocol, by way of pandas."""
        return self.to_pandas().__dataframe__(nan_as_null, allow_copy)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface, by way of pyarrow."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("tables are passed on by pyarrow: pip install 'consilience[parquet]'") from error
        return pa.table(dict(self)).__arrow_c_stream__(requested_schema)

    def _cells(self) -> list[list[str]]:
        """Text of the cells by row, the names of the columns first."""
        columns = [
            [str(name), *(f"{value:.4f}" if _is_float(value) else str(value) for value in column)]
            for name, column in self.items()
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        aligns = [str.rjust if all(map(_reads_as_number, column)) else str.ljust for column in self.values()]
        lines = (
            "  ".join(align(cell, width) for align, cell, width in zip(aligns, row, widths, strict=True))
            for row in cells
        )
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        def format_row(cells: Iterable[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head, *body = self._cells() or [[]]
        rows = "".join(format_row(cells, "td") for cells in body)
        return f"<table><thead>{format_row(head, 'th')}</thead><tbody>{rows}</tbody></table>"


def _reads_as_number(value: Any) -> bool:
    """Whether a cell reads as a number (``12``, ``0.5``, ``1,200``, ``33.3%``) and is aligned to the right."""
    digits = str(value).replace(",", "").removesuffix("%").lstrip("-").replace(".", "", 1)
    return _is_float(value) or digits.isdigit()


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating)
