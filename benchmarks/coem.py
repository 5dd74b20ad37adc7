"""Co-EM next to scikit-learn's GaussianMixture and scipy's products, and how time and memory grow with the rows.

Gaussians: one round, timed as (time of many rounds - time of few) / (many - few). GaussianMixture gets the concatenated
views with the same float type and start (the true clusters); its covariance matrices are larger than those of two
views, which is the cost of concatenation. Co-EM does more per round: it blends posteriors, and records the criterion,
its disagreement term and the agreement of the views.

Multinomials: one round of co-EM on two sparse views next to the minimum of work for a round with scipy: per view a
product for the E-step, a softmax, and a product for the M-step.

Growth: one fit with a fixed number of rounds for growing numbers of rows. `exponent` is the slope of the logarithm of
the time, or of the memory on top of the data, from the line before: 1.00 is linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.mixture import GaussianMixture

from consilience import CoEM, Table, Views
from consilience.datasets import make_gaussian_views, make_text_views

from .harness import Contestant, compare, measure_growth

COVARIANCES = {"diag": "gaussian", "full": "gaussian-full"}
N_CLUSTERS = 10


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 2_000 if small else 20_000
    views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=(50, 50), separation=3, random_state=0)
    for covariance in COVARIANCES:
        for dtype in (np.float64, np.float32):
            title = (
                f"one round, {covariance} covariances: {n:,} x 50 x 2 views, {N_CLUSTERS} clusters, {dtype.__name__}"
            )
            yield (
                title,
                time_gaussian_rounds(views.map(lambda block, dtype=dtype: block.astype(dtype)), y, covariance, repeats),
            )
    yield f"one round, multinomials: {n:,} x 5,000 x 2 views, 20 clusters", time_multinomial_rounds(n, repeats)
    sizes = (1_000, 10_000) if small else (10_000, 100_000, 1_000_000)
    yield (
        "growth: 20 columns x 2 views, 10 clusters, 5 rounds, diagonal covariances",
        measure_growth(sizes, make_five_rounds, repeats),
    )


def make_five_rounds(n: int) -> partial[Any]:
    views, y = make_gaussian_views(n, n_clusters=10, n_features=(20, 20), separation=3, random_state=0)
    return partial(fit_co_em, views, y, "gaussian", 5)


def time_gaussian_rounds(views: Views, y: np.ndarray, covariance: str, repeats: int) -> Table:
    few, many = (2, 12) if covariance == "diag" else (1, 5)
    side_by_side = np.hstack([block for _, block in views.items()])
    contestants = [
        Contestant.per_round(
            "scikit-learn GaussianMixture", partial(fit_mixture, side_by_side, y, covariance), few, many
        ),
        Contestant.per_round("CoEM", partial(fit_co_em, views, y, COVARIANCES[covariance]), few, many),
    ]
    return compare(contestants, repeats, read_likelihood)


def fit_mixture(X: np.ndarray, y: np.ndarray, covariance: str, n_rounds: int) -> Any:
    model = GaussianMixture(N_CLUSTERS, covariance_type=covariance, tol=0, max_iter=n_rounds, init_params="random")
    # the common start; the first round of scikit-learn is an E-step on it
    model._initialize_parameters = lambda X, *_, **__: model._initialize(X, np.eye(N_CLUSTERS, dtype=X.dtype)[y])
    return model.fit(X), X


def fit_co_em(views: Views, y: np.ndarray, families: Any, n_rounds: int) -> Any:
    k = int(y.max()) + 1
    return CoEM(k, families=families, init=y, tol=0, patience=10_000, max_iter=n_rounds, eta=1.0).fit(views), views


def read_likelihood(fit: tuple[Any, Any]) -> Mapping[str, str]:
    model, X = fit
    return {"log-likelihood": f"{model.score(X):.2f}"}


def time_multinomial_rounds(n: int, repeats: int) -> Table:
    k = 20
    views, y = make_text_views(n, n_clusters=k, n_words=(5_000, 5_000), length=100, random_state=0)
    blocks = [sp.csr_array(block, dtype=np.float64) for _, block in views.items()]
    contestants = [
        Contestant.per_round("products of scipy", partial(run_scipy_rounds, blocks, y, k), 2, 12),
        Contestant.per_round("CoEM", lambda n_rounds: fit_co_em(views, y, "multinomial", n_rounds)[0], 2, 12),
    ]
    return compare(contestants, repeats)


def run_scipy_rounds(blocks: list[sp.csr_array], y: np.ndarray, k: int, n_rounds: int) -> list[np.ndarray]:
    """Run the E- and M-steps of two views with numpy and scipy: no priors, no criterion, no missing views."""
    transposed = [block.T.tocsr() for block in blocks]
    posteriors = [np.eye(k)[y]] * 2
    for _ in range(n_rounds):
        for v, (block, block_T) in enumerate(zip(blocks, transposed, strict=True)):
            theta = block_T @ posteriors[1 - v] + 0.01
            posteriors[v] = softmax(block @ np.log(theta / theta.sum(axis=0)), axis=1)
    return posteriors
