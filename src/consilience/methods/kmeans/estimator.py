"""Multi-view k-means and spherical k-means."""

from __future__ import annotations

from ..._docstrings import fill_docstrings
from ..._saving import save_as
from ...divergences import Cosine, Divergence, SquaredEuclidean
from ..common.docs import share_docs
from .base import BaseMultiViewKMeans

share_kmeans_docs = fill_docstrings(
    {
        "kmeans_parameters": """
Parameters
----------
%(n_clusters)s
%(views)s
%(n_init)s
    More starts never raise the cost.
%(max_iter)s
    A round visits every view once.
%(tol)s
%(patience)s
    Views that disagree may alternate forever, so that costs need not settle.
init : {'k-means++', 'random', 'random-responsibilities'}, array-like or dict, default='k-means++'
    Where to start: 'k-means++' and 'random' choose an entity per cluster and assign the others to the nearest by all
    their views, each in units of its spread; 'random-responsibilities' puts each entity into a cluster drawn at random,
    so that all centers start near the mean. With labels (n_entities,), or centers (n_clusters, n_columns) or
    responsibilities (n_entities, n_clusters) in a dict by view, there is one run, repeatable to the bit. Of several
    views the last one decides.
%(outliers)s
    `partial_fit` refuses it.
%(random_state)s
%(n_jobs)s
%(verbose)s

Attributes
----------
labels_ : ndarray of shape (n_entities,)
    The consensus cluster of each entity; -1 for outliers.
%(view_labels_)s
cluster_centers_ : dict of str to array of shape (n_clusters, n_columns)
    The consensus centers of each view, which `predict` uses. If the views agree on no entity of a cluster, the view
    keeps its own center.
view_centers_ : dict of str to array of shape (n_clusters, n_columns)
    The centers of each view alone.
%(temperature_)s
%(outlier_scores_)s
    It is the logarithm of the distance from the nearest cluster, standardized; the spread of each cluster counts.
    Outliers that form a cluster of their own are not found.
%(outlier_limit_)s
%(agreement_unknown_)s
%(seed_classes_)s
cost_ : float
    Divergence from the consensus center (squared distance, or one minus the cosine), summed over entities and views.
history_ : Table
    One row per round: cost in total and by view, agreement; after `partial_fit` one row per batch.
n_iter_, converged_ : int, bool
    Number of rounds, and whether they settled or patience ended them before `max_iter`.
n_batches_ : int
    Number of batches, of which `fit` is one.
statistics_ : dict of str to dict
    What `partial_fit` continues from: per view the number of entities so far ('n_entities'), and per entity the
    sums and numbers of the rows that the other views assigned to each cluster ('handed') and that all agreed on
    ('agreed').
%(n_features_in_)s
"""
    }
)


@save_as("k-means")
@share_docs
@share_kmeans_docs
class MultiViewKMeans(BaseMultiViewKMeans):
    """k-means over any number of views that take turns.

    Each view computes its centers from the clusters of the view before it, and hands its own clusters to the next
    (Bickel & Scheffer 2004). In the end the entities on which all views agree define the consensus centers, and every
    entity is assigned to the cluster with the smallest Euclidean distance, summed over its views. With one view it is
    ordinary k-means. The rounds do not depend on the units of the views, but the final assignment does: scale views
    whose distances differ in size.

    %(kmeans_parameters)s

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(300, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.MultiViewKMeans(n_clusters=3, random_state=0).fit(views)
    >>> model.predict(views[:5]).tolist() == model.labels_[:5].tolist()
    True
    >>> bool(model.agreement_[0, 1] > 0.9)
    True
    """

    _reference_temperature = 0.1

    @property
    def _divergence(self) -> Divergence:
        return SquaredEuclidean()


@save_as("spherical-k-means")
@share_docs
@share_kmeans_docs
class MultiViewSphericalKMeans(BaseMultiViewKMeans):
    """Spherical k-means (cosine similarity) over any number of views that take turns.

    Each view computes its centers from the clusters of the view before it, and hands its own clusters to the next
    (Bickel & Scheffer 2004). In the end the entities on which all views agree define the consensus centers, and every
    entity is assigned to the cluster with the smallest angle, summed over its views. Rows are scaled to unit length; a
    row of zeros has no direction and counts as missing. It is made for text, and does not depend on the units of the
    views.

    %(kmeans_parameters)s

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(300, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.MultiViewSphericalKMeans(n_clusters=3, random_state=0).fit(views)
    >>> model.predict(views[:5]).tolist() == model.labels_[:5].tolist()
    True
    >>> bool(model.agreement_[0, 1] > 0.9)
    True
    """

    _reference_temperature = 0.05

    @property
    def _divergence(self) -> Divergence:
        return Cosine()
