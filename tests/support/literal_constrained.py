"""Constrained clustering in views, as Eaton, desJardins & Jacob 2010 and the papers under it print it.

Pair by pair, slow, and no code of the library. Links are triples (i, j, w), each unordered pair once. Pairs come back
as {(i, j): weight} with i < j. A label of -1 says: not yet assigned.
"""

import numpy as np


def triples(links):
    """(i, j, w) with whole row numbers, from a list or from an array of floats."""
    return [(int(i), int(j), float(w)) for i, j, w in links]


def keep_largest(pairs, i, j, weight):
    """The max-union of the paper (Step 9), for one pair."""
    pair = (min(i, j), max(i, j))
    pairs[pair] = max(weight, pairs.get(pair, weight))


def bottlenecks(n, must):
    """Of the best path of must-links from i to j the weakest link (Floyd-Warshall); -inf where there is no path."""
    b = np.full((n, n), -np.inf)
    for i in range(n):
        b[i, i] = np.inf
    for i, j, w in triples(must):
        b[i, j] = b[j, i] = max(w, b[i, j])
    for via in range(n):
        for i in range(n):
            for j in range(n):
                b[i, j] = max(b[i, j], min(b[i, via], b[via, j]))
    return b


def conflicts(n, must, cannot):
    """Pairs (i, j), i < j, that are cannot-linked and lie in one component of must-links."""
    b = bottlenecks(n, must)
    return sorted({(min(i, j), max(i, j)) for i, j, _ in triples(cannot) if b[i, j] > -np.inf})


def closure(n, must, cannot):
    """Step 1: (must-links, cannot-links), given and implied. A conflict stays as given and implies nothing."""
    b = bottlenecks(n, must)
    implied_must, implied_cannot = {}, {}
    for i in range(n):
        for j in range(i + 1, n):
            if b[i, j] > -np.inf:
                implied_must[i, j] = float(b[i, j])
    for p, q, w in triples(cannot):
        if b[p, q] > -np.inf:
            keep_largest(implied_cannot, p, q, w)
            continue
        for i in range(n):
            for j in range(n):
                weight = min(b[i, p], w, b[q, j])
                if weight > -np.inf:
                    keep_largest(implied_cannot, i, j, float(weight))
    return implied_must, implied_cannot


def neighborhoods(n, must):
    """Components of must-links with two members or more: the largest first, of equal ones that of the lowest row."""
    b = bottlenecks(n, must)
    members = {tuple(int(j) for j in range(n) if b[i, j] > -np.inf) for i in range(n)}
    return [list(rows) for rows in sorted(members, key=lambda rows: (-len(rows), rows[0])) if len(rows) > 1]


def squared_distance(x, y, metric):
    """(x - y)' M (x - y)."""
    return (x - y) @ metric @ (x - y)


def farthest_pair(X, metric):
    """Rows (i, j), i < j, that lie farthest apart under the metric; of equal pairs the first."""
    best, pair = -np.inf, None
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            apart = squared_distance(X[i], X[j], metric)
            if apart > best:
                best, pair = apart, (i, j)
    return pair


def diameters(X, metrics):
    """Squared distance of the farthest pair, one for each metric."""
    pairs = [farthest_pair(X, metric) for metric in metrics]
    return [squared_distance(X[i], X[j], metric) for (i, j), metric in zip(pairs, metrics, strict=True)]


def pck_objective(X, labels, centres, must, cannot):
    """J of PCK-Means (Basu, Banerjee & Mooney 2004)."""
    assert min(labels) >= 0, "J is that of a full assignment"
    J = sum(((x - centres[h]) ** 2).sum() for x, h in zip(X, labels, strict=True))
    J += sum(w for i, j, w in triples(must) if labels[i] != labels[j])
    J += sum(w for i, j, w in triples(cannot) if labels[i] == labels[j])
    return float(J)


def mpck_objective(X, labels, centres, metrics, must, cannot):
    """J of MPCK-Means (Bilenko, Basu & Mooney 2004), natural logarithm."""
    assert min(labels) >= 0, "J is that of a full assignment"
    J = 0.0
    for x, h in zip(X, labels, strict=True):
        J += squared_distance(x, centres[h], metrics[h]) - np.log(np.linalg.det(metrics[h]))
    for i, j, w in triples(must):
        if labels[i] != labels[j]:
            one, other = metrics[labels[i]], metrics[labels[j]]
            J += w * (squared_distance(X[i], X[j], one) / 2 + squared_distance(X[i], X[j], other) / 2)
    widest = diameters(X, metrics)
    for i, j, w in triples(cannot):
        if labels[i] == labels[j]:
            J += w * (widest[labels[i]] - squared_distance(X[i], X[j], metrics[labels[i]]))
    return float(J)


def partners(i, links, labels):
    """(other end, weight) of the links of row i whose other end is assigned."""
    ends = [(q if p == i else p, w) for p, q, w in triples(links) if i in (p, q)]
    return [(j, w) for j, w in ends if labels[j] >= 0]


def sweep(X, labels, centres, must, cannot, order):
    """E-step of PCK-Means: row after row to the cheapest cluster given the labels by then, the lowest of equal ones."""
    labels = np.array(labels)
    for i in order:
        costs = []
        for h, centre in enumerate(centres):
            cost = ((X[i] - centre) ** 2).sum()
            cost += sum(w for j, w in partners(i, must, labels) if labels[j] != h)
            cost += sum(w for j, w in partners(i, cannot, labels) if labels[j] == h)
            costs.append(cost)
        labels[i] = costs.index(min(costs))
    return labels


def mpck_sweep(X, labels, centres, metrics, must, cannot, order):
    """E-step of MPCK-Means, likewise."""
    labels = np.array(labels)
    widest = diameters(X, metrics)
    for i in order:
        costs = []
        for h, centre in enumerate(centres):
            cost = squared_distance(X[i], centre, metrics[h]) - np.log(np.linalg.det(metrics[h]))
            for j, w in partners(i, must, labels):
                if labels[j] != h:
                    cost += w * squared_distance(X[i], X[j], metrics[h]) / 2
                    cost += w * squared_distance(X[i], X[j], metrics[labels[j]]) / 2
            for j, w in partners(i, cannot, labels):
                if labels[j] == h:
                    cost += w * (widest[h] - squared_distance(X[i], X[j], metrics[h]))
            costs.append(cost)
        labels[i] = costs.index(min(costs))
    return labels


def members_of(labels, h):
    """Rows of cluster h."""
    rows = [i for i, label in enumerate(labels) if label == h]
    assert rows, "a cluster has no rows: this literal version has no answer to that"
    return rows


def means(X, labels, k):
    """Centres, (k, d)."""
    return np.array([sum(X[i] for i in rows) / len(rows) for rows in (members_of(labels, h) for h in range(k))])


def outer(x, y):
    """(x - y)(x - y)'."""
    return np.outer(x - y, x - y)


def mpck_scatter(X, labels, centres, metrics_before, must, cannot, h):
    """What the metric update of cluster h inverts."""
    S = sum(outer(X[i], centres[h]) for i in members_of(labels, h))
    for i, j, w in triples(must):
        if labels[i] != labels[j] and h in (labels[i], labels[j]):
            S = S + w * outer(X[i], X[j]) / 2
    far, away = farthest_pair(X, metrics_before[h])
    for i, j, w in triples(cannot):
        if labels[i] == labels[j] == h:
            S = S + w * (outer(X[far], X[away]) - outer(X[i], X[j]))
    return S


def inverted(S):
    """Of a scatter whose negative eigenvalues count as 0; one that is then singular has no answer here."""
    values, vectors = np.linalg.eigh(S)
    values = np.maximum(values, 0)
    assert values.min() > 1e-8 * values.max(), "the scatter is singular: this literal version has no answer to that"
    return vectors @ np.diag(1 / values) @ vectors.T


def mpck_metrics(X, labels, centres, metrics_before, must, cannot, diagonal=False, shared=False):
    """Metric update, (k, d, d). Shared: one scatter over all clusters; a violated must-link counts 1/2 + 1/2 in it."""
    k = len(centres)
    scatters = [mpck_scatter(X, labels, centres, metrics_before, must, cannot, h) for h in range(k)]
    sizes = [len(members_of(labels, h)) for h in range(k)]
    if shared:
        scatters, sizes = [sum(scatters)] * k, [len(X)] * k
    if diagonal:
        scatters = [np.diag(np.diag(S)) for S in scatters]
    return np.array([size * inverted(S) for size, S in zip(sizes, scatters, strict=True)])


def pck_means(X, centres, must, cannot, order, max_iter=100):
    """From centres and no labels, sweep and means until a sweep moves nobody: (labels, centres, J)."""
    labels = np.full(len(X), -1)
    for _ in range(max_iter):
        moved = sweep(X, labels, centres, must, cannot, order)
        if (moved == labels).all():
            break
        labels = moved
        centres = means(X, labels, len(centres))
    return labels, centres, pck_objective(X, labels, centres, must, cannot)


def mpck_means(X, centres, must, cannot, order, max_iter=100, diagonal=False, shared=False):
    """Likewise, from identity metrics: (labels, centres, metrics, J). The sweep that moves nobody is the last step."""
    labels = np.full(len(X), -1)
    metrics = np.array([np.eye(X.shape[1])] * len(centres))
    for _ in range(max_iter):
        moved = mpck_sweep(X, labels, centres, metrics, must, cannot, order)
        if (moved == labels).all():
            break
        labels = moved
        centres = means(X, labels, len(centres))
        metrics = mpck_metrics(X, labels, centres, metrics, must, cannot, diagonal, shared)
    return labels, centres, metrics, mpck_objective(X, labels, centres, metrics, must, cannot)


def covariances(X, labels, centres, gamma=1e-6):
    """Empirical covariances about the centres, divided by the size of the cluster, + gamma I."""
    result = []
    for h, centre in enumerate(centres):
        rows = members_of(labels, h)
        result.append(sum(outer(X[i], centre) for i in rows) / len(rows) + gamma * np.eye(X.shape[1]))
    return np.array(result)


def rescaled(metrics, covariances):
    """sigma_h M_h^-1, whose largest eigenvalue is that of the empirical covariance."""
    result = []
    for metric, covariance in zip(metrics, covariances, strict=True):
        inverse = np.linalg.inv(metric)
        sigma = np.linalg.eigvalsh(covariance).max() / np.linalg.eigvalsh(inverse).max()
        result.append(sigma * inverse)
    return np.array(result)


def endpoint_weight(x, centre, sigma):
    """Eq 4: g(x)."""
    return np.exp(-squared_distance(x, centre, np.linalg.inv(sigma)) / 2)


def reach(X, labels, centres, sigmas, u, v, i, j):
    """Eq 6 without w, for one order: the Gaussian in 2d dimensions around (x_u, x_v), at (x_i, x_j).

    Where g has underflown the Gaussian of that end is a point mass, and its block falls out of the covariance.
    """
    steps, blocks = [], []
    for end, target in ((u, i), (v, j)):
        c = labels[end]
        g = endpoint_weight(X[end], centres[c], sigmas[c])
        if g < 1e-200:  # long before 1 / g overflows; no two rows lie that close without being equal
            if (X[target] != X[end]).any():
                return 0.0
            continue
        steps.append(X[target] - X[end])
        blocks.append(g * sigmas[c])
    if not blocks:
        return 1.0
    d = X.shape[1]
    step = np.concatenate(steps)
    S = np.zeros((len(step), len(step)))
    for b, block in enumerate(blocks):
        S[b * d : (b + 1) * d, b * d : (b + 1) * d] = block  # Eq 5
    return float(np.exp(-(step @ np.linalg.inv(S) @ step) / 2))


def propagate(X, labels, centres, sigmas, must, cannot, targets, threshold):
    """Step 11: (must-links, cannot-links) between targets, the largest weight over orders and constraints."""
    targets = sorted({int(t) for t in targets})
    kinds = []
    for links in (must, cannot):
        pairs = {}
        for u, v, w in triples(links):
            for i in targets:
                for j in targets:  # (i, j) and (j, i): both orders
                    if i != j:
                        share = reach(X, labels, centres, sigmas, u, v, i, j)
                        keep_largest(pairs, i, j, w * share if share > 0 else 0.0)
        kinds.append({pair: weight for pair, weight in pairs.items() if weight >= threshold})
    return tuple(kinds)


def transfer(pairs, mapping):
    """f_{V -> U}: pairs there, by a mapping of (row here, row there); many-to-many, no self pairs, largest weight."""
    there = {}
    for (i, j), weight in pairs.items():
        for here_i, a in mapping:
            for here_j, b in mapping:
                if (here_i, here_j) == (i, j) and a != b:
                    keep_largest(there, int(a), int(b), weight)
    return there
