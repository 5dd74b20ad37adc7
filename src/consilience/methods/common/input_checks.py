"""What estimators share: checking what comes in, randomness, and the attributes that all have. Functions only."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ...arrays import (
    Array,
    DeviceCSR,
    Source,
    as_rows,
    asarray_like,
    available_memory,
    map_chunks,
    mask_rows,
    max_abs,
    namespace,
    plan_reads,
    row_is_finite,
    to_numpy,
)
from ...data import Views, coerce_view, is_frame
from ...divergences import Divergence, ViewRows
from ...metrics import agreement_matrix
from ...rows import as_source, is_stored_array, read_whole


def check_views(estimator: Any, X: Any, *, reset: bool) -> Views:
    """Whatever the user handed to `fit` or `predict`, as Views; `reset` tells the first from the second.

    A plain two-dimensional array is one view, or several where the estimator's `views` names its columns. It goes
    through scikit-learn's own validation, so that it is refused in scikit-learn's own words.
    """
    if holds_views(X):
        views = X if isinstance(X, Views) else _with_fitted_names(estimator, X, reset)
    elif estimator.views is not None or is_elsewhere(X):
        views = Views([X]) if estimator.views is None else Views.from_columns(X, estimator.views)
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    else:
        if is_frame(X):
            coerce_view("X", X)  # a column that holds no numbers is named before scikit-learn stumbles over it
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums all numbers to find NaN
            X = validate_data(estimator, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
        views = Views([X])
    if not reset:
        _check_fitted_columns(estimator, views)
    _check_entities(views, fitting=reset)
    return views


def holds_views(X: Any) -> bool:
    """Whether this is a collection of views, not one array: Views, a mapping, or a list with blocks in it."""
    if isinstance(X, Views):
        return True
    if isinstance(X, Mapping):
        return not sp.issparse(X)  # scipy's dictionary of keys is a mapping too
    if not isinstance(X, list | tuple):
        return False
    blocks = [x[1] if isinstance(x, tuple) and len(x) == 2 and isinstance(x[0], str) else x for x in X]
    return any(len(getattr(block, "shape", ())) == 2 for block in blocks)


def is_elsewhere(X: Any) -> bool:
    """Whether an array is one that scikit-learn's validation would bring into memory."""
    return is_stored_array(X) or hasattr(X, "__dask_graph__")


def check_new_views(estimator: Any, X: Any) -> Views:
    """What was handed to `predict`, as Views that the estimator was fitted for."""
    check_is_fitted(estimator)
    return check_views(estimator, X, reset=False)


def _with_fitted_names(estimator: Any, X: Any, reset: bool) -> Views:
    """Blocks without names take, in `predict`, the names of the fitted views by their place."""
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
    """Store what `predict` is checked against, once `fit` has succeeded.

    Of a plain array scikit-learn's validation has counted the features already.
    """
    estimator.view_n_features_ = {name: block.shape[1] for name, block in views.items()}
    estimator.view_feature_names_ = {name: views.feature_names(name) for name in views.names}
    if not holds_views(X):
        return
    estimator.n_features_in_ = views.shape[1]
    names = [own for name in views.names if (own := views.feature_names(name)) is not None]
    if len(names) == views.n_views:
        estimator.feature_names_in_ = np.concatenate(names).astype(object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _check_fitted_columns(estimator: Any, views: Views) -> None:
    """Refuse views that were not there in `fit`, or had another width."""
    known = estimator.view_n_features_
    shared = [name for name in views.names if name in known]
    fitted = ", ".join(map(repr, known))
    if not shared:
        raise ValueError(
            f"none of the views {', '.join(map(repr, views.names))} was there in fit: give at least one of {fitted}"
        )
    for name in views.names:
        if name not in known:
            raise ValueError(f"view {name!r} was not there in fit: leave it out; the fitted views are {fitted}")
        if views[name].shape[1] != known[name]:
            raise ValueError(
                f"view {name!r} has {views[name].shape[1]} columns, but had {known[name]} in fit: give the same "
                "columns in the same order"
            )
        now, then = views.feature_names(name), estimator.view_feature_names_[name]
        if now is not None and then is not None and not np.array_equal(now, then):
            at = np.flatnonzero(now != then)[0]
            raise ValueError(
                f"view {name!r} has column {str(now[at])!r} where {str(then[at])!r} was in fit: give the same columns "
                "in the same order"
            )


def _check_entities(views: Views, *, fitting: bool) -> None:
    if fitting and not len(views):
        raise ValueError("there are no entities to learn from: give some")
    for v, name in enumerate(views.names):
        if views[name].shape[1] == 0:
            raise ValueError(f"view {name!r} has 0 columns: leave it out, or give it at least one feature")
        if fitting and not views.present[:, v].any():
            raise ValueError(f"no entity has view {name!r}: leave the view out, or check its ids and present=")
    lost = np.flatnonzero(~views.present.any(axis=1))
    if len(lost):
        raise ValueError(
            f"entity {show_id(views, lost[0])} has none of the views ({len(lost)} such): drop it with views[keep], or "
            "give it a view"
        )


def show_id(views: Views, entity: int) -> str:
    """Return the id of an entity, or its position if the views have no ids."""
    return str(entity if views.ids is None else views.ids[entity])


def validate_blocks(views: Views, *, stored: bool | Mapping[str, bool] = False) -> dict[str, tuple[Array, Array]]:
    """Each view's rows as numbers that the algorithms can trust, and which are there; missing rows become zeros.

    Rows on a disk stay there where the algorithm takes them so (`stored`, of all views or view by view).
    """
    stay = stored if isinstance(stored, Mapping) else dict.fromkeys(views.names, stored)
    blocks = {}
    for name, block in views.items():
        there = as_source(block, name) if stay[name] else read_whole(name, block, available_memory())
        blocks[name] = as_rows(there)
    if stored is not True:
        reject_device_sparse(blocks)
    _check_one_library(blocks)
    ready = {}
    for v, name in enumerate(views.names):
        X = blocks[name]
        present = views.present[:, v]
        finite, most = scan_rows(X)
        if not finite[present].all():
            entity = np.flatnonzero(present & ~finite)[0]
            whose = "" if views.ids is None else f" (entity {views.ids[entity]})"
            raise ValueError(
                f"view {name!r} has NaN or infinity in row {views.rows[entity, v]}{whose}: impute the value, or make "
                "the whole row NaN (or give present=) to say that this entity lacks the view"
            )
        X = X if present.all() else mask_rows(X, asarray_like(present, X))
        _check_range(name, most, X)
        ready[name] = X, asarray_like(present, X)
    return ready


def prepare_rows(
    views: Views, divergence: Divergence, centres: Mapping[str, Array] | None = None
) -> dict[str, ViewRows]:
    """Each view's rows made ready for a divergence; with `centres`, to be measured against those."""
    ready = prepare_chunk(views, divergence, centres)
    check_nonzero_views(views, {name: rows.present for name, rows in ready.items()}, fitting=centres is None)
    return ready


def prepare_chunk(views: Views, divergence: Divergence, centres: Mapping[str, Array] | None) -> dict[str, ViewRows]:
    """Lay out the rows of each view for a divergence, without checking that every view has usable rows."""
    rows = {}
    for name, (X, present) in validate_blocks(views, stored=True).items():
        view_centres = None if centres is None else asarray_like(to_numpy(centres[name]), present)
        rows[name] = divergence.prepare(X, present, view_centres)
    return rows


def check_nonzero_views(views: Views, present: Mapping[str, Array], *, fitting: bool) -> None:
    """Refuse a view of zeros alone, and say which entities are left without a view."""
    for name, own in present.items():
        if fitting and not bool(namespace(own).any(own)):
            raise ValueError(f"view {name!r} is all zeros, which have no direction: leave the view out")
    warn_about_zero_rows(views, present)


def find_stack_level() -> int:
    """How many frames up, from whoever asks, the first line is that is neither ours nor scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and package_of(frame) in ("consilience", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level


def package_of(frame: FrameType) -> str:
    """Whose code runs there."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def warn_about_zero_rows(
    views: Views,
    present: Mapping[str, Array],
    fate: str = "has no direction, takes no part in the clustering and gets the first cluster",
) -> None:
    """Say which entities are left without a view, once rows of zeros count as missing, and what becomes of them."""
    lost = np.flatnonzero(~np.any([to_numpy(own) for own in present.values()], axis=0))
    if len(lost):
        warnings.warn(
            f"entity {show_id(views, lost[0])} is all zeros in every view it has ({len(lost)} such): it {fate}. Drop "
            "such rows with views[keep]",
            UserWarning,
            stacklevel=find_stack_level(),
        )


def reject_device_sparse(blocks: Mapping[str, Array]) -> None:
    """Say who takes sparse matrices on a device; few do."""
    for name, X in blocks.items():
        if isinstance(X, DeviceCSR):
            raise TypeError(
                f"view {name!r} is a sparse matrix on a device, which only CoEM and the k-means take: make it dense, "
                "or give it as a scipy matrix"
            )


def _check_one_library(blocks: Mapping[str, Array]) -> None:
    (first, block), *others = blocks.items()
    library = namespace(block).__name__
    for name, other in others:
        if (another := namespace(other).__name__) != library:
            raise TypeError(
                f"view {first!r} is an array of {library}, view {name!r} of {another}: convert them to one library"
            )


def scan_rows(X: Array) -> tuple[np.ndarray, float]:
    """Which rows hold neither NaN nor infinity, and the largest absolute value of these: one pass over the rows."""
    parts = list(map_chunks(lambda rows: _scan_block(X[rows, ...]), plan_blocks(X)))
    finite, most = zip(*parts, strict=True)
    return np.concatenate(finite), max(most)


def _scan_block(X: Array) -> tuple[np.ndarray, float]:
    finite = row_is_finite(X)
    there = to_numpy(finite)
    return there, max_abs(X if there.all() else mask_rows(X, finite))


def plan_blocks(X: Array) -> list[slice]:
    """Rows to be looked at at a time: all, but for those that are on a disk."""
    return plan_reads(X) if isinstance(X, Source) else [slice(0, X.shape[0])]


def _check_range(name: str, most: float, X: Array) -> None:
    """Squares of the numbers must neither overflow nor vanish."""
    limits = namespace(X).finfo(X.dtype)
    if most and not limits.smallest_normal**0.5 < most < (limits.max / (8 * X.shape[1])) ** 0.5:
        raise ValueError(
            f"view {name!r} has numbers up to {most:.3g}, whose squares do not fit {X.dtype}: rescale the view"
        )


def gather_results(parts: Iterator[Array], out: Any = None) -> Any:
    """What the shards give, one after the other, as a numpy array, or written to where the user wants it."""
    if out is None:
        return np.concatenate([to_numpy(part) for part in parts])
    start = 0
    for part in parts:
        stop = start + part.shape[0]
        out[start:stop] = to_numpy(part)
        start = stop
    return out


def check_out(out: Any, shape: tuple[int, ...], number: float) -> None:
    """Refuse what is no place for results of this shape, among which are numbers such as this, before it is written."""
    if out is None:
        return
    if (came := tuple(getattr(out, "shape", ()))) != shape:
        raise ValueError(f"out must be an array of shape {shape} for {shape[0]} entities, got shape {came}")
    if np.asarray(number).astype(out.dtype) != number:
        raise ValueError(f"out has to hold numbers such as {number}, which do not fit {out.dtype}: give a wider type")


def check_n_clusters(n_clusters: int, n_entities: int) -> None:
    """Refuse a number of clusters that is a truth value, or larger than the number of entities."""
    if isinstance(n_clusters, bool | np.bool):
        raise TypeError(f"n_clusters={n_clusters} is a truth value: give the number of clusters, 1 or more")
    if n_clusters > n_entities:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_entities} entities there are (n_samples={n_entities}): ask "
            "for fewer clusters"
        )


def store_agreement(estimator: Any, view_labels: dict[str, np.ndarray]) -> None:
    """Set the attributes that say how far the views agree."""
    estimator.view_labels_ = view_labels
    estimator.agreement_ = agreement_matrix(view_labels)


def warn_if_not_converged(estimator: Any) -> None:
    """Say that the rounds ran out, if they did."""
    if not estimator.converged_:
        warnings.warn(
            f"no convergence in {estimator.max_iter} rounds: raise max_iter, or tol (now {estimator.tol})",
            ConvergenceWarning,
            stacklevel=find_stack_level(),
        )


def warn_about_empty_clusters(
    labels: np.ndarray, n_clusters: int, remedy: str = "lower n_clusters or raise n_init", where: str = ""
) -> None:
    """Say that clusters are empty, if some are."""
    n_found = len(np.unique(labels))
    if n_found < n_clusters:
        warnings.warn(
            f"{n_clusters - n_found} of {n_clusters} clusters are empty{where}: there may be fewer distinct entities "
            f"than clusters; {remedy}",
            ConvergenceWarning,
            stacklevel=find_stack_level(),
        )
