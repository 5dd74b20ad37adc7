"""Fit the chosen method to the views."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Constraints, Views
from ..methods import SpectralFeatures
from ..persist import check_savable
from ..registry import DEFAULT_METHOD, find_estimator
from ..selection import Selection, select_n_clusters
from ..selection.candidates import limit_clusters
from .loading import SMALL_GROUPS, LoadedData
from .log import RunLog, count_noun
from .options import RunOptions

WIDE = 30  # number of columns above which a view is reduced for methods that take few columns
N_FEATURES = 5  # number of columns after the reduction
MAX_GROUPED = 20_000  # entities up to which -k small-groups works


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A fitted model, and the reductions of the views before they reach it."""

    estimator: Any
    features: dict[str, Any]  # fitted transformers of the views that are reduced
    views: Views  # after the reduction
    selection: Selection | None

    @property
    def has_small_groups(self) -> bool:
        """Whether the clusters are duplicates and other small groups (-k small-groups)."""
        return self.selection is not None and self.selection.labels is not None

    @property
    def has_clusters(self) -> bool:
        """Whether there are clusters large enough to assess and to compare."""
        return self.selection is None or (bool(self.selection.supported) and not self.has_small_groups)


def fit_model(data: LoadedData, options: RunOptions, log: RunLog, usual_number: int | None = None) -> FittedRun:
    """Choose the number of clusters if it is not given, and fit the method.

    The usual number of clusters is chosen if it is among those that the data supports.
    """
    k, outliers, declaration = options.k, options.outliers, data.declaration
    check_savable(declaration.build(2, data.prepared.kinds))
    features = _fit_features(data, options.seed, log)
    views = reduce_views(data.views, features)
    selection = None
    if k == SMALL_GROUPS:
        if len(data.views) > MAX_GROUPED:
            raise ValueError(
                f"-k {SMALL_GROUPS} takes up to {MAX_GROUPED:,} entities, got {len(data.views):,}: cluster a part of "
                "them"
            )
        selection = choose_k(data, options.seed, log, small_groups=True)
    elif k == "auto" and not declaration.chooses_n_clusters:
        selection = choose_k(data, options.seed, log)
        if usual_number is not None and usual_number in selection.supported[1:]:
            reason = (
                f"{count_noun(usual_number, 'cluster')} as before, which the data still supports. {selection.reason}"
            )
            selection = replace(selection, n_clusters=usual_number, reason=reason)
    n_clusters = selection.n_clusters if selection else None if k == "auto" else int(k)
    if selection is not None and data.seeds is not None and selection.n_clusters < len(data.seeds.names):
        n_clusters = len(data.seeds.names)
        log.note(
            f"The views alone support {count_noun(selection.n_clusters, 'cluster')}, but --seeds has {n_clusters} "
            f"classes: there are {n_clusters} clusters. Give -k N for another number."
        )
        selection = None
    estimator = declaration.build(n_clusters, data.prepared.kinds, seed=options.seed)
    arguments = data.fit_arguments
    if selection is not None and selection.labels is not None:
        estimator.set_params(init=selection.labels)
        links = link_groups(selection.labels)  # otherwise the refinement would split small groups
        joint = None if data.file_constraints is None else data.file_constraints.joint
        arguments = {"constraints": links if joint is None else links | joint}
    if outliers is not None:
        estimator.set_params(outliers=outliers)
    sample_size = getattr(estimator, "sample_size", None)  # similarities are never sampled
    if sample_size is not None and len(views) > sample_size and "similarities" not in data.prepared.kinds.values():
        log.note(
            f"Clusters are found in a random sample of {sample_size:,} entities; the others are predicted from the "
            "sample."
        )
    with log.step(f"clustering by {declaration.title}", "fitted the model"), warnings.catch_warnings():
        if k == SMALL_GROUPS:  # small groups are wanted here, and must-links keep them
            warnings.filterwarnings("ignore", message=".*too few to predict each cluster")
        if data.seeds is not None:  # a note says it in the terms of the command
            warnings.filterwarnings("ignore", message="y gives one of .* to every entity")
        estimator.fit(views, **arguments)
    check_fitted(data.method, estimator)
    if outliers == "auto" and (np.asarray(estimator.labels_) >= 0).all():
        log.note("No outliers were found: --outliers auto labels none.")
    return FittedRun(estimator, features, views, selection)


def check_fitted(method: str, estimator: Any) -> None:
    """Refuse a model that lacks results, or that cannot be saved, before it is assessed and explained."""
    missing = [name for name in ("labels_", "view_labels_", "agreement_") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(f"--method {method}: {type(estimator).__name__}.fit must set {', '.join(missing)}")
    check_savable(estimator)


def _fit_features(data: LoadedData, seed: int, log: RunLog) -> dict[str, Any]:
    """Fit the reduction of each view that is too wide for the method."""
    if not data.declaration.takes_few_columns:
        return {}
    wide = [name for name, block in data.views.items() if block.shape[1] > WIDE or sp.issparse(block)]
    if not wide:
        return {}
    log.note(f"Views {', '.join(wide)} are reduced to {N_FEATURES} spectral features.")
    features = {}
    with log.step("reducing wide views", "reduced wide views"):
        for name in wide:
            is_present = data.views.present[:, data.views.names.index(name)]
            n_features = min(N_FEATURES, int(is_present.sum()) - 1)
            features[name] = SpectralFeatures(n_features, random_state=seed).fit(data.views[is_present][name])
    return features


def reduce_views(views: Views, features: Mapping[str, Any]) -> Views:
    """Return the views with the columns that the model was fitted on."""
    if not features:
        return views
    blocks: dict[str, Any] = {}
    for name, block in views.items():
        is_present = views.present[:, views.names.index(name)]
        if name not in features or not is_present.any():
            blocks[name] = block
            continue
        reduced = features[name].transform(views[is_present][name])
        blocks[name] = np.full((len(views), reduced.shape[1]), np.nan)
        blocks[name][is_present] = reduced
    return views.replace_blocks(blocks)


def choose_k(data: LoadedData, seed: int, log: RunLog, small_groups: bool = False) -> Selection:
    """Choose the number of clusters by the default method, for which there is a quick search."""
    declaration = find_estimator(DEFAULT_METHOD)
    views = data.prepare_for(declaration)
    if not small_groups and limit_clusters(len(views)) < 2:
        raise ValueError(
            f"{count_noun(len(views), 'entity is', 'entities are')} too few to choose the number of clusters: give -k N"
        )
    estimator = declaration.build(2, data.prepared.kinds, seed=seed)
    joint = None if data.file_constraints is None else data.file_constraints.joint
    constraints = joint if small_groups else None
    with log.step("choosing the number of clusters", "chose the number of clusters"):
        return select_n_clusters(
            estimator, views, small_groups=small_groups, constraints=constraints, random_state=seed
        )


def describe_selection(selection: Selection) -> str:
    """Say which numbers of clusters are supported."""
    advice = [] if selection.supported else ["All entities form one cluster; use -k N to get N clusters anyway."]
    return "\n".join([selection.reason, *selection.sentences, *advice])


def link_groups(labels: np.ndarray) -> Constraints:
    """Return must-links, by position, between the first entity of each group and the others."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    others = np.setdiff1d(np.arange(len(labels)), first)
    return Constraints(np.column_stack([first[group[others]], others]), by="position")
