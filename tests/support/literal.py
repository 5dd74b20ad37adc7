"""The algorithms written as the papers print them: row by row, slow, and sharing no code with the library."""

import numpy as np


def euclidean_centre(rows):
    return rows.mean(axis=0)


def euclidean_cost(x, c):
    return ((x - c) ** 2).sum()


def euclidean_distance(x, c):
    return np.sqrt(((x - c) ** 2).sum())


def spherical_centre(rows):
    return rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0))


def spherical_cost(x, c):
    return 1 - x @ c


def spherical_distance(x, c):
    return np.arccos(np.clip(x @ c, -1, 1))


GEOMETRY = {
    "MultiViewKMeans": (euclidean_centre, euclidean_cost, euclidean_distance),
    "MultiViewSphericalKMeans": (spherical_centre, spherical_cost, spherical_distance),
}


def multi_view_kmeans(blocks, present, partition, k, n_rounds, geometry, fixed=None):
    """Bickel & Scheffer 2004, Table 1 and Eqs 8 to 12, on complete or incomplete views.

    `partition` is the one that the last view hands to the first. Returns what the estimator calls labels_,
    view_labels_, cluster_centers_, cost_ and the per-view costs of the last round. Assumes that no cluster empties.
    Entities with a label in `fixed` (-1: none) keep it.
    """
    centre, cost, distance = GEOMETRY[geometry]
    if "Spherical" in geometry:
        blocks = [block / np.linalg.norm(block, axis=1, keepdims=True) for block in blocks]
    n, n_views = present.shape
    fixed = np.full(n, -1) if fixed is None else fixed
    newest = np.where(fixed >= 0, fixed, partition)
    view_labels = np.full((n_views, n), -1)
    for _ in range(n_rounds):
        costs, centres = [], []
        for v, block in enumerate(blocks):
            mine = [[i for i in range(n) if present[i, v] and newest[i] == j] for j in range(k)]
            assert all(mine), "a cluster has no rows: this literal version has no answer to that"
            centres.append([centre(block[rows]) for rows in mine])  # Eq 9
            costs.append(0.0)
            for i in range(n):
                if present[i, v]:
                    all_costs = [cost(block[i], c) for c in centres[v]]  # Eq 8
                    view_labels[v, i] = newest[i] = int(np.argmin(all_costs)) if fixed[i] < 0 else fixed[i]
                    costs[v] += all_costs[newest[i]]  # Eq 10
    consensus = []
    for v, block in enumerate(blocks):  # Eq 11
        consensus.append(list(centres[v]))
        for j in range(k):
            agreed = [
                i
                for i in range(n)
                if present[i, v] and all(view_labels[u, i] == j for u in range(n_views) if present[i, u])
            ]
            if agreed:
                consensus[v][j] = centre(block[agreed])
    labels, total = np.empty(n, int), 0.0
    for i in range(n):  # Eq 12
        views = np.flatnonzero(present[i])
        labels[i] = np.argmin([sum(distance(blocks[v][i], consensus[v][j]) for v in views) for j in range(k)])
        labels[i] = labels[i] if fixed[i] < 0 else fixed[i]
        total += sum(cost(blocks[v][i], consensus[v][labels[i]]) for v in views)
    return labels, view_labels, [np.array(c) for c in consensus], total, costs


def multinomial_log_prob(x, theta):
    with np.errstate(divide="ignore"):
        return sum(n * np.log(p) for n, p in zip(x, theta, strict=True) if n > 0)  # Eq 20; 0 log 0 is 0


def multinomial_m_step(rows, blended, smoothing):
    theta = np.array(
        [[smoothing + blended[:, j] @ rows[:, c] for c in range(rows.shape[1])] for j in range(blended.shape[1])]
    )
    return theta / theta.sum(axis=1, keepdims=True)  # Eq 22


def gaussian_log_prob(x, theta):
    mean, variance = theta
    return -0.5 * sum(np.log(2 * np.pi * v) + (c - m) ** 2 / v for c, m, v in zip(x, mean, variance, strict=True))


def gaussian_m_step(rows, blended, _):
    result = []
    for j in range(blended.shape[1]):
        weights = blended[:, j] / blended[:, j].sum()
        mean = weights @ rows
        result.append((mean, weights @ (rows - mean) ** 2))
    return result


FAMILIES = {"multinomial": (multinomial_log_prob, multinomial_m_step), "gaussian": (gaussian_log_prob, gaussian_m_step)}


def local_posteriors(block, has_view, alpha, theta, log_prob):
    """Eq 14, row by row: ({entity: posterior}, {entity: log of the denominator})."""
    posterior, evidence = {}, {}
    for i in np.flatnonzero(has_view):
        with np.errstate(divide="ignore"):
            joint = np.log(alpha) + np.array([log_prob(block[i], t) for t in theta])
        if np.isinf(joint.max()):
            posterior[i], evidence[i] = np.array(alpha), -np.inf
            continue
        top = joint.max()
        posterior[i] = np.exp(joint - top) / np.exp(joint - top).sum()
        evidence[i] = top + np.log(np.exp(joint - top).sum())
    return posterior, evidence


def blend_posteriors(posteriors, v, i, eta):
    """Eq 13 over the views that entity i has."""
    others = [posteriors[u][i] for u in range(len(posteriors)) if u != v and i in posteriors[u]]
    if not others:
        return posteriors[v][i]
    return (1 - eta) * posteriors[v][i] + eta / len(others) * sum(others)


def co_em(blocks, present, families, start, k, etas, priors, smoothing=0.0, *, parallel=False, fixed=None):
    """Bickel & Scheffer 2005, Table 1: one round for each of `etas`, from responsibilities (n, k) per view.

    `families` has one name per view. Returns the parameters, the priors of each view, the local posteriors
    {entity: (k,)} of each view and, for each round, (Q^MV, Delta, log-likelihoods). With `parallel` all E-steps come
    before all M-steps. Entities of a known class (`fixed`, -1: unknown) have its posterior in every E-step.
    """
    views = range(len(blocks))
    log_prob, m_step = zip(*(FAMILIES[name] for name in families), strict=True)
    entities = [np.flatnonzero(present[:, v]) for v in views]
    theta = [m_step[v](blocks[v][entities[v]], start[v][entities[v]], smoothing) for v in views]
    if priors == "uniform":
        alpha = [np.full(k, 1 / k) for v in views]
    elif priors == "view":
        alpha = [start[v][entities[v]].mean(axis=0) for v in views]
    else:
        alpha = [np.concatenate([start[v][entities[v]] for v in views]).mean(axis=0)] * len(blocks)

    def e_steps():
        steps = [local_posteriors(blocks[v], present[:, v], alpha[v], theta[v], log_prob[v]) for v in views]
        for v, (posterior, evidence) in enumerate(steps):
            for i in posterior if fixed is not None else ():
                if (j := fixed[i]) >= 0:
                    posterior[i] = np.eye(k)[j]
                    evidence[i] = np.log(alpha[v][j]) + log_prob[v](blocks[v][i], theta[v][j])
        return steps

    history = []
    for eta in etas:
        before = [posterior for posterior, _ in e_steps()]
        for v in views:
            posteriors = before if parallel else [posterior for posterior, _ in e_steps()]
            blended = np.array([blend_posteriors(posteriors, v, i, eta) for i in entities[v]])
            theta[v] = m_step[v](blocks[v][entities[v]], blended, smoothing)
            if priors == "view":
                alpha[v] = blended.mean(axis=0)
            elif priors == "global":  # Eq 17
                alpha = [np.mean([p for view in posteriors for p in view.values()], axis=0)] * len(blocks)
        steps = e_steps()
        posteriors = [posterior for posterior, _ in steps]
        history.append(criterion(blocks, posteriors, alpha, theta, log_prob, eta, [e for _, e in steps]))
    return theta, alpha, posteriors, history


def criterion(blocks, posteriors, alpha, theta, log_prob, eta, evidences):
    """Q^MV by Eqs 5, 7 and 10 at equal old and new parameters, Delta, and the views' log-likelihoods."""
    views = range(len(blocks))
    single = 0.0
    for v in views:  # Eq 5
        for i, p in posteriors[v].items():
            single += sum(
                p[j] * (np.log(alpha[v][j]) + log_prob[v](blocks[v][i], theta[v][j])) for j in range(len(p)) if p[j] > 0
            )
    delta = 0.0
    for i in set().union(*posteriors):  # Eq 10, over the views that i has
        views_of_i = [v for v in views if i in posteriors[v]]
        for v in views_of_i:
            for u in views_of_i:
                if u != v:
                    p, q = posteriors[v][i], posteriors[u][i]
                    with np.errstate(divide="ignore"):
                        terms = [p[j] * (np.log(p[j]) - np.log(q[j])) for j in range(len(p)) if p[j] > 0]
                    delta += sum(terms) / (len(views_of_i) - 1)
    return single - eta * delta, delta, [sum(e.values()) for e in evidences]


def spectral_embedding(S, k):
    """The k algebraically largest eigenvectors of D^-1/2 S D^-1/2, from the whole matrix."""
    degree = S.sum(axis=1)
    L = S / np.sqrt(degree[:, None] * degree[None, :])
    _, vectors = np.linalg.eigh((L + L.T) / 2)
    return vectors[:, ::-1][:, :k]


def co_trained_spectral(kernels, k, n_rounds):
    """Kumar & Daumé 2011, Algorithm 1, with n x n matrices throughout; also whether a shift was needed."""
    U = [spectral_embedding(K, k) for K in kernels]
    shifted = False
    for _ in range(n_rounds):
        projected = []
        for v, K in enumerate(kernels):
            P = sum(U[i] @ U[i].T for i in range(len(kernels)) if i != v)
            S = (P @ K + (P @ K).T) / 2
            shifted |= S.min() < 0
            projected.append(S - min(S.min(), 0))
        U = [spectral_embedding(S, k) for S in projected]
    return U, shifted


def fill_missing_kernels(kernels, present):
    """The paper's extension to missing views, entry by entry; kernels are zero where one of the two is missing."""
    n, n_views = present.shape
    scaled = [K * present[:, v].sum() / np.linalg.norm(K) for v, K in enumerate(kernels)]
    filled = [K.copy() for K in scaled]
    for v in range(n_views):
        for i in range(n):
            for j in range(n):
                if not (present[i, v] and present[j, v]):
                    shared = [w for w in range(n_views) if present[i, w] and present[j, w]]
                    filled[v][i, j] = np.mean([scaled[w][i, j] for w in shared]) if shared else 0.0
    return filled
