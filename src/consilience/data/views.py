"""Views: several descriptions of the same entities, some of which may be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from .._saving import save_as
from ..arrays import Array, available_memory
from ..rows import ParquetFile, Source, open_parquet, read_whole
from .blocks import describe_kind, estimate_density, index_columns, index_rows, reindex_rows
from .encode import encode_group, list_groups, split_frame
from .frames import is_default_index, list_cells
from .inputs import (
    ViewInput,
    attach_ids,
    check_present,
    check_row_ids,
    coerce_view,
    find_all_nan_rows,
    is_frame,
    join_by_ids,
)
from .table import Table


@save_as("views")
class Views:
    """V named blocks of features of the same N entities, and which entity has which.

    Parameters
    ----------
    blocks : mapping of str to block, sequence of blocks, or Views
        A block is a two-dimensional numpy array, scipy sparse matrix or array, pandas or polars frame, or an array of
        another array library (torch, cupy, ...); arrays of h5py and zarr stay on disk and are read when needed. In a
        sequence the views are called ``view0``, ``view1``, ... Frames whose index holds names are joined by it: an
        entity that is not in a frame lacks that view.
    present : array-like of bool, shape (n_entities, n_views), optional
        Which entity has which view. By default a row that is all NaN is missing, and every other row is present.
    ids : sequence of n_entities, or mapping of view name to sequence, optional
        Names of the entities; if given per view, they join the views as a frame's index does.

    Attributes
    ----------
    names : tuple of str
        The views, in order.
    n_views : int
        Their number.
    shape : tuple of int
        (entities, columns of all views together).
    present : ndarray of bool, shape (n_entities, n_views)
        Which entity has which view.
    ids : ndarray of shape (n_entities,) or None
        Names of the entities, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> views = Views({"size": [[1.0], [2.0], [np.nan]], "color": [[0, 1], [1, 0], [1, 1]]})
    >>> views
    Views: 3 entities, 2 views
    name   kind           columns  density  present
    size   dense float64        1   100.0%    66.7%
    color  dense int64          2    66.7%   100.0%
    >>> views["color"].shape, views[:2].present.tolist()
    ((3, 2), [[True, True], [True, True]])
    """

    __slots__ = ("_blocks", "_columns", "_ids", "_present", "_rows")

    _blocks: dict[str, Array]
    _columns: dict[str, np.ndarray | None]
    _ids: np.ndarray | None
    _present: np.ndarray
    _rows: np.ndarray | None

    def __init__(
        self, blocks: Mapping[str, Any] | Sequence[Any] | Views, *, present: Any = None, ids: Any = None
    ) -> None:
        if isinstance(blocks, Views):
            present = blocks.present if present is None else check_present(present, blocks.present.shape)
            ids = blocks.ids if ids is None else check_row_ids("all", ids, len(blocks))
            self._set(blocks._blocks, blocks._columns, present, ids, blocks._rows)
            return
        inputs = {name: coerce_view(name, block) for name, block in name_blocks(blocks)}
        self._join(attach_ids(inputs, ids), present=present)

    def _join(self, inputs: dict[str, ViewInput], present: Any = None, rows: np.ndarray | None = None) -> None:
        """Set the blocks of the inputs; `rows` has the row of each entity in each view, by default found by the ids."""
        ids = None
        if rows is None:
            ids, rows = join_by_ids(inputs)
        if rows is None:
            blocks = {name: view.values for name, view in inputs.items()}
            (first, first_block), *others = blocks.items()
            for name, block in others:
                if block.shape[0] != first_block.shape[0]:
                    raise ValueError(
                        f"view {name!r} has {block.shape[0]} rows, view {first!r} {first_block.shape[0]}: give every "
                        "view a row for each entity and say with present= (or a row of NaN) which entities lack it, "
                        "give ids= to join the rows, or use consilience.align"
                    )
        else:
            blocks = {name: reindex_rows(view.values, rows[:, v]) for v, (name, view) in enumerate(inputs.items())}
        if present is None:
            mask = ~np.stack([find_all_nan_rows(block) for block in blocks.values()], axis=1)
            mask = mask if rows is None else mask & (rows >= 0)
        else:
            mask = check_present(present, (next(iter(blocks.values())).shape[0], len(blocks)))
            if rows is not None and (mask & (rows < 0)).any():
                entity, v = np.argwhere(mask & (rows < 0))[0]
                id_, name = entity if ids is None else ids[entity], list(inputs)[v]
                raise ValueError(f"present says that entity {id_} has view {name!r}, which has no row with this id")
        self._set(blocks, {name: view.columns for name, view in inputs.items()}, mask, ids, rows)

    def _set(
        self,
        blocks: dict[str, Array],
        columns: dict[str, np.ndarray | None],
        present: np.ndarray,
        ids: np.ndarray | None,
        rows: np.ndarray | None,
    ) -> None:
        """Set all attributes, as read-only arrays."""
        self._blocks = {name: make_read_only(block) for name, block in blocks.items()}
        self._columns = {name: make_read_only(names) for name, names in columns.items()}
        self._present, self._ids, self._rows = make_read_only(present), make_read_only(ids), make_read_only(rows)

    @classmethod
    def from_inputs(cls, inputs: dict[str, ViewInput], rows: np.ndarray | None = None) -> Views:
        """Build from views that were read and checked.

        Parameters
        ----------
        inputs : dict of str to ViewInput
            The views by name.
        rows : ndarray of int, shape (n_entities, n_views), optional
            The row of each entity in each view, -1 where it has none; by default found by the ids of the views.
        """
        views = object.__new__(cls)
        views._join(inputs, rows=rows)
        return views

    @classmethod
    def from_chunk(cls, blocks: Mapping[str, Any], present: np.ndarray, start: int) -> Views:
        """Build from a chunk of the entities that begins at row `start`, which error messages count from.

        Parameters
        ----------
        blocks : mapping of str to array-like
            The rows of each view in the chunk.
        present : ndarray of bool, shape (n_rows, n_views)
            Which entities of the chunk have which view.
        start : int
            Position of the first entity of the chunk among all entities.
        """
        views = cls(blocks, present=present)
        rows = np.repeat(np.arange(start, start + len(views))[:, None], views.n_views, axis=1)
        return views._replace(dict(views.items()), views.present, None, rows)

    @classmethod
    def from_columns(cls, data: Any, groups: Mapping[str, Any]) -> Views:
        """Cut one frame or matrix into views by its columns.

        Parameters
        ----------
        data : frame, array or sparse matrix of shape (n_entities, n_columns)
            All views side by side.
        groups : mapping of str to columns
            For each view a slice, a list of positions or names, or one position or name.

        Examples
        --------
        >>> import numpy as np
        >>> Views.from_columns(np.zeros((4, 5)), {"a": slice(0, 2), "b": [2, 3, 4]}).names
        ('a', 'b')
        """
        groups = dict(name_blocks(groups))
        inputs = {}
        if is_frame(data):  # columns that no view selects may hold anything
            labels = list(data.columns)
            for name, group in groups.items():
                columns = _column_positions(name, group, labels, len(labels))
                inputs[name] = coerce_view(name, data.iloc[:, columns] if hasattr(data, "iloc") else data[:, columns])
            return cls.from_inputs(inputs)
        whole = coerce_view("data", data).values
        for name, group in groups.items():
            inputs[name] = ViewInput(index_columns(whole, _column_positions(name, group, None, whole.shape[1])))
        return cls.from_inputs(inputs)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        text: Any = None,
        names: Any = None,
        categories: Any = None,
        numbers: Any = None,
        ids: Any = None,
    ) -> Views:
        """Encode columns of a frame as views: texts and categories, too.

        The columns of each argument are one view, called as the argument; a mapping makes several views of them. An
        entity whose cells are all empty, or without any of the terms, lacks the view. The result does not remember how
        it was encoded: use `consilience.cluster` if clusters of new rows are to be predicted.

        Parameters
        ----------
        frame : frame or mapping of lists
            A frame of pandas, polars, pyarrow or another library that narwhals reads, or columns by name.
        text : column, list of columns, or mapping of view name to these, optional
            Sentences and longer texts, encoded by the tf-idf of their words. Columns of one view are joined. From 20
            texts on, words that are in only one of them or in more than half are left out.
        names : column, list of columns, or mapping of view name to these, optional
            Short strings that seldom share whole words, encoded by the tf-idf of three letters in a row.
        categories : column, list of columns, or mapping of view name to these, optional
            Strings that repeat, encoded as one column of 0 and 1 per category.
        numbers : column, list of columns, or mapping of view name to these, optional
            Standardized to mean 0 and variance 1; empty cells get the median of the column.
        ids : column or sequence of n_entities, optional
            Names of the entities. By default the index of a pandas frame, unless it only numbers the rows.

        Examples
        --------
        >>> products = {"title": ["steel knife", "bread knife", None], "price": [20, 10, 30], "shop": ["a", "b", "a"]}
        >>> views = Views.from_frame(products, text="title", numbers={"price": ["price"]}, categories=["shop"])
        >>> views
        Views: 3 entities, 3 views
        name        kind            columns  density  present
        text        sparse float64        3    44.4%    66.7%
        categories  dense float64         2    50.0%   100.0%
        price       dense float64         1    66.7%   100.0%
        >>> views.feature_names("categories").tolist()
        ['shop=a', 'shop=b']
        """
        columns = split_frame(frame)
        kinds = {"text": text, "names": names, "categories": categories, "numbers": numbers}
        groups = [(name, kind, labels) for kind in kinds for name, labels in list_groups(kind, kinds[kind]).items()]
        name_blocks([(name, labels) for name, _, labels in groups])
        inputs = {name: encode_group(kind, name, labels, columns) for name, kind, labels in groups}
        if ids is None:
            index = getattr(frame, "index", None) if hasattr(frame, "iloc") else None
            ids = None if index is None or is_default_index(index) else np.asarray(index)
        elif type(ids) is str:
            if ids not in columns:
                raise ValueError(f"ids names column {ids!r}; the columns are {', '.join(map(repr, columns))}")
            ids = list_cells(columns[ids])
        has_values = [
            np.diff(view.values.indptr) > 0 if hasattr(view.values, "indptr") else ~find_all_nan_rows(view.values)
            for view in inputs.values()
        ]
        return cls(cls.from_inputs(inputs), present=np.stack(has_values, axis=1), ids=ids)

    @classmethod
    def from_parquet(cls, paths: Any, groups: Mapping[str, Any]) -> Views:
        """Take columns of a Parquet file as views that stay on disk and are read one row group at a time.

        Parameters
        ----------
        paths : path or sequence of paths
            The file, or several files with the same columns, whose rows are concatenated.
        groups : mapping of str to columns
            For each view a slice, a list of positions or names, or one position or name. A null is NaN.
        """
        paths = [paths] if isinstance(paths, str | PathLike) else list(paths)
        if not paths:
            raise ValueError("from_parquet needs at least one file, got none")
        files = [ParquetFile(path) for path in paths]
        labels = list(files[0].types)
        blocks = {}
        for name, group in name_blocks(groups):
            columns = np.array(labels, dtype=object)[_column_positions(name, group, labels, len(labels))]
            reader = open_parquet(name, files, columns.tolist())
            blocks[name] = ViewInput(Source.over(reader, name), columns=columns)
        return cls.from_inputs(blocks)

    @classmethod
    def from_mudata(cls, data: Any, use: str | Mapping[str, str] | None = None) -> Views:
        """Take the modalities of a MuData object, or the ``obsm`` entries of an AnnData, as views.

        Parameters
        ----------
        data : MuData or AnnData
            In a MuData each modality is a view, joined by ``obs_names``; in an AnnData each ``obsm`` entry is one.
            Data backed by a file stays there; its modalities must have the same cells in the same order.
        use : str or mapping of modality to str, optional
            For a MuData: the ``obsm`` entry to take instead of ``X``, such as ``"X_pca"``.
        """
        if hasattr(data, "mod"):
            blocks = {}
            keys = use if isinstance(use, Mapping) else dict.fromkeys(data.mod, use)
            if unknown := [name for name in keys if name not in data.mod]:
                raise ValueError(f"use names {unknown[0]!r}; the modalities are {', '.join(map(repr, data.mod))}")
            for name, modality in data.mod.items():
                key = keys.get(name)
                if key is not None and key not in modality.obsm:
                    raise ValueError(f"modality {name!r} has no {key!r} in obsm, which has {list(modality.obsm)}")
                values = modality.X if key is None else modality.obsm[key]
                columns = np.asarray(modality.var_names) if key is None else None
                blocks[name] = ViewInput(coerce_view(name, values).values, np.asarray(modality.obs_names), columns)
            return cls.from_inputs(blocks)
        if not len(getattr(data, "obsm", ())):
            raise ValueError("from_mudata wants a MuData, or an AnnData with entries in obsm, which become the views")
        ids = np.asarray(data.obs_names)
        return cls.from_inputs(
            {name: ViewInput(coerce_view(name, values).values, ids) for name, values in data.obsm.items()}
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._blocks)

    @property
    def n_views(self) -> int:
        return len(self._blocks)

    @property
    def shape(self) -> tuple[int, int]:
        return self._present.shape[0], sum(block.shape[1] for block in self._blocks.values())

    @property
    def ndim(self) -> int:
        """Number of dimensions of `shape`, which is 2."""
        return 2

    @property
    def present(self) -> np.ndarray:
        return self._present

    @property
    def ids(self) -> np.ndarray | None:
        return self._ids

    @property
    def rows(self) -> np.ndarray:
        """Row of each entity in the block that each view came from (n_entities, n_views), -1 where it is missing."""
        rows = np.arange(len(self))[:, None] if self._rows is None else self._rows
        return make_read_only(np.where(self._present, rows, -1))

    def feature_names(self, name: str) -> np.ndarray | None:
        """Names of a view's columns, if it has any.

        Parameters
        ----------
        name : str
            Name of the view.
        """
        self._check_known(name)
        return self._columns[name]

    def items(self) -> Iterator[tuple[str, Array]]:
        """Iterate over the views as (name, block)."""
        return iter(self._blocks.items())

    def map(self, function: Callable[[Array], Any]) -> Views:
        """Apply a function to the block of each view.

        The function gets the rows of entities that lack the view as NaN, or as empty rows if the block is sparse.

        Parameters
        ----------
        function : callable
            Takes the block of a view, with one row per entity, and returns a block with as many rows.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.preprocessing import StandardScaler
        >>> views = Views([np.arange(6.0).reshape(3, 2), [[1.0], [np.nan], [3.0]]])
        >>> views.map(StandardScaler().fit_transform)["view1"].ravel().tolist()
        [-1.0, nan, 1.0]
        """
        rows = np.where(self._present, np.arange(len(self))[:, None], -1)
        blocks = {}
        for v, (name, block) in enumerate(self.items()):
            complete = reindex_rows(read_whole(name, block, available_memory()), rows[:, v])
            blocks[name] = coerce_view(name, function(complete)).values
        for name, block in blocks.items():
            if block.shape[0] != len(self):
                raise ValueError(
                    f"the function changed view {name!r} from {len(self)} to {block.shape[0]} rows: use one that keeps "
                    "the entities; views[rows] chooses among them"
                )
        return self.replace_blocks(blocks)

    def replace_blocks(self, blocks: dict[str, Array]) -> Views:
        """Return views of the same entities with other blocks, which have one row per entity.

        Parameters
        ----------
        blocks : dict of str to array of shape (n_entities, n_columns)
            The blocks by the name of the view.
        """
        return self._replace(blocks, self._present, self._ids, self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._blocks

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            self._check_known(key)
            return self._blocks[key]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # scikit-learn's X[rows, ...]
            key = key[0]
        if isinstance(key, list | tuple) and key and all(isinstance(name, str) for name in key):
            blocks = {name: self[name] for name in key}
            if len(blocks) < len(key):
                raise ValueError(f"a view is selected twice in {list(key)}: name each once")
            columns = [self.names.index(name) for name in key]
            rows = None if self._rows is None else self._rows[:, columns]
            return self._replace(blocks, self._present[:, columns], self._ids, rows)
        positions = _row_positions(key, len(self))
        blocks = {name: index_rows(block, positions) for name, block in self.items()}
        ids = None if self._ids is None else self._ids[positions]
        return self._replace(blocks, self._present[positions], ids, self.rows[positions])

    def _check_known(self, name: str) -> None:
        if name not in self._blocks:
            raise KeyError(f"no view {name!r}; the views are {', '.join(map(repr, self.names))}")

    def _replace(
        self, blocks: dict[str, Array], present: np.ndarray, ids: np.ndarray | None, rows: np.ndarray | None
    ) -> Views:
        """Views with other blocks; the names of columns are kept if their number is unchanged."""
        new = object.__new__(type(self))
        columns = {}
        for name, block in blocks.items():
            labels = self._columns[name]
            columns[name] = labels if labels is not None and len(labels) == block.shape[1] else None
        new._set(blocks, columns, present, ids, rows)
        return new

    def __iter__(self) -> NoReturn:
        raise TypeError("Views is not iterated over: use views.items() for the views, views[rows] for entities")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "Views is several blocks, not one array: take one with views[name], or side by side with "
            "hstack (of numpy, or of scipy.sparse)"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name.removeprefix("_"): getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def _summary(self) -> Table:
        return Table.from_rows(
            {
                "name": name,
                "kind": describe_kind(block),
                "columns": f"{block.shape[1]:,}",
                "density": f"{estimate_density(block):.1%}",
                "present": f"{self._present[:, v].mean() if len(self) else 0:.1%}",
            }
            for v, (name, block) in enumerate(self.items())
        )

    def __repr__(self) -> str:
        return f"Views: {len(self):,} entities, {self.n_views} views\n{self._summary()!r}"

    def _repr_html_(self) -> str:
        return f"<p><b>Views</b>: {len(self):,} entities, {self.n_views} views</p>{self._summary()._repr_html_()}"


def name_blocks(blocks: Any) -> list[tuple[str, Any]]:
    """Name and data of each view, from a mapping or a sequence."""
    if isinstance(blocks, Mapping):
        named = list(blocks.items())
    elif isinstance(blocks, list | tuple):
        are_pairs = all(isinstance(b, tuple) and len(b) == 2 and isinstance(b[0], str) for b in blocks)
        named = list(blocks) if are_pairs else [(f"view{i}", block) for i, block in enumerate(blocks)]
    else:
        raise TypeError(
            f"Views wants a mapping or a sequence of blocks, got {type(blocks).__name__}: Views({{'name': X}})"
        )
    if not named:
        raise ValueError("Views needs at least one view, got none: Views({'text': X_text, ...})")
    for i, (name, _) in enumerate(named):
        if not isinstance(name, str):
            raise TypeError(f"a view's name must be a string, got {name!r}: Views({{'text': X_text, ...}})")
        if name in dict(named[:i]):
            raise ValueError(f"two views are called {name!r}: give each a unique name")
    return named


def _row_positions(key: Any, n: int) -> slice | np.ndarray:
    """Convert a row selection to a slice or to positions."""
    if isinstance(key, slice):
        return key
    rows = np.atleast_1d(key)
    if rows.size == 0:
        return np.zeros(0, np.intp)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise IndexError(f"a mask of rows must have {n} entries, got shape {rows.shape}")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise IndexError("rows are selected by a slice, integers or a mask of True and False; views by their names")
    if rows.min() < -n or rows.max() >= n:
        raise IndexError(f"row {rows.max() if rows.max() >= n else rows.min()} is out of range: there are {n} entities")
    return np.where(rows < 0, rows + n, rows)


def _column_positions(name: str, group: Any, labels: list[Any] | None, width: int) -> slice | list[int]:
    """Convert a column selection to positions; labels of a frame take precedence over positions."""
    if isinstance(group, slice):
        if any(isinstance(end, str) for end in (group.start, group.stop)):
            raise ValueError(f"view {name!r}: a slice of columns goes by position, got {group}: list the names instead")
        return group
    mask = np.asarray(group)
    if mask.dtype == bool:
        if mask.shape != (width,):
            raise ValueError(f"view {name!r}: a mask of columns must have {width} entries, got shape {mask.shape}")
        return np.flatnonzero(mask).tolist()
    by_label = {} if labels is None else {column: i for i, column in enumerate(labels)}
    positions = []
    for column in [group] if isinstance(group, str | int | np.integer) else list(group):
        position = by_label.get(column, column if isinstance(column, int | np.integer) else None)
        if position is None or not -width <= position < width:
            raise ValueError(f"view {name!r} selects column {column!r}, which the data does not have")
        positions.append(int(position))
    return positions


def make_read_only(values: Any) -> Any:
    """A view of a numpy array that cannot be written to; anything else unchanged."""
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    return values
