"""What is known of a data set that is fetched: where it lives, how it is read, what it must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...data import Views
from ...data.coerce import ViewInput


class ParsedData(NamedTuple):
    """What a reader makes of files: blocks by view, the class of each row, the names of the classes."""

    blocks: dict[str, ViewInput]
    target: np.ndarray
    names: tuple[str, ...]

    def views(self) -> Views:
        """The views; a row that says nothing (no value, or an unknown one) is a view that the entity lacks.

        An entity of which no view says anything keeps its empty rows, so that none is lost.
        """
        blocks = {name: block.values for name, block in self.blocks.items()}
        says = np.stack([_says(block) for block in blocks.values()], axis=1)
        sparse = np.array([sp.issparse(block) for block in blocks.values()])
        return Views(Views._of(self.blocks), present=says | (~says.any(axis=1, keepdims=True) & sparse))

    def check(self) -> None:
        """Refuse what contradicts itself, whichever reader made it."""
        n, classes = len(self.target), len(self.names)
        if not self.blocks or not n:
            raise ValueError(f"it has {n} entities in {len(self.blocks)} views")
        if (
            self.target.ndim != 1
            or self.target.dtype.kind != "i"
            or not 0 <= self.target.min() <= self.target.max() < classes
        ):
            raise ValueError(f"its labels are not numbers of its {classes} classes")
        for name, block in self.blocks.items():
            shape = block.values.shape
            if len(shape) != 2 or shape[0] != n:
                raise ValueError(f"view {name!r} has shape {shape} for {n} entities with a class")
            for what, names, size in (("ids", block.ids, n), ("names of columns", block.columns, shape[1])):
                if names is not None and len(names) != size:
                    raise ValueError(f"view {name!r} has {len(names)} {what}, not {size}")
            if block.ids is not None and len(set(block.ids.tolist())) < n:
                raise ValueError(f"view {name!r} has an id twice")
            _check_values(name, block.values)


def _check_values(name: str, block: Any) -> None:
    """Only a dense block has a way to say that a number is unknown; whole numbers in a sparse one are counts."""
    values = block.data if sp.issparse(block) else block
    if values.dtype.kind not in "if":
        raise ValueError(f"view {name!r} holds {values.dtype}, which are no real numbers")
    if np.isinf(values).any() or (sp.issparse(block) and np.isnan(values).any()):
        raise ValueError(f"view {name!r} holds numbers that are not finite")
    if sp.issparse(block) and values.dtype.kind == "i" and (values < 0).any():
        raise ValueError(f"view {name!r} counts less than 0 times")


def to_whole_numbers(what: str, values: Any, most: int = 2**53) -> np.ndarray:
    """As whole numbers from 0 to `most`, if that is what they are."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what} are {values.dtype}, not whole numbers")
    wrong = ~((values >= 0) & (values <= most) & (values == np.floor(values)))  # NaN is wrong too
    if wrong.any():
        raise ValueError(f"{what} hold {values[wrong][0]}, which is no whole number from 0 to {most}")
    return values.astype(np.int64)


def _says(block: Any) -> np.ndarray:
    return np.diff(block.indptr) > 0 if sp.issparse(block) else ~np.isnan(block).any(axis=1)


@dataclass(frozen=True)
class ExpectedSizes:
    """What is known of the original, by which a home that has changed is noticed.

    `sizes` are those of the classes, in any order. `columns` are given for the views whose columns the home fixes: a
    vocabulary that is built here is no fact of the home.
    """

    n: int
    sizes: tuple[int, ...] = ()
    columns: Mapping[str, int] = field(default_factory=dict)

    def check(self, name: str, source: str, file: str, parsed: ParsedData) -> None:
        """Refuse what differs."""
        sizes = sorted(np.bincount(parsed.target, minlength=len(parsed.names)).tolist())
        pairs: list[tuple[str, Any, Any]] = [("entities", len(parsed.target), self.n)]
        if self.sizes:
            pairs.append(("entities in its classes", sizes, sorted(self.sizes)))
        for view, n in self.columns.items():
            pairs.append((f"columns in view {view!r}", parsed.blocks[view].values.shape[1], n))
        wrong = [f"{found} {what}, not {known}" for what, found, known in pairs if found != known]
        if wrong:
            raise ValueError(
                f"{name} from {source} is not what it was: {file} has {'; '.join(wrong)}. It is another file, or "
                "its home has changed: get the published version"
            )


@dataclass(frozen=True)
class RemoteDataset:
    """A data set and its home.

    Parameters
    ----------
    name : str
        Of the set.
    file : str
        Name of the public file, an archive. Empty if the set has to be got by hand, as single files.
    url : str
        Address of the file, or of the page that leads to it.
    members : tuple of str
        The files in the archive that are read, by their last name; empty for all.
    parse : callable
        From the members' bytes by name to what they say.
    facts : Facts
        What it must hold.
    description, citation, licence : str
        For the data set.
    copy : str, default=""
        Name of the converted copy, without its ending.
    copy_views : mapping of str to str
        Names of the copy's views that differ, and what they are called here.
    of_copy : str, default=""
        What has to be said of the copy.
    inner : str, default=""
        Name of an archive within the archive, which then has the members.
    sha256 : str or None, default=None
        Checksum of the file where a public source states one.
    """

    name: str
    file: str
    url: str
    members: tuple[str, ...]
    parse: Callable[[Mapping[str, bytes]], ParsedData]
    facts: ExpectedSizes
    description: str
    citation: str
    license: str
    copy: str = ""
    copy_views: Mapping[str, str] = field(default_factory=dict)
    of_copy: str = ""
    inner: str = ""
    sha256: str | None = None

    @property
    def wanted(self) -> str:
        """What a person has to put into the folder."""
        return self.file or ", ".join(self.members)
