"""Where a view puts the entities, in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from ..arrays import to_numpy
from ..data import Views


def embed(views: Views, name: str, random_state: int = 0) -> np.ndarray:
    """Two columns that show most of a view: principal components, of sparse views those of the rows' directions.

    Parameters
    ----------
    views : Views
        The data.
    name : str
        Which view.
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
    views[name]  # an unknown name is told of
    present = views.present[:, views.names.index(name)]
    rows = np.flatnonzero(present)
    block = views[rows][name]
    place = np.full((len(views), 2), np.nan)
    if not len(rows):
        return place
    X = block if sp.issparse(block) else to_numpy(block).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # of the explained share of a variance that is 0
        place[rows] = _plane(X, random_state)
    return place


def _plane(X: Any, random_state: int) -> np.ndarray:
    n_components = min(2, *X.shape)
    if sp.issparse(X) and X.shape[1] == 1:
        X = X.toarray()
    if sp.issparse(X):
        # the mean direction says little: the first component is left out where there are more
        n_components = min(3, X.shape[0], X.shape[1])
        found = TruncatedSVD(n_components, random_state=random_state).fit_transform(normalize(X.astype(np.float64)))
        found = found[:, 1:] if n_components == 3 else found
    else:
        found = PCA(n_components, svd_solver="auto", random_state=random_state).fit_transform(X)
    wide = np.zeros((X.shape[0], 2))
    wide[:, : found.shape[1]] = found
    return wide
