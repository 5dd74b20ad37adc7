"""How many clusters, asked of the data alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score
from sklearn.utils import _safe_indexing

from .._backend import generator
from ..algorithms.progress import announce
from ..data import Table, Views
from ._shared import holds_views

TRAINING = 2 / 3  # share of the entities that a resample is fitted on


@dataclass(frozen=True)
class Selection:
    """What `select_n_clusters` found."""

    n_clusters: int  #: the pick
    reason: str  #: why, in a sentence
    table: Table  #: one row a candidate

    def __repr__(self) -> str:
        return f"{self.table!r}\n{self.reason}"

    def _repr_html_(self) -> str:
        return f"{self.table._repr_html_()}<p>{self.reason}</p>"


@dataclass(frozen=True)
class Trial:
    """One candidate fitted on one resample."""

    labels: np.ndarray  # of all entities; -1 where the estimator cannot say
    agreement: float
    likelihood: float
    found: int


def select_n_clusters(
    estimator: Any,
    X: Any,
    candidates: Iterable[int],
    *,
    n_resamples: int = 6,
    random_state: Any = None,
    verbose: bool = False,
) -> Selection:
    """Choose the number of clusters without labels.

    Each candidate is fitted on `n_resamples` random two thirds of the entities, the same for all candidates. A good
    number of clusters is one that the views agree on (Cohen's kappa of their labels: chance alone gives 0) and that comes
    out again on other entities (adjusted Rand index between resamples). The pick is where the product of both is largest;
    candidates within one standard error of it are told apart by the likelihood of held-out entities, where the
    estimator has one. Likelihood alone is not trusted: families never fit real data exactly, and the misfit is always
    worth another cluster.

    Views that err alike agree on what is wrong, so agreement means something only where views are independent given the
    cluster.

    Parameters
    ----------
    estimator : estimator, or Pipeline that ends in one
        Anything with `n_clusters`. Not changed.
    X : Views, or whatever the estimator's `fit` takes
        The data.
    candidates : iterable of int
        Numbers of clusters to try, such as ``range(2, 11)``. 1 has no agreement and no stability to speak of: it is
        picked only where it has the largest held-out likelihood.
    n_resamples : int, default=6
        How many random two thirds; at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resamples, and of the estimator where it has none.
    verbose : bool, default=False
        Say which candidate is being tried.

    Returns
    -------
    Selection
        With `n_clusters` (the pick), `reason` (a sentence) and `table`: for each candidate `agreement`, `stability`,
        `consensus` (their product; with one view the stability) and its standard error, `likelihood` (of held-out
        entities, the mean of one) and `found` (clusters that were not empty, on average).

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_text_views(200, n_clusters=3, topic_share=0.5, random_state=0)
    >>> cs.select_n_clusters(cs.MultiViewSphericalKMeans(n_init=2), views, range(2, 6), random_state=0).n_clusters
    3
    """
    data = Views(X) if holds_views(X) else X
    n = data.shape[0]
    tried = _check_candidates(candidates, int(n * TRAINING))
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be 2 or more, got {n_resamples}: stability is between resamples")
    rng = generator(random_state)
    splits = [rng.permutation(n) for _ in range(n_resamples)]
    seeds = rng.integers(2**31, size=n_resamples)
    rows = []
    for k in tried:
        announce(f"select_n_clusters: {k} clusters", verbose)
        trials = [_try(estimator, data, k, *split_and_seed) for split_and_seed in zip(splits, seeds, strict=True)]
        rows.append({"n_clusters": k, **_summary(trials, k)})
    return _pick(Table.from_rows(rows))


def _check_candidates(candidates: Iterable[int], most: int) -> list[int]:
    tried = sorted(set(candidates))
    if not tried:
        raise ValueError("no candidates: give numbers of clusters, such as range(2, 11)")
    if not all(isinstance(k, int | np.integer) for k in tried) or tried[0] < 1:
        raise ValueError(f"candidates must be whole numbers from 1 on, got {tried}")
    if tried[-1] > most:
        raise ValueError(
            f"{tried[-1]} clusters are more than the {most} entities that a resample is fitted on: try fewer"
        )
    return [int(k) for k in tried]


def _try(estimator: Any, data: Any, k: int, split: np.ndarray, seed: int) -> Trial:
    """Fit one candidate on one resample."""
    prefix = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    model = clone(estimator).set_params(**{f"{prefix}n_clusters": k})
    if model.get_params().get(f"{prefix}random_state", 0) is None:
        model.set_params(**{f"{prefix}random_state": int(seed)})
    train, held_out = np.split(split, [int(len(split) * TRAINING)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a candidate that is too large leaves clusters empty
        model.fit(_safe_indexing(data, train))
    own = model[-1] if prefix else model
    labels = np.full(len(split), -1)
    labels[train] = own.labels_
    if hasattr(model, "predict"):
        labels[held_out] = model.predict(_safe_indexing(data, held_out))
    likelihood = np.nan
    if hasattr(model, "score_samples"):
        likelihood = float(np.mean(model.score_samples(_safe_indexing(data, held_out))))
    return Trial(labels, _kappa(list(own.view_labels_.values())), likelihood, len(np.unique(own.labels_)))


def _kappa(view_labels: list[np.ndarray]) -> float:
    """Mean of Cohen's kappa over the pairs of views; NaN where there is none."""
    values = []
    for a, b in combinations(view_labels, 2):
        both = (a >= 0) & (b >= 0)
        if len(np.unique(np.concatenate([a[both], b[both]]))) > 1:
            values.append(cohen_kappa_score(a[both], b[both]))
    return float(np.mean(values)) if values else np.nan


def _summary(trials: list[Trial], k: int) -> dict[str, float]:
    """A candidate's line in the table."""
    nothing = k == 1 or all(trial.found == 1 for trial in trials)  # one cluster is always stable: that says nothing
    similar = np.full((len(trials), len(trials)), np.nan)
    for a, b in combinations(range(len(trials)), 2):
        both = (trials[a].labels >= 0) & (trials[b].labels >= 0)
        similar[a, b] = similar[b, a] = adjusted_rand_score(trials[a].labels[both], trials[b].labels[both])
    stability = np.full(len(trials), np.nan) if nothing else np.nanmean(similar, axis=1)
    agreement = np.array([trial.agreement for trial in trials])
    several = agreement[~np.isnan(agreement)]
    consensus = stability * np.where(np.isnan(agreement), 1.0 if not len(several) else 0.0, agreement)
    return {
        "agreement": float(several.mean()) if len(several) else np.nan,
        "stability": float(stability.mean()),
        "consensus": float(consensus.mean()),
        "standard_error": float(consensus.std(ddof=1) / np.sqrt(len(trials))),
        "likelihood": float(np.mean([trial.likelihood for trial in trials])),
        "found": float(np.mean([trial.found for trial in trials])),
    }


def _pick(table: Table) -> Selection:
    """The rule, and the sentence that says how it went."""
    k, consensus, likelihood = (table[name] for name in ("n_clusters", "consensus", "likelihood"))
    if k[0] == 1 and likelihood[0] == likelihood.max():
        return Selection(1, "1 cluster: more clusters make held-out entities less likely.", table)
    if np.isnan(consensus).all():
        at = int(np.nanargmax(likelihood)) if not np.isnan(likelihood).all() else 0
        return Selection(int(k[at]), f"{k[at]}: no candidate could be compared between resamples.", table)
    best = int(np.nanargmax(consensus))
    near = np.flatnonzero(consensus >= consensus[best] - table["standard_error"][best])
    what = f"views agree (kappa {table['agreement'][best]:.2f}) and " if not np.isnan(table["agreement"][best]) else ""
    found = f"resamples agree (adjusted Rand index {table['stability'][best]:.2f})"
    if len(near) == 1 or np.isnan(likelihood[near]).any():
        return Selection(int(k[best]), f"{k[best]} clusters: {what}{found} best.", table)
    at = int(near[np.argmax(likelihood[near])])
    among = " and ".join([", ".join(map(str, k[near[:-1]])), str(k[near[-1]])])
    reason = (
        f"{k[at]} clusters: {what}{found} best for {k[best]}, within one standard error for {among}; of these {k[at]}"
    )
    return Selection(int(k[at]), f"{reason} makes held-out entities most likely.", table)
