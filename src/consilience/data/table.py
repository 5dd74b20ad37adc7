"""A small table: a dict of columns that prints as rows, so that results need no pandas to be read."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


class Table(dict):
    """Columns by name, all of one length. ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` take it as it is.

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
        """Build from one mapping a row; the first row names the columns."""
        rows = list(rows)
        return cls({name: np.asarray([row[name] for row in rows]) for name in rows[0]} if rows else {})

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dict."""
        return [dict(zip(self, values, strict=True)) for values in zip(*self.values(), strict=True)]

    def _cells(self) -> list[list[str]]:
        columns = [[str(name), *(_format_cell(value) for value in column)] for name, column in self.items()]
        return [list(row) for row in zip(*columns, strict=True)]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left = [not all(_reads_as_number(value) for value in column) for column in self.values()]
        lines = (
            "  ".join(
                cell.ljust(width) if to_left else cell.rjust(width)
                for cell, width, to_left in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in cells
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def row(cells: Iterable[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head, *body = self._cells() or [[]]
        rows = "".join(row(cells, "td") for cells in body)
        return f"<table><thead>{row(head, 'th')}</thead><tbody>{rows}</tbody></table>"


def _reads_as_number(value: Any) -> bool:
    """Whether a cell reads as a number (``12``, ``0.5``, ``1,200``, ``33.3%``), which belongs to the right."""
    if isinstance(value, float | np.floating):
        return True
    return str(value).replace(",", "").removesuffix("%").lstrip("-").replace(".", "", 1).isdigit()


def _format_cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float | np.floating) else str(value)
