"""Compare the numbers of clusters that `consilience.select_n_clusters` supports with the true ones of labelled sets.

``python -m benchmarks.reliability.n_clusters`` looks for the number of clusters of every set in the folder that
CONSILIENCE_DATA names (see benchmarks/modern/collection.py), of random subsets of their classes, and of views that are
independent of each other, which have no groups. If igraph and leidenalg are installed, multiplex Leiden's own number
(resolution 1, the same graphs of nearest neighbors) stands beside. Finished cases are kept in a file of records, so
that an interrupted run goes on. It prints

- per set the true number, the supported numbers, Leiden's, and the NMI of `Consilience` with each of these numbers;
- how often the number was exact, within reach (one, above 10 clusters 15%), and how often a supported number was;
- how often independent views were taken for groups.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from benchmarks.modern.collection import find_sets
from benchmarks.modern.sets import prepare
from consilience.methods.agreement.inputs import prepare_views

N_SUBSETS = 1  # random subsets of the classes of each set with at least five
LEAST_CLASSES = 5
LEAST_PRESENT = 20  # entities of a view in a subset
NULLS = ("gaussian", "uniform", "words", "blobs")  # kinds of independent views
NULL_SEEDS = range(6)
NULL_ENTITIES = 500  # of sets whose views are permuted
Record = dict[str, Any]


class NumberCase(NamedTuple):
    """Data whose number of clusters is looked for."""

    kind: str  # "set", "subset", "independent" (generated) or "permuted" (a set whose views were permuted)
    name: str
    seed: int


def list_number_cases(names: Sequence[str]) -> list[NumberCase]:
    """Return all cases."""
    cases = [NumberCase("set", name, 0) for name in names]
    cases += [NumberCase("subset", name, seed) for seed in range(N_SUBSETS) for name in names]
    cases += [NumberCase("independent", kind, seed) for seed in NULL_SEEDS for kind in NULLS]
    return cases + [NumberCase("permuted", name, 0) for name in names]


def load_case(case: NumberCase) -> tuple[cs.Views, np.ndarray | None] | None:
    """Return the views and the classes; None for a subset of too few classes."""
    rng = np.random.default_rng(zlib.crc32(f"{case.kind}{case.name}{case.seed}".encode()))
    if case.kind == "independent":
        return draw_independent(case.name, rng), None
    views, classes = find_sets()[case.name]()
    data = prepare(views, np.unique(classes, return_inverse=True)[1])
    if case.kind == "set":
        return data.weighed, data.target
    if case.kind == "permuted":
        return permute_rows(data.weighed, rng), None
    numbers = np.unique(data.target)
    if len(numbers) < LEAST_CLASSES:
        return None
    chosen = rng.choice(numbers, int(rng.integers(2, min(len(numbers), 21))), replace=False)
    rows = np.flatnonzero(np.isin(data.target, chosen))
    return keep_common(data.weighed[rows], data.target[rows])


def keep_common(views: cs.Views, classes: np.ndarray) -> tuple[cs.Views, np.ndarray]:
    """Leave out views that few entities have, and entities without a view."""
    kept = [name for name, n in zip(views.names, views.present.sum(axis=0), strict=True) if n >= LEAST_PRESENT]
    rows = np.flatnonzero(views[kept].present.any(axis=1))
    return views[kept][rows], classes[rows]


def draw_independent(kind: str, rng: np.random.Generator) -> cs.Views:
    """Draw two to four views that are independent of each other."""
    n, n_views = int(rng.choice([100, 200, 400, 800])), int(rng.integers(2, 5))
    return cs.Views([draw_view(kind, n, rng) for _ in range(n_views)])


def draw_view(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Draw one view."""
    width = int(rng.choice([2, 5, 10, 30]))
    if kind == "gaussian":
        return rng.normal(size=(n, width))
    if kind == "uniform":
        return rng.uniform(size=(n, width))
    if kind == "words":
        means = rng.integers(20, 60, size=(n, 1)) * rng.dirichlet(np.full(500, 0.1))
        return sp.csr_array(rng.poisson(means).astype(np.float64))
    n_blobs = int(rng.integers(2, 8))
    return 5 * rng.normal(size=(n_blobs, width))[rng.integers(n_blobs, size=n)] + rng.normal(size=(n, width))


def permute_rows(views: cs.Views, rng: np.random.Generator) -> cs.Views:
    """Permute the rows of each view on its own, of at most 500 entities."""
    n = min(len(views), NULL_ENTITIES)
    views = views[np.sort(rng.choice(len(views), n, replace=False))]
    orders = [rng.permutation(n) for _ in views.names]
    blocks = {name: views[order][name] for name, order in zip(views.names, orders, strict=True)}
    present = np.column_stack([views.present[order, v] for v, order in enumerate(orders)])
    return keep_common(cs.Views(blocks, present=present), np.zeros(n))[0]


def run_number_case(case: NumberCase) -> Record:
    """Look for the number of clusters, and compare the clusters with the classes."""
    warnings.simplefilter("ignore")
    loaded = load_case(case)
    if loaded is None:
        return {**case._asdict(), "skipped": True}
    views, classes = loaded
    started = time.perf_counter()
    selection = cs.select_n_clusters(cs.Consilience(n_jobs=1), views)
    record: Record = {
        **case._asdict(),
        "n": len(views),
        "n_views": views.n_views,
        "pick": selection.n_clusters,
        "supported": list(selection.supported),
        "reason": selection.reason,
        "seconds": time.perf_counter() - started,
        "table": [dict(row) for row in selection.table.rows()],
    }
    if classes is None:
        return record
    true, leiden = len(np.unique(classes)), count_communities(views)
    scores: dict[int, float] = {}
    for number in {true, selection.n_clusters, *selection.supported, *([leiden] if leiden else [])}:
        labels = cs.Consilience(number, random_state=0, n_jobs=1).fit(views).labels_
        scores[number] = float(normalized_mutual_info_score(classes, labels))
    return {
        **record,
        "true": true,
        "leiden": leiden,
        "nmi": scores[selection.n_clusters],
        "nmi_true": scores[true],
        "nmi_leiden": scores.get(leiden, np.nan) if leiden else np.nan,
        "nmi_supported": max((scores[number] for number in selection.supported), default=scores[selection.n_clusters]),
    }


def count_communities(views: cs.Views) -> int | None:
    """Return multiplex Leiden's own number of communities; None if it is not installed."""
    if find_spec("leidenalg") is None or find_spec("igraph") is None:
        return None
    import igraph
    import leidenalg

    graphs = []
    for view in prepare_views(views, dict.fromkeys(views.names, False), 2):
        edges = sp.coo_array(sp.triu(view.clearest.matrix, k=1))
        pairs = np.column_stack([view.entities[edges.row], view.entities[edges.col]])
        graphs.append(igraph.Graph(n=len(views), edges=pairs.tolist()))
    membership, _ = leidenalg.find_partition_multiplex(graphs, leidenalg.RBConfigurationVertexPartition, seed=1)
    return len(set(membership))


def run_number_cases(cases: Sequence[NumberCase], path: Path, n_processes: int) -> list[Record]:
    """Run the cases that the file of records lacks, and return all records."""
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {tuple(record[name] for name in NumberCase._fields) for record in records}
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(n_processes) as pool, path.open("a") as file:
        running = [pool.submit(run_number_case, case) for case in cases if tuple(case) not in done]
        for future in as_completed(running):
            try:
                record = future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            records.append(record)
            file.write(json.dumps(record, default=float) + "\n")
            file.flush()
            print(f"{len(records)} of {len(cases)}: {record['kind']} {record['name']} {record.get('pick')}", flush=True)
    return [record for record in records if not record.get("skipped")]


def is_within(number: int, true: int) -> bool:
    """Return whether a number is within reach of the true one: one, or 15% above 10."""
    return abs(number - true) <= (max(1, 0.15 * true) if true > 10 else 1)


def print_number_sets(records: Sequence[Record]) -> None:
    """Print the numbers per set."""
    print("\nset              entities true pick supported     Leiden   NMI: pick  true Leiden  seconds")
    for record in sorted(records, key=lambda record: record["name"]):
        supported = ", ".join(map(str, record["supported"])) or "none"
        print(
            f"{record['name']:16s} {record['n']:8d} {record['true']:4d} {record['pick']:4d} {supported:13s} "
            f"{record['leiden'] or 0:6d} {record['nmi']:11.2f} {record['nmi_true']:5.2f} {record['nmi_leiden']:6.2f} "
            f"{record['seconds']:8.1f}"
        )


def print_rules(title: str, records: Sequence[Record]) -> None:
    """Print how often each rule was right."""
    print(f"\n{title}: {len(records)}\nrule             exact within  |log ratio|    NMI")
    rules = {"pick": ("pick", "nmi"), "Leiden": ("leiden", "nmi_leiden"), "true": ("true", "nmi_true")}
    for rule, (number, score) in rules.items():
        if any(record[number] is None for record in records):
            continue
        exact = sum(record[number] == record["true"] for record in records)
        within = sum(is_within(record[number], record["true"]) for record in records)
        ratio = np.mean([abs(np.log(record[number] / record["true"])) for record in records])
        print(f"{rule:16s} {exact:5d} {within:6d} {ratio:12.2f} {np.mean([r[score] for r in records]):6.3f}")
    reached = sum(any(is_within(number, record["true"]) for number in record["supported"]) for record in records)
    best = np.mean([record["nmi_supported"] for record in records])
    print(f"a supported number is within reach on {reached} of {len(records)}; the best of them has NMI {best:.3f}")


def print_independent(records: Sequence[Record]) -> None:
    """Print how often independent views were taken for groups."""
    for kind in ("independent", "permuted"):
        cases = [record for record in records if record["kind"] == kind]
        wrong = [f"{record['name']} {record['seed']}" for record in cases if record["pick"] > 1]
        print(f"\n{kind} views taken for groups: {len(wrong)} of {len(cases)} {', '.join(wrong)}")


def main() -> None:
    """Run the cases and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=Path("build/reliability/n_clusters.jsonl"))
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    options = parser.parse_args()
    records = run_number_cases(list_number_cases(sorted(find_sets())), options.records, options.processes)
    sets = [record for record in records if record["kind"] == "set"]
    print_number_sets(sets)
    print_rules("sets", sets)
    print_rules("subsets of classes", [record for record in records if record["kind"] == "subset"])
    print_independent(records)


if __name__ == "__main__":
    main()
