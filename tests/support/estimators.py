"""Every estimator there is: a new one is picked up by one line here."""

from consilience import (
    CoEM,
    Consilience,
    ConvexMixture,
    CoTrainedSpectral,
    MultiViewConstrainedKMeans,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
)


def co_em(n_clusters=4, **options):
    """Views whose clusters overlap want a weight of the consensus below 1."""
    return CoEM(n_clusters, **{"eta": 0.25, **options})


co_em.__name__ = "CoEM"


def convex_mixture(n_clusters=None, random_state=None, n_init=None, init=None, **options):
    """Nothing is drawn at random, and clusters have no start."""
    return ConvexMixture(n_clusters, **options)


convex_mixture.__name__ = "ConvexMixture"


def constrained(n_clusters=4, n_init=None, init=None, **options):
    """One start, and none that is random."""
    return MultiViewConstrainedKMeans(n_clusters, init=None if isinstance(init, str) else init, **options)


constrained.__name__ = "MultiViewConstrainedKMeans"


def cross_fitted(n_clusters=4, init="auto", **options):
    """Labels are the only start that can be chosen."""
    return Consilience(n_clusters, init="auto" if isinstance(init, str) else init, **options)


cross_fitted.__name__ = "Consilience"

ITERATED = [co_em, MultiViewKMeans, MultiViewSphericalKMeans]  # rounds lower a cost, from a start
ESTIMATORS = [*ITERATED, cross_fitted, CoTrainedSpectral, convex_mixture, constrained]


def centres(model):
    """The parameters of each view that have the shape of centres."""
    if hasattr(model, "cluster_centers_"):
        return model.cluster_centers_
    return {name: params["means"] for name, params in model.params_.items()}


def distances(model, X):
    """What the smallest of decides on an entity's cluster."""
    return model.transform(X) if hasattr(model, "transform") else 1 - model.predict_proba(X)


def total_score(model, X):
    """The score of all entities together: likelihoods are averaged by scikit-learn's custom, costs are not."""
    return model.score(X) * (len(X) if hasattr(model, "score_samples") else 1)


def costs(model):
    """The cost of each round."""
    history = model.history_
    if "cost" in history:
        return history["cost"]
    return -sum(values for name, values in history.items() if name.startswith("log_likelihood"))
