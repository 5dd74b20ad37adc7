"""Declaration of a published data set: where it is, how it is parsed, and what it must contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from ...data import Views
from ...data.inputs import ViewInput


class ParsedData(NamedTuple):
    """What a parser returns: the blocks by view, the class of each row, and the names of the classes."""

    blocks: dict[str, ViewInput]
    target: np.ndarray
    names: tuple[str, ...]

    def views(self) -> Views:
        """Build the views; an empty row, or one with an unknown value, is a missing view.

        An entity whose sparse rows are all empty keeps them, so that no entity is lost.
        """
        blocks = [block.values for block in self.blocks.values()]
        has_data = np.stack(
            [np.diff(block.indptr) > 0 if sp.issparse(block) else ~np.isnan(block).any(axis=1) for block in blocks],
            axis=1,
        )
        is_sparse = np.array([sp.issparse(block) for block in blocks])
        present = has_data | (~has_data.any(axis=1, keepdims=True) & is_sparse)
        return Views(Views.from_inputs(self.blocks), present=present)

    def check(self) -> None:
        """Refuse data that contradicts itself."""
        n, n_classes = len(self.target), len(self.names)
        if not self.blocks or not n:
            raise ValueError(f"it has {n} entities in {len(self.blocks)} views")
        if (
            self.target.ndim != 1
            or self.target.dtype.kind != "i"
            or not 0 <= self.target.min() <= self.target.max() < n_classes
        ):
            raise ValueError(f"its labels are not numbers of its {n_classes} classes")
        for name, block in self.blocks.items():
            shape = block.values.shape
            if len(shape) != 2 or shape[0] != n:
                raise ValueError(f"view {name!r} has shape {shape} for {n} entities with a class")
            for what, names, size in (("ids", block.ids, n), ("names of columns", block.columns, shape[1])):
                if names is not None and len(names) != size:
                    raise ValueError(f"view {name!r} has {len(names)} {what}, not {size}")
            if block.ids is not None and len(set(block.ids.tolist())) < n:
                raise ValueError(f"view {name!r} has an id twice")
            is_sparse = sp.issparse(block.values)
            values = block.values.data if is_sparse else block.values  # NaN in a dense block is an unknown value
            if values.dtype.kind not in "if":
                raise ValueError(f"view {name!r} holds {values.dtype}, which are not real numbers")
            if np.isinf(values).any() or (is_sparse and np.isnan(values).any()):
                raise ValueError(f"view {name!r} holds numbers that are not finite")
            if is_sparse and values.dtype.kind == "i" and (values < 0).any():
                raise ValueError(f"view {name!r} holds negative counts")


@dataclass(frozen=True)
class ExpectedSizes:
    """Sizes of the original, which show whether the published file has changed.

    `sizes` are those of the classes, in any order. `columns` has the views whose columns the file fixes, and not those
    whose vocabulary is built here.
    """

    n: int
    sizes: tuple[int, ...] = ()
    columns: Mapping[str, int] = field(default_factory=dict)

    def check(self, name: str, source: str, file: str, parsed: ParsedData) -> None:
        """Refuse data of other sizes."""
        sizes = sorted(np.bincount(parsed.target, minlength=len(parsed.names)).tolist())
        checks: list[tuple[str, Any, Any]] = [("entities", len(parsed.target), self.n)]
        if self.sizes:
            checks.append(("entities in its classes", sizes, sorted(self.sizes)))
        for view, n in self.columns.items():
            checks.append((f"columns in view {view!r}", parsed.blocks[view].values.shape[1], n))
        wrong = [f"{actual} {what}, not {expected}" for what, actual, expected in checks if actual != expected]
        if wrong:
            raise ValueError(
                f"{name} from {source} is not what it was: {file} has {'; '.join(wrong)}. It is another file, or "
                "the published file has changed: get the published version"
            )


@dataclass(frozen=True)
class RemoteDataset:
    """A data set that is downloaded, or read from a folder."""

    name: str
    file: str  # name of the published file, an archive; empty if single files have to be downloaded by hand
    url: str  # of the file, or of the page that leads to it
    members: tuple[str, ...]  # files in the archive that are read, without their folders; empty for all
    parse: Callable[[Mapping[str, bytes]], ParsedData]  # from the contents of the members, by name
    facts: ExpectedSizes
    description: str
    citation: str
    license: str
    copy: str = ""  # name of the converted copy, without its suffix
    copy_views: Mapping[str, str] = field(default_factory=dict)  # views of the copy and their names here; empty for all
    of_copy: str = ""  # how the copy differs
    inner: str = ""  # archive within the archive that contains the members
    sha256: str | None = None  # checksum of the file, if a public source states one


def decode_lines(content: bytes) -> list[str]:
    """Return the lines of a Latin-1 text that are not blank, without blanks around them."""
    return [line.strip() for line in content.decode("latin-1").splitlines() if line.strip()]


def count_words(texts: Sequence[str], min_df: int = 1) -> ViewInput:
    """Count words of two letters or more in lower case, if at least `min_df` texts have them."""
    vectorizer = CountVectorizer(token_pattern="[a-z]{2,}", min_df=min_df)
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    return ViewInput(counts, columns=np.array(vectorizer.get_feature_names_out(), dtype=str))


def build_csr(values: np.ndarray, columns: Any, indptr: Any, shape: tuple[int, ...]) -> sp.csr_array:
    """Build a sparse matrix from arrays of a file; refuse arrays that contradict each other."""
    matrix = sp.csr_array((values, columns, indptr), shape=shape)
    matrix.check_format(full_check=True)
    matrix.eliminate_zeros()
    return matrix


def link_entities(links: Sequence[tuple[int, int]], n: int) -> sp.csr_array:
    """Build the matrix with 1 for each link (row, column), however often it is listed."""
    rows, columns = np.array(links, dtype=np.int64).reshape(-1, 2).T
    matrix = sp.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(n, n))
    matrix.data[:] = 1
    return matrix


def make_unique(ids: list[str]) -> np.ndarray:
    """Number the repetitions of an id, so that all ids differ."""
    taken, times = set(ids), dict.fromkeys(ids, 0)
    for i, name in enumerate(ids):
        times[name] += 1
        if times[name] > 1:
            while f"{name} ({times[name]})" in taken:
                times[name] += 1
            ids[i] = f"{name} ({times[name]})"
            taken.add(ids[i])
    return np.array(ids)


def to_whole_numbers(what: str, values: Any, maximum: int = 2**53) -> np.ndarray:
    """Convert to integers; refuse values that are not whole numbers from 0 to `maximum`."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what} are {values.dtype}, not whole numbers")
    wrong = ~((values >= 0) & (values <= maximum) & (values == np.floor(values)))  # NaN is wrong too
    if wrong.any():
        raise ValueError(f"{what} hold {values[wrong][0]}, which is not a whole number from 0 to {maximum}")
    return values.astype(np.int64)
