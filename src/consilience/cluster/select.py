"""How many clusters, asked of the data alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score, mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, validate_params

from .._backend import generator
from ..algorithms.progress import announce
from ..data import Table, Views
from ._shared import RANDOM_STATE, holds_views

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
    shared_bits: float
    likelihood: float
    found: int


@validate_params(
    {
        "estimator": [HasMethods(["fit", "set_params"])],
        "candidates": ["array-like"],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": RANDOM_STATE,
        "verbose": ["verbose"],
    },
    prefer_skip_nested_validation=True,
)
def select_n_clusters(
    estimator: Any,
    X: Any,
    candidates: Sequence[int],
    *,
    n_resamples: int = 6,
    random_state: Any = None,
    verbose: bool = False,
) -> Selection:
    """Choose the number of clusters without labels.

    Each candidate is fitted on `n_resamples` random two thirds of the entities, the same for all candidates. A good
    number of clusters is one that the views agree on in detail (information that their labels share, in bits, beyond
    what chance would give) and that comes out again on other entities (adjusted Rand index between resamples). The
    pick is where the product of both is largest. The likelihood of held-out entities, where the estimator has one, sets
    a limit: no more clusters than the fewest that are as good as the best, within one standard error. It also tells
    candidates apart that come within one standard error of the largest product; without it the fewest clusters win.
    Likelihood is not trusted alone: families never fit real data exactly, and the misfit is always worth another
    cluster.

    Views that err alike agree on what is wrong: all this needs views that are independent given the cluster.

    Parameters
    ----------
    estimator : estimator, or Pipeline that ends in one
        Anything with `n_clusters` and `labels_`; without `view_labels_`, such as scikit-learn's own, it is judged like
        one with a single view. Not changed.
    X : Views, or whatever the estimator's `fit` takes
        The data.
    candidates : sequence of int
        Numbers of clusters to try, such as ``range(2, 11)``. 1 has no agreement and no stability to speak of: it is
        picked only where held-out entities are no more likely under more.
    n_resamples : int, default=6
        How many random two thirds; at least 2.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resamples, and of the estimator where it has none.
    verbose : bool, default=False
        Say which candidate is being tried.

    Returns
    -------
    Selection
        With `n_clusters` (the pick), `reason` (a sentence) and `table`: for each candidate `agreement` (Cohen's kappa
        of two views, on average), `shared_bits` (information that two views share; with one view, two resamples),
        `stability`, `consensus` (their product) and its standard error, `likelihood` (of a held-out entity, on average)
        and `found` (clusters that were not empty, on average).

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_text_views(200, n_clusters=3, topic_share=0.5, random_state=0)
    >>> cs.select_n_clusters(cs.MultiViewSphericalKMeans(n_init=2), views, range(2, 6), random_state=0).n_clusters
    3
    """
    data = _as_data(estimator, X)
    n = data.shape[0]
    tried = _check_candidates(candidates, int(n * TRAINING))
    if hasattr(estimator, "families_for"):  # chosen by a look at all entities, not at those of a resample
        estimator = clone(estimator).set_params(families=estimator.families_for(data))
    rng = generator(random_state)
    splits = [rng.permutation(n) for _ in range(n_resamples)]
    seeds = rng.integers(2**31, size=n_resamples)
    rows, likelihoods = [], []
    for k in tried:
        announce(f"select_n_clusters: {k} clusters", verbose)
        trials = [_try(estimator, data, k, *split_and_seed) for split_and_seed in zip(splits, seeds, strict=True)]
        rows.append({"n_clusters": k, **_summary(trials, k)})
        likelihoods.append([trial.likelihood for trial in trials])
    return _pick(Table.from_rows(rows), _most_supported(tried, np.array(likelihoods)))


def _as_data(estimator: Any, X: Any) -> Any:
    """The data in a form whose rows can be chosen: as Views, if the estimator takes those."""
    if holds_views(X):
        return Views(X)
    named = getattr(estimator, "views", X)  # an estimator of ours that cuts the columns itself, or one of others
    return Views([X]) if named is None else (X if hasattr(X, "shape") else np.asarray(X))


def _check_candidates(candidates: Sequence[int], most: int) -> list[int]:
    tried = list(candidates)
    if not tried:
        raise ValueError("no candidates: give numbers of clusters, such as range(2, 11)")
    if not all(isinstance(k, int | np.integer) and k >= 1 for k in tried):
        raise ValueError(f"candidates must be whole numbers from 1 on, got {tried}")
    tried = sorted(set(tried))
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
        likelihood = likelihood if np.isfinite(likelihood) else np.nan  # ruled out: compares with nothing
    pairs = list(combinations(getattr(own, "view_labels_", {}).values(), 2))
    return Trial(
        labels,
        mean_of(over_shared(kappa, *pair) for pair in pairs),
        mean_of(over_shared(shared_bits, *pair) for pair in pairs),
        likelihood,
        len(np.unique(own.labels_)),
    )


def over_shared(measure: Callable[[np.ndarray, np.ndarray], float], a: np.ndarray, b: np.ndarray) -> float:
    """A measure of two labellings over the entities that both label; NaN where there are none."""
    both = (a >= 0) & (b >= 0)
    return measure(a[both], b[both]) if both.any() else np.nan


def kappa(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's kappa: 1 where two views agree, 0 where they agree as often as chance has it."""
    return float(cohen_kappa_score(a, b)) if len(np.unique([a, b])) > 1 else np.nan


def shared_bits(a: np.ndarray, b: np.ndarray) -> float:
    """Mutual information of two labellings in bits, less what chance alone would give."""
    table = contingency_matrix(a, b, sparse=True).astype(np.int64)
    found = mutual_info_score(None, None, contingency=table)
    return float(found - expected_mutual_information(table, len(a))) / log(2)


def mean_of(values: Iterable[float]) -> float:
    """Mean of those that are numbers; NaN where none is."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else np.nan


def _summary(trials: list[Trial], k: int) -> dict[str, float]:
    """A candidate's line in the table."""
    n = len(trials)
    similar, common = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for a, b in combinations(range(n), 2):
        labels = trials[a].labels, trials[b].labels
        similar[a, b] = similar[b, a] = over_shared(adjusted_rand_score, *labels)
        common[a, b] = common[b, a] = over_shared(shared_bits, *labels)
    # one cluster is always the same: that says nothing
    stability = np.array([np.nan if k == 1 else mean_of(row) for row in similar])
    bits = np.array([trial.shared_bits for trial in trials])
    bits = np.array([mean_of(row) for row in common]) if np.isnan(bits).all() else bits
    consensus = stability * bits
    return {
        "agreement": mean_of(trial.agreement for trial in trials),
        "shared_bits": mean_of(bits),
        "stability": mean_of(stability),
        "consensus": mean_of(consensus),
        "standard_error": _standard_error(consensus[~np.isnan(consensus)]),
        "likelihood": float(np.mean([trial.likelihood for trial in trials])),
        "found": float(np.mean([trial.found for trial in trials])),
    }


def _standard_error(values: np.ndarray) -> float:
    """Of their mean; 0 where there are not two."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _most_supported(tried: list[int], likelihoods: np.ndarray) -> int:
    """The fewest clusters under which held-out entities are as likely as under the best, within one standard error."""
    if np.isnan(likelihoods).any():
        return tried[-1]
    lost = likelihoods[likelihoods.mean(axis=1).argmax()] - likelihoods  # (candidates, resamples), by resample
    error = lost.std(axis=1, ddof=1) / np.sqrt(lost.shape[1])
    return tried[int(np.flatnonzero(lost.mean(axis=1) <= error)[0])]


def _pick(table: Table, limit: int) -> Selection:
    """The rule, and the sentence that says how it went."""
    k, consensus, likelihood = (table[name] for name in ("n_clusters", "consensus", "likelihood"))
    if limit == 1 or np.isnan(consensus[k <= limit]).all():
        least, more = int(k[0]), limit < k[-1]
        why = "more do not make held-out entities more likely" if more else "there is nothing to compare it with"
        return Selection(least, f"{_clusters(least)}: {why}.", table)
    consensus = np.where(k <= limit, consensus, np.nan)
    best = int(np.nanargmax(consensus))
    near = np.flatnonzero(consensus >= consensus[best] - table["standard_error"][best])
    by_likelihood = not np.isnan(likelihood[near]).any()
    at = int(near[np.argmax(likelihood[near])] if by_likelihood else near[0])
    sharing = "resamples" if np.isnan(table["agreement"][best]) else "views"
    found = (
        f"{sharing} share {table['shared_bits'][best]:.2f} bits and resamples agree (adjusted Rand index "
        f"{table['stability'][best]:.2f})"
    )
    beyond = f" More than {limit} do not make held-out entities more likely." if limit < k[-1] else ""
    if len(near) == 1:
        return Selection(int(k[at]), f"{_clusters(k[at])}: {found}, which is best.{beyond}", table)
    among = " and ".join([", ".join(map(str, k[near[:-1]])), str(k[near[-1]])])
    decided = f"{k[at]} makes held-out entities most likely" if by_likelihood else f"{k[at]} is the smallest"
    first = f"{_clusters(k[at])}: with {k[best]} {found}, within one standard error for {among}"
    return Selection(int(k[at]), f"{first}; of these {decided}.{beyond}", table)


def _clusters(k: int) -> str:
    return f"{k} cluster" if k == 1 else f"{k} clusters"
