"""Fits to disjoint halves of the entities, and predictions of the entities that each has not seen."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..._progress import open_task
from ...arrays import as_rows, available_memory, to_host
from ...data import Constraints, Views
from ...rows import read_whole
from .run import draws_starts

LEAST_PER_CLUSTER = 4  # entities per cluster without which halves cannot be clustered
ATTEMPTS = 3  # divisions that are tried if a half cannot be clustered

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class HalfFit:
    """The labels of a fit to one half of the entities, and its predictions for the other half."""

    rows: np.ndarray  # entities of the fit
    others: np.ndarray  # entities that it has not seen
    labels: np.ndarray  # (rows,)
    predicted: np.ndarray  # (others,)


@dataclass(frozen=True, eq=False)
class ModelData:
    """The data that a model is fitted to, of which entities can be taken."""

    X: Any  # Views, or an array that the model divides into views itself
    constraints: Any = None  # Constraints by position, or a mapping of these by view
    y: np.ndarray | None = None  # known classes, -1 where unknown

    def take(self, rows: np.ndarray) -> Any:
        """Return some entities."""
        return self.X[rows] if isinstance(self.X, Views) else _safe_indexing(self.X, rows)

    def fit(self, model: Any, rows: np.ndarray) -> Any:
        """Fit an unfitted model to some entities, and return it."""
        options = {} if self.y is None else {"y": self.y[rows]}
        if self.constraints is not None:
            step = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
            options[f"{step}constraints"] = restrict_constraints(self.constraints, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all entities has given its warnings to the user
            return model.fit(self.take(rows), **options)

    def fit_half(self, model: Any, rows: np.ndarray, others: np.ndarray, seed: int) -> HalfFit:
        """Fit a clone to one half and predict the other."""
        fitted = self.fit(clone_quietly(model, random_state=seed), rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = np.asarray(fitted.predict(self.take(others)))
        return HalfFit(rows, others, np.asarray(last_step(fitted).labels_), predicted)


def restrict_constraints(constraints: Any, rows: np.ndarray) -> Any:
    """Return the constraints between the entities at `rows`, with new positions."""
    if isinstance(constraints, Mapping):
        return {name: restrict_constraints(links, rows) for name, links in constraints.items()}
    numbers = np.column_stack([rows, np.arange(len(rows))])
    return Constraints.from_links(constraints.must.transfer(numbers), constraints.cannot.transfer(numbers))


def clone_quietly(model: Any, **settings: Any) -> Any:
    """Return an unfitted clone that shows no progress, with other settings wherever it, or a step of it, has them."""
    fresh = clone(model)
    settings = {"verbose": False, **settings}
    parameters = {name: name.rpartition("__")[2] for name in fresh.get_params(deep=True)}
    return fresh.set_params(**{name: settings[last] for name, last in parameters.items() if last in settings})


def reset_start(model: Any) -> Any:
    """Return an unfitted clone that starts from the default `init` if labels, responsibilities or centers were given.

    A start that was given for all entities would tell a fit to one half what the fit to all entities says of the other.
    """
    fresh = clone_quietly(model)
    parameters = fresh.get_params(deep=True)
    defaults = {}
    for name, value in parameters.items():
        owner, _, last = name.rpartition("__")
        if last == "init" and value is not None and not draws_starts(value) and not callable(value):
            estimator = parameters[owner] if owner else fresh
            defaults[name] = signature(type(estimator)).parameters["init"].default
    return fresh.set_params(**defaults)


def check_fitted_entities(labels: np.ndarray, n_entities: int) -> None:
    """Refuse data whose number of entities is not that of the fit."""
    if len(labels) != n_entities:
        raise ValueError(
            f"X has {n_entities:,} entities, but the model was fitted to {len(labels):,}: give the data of the fit"
        )


def check_entities_per_cluster(n_entities: int, n_clusters: int, purpose: str) -> None:
    """Refuse data with too few entities to fit the clusters to each half; `purpose` begins the remedy."""
    least = LEAST_PER_CLUSTER * n_clusters
    if n_entities < least:
        raise ValueError(
            f"{n_entities} entities are too few to fit {n_clusters} clusters to each half of them: {purpose} needs "
            f"at least {LEAST_PER_CLUSTER} entities per cluster, {least}"
        )


def try_divisions(
    sample: np.ndarray,
    rng: np.random.Generator,
    fit_half: Callable[[str, np.ndarray, np.ndarray, int], T],
    groups: np.ndarray | None = None,
) -> list[T]:
    """Divide the sample into random halves, and return what `fit_half` returns for each.

    `fit_half` gets a name of the fit, the entities to fit, the others, and a seed. If it raises a ValueError because a
    half cannot be clustered, another division is tried. Entities of the same group come into the same half.
    """
    for attempt in range(1, ATTEMPTS + 1):
        rows, others = split_entities(sample, rng, groups)
        seeds = rng.integers(2**31, size=2).tolist()
        pair = [(rows, others, seeds[0]), (others, rows, seeds[1])]
        fits = []
        try:
            with open_task(len(pair)) as task:
                for number, half in enumerate(pair):
                    fits.append(fit_half(f"attempt {attempt}, half {number}", *half))
                    task.advance()
            return fits
        except ValueError as error:
            refusal = error
    raise ValueError(
        f"no half of the {len(sample):,} entities could be clustered on its own, so that none can be held out: "
        f"{refusal}"
    ) from refusal


def last_step(model: Any) -> Any:
    """Return the clusterer of a pipeline, or the estimator itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def split_entities(
    rows: np.ndarray, rng: np.random.Generator, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return two random halves, each sorted; entities of the same group come into the same half."""
    if groups is not None:
        is_first = np.isin(groups, split_entities(np.unique(groups), rng)[0])
        return np.sort(rows[is_first]), np.sort(rows[~is_first])
    order = rng.permutation(rows)
    middle = len(rows) // 2
    return np.sort(order[:middle]), np.sort(order[middle:])


def group_identical(views: Views) -> np.ndarray:
    """Return the number of each entity's group, where a group has the entities that are identical in all views.

    Groups are numbered in the order of their first entities. Identical entities have the same views; an entity that
    has no view is a group by itself.
    """
    numbers: dict[tuple[bytes, ...], int] = {}
    digests = zip(*(digest_rows(views, name) for name in views.names), strict=True)
    keys = (digest if any(digest) else (b"", str(row).encode()) for row, digest in enumerate(digests))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def digest_rows(views: Views, name: str) -> list[bytes]:
    """Return a digest of each entity's row of a view, empty if the entity lacks the view."""
    rows = to_host(as_rows(read_whole(name, views[name], available_memory())))
    present = views.present[:, views.names.index(name)].tolist()
    if sp.issparse(rows):
        rows = rows.tocsr(copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        bounds = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        contents = (
            rows.indices[first:last].astype(np.int64).tobytes() + rows.data[first:last].tobytes()
            for first, last in bounds
        )
    else:
        contents = ((row + 0.0).tobytes() for row in rows)  # adding zero makes -0.0 equal to 0.0
    return [
        hashlib.blake2b(content, digest_size=16).digest() if is_present else b""
        for content, is_present in zip(contents, present, strict=True)
    ]


def match_clusters(labels: np.ndarray, others: np.ndarray, n_clusters: int = 0) -> np.ndarray:
    """Return for each cluster of the first labelling its counterpart in the second, so that most entities agree.

    Negative labels do not count. There are at least `n_clusters` clusters, of which some may be empty.
    """
    both = (labels >= 0) & (others >= 0)
    size = max(n_clusters, int(max(labels.max(initial=0), others.max(initial=0))) + 1)
    counts = np.zeros((size, size))
    np.add.at(counts, (labels[both], others[both]), 1)
    return linear_sum_assignment(-counts)[1]


def compute_disagreement(labels: np.ndarray, others: np.ndarray) -> float:
    """Return the share of entities on which two labellings disagree after their clusters are matched one to one."""
    both = (labels >= 0) & (others >= 0)
    if not both.any():
        return 1.0
    return float(np.mean(match_clusters(labels, others)[labels[both]] != others[both]))


def measure_disagreement(first: HalfFit, second: HalfFit) -> float:
    """Return how often each fit's predictions differ from the labels that the other gives to its own entities."""
    pairs = ((first.predicted, second.labels), (second.predicted, first.labels))
    return sum(compute_disagreement(*pair) for pair in pairs) / 2


def find_repeated(half: HalfFit, labels: np.ndarray) -> np.ndarray:
    """Return for the entities that the fit has not seen whether it puts them into the cluster they have, (others,).

    Its clusters are matched to those of `labels`, the labels of all entities, by the entities it was fitted to.
    """
    counterparts = match_clusters(half.labels, labels[half.rows])
    has_prediction = half.predicted >= 0
    predicted = np.where(has_prediction, counterparts[np.where(has_prediction, half.predicted, 0)], -1)
    return predicted == labels[half.others]
