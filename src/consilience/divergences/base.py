"""The interfaces of divergences: of rows and centers for k-means, of pairs of rows for exemplar-based mixtures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np

from ..arrays import (
    Array,
    KernelRows,
    RowKernel,
    asarray_like,
    exp_nonpositive,
    inner_products,
    itemsize,
    machine_epsilon,
    map_values,
    namespace,
    squared_norms,
    to_numpy,
    true_unless_known_false,
    weighted_sums,
)
from ..rows import ViewRows

IDENTICAL = 64  # rows closer than this many units of rounding count as identical
MAX_ROUNDING = 1e-3  # rounding errors of exponents that are left as they are


class Divergence(Protocol):
    """Dissimilarity of a row and a center; immutable.

    Except for a term that depends only on the row it is affine in the row,
    ``d(x, c) = row_term(x) + scale * (bias(c) - x . weights(c))``, so that one product, sparse or dense, finds the
    nearest of k centers.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> divergence = cs.divergences.SquaredEuclidean()
    >>> divergence.centers(np.array([[2.0, 6.0], [9.0, 3.0]]), np.array([2.0, 3.0])).tolist()
    [[1.0, 3.0], [3.0, 1.0]]
    >>> divergence.distance(np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """

    scale: ClassVar[float]  #: factor of the part that depends on the center
    uses_origin: ClassVar[bool]  #: whether rows are measured from a point near them

    def prepare(self, X: Array, present: Array, centers: Array | None = None) -> ViewRows:
        """Prepare rows once, before the first round or for comparison with `centers`.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        present : array of bool, shape (n_rows,)
            Which entities have the view; the other rows do not count.
        centers : array of shape (n_clusters, n_columns), optional
            Centers of a fitted model, if the rows are new to it.
        """

    def centers(self, sums: Array, counts: Array) -> Array:
        """Center of each cluster from the sum and the number of its rows; an empty cluster gets zeros.

        Parameters
        ----------
        sums : array of shape (n_clusters, n_columns)
            Sum of the rows of each cluster.
        counts : array of shape (n_clusters,)
            Number, or total weight, of the rows of each cluster.
        """

    def affine(self, centers: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        """Weights and bias of each center, and the origin: the arguments of `arrays.build_scorer`.

        Parameters
        ----------
        centers : array of shape (n_clusters, n_columns)
            Center of each cluster.
        origin : array of shape (n_columns,), optional
            The point that the prepared rows are measured from; None for zero.
        """

    def distance(self, divergence: Array) -> Array:
        """Turn divergences into the distances that views add up when they vote.

        Parameters
        ----------
        divergence : array
            Divergences, of any shape.
        """


class NoDivergenceError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller adds the view.

    Examples
    --------
    >>> import consilience as cs
    >>> try:
    ...     cs.divergences.KullbackLeibler(smoothing=-1)
    ... except cs.divergences.NoDivergenceError as error:
    ...     print(error)
    smoothing=-1 must be 0 or more
    """


class PairDivergence(ABC):
    """How to compare the rows of a view with each other; immutable.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> divergence = cs.divergences.Cosine()
    >>> isinstance(divergence, cs.divergences.PairDivergence), divergence.has_kernel
    (True, True)
    >>> divergence.comparable(np.array([[1.0, 2.0], [0.0, 0.0]])).tolist()
    [True, False]
    """

    columns_are_entities: ClassVar[bool] = False  #: whether the view is already a matrix of distances or similarities
    has_kernel: ClassVar[bool] = False  #: whether it is a squared distance in some space, where clusters have means

    def comparable(self, X: Array) -> Array:
        """Mask of the rows that can be compared; the others count as missing.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return squared_norms(X) >= 0

    @abstractmethod
    def learn(self, X: Array) -> Measure:
        """Return the measure for the rows of the fit; unsuitable rows are refused.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the fit.
        """


class Measure(ABC):
    """A divergence with what it has learned from the rows of the fit; d(x, y) of a point x and an exemplar y.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> measure = cs.divergences.SquaredEuclidean().learn(X)
    >>> isinstance(measure, cs.divergences.Measure)
    True
    >>> round(measure.total(measure.points(X), measure.exemplars(X)), 6)
    50.0
    """

    caveat: str | None = None  #: what the user should know about these rows
    no_normalizer: ClassVar[str]  #: why there is no normalizing constant, if there is none

    @abstractmethod
    def points(self, X: Array) -> KernelRows:
        """Prepare the rows of the fit as points.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the fit.
        """

    def new_points(self, X: Array) -> KernelRows:
        """Prepare rows that were not part of the fit as points.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view that are new.
        """
        return self.points(X)

    def exemplars(self, X: Array) -> KernelRows:
        """Prepare the rows of the fit as exemplars.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the fit.
        """
        return self.points(X)

    @abstractmethod
    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        """Minus the divergence of each point from each exemplar; rounding may make it positive.

        Parameters
        ----------
        points : KernelRows
            Rows that `points` has prepared.
        exemplars : KernelRows
            Rows that `exemplars` has prepared.

        Returns
        -------
        array of shape (n_points, n_exemplars)
            The negative divergences.
        """

    @abstractmethod
    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        """Sum of all divergences.

        Parameters
        ----------
        points : KernelRows
            Rows that `points` has prepared.
        exemplars : KernelRows
            Rows that `exemplars` has prepared.
        """

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:  # noqa: ARG002
        """Log C(x) of each row, where ``C(x) exp(-beta d(x, y))`` is a density in x.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        beta : float
            Factor of the divergence, above 0.
        """
        reason = self.no_normalizer
        raise NoDivergenceError(f"{reason}, so that normalizer=True has no constant to put in: use normalizer=False")


class ProductMeasure(Measure):
    """A measure ``term(x) + term(y) - scale * a(x) . b(y)``: all divergences come from one product, sparse or dense.

    Points hold a(x) and exemplars b(y), both with minus their term.
    """

    scale: ClassVar[float] = 1.0

    def products(self, points: KernelRows, exemplars: KernelRows) -> Array:
        """The products a(x) . b(y), in a new array."""
        return inner_products(points.X, exemplars.X)

    def sum_products(self, points: KernelRows, exemplars: KernelRows) -> float:
        """Sum of all products."""
        sums = []
        for X in (points.X, exemplars.X):
            ones = asarray_like(np.ones((X.shape[0], 1), dtype=f"f{itemsize(X)}"), X)
            sums.append(to_numpy(weighted_sums(X, ones))[0])
        return float(sums[0] @ sums[1])

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        tile = self.products(points, exemplars)
        if self.scale != 1:
            tile *= self.scale
        tile += points.row_term[:, None]
        tile += exemplars.row_term[None, :]
        return tile

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        xp = namespace(points.row_term)
        a, b = (float(xp.sum(rows.row_term, dtype=xp.float64)) for rows in (points, exemplars))
        row_terms = exemplars.X.shape[0] * a + points.X.shape[0] * b
        return -(self.scale * self.sum_products(points, exemplars) + row_terms)


def row_term_sizes(rows: KernelRows) -> Array:
    """Absolute values of the rows' terms; zero for precomputed distances, which have none."""
    if rows.row_term is None:
        return asarray_like(np.zeros(rows.X.shape[0]), rows.X)
    xp = namespace(rows.row_term)
    return xp.abs(xp.astype(rows.row_term, xp.float64, copy=False))


def find_identical_rows(points: KernelRows, exemplars: KernelRows, tile: Array) -> Array:
    """Return which divergences, of which `tile` has minus the values, are only rounding errors."""
    point_sizes, exemplar_sizes = row_term_sizes(points), row_term_sizes(exemplars)
    return tile >= -IDENTICAL * machine_epsilon(points.X) * (point_sizes[:, None] + exemplar_sizes[None, :])


class Likelihood(RowKernel):
    """The kernel ``exp(-beta d(x, y))`` of a measure.

    With a very large beta, divergences that are only rounding errors count as zero. Otherwise the likelihood of a row
    under its own component could be zero.

    Parameters
    ----------
    measure : Measure
        The measure.
    beta : float
        Factor of the divergence, above 0: the larger, the narrower the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0], [1.0]])
    >>> measure = cs.divergences.SquaredEuclidean().learn(X)
    >>> likelihood = cs.divergences.Likelihood(measure, beta=2.0)
    >>> likelihood.tile(measure.points(X), measure.exemplars(X)).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """

    def __init__(self, measure: Measure, beta: float) -> None:
        self.measure, self.beta = measure, beta

    def points(self, X: Array) -> KernelRows:
        return self.measure.points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        exponents = self.measure.tile(left, right)
        terms = [row_term_sizes(rows) for rows in (left, right) if rows.X.shape[0]]
        rounding = IDENTICAL * machine_epsilon(left.X) * sum(namespace(sizes).max(sizes) for sizes in terms)
        if true_unless_known_false(self.beta * rounding > MAX_ROUNDING):
            identical = find_identical_rows(left, right, exponents)
            exponents *= namespace(identical).astype(~identical, exponents.dtype)
        exponents *= self.beta
        return exp_nonpositive(exponents)


def to_float64(X: Array) -> Array:
    """Convert rows to float64, because products of counts and logarithms cancel and no origin helps."""
    xp = namespace(X)
    return map_values(X, lambda x: xp.astype(x, xp.float64, copy=False))
