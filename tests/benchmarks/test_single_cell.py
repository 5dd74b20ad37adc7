"""`python -m benchmarks.single_cell`: encodings of raw single-cell counts."""

import numpy as np
import pytest

from benchmarks import single_cell

SMALL = single_cell.Setting(n_cells=90, n_genes=150, n_types=3, markers=0.2, fold=6.0, depth=2000)


def test_simulated_cells_have_their_depth_and_types():
    types, counts = single_cell.simulate_cells(SMALL, 0)
    assert {name: X.shape for name, X in counts.items()} == {
        "rna": (90, 150),
        "protein": (90, single_cell.N_PROTEINS),
        "atac": (90, single_cell.N_PEAKS),
    }
    totals = counts["rna"].sum(axis=1)
    assert 1000 < np.median(totals) < 4000
    assert np.quantile(totals, 0.97) > 5 * np.quantile(totals, 0.03)
    assert len(np.unique(types)) == 3


@pytest.mark.filterwarnings("ignore")
def test_encodings_of_all_modalities_are_scored(monkeypatch):
    monkeypatch.setattr(single_cell, "N_PEAKS", 200)
    monkeypatch.setitem(single_cell.ENCODINGS, "atac", {"tf-idf": single_cell.TF_IDF})
    scores = dict(single_cell.run_encodings(*single_cell.simulate_cells(SMALL, 0)))
    assert {modality for modality, _ in scores} == {"rna", "protein", "atac", "together"}
    assert scores["rna", "expression (now)"] > 0.8
    assert all(0 <= score <= 1 + 1e-9 for score in scores.values())
