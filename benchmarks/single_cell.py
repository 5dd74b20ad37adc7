"""Encodings of raw single-cell counts, compared by the clusters that the default method finds in them.

    python -m benchmarks.single_cell [--seeds 3] [--pbmc 10x_pbmc68k_reduced.h5ad]

Counts are simulated with known cell types: negative binomial genes with library sizes that vary tenfold and batches,
surface proteins with a background, and accessible peaks. ``--pbmc`` adds the 700 blood cells that scanpy ships
(scanpy/datasets/10x_pbmc68k_reduced.h5ad), whose counts are recovered from the logarithms in ``raw``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.files.encoders import CountsEncoder


@dataclass(frozen=True)
class Setting:
    """What is simulated: typical molecules per cell, share and strength of marker genes, and strength of batches."""

    depth: int = 2000
    n_types: int = 8
    markers: float = 0.03
    fold: float = 4.0
    batch: float = 0.0
    library: float = 0.6  # standard deviation of the logarithm of library sizes: about tenfold between 3% and 97%
    n_cells: int = 900
    n_genes: int = 3000


SETTINGS = {
    "deep": Setting(depth=8000),
    "usual": Setting(depth=2000),
    "shallow": Setting(depth=600),
    "weak markers": Setting(depth=2000, markers=0.015, fold=2.5),
    "batches": Setting(depth=2000, batch=0.3),
    "equal libraries": Setting(depth=2000, library=0.1),
    "15 types": Setting(depth=2000, n_types=15),
}


def simulate_cells(setting: Setting, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Draw cell types and the raw counts of genes, proteins and peaks."""
    rng = np.random.default_rng(seed)
    n, n_types = setting.n_cells, setting.n_types
    types = rng.choice(n_types, n, p=rng.dirichlet(np.full(n_types, 4.0)))
    batches = rng.integers(2, size=n)
    library = setting.depth * np.exp(setting.library * rng.normal(size=n) + 0.3 * rng.normal(size=n_types)[types])

    def draw(n_features: int, share: float, fold: float, spread: float, sizes: np.ndarray, dispersion: float) -> Any:
        base = rng.lognormal(0, spread, n_features)
        change = np.where(rng.random((n_types, n_features)) < share, rng.lognormal(np.log(fold), 0.3), 1.0)
        profile = base * change ** rng.choice([-1, 1], p=[0.25, 0.75], size=change.shape)
        profile = profile[types] * np.exp(setting.batch * rng.normal(size=(2, n_features)))[batches]
        mean = sizes[:, None] * profile / profile.sum(axis=1, keepdims=True)
        return sp.csr_array(rng.poisson(mean * rng.gamma(1 / dispersion, dispersion, mean.shape)).astype(np.float64))

    rna = draw(setting.n_genes, setting.markers, setting.fold, 1.5, library, 0.3)
    levels = np.where(rng.random((n_types, 25)) < 0.25, 8.0, 1.0) * rng.lognormal(1, 0.7, 25)
    scale = np.exp(0.6 * rng.normal(size=n))
    protein = rng.poisson(scale[:, None] * levels[types] * rng.gamma(2, 0.5, (n, 25))).astype(np.float64)
    atac = draw(6000, setting.markers, setting.fold, 1.0, 0.8 * library, 0.05)
    return types, {"rna": rna, "protein": protein, "atac": atac}


def normalize_cells(X: Any, target: float | None = None, log: bool = True) -> sp.csr_array:
    """Scale every cell to the same number of molecules, by default the median."""
    X = sp.csr_array(X, dtype=np.float64)
    totals = X.sum(axis=1)
    target = np.median(totals[totals > 0]) if target is None else target
    X = sp.csr_array(sp.diags_array(target / np.maximum(totals, 1)) @ X)
    return X.log1p() if log else X


def find_variable_genes(X: Any, n_genes: int = 2000) -> np.ndarray:
    """Genes whose normalized counts vary most beyond Poisson noise and their trend (as in Seurat v1: z of dispersion)."""
    X = normalize_cells(X, log=False)
    mean = X.mean(axis=0)
    variance = X.multiply(X).mean(axis=0) - mean**2
    dispersion = np.log(np.maximum(variance, 1e-12) / np.maximum(mean, 1e-12))
    bins = np.digitize(mean, np.quantile(mean, np.linspace(0, 1, 21)[1:-1]))
    z = np.zeros(len(mean))
    for b in np.unique(bins):
        group = dispersion[bins == b]
        z[bins == b] = (group - group.mean()) / (group.std() or 1)
    return np.sort(np.argsort(-z)[:n_genes])


def standardize(X: Any) -> np.ndarray:
    X = X.toarray()
    return np.clip((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), -10, 10)


def scale_columns(X: Any) -> sp.csr_array:
    deviation = np.sqrt(np.maximum(X.multiply(X).mean(axis=0) - X.mean(axis=0) ** 2, 0))
    return sp.csr_array(X @ sp.diags_array(1 / np.where(deviation > 0, deviation, 1)))


def pearson(X: Any) -> np.ndarray:
    X = X.toarray()
    mu = X.sum(axis=1, keepdims=True) * X.sum(axis=0) / X.sum()
    return np.clip((X - mu) / np.sqrt(mu + mu**2 / 100 + 1e-12), -np.sqrt(len(X)), np.sqrt(len(X)))


def clr(X: Any) -> np.ndarray:
    X = np.log1p(X.toarray() if sp.issparse(X) else X)
    return X - X.mean(axis=1, keepdims=True)


def tfidf(X: Any) -> Any:
    return CountsEncoder(True).fit((X, None)).transform((X, None))


RNA: dict[str, Callable[[Any], Any]] = {
    "tf-idf": tfidf,
    "log raw": lambda X: sp.csr_array(X).log1p(),
    "median log": normalize_cells,
    "1e4 log": lambda X: normalize_cells(X, 1e4),
    "median log scaled": lambda X: scale_columns(normalize_cells(X)),
    "hvg": lambda X: normalize_cells(X)[:, find_variable_genes(X, 1000)],
    "hvg scaled": lambda X: scale_columns(normalize_cells(X)[:, find_variable_genes(X, 1000)]),
    "hvg dense": lambda X: standardize(normalize_cells(X)[:, find_variable_genes(X, 1000)]),
    "all dense": lambda X: standardize(normalize_cells(X)),
    "hvg pca": lambda X: PCA(50, random_state=0).fit_transform(
        standardize(normalize_cells(X)[:, find_variable_genes(X, 1000)])
    ),
    "pearson": pearson,
    "tfidf of median": lambda X: tfidf(normalize_cells(X, log=False)),
}
PROTEIN = {"tf-idf": tfidf, "log raw": np.log1p, "median log": lambda X: normalize_cells(X).toarray(), "clr": clr}
ATAC = {"tf-idf": tfidf, "median log": normalize_cells, "binary tf-idf": lambda X: tfidf((X > 0).astype(float))}


def score(views: dict[str, Any], types: np.ndarray) -> float:
    views = {name: X if sp.issparse(X) else np.asarray(X) for name, X in views.items()}
    model = cs.Consilience(len(np.unique(types)), random_state=0).fit(views)
    return normalized_mutual_info_score(types, model.labels_)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="rna,protein,atac")
    options = parser.parse_args()
    for modality, table in (("rna", RNA), ("protein", PROTEIN), ("atac", ATAC)):
        if modality not in options.only:
            continue
        print(modality)
        for name, setting in SETTINGS.items():
            scores = {key: [] for key in table}
            for seed in range(options.seeds):
                types, views = simulate_cells(setting, seed)
                for key, encode in table.items():
                    scores[key].append(score({modality: encode(views[modality])}, types))
            print(f"{name:18}", "  ".join(f"{key} {np.mean(v):.2f}" for key, v in scores.items()), flush=True)


if __name__ == "__main__":
    main()
