"""Convex mixtures as Tzortzis & Likas 2010 print them: dense tables, their own updates, and no code of the library.

A view is a table D of divergences, point by exemplar; what stands in it for an entity without the view is not read.
`present` says who has which view, (entities, views). Of the paper's sums over all i or j those without the view are
left out: such an entity is neither a point nor an exemplar there.
"""

import numpy as np


def squared_distances(X):
    """Of all pairs of rows."""
    return np.array([[((x - y) ** 2).sum() for y in X] for x in X])


def beta_0(D):
    """Eqs 4 and 8; natural logarithm, zero diagonal included."""
    n = len(D)
    return n**2 * np.log(n) / sum(D[i, j] for i in range(n) for j in range(n))


def reference(D, here):
    """Eq 8 of a view that not everybody has."""
    return beta_0(D[np.ix_(here, here)])


def likelihoods(distances, betas, present):
    """Tables f[v][i, j] = exp(-beta d), 0 where one of the two lacks the view."""
    tables = []
    for v, (D, beta) in enumerate(zip(distances, betas, strict=True)):
        f = np.zeros(D.shape)
        for i in np.flatnonzero(present[:, v]):
            for j in np.flatnonzero(present[:, v]):
                f[i, j] = np.exp(-beta * D[i, j])
        tables.append(f)
    return tables


def gaussian_log_normalizer(n_columns, beta):
    """Log of C = (beta / pi)^(d / 2), with which exp(-beta d) integrates to one; the paper prints beta / 2 pi."""
    return n_columns / 2 * np.log(beta / np.pi)


def single_view(f, n_updates=200_000, tol=1e-8):
    """Eq 3 until the objective lies at most `tol` below its maximum."""
    n = len(f)
    q = np.full(n, 1 / n)
    for _ in range(n_updates):
        factors = (1 / (f @ q)) @ f / n
        if factors.max() - 1 < tol:
            return q
        q = q * factors
    raise AssertionError(f"{n_updates} updates do not solve for q: this is no reference")


def uniform(tables, present, n_updates=200_000, tol=1e-8):
    """Eq 7, likewise; all pairs (entity, view) that are there count the same."""
    n = len(present)
    q = np.full(n, 1 / n)
    rows = [f[present[:, v]] for v, f in enumerate(tables)]
    for _ in range(n_updates):
        factors = sum((1 / (f @ q)) @ f for f in rows) / present.sum()
        if factors.max() - 1 < tol:
            return q
        q = q * factors
    raise AssertionError(f"{n_updates} updates do not solve for q: this is no reference")


def uniform_objective(tables, present, q):
    """Eq 6 without its sign and its constants: summed over the views, a mean over entities."""
    return sum(np.log(tables[v][i] @ q) for i, v in np.argwhere(present)) / len(present)


def view_likelihoods(tables, present, q, log_C):
    """Q^v(x_i) with its normaliser C, 0 where the view is missing: (entities, views)."""
    Q = np.zeros(present.shape)
    for i, v in np.argwhere(present):
        Q[i, v] = np.exp(log_C[v]) * sum(q * tables[v][i])
    return Q


def log_likelihood(tables, present, q, pi, log_C):
    """Eq 10, as a mean over entities."""
    Q = view_likelihoods(tables, present, q, log_C)
    return sum(np.log(sum(pi * Q[i])) for i in range(len(Q))) / len(Q)


def weighted(tables, present, n_rounds, *, log_C=None, pi=None, n_updates=200_000, tol=1e-8):
    """Algorithm 1, `n_rounds` outer rounds: (pi, q, log-likelihood after each round).

    The weights are updated before the inner loop, from the same posteriors, which stay as they are in it. It ends at
    a gap, not at a change of q (line 21): a share that an earlier round has made tiny, and that grows now, changes
    little for long.
    """
    n, n_views = present.shape
    log_C = np.zeros(n_views) if log_C is None else np.asarray(log_C)
    pi = np.full(n_views, 1 / n_views) if pi is None else np.asarray(pi)
    q = np.full(n, 1 / n)
    history = []
    for _ in range(n_rounds):
        joint = pi * view_likelihoods(tables, present, q, log_C)
        P = joint / joint.sum(axis=1, keepdims=True)  # E-step, Eq 11, line 8
        pi = np.array([sum(P[i, v] for i in range(n)) / n for v in range(n_views)])  # Eq 12, line 13
        rows = [(P[present[:, v], v] / n, f[present[:, v]]) for v, f in enumerate(tables)]
        for _ in range(n_updates):  # lines 16 to 21
            factors = sum((own / (f @ q)) @ f for own, f in rows)
            if factors.max() - 1 < tol:
                break
            q = q * factors  # Eq 13, line 18
        else:
            raise AssertionError(f"{n_updates} updates do not solve for q: this is no reference")
        history.append(log_likelihood(tables, present, q, pi, log_C))
    return pi, q, history


def exemplars(q, m):
    """The m largest shares; of equal ones the first."""
    return np.array(sorted(range(len(q)), key=lambda j: (-q[j], j))[:m])


def posteriors(tables, present, q, pi, chosen, log_C=None):
    """Eq 14: (entities, clusters)."""
    n, n_views = present.shape
    log_C = np.zeros(n_views) if log_C is None else np.asarray(log_C)
    Q = view_likelihoods(tables, present, q, log_C)
    P = np.zeros((n, len(chosen)))
    for i in range(n):
        for k, j in enumerate(chosen):
            own = sum(pi[v] * np.exp(log_C[v]) * tables[v][i, j] for v in range(n_views) if present[i, v])
            P[i, k] = q[j] * own / sum(pi * Q[i])
    return P


def mean_posteriors(tables, present, q, chosen):
    """With equal weights: the mean over an entity's views of q_k f_k / sum_j q_j f_j, j over all entities."""
    n, n_views = present.shape
    P = np.zeros((n, len(chosen)))
    for i in range(n):
        own = [v for v in range(n_views) if present[i, v]]
        for k, j in enumerate(chosen):
            P[i, k] = np.mean([q[j] * tables[v][i, j] / sum(q * tables[v][i]) for v in own])
    return P


def assigned(P, chosen):
    """Eq 15: an exemplar stays in its own cluster."""
    labels = P.argmax(axis=1)
    for k, j in enumerate(chosen):
        labels[j] = k
    return labels


def combined_kernel(blocks, pi):
    """Linear kernels of the views, summed with the weights of the views."""
    n = len(blocks[0])
    K = np.zeros((n, n))
    for X, weight in zip(blocks, pi, strict=True):
        for i in range(n):
            for j in range(n):
                K[i, j] += weight * (X[i] @ X[j])
    return K


def kernel_kmeans(K, partition, k, n_rounds=100):
    """Everybody to the nearest mean until nobody moves: (labels, cost of each partition). No cluster may empty."""
    n = len(K)
    labels, costs = np.array(partition), []
    for _ in range(n_rounds):
        away = np.empty((n, k))
        for c in range(k):
            own = np.flatnonzero(labels == c)
            assert len(own), "a cluster has no rows: this literal version has no answer to that"
            for i in range(n):
                away[i, c] = K[i, i] - 2 * K[i, own].mean() + K[np.ix_(own, own)].mean()
        costs.append(sum(away[i, labels[i]] for i in range(n)))
        moved = away.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    return labels, costs
