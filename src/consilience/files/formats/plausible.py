"""Check the sizes that a file announces against its length, before memory is allocated for them."""

from __future__ import annotations

from .base import InputFile

# Sizes of a sparse matrix that a file of any length may announce. Hashed features have many empty columns.
ALWAYS_ALLOWED = {"rows": 2**22, "columns": 2**25}
DROP_EMPTY = {
    "rows": "X.tocsr()[np.diff(X.tocsr().indptr) > 0]",
    "columns": "X.tocsc()[:, np.diff(X.tocsc().indptr) > 0]",
}
DEFLATE_RATIO = 1032  # the most that gzip and zip can compress by


def max_content_bytes(path: InputFile) -> int:
    """Largest number of bytes that a file can hold, decompressed if its name ends in .gz."""
    return path.n_bytes * (DEFLATE_RATIO if path.is_gzip else 1)


def check_sparse_shape(path: InputFile, n_rows: int, n_columns: int, n_bytes: int) -> None:
    """Refuse a sparse matrix with more rows or columns than bytes, unless they are few enough to allocate anyway.

    Empty rows and columns take no bytes in a sparse file, but memory in every later step.
    """
    for size, axis in ((n_rows, "rows"), (n_columns, "columns")):
        if not 0 <= size <= max(ALWAYS_ALLOWED[axis], n_bytes):
            raise ValueError(
                f"{size:,} {axis} are announced, which is not plausible for a file of {path.n_bytes:,} bytes. It is "
                f"probably damaged; if it is not, save it without empty {axis}: {DROP_EMPTY[axis]} in scipy"
            )


def check_n_values(path: InputFile, n_values: int, bytes_per_value: int, what: str) -> None:
    """Refuse a text file that is too short for the values that it announces; the last one may lack its line end."""
    if n_values * bytes_per_value - 1 > max_content_bytes(path):
        raise ValueError(f"{n_values:,} {what} are announced, which is too many for a file of {path.n_bytes:,} bytes")
