"""Constrained clustering in views, exactly as Eaton, desJardins & Jacob 2010 and the papers it builds on print it.

Pair by pair, slow, and without library code. Links are triples (i, j, w), each unordered pair once. Pairs are returned
as {(i, j): weight} with i < j. A label of -1 means not assigned yet.
"""

import numpy as np


def triples(links):
    """Return (i, j, w) with integer rows, from a list or from an array of floats."""
    return [(int(i), int(j), float(w)) for i, j, w in links]


def keep_largest(pairs, i, j, weight):
    """Apply the max-union of the paper (Step 9) to one pair."""
    pair = (min(i, j), max(i, j))
    pairs[pair] = max(weight, pairs.get(pair, weight))


def bottlenecks(n, must):
    """Return the weakest link of the best path of must-links from i to j (Floyd-Warshall); -inf without a path."""
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
    """Return pairs (i, j), i < j, with a cannot-link that are in one component of must-links."""
    b = bottlenecks(n, must)
    return sorted({(min(i, j), max(i, j)) for i, j, _ in triples(cannot) if b[i, j] > -np.inf})


def closure(n, must, cannot):
    """Return the given and implied must-links and cannot-links (Step 1). A conflict stays and implies nothing."""
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
    """Return components of must-links with at least two members, largest first, ties by the lowest row."""
    b = bottlenecks(n, must)
    members = {tuple(int(j) for j in range(n) if b[i, j] > -np.inf) for i in range(n)}
    return [list(rows) for rows in sorted(members, key=lambda rows: (-len(rows), rows[0])) if len(rows) > 1]


def compute_squared_distance(x, y, metric):
    """Return (x - y)' M (x - y)."""
    return (x - y) @ metric @ (x - y)


def farthest_pair(X, metric):
    """Return the rows (i, j), i < j, farthest apart under the metric; the first in case of ties."""
    best, pair = -np.inf, None
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            apart = compute_squared_distance(X[i], X[j], metric)
            if apart > best:
                best, pair = apart, (i, j)
    return pair


def diameters(X, metrics):
    """Return the squared distance of the farthest pair under each metric."""
    pairs = [farthest_pair(X, metric) for metric in metrics]
    return [compute_squared_distance(X[i], X[j], metric) for (i, j), metric in zip(pairs, metrics, strict=True)]


def pck_objective(X, labels, centers, must, cannot):
    """Return J of PCK-Means (Basu, Banerjee & Mooney 2004)."""
    assert min(labels) >= 0, "J is that of a full assignment"
    J = sum(((x - centers[h]) ** 2).sum() for x, h in zip(X, labels, strict=True))
    J += sum(w for i, j, w in triples(must) if labels[i] != labels[j])
    J += sum(w for i, j, w in triples(cannot) if labels[i] == labels[j])
    return float(J)


def mpck_objective(X, labels, centers, metrics, must, cannot):
    """Return J of MPCK-Means (Bilenko, Basu & Mooney 2004), with the natural logarithm."""
    assert min(labels) >= 0, "J is that of a full assignment"
    J = 0.0
    for x, h in zip(X, labels, strict=True):
        J += compute_squared_distance(x, centers[h], metrics[h]) - np.log(np.linalg.det(metrics[h]))
    for i, j, w in triples(must):
        if labels[i] != labels[j]:
            first, other = metrics[labels[i]], metrics[labels[j]]
            J += w * (compute_squared_distance(X[i], X[j], first) / 2 + compute_squared_distance(X[i], X[j], other) / 2)
    widest = diameters(X, metrics)
    for i, j, w in triples(cannot):
        if labels[i] == labels[j]:
            J += w * (widest[labels[i]] - compute_squared_distance(X[i], X[j], metrics[labels[i]]))
    return float(J)


def partners(i, links, labels):
    """Return (other end, weight) of the links of row i whose other end is assigned."""
    ends = [(q if p == i else p, w) for p, q, w in triples(links) if i in (p, q)]
    return [(j, w) for j, w in ends if labels[j] >= 0]


def sweep(X, labels, centers, must, cannot, order):
    """Run the E-step of PCK-Means: move row after row to the cheapest cluster given the current labels."""
    labels = np.array(labels)
    for i in order:
        costs = []
        for h, center in enumerate(centers):
            cost = ((X[i] - center) ** 2).sum()
            cost += sum(w for j, w in partners(i, must, labels) if labels[j] != h)
            cost += sum(w for j, w in partners(i, cannot, labels) if labels[j] == h)
            costs.append(cost)
        labels[i] = costs.index(min(costs))
    return labels


def mpck_sweep(X, labels, centers, metrics, must, cannot, order):
    """Run the E-step of MPCK-Means."""
    labels = np.array(labels)
    widest = diameters(X, metrics)
    for i in order:
        costs = []
        for h, center in enumerate(centers):
            cost = compute_squared_distance(X[i], center, metrics[h]) - np.log(np.linalg.det(metrics[h]))
            for j, w in partners(i, must, labels):
                if labels[j] != h:
                    cost += w * compute_squared_distance(X[i], X[j], metrics[h]) / 2
                    cost += w * compute_squared_distance(X[i], X[j], metrics[labels[j]]) / 2
            for j, w in partners(i, cannot, labels):
                if labels[j] == h:
                    cost += w * (widest[h] - compute_squared_distance(X[i], X[j], metrics[h]))
            costs.append(cost)
        labels[i] = costs.index(min(costs))
    return labels


def members_of(labels, h):
    rows = [i for i, label in enumerate(labels) if label == h]
    assert rows, "a cluster has no rows: this literal version has no answer to that"
    return rows


def means(X, labels, k):
    return np.array([sum(X[i] for i in rows) / len(rows) for rows in (members_of(labels, h) for h in range(k))])


def outer(x, y):
    return np.outer(x - y, x - y)


def mpck_scatter(X, labels, centers, metrics_before, must, cannot, h):
    """Return the matrix that the metric update of cluster h inverts."""
    S = sum(outer(X[i], centers[h]) for i in members_of(labels, h))
    for i, j, w in triples(must):
        if labels[i] != labels[j] and h in (labels[i], labels[j]):
            S = S + w * outer(X[i], X[j]) / 2
    far, end = farthest_pair(X, metrics_before[h])
    for i, j, w in triples(cannot):
        if labels[i] == labels[j] == h:
            S = S + w * (outer(X[far], X[end]) - outer(X[i], X[j]))
    return S


def invert_scatter(S):
    """Invert a scatter after clipping negative eigenvalues; it must not be singular then."""
    values, vectors = np.linalg.eigh(S)
    values = np.maximum(values, 0)
    assert values.min() > 1e-8 * values.max(), "the scatter is singular: this literal version has no answer to that"
    return vectors @ np.diag(1 / values) @ vectors.T


def mpck_metrics(X, labels, centers, metrics_before, must, cannot, diagonal=False, shared=False):
    """Update the metrics, (k, d, d). Shared: one scatter over all clusters; a violated must-link counts 1/2 + 1/2."""
    k = len(centers)
    scatters = [mpck_scatter(X, labels, centers, metrics_before, must, cannot, h) for h in range(k)]
    sizes = [len(members_of(labels, h)) for h in range(k)]
    if shared:
        scatters, sizes = [sum(scatters)] * k, [len(X)] * k
    if diagonal:
        scatters = [np.diag(np.diag(S)) for S in scatters]
    return np.array([size * invert_scatter(S) for size, S in zip(sizes, scatters, strict=True)])


def pck_means(X, centers, must, cannot, order, max_iter=100):
    """Repeat sweep and means, from centers, until no row moves; return (labels, centers, J)."""
    labels = np.full(len(X), -1)
    for _ in range(max_iter):
        moved = sweep(X, labels, centers, must, cannot, order)
        if (moved == labels).all():
            break
        labels = moved
        centers = means(X, labels, len(centers))
    return labels, centers, pck_objective(X, labels, centers, must, cannot)


def mpck_means(X, centers, must, cannot, order, max_iter=100, diagonal=False, shared=False):
    """Repeat sweep, means and metrics, from identity metrics, until no row moves: (labels, centers, metrics, J)."""
    labels = np.full(len(X), -1)
    metrics = np.array([np.eye(X.shape[1])] * len(centers))
    for _ in range(max_iter):
        moved = mpck_sweep(X, labels, centers, metrics, must, cannot, order)
        if (moved == labels).all():
            break
        labels = moved
        centers = means(X, labels, len(centers))
        metrics = mpck_metrics(X, labels, centers, metrics, must, cannot, diagonal, shared)
    return labels, centers, metrics, mpck_objective(X, labels, centers, metrics, must, cannot)


def list_allowed_clusters(i, labels, k, must, cannot):
    """Return the clusters in which row i violates no constraint with rows that are assigned (Wagstaff et al. 2001)."""
    return [
        h
        for h in range(k)
        if all(labels[j] == h for j, _ in partners(i, must, labels))
        and all(labels[j] != h for j, _ in partners(i, cannot, labels))
    ]


def cop_round(X, centers, must, cannot, order, constrained_first):
    """Assign row after row to the nearest allowed cluster; None if a row has none (Wagstaff et al. 2001, step 2).

    `must` and `cannot` are closed. If `constrained_first`, the next row is the one with the fewest allowed clusters.
    """
    labels, waiting = np.full(len(X), -1), list(order)
    while waiting:
        i = waiting[0]
        if constrained_first:
            i = min(waiting, key=lambda row: len(list_allowed_clusters(row, labels, len(centers), must, cannot)))
        waiting.remove(i)
        allowed = list_allowed_clusters(i, labels, len(centers), must, cannot)
        if not allowed:
            return None
        labels[i] = min(allowed, key=lambda h: ((X[i] - centers[h]) ** 2).sum())
    return labels


def cop_means(X, centers, must, cannot, order, max_iter):
    """Repeat assignment and means until no row moves; (labels, centers, cost), None if that does not happen.

    An assignment that fails is repeated with the most constrained rows first, which the paper leaves open.
    """
    pairs = closure(len(X), must, cannot)
    must, cannot = ([(i, j, w) for (i, j), w in kind.items()] for kind in pairs)
    labels = np.full(len(X), -1)
    for _ in range(max_iter):
        moved = cop_round(X, centers, must, cannot, order, False)
        if moved is None:
            moved = cop_round(X, centers, must, cannot, order, True)
        if moved is None:
            return None
        if (moved == labels).all():
            return labels, centers, sum(((x - centers[h]) ** 2).sum() for x, h in zip(X, labels, strict=True))
        labels, centers = moved, means(X, moved, len(centers))
    return None


def covariances(X, labels, centers, gamma=1e-6):
    """Return empirical covariances about the centers, divided by the cluster sizes, plus gamma I."""
    result = []
    for h, center in enumerate(centers):
        rows = members_of(labels, h)
        result.append(sum(outer(X[i], center) for i in rows) / len(rows) + gamma * np.eye(X.shape[1]))
    return np.array(result)


def rescale_metrics(metrics, covariances):
    """Return sigma_h M_h^-1, scaled to the largest eigenvalue of the empirical covariance."""
    result = []
    for metric, covariance in zip(metrics, covariances, strict=True):
        inverse = np.linalg.inv(metric)
        sigma = np.linalg.eigvalsh(covariance).max() / np.linalg.eigvalsh(inverse).max()
        result.append(sigma * inverse)
    return np.array(result)


def endpoint_weight(x, center, sigma):
    """Return g(x) (Eq 4)."""
    return np.exp(-compute_squared_distance(x, center, np.linalg.inv(sigma)) / 2)


def reach(X, labels, centers, sigmas, u, v, i, j):
    """Return Eq 6 without w for one order: the Gaussian in 2d dimensions around (x_u, x_v), at (x_i, x_j).

    Where g has underflown the Gaussian of that end is a point mass, and its block falls out of the covariance.
    """
    steps, blocks = [], []
    for end, target in ((u, i), (v, j)):
        c = labels[end]
        g = endpoint_weight(X[end], centers[c], sigmas[c])
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


def propagate(X, labels, centers, sigmas, must, cannot, targets, threshold):
    """Return must-links and cannot-links between targets (Step 11), with the largest weight over orders and links."""
    targets = sorted({int(t) for t in targets})
    kinds = []
    for links in (must, cannot):
        pairs = {}
        for u, v, w in triples(links):
            for i in targets:
                for j in targets:  # (i, j) and (j, i): both orders
                    if i != j:
                        share = reach(X, labels, centers, sigmas, u, v, i, j)
                        keep_largest(pairs, i, j, w * share if share > 0 else 0.0)
        kinds.append({pair: weight for pair, weight in pairs.items() if weight >= threshold})
    return tuple(kinds)


def transfer(pairs, mapping):
    """Map pairs to another view (f_{V -> U}): many-to-many, no self pairs, largest weight."""
    images = {}
    for (i, j), weight in pairs.items():
        for here_i, a in mapping:
            for here_j, b in mapping:
                if (here_i, here_j) == (i, j) and a != b:
                    keep_largest(images, int(a), int(b), weight)
    return images
