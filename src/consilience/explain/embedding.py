"""Embeddings of a view in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from ..arrays import to_numpy
from ..data import Views


def embed(views: Views, name: str, random_state: int = 0) -> np.ndarray:
    """Embed a view in two dimensions: its principal components, for sparse views those of the rows' directions.

    Parameters
    ----------
    views : Views
        The data.
    name : str
        The view.
    random_state : int, default=0
        Seed of the randomised decomposition.

    Returns
    -------
    ndarray of shape (n_entities, 2)
        NaN for entities that lack the view.

    Examples
    --------
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(50, random_state=0)
    >>> embed(views, "view0").shape
    (50, 2)
    """
    views[name]  # raises an error for an unknown name
    present = views.present[:, views.names.index(name)]
    rows = np.flatnonzero(present)
    block = views[rows][name]
    points = np.full((len(views), 2), np.nan)
    if not len(rows):
        return points
    X = block if sp.issparse(block) else to_numpy(block).astype(np.float64)
    points[rows] = find_two_components(X, random_state)
    return points


def find_two_components(X: Any, random_state: int) -> np.ndarray:
    """Return two components of rows; those that do not exist are zeros."""
    if sp.issparse(X) and X.shape[1] == 1:
        X = X.toarray()
    if sp.issparse(X):
        # The first component is near the mean direction, which tells rows apart little, and is left out if possible.
        n_components = min(3, *X.shape)
        directions = normalize(X.astype(np.float64))
        with np.errstate(divide="ignore", invalid="ignore"):
            components = TruncatedSVD(n_components, random_state=random_state).fit_transform(directions)
        components = components[:, 1:] if n_components == 3 else components
    else:
        with np.errstate(divide="ignore", invalid="ignore"):  # scikit-learn divides by the variance, which may be 0
            components = PCA(min(2, *X.shape), svd_solver="auto", random_state=random_state).fit_transform(X)
    points = np.zeros((X.shape[0], 2))
    points[:, : components.shape[1]] = components
    return points
