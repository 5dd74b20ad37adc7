"""Checks of the data that estimators are given, attributes that all estimators store, and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._numbers import is_truth_value
from ..._warnings import find_stack_level
from ...arrays import (
    Array,
    DeviceCSR,
    as_rows,
    asarray_like,
    available_memory,
    is_in_memory,
    map_chunks,
    mask_rows,
    max_abs,
    namespace,
    plan_reads,
    row_is_finite,
    to_numpy,
)
from ...data import Views
from ...data.inputs import coerce_view, is_frame
from ...metrics import agreement_matrix
from ...rows import as_source, is_stored_array, read_whole


def check_views(estimator: Any, X: Any, *, reset: bool) -> Views:
    """Return the data given to `fit` (`reset`) or `predict` as Views.

    A plain two-dimensional array is one view, or several if the estimator's `views` names its columns. It goes through
    scikit-learn's validation, so that errors have scikit-learn's messages.
    """
    if holds_views(X):
        views = X if isinstance(X, Views) else _make_views(estimator, X, reset)
    elif estimator.views is not None or is_stored_array(X) or hasattr(X, "__dask_graph__"):
        views = Views([X]) if estimator.views is None else Views.from_columns(X, estimator.views)
        validate_data(estimator, X, skip_check_array=True, reset=reset)  # which leaves the array where it is
    else:
        if is_frame(X):
            coerce_view("X", X)  # names a column that does not hold numbers, unlike scikit-learn
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums all numbers to find NaN
            X = validate_data(estimator, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
        views = Views([X])
    if not reset:
        _check_fitted_columns(estimator, views)
    elif not len(views):
        raise ValueError("there are no entities to learn from: give at least one")
    for v, (name, block) in enumerate(views.items()):
        if block.shape[1] == 0:
            raise ValueError(f"view {name!r} has 0 columns: leave it out, or give it at least one feature")
        if reset and not views.present[:, v].any():
            raise ValueError(f"no entity has view {name!r}: leave the view out, or check its ids and present=")
    lacking = np.flatnonzero(~views.present.any(axis=1))
    if len(lacking):
        raise ValueError(
            f"entity {show_id(views, lacking[0])} has none of the views ({len(lacking)} such): drop it with "
            "views[keep], or give it a view"
        )
    return views


def check_new_views(estimator: Any, X: Any) -> Views:
    """Return the data given to `predict` as Views, which must be views of the fit."""
    check_is_fitted(estimator)
    return check_views(estimator, X, reset=False)


def holds_views(X: Any) -> bool:
    """Return whether this is a collection of views, not one array: Views, a mapping, or a list of blocks."""
    if isinstance(X, Views | Mapping):
        return not sp.issparse(X)  # scipy's dictionary of keys is a mapping, too
    return isinstance(X, list | tuple) and any(map(_is_block, X))


def _is_block(item: Any) -> bool:
    match item:
        case (str(), block):  # a pair of name and block
            item = block
    return len(getattr(item, "shape", ())) == 2


def _make_views(estimator: Any, X: Any, reset: bool) -> Views:
    """Make Views of blocks; in `predict` blocks without names take those of the fitted views by position."""
    if reset or isinstance(X, Mapping):
        return Views(X)
    names = list(estimator.view_n_features_)
    if len(X) != len(names):
        raise ValueError(
            f"{len(X)} views without names, but {type(estimator).__name__} was fitted on {len(names)}: give those that "
            f"are there by name, {{{names[0]!r}: X, ...}}"
        )
    return Views(dict(zip(names, X, strict=True)))


def store_input_features(estimator: Any, X: Any, views: Views) -> None:
    """Store the columns that the data of `predict` must have, once `fit` has succeeded."""
    feature_names = {name: views.feature_names(name) for name in views.names}
    estimator.view_n_features_ = {name: block.shape[1] for name, block in views.items()}
    estimator.view_feature_names_ = feature_names
    if not holds_views(X):
        return  # scikit-learn's validation has stored the features of a plain array
    estimator.n_features_in_ = views.shape[1]
    if all(names is not None for names in feature_names.values()):
        estimator.feature_names_in_ = np.concatenate(list(feature_names.values())).astype(object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _check_fitted_columns(estimator: Any, views: Views) -> None:
    """Refuse views that are not views of the fit, or that have other columns."""
    n_features = estimator.view_n_features_
    fitted = ", ".join(map(repr, n_features))
    if not set(views.names) & set(n_features):
        raise ValueError(
            f"none of the views {', '.join(map(repr, views.names))} was in fit: give at least one of {fitted}"
        )
    for name, block in views.items():
        if name not in n_features:
            raise ValueError(f"view {name!r} was not in fit: leave it out; the fitted views are {fitted}")
        if block.shape[1] != n_features[name]:
            raise ValueError(
                f"view {name!r} has {block.shape[1]} columns, but had {n_features[name]} in fit: give the same "
                "columns in the same order"
            )
        columns, fitted_columns = views.feature_names(name), estimator.view_feature_names_[name]
        if columns is not None and fitted_columns is not None and not np.array_equal(columns, fitted_columns):
            at = np.flatnonzero(columns != fitted_columns)[0]
            raise ValueError(
                f"view {name!r} has column {str(columns[at])!r} where fit had {str(fitted_columns[at])!r}: give the "
                "same columns in the same order"
            )


def show_id(views: Views, entity: int) -> str:
    """Return the id of an entity, or its position if the views have no ids."""
    return str(entity if views.ids is None else views.ids[entity])


def validate_blocks(views: Views, *, stored: bool | Mapping[str, bool] = False) -> dict[str, tuple[Array, Array]]:
    """Return per view its rows, checked, and which entities have it; rows of others are zeros.

    Stored arrays are read into memory unless `stored`, for all views or per view, leaves them where they are.
    """
    blocks = {}
    for name, block in views.items():
        is_left = stored[name] if isinstance(stored, Mapping) else stored
        if is_left:
            block = as_source(block, name)
        elif not is_in_memory(block):
            block = read_whole(name, block, available_memory())
        blocks[name] = as_rows(block)
        if stored is not True and isinstance(blocks[name], DeviceCSR):
            raise TypeError(
                f"view {name!r} is a sparse matrix on a device, which only CoEM and k-means accept: make it dense, "
                "or give it as a scipy matrix"
            )
    libraries = {name: namespace(block).__name__ for name, block in blocks.items()}
    first = next(iter(libraries))
    for name, library in libraries.items():
        if library != libraries[first]:
            raise TypeError(
                f"view {first!r} is an array of {libraries[first]}, view {name!r} of {library}: convert them to one "
                "library"
            )
    validated = {}
    for v, (name, X) in enumerate(blocks.items()):
        present = views.present[:, v]
        finite, largest = _scan_rows(X)
        if not finite[present].all():
            entity = np.flatnonzero(present & ~finite)[0]
            label = "" if views.ids is None else f" (entity {views.ids[entity]})"
            raise ValueError(
                f"view {name!r} has NaN or infinity in row {views.rows[entity, v]}{label}: impute the value, or make "
                "the whole row NaN (or give present=) to say that this entity lacks the view"
            )
        limits = namespace(X).finfo(X.dtype)
        if largest and not limits.smallest_normal**0.5 < largest < (limits.max / (8 * X.shape[1])) ** 0.5:
            raise ValueError(
                f"view {name!r} has numbers up to {largest:.3g}, whose squares do not fit {X.dtype}: rescale the view"
            )
        has_view = asarray_like(present, X)
        validated[name] = X if present.all() else mask_rows(X, has_view), has_view
    return validated


def _scan_rows(X: Array) -> tuple[np.ndarray, float]:
    """Return which rows are finite, and the largest absolute value of these, in one pass over the rows."""

    def scan_block(rows: slice) -> tuple[np.ndarray, float]:
        block = X[rows, ...]
        largest = max_abs(block)
        if isfinite(largest):
            return np.ones(block.shape[0], bool), largest
        finite = row_is_finite(block)
        return to_numpy(finite), max_abs(mask_rows(block, finite))

    finite, largest = zip(*map_chunks(scan_block, plan_reads(X)), strict=True)
    return np.concatenate(finite), max(largest)


def check_nonzero_views(views: Views, present: Mapping[str, Array], *, fitting: bool) -> None:
    """Refuse a view whose rows are all zeros, and warn about entities that are left without a view."""
    for name, has_view in present.items():
        if fitting and not bool(namespace(has_view).any(has_view)):
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
    warn_about_zero_rows(views, present)


def warn_about_zero_rows(
    views: Views,
    present: Mapping[str, Array],
    consequence: str = "has no direction, takes no part in the clustering and gets the first cluster",
) -> None:
    """Warn about entities that are left without a view because their rows of zeros count as missing."""
    lacking = np.flatnonzero(~np.any([to_numpy(has_view) for has_view in present.values()], axis=0))
    if len(lacking):
        warnings.warn(
            f"entity {show_id(views, lacking[0])} is all zeros in every view it has ({len(lacking)} such): it "
            f"{consequence}. Drop such rows with views[keep]",
            UserWarning,
            stacklevel=find_stack_level(),
        )


def gather_results(parts: Iterator[Array], out: Any = None) -> Any:
    """Concatenate the results of shards as a numpy array, or write them into `out` one after the other."""
    if out is None:
        return np.concatenate([to_numpy(part) for part in parts])
    start = 0
    for part in parts:
        stop = start + part.shape[0]
        out[start:stop] = to_numpy(part)
        start = stop
    return out


def check_out(out: Any, shape: tuple[int, ...], number: float) -> None:
    """Refuse an `out` that has another shape, or a type that cannot hold numbers such as `number`."""
    if out is None:
        return
    if (out_shape := tuple(getattr(out, "shape", ()))) != shape:
        raise ValueError(f"out must be an array of shape {shape} for {shape[0]} entities, got shape {out_shape}")
    if np.asarray(number).astype(out.dtype) != number:
        raise ValueError(f"out must hold numbers such as {number}, which do not fit {out.dtype}: give a wider type")


def write_labels(labels: np.ndarray, out: Any) -> Any:
    """Write labels into `out` and return it; return the labels if it is None."""
    check_out(out, labels.shape, int(labels.max(initial=0)))
    return gather_results(iter([labels]), out)


def check_n_clusters(n_clusters: int, n_entities: int) -> None:
    """Refuse a number of clusters that is a truth value, or larger than the number of entities."""
    if is_truth_value(n_clusters):
        raise TypeError(f"n_clusters={n_clusters} is a truth value: give the number of clusters, 1 or more")
    if n_clusters > n_entities:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_entities} entities (n_samples={n_entities}): ask for fewer "
            "clusters"
        )


def store_agreement(estimator: Any, view_labels: dict[str, np.ndarray], fixed_labels: np.ndarray | None = None) -> None:
    """Store the labels per view, and the share of entities on which each pair of views agrees.

    Entities whose labels are fixed, on which all views agree, do not count if there are others.
    """
    estimator.view_labels_ = view_labels
    if fixed_labels is not None and (fixed_labels < 0).any():
        view_labels = {name: labels[fixed_labels < 0] for name, labels in view_labels.items()}
    estimator.agreement_ = agreement_matrix(view_labels)


def warn_if_not_converged(estimator: Any) -> None:
    """Warn if the rounds reached `max_iter` before convergence."""
    if not estimator.converged_:
        warnings.warn(
            f"no convergence in {estimator.max_iter} rounds: raise max_iter, or tol (now {estimator.tol})",
            ConvergenceWarning,
            stacklevel=find_stack_level(),
        )


def warn_about_empty_clusters(
    labels: np.ndarray, n_clusters: int, remedy: str = "lower n_clusters or raise n_init", where: str = ""
) -> None:
    """Warn if clusters are empty; `remedy` ends the message, and `where` says which clusters."""
    n_filled = len(np.unique(labels))
    if n_filled < n_clusters:
        warnings.warn(
            f"{n_clusters - n_filled} of {n_clusters} clusters are empty{where}: there may be fewer distinct entities "
            f"than clusters; {remedy}",
            ConvergenceWarning,
            stacklevel=find_stack_level(),
        )
