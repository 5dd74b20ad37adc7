"""The consensus graph of all views, and coordinates of entities from it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..affinities import Operator
from ..affinities.landmarks import LowRank
from ..arrays import Seed, all_rows_equal, as_rows, make_generator, to_numpy, use_threads
from ..data import Views
from ..methods.common.similarities import find_precomputed_columns, resolve_affinities, restrict_columns, select_rows
from ..methods.spectral.algorithm import embed_view
from ..methods.spectral.similarities import SimilaritySum, compute_similarities
from ..rows import as_source

TOLERANCE = 1e-5  # residuals of eigenvectors, relative to the largest eigenvalue: more than any picture shows


def build_consensus_graph(views: Views, *, affinity: Any = "auto", random_state: Seed = 0) -> Operator:
    """Add up the graphs of nearest neighbors of all views.

    For more than 100,000 entities the graphs have nearly all nearest neighbors. Views that are equal for all entities
    are left out.

    Parameters
    ----------
    views : Views
        The data. Similarities of entities that lack a view are filled in from their other views.
    affinity : str or affinity, or one per view in a dict or list, default='auto'
        How similar entities are, as in `CoTrainedSpectral`; 'precomputed' if the view is a matrix of similarities.
    random_state : int, Generator, RandomState or None, default=0
        Seed of approximate neighbors.

    Returns
    -------
    Operator
        Similarities of the entities to each other, which can be multiplied: ``graph @ vectors``.

    See Also
    --------
    joint_embedding : Coordinates from the graph.
    build_hierarchy : A tree of clusters from the graph.

    Examples
    --------
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(90, n_clusters=3, random_state=0)
    >>> build_consensus_graph(views).shape
    (90, 90)
    """
    affinities = resolve_affinities("affinity", affinity, None, views.names)
    views = restrict_columns(views, find_precomputed_columns(views, affinities, source=views))
    with use_threads(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about rows of zeros, which the fit has mentioned
        varied = [name for v, name in enumerate(views.names) if _varies(views, v)]
        if not varied:  # all entities are alike
            ones = np.ones((len(views), 1))
            return LowRank(ones, np.ones((1, 1)) / len(views), lambda X: np.ones((X.shape[0], 1)), ones.dtype)
        affinities = {name: affinities[name] for name in varied}
        _, similarities = compute_similarities(views[varied], affinities, make_generator(random_state))
    return SimilaritySum(similarities.operators)


def _varies(views: Views, v: int) -> bool:
    """Whether entities differ in a view."""
    rows = select_rows(as_rows(as_source(views[views.names[v]], views.names[v])), views.present[:, v])
    return not all_rows_equal(rows)


def embed_graph(graph: Operator, n_components: int = 30, *, random_state: Seed = 0) -> np.ndarray:
    """Embed the entities of a graph by its leading eigenvectors, as in diffusion maps.

    Parameters
    ----------
    graph : Operator
        Similarities, from `build_consensus_graph`.
    n_components : int, default=30
        Number of columns.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the search for eigenvectors, which hardly depend on it.

    Returns
    -------
    ndarray of shape (n_entities, n_components)
        As `joint_embedding` returns.

    Examples
    --------
    >>> import consilience as cs
    >>> views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, separation=8, random_state=0)
    >>> graph = cs.explain.build_consensus_graph(views)
    >>> cs.explain.embed_graph(graph, n_components=2).shape
    (60, 2)
    """
    if n_components < 1:
        raise ValueError(f"n_components={n_components} must be 1 or more")
    n_entities = graph.shape[0]
    with use_threads(None):
        rng, n_vectors = make_generator(random_state), min(n_components + 1, n_entities)
        embedding = embed_view(graph, n_vectors, rng, tolerance=TOLERANCE)
    # The first eigenvector of a random walk is constant.
    vectors, values = to_numpy(embedding.weighted)[:, 1:], to_numpy(embedding.values)[1:]
    lengths = np.sqrt(np.mean(vectors**2, axis=0))
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    scale = np.where(lengths > 0, np.sign(largest) * values / np.where(lengths > 0, lengths, 1.0), 0.0)
    embedded = np.zeros((n_entities, n_components))
    embedded[:, : vectors.shape[1]] = vectors * scale  # the sign of an eigenvector is arbitrary
    return embedded


def joint_embedding(
    views: Views, n_components: int = 30, *, affinity: Any = "auto", random_state: Seed = 0
) -> np.ndarray:
    """Embed entities by all their views at once: entities that are similar in any view are near each other.

    The columns are the leading eigenvectors of the consensus graph (`build_consensus_graph`), as in diffusion maps:
    the first distinguish the largest groups. They do not depend on a clustering.

    Parameters
    ----------
    views : Views
        The data. Similarities of entities that lack a view are filled in from their other views.
    n_components : int, default=30
        Number of columns.
    affinity : str or affinity, or one per view in a dict or list, default='auto'
        How similar entities are, as in `CoTrainedSpectral`; 'precomputed' if the view is a matrix of similarities.
    random_state : int, Generator, RandomState or None, default=0
        Seed of approximate neighbors, and of the search for eigenvectors, which hardly depend on it.

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
    graph = build_consensus_graph(views, affinity=affinity, random_state=random_state)
    return embed_graph(graph, n_components, random_state=random_state)
