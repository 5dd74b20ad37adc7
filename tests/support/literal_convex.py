"""Convex mixtures exactly as Tzortzis & Likas 2010 print them: dense tables and their updates, without library code.

A view is a table D of divergences, points by exemplars; entries of entities without the view are not read. `present`,
(entities, views), says which entities have which view. Entities without the view are left out of the paper's sums over
i or j: they are neither points nor exemplars there.
"""

import numpy as np


def beta_0(D, entities=None):
    """Return Eqs 4 and 8, with the natural logarithm, including the zero diagonal; entities have the view."""
    D = D if entities is None else D[np.ix_(entities, entities)]
    n = len(D)
    return n**2 * np.log(n) / D.sum()


def likelihoods(distances, betas, present):
    """Return tables f[v][i, j] = exp(-beta d), 0 where one of the two lacks the view."""
    tables = []
    for v, (D, beta) in enumerate(zip(distances, betas, strict=True)):
        f = np.zeros(D.shape)
        for i in np.flatnonzero(present[:, v]):
            for j in np.flatnonzero(present[:, v]):
                f[i, j] = np.exp(-beta * D[i, j])
        tables.append(f)
    return tables


def gaussian_log_normalizer(n_columns, beta):
    """Return the log of C = (beta / pi)^(d / 2), so that exp(-beta d) integrates to one (printed as beta / 2 pi)."""
    return n_columns / 2 * np.log(beta / np.pi)


def uniform(tables, present, n_updates=200_000, tol=1e-8):
    """Repeat Eq 7, or Eq 3 with one view, until the objective is at most `tol` below its maximum.

    All pairs (entity, view) have the same weight.
    """
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
    """Return Eq 6 without its sign and constants: summed over the views, averaged over entities."""
    return sum(np.log(tables[v][i] @ q) for i, v in np.argwhere(present)) / len(present)


def view_likelihoods(tables, present, q, log_C):
    """Return Q^v(x_i) with its normalizer C, 0 where the view is missing: (entities, views)."""
    Q = np.zeros(present.shape)
    for i, v in np.argwhere(present):
        Q[i, v] = np.exp(log_C[v]) * sum(q * tables[v][i])
    return Q


def log_likelihood(tables, present, q, pi, log_C):
    """Return Eq 10 as a mean over entities."""
    Q = view_likelihoods(tables, present, q, log_C)
    return sum(np.log(sum(pi * Q[i])) for i in range(len(Q))) / len(Q)


def run_weighted_rounds(tables, present, n_rounds, *, log_C=None, pi=None, n_updates=200_000, tol=1e-8):
    """Run `n_rounds` outer rounds of Algorithm 1; return (pi, q, log-likelihood after each round).

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
            factors = sum((row_weights / (f @ q)) @ f for row_weights, f in rows)
            if factors.max() - 1 < tol:
                break
            q = q * factors  # Eq 13, line 18
        else:
            raise AssertionError(f"{n_updates} updates do not solve for q: this is no reference")
        history.append(log_likelihood(tables, present, q, pi, log_C))
    return pi, q, history


def run_algorithm_1(tables, present, epsilon, inner_epsilon):
    """Run Algorithm 1 line by line, with its own stopping rules: (pi, q, weights after each round, updates per round).

    Only `epsilon` is for the mean log-likelihood, where line 24 has the sum.
    """
    n, n_views = present.shape
    log_C = np.zeros(n_views)
    pi = np.full(n_views, 1 / n_views)  # line 1
    q = np.full(n, 1 / n)  # line 2
    likelihood = log_likelihood(tables, present, q, pi, log_C)
    weights, n_updates = [], []
    while True:  # line 4
        joint = pi * view_likelihoods(tables, present, q, log_C)
        P = joint / joint.sum(axis=1, keepdims=True)  # line 8
        pi = P.sum(axis=0) / n  # line 13
        change, count = np.inf, 0
        while not change < inner_epsilon:  # lines 16 and 21
            updated = np.zeros(n)
            for i, v in np.argwhere(present):
                updated += q / n * P[i, v] * tables[v][i] / (tables[v][i] @ q)  # line 18
            change, count, q = np.abs(updated - q).sum(), count + 1, updated
        weights.append(pi)
        n_updates.append(count)
        before, likelihood = likelihood, log_likelihood(tables, present, q, pi, log_C)
        if abs(likelihood - before) < epsilon:  # line 24
            return pi, q, np.array(weights), n_updates


def exemplars(q, m):
    """Return the m largest proportions; the first in case of ties."""
    return np.array(sorted(range(len(q)), key=lambda j: (-q[j], j))[:m])


def posteriors(tables, present, q, pi, chosen, log_C=None):
    """Return Eq 14: (entities, clusters)."""
    n, n_views = present.shape
    log_C = np.zeros(n_views) if log_C is None else np.asarray(log_C)
    Q = view_likelihoods(tables, present, q, log_C)
    P = np.zeros((n, len(chosen)))
    for i in range(n):
        for k, j in enumerate(chosen):
            density = sum(pi[v] * np.exp(log_C[v]) * tables[v][i, j] for v in range(n_views) if present[i, v])
            P[i, k] = q[j] * density / sum(pi * Q[i])
    return P


def mean_posteriors(tables, present, q, chosen):
    """Return the mean over an entity's views of q_k f_k / sum_j q_j f_j, for equal view weights."""
    n, n_views = present.shape
    P = np.zeros((n, len(chosen)))
    for i in range(n):
        owned = [v for v in range(n_views) if present[i, v]]
        for k, j in enumerate(chosen):
            P[i, k] = np.mean([q[j] * tables[v][i, j] / sum(q * tables[v][i]) for v in owned])
    return P


def assign_to_exemplars(P, chosen):
    """Assign entities by Eq 15: an exemplar stays in its own cluster."""
    labels = P.argmax(axis=1)
    for k, j in enumerate(chosen):
        labels[j] = k
    return labels


def combine_linear_kernels(blocks, pi):
    """Sum the linear kernels of the views with the weights of the views."""
    n = len(blocks[0])
    K = np.zeros((n, n))
    for X, weight in zip(blocks, pi, strict=True):
        for i in range(n):
            for j in range(n):
                K[i, j] += weight * (X[i] @ X[j])
    return K


def kernel_kmeans(K, partition, k, n_rounds=100):
    """Move entities to the nearest mean until none moves: (labels, cost of each partition). No cluster may empty."""
    n = len(K)
    labels, costs = np.array(partition), []
    for _ in range(n_rounds):
        distances = np.empty((n, k))
        for c in range(k):
            members = np.flatnonzero(labels == c)
            assert len(members), "a cluster has no rows: this literal version has no answer to that"
            for i in range(n):
                distances[i, c] = K[i, i] - 2 * K[i, members].mean() + K[np.ix_(members, members)].mean()
        costs.append(sum(distances[i, labels[i]] for i in range(n)))
        moved = distances.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    return labels, costs
