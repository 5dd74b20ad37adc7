"""Compare assessments with the true classes of labelled sets, and print the constants of `consilience.assess`.

``python -m benchmarks.reliability.verdict`` clusters every set in the folder that CONSILIENCE_DATA names (see
benchmarks/modern/collection.py) with the true number of clusters, as it is and with one useless view added, and
assesses each result without the classes. Finished cases are kept in a file of records, so that an interrupted run goes
on. It prints

- per set the estimated impurity, fitted to the other sets, and the true one, the verdict and the true error;
- how often each verdict was right, and how often clusters that follow an unconfirmed view were wrong;
- how often each word for the certainty of an entity was right;
- how many of the added views are named, how many of the others are flagged, and the quality after the advised refit;
- the constants for src/consilience/assessment/reference.py.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

import consilience as cs
from benchmarks.modern.collection import PLUS, draw_useless, find_sets
from benchmarks.modern.sets import Prepared, prepare
from consilience.assessment.assessment import rank_margins
from consilience.assessment.reference import (
    INTERCEPT,
    LEAST_SUPPORT,
    RIGHT_AMBIGUITY,
    RIGHT_INTERCEPT,
    RIGHT_RANK,
    SLOPE,
    STABLE_DISAGREEMENT,
    STABLE_DOUBT,
    UNRELIABLE_DOUBT,
    WORDS,
)
from consilience.methods.common.halves import compute_disagreement

ADDED = ("noise", "blobs", "year", "price")  # kinds of useless views
RIGHT, WRONG = 0.10, 0.30  # a stable result errs on at most, an unreliable one on more than this share
METHODS: dict[str, Callable[[int, int], Any]] = {
    "consilience": lambda k, seed: cs.Consilience(k, random_state=seed, n_jobs=1),
    "spherical k-means": lambda k, seed: cs.MultiViewSphericalKMeans(k, random_state=seed, n_jobs=1),
    "co-trained spectral": lambda k, seed: cs.CoTrainedSpectral(k, random_state=seed, n_jobs=1),
    "kernel addition": lambda k, seed: cs.baselines.KernelAddition(k, random_state=seed),
}


class Case(NamedTuple):
    """What is assessed."""

    name: str  # of the set
    added: str  # kind of the useless view, or empty
    method: str
    factor: float  # of the true number of clusters
    seed: int


Record = dict[str, Any]


def list_cases(names: Iterable[str], full: bool) -> list[Case]:
    """Return all cases: two seeds per set, each useless view, and with `full` other methods and numbers of clusters."""
    names = list(names)
    cases = [Case(name, "", "consilience", 1.0, 0) for name in names]
    cases += [Case(name, added, "consilience", 1.0, 0) for added in ADDED for name in names]
    cases += [Case(name, "", "consilience", 1.0, 1) for name in names]
    if full:
        cases += [Case(name, "", method, 1.0, 0) for name in names for method in METHODS if method != "consilience"]
        cases += [Case(name, "", "consilience", factor, 0) for name in names for factor in (0.6, 1.6)]
    return cases


def draw_added(kind: str, name: str, n: int, n_clusters: int) -> np.ndarray:
    """Draw a useless view with a seed that depends on the set and the kind."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{PLUS}{kind}".encode()))
    if kind == "price":
        return np.round(np.exp(rng.normal(3, 1, size=(n, 1))), 2)
    return draw_useless(kind, rng, n, n_clusters)


def run_case(case: Case) -> Record:
    """Cluster and assess a set, and compare the outcome with its classes."""
    warnings.simplefilter("ignore")
    views, classes = find_sets()[case.name]()
    if case.added:
        views[case.added] = draw_added(case.added, case.name, len(classes), len(np.unique(classes)))
    data = prepare(views, np.unique(classes, return_inverse=True)[1])
    y, k = data.target, max(2, round(case.factor * data.n_clusters))
    started = time.perf_counter()
    model = METHODS[case.method](k, case.seed).fit(data.weighed)
    fitted = time.perf_counter()
    assessment = cs.assess(model, data.weighed, random_state=case.seed)
    assessed = time.perf_counter()
    return {
        **case._asdict(),
        "n": len(y),
        "n_clusters": k,
        "n_views": data.weighed.n_views,
        **score(y, model.labels_),
        "disagreement": assessment.disagreement,
        "ambiguity": assessment.ambiguity,
        "leading": assessment.leading,
        "support": dict(zip(assessment.views["view"].tolist(), assessment.views["support"].tolist(), strict=True)),
        "share": dict(zip(assessment.views["view"].tolist(), assessment.views["share"].tolist(), strict=True)),
        "trust": dict(zip(assessment.views["view"].tolist(), assessment.views["trust"].tolist(), strict=True)),
        "verdict": assessment.verdict,
        "fit_seconds": fitted - started,
        "assess_seconds": assessed - fitted,
        "headline": assessment.headline,
        "advice": assessment.advice,
        "bound": cs.metrics.disagreement_bound(model.view_labels_),
        "worst_view": compute_worst_view_error(y, model.view_labels_),
        "unconfirmed": assessment.unconfirmed,
        "refit": score_refit(case, data, assessment) if case.added else None,
        "entities": None if case.added else pack_entities(assessment.margin, find_right(y, model.labels_)),
    }


def score_refit(case: Case, data: Prepared, assessment: cs.Assessment) -> float | None:
    """Return the NMI of the result without unconfirmed views; None if nothing is advised, or the added view alone.

    Without the added view the fit is that of the case as it is, so that its NMI is known.
    """
    unconfirmed = assessment.unconfirmed
    if unconfirmed == [case.added] or not 0 < len(unconfirmed) < len(assessment.compared):
        return None
    remaining = data.weighed[[name for name in data.weighed.names if name not in unconfirmed]]
    rows = np.flatnonzero(remaining.present.any(axis=1))
    model = METHODS[case.method](assessment.clusters.n_rows, case.seed).fit(remaining[rows])
    return score(data.target[rows], model.labels_)["nmi"]


def find_right(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return for each entity whether its class is the majority class of its cluster."""
    majority = {cluster: np.bincount(classes[labels == cluster]).argmax() for cluster in np.unique(labels)}
    return np.array([majority[cluster] for cluster in labels.tolist()]) == classes


def pack_entities(margin: np.ndarray, right: np.ndarray) -> dict[str, str]:
    """Return the margins in half precision and whether entities are right, as text."""
    return {
        "margin": b64encode(margin.astype(np.float16).tobytes()).decode(),
        "right": b64encode(np.packbits(right).tobytes()).decode(),
    }


def unpack_entities(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of the margins of a record's entities, and whether they are right."""
    margin = np.frombuffer(b64decode(record["entities"]["margin"]), np.float16).astype(float)
    right = np.unpackbits(np.frombuffer(b64decode(record["entities"]["right"]), np.uint8), count=len(margin))
    return rank_margins(margin, margin), right.astype(bool)


def score(classes: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return the share of entities in a wrong cluster (matched one to one), the impurity and the NMI."""
    majority = sum(np.bincount(classes[labels == cluster]).max() for cluster in np.unique(labels))
    return {
        "error": compute_disagreement(labels, classes),
        "impurity": 1 - majority / len(classes),
        "nmi": float(normalized_mutual_info_score(classes, labels)),
    }


def compute_worst_view_error(classes: np.ndarray, view_labels: dict[str, np.ndarray]) -> float:
    """Return the largest error of a single view's labels."""
    return max(
        compute_disagreement(labels[labels >= 0], classes[labels >= 0])
        for labels in view_labels.values()
        if (labels >= 0).any()
    )


def run_cases(cases: Sequence[Case], path: Path, n_processes: int) -> list[Record]:
    """Run the cases that the file of records lacks, and return all records."""
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {tuple(record[name] for name in Case._fields) for record in records}
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(n_processes) as pool, path.open("a") as file:
        running = {pool.submit(run_case, case): case for case in cases if tuple(case) not in done}
        for future in as_completed(running):
            record = future.result()
            records.append(record)
            file.write(json.dumps(record, default=float) + "\n")
            file.flush()
            print(f"{len(records)} of {len(cases)}: {record['name']} {record['added']} {record['verdict']}", flush=True)
    wanted = {tuple(case) for case in cases}
    return [record for record in records if tuple(record[name] for name in Case._fields) in wanted]


def doubt_of(record: Record) -> float:
    """Return the mean of disagreement and ambiguity."""
    return (record["disagreement"] + record["ambiguity"]) / 2


def fit_line(records: Sequence[Record]) -> np.ndarray:
    """Return slope and intercept of the impurity as a function of the doubt."""
    return np.polyfit([doubt_of(record) for record in records], [record["impurity"] for record in records], 1)


def estimate_left_out(records: Sequence[Record]) -> np.ndarray:
    """Return the estimate of each record's impurity from the records of the other sets."""
    estimates = []
    for record in records:
        others = [other for other in records if other["name"] != record["name"]]
        estimates.append(np.clip(np.polyval(fit_line(others), doubt_of(record)), 0, 1))
    return np.array(estimates)


def choose(records: Iterable[Record], **wanted: Any) -> list[Record]:
    """Return the records with the given values, ordered by set."""
    chosen = [record for record in records if all(record[name] == value for name, value in wanted.items())]
    return sorted(chosen, key=lambda record: record["name"])


def print_sets(reference: Sequence[Record]) -> None:
    """Print estimate against truth per set, with the bound that was shown before."""
    estimates = estimate_left_out(reference)
    print("\nset               views    k   error impurity estimate     R     M     D  verdict      bound worst view")
    for record, estimate in zip(reference, estimates, strict=True):
        if record["seed"] == 0:
            print(
                f"{record['name']:16s} {record['n_views']:6d} {record['n_clusters']:4d} {record['error']:7.2f} "
                f"{record['impurity']:8.2f} {estimate:8.2f} {record['disagreement']:5.2f} {record['ambiguity']:5.2f} "
                f"{doubt_of(record):5.2f}  {record['verdict']:11s} {record['bound']:6.2f} {record['worst_view']:10.2f}"
            )
    impurity = np.array([record["impurity"] for record in reference])
    print(
        f"mean absolute error of the estimate {np.mean(np.abs(impurity - estimates)):.3f}, of the median "
        f"{np.mean(np.abs(impurity - np.median(impurity))):.3f}"
    )
    below = [record["bound"] < record["worst_view"] for record in reference]
    print(f"the disagreement bound lay below the error of the worst view on {sum(below)} of {len(below)}")


def print_verdicts(title: str, records: Sequence[Record]) -> None:
    """Print how often each verdict was right."""
    print(f"\n{title}: {len(records)} results")
    for verdict in ("stable", "mixed", "do not rely"):
        errors = np.array([record["error"] for record in records if record["verdict"] == verdict])
        if len(errors):
            print(
                f"{verdict:12s} {len(errors):3d}: error {errors.min():.2f} to {errors.max():.2f}, at most {RIGHT:.2f} "
                f"on {np.sum(errors <= RIGHT)}, above {WRONG:.2f} on {np.sum(errors > WRONG)}"
            )


def print_followed(records: Sequence[Record]) -> None:
    """Print how often a result was wrong whose clusters follow an unconfirmed view that was added to the set."""
    errors = [record["error"] for record in records if record["added"] and record["leading"] is not None]
    print(
        f"\nclusters that follow an unconfirmed view, with a view added: error above {WRONG:.2f} on "
        f"{sum(error > WRONG for error in errors)} of {len(errors)}"
    )


def print_added(records: Sequence[Record], plain: dict[str, Record]) -> None:
    """Print which added views are named, which others are flagged, and what the advised refit gives."""
    print("\nadded    named  others flagged   NMI without   with   after the advised refit   worse by more than .03")
    for kind in ADDED:
        cases = choose(records, added=kind, method="consilience")
        named = sum(case["support"][kind] < LEAST_SUPPORT for case in cases)
        others = [support for case in cases for view, support in case["support"].items() if view != kind]
        flagged = sum(support < LEAST_SUPPORT for support in others)
        before = np.array([plain[case["name"]]["nmi"] for case in cases])
        after = np.array([find_nmi_after(case, plain[case["name"]]) for case in cases])
        worse = [case["name"] for case, loss in zip(cases, before - after, strict=True) if loss > 0.03]
        print(
            f"{kind:6s} {named:4d} of {len(cases)} {flagged:6d} of {len(others)} {before.mean():12.3f} "
            f"{np.mean([case['nmi'] for case in cases]):8.3f} {after.mean():16.3f}   {', '.join(worse) or 'none'}"
        )


def find_nmi_after(record: Record, plain: Record) -> float:
    """Return the NMI after the advised refit: of the set as it is if the added view alone is to be left out."""
    if record["unconfirmed"] == [record["added"]]:
        return float(plain["nmi"])
    return float(record["nmi"] if record["refit"] is None else record["refit"])


def print_words(reference: Sequence[Record]) -> None:
    """Print how often each word for the certainty of an entity is right, with constants fitted to the other sets."""
    entities = [unpack_entities(record) for record in reference]
    probability = [
        predict_right(fit_right([other for other in reference if other["name"] != record["name"]]), ranks, record)
        for record, (ranks, _) in zip(reference, entities, strict=True)
    ]
    right = np.concatenate([is_right for _, is_right in entities])
    areas = [roc_auc_score(is_right, ranks) for ranks, is_right in entities if 0 < is_right.sum() < len(is_right)]
    print(f"\narea under the ROC curve of the margins, mean over results: {np.mean(areas):.2f}")
    words = name_probabilities(np.concatenate(probability))
    by_result = [(name_probabilities(p), is_right) for p, (_, is_right) in zip(probability, entities, strict=True)]
    print("word       entities  share of all   right   results in which the word was used, right below the claim")
    for word, least in WORDS:
        used = words == word
        shares = [
            np.mean(is_right[result_words == word])
            for result_words, is_right in by_result
            if (result_words == word).any()
        ]
        print(
            f"{word:9s} {used.sum():9,d} {used.mean():13.0%} {np.mean(right[used]) if used.any() else np.nan:7.0%} "
            f"{len(shares):9d} {sum(share < least for share in shares):9d}"
        )
    intercept, rank, ambiguity = fit_right(reference)
    print(
        f"RIGHT_INTERCEPT, RIGHT_RANK, RIGHT_AMBIGUITY = {intercept:.2f}, {rank:.2f}, {ambiguity:.2f}  (in use: "
        f"{RIGHT_INTERCEPT}, {RIGHT_RANK}, {RIGHT_AMBIGUITY})"
    )


def name_probabilities(probability: np.ndarray) -> np.ndarray:
    """Return the word for each probability."""
    names, least = zip(*WORDS, strict=True)
    return np.array(names)[np.argmax(probability[:, None] >= np.array(least), axis=1)]


def fit_right(records: Sequence[Record]) -> np.ndarray:
    """Fit the log-odds that an entity is right: intercept, slopes of its rank and the ambiguity; sets weigh alike."""
    features, right, weights = [], [], []
    for record in records:
        ranks, is_right = unpack_entities(record)
        features.append(np.column_stack([ranks, np.full(len(ranks), record["ambiguity"])]))
        right.append(is_right)
        weights.append(np.full(len(ranks), 1000 / len(ranks)))
    model = LogisticRegression(C=1e6).fit(
        np.concatenate(features), np.concatenate(right), sample_weight=np.concatenate(weights)
    )
    return np.array([model.intercept_[0], *model.coef_[0]])


def predict_right(coefficients: np.ndarray, ranks: np.ndarray, record: Record) -> np.ndarray:
    """Return the probability that entities of a record are right."""
    intercept, rank, ambiguity = coefficients
    return 1 / (1 + np.exp(-(intercept + rank * ranks + ambiguity * record["ambiguity"])))


def fit_thresholds(records: Sequence[Record]) -> tuple[float, float]:
    """Return the doubt up to which results are stable, and the one above which they are unreliable.

    The first is the largest at which nine of ten results that are stable by their disagreement err on at most a tenth
    of the entities; the second the smallest above which nineteen of twenty err on more than three tenths.
    """
    grid = np.round(np.arange(0.08, 0.61, 0.02), 2).tolist()
    repeated = [record for record in records if record["disagreement"] <= STABLE_DISAGREEMENT]
    stable = [limit for limit in grid if share_right([r for r in repeated if doubt_of(r) <= limit], "stable") >= 0.9]
    unreliable = [
        limit for limit in grid if share_right([r for r in records if doubt_of(r) > limit], "do not rely") >= 0.95
    ]
    return max(stable, default=0.0), min(unreliable, default=1.0)


def share_right(records: Sequence[Record], verdict: str) -> float:
    """Return how often a verdict would be right; 0 if there are no records."""
    right = [record["error"] <= RIGHT if verdict == "stable" else record["error"] > WRONG for record in records]
    return float(np.mean(right)) if right else 0.0


def print_thresholds(reference: Sequence[Record]) -> None:
    """Print the thresholds of the verdicts, and how often verdicts are right with thresholds fitted to other sets."""
    stable, unreliable = fit_thresholds(reference)
    print(
        f"\nSTABLE_DOUBT, UNRELIABLE_DOUBT = {stable:.2f}, {unreliable:.2f}  (in use: {STABLE_DOUBT}, "
        f"{UNRELIABLE_DOUBT})"
    )
    verdicts: dict[str, list[Record]] = {"stable": [], "do not rely": []}
    for record in reference:
        stable, unreliable = fit_thresholds([other for other in reference if other["name"] != record["name"]])
        if doubt_of(record) > unreliable:
            verdicts["do not rely"].append(record)
        elif record["disagreement"] <= STABLE_DISAGREEMENT and doubt_of(record) <= stable:
            verdicts["stable"].append(record)
    for verdict, records in verdicts.items():
        n_right = round(share_right(records, verdict) * len(records))
        print(f"thresholds fitted to the other sets: {verdict} is right on {n_right} of {len(records)}")


def print_constants(reference: Sequence[Record]) -> None:
    """Print the constants of the estimate."""
    slope, intercept = fit_line(reference)
    impurity = np.array([record["impurity"] for record in reference])
    below = -np.quantile(impurity - estimate_left_out(reference), 0.1)
    ceiling = np.quantile(impurity / np.array([doubt_of(record) for record in reference]), 0.9)
    print(f"\nINTERCEPT, SLOPE = {intercept:.2f}, {slope:.2f}  (in use: {INTERCEPT}, {SLOPE})")
    print(f"BELOW = {below:.2f}, CEILING = {ceiling:.2f}")


def main() -> None:
    """Run the cases and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=Path("build/reliability/verdict.jsonl"), help="file of records")
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--full", action="store_true", help="also other methods and wrong numbers of clusters")
    options = parser.parse_args()
    records = run_cases(list_cases(find_sets(), options.full), options.records, options.processes)
    reference = choose(records, added="", method="consilience", factor=1.0)
    print_sets(reference)
    print_verdicts("Consilience, true number of clusters", reference)
    for kind in ADDED:
        print_verdicts(f"with {kind} added", choose(records, added=kind))
    print_followed(choose(records, method="consilience"))
    if options.full:
        for method in METHODS:
            if method != "consilience":
                print_verdicts(method, choose(records, added="", method=method))
        for factor in (0.6, 1.6):
            print_verdicts(f"{factor} times as many clusters as classes", choose(records, factor=factor))
    print_added(records, {record["name"]: record for record in reference if record["seed"] == 0})
    print_words(reference)
    print_constants(reference)
    print_thresholds(reference)


if __name__ == "__main__":
    main()
