"""The step of k-means that assigns rows and adds them up, compiled. Importing this file imports numba."""

from __future__ import annotations

from .compile import compile_kernel


@compile_kernel
def assign_to_clusters(X, scores, bias, labels, best_scores, sums, counts):
    """Label each row by its largest score less the bias, add it to the sums of its cluster, and count new labels.

    The first of equal scores counts. `scores` is (rows, clusters); `labels` are those of the step before and become the
    new ones.
    """
    n_changed = 0
    for i in range(scores.shape[0]):
        best, best_score = 0, scores[i, 0] - bias[0]
        for j in range(1, scores.shape[1]):
            score = scores[i, j] - bias[j]
            if score > best_score:
                best, best_score = j, score
        n_changed += labels[i] != best
        labels[i] = best
        best_scores[i] = best_score
        counts[best] += 1
        row = sums[best]
        for c in range(X.shape[1]):
            row[c] += X[i, c]
    return n_changed
