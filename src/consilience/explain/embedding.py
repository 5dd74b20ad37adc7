"""Embeddings of a view in two dimensions, and of all views together."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import normalize

from ..arrays import Seed, make_generator, to_numpy
from ..data import Views
from ..methods.common.similarities import find_precomputed_columns, resolve_affinities, restrict_columns
from ..methods.spectral.algorithm import embed_view
from ..methods.spectral.similarities import SimilaritySum, compute_similarities

MOST_DRAWN = 5000  # entities that t-SNE draws, in about a minute
PERPLEXITY = 30.0  # of t-SNE: scikit-learn's default
N_PLACED_BY = 5  # nearest entities of the sample that place another entity


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
    points[rows] = _compute_components(X, random_state)
    return points


def _compute_components(X: Any, random_state: int) -> np.ndarray:
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


def joint_embedding(
    views: Views, n_components: int = 10, *, affinity: Any = "auto", random_state: Seed = 0
) -> np.ndarray:
    """Embed entities by all their views at once: entities that are similar in any view are near each other.

    The columns are the leading eigenvectors of the summed graphs of nearest neighbors of all views, as in diffusion
    maps: the first distinguish the largest groups. They do not depend on a clustering. For more than 20,000 entities
    similarities to landmarks take the place of the graphs.

    Parameters
    ----------
    views : Views
        The data. Similarities of entities that lack a view are filled in from their other views.
    n_components : int, default=10
        Number of columns.
    affinity : str or affinity, or one per view in a dict or list, default='auto'
        How similar entities are, as in `CoTrainedSpectral`; 'precomputed' if the view is a matrix of similarities.
    random_state : int, Generator, RandomState or None, default=0
        Seed of landmarks, and of the search for eigenvectors, which do not depend on it.

    Returns
    -------
    ndarray of shape (n_entities, n_components)
        Eigenvectors with root mean square 1, times their eigenvalues. Columns for which there is no eigenvector,
        because there are few entities, are zeros.

    See Also
    --------
    joint_map : Two dimensions, for a picture.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(90, n_clusters=3, separation=8, random_state=0)
    >>> joint_embedding(views, 2).shape
    (90, 2)
    """
    if n_components < 1:
        raise ValueError(f"n_components={n_components} must be 1 or more")
    rng = make_generator(random_state)
    affinities = resolve_affinities("affinity", affinity, None, views.names)
    views = restrict_columns(views, find_precomputed_columns(views, affinities, source=views))
    _, similarities = compute_similarities(views, affinities, rng)
    embedding = embed_view(SimilaritySum(similarities.operators), min(n_components + 1, len(views)), rng)
    # The first eigenvector of a random walk is constant.
    vectors, values = to_numpy(embedding.weighted)[:, 1:], to_numpy(embedding.values)[1:]
    lengths = np.sqrt(np.mean(vectors**2, axis=0))
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    scale = np.where(lengths > 0, np.sign(largest) * values / np.where(lengths > 0, lengths, 1.0), 0.0)
    embedded = np.zeros((len(views), n_components))
    embedded[:, : vectors.shape[1]] = vectors * scale  # the sign of an eigenvector is arbitrary
    return embedded


def joint_map(embedding: np.ndarray, *, random_state: int = 0) -> np.ndarray:
    """Draw the columns of a joint embedding in two dimensions, by scikit-learn's t-SNE.

    Neighbors stay neighbors; distances between groups, and sizes of groups, mean little. Of more than 5,000 entities a
    sample is drawn, and the others are put among their nearest entities in the sample.

    Parameters
    ----------
    embedding : array of shape (n_entities, n_components)
        What `joint_embedding` returns.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    ndarray of shape (n_entities, 2)

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    >>> joint_map(joint_embedding(views)).shape
    (60, 2)
    """
    n_entities = len(embedding)
    drawn = np.arange(n_entities)
    if n_entities > MOST_DRAWN:
        drawn = np.sort(np.random.default_rng(random_state).choice(n_entities, MOST_DRAWN, replace=False))
    if n_entities < 4:
        return _compute_components(embedding, random_state)
    start = _compute_components(embedding[drawn], random_state)
    start *= 1e-4 / (start.std() or 1.0)
    perplexity = min(PERPLEXITY, (len(drawn) - 1) / 3)
    points = TSNE(2, perplexity=perplexity, init=start, random_state=random_state).fit_transform(embedding[drawn])
    if len(drawn) == n_entities:
        return points.astype(np.float64)
    return KNeighborsRegressor(N_PLACED_BY, weights="distance").fit(embedding[drawn], points).predict(embedding)
