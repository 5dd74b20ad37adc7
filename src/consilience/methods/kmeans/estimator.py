"""k-means over several views."""

from __future__ import annotations

from ..._saving import save_as
from ...divergences import Divergence, SquaredEuclidean
from .base import BaseMultiViewKMeans


@save_as("k-means")
class MultiViewKMeans(BaseMultiViewKMeans):
    """k-means over any number of views that take turns.

    Views take turns: each computes its centres from the clusters that the view before it found, and hands the clusters
    that it finds itself to the next (Bickel & Scheffer 2004). In the end the entities on which all views agree define
    the consensus centres, and every entity goes to the cluster at the smallest Euclidean distance, summed over its
    views.
    On one view it is ordinary k-means. The rounds do not depend on the views' units, but the last vote does: scale
    views whose distances differ in size.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    n_init : int, default=10
        Number of starts; the one of lowest cost is kept. More starts never cost more.
    max_iter : int, default=300
        Most rounds a start may take; a round visits every view once.
    tol : float, default=1e-6
        A view's cost counts as lower only if it falls by more than this share of itself.
    patience : int, default=5
        Stop after so many rounds in which no view's cost reached a new minimum. Views that disagree may take turns
        for ever, so that costs need not settle.
    init : {'k-means++', 'random'}, labels, centres or responsibilities, default='k-means++'
        Where to start. Both strategies choose entities by all their views, each in units of its spread. Given labels
        (n_entities,), or centres (n_clusters, n_columns) or responsibilities (n_entities, n_clusters) view by view in a
        dict, the run is repeatable to the bit and made once. Of several views the last one's word counts.
    outliers : float or 'auto', optional
        Entities that no cluster predicts well get the label -1: this share of the entities, between 0 and 0.5, or with
        'auto' those that stand out. `assign_outliers` puts them back, and `predict` gives every entity a cluster.
        `partial_fit` refuses it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts.
    n_jobs : int, default=None
        Threads that share the rows; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The consensus cluster of each entity; -1 for outliers.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view gives by itself; -1 where the entity lacks it.
    cluster_centers_ : dict of str to array of shape (n_clusters, n_columns)
        The consensus centres of each view, which `predict` uses. A cluster that no entity of the view was agreed on
        keeps the view's own centre.
    view_centers_ : dict of str to array of shape (n_clusters, n_columns)
        The centres that each view has by itself.
    temperature_ : float
        Divides the scores that `predict_proba` turns into probabilities; `calibrate` sets it for the data.
    outlier_scores_ : ndarray of shape (n_entities,)
        How poorly the best cluster predicts each entity, in robust standard deviations: 0 is usual, larger is more
        outlying, and above 3.5 is an outlier to ``outliers='auto'``. It is the
        logarithm of the distance from the nearest cluster, standardised; the spread of each cluster counts. Outliers
        that form a cluster of their own are not found.
    outlier_limit_ : float
        Score of `score_outliers` below which an entity fits no cluster: 0.01, or 1 / n if the fit had n < 100 entities.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    cost_ : float
        Squared distance to the consensus centre, summed over entities and views.
    history_ : Table
        One row a round: cost in total and by view, agreement; after `partial_fit` one row a batch.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether they settled or ran out of patience before `max_iter`.
    n_batches_ : int
        Batches seen, of which `fit` is one.
    statistics_ : dict of str to dict
        What `partial_fit` goes on from: of each view how many entities it had so far ('n_entities'), and per entity the
        sums and numbers of the rows that the other views gave to each cluster ('handed') and that all agreed on
        ('agreed').
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

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
