"""Encodings of raw single-cell counts, compared by the clusters that the default method finds in them.

    python -m benchmarks.single_cell [--seeds 3] [--pbmc 10x_pbmc68k_reduced.h5ad]

Counts are simulated with known cell types: genes with negative binomial counts, library sizes that vary tenfold, and
batches; surface proteins with a background; accessible peaks. ``--pbmc`` adds the 700 blood cells that scanpy ships
(scanpy/datasets/10x_pbmc68k_reduced.h5ad), whose counts are recovered from the logarithms in ``raw``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.files.cells import ExpressionEncoder, ProteinsEncoder
from consilience.files.encoders import CountsEncoder, NumbersEncoder

N_PROTEINS, N_PEAKS = 25, 6000


@dataclass(frozen=True)
class Setting:
    """What is simulated: molecules per cell, share and strength of markers, batches, and spread of library sizes."""

    depth: int = 3000
    markers: float = 0.025  # share of the genes that differ in a type
    fold: float = 3.5  # by which they differ
    n_types: int = 8
    batch: float = 0.0  # standard deviation of the logarithm of each gene's level between two batches
    library: float = 0.6  # standard deviation of the logarithm of library sizes: tenfold between 3% and 97%
    n_cells: int = 700
    n_genes: int = 8000


SETTINGS = {
    "usual": Setting(),
    "deep": Setting(depth=6000, markers=0.015),
    "shallow": Setting(depth=1000, markers=0.03, fold=4.0),
    "two batches": Setting(markers=0.03, fold=4.0, batch=0.2),
    "equal libraries": Setting(library=0.1),
    "wide libraries": Setting(library=0.9),
    "15 types": Setting(n_types=15, fold=4.0),
}


def simulate_cells(setting: Setting, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Draw cell types, and the raw counts of genes, proteins and peaks."""
    rng = np.random.default_rng(seed)
    n, n_types = setting.n_cells, setting.n_types
    types = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, 4.0)))
    batches = rng.integers(2, size=n)
    library = setting.depth * np.exp(setting.library * rng.normal(size=n) + 0.3 * rng.normal(size=n_types)[types])

    def draw(n_features: int, spread: float, sizes: np.ndarray, dispersion: float) -> sp.csr_array:
        is_marker = rng.random((n_types, n_features)) < setting.markers
        change = np.where(is_marker, rng.lognormal(np.log(setting.fold), 0.3), 1.0)
        base = rng.lognormal(0, spread, n_features)
        profile = base * change ** rng.choice([-1, 1], p=[0.25, 0.75], size=change.shape)
        profile = profile[types] * np.exp(setting.batch * rng.normal(size=(2, n_features)))[batches]
        mean = sizes[:, None] * profile / profile.sum(axis=1, keepdims=True)
        return sp.csr_array(rng.poisson(mean * rng.gamma(1 / dispersion, dispersion, mean.shape)).astype(np.float64))

    rna = draw(setting.n_genes, 1.5, library, 0.3)
    levels = np.where(rng.random((n_types, N_PROTEINS)) < 0.2, 5.0, 1.0) * rng.lognormal(1, 0.7, N_PROTEINS)
    scale = np.exp(0.6 * rng.normal(size=(n, 1)))
    protein = rng.poisson(scale * levels[types] * rng.gamma(2, 0.5, (n, N_PROTEINS))).astype(np.float64)
    return types, {"rna": rna, "protein": protein, "atac": draw(N_PEAKS, 1.0, 0.6 * library, 0.05)}


def read_pbmc(path: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Recover counts from log(1 + scaled counts): the smallest of each cell was a count of 1."""
    import anndata

    data = anndata.read_h5ad(path)
    scaled = sp.csr_array(data.raw.X.astype(np.float64)).expm1()
    smallest = np.minimum.reduceat(scaled.data, scaled.indptr[:-1])
    scaled.data = np.round(scaled.data / np.repeat(smallest, np.diff(scaled.indptr)))
    return data.obs["bulk_labels"].cat.codes.to_numpy(), {"rna": scaled}


def normalize_cells(X: Any) -> sp.csr_array:
    """Scale every cell to the median number of molecules, and take logarithms."""
    X = sp.csr_array(X, dtype=np.float64)
    totals = X.sum(axis=1)
    return sp.csr_array(sp.diags_array(np.median(totals) / np.maximum(totals, 1)) @ X).log1p()


def select_genes(X: Any) -> np.ndarray:
    return ExpressionEncoder().fit((X, None)).selected


def compute_pearson_residuals(X: Any) -> np.ndarray:
    """Return the 2,000 most variable Pearson residuals (Lause, Berens & Kobak 2021)."""
    X = X.toarray()
    mu = X.sum(axis=1, keepdims=True) * X.sum(axis=0) / X.sum() + 1e-12
    residuals = np.clip((X - mu) / np.sqrt(mu + mu**2 / 100), -np.sqrt(len(X)), np.sqrt(len(X)))
    return residuals[:, np.argsort(-residuals.var(axis=0))[:2000]]


def use_encoder(build: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda X: build().fit((X, None)).transform((X, None))


TF_IDF = use_encoder(lambda: CountsEncoder(True))
ENCODINGS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "rna": {
        "tf-idf (before)": TF_IDF,
        "log, all genes": normalize_cells,
        "log, variable genes": lambda X: normalize_cells(X)[:, select_genes(X)],
        "same, 50 components": lambda X: PCA(50, random_state=0).fit_transform(
            ExpressionEncoder().fit((X, None)).transform((X, None))
        ),
        "pearson residuals": compute_pearson_residuals,
        "expression (now)": use_encoder(ExpressionEncoder),
    },
    "protein": {
        "tf-idf (before)": TF_IDF,
        "numbers": use_encoder(NumbersEncoder),
        "scaled and logged": lambda X: normalize_cells(X).toarray(),
        "proteins (now)": use_encoder(ProteinsEncoder),
    },
    "atac": {"scaled and logged": normalize_cells, "tf-idf (before, now)": TF_IDF},
}
JOINT = {
    "tf-idf (before)": dict.fromkeys(ENCODINGS, TF_IDF),
    "now": {"rna": use_encoder(ExpressionEncoder), "protein": use_encoder(ProteinsEncoder), "atac": TF_IDF},
}


def score_views(views: dict[str, Any], types: np.ndarray) -> float:
    model = cs.Consilience(len(np.unique(types)), random_state=0).fit(views)
    return normalized_mutual_info_score(types, model.labels_)


def run_encodings(types: np.ndarray, counts: dict[str, Any]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the score of each encoding of each modality, and of all modalities together."""
    for modality, X in counts.items():
        for name, encode in ENCODINGS[modality].items():
            yield (modality, name), score_views({modality: encode(X)}, types)
    if len(counts) > 1:
        for name, encodings in JOINT.items():
            yield ("together", name), score_views({key: encodings[key](X) for key, X in counts.items()}, types)


def main() -> None:
    """Print a table per modality: normalized mutual information with the cell types, mean over the seeds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pbmc", help="path of scanpy's 10x_pbmc68k_reduced.h5ad")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    data = {name: [lambda s=s, i=i: simulate_cells(s, i) for i in range(options.seeds)] for name, s in SETTINGS.items()}
    if options.pbmc:
        data["blood cells"] = [lambda: read_pbmc(options.pbmc)]
    for name, draws in data.items():
        for draw in draws:
            for key, score in run_encodings(*draw()):
                scores.setdefault(key, {}).setdefault(name, []).append(score)
    print("| | | " + " | ".join(data) + " | mean |\n" + "|---" * (len(data) + 3) + "|")
    for (modality, encoding), by_name in scores.items():
        means = {name: float(np.mean(values)) for name, values in by_name.items()}
        cells = [f"{means[name]:.2f}" if name in means else "" for name in data]
        print(f"| {modality} | {encoding} | {' | '.join(cells)} | {np.mean(list(means.values())):.2f} |", flush=True)


if __name__ == "__main__":
    main()
