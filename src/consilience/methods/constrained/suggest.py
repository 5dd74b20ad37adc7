"""Which pairs of entities are most worth a person's answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...arrays import to_numpy
from ...data import Constraints, Views, label_components
from ...divergences import SquaredEuclidean
from ...metrics.agreement import all_agree
from ..common.input_checks import check_views, prepare_rows
from ..common.starts import compute_mean_divergence, compute_seed_divergences

Distances = Callable[[np.ndarray], np.ndarray]  # some entities -> distance of all from each: (n, some)


def suggest_constraints(model: Any, X: Any, n: int) -> np.ndarray:
    """Pairs of entities of which a person should say whether they belong together.

    First it is to be found out what the clusters are: entities far from all that are known (farthest first), among
    those typical of their clusters, are held against one entity of each group that is known, until there are as many
    groups that are kept apart as there are clusters. Then contested entities, on which views disagree or which are
    nearly as near to another cluster, are held against the group of their nearest cluster. Ask a few, fit again with
    the answers, ask again.

    Parameters
    ----------
    model : fitted estimator
        `PCKMeans`, `MPCKMeans` or `MultiViewConstrainedKMeans`, which know what was answered before; or another of
        consilience with `transform` or `predict_proba`.
    X : Views, or whatever the model was fitted on
        The same entities as in its `fit`.
    n : int
        Number of pairs.

    Returns
    -------
    ndarray of shape (n, 2)
        Positions of entities, the most worthwhile pair first; fewer where there is nothing left to ask.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> X, constraints = views["a"], cs.Constraints()
    >>> for _ in range(5):
    ...     model = cs.PCKMeans(n_clusters=2, init="farthest", random_state=0).fit(X, constraints=constraints)
    ...     pairs = cs.suggest_constraints(model, X, 4)
    ...     same = y[pairs[:, 0]] == y[pairs[:, 1]]  # the person's answers
    ...     constraints |= cs.Constraints(pairs[same], pairs[~same])
    >>> model = cs.PCKMeans(n_clusters=2, init="farthest", random_state=0).fit(X, constraints=constraints)
    >>> round(cs.metrics.pairwise_scores(y, model.labels_).f, 2)
    1.0
    """
    check_is_fitted(model)
    if not hasattr(model, "view_n_features_"):
        raise TypeError(f"{type(model).__name__} is no estimator of consilience: use one, such as PCKMeans")
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number of pairs, 1 or more, got {n!r}")
    views = check_views(model, X, reset=False)
    if len(views) != len(model.labels_):
        raise ValueError(
            f"{len(views)} entities, but the model was fitted on {len(model.labels_)}: pairs are suggested among those "
            "of the fit"
        )
    costs = compute_misfit(model, X)
    known = Answers(getattr(model, "given_", Constraints()), model.labels_, costs)
    pairs = generate_questions(known, build_distance_function(views), rank_contested(model, costs), model.n_clusters)
    return np.array(list(islice(pairs, int(n))), dtype=np.int64).reshape(-1, 2)


def compute_misfit(model: Any, X: Any) -> np.ndarray:
    """How ill each entity fits each cluster: (n, k)."""
    if hasattr(model, "transform"):
        return np.asarray(model.transform(X))
    if hasattr(model, "predict_proba"):
        return -np.log(np.maximum(model.predict_proba(X), np.finfo(float).tiny))
    raise TypeError(
        f"{type(model).__name__} does not say how near entities are to clusters: use a model with transform or "
        "predict_proba, such as PCKMeans"
    )


def build_distance_function(views: Views) -> Distances:
    """How far entities are from some, over all views that they share, each in units of its spread."""
    divergence = SquaredEuclidean()
    ready = prepare_rows(views, divergence)
    scales = {name: compute_mean_divergence(rows, divergence) for name, rows in ready.items()}
    measure = partial(compute_seed_divergences, ready, dict.fromkeys(ready, divergence), scales)
    return lambda entities: to_numpy(measure(entities))


def rank_contested(model: Any, costs: np.ndarray) -> np.ndarray:
    """The entities, those first on which views disagree, then by how nearly they would be in another cluster."""
    ordered = np.sort(costs, axis=1)
    margin = ordered[:, 1] - ordered[:, 0] if costs.shape[1] > 1 else ordered[:, 0]
    labels = np.stack(list(getattr(model, "view_labels_", {"": model.labels_}).values()))
    return np.lexsort((margin, all_agree(labels)))


class Answers:
    """What has been answered: groups of entities that belong together, and which of these are kept apart."""

    def __init__(self, given: Constraints, labels: np.ndarray, costs: np.ndarray) -> None:
        closed = given.closure()
        self.labels, self.costs = labels, costs
        self.own = costs[np.arange(len(labels)), labels]
        self.group = label_components(closed.must.pairs, len(labels))
        self.seen = np.zeros(len(labels), bool)
        self.seen[np.concatenate([closed.must.pairs.ravel(), closed.cannot.pairs.ravel()])] = True
        self.apart = {frozenset(pair) for pair in self.group[closed.cannot.pairs].tolist()}

    def typical(self, group: int) -> int:
        """The member of a group that fits its cluster best."""
        members = np.flatnonzero(self.group == group)
        return int(members[np.argmin(self.own[members])])

    def groups(self) -> list[int]:
        """Groups of entities that somebody was asked about, the largest first."""
        found, counts = np.unique(self.group[self.seen], return_counts=True)
        return found[np.argsort(-counts, kind="stable")].tolist()


def generate_questions(
    known: Answers, away: Distances, contested: np.ndarray, n_clusters: int
) -> Iterator[tuple[int, int]]:
    """Pairs to ask about, without end but for entities; whoever is asked about is taken to be of a group of his own."""
    groups = known.groups()
    skeleton: list[int] = []  # groups that are kept apart from each other
    for group in groups:
        if all(frozenset((group, other)) in known.apart for other in skeleton):
            skeleton.append(group)
    seen = known.seen.copy()
    if not skeleton:
        first = int(np.argmin(known.own))
        seen[first] = True
        skeleton = [int(known.group[first])]
    for group in groups:
        if group not in skeleton:  # of which it is not known yet where it belongs
            yield from compare_with_groups(known, away, group, skeleton)
    usual = known.own <= np.median(known.own)
    nearest = np.full(len(seen), np.inf)
    for entities in np.array_split(np.flatnonzero(seen), max(1, int(seen.sum()) // 8)):
        nearest = np.minimum(nearest, away(entities).min(axis=1))
    while len(skeleton) < n_clusters and (usual & ~seen).any():
        entity = int(np.argmax(np.where(usual & ~seen, nearest, -1.0)))
        seen[entity] = True
        nearest = np.minimum(nearest, away(np.array([entity]))[:, 0])
        yield from compare_with_groups(known, away, int(known.group[entity]), skeleton)
        skeleton.append(int(known.group[entity]))
    members = [known.typical(group) for group in skeleton]
    for entity in contested[~seen[contested]]:
        preferred = np.argmin(known.costs[entity, known.labels[members]])
        yield int(entity), members[preferred]


def compare_with_groups(known: Answers, away: Distances, group: int, skeleton: list[int]) -> Iterator[tuple[int, int]]:
    """Hold a group against the others, the nearest first, where it is not known to be apart."""
    entity = known.typical(group)
    others = [known.typical(other) for other in skeleton if frozenset((group, other)) not in known.apart]
    near = away(np.array([entity]))[others, 0]
    for place in np.argsort(near, kind="stable"):
        yield entity, others[place]
