"""Generated views for benchmarks are valid, seeded and contain clusters."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.naive_bayes import MultinomialNB

from consilience.rows import Source, as_source

make_big = pytest.importorskip("benchmarks.make_big")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    make_big.write_views(folder, gb=0.04)
    return folder


def test_files_have_the_requested_size_and_views_stay_on_disk(folder):
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert 40e6 <= total < 40e6 + make_big.BLOCK * 800
    views, y = make_big.load_views(folder)
    assert views.names == ("counts", "dense")
    assert views.present.all()
    assert isinstance(views["counts"], Source)
    assert isinstance(as_source(views["dense"]), Source)
    assert len(views) == len(y)
    assert np.bincount(y, minlength=10).min() > 0.09 * len(y)


def test_counts_are_valid(folder):
    views, _ = make_big.load_views(folder)
    counts = views["counts"][:2000].to_scipy()
    assert counts.has_canonical_format
    assert counts.indices.dtype == np.int32
    assert (counts.data >= 1).all()
    assert (counts.sum(axis=1) == make_big.N_DRAWN).all()
    assert 55 < counts.nnz / 2000 <= make_big.N_DRAWN


def test_views_separate_the_clusters_imperfectly(folder):
    views, y = make_big.load_views(folder)
    dense = KMeans(10, n_init=3, random_state=0).fit_predict(views["dense"][:5000])
    assert 0.5 < adjusted_rand_score(y[:5000], dense) < 0.999
    counts = views["counts"][:10_000].to_scipy()
    classifier = MultinomialNB().fit(counts[:5000], y[:5000])
    assert 0.8 < classifier.score(counts[5000:], y[5000:10_000]) < 0.999


def test_files_depend_on_the_seed_only(folder, tmp_path):
    for seed in (0, 1):
        make_big.write_views(tmp_path / str(seed), gb=0.04, seed=seed)
    names = [path.name for path in folder.iterdir()]
    assert all((tmp_path / "0" / name).read_bytes() == (folder / name).read_bytes() for name in names)
    assert any((tmp_path / "1" / name).read_bytes() != (folder / name).read_bytes() for name in names)
