"""One test case per family, without which the tests fail: data, a reference density, and the number of parameters."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from consilience.families import FAMILIES

N_LEVELS = 3


@dataclass(frozen=True)
class FamilyCase:
    """What the tests must know about a family."""

    make_rows: Callable  # (rng, n, d) -> rows that the family can explain
    make_params: Callable  # (rng, k, d) -> parameters that no M-step has computed
    log_prob: Callable  # (rows, parameters of one cluster) -> log-density of each row, by scipy.stats
    n_parameters: Callable  # (k, d) -> number of free parameters
    perturb: Callable  # (params, moved) -> valid parameters near `moved`, which is `params` with noise added
    shared: tuple[str, ...] = ()  # parameters that all clusters share
    fetches_per_cluster: bool = False  # whether a round fetches one number per cluster from a device

    def cluster_params(self, params, j):
        return {name: value if name in self.shared else value[j] for name, value in params.items()}

    def reference(self, X, params, k):
        """Log-density of each row under each cluster, by scipy.stats: (rows, clusters)."""
        return np.stack([self.log_prob(X, self.cluster_params(params, j)) for j in range(k)], axis=1)


def make_counts(rng, n, d):
    return rng.poisson(3.0, (n, d)).astype(float)


def make_words(rng, n, d):
    return make_counts(rng, n, d) + np.eye(1, d)  # no row is empty


def make_zeros_and_ones(rng, n, d):
    return (rng.random((n, d)) < 0.4).astype(float)


def count_levels(d):
    return 2 + np.arange(d) % N_LEVELS


def make_codes(rng, n, d):
    return rng.integers(count_levels(d), size=(n, d)).astype(float)


def make_measurements(rng, n, d):
    return rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / d) + 5


def make_code_probabilities(rng, k, d):
    levels = count_levels(d)
    p = rng.random((k, d, levels.max())) * (np.arange(levels.max()) < levels[:, None])
    return {"probabilities": p / p.sum(axis=2, keepdims=True)}


def make_covariances(rng, shape, d):
    root = rng.normal(size=(*shape, d, d))
    return root @ np.swapaxes(root, -1, -2) + np.eye(d)


def make_directions(rng, k, d):
    directions = rng.normal(size=(k, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return {"directions": directions, "concentrations": 20 * rng.random(k)}


def multinomial_log_prob(X, params):
    total, d = X.sum(axis=1).astype(int), X.shape[1]
    coefficient = stats.multinomial.logpmf(X, total, np.full(d, 1 / d)) + total * np.log(d)
    return stats.multinomial.logpmf(X, total, params["probabilities"]) - coefficient  # equal for all clusters


def categorical_log_prob(X, params):
    return np.log([[params["probabilities"][c, int(x)] for c, x in enumerate(row)] for row in X]).sum(axis=1)


def gaussian_log_prob(X, params):
    covariance = params["covariances"]
    covariance = covariance if np.ndim(covariance) == 2 else np.diag(np.broadcast_to(covariance, X.shape[1]))
    return stats.multivariate_normal(params["means"], covariance).logpdf(X)


def directional_log_prob(X, params):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return stats.vonmises_fisher(params["directions"], params["concentrations"]).logpdf(unit)


def perturb_probabilities(params, moved):
    p = np.where(params["probabilities"] > 0, np.abs(moved["probabilities"]), 0)
    return {"probabilities": p / p.sum(axis=-1, keepdims=True)}


def perturb_variances(params, moved):
    return moved | {"covariances": np.abs(moved["covariances"])}


def perturb_matrices(params, moved):
    noise = moved["covariances"] - params["covariances"]
    return moved | {"covariances": params["covariances"] + noise @ np.swapaxes(noise, -1, -2)}


def perturb_directions(params, moved):
    lengths = np.linalg.norm(moved["directions"], axis=1, keepdims=True)
    return {"directions": moved["directions"] / lengths, "concentrations": np.abs(moved["concentrations"])}


CASES = {
    "multinomial": FamilyCase(
        make_words,
        lambda rng, k, d: {"probabilities": rng.dirichlet(np.ones(d), k)},
        multinomial_log_prob,
        lambda k, d: k * (d - 1),
        perturb_probabilities,
    ),
    "bernoulli": FamilyCase(
        make_zeros_and_ones,
        lambda rng, k, d: {"probabilities": rng.random((k, d))},
        lambda X, params: stats.bernoulli.logpmf(X, params["probabilities"]).sum(axis=1),
        lambda k, d: k * d,
        lambda _, moved: {"probabilities": np.clip(moved["probabilities"], 1e-9, 1 - 1e-9)},
    ),
    "poisson": FamilyCase(
        make_counts,
        lambda rng, k, d: {"rates": 5 * rng.random((k, d))},
        lambda X, params: stats.poisson.logpmf(X, params["rates"]).sum(axis=1),
        lambda k, d: k * d,
        lambda _, moved: {"rates": np.abs(moved["rates"])},
    ),
    "categorical": FamilyCase(
        make_codes,
        make_code_probabilities,
        categorical_log_prob,
        lambda k, d: k * int((count_levels(d) - 1).sum()),
        perturb_probabilities,
    ),
    "gaussian": FamilyCase(
        make_measurements,
        lambda rng, k, d: {"means": rng.normal(size=(k, d)), "covariances": 0.5 + rng.random((k, d))},
        gaussian_log_prob,
        lambda k, d: 2 * k * d,
        perturb_variances,
    ),
    "gaussian-full": FamilyCase(
        make_measurements,
        lambda rng, k, d: {"means": rng.normal(size=(k, d)), "covariances": make_covariances(rng, (k,), d)},
        gaussian_log_prob,
        lambda k, d: k * d + k * d * (d + 1) // 2,
        perturb_matrices,
    ),
    "gaussian-tied": FamilyCase(
        make_measurements,
        lambda rng, k, d: {"means": rng.normal(size=(k, d)), "covariances": make_covariances(rng, (), d)},
        gaussian_log_prob,
        lambda k, d: k * d + d * (d + 1) // 2,
        perturb_matrices,
        shared=("covariances",),
    ),
    "gaussian-spherical": FamilyCase(
        make_measurements,
        lambda rng, k, d: {"means": rng.normal(size=(k, d)), "covariances": 0.5 + rng.random(k)},
        gaussian_log_prob,
        lambda k, d: k * d + k,
        perturb_variances,
    ),
    "von-mises-fisher": FamilyCase(
        make_measurements,
        make_directions,
        directional_log_prob,
        lambda k, d: k * d,
        perturb_directions,
        fetches_per_cluster=True,
    ),
}

SPARSE_FAMILIES = [name for name, family in FAMILIES.items() if family.accepts_sparse]
DENSE_FAMILIES = [name for name, family in FAMILIES.items() if not family.accepts_sparse]
