"""Write two views of any size with little memory: ``python -m benchmarks.make_big FOLDER --gb 10 --seed 0``.

Ten clusters, in a sparse view of word counts and a dense view of measurements; both separate them, but not perfectly.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from consilience import Views
from consilience.rows import open_sparse

N_CLUSTERS = 10
N_WORDS = 20_000  # columns of the sparse view
N_DRAWN = 62  # words per row, with repetitions
N_TOPICAL = 12  # words per row that come from the words of its cluster
N_CLUSTER_WORDS = 200  # words per cluster, half of them shared with the next cluster
N_MEASURED = 64  # columns of the dense view
SPREAD = 0.4  # standard deviation of the cluster centers; rows have 1
BLOCK = 1 << 16  # rows per block


class NpyWriter:
    """An ``.npy`` file to which rows are appended; the header is completed at the end."""

    def __init__(self, path: Path, dtype: str, n_columns: int | None = None) -> None:
        self.dtype, self.n_columns, self.n_rows = np.dtype(dtype), n_columns, 0
        self.file = path.open("wb")
        self._write_header()

    def _write_header(self) -> None:
        """Write the header, whose length does not depend on the number of rows because numpy pads it."""
        shape = (self.n_rows,) if self.n_columns is None else (self.n_rows, self.n_columns)
        head = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self.file, head)

    def append(self, values: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(values, self.dtype).data)
        self.n_rows += len(values)

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.file.seek(0)
        self._write_header()
        self.file.close()


def write_views(folder: Path, gb: float, seed: int = 0) -> int:
    """Write `gb` gigabytes and return the number of rows; smaller data is the beginning of larger data of a seed."""
    rng = np.random.default_rng(seed)
    words = draw_cluster_words(rng)
    centers = SPREAD * rng.standard_normal((N_CLUSTERS, N_MEASURED), np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:

        def file(name: str, dtype: str, n_columns: int | None = None) -> NpyWriter:
            return files.enter_context(NpyWriter(folder / f"{name}.npy", dtype, n_columns))

        data, indices, indptr = file("data", "<f4"), file("indices", "<i4"), file("indptr", "<i8")
        dense, y = file("dense", "<f4", N_MEASURED), file("y", "<i4")
        indptr.append(np.zeros(1))
        while data.n_rows * 8 + dense.n_rows * (N_MEASURED * 4 + 8) < gb * 1e9:
            labels = rng.integers(N_CLUSTERS, size=BLOCK, dtype=np.int32)
            counts, columns, lengths = draw_counts(rng, labels, words)
            indptr.append(data.n_rows + np.cumsum(lengths))
            data.append(counts)
            indices.append(columns)
            dense.append(centers[labels] + rng.standard_normal((BLOCK, N_MEASURED), np.float32))
            y.append(labels)
    return y.n_rows


def draw_cluster_words(rng: np.random.Generator) -> np.ndarray:
    """Draw the words of each cluster, (clusters, words); half are shared with the next cluster."""
    around = rng.permutation(N_WORDS)[: N_CLUSTERS * N_CLUSTER_WORDS // 2].reshape(N_CLUSTERS, -1).astype(np.int32)
    return np.concatenate([around, np.roll(around, -1, axis=0)], axis=1)


def draw_counts(
    rng: np.random.Generator, labels: np.ndarray, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw sorted words and their counts row by row, and the number of words per row."""
    drawn = np.empty((len(labels), N_DRAWN), np.int32)
    topical = rng.integers(N_CLUSTER_WORDS, size=(len(labels), N_TOPICAL), dtype=np.int16)
    drawn[:, :N_TOPICAL] = words[labels[:, None], topical]
    chance = rng.random((len(labels), N_DRAWN - N_TOPICAL), np.float32)
    drawn[:, N_TOPICAL:] = N_WORDS * chance * chance  # the first words are the most frequent
    drawn.sort(axis=1)
    np.minimum(drawn, N_WORDS - 1, out=drawn)  # random numbers may round up to 1
    new = np.ones(drawn.shape, bool)
    np.not_equal(drawn[:, 1:], drawn[:, :-1], out=new[:, 1:])
    at = np.flatnonzero(new)
    return np.diff(at, append=new.size), drawn.reshape(-1)[at], new.sum(axis=1)


def load_views(folder: Path | str) -> tuple[Views, np.ndarray]:
    """Return the views, which stay on disk, and the true clusters."""
    folder = Path(folder)
    y = np.load(folder / "y.npy")
    parts = (folder / f"{name}.npy" for name in ("data", "indices", "indptr"))
    counts = open_sparse(*parts, shape=(len(y), N_WORDS))
    dense = np.load(folder / "dense.npy", mmap_mode="r")
    return Views({"counts": counts, "dense": dense}, present=np.ones((len(y), 2), bool)), y


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_big", description="Write two large views.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gb", type=float, default=10, help="gigabytes to write (default: 10)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    started = time.perf_counter()
    n = write_views(args.folder, args.gb, args.seed)
    seconds = time.perf_counter() - started
    print(f"{n:,} entities in {args.folder}, {seconds:.0f} seconds, {args.gb * 1000 / seconds:.0f} MB/s")


if __name__ == "__main__":
    main()
