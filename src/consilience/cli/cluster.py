"""``consilience cluster``: cluster data by all its views, and show what that gains."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler, normalize

from ..cluster import MultiViewKMeans, MultiViewSphericalKMeans, PerView
from ..datasets import load_digits_views
from ..metrics import evaluate

DATA = {"digits": load_digits_views}
METHODS = {"k-means": MultiViewKMeans, "spherical": MultiViewSphericalKMeans}


def cluster(options: argparse.Namespace) -> None:
    """Print the data, the scores beside those of every single view and of the concatenation, and the error bound."""
    data = DATA[options.data]()
    views, y = PerView(StandardScaler()).fit_transform(data.views), data.target
    k = len(data.target_names) if options.k is None else options.k

    def fit(X: Any) -> Any:
        return METHODS[options.method](n_clusters=k, random_state=options.seed).fit(X)

    model = fit(views)
    print(f"{data.description}\n\n{data.views}\n")
    found = {"all views together": model.labels_}
    blocks = [block for _, block in views.items()]
    found["concatenation"] = fit(np.hstack(blocks)).labels_
    found["concatenation of unit-length views"] = fit(np.hstack([normalize(block) for block in blocks])).labels_
    found |= {f"view {name} alone": fit(block).labels_ for name, block in views.items()}
    print(
        f"{type(model).__name__}, k = {k}, columns standardised, seed {options.seed}; scores against the true classes"
    )
    print(evaluate(y, found))
    print(
        f"\nWithout looking at the classes: two views agree on {mean_agreement(model.agreement_):.0%} of the digits on "
        f"average; if views err independently, none errs on more than {model.error_bound_:.0%}."
    )
    other = next(name for name in METHODS if name != options.method)
    print(f"Next: try --method {other}, or your own data: consilience.Views({{'text': X_text, 'links': X_links}})")


def mean_agreement(agreement: np.ndarray) -> float:
    """Mean over pairs of different views."""
    return float(agreement[~np.eye(len(agreement), dtype=bool)].mean())
