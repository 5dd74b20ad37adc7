"""Add clusters to copies of single-cell files (AnnData, MuData) and objects.

Results of each cell are columns of `obs` and matrices in `obsm`. Each modality of a MuData has them for its cells, too,
except for the clusters by single views:

====================================  ==================================================================
``obs["consilience"]``                the cluster, a category; missing for outliers and cells left out
``obs["consilience_name"]``           the name of the cluster, if clusters have names
``obs["consilience_confidence"]``     the confidence in each cluster, from 0 to 1, if the run was assessed
``obs["consilience_by_VIEW"]``        the cluster by one view alone; missing for cells that lack the view
``obsm["X_consilience"]``             the joint embedding by all views
``obsm["X_consilience_map"]``         the joint embedding in two dimensions
``uns["consilience"]``                how the clusters were found, and what was written
====================================  ==================================================================
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .formats.annotated import insert_results, list_conflicts
from .formats.base import InputFile
from .formats.hdf5_child import BY_VIEW, RESULT_NAMES, select_results
from .write import check_output_file, stage_file

SUFFIXES = (".h5ad", ".h5mu")


def collect_results(
    ids: Iterable[Any],
    labels: Any,
    *,
    names: Sequence[str] | None = None,
    confidence: Any = None,
    view_labels: Mapping[str, Any] | None = None,
    embedding: Any = None,
    joint_map: Any = None,
) -> dict[str, np.ndarray]:
    """Collect the results of cells as arrays, in the form that `write_annotated` takes.

    Parameters
    ----------
    ids : iterable of str
        Names of the cells, as in `obs_names`.
    labels : array-like of shape (n_cells,)
        The cluster of each cell, negative for none.
    names : sequence of str, optional
        Names of the clusters.
    confidence : array-like of shape (n_cells,), optional
        How sure the model is of the cluster.
    view_labels : mapping of str to array-like of shape (n_cells,), optional
        The cluster of each cell by each view.
    embedding : array-like of shape (n_cells, n_components), optional
        The joint embedding.
    joint_map : array-like of shape (n_cells, 2), optional
        The joint embedding in two dimensions.

    Returns
    -------
    dict of str to ndarray
    """
    results: dict[str, np.ndarray] = {"ids": np.array([str(name).strip() for name in ids])}
    main = RESULT_NAMES["obs"]
    labels = np.asarray(labels)
    columns = {main: labels}
    for view, by_view in (view_labels or {}).items():
        columns[f"{BY_VIEW}{view.replace('/', '_')}"] = np.asarray(by_view)  # HDF5 separates groups by /
    for column, numbers in columns.items():
        clusters = np.unique(numbers[numbers >= 0])
        results[f"code:{column}"] = np.where(numbers >= 0, np.searchsorted(clusters, numbers), -1)
        results[f"category:{column}"] = clusters.astype(str)
    if names is not None:
        kept = list(dict.fromkeys(names))
        code_of_label = np.array([kept.index(name) for name in names], dtype=np.int64)
        results[f"code:{main}_name"] = np.where(labels >= 0, code_of_label[labels], -1)
        results[f"category:{main}_name"] = np.array(kept)
    if confidence is not None:
        results[f"number:{main}_confidence"] = np.asarray(confidence, dtype=np.float64)
    for name, matrix in ((RESULT_NAMES["obsm"], embedding), (f"{RESULT_NAMES['obsm']}_map", joint_map)):
        if matrix is not None:
            results[f"matrix:{name}"] = np.asarray(matrix, dtype=np.float64)
    for name, values in results.items():
        if not name.startswith("category:") and len(values) != len(results["ids"]):
            raise ValueError(f"{name.partition(':')[2]} has {len(values)} rows for {len(results['ids'])} cells")
    return results


def check_write_back(source: Path, target: Path, overwrite: bool = False) -> None:
    """Refuse to write a copy of a single-cell file before any work is done for it."""
    if source.suffix.lower() not in SUFFIXES or not source.is_file():
        raise ValueError(
            f"{source} is no single-cell file ({' or '.join(SUFFIXES)}), and results can be added to no other"
        )
    if target.suffix.lower() != source.suffix.lower():
        raise ValueError(f"{target} is a copy of {source} with the results: let its name end in {source.suffix}, too")
    if target.exists() and target.samefile(source):
        raise ValueError(f"{target} is the input file, which is never changed: choose another name for the copy")
    check_output_file(target, overwrite)
    _refuse_conflicts(source, list_conflicts(InputFile(source, source)))


def write_annotated(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    results: Mapping[str, np.ndarray],
    facts: Mapping[str, Any],
    overwrite: bool = False,
) -> None:
    """Write a copy of an H5AD or H5MU file with results in `obs`, `obsm` and `uns`, completely or not at all.

    Everything else in the file stays as it is. Results of an earlier run are replaced. Like reading, writing is done
    by another process, because HDF5 can loop or crash on damaged files.

    Parameters
    ----------
    source : path
        The file, which is not changed.
    target : path
        The copy.
    results : mapping of str to array
        What `collect_results` returns. Cells of the file without results get missing values.
    facts : mapping of str to str, number or list of str
        How the results were found, for `uns`.
    overwrite : bool, default=False
        Whether the copy may replace a file.
    """
    source, target = Path(source), Path(target)
    check_write_back(source, target, overwrite)
    with stage_file(target, overwrite) as temporary:
        shutil.copyfile(source, temporary)
        stored = temporary.with_suffix(".npz")
        np.savez(stored, **results)  # type: ignore[arg-type]
        if not insert_results(InputFile(source, temporary), stored, dict(facts)):
            raise ValueError(f"no cell of {source} has results: do the names of the cells match?")


def annotate_mudata(data: Any, results: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Any:
    """Return a copy of a MuData or AnnData object with results in `obs`, `obsm` and `uns`.

    Parameters
    ----------
    data : MuData or AnnData
        The object, which is not changed.
    results : mapping of str to array
        What `collect_results` returns. Cells without results get missing values.
    facts : mapping of str to str, number or list of str
        How the results were found, for `uns`.

    Returns
    -------
    MuData or AnnData
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mudata repeats what it said when the object was made
        copy = data.to_memory() if getattr(data, "isbacked", False) else data.copy()
    tables = [copy, *getattr(copy, "mod", {}).values()]
    written = set(copy.uns.get("consilience", {}).get("written", ()))
    places = {"obs": lambda table: table.obs.columns, "obsm": lambda table: table.obsm}
    conflicts = [
        f"{place}[{name!r}]"
        for table in tables
        for place, list_names in places.items()
        for name in list_names(table)
        if name.startswith(RESULT_NAMES[place]) and name not in written
    ]
    _refuse_conflicts(f"the {type(data).__name__} object", conflicts)
    written_now: dict[str, Any] = {}
    row_of = {name: row for row, name in enumerate(results["ids"].tolist())}
    for table in tables:
        rows = np.array([row_of.get(str(name).strip(), -1) for name in table.obs_names], dtype=np.int64)
        if table is copy and not (rows >= 0).any():
            raise ValueError("no cell of the object has results: do the names of the cells match?")
        columns, blocks = select_results(dict(results), rows, is_modality=table is not copy)
        written_now |= columns | blocks
        for name in written.intersection(table.obs.columns):
            del table.obs[name]
        for name in written.intersection(table.obsm):
            del table.obsm[name]
        for name, values in columns.items():
            table.obs[name] = values
        for name, matrix in blocks.items():
            table.obsm[name] = matrix
    copy.uns["consilience"] = dict(facts) | {"written": np.array(list(written_now), dtype=object)}
    return copy


def _refuse_conflicts(source: Any, conflicts: Sequence[str]) -> None:
    """Refuse to replace what was not written as results."""
    if conflicts:
        raise ValueError(
            f"{source} has {conflicts[0]}, which was not written by consilience and would be replaced by the results: "
            "rename or remove it"
        )
