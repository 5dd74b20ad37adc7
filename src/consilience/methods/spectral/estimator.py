"""Co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..._saving import save_as
from ...affinities import CrossOperator, Operator
from ...arrays import Array, explain_out_of_memory, use_threads
from ...data import Table, Views
from ..common.cluster_means import ClusterMeans
from ..common.membership import LEAST_DEVIATION, Misfit, OutlierLabelsMixin
from ..common.progress import progress
from ..common.validation import OUTLIERS, Interval, StrOptions
from .algorithm import Embedding, compute_alignment, first_columns, place_entities, run_co_training
from .base import REMEDY, BaseSpectral, select_embedding_views, warn_embedding_problems

LEAST_CLOSENESS = 0.2  # deviation of the ratio of distances to the nearest two clusters
LOW_ALIGNMENT = 0.2  # alignment below which views have next to nothing in common


@save_as("co-trained-spectral")
class CoTrainedSpectral(OutlierLabelsMixin, BaseSpectral):
    """Co-trained spectral clustering for any number of views (Kumar & Daumé 2011).

    Every view embeds the entities by the eigenvectors of its similarities. In a round, each view's similarities are
    projected onto what the other views' eigenvectors span, and embedded anew: what only this view says is forgotten.
    In the end the embeddings, rows scaled to unit length, are laid side by side and clustered.

    Rounds are computed exactly without ever forming an n x n matrix, so that time and memory are those of products
    with the similarities: a graph of nearest neighbours, or landmarks for millions of entities.

    **The defaults are not the paper's.** Theirs is ``affinity="gaussian", n_iter=5``, one argument away. On fourteen
    real sets, with the same k-means, the graph of nearest neighbours was better than the Gaussian kernel of median
    bandwidth on most, and rounds helped only where the views' embeddings had next to nothing in common at the start.
    Where they have, a view that is projected onto the others loses what only it can see: on the digits that ship (views
    fou and fac), mutual information falls from 0.89 to 0.84 with the first round. See the user guide for the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str or affinity, or one a view in a dict or list, default='auto'
        How alike two entities are. 'auto': 'nearest-neighbors' up to 20,000 entities, 'landmarks' (an approximation, of
        which a warning tells) beyond. 'gaussian' is the paper's; 'nystroem' its approximation. 'cosine', 'linear',
        'polynomial'; 'chi2' and 'intersection' for counts and histograms; 'precomputed': the view is a square matrix of
        similarities, dense or sparse. Or an object of `consilience.affinities`, such as
        ``NearestNeighbors(n_neighbors=15)``.
    bandwidth : float, 'median' or 'local', or one a view in a dict or list, default='median'
        Width of the Gaussian kernel of 'gaussian' and 'nystroem'; others have no use for it. 'median': the median of
        all distances between entities. 'local': every entity has its own, the distance of its seventh neighbour.
    n_iter : int or 'auto', default='auto'
        Number of rounds; 0 lays the views' own embeddings side by side. 'auto': one round if the embeddings have next
        to nothing in common (`history_` has their alignment; below 0.2), none otherwise. More rounds do not converge in
        general.
    n_projections : int, optional
        Number of eigenvectors of each other view that a view is projected onto; `n_clusters` if not given.
    embedding : 'concat' or the name of a view, default='concat'
        What is clustered in the end: all embeddings side by side, or that of the view known to be the best.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    assign_labels : {'kmeans', 'cluster_qr'}, default='kmeans'
        How the embedding falls into clusters: by k-means, or by a rotation that gives each cluster an axis, which needs
        no start.
    n_init : int, default=10
        Number of starts of k-means.
    init : {'k-means++', 'random'}, labels or centres, default='k-means++'
        Where k-means starts from, in the embedding.
    outliers : float or 'auto', optional
        Entities that no cluster predicts well get the label -1: this share of the entities, between 0 and 0.5, or with
        'auto' those that stand out. `assign_outliers` puts them back, and `predict` gives every entity a cluster.
    random_state : int, Generator, RandomState or None, default=None
        Seed of k-means, and of the landmarks where there are any.
    n_jobs : int, default=None
        Threads that compute similarities; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity; -1 for outliers.
    embeddings_ : dict of str to array of shape (n_entities, n_clusters)
        Where each view puts the entities after the last round: eigenvectors, rows not scaled. Of the library, and on
        the device, of the views.
    affinities_ : dict of str to affinity
        What each view was compared by, nothing left open.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose mean is nearest in each view's own embedding; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    temperature_ : float
        Divides the scores that `predict_proba` turns into probabilities; `calibrate` sets it for the data.
    outlier_scores_ : ndarray of shape (n_entities,)
        How poorly the best cluster predicts each entity, in robust standard deviations: 0 is usual, larger is more
        outlying, and above 3.5 is an outlier to ``outliers='auto'``. It is the larger of two: how much
        nearer its cluster is than the next in the embedding, and how far the entity is from the mean of its cluster
        in the views that are not similarities.
    outlier_limit_ : float
        Score of `score_outliers` below which an entity fits no cluster: 0.01, or 1 / n if the fit had n < 100 entities.
    history_ : Table
        One row a round, from 0: the alignment of the views' embeddings, the mean squared cosine of the angles between
        the spaces that they span (the first eigenvectors, which tell nothing, apart).
    n_iter_, converged_ : int, bool
        Rounds taken (with one view 0), and whether the views' own eigenvectors settled. Rounds are a number, and do not
        converge in general.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    **Missing views.** A similarity that a view lacks is the mean of those in the views that have both entities, each
    view's divided by its Frobenius norm over the number of its entities; 0 if no view has both. It is done within the
    products, entity by entity: no n x n matrix here either. By cosine, a row of zeros counts as missing.

    **The shift.** Projected similarities may be negative; then the smallest is taken off all. It is found exactly, in
    blocks, which takes time that grows with the square of the entities and hardly any memory. Where the similarities
    are approximate themselves ('landmarks', 'nystroem'), it is sought in a thousand rows drawn at random.

    **Memory.** Kernels are held as a table up to 1 GiB a view and computed in blocks, again for each product, beyond;
    the numbers are the same. ``consilience.affinities`` objects tell the memory they need (`nbytes`).

    **Devices.** Arrays of torch or cupy stay where they are: similarities, eigenvectors, rounds and k-means are made
    there, and the labels are fetched at the end. A round fetches one number, the alignment. Kernels are held as a table
    as far as the device's memory goes; 'landmarks' are such a table too, of all rows with all landmarks, where it fits.
    Graphs are the exception: 'nearest-neighbors' are searched, and sparse similarities multiplied, by the processor, to
    which thin matrices travel for it.

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
        "n_iter": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "n_projections": [Interval(Integral, 1, None, closed="left"), None],
        "embedding": [str],
        "outliers": OUTLIERS,
    }
    _stays_on_device = True
    _scores_unseen = True  # where the embedding puts an entity of the fit depends on it, which no formula undoes

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: Any = "median",
        n_iter: Any = "auto",
        n_projections: int | None = None,
        embedding: str = "concat",
        views: dict[str, Any] | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        outliers: Any = None,
        random_state: Any = None,
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

    def _map(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> CoTrainedEmbedding:
        chosen = select_embedding_views(self.embedding, names)
        n_projections = self.n_projections or self.n_clusters
        n_vectors = max(self.n_clusters, n_projections)
        rounds: list[list[Embedding]] = []
        history: list[dict[str, Any]] = []
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            for i, views in enumerate(run_co_training(operators, n_vectors, n_projections, rng)):
                rounds.append(views)
                history.append({"round": i, "alignment": compute_alignment(views, self.n_clusters)})
                show(0, i, history[-1])
                if i == self._n_rounds(len(operators), history[0]["alignment"]):
                    break
        return CoTrainedEmbedding(rounds, chosen, self.n_clusters, n_projections, history)

    def _n_rounds(self, n_views: int, alignment: float) -> int:
        """How many rounds: none for one view, which has nobody to learn from."""
        if n_views == 1:
            return 0
        if self.n_iter == "auto":
            return int(alignment < LOW_ALIGNMENT)
        return self.n_iter

    def _warn(self, names: Sequence[str], present: np.ndarray, found: Any) -> None:
        for name, view, there in zip(names, found.rounds[0], present.T, strict=True):
            warn_embedding_problems(f"view {name!r}", view, there, self.n_clusters)

    def _store_outliers(self, views: Views, E: Array) -> None:
        labels = np.asarray(self.labels_)
        names = [name for name in views.names if name not in self._columns]  # similarities have no means
        self._cluster_means = ClusterMeans.fit(views[names], labels, int(self.n_clusters)) if names else None
        misfit = self._combine_misfit(views, E, labels, of_fit=True)
        by_view = {}
        for name, has_view in zip(views.names, misfit.present.T, strict=True):
            quantities = list(misfit.quantities)
            if name in names and self._cluster_means is not None:
                quantities[1] = self._cluster_means.measure(views[[name]], labels, of_fit=True)
            by_view[name] = [values[has_view] for values in quantities]
        self._mark_outliers(misfit, by_view, (LEAST_CLOSENESS, LEAST_DEVIATION))

    def _combine_misfit(self, views: Views, E: Array, labels: np.ndarray, of_fit: bool = False) -> Misfit:
        """Return how far entities are from their cluster in the embedding, beside the next, and in the views.

        The first is near 1 for entities whose views belong to different clusters. The second is large for entities that
        are far away, which the embedding does not show: a graph joins every entity to its nearest.
        """
        quantities = [compute_distance_ratio(np.asarray(self._ending.measure_distances(E), dtype=np.float64), labels)]
        if self._cluster_means is not None:
            quantities.append(self._cluster_means.measure(views, labels, of_fit))
        return Misfit(quantities, views.present, views.names)

    def _measure_misfit(self, views: Views) -> Misfit:
        with use_threads(self.n_jobs), explain_out_of_memory(f"to place {len(views):,} entities", REMEDY):
            E, has_view = self._place(views)
            labels = self._ending.predict(E)
            misfit = self._combine_misfit(views, E, labels)
        quantities = [np.where(has_view, values, np.inf) for values in misfit.quantities]
        return Misfit(quantities, misfit.present, misfit.names)

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.history_ = Table.from_rows(found.history)
        self.n_iter_ = len(found.rounds) - 1
        self.converged_ = all(view.settled for view in found.rounds[0])


def compute_distance_ratio(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the distance from its cluster over that from the nearest other, at most 1."""
    if distances.shape[1] == 1:
        return np.zeros(len(labels))
    rows = np.arange(len(labels))
    others = distances.copy()
    others[rows, labels] = np.inf
    following = others.min(axis=1)
    ratio = np.where(following > 0, distances[rows, labels] / np.where(following > 0, following, 1), 1.0)
    return np.minimum(ratio, 1.0)


@save_as("co-trained-embedding")
@dataclass(frozen=True, eq=False)
class CoTrainedEmbedding:
    """All rounds: others go through the same."""

    rounds: list[list[Embedding]]
    chosen: list[int]  # the views whose embeddings are clustered
    n_columns: int
    n_projections: int
    history: list[dict[str, Any]]

    @property
    def views(self) -> Sequence[Embedding]:
        return self.rounds[-1]

    @property
    def joint(self) -> Sequence[Array]:
        return [first_columns(self.views[v].U, self.n_columns) for v in self.chosen]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[Array]:
        found = place_entities(self.rounds, crosses, self.n_projections)
        return [first_columns(found[v], self.n_columns) for v in self.chosen]
