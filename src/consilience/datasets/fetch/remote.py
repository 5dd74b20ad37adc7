"""Declaration of a published data set: where it is, how it is parsed, and what it must contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

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
            _check_values(name, block.values)


def _check_values(name: str, block: Any) -> None:
    """Refuse infinities, NaN in sparse blocks and negative counts; NaN in a dense block is an unknown value."""
    values = block.data if sp.issparse(block) else block
    if values.dtype.kind not in "if":
        raise ValueError(f"view {name!r} holds {values.dtype}, which are not real numbers")
    if np.isinf(values).any() or (sp.issparse(block) and np.isnan(values).any()):
        raise ValueError(f"view {name!r} holds numbers that are not finite")
    if sp.issparse(block) and values.dtype.kind == "i" and (values < 0).any():
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
