"""Co-trained spectral clustering next to that of mvlearn 0.5.0 and polyview 0.1.0, and imml's NEMO.

All contestants get the same list of three float64 arrays, and five rounds if they have rounds. mvlearn computes every
n x n matrix of the paper and their full eigendecompositions; polyview computes the kernels. polyview subtracts no
smallest entry in its rounds, and only with gamma="median" has it the bandwidth that the others have. NEMO is another
method, a sum of nearest-neighbor graphs. One line uses float32. `NMI` is that of one seed: an indication, not a
ranking. Threads of BLAS slow polyview down on a busy machine: OMP_NUM_THREADS=1 shows the work alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from imml.cluster import NEMO
from mvlearn.cluster import MultiviewSpectralClustering
from polyview.cluster import MultiViewCoTrainSpectralClustering as polyview

from consilience import CoTrainedSpectral, Table, Views

from .harness import Contestant, compare, read_nmi
from .spectral import N_CLUSTERS, N_COLUMNS, N_ROUNDS, convert_to_float32, fit_paper_setting, make_spectral_views


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 500 if small else 2_000
    views, y = make_spectral_views(n)
    title = f"views of {N_COLUMNS} columns, {N_CLUSTERS} clusters, {N_ROUNDS} rounds"
    yield f"one fit: {n:,} entities, {title}", time_spectral_peers(views, y, min(repeats, 3))
    for n in (300,) if small else (300, 5_000, 10_000):
        views, y = make_spectral_views(n)
        yield f"co-training: {n:,} entities, {title}", time_beside_polyview(views, y, min(repeats, 3))


def time_spectral_peers(views: Views, y: np.ndarray, repeats: int) -> Table:
    arrays = [block for _, block in views.items()]
    settings = {"n_clusters": N_CLUSTERS, "random_state": 0}
    rounds = {"max_iter": N_ROUNDS}
    contestants = {
        f"consilience, {N_ROUNDS} rounds, float32": partial(fit_paper_setting, convert_to_float32(views)),
        f"consilience, {N_ROUNDS} rounds": partial(fit_paper_setting, views),
        f"consilience, {N_ROUNDS} rounds, n_jobs=1": partial(fit_paper_setting, views, n_jobs=1),
        "consilience, default": lambda: CoTrainedSpectral(**settings).fit_predict(arrays),
        f"polyview, {N_ROUNDS} rounds": lambda: polyview(**settings, **rounds).fit_predict(arrays),
        "polyview, default (50 rounds)": lambda: polyview(**settings).fit_predict(arrays),
        "imml, NEMO": lambda: NEMO(**settings).fit_predict(arrays),
        f"mvlearn, {N_ROUNDS} rounds": lambda: MultiviewSpectralClustering(**settings, **rounds).fit_predict(arrays),
    }
    return compare([Contestant(name, work) for name, work in contestants.items()], repeats, partial(read_nmi, y))


def time_beside_polyview(views: Views, y: np.ndarray, repeats: int) -> Table:
    """Compare with polyview, whose time grows with the same power of the number of entities."""
    arrays = [block for _, block in views.items()]
    settings = {"n_clusters": N_CLUSTERS, "random_state": 0, "max_iter": N_ROUNDS}
    contestants = {
        "consilience": partial(fit_paper_setting, views),
        "polyview": lambda: polyview(**settings).fit_predict(arrays),
        "polyview, median bandwidth": lambda: polyview(**settings, gamma="median").fit_predict(arrays),
    }
    return compare([Contestant(name, work) for name, work in contestants.items()], repeats, partial(read_nmi, y))
