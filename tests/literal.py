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


def multi_view_kmeans(blocks, present, partition, k, n_rounds, geometry):
    """Bickel & Scheffer 2004, Table 1 and Eqs 8 to 12, on complete or incomplete views.

    `partition` is the one that the last view hands to the first. Returns what the estimator calls labels_,
    view_labels_, cluster_centers_, cost_ and the per-view costs of the last round. Assumes that no cluster empties.
    """
    centre, cost, distance = GEOMETRY[geometry]
    if "Spherical" in geometry:
        blocks = [block / np.linalg.norm(block, axis=1, keepdims=True) for block in blocks]
    n, n_views = present.shape
    newest = np.array(partition)
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
                    view_labels[v, i] = newest[i] = int(np.argmin(all_costs))
                    costs[v] += min(all_costs)  # Eq 10
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
        own = [v for v in range(n_views) if present[i, v]]
        labels[i] = np.argmin([sum(distance(blocks[v][i], consensus[v][j]) for v in own) for j in range(k)])
        total += sum(cost(blocks[v][i], consensus[v][labels[i]]) for v in own)
    return labels, view_labels, [np.array(c) for c in consensus], total, costs
