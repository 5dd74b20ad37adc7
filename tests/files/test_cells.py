"""Raw counts of single cells are recognized and normalized, and new cells are encoded as those of the fit."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience import load, save
from consilience.files import cells as cells_module
from consilience.files import fit_and_encode
from consilience.files.cells import ExpressionEncoder, ProteinsEncoder, detect_modality, score_variability
from consilience.files.formats import FileMatrix
from consilience.files.kinds import interpret_matrix

RNG = np.random.default_rng(0)


def make_names(prefix, n):
    return np.array([f"{prefix}{i}" for i in range(n)], dtype=object)


GENES = make_names("gene", 60)
COUNTS = RNG.poisson(RNG.gamma(1.0, 2.0, (40, 60)) * RNG.lognormal(0, 0.7, (40, 1))).astype(float)
COUNTS[3] = 0


def encode_literally(X, target, selected):
    """Scanpy's normalize_total, log1p and scale(max_value=10), one cell and one gene at a time."""
    logged = np.full((len(X), len(selected)), np.nan)
    for i, row in enumerate(X):
        if row.sum() > 0:
            logged[i] = [np.log(1 + target * row[j] / row.sum()) for j in selected]
    for column in logged.T:
        kept = column[~np.isnan(column)]
        column[:] = np.clip((column - kept.mean()) / (kept.std() or 1), -10, 10)
    return logged


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_expression_is_scaled_logged_and_standardized(make):
    encoder = ExpressionEncoder().fit((make(COUNTS), GENES))
    encoded = encoder.transform((make(COUNTS), GENES))
    totals = COUNTS.sum(axis=1)
    expected = encode_literally(COUNTS, np.median(totals[totals > 0]), np.arange(60))
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded, expected, atol=1e-5)
    assert encoder.features.tolist() == GENES.tolist()
    np.testing.assert_array_equal(encoder.present(encoded), totals > 0)


def test_variability_is_that_of_its_formula():
    X = COUNTS[4:]
    mu = X.sum(axis=1, keepdims=True) * X.sum(axis=0) / X.sum()
    expected = ((X - mu) ** 2).sum(axis=0) / (mu + mu**2 / 100).sum(axis=0)
    np.testing.assert_allclose(score_variability(sp.csr_array(X), X.sum(axis=1)), expected)


def test_most_variable_genes_are_kept(tune):
    tune("files.cells", n_genes=5)
    types = np.arange(300) % 2
    X = np.random.default_rng(1).poisson(np.full((300, 40), 4.0)).astype(float)
    markers = [2, 11, 17, 30, 39]
    X[:, markers] = np.random.default_rng(2).poisson(np.where(types[:, None] == 1, 9.0, 1.0) * np.ones(5))
    X[:, 7] = 0  # a gene without any molecule
    encoder = ExpressionEncoder().fit((sp.csr_array(X), GENES[:40]))
    assert encoder.features.tolist() == GENES[markers].tolist()
    assert encoder.note == "scaled per cell, logged, 5 most variable of 40 genes"
    assert encoder.transform((X, GENES[:40])).shape == (300, 5)


def test_genes_are_matched_by_name_and_missing_ones_count_as_not_detected_with_a_warning():
    encoder = ExpressionEncoder().fit((COUNTS, GENES))
    expected = encoder.transform((COUNTS, GENES))
    order = RNG.permutation(60)
    extra = np.hstack([COUNTS[:, order], np.full((40, 1), 1000.0)])
    names = np.append(GENES[order], "unknown")
    for make in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(encoder.transform((make(extra), names)), expected, atol=1e-6)
    zeroed = COUNTS.copy()
    zeroed[:, :3] = 0
    with pytest.warns(UserWarning, match=r"^3 of the 60 genes that the model uses are missing, such as 'gene0': they"):
        encoded = encoder.transform((COUNTS[:, 3:], GENES[3:]))
    np.testing.assert_allclose(encoded, encoder.transform((zeroed, GENES)), atol=1e-6)


def test_cells_with_other_genes_or_without_molecules_are_refused():
    with pytest.raises(ValueError, match="every count is 0"):
        ExpressionEncoder().fit((np.zeros((3, 2)), None))
    encoder = ExpressionEncoder().fit((COUNTS, GENES))
    with pytest.raises(ValueError, match=r"60 of the 60 genes .* are missing, such as 'gene0': do the names .* match"):
        encoder.transform((COUNTS, make_names("ENSG", 60)))
    with pytest.raises(ValueError, match="5 columns, but 60 in the model"):
        encoder.transform((COUNTS[:, :5], None))


def test_too_many_cells_for_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(cells_module, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"60 most variable genes of 40 cells take .* GiB .* use the kind counts"):
        ExpressionEncoder().fit((COUNTS, GENES)).transform((COUNTS, GENES))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_proteins_are_log_ratios(make):
    X = COUNTS[:, :7]
    encoder = ProteinsEncoder().fit((make(X), GENES[:7]))
    logged = np.log1p(X)
    ratios = logged - logged.mean(axis=1, keepdims=True)
    kept = X.any(axis=1)
    expected = (ratios - ratios[kept].mean(axis=0)) / ratios[kept].std(axis=0)
    expected[~kept] = np.nan
    np.testing.assert_allclose(encoder.transform((make(X[:, ::-1]), GENES[:7][::-1])), expected)


@pytest.mark.parametrize("build", [ExpressionEncoder, ProteinsEncoder])
def test_saved_encoders_encode_alike(tmp_path, build):
    encoder = build().fit((COUNTS, GENES))
    save(encoder, tmp_path / "m.zip")
    loaded = load(tmp_path / "m.zip")
    np.testing.assert_array_equal(loaded.transform((COUNTS[:9], GENES)), encoder.transform((COUNTS[:9], GENES)))
    assert loaded.note == encoder.note


def test_names_tell_what_was_measured():
    genes, peaks = ["A"], ["chr1:100-200", "chrX_5-900", "GL000194.1-55-70"]
    expression = [("rna", genes), ("GEX", genes), ("scRNA", None), ("X", ["HLA-A", "CD3E", "chr1:5-9"]), ("X", None)]
    proteins = [("mine Antibody Capture", genes), ("ADT", genes), ("prot", genes)]
    for cases, kind, measured in (
        (expression, "expression", "genes"),
        (proteins, "proteins", "proteins"),
        ([("atac", genes), ("X", peaks)], "counts", "peaks"),
    ):
        for hints, features in cases:
            names = None if features is None else np.array(features, dtype=object)
            assert detect_modality(hints, names) == (kind, f"raw counts of {measured}"), hints


def interpret(X, forced=None, **fields):
    return interpret_matrix("v", "f.h5ad:X", FileMatrix(X, is_expression=True, **fields), forced)


def test_normalized_data_are_left_alone_and_the_kind_of_raw_counts_can_be_set():
    content = interpret(np.log1p(COUNTS), raw_block="counts")
    assert content.kind == "numbers"
    assert content.reason == "not raw counts, taken as they are; the raw counts are in the block 'counts'"
    for kind in ("counts", "numbers"):
        assert interpret(COUNTS, kind).kind == kind
    for kind in ("expression", "proteins"):
        with pytest.raises(ValueError, match=r"view 'v' holds -1, which is not a count: --kind v=numbers"):
            interpret(COUNTS - 1, kind)


@pytest.mark.parametrize("build", [ExpressionEncoder, ProteinsEncoder])
def test_other_numbers_are_no_raw_counts(build):
    encoder = build().fit((COUNTS, GENES))
    for make, value, shown in ((np.asarray, 0.5, r"0\.5"), (sp.csr_array, 1e300, r"1e\+300")):
        X = COUNTS.copy()
        X[2, 2] = value
        for method in (build().fit, encoder.transform):
            with pytest.raises(ValueError, match=rf"^{shown} is not a raw count .*\. Normalized data .* kind numbers"):
                method((make(X), GENES))


def test_methods_that_count_get_raw_counts():
    content = interpret(sp.csr_array(COUNTS), features=GENES)
    raw, encoded = (fit_and_encode([content], rare=rare) for rare in (False, True))
    assert (raw.kinds, encoded.kinds) == ({"v": "counts"}, {"v": "expression"})
    np.testing.assert_array_equal(raw.views["v"].toarray(), np.delete(COUNTS, 3, axis=0))


def test_table_of_raw_counts(read, put):
    rows = "\n".join(",".join(f"{value:g}" for value in row) for row in COUNTS[4:])
    (content,) = read(put("t.csv", ",".join(GENES) + f"\n{rows}\n"), kinds={"t": "expression"}).contents
    X = fit_and_encode([content], rare=True).views["t"]
    np.testing.assert_allclose(X, ExpressionEncoder().fit((COUNTS[4:], GENES)).transform((COUNTS[4:], GENES)))
