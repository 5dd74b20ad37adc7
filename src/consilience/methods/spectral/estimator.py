"""Co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_integer
from ..._saving import save_as
from ...affinities import CrossOperator, Operator
from ...arrays import Array, Seed, normalize_rows, use_threads
from ...data import Table, Views
from ..common.cluster_means import ClusterMeans
from ..common.membership import LEAST_DEVIATION, Misfit, OutlierLabelsMixin
from ..common.run import progress
from ..common.validation import POSITIVE_INTEGER, Interval, StrOptions, share_constraints
from .algorithm import Embedding, compute_alignment, compute_compactness, first_columns, place_entities, run_co_training
from .base import (
    BaseSpectral,
    normalize_and_concatenate,
    select_embedding_views,
    share_spectral_docs,
    warn_embedding_problems,
)

LEAST_CLOSENESS = 0.2  # deviation of the ratio of distances to the nearest two clusters
MAX_ROUNDS = 10  # most rounds of n_iter='compactness', as many as the paper's figures show
LOW_ALIGNMENT = 0.2  # alignment below which views have very little in common


@save_as("co-trained-spectral")
@share_spectral_docs
class CoTrainedSpectral(OutlierLabelsMixin, BaseSpectral):
    """Co-trained spectral clustering for any number of views (Kumar & Daumé 2011).

    With the default ``n_iter="auto"`` there is no round of co-training unless the views have nearly nothing in common:
    the views' spectral embeddings are put side by side and clustered. The paper's setting is ``affinity="gaussian",
    n_iter=5``.

    Every view embeds the entities by the eigenvectors of its similarities. In a round, each view's similarities are
    projected onto the span of the other views' eigenvectors, and embedded anew, which removes what only this view
    shows. In the end the embeddings, with rows scaled to unit length, are put side by side and clustered.

    Rounds are computed exactly without ever forming an n x n matrix, so that time and memory are those of products
    with the similarities: a graph of nearest neighbors, or landmarks.

    **Why the defaults are not the paper's.** On fourteen real data sets, with the same k-means, the graph of nearest
    neighbors was better than the Gaussian kernel of median bandwidth on most, and rounds helped only if the views'
    embeddings had very little in common at the start. Otherwise, a view that is projected onto the others loses what
    only it can see: on the included digits (views fou and fac), mutual information falls from 0.89 to 0.84 with the
    first round. See the user guide for the table.

    Parameters
    ----------
    %(n_clusters)s
    affinity : str or affinity, or one per view in a dict or list, default='auto'
        How similar two entities are. 'auto': the graph of 'nearest-neighbors'; above 100,000 entities it has nearly all
        of them (``NearestNeighbors(approximate=True)``). More than 20,000 rows that are not in memory stay there, and
        'landmarks' are used (an approximation, announced by a warning). 'gaussian' is the paper's; 'nystroem'
        approximates it. 'cosine', 'linear', 'polynomial'; 'chi2' and 'intersection' for counts and histograms;
        'precomputed': the view is a square matrix of similarities, dense or sparse. Or an object of
        `consilience.affinities`, such as ``NearestNeighbors(n_neighbors=15)``.
    %(bandwidth)s
    n_iter : int, 'auto' or 'compactness', default='auto'
        Number of rounds; 0 puts the views' initial embeddings side by side; 'auto': one round if the embeddings have
        very little in common (alignment in `history_` below 0.2), none otherwise; 'compactness': rounds go on as long
        as each makes the clusters more compact, at most 10, and the most compact round is kept. With 'compactness'
        every round is clustered, which takes time. More rounds do not converge in general.
    n_projections : int, optional
        Number of eigenvectors of each other view that a view is projected onto; `n_clusters` if not given.
    embedding : 'concat' or the name of a view, default='concat'
        What is clustered in the end: all embeddings side by side ('concat'), or that of the named view, if it is known
        to be the best.
    %(outliers)s
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_outliers_)s
    embeddings_ : dict of str to array of shape (n_entities, n_clusters)
        The embedding of the entities by each view after the last round: eigenvectors, rows not scaled. Of the library,
        and on the device, of the views.
    %(temperature_)s
    %(outlier_scores_)s
        It is the larger of two scores: how much nearer its cluster is than the next in the embedding, and how far the
        entity is from the mean of its cluster in the views that are not similarities.
    %(outlier_limit_)s
    history_ : Table
        One row per round, from 0: the alignment of the views' embeddings, the mean squared cosine of the angles between
        the spaces that they span (without the first eigenvectors, which distinguish no clusters). With
        ``n_iter='compactness'`` also the compactness of the round's clusters, and the row of the round after the one
        that was kept.
    n_iter_, converged_ : int, bool
        Number of rounds (0 with one view), and whether the views' initial eigenvectors converged. The rounds themselves
        do not converge in general.
    labels_per_round_ : ndarray of shape (`n_iter_` + 1, n_entities)
        The clusters before the first round and after each, found like `labels_` but without outliers. Computed when
        first read.
    view_labels_per_round_ : dict of str to ndarray of shape (`n_iter_` + 1, n_entities)
        Clusters of each view's own embedding in every round, which Figures 2 and 3 of the paper score and
        `consilience.plot.RoundsDisplay` draws; -1 where the entity lacks the view. Computed when first read.
    %(common_attributes)s

    Notes
    -----
    **Compactness.** The paper proposes to stop by a measure of cluster compactness, but defines none and does not try
    it. Ours is the share of the embedding's variance that lies between the clusters, from 0 to 1. It mostly rises with
    the first round and falls with the second: on six pairs or triples of views with two affinities each, it kept one
    round in eleven of twelve cases, whether or not this round improved the clusters.

    **Missing views.** A similarity that a view lacks is the mean of those in the views that have both entities, each
    view's divided by its Frobenius norm over the number of its entities; 0 if no view has both. It is done within the
    products, entity by entity, again without an n x n matrix. By cosine, a row of zeros counts as missing.

    **The shift.** If projected similarities are negative, the smallest is subtracted from all. It is found exactly, in
    blocks, which takes time that grows with the square of the entities and hardly any memory. If the similarities are
    approximate themselves (nearly all neighbors, 'landmarks', 'nystroem'), it is searched in a thousand rows drawn at
    random.

    **Memory.** Kernels are stored as a table of all pairs up to 1 GiB per view, or 16,000 entities in float64, and
    computed in blocks, again for each product, beyond; the numbers are the same. ``nbytes`` of an affinity tells the
    memory it needs.

    **Devices.** Arrays of torch or cupy stay where they are: similarities, eigenvectors, rounds and k-means are
    computed there, and the labels are fetched at the end. A round fetches one number, the alignment. Kernels are stored
    as a table if the device has the memory; so are 'landmarks', as a table of all rows with all landmarks.
    'nearest-neighbors' are searched on the device, always all of them, and the graph is built by the processor and
    multiplied on the device. Only libraries without sparse matrices multiply it by the processor.

    **New entities** are placed by the Nyström extension of every round, which is ours and not the paper's.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.CoTrainedSpectral(n_clusters=3, random_state=0).fit(views[:150])
    >>> cs.metrics.average_entropy(y[150:], model.predict(views[150:]))
    0.0
    >>> papers = cs.CoTrainedSpectral(n_clusters=3, affinity="gaussian", n_iter=5, random_state=0).fit(views)
    >>> papers.history_["alignment"].shape, papers.embeddings_["view0"].shape
    ((6,), (200, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSpectral._parameter_constraints,
        **share_constraints("outliers"),
        "n_iter": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto", "compactness"})],
        "n_projections": [POSITIVE_INTEGER, None],
        "embedding": [StrOptions({"concat"}), str],
    }
    _stays_on_device = True
    _scores_unseen = True  # where the embedding puts an entity of the fit depends on it, which no formula undoes

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        n_iter: int | Literal["auto", "compactness"] = "auto",
        n_projections: int | None = None,
        embedding: str = "concat",
        views: dict[str, Any] | None = None,
        assign_labels: Literal["kmeans", "cluster-qr"] = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        outliers: float | Literal["auto"] | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            bandwidth=bandwidth,
            views=views,
            assign_labels=assign_labels,
            n_init=n_init,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_iter = n_iter
        self.n_projections = n_projections
        self.embedding = embedding
        self.outliers = outliers

    def _embed(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> CoTrainedEmbedding:
        clustered = select_embedding_views(self.embedding, names)
        n_projections = self.n_projections or self.n_clusters
        n_vectors = max(self.n_clusters, n_projections)
        by_compactness = self.n_iter == "compactness"
        embedding = CoTrainedEmbedding([], clustered, self.n_clusters, n_projections, [])
        rounds, history = embedding.rounds, embedding.history
        n_counted = self.n_iter + 1 if is_integer(self.n_iter) else None
        with progress(type(self).__name__, 1, bool(self.verbose), n_counted) as show:
            for i, views in enumerate(run_co_training(operators, n_vectors, n_projections, rng)):
                rounds.append(views)
                record: dict[str, Any] = {"round": i, "alignment": compute_alignment(views, self.n_clusters)}
                if by_compactness:
                    E = normalize_and_concatenate(embedding.joint)
                    record["compactness"] = compute_compactness(E, self._cluster(E).predict(E), self.n_clusters)
                history.append(record)
                show(0, i, record)
                if by_compactness and i and record["compactness"] <= history[-2]["compactness"]:
                    rounds.pop()  # the round before is the most compact
                    break
                n_rounds: Any = self.n_iter
                if n_rounds == "auto":
                    n_rounds = int(history[0]["alignment"] < LOW_ALIGNMENT)
                if i == (MAX_ROUNDS if by_compactness else n_rounds) or len(operators) == 1:
                    break
        return embedding

    def _warn(self, names: Sequence[str], present: np.ndarray, embedding: Any) -> None:
        for name, view, has_view in zip(names, embedding.rounds[0], present.T, strict=True):
            warn_embedding_problems(f"view {name!r}", view, has_view, self.n_clusters)

    def _store(self, embedding: Any, present: np.ndarray) -> None:
        super()._store(embedding, present)
        self.history_ = Table.from_rows(embedding.history)
        self.n_iter_ = len(embedding.rounds) - 1
        self.converged_ = all(view.converged for view in embedding.rounds[0])
        for name in ("labels_per_round_", "view_labels_per_round_"):  # of an earlier fit
            self.__dict__.pop(name, None)

    @cached_property
    def labels_per_round_(self) -> np.ndarray:
        """Clusters before the first round and after each."""
        check_is_fitted(self)
        embedding, clusters = self._joint_embedding, []
        with use_threads(self.n_jobs):
            for i in range(len(embedding.rounds)):
                E = normalize_and_concatenate(replace(embedding, rounds=embedding.rounds[: i + 1]).joint)
                assigner = self._assigner if i == self.n_iter_ else self._cluster(E)
                clusters.append(assigner.predict(E))
        return np.stack(clusters)

    @cached_property
    def view_labels_per_round_(self) -> dict[str, np.ndarray]:
        """Clusters of each view's own embedding before the first round and after each."""
        check_is_fitted(self)
        clusters: dict[str, list[np.ndarray]] = {name: [] for name in self.embeddings_}
        with use_threads(self.n_jobs):
            for views in self._joint_embedding.rounds:
                for name, view, has_view in zip(clusters, views, self._similarities.present.T, strict=True):
                    E = normalize_rows(first_columns(view.U, self.n_clusters))
                    clusters[name].append(np.where(has_view, self._cluster(E).predict(E), -1))
        return {name: np.stack(rounds) for name, rounds in clusters.items()}

    def _store_outliers(self, views: Views, E: Array) -> None:
        labels = np.asarray(self.labels_)
        names = [name for name in views.names if name not in self._columns]  # similarities have no means
        self._cluster_means = ClusterMeans.fit(views[names], labels, int(self.n_clusters)) if names else None
        quantities = [self._compare_distances(E, labels)]
        deviations: dict[str, np.ndarray] = {}
        if self._cluster_means is not None:
            means = self._cluster_means
            deviations = {name: means.measure(views[[name]], labels, of_fit=True) for name in names}
            n_views = views[names].present.sum(axis=1)
            quantities.append(sum(deviations.values()) / np.maximum(n_views, 1))
        by_view = {}
        for name, has_view in zip(views.names, views.present.T, strict=True):
            of_view = [*quantities[:1], deviations.get(name, quantities[-1])][: len(quantities)]
            by_view[name] = [values[has_view] for values in of_view]
        misfit = Misfit(quantities, views.present, views.names)
        self._mark_outliers(misfit, by_view, (LEAST_CLOSENESS, LEAST_DEVIATION))

    def _compare_distances(self, E: Array, labels: np.ndarray) -> np.ndarray:
        """Return how far entities are from their cluster in the embedding, relative to the next, at most 1.

        It is near 1 for entities whose views belong to different clusters.
        """
        others = np.array(self._assigner.measure_distances(E), dtype=np.float64)
        rows = np.arange(len(labels))
        distances, others[rows, labels] = others[rows, labels], np.inf
        nearest = others.min(axis=1)  # inf with one cluster
        ratio = np.where(nearest > 0, distances / np.where(nearest > 0, nearest, 1), 1.0)
        return np.minimum(ratio, 1.0)

    def _measure_misfit(self, views: Views) -> Misfit:
        E, has_view = self._place(views)
        labels = self._assigner.predict(E)
        quantities = [self._compare_distances(E, labels)]
        if self._cluster_means is not None:
            # large for entities that are far away, which a graph does not show: it joins each to its nearest
            quantities.append(self._cluster_means.measure(views, labels))
        return Misfit([np.where(has_view, values, np.inf) for values in quantities], views.present, views.names)


@save_as("co-trained-embedding")
@dataclass(frozen=True, eq=False)
class CoTrainedEmbedding:
    """The embeddings of all rounds, which new entities go through as well."""

    rounds: list[list[Embedding]]
    clustered: list[int]  # the views whose embeddings are clustered
    n_columns: int
    n_projections: int
    history: list[dict[str, Any]]

    @property
    def views(self) -> Sequence[Embedding]:
        return self.rounds[-1]

    @property
    def joint(self) -> Sequence[Array]:
        return [first_columns(self.views[v].U, self.n_columns) for v in self.clustered]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[Array]:
        placed = place_entities(self.rounds, crosses, self.n_projections)
        return [first_columns(placed[v], self.n_columns) for v in self.clustered]
