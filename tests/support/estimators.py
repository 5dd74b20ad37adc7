"""The declared estimators as the contract tests build them: a new declaration is tested without further changes."""

from consilience.registry import list_estimators


class Builder:
    """Builds a declared estimator for the contract tests; options that its class lacks are dropped."""

    def __init__(self, declaration):
        self.contract = declaration.contract
        self.estimator_class = declaration.estimator_class
        self.parameters = declaration.parameters
        self.starts_from_labels = not declaration.chooses_n_clusters  # the convex mixture starts from weights
        self.default_n_clusters = None if declaration.chooses_n_clusters else 4
        self.__name__ = self.estimator_class.__name__

    def __call__(self, n_clusters="default", **options):
        if not self.starts_from_labels or (isinstance(options.get("init"), str) and not self.contract.is_iterative):
            options.pop("init", None)  # names of starts are those of iterative estimators
        options = {name: value for name, value in options.items() if name in self.parameters}
        n_clusters = self.default_n_clusters if n_clusters == "default" else n_clusters
        return self.estimator_class(n_clusters, **{**self.contract.options, **options})


BUILDERS = {name: Builder(declaration) for name, declaration in list_estimators().items()}
ESTIMATORS = [builder for builder in BUILDERS.values() if builder.contract.is_complete]
ITERATED = [builder for builder in ESTIMATORS if builder.contract.is_iterative]  # rounds lower a cost, from a start
convex_mixture, cross_fitted = BUILDERS["convex"], BUILDERS["consilience"]


def get_centers(model):
    if hasattr(model, "cluster_centers_"):
        return model.cluster_centers_
    return {name: params["means"] for name, params in model.params_.items()}


def compute_distances(model, X):
    """Return the distance from each cluster, of which the smallest decides on the cluster."""
    return model.transform(X) if hasattr(model, "transform") else 1 - model.predict_proba(X)


def compute_total_score(model, X):
    """Return the score of all entities together: likelihoods are averages, costs are sums."""
    return model.score(X) * (len(X) if hasattr(model, "score_samples") else 1)


def compute_costs(model):
    history = model.history_
    if "cost" in history:
        return history["cost"]
    return -sum(values for name, values in history.items() if name.startswith("log_likelihood"))
