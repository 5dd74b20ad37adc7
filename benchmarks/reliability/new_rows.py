"""Check what `predict` says of new rows, and what an update gains by the earlier clusters, on labelled sets.

``python -m benchmarks.reliability.new_rows`` clusters every set in the folder that CONSILIENCE_DATA names (see
benchmarks/modern/collection.py) with as many clusters as it has classes, and prints

- how often each word for the confidence in a new row's cluster was right: two thirds of at most 1,500 entities are
  fitted and assessed, the others are predicted. A row is right if its class is the most frequent one of its cluster;
- how many of these rows fit no cluster, whether the note about them would appear, and whether it would appear for
  rows whose columns are in another order, whose numbers are in other units, or whose views are of different entities;
- two overlapping samples of three quarters each, as of two months: how many of the common entities move if the second
  is fitted afresh, or refined from the clusters of the first unless that lowers the score below 97%, and the NMI with
  the classes.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from benchmarks.modern.collection import find_sets
from benchmarks.modern.sets import prepare
from consilience.assessment.reference import WORDS, choose_words
from consilience.methods.agreement.estimator import EQUALLY_SUPPORTED
from consilience.methods.common.halves import compute_disagreement
from consilience.pipeline.prediction import is_beyond_chance

MAX_ENTITIES = 1_500
LEAST_ROWS = 10  # with a word, for the share that is right to count as a result
CHANGES = {
    "columns in another order": lambda block, rng: block[:, rng.permutation(block.shape[1])],
    "other units": lambda block, _: block * 1000.0,
    "views of different entities": lambda block, rng: block[rng.permutation(block.shape[0])],
}


def check_words(views: cs.Views, classes: np.ndarray, n_clusters: int) -> dict[str, Any]:
    """Predict held-out entities, and count how often each word is right and how many rows fit no cluster."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(classes))[:MAX_ENTITIES]
    fitted, new = np.sort(order[: 2 * len(order) // 3]), np.sort(order[2 * len(order) // 3 :])
    model = cs.Consilience(n_clusters, random_state=0, n_jobs=1).fit(views[fitted])
    assessment = cs.assess(model, views[fitted], random_state=0)
    majority = {
        cluster: np.bincount(classes[fitted][model.labels_ == cluster]).argmax() for cluster in np.unique(model.labels_)
    }
    right = np.array([majority.get(cluster, -1) for cluster in model.predict(views[new]).tolist()]) == classes[new]
    words = choose_words(assessment.estimate_confidence(model.predict_confidence(views[new])))
    record: dict[str, Any] = {"words": {word: right[words == word].tolist() for word, _ in WORDS}}
    changed = {
        name: views[new].replace_blocks({view: change(block, rng) for view, block in views[new].items()})
        for name, change in CHANGES.items()
    }
    for name, rows in {"as they are": views[new], **changed}.items():
        fits_none = model.fits_no_cluster(rows)
        is_noted = is_beyond_chance(int(fits_none.sum()), len(new), model.outlier_limit_, len(fitted))
        record[name] = (float(fits_none.mean()), is_noted)
    return record


def check_update(views: cs.Views, classes: np.ndarray, n_clusters: int, seed: int) -> dict[str, float]:
    """Cluster two overlapping samples, the second afresh and from the clusters of the first."""
    order = np.random.default_rng(seed).permutation(len(classes))[:MAX_ENTITIES]
    quarter = len(order) // 4
    may, june = np.sort(order[:-quarter]), np.sort(order[quarter:])
    first, fresh = (cs.Consilience(n_clusters, random_state=0, n_jobs=1).fit(views[rows]) for rows in (may, june))
    before = np.full(len(classes), -1)
    before[may] = first.labels_
    start = np.where(before[june] >= 0, before[june], first.predict(views[june]))
    refined = cs.Consilience(n_clusters, init=start, random_state=0, n_jobs=1).fit(views[june])
    updated = refined if -refined.cost_ >= EQUALLY_SUPPORTED * -fresh.cost_ else fresh
    record = {}
    for name, model in (("fresh", fresh), ("updated", updated)):
        record[f"moved, {name}"] = compute_disagreement(before[june], model.labels_)
        record[f"NMI, {name}"] = float(normalized_mutual_info_score(classes[june], model.labels_))
    return record


def main() -> None:
    """Run all sets, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", help="names of sets (default: all)")
    chosen = parser.parse_args().sets
    warnings.simplefilter("ignore")
    records, updates = [], []
    for name, load in find_sets().items():
        if chosen and name not in chosen:
            continue
        blocks, classes = load()
        data = prepare(blocks, np.unique(classes, return_inverse=True)[1])
        records.append(check_words(data.weighed, data.target, data.n_clusters))
        updates += [check_update(data.weighed, data.target, data.n_clusters, seed) for seed in (0, 1)]
        print(name, flush=True)
    print("\n| word | new rows | right | results in which it was right less often than claimed |\n|---|---|---|---|")
    for word, least in WORDS:
        by_set = [record["words"][word] for record in records]
        right = [is_right for rows in by_set for is_right in rows]
        shares = [np.mean(rows) for rows in by_set if len(rows) >= LEAST_ROWS]
        print(f"| {word} | {len(right):,} | {np.mean(right):.0%} | {sum(np.array(shares) < least)} of {len(shares)} |")
    print("\n| rows | fit no cluster, mean | noted |\n|---|---|---|")
    for name in ("as they are", *CHANGES):
        share, noted = zip(*(record[name] for record in records), strict=True)
        print(f"| {name} | {np.mean(share):.1%} | {Counter(noted)[True]} of {len(noted)} |")
    print()
    for name in updates[0]:
        print(f"{name}: {np.mean([update[name] for update in updates]):.3f}")


if __name__ == "__main__":
    main()
