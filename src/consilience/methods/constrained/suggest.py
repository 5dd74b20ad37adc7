"""Suggest pairs of entities to ask a person about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_integer
from ...arrays import to_numpy
from ...data import Constraints
from ...data.links import label_components
from ...divergences import SquaredEuclidean
from ...metrics.agreement import all_agree
from ..common.input_checks import check_nonzero_views, check_views, validate_blocks
from ..common.starts import SeedMeasure, compute_mean_divergence

MeasureFrom = Callable[[np.ndarray], np.ndarray]  # m entities -> distance of all entities from each: (n, m)


def suggest_constraints(model: Any, X: Any, n: int) -> np.ndarray:
    """Suggest pairs of entities for which a person should say whether they belong together.

    The first questions find out what the clusters are: entities far from all entities with constraints (farthest
    first), among those typical of their clusters, are compared with one entity per known group, until there are as many
    separated groups as clusters. Then contested entities, on which views disagree or which are nearly as close to
    another cluster, are compared with the group of their nearest cluster. Ask a few questions, fit again with the
    answers, and repeat.

    Parameters
    ----------
    model : fitted estimator
        `PCKMeans`, `MPCKMeans`, `COPKMeans` or `MultiViewConstrainedKMeans`, which remember earlier answers; or another
        estimator of consilience with `transform` or `predict_proba`.
    X : Views, or whatever the model was fitted on
        The entities given to `fit`.
    n : int
        Number of pairs.

    Returns
    -------
    ndarray of shape (n, 2)
        Positions of entities, the most informative pair first; fewer if there is nothing left to ask.

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
        raise TypeError(f"{type(model).__name__} is not an estimator of consilience: use one, such as PCKMeans")
    if not is_integer(n, least=1):
        raise ValueError(f"n must be a whole number of pairs, 1 or more, got {n!r}")
    views = check_views(model, X, reset=False)
    if len(views) != len(model.labels_):
        raise ValueError(
            f"{len(views)} entities, but the model was fitted on {len(model.labels_)}: pairs are suggested among those "
            "of the fit"
        )
    if hasattr(model, "transform"):
        costs = np.asarray(model.transform(X))
    elif hasattr(model, "predict_proba"):
        costs = -np.log(np.maximum(model.predict_proba(X), np.finfo(float).tiny))
    else:
        raise TypeError(
            f"{type(model).__name__} does not say how near entities are to clusters: use a model with transform or "
            "predict_proba, such as PCKMeans"
        )
    # contested entities: first those on which views disagree, then by how close they are to a second cluster
    ordered = np.sort(costs, axis=1)
    margin = ordered[:, 1] - ordered[:, 0] if costs.shape[1] > 1 else ordered[:, 0]
    labels = np.stack(list(getattr(model, "view_labels_", {"": model.labels_}).values()))
    contested = np.lexsort((margin, all_agree(labels)))
    # distances over all shared views, each in units of its spread
    divergence = SquaredEuclidean()
    blocks = validate_blocks(views, stored=True)
    rows = {name: divergence.prepare(block, present) for name, (block, present) in blocks.items()}
    check_nonzero_views(views, {name: view.present for name, view in rows.items()}, fitting=True)
    scales = {name: compute_mean_divergence(view, divergence) for name, view in rows.items()}
    measure = SeedMeasure(rows, dict.fromkeys(rows, divergence), scales)
    answers = Answers(getattr(model, "input_constraints_", Constraints()), model.labels_, costs)
    questions = generate_questions(answers, lambda seeds: to_numpy(measure(seeds)), contested, model.n_clusters)
    return np.array(list(islice(questions, int(n))), dtype=np.int64).reshape(-1, 2)


class Answers:
    """Constraints so far: groups of entities that belong together, and which groups are separated."""

    def __init__(self, constraints: Constraints, labels: np.ndarray, costs: np.ndarray) -> None:
        closed = constraints.closure()
        self.labels, self.costs = labels, costs
        self.label_costs = costs[np.arange(len(labels)), labels]
        self.group = label_components(closed.must.pairs, len(labels))
        self.asked_about = np.zeros(len(labels), bool)
        self.asked_about[np.concatenate([closed.must.pairs.ravel(), closed.cannot.pairs.ravel()])] = True
        self.separated = {frozenset(pair) for pair in self.group[closed.cannot.pairs].tolist()}

    def find_typical(self, group: int) -> int:
        """Return the member of a group that fits its cluster best."""
        members = np.flatnonzero(self.group == group)
        return int(members[np.argmin(self.label_costs[members])])

    def list_groups(self) -> list[int]:
        """List the groups of entities that have constraints, the largest first."""
        groups, counts = np.unique(self.group[self.asked_about], return_counts=True)
        return groups[np.argsort(-counts, kind="stable")].tolist()


def generate_questions(
    answers: Answers, measure_from: MeasureFrom, contested: np.ndarray, n_clusters: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs to ask about, until no entities are left; each new entity is assumed to be a group of its own."""
    groups = answers.list_groups()
    skeleton: list[int] = []  # groups that are separated from each other
    for group in groups:
        if all(frozenset((group, other)) in answers.separated for other in skeleton):
            skeleton.append(group)
    asked_about = answers.asked_about.copy()
    if not skeleton:
        first = int(np.argmin(answers.label_costs))
        asked_about[first] = True
        skeleton = [int(answers.group[first])]
    for group in groups:
        if group not in skeleton:  # it may still belong to one of the skeleton's groups
            yield from compare_with_groups(answers, measure_from, group, skeleton)
    is_typical = answers.label_costs <= np.median(answers.label_costs)
    nearest = np.full(len(asked_about), np.inf)
    for entities in np.array_split(np.flatnonzero(asked_about), max(1, int(asked_about.sum()) // 8)):
        nearest = np.minimum(nearest, measure_from(entities).min(axis=1))
    while len(skeleton) < n_clusters and (is_typical & ~asked_about).any():
        entity = int(np.argmax(np.where(is_typical & ~asked_about, nearest, -1.0)))
        asked_about[entity] = True
        nearest = np.minimum(nearest, measure_from(np.array([entity]))[:, 0])
        yield from compare_with_groups(answers, measure_from, int(answers.group[entity]), skeleton)
        skeleton.append(int(answers.group[entity]))
    members = [answers.find_typical(group) for group in skeleton]
    for entity in contested[~asked_about[contested]]:
        preferred = np.argmin(answers.costs[entity, answers.labels[members]])
        yield int(entity), members[preferred]


def compare_with_groups(
    answers: Answers, measure_from: MeasureFrom, group: int, skeleton: list[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a group with the others from which it is not known to be separated, the nearest first."""
    entity = answers.find_typical(group)
    others = [answers.find_typical(other) for other in skeleton if frozenset((group, other)) not in answers.separated]
    distances = measure_from(np.array([entity]))[others, 0]
    for position in np.argsort(distances, kind="stable"):
        yield entity, others[position]
