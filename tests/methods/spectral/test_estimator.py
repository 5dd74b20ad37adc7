"""Co-trained spectral clustering as an estimator."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, pairwise

import consilience as cs
import literal
from consilience.affinities import (
    Affinity,
    ChiSquared,
    Cosine,
    Gaussian,
    HistogramIntersection,
    Landmarks,
    Linear,
    NearestNeighbors,
    Nystroem,
    Polynomial,
)
from consilience.arrays import normalize_rows
from consilience.datasets import load_digits_views, make_gaussian_views, make_text_views
from stores import store_in_files


def some_views(missing=0.0, separation=6, n=200, seed=0):
    return make_gaussian_views(
        n, n_clusters=4, n_features=(4, 6, 3), separation=separation, missing=missing, random_state=seed
    )


def fit_model(views, n_clusters=4, **options):
    return cs.CoTrainedSpectral(n_clusters, random_state=0, **options).fit(views)


def same_clusters(first, second):
    return adjusted_rand_score(first, second) == 1.0


@pytest.mark.parametrize(
    ("affinity", "n_iter"), [("auto", 0), ("gaussian", 2), ("nystroem", 0), ("landmarks", 2), ("nearest-neighbors", 2)]
)
def test_finds_clear_clusters(affinity, n_iter):
    views, y = some_views(separation=15)
    model = fit_model(views, affinity=affinity, n_iter=n_iter)
    assert same_clusters(y, model.labels_)
    assert model.agreement_.min() > 0.98
    assert model.n_iter_ == n_iter
    assert model.converged_
    assert model.history_["round"].tolist() == list(range(n_iter + 1))
    assert set(model.embeddings_) == set(views.names)
    assert all(U.shape == (200, 4) for U in model.embeddings_.values())
    assert same_clusters(y, model.predict(views))


@pytest.mark.parametrize(
    ("affinity", "seed", "embedding"), [("gaussian", 0, "concat"), ("gaussian", 1, "view1"), ("auto", 2, "concat")]
)
def test_compactness_stops_after_the_most_compact_round(affinity, seed, embedding):
    views, _ = some_views(separation=2, seed=seed)
    options = {"affinity": affinity, "embedding": embedding}
    model = fit_model(views, n_iter="compactness", **options)
    compactness = model.history_["compactness"]
    assert model.n_iter_ == np.argmax(compactness)
    assert np.all(np.diff(compactness[: model.n_iter_ + 1]) > 0)
    assert len(compactness) == min(model.n_iter_ + 2, 11)
    fixed = fit_model(views, n_iter=model.n_iter_, **options)
    assert np.array_equal(model.labels_, fixed.labels_)
    assert np.array_equal(model.predict(views), fixed.predict(views))
    np.testing.assert_allclose(model.history_["alignment"][: model.n_iter_ + 1], fixed.history_["alignment"])
    names = views.names if embedding == "concat" else [embedding]
    E = np.hstack([normalize_rows(fixed.embeddings_[name]) for name in names])
    assert compactness[model.n_iter_] == pytest.approx(1 - model.cost_ / np.sum((E - E.mean(axis=0)) ** 2))


def test_compactness_has_a_largest_number_of_rounds(monkeypatch):
    values = iter(np.linspace(0.1, 0.9, 20))
    monkeypatch.setattr("consilience.methods.spectral.estimator.compute_compactness", lambda *_: float(next(values)))
    model = fit_model(some_views()[0], n_iter="compactness")
    assert model.n_iter_ == 10
    assert model.history_.n_rows == 11
    assert fit_model(some_views()[0][["view0"]], n_iter="compactness").n_iter_ == 0


@pytest.mark.parametrize(("missing", "assign_labels"), [(0.3, "kmeans"), (0.0, "cluster-qr")])
def test_clusters_per_round(missing, assign_labels, tmp_path):
    """They are those of the last fit, and computed when they are first read, also of a saved model."""
    views, _ = some_views(missing, separation=2)
    model = cs.CoTrainedSpectral(4, affinity="gaussian", n_iter=1, assign_labels=assign_labels, random_state=0)
    with pytest.raises(AttributeError, match="instance is not fitted yet"):
        _ = model.labels_per_round_
    assert len(model.fit(views[:150]).labels_per_round_) == len(model.view_labels_per_round_["view0"]) == 2
    model.set_params(n_iter=2).fit(views)
    cs.save(model, tmp_path / "unread")
    assert model.labels_per_round_.shape == model.view_labels_per_round_["view1"].shape == (3, 200)
    cs.save(model, tmp_path / "read")
    for name in ("unread", "read"):
        loaded = cs.load(tmp_path / name)
        assert np.array_equal(loaded.labels_per_round_, model.labels_per_round_)
        assert np.array_equal(loaded.view_labels_per_round_["view1"], model.view_labels_per_round_["view1"])
    for i, labels in enumerate(model.labels_per_round_):
        earlier = fit_model(views, affinity="gaussian", n_iter=i, assign_labels=assign_labels)
        assert np.array_equal(labels, earlier.labels_)
        for v, (name, view_labels) in enumerate(model.view_labels_per_round_.items()):
            alone = fit_model(views, affinity="gaussian", n_iter=i, embedding=name, assign_labels=assign_labels)
            assert np.array_equal(view_labels[i], np.where(views.present[:, v], alone.labels_, -1))


def test_outliers_have_a_cluster_in_every_round():
    model = fit_model(some_views(separation=4)[0], n_iter=1, outliers=0.1)
    is_outlier = model.labels_ == -1
    assert is_outlier.any()
    assert model.labels_per_round_.min() == 0
    assert np.array_equal(model.labels_per_round_[-1][~is_outlier], model.labels_[~is_outlier])


@pytest.mark.parametrize(
    ("affinity", "missing"), [("gaussian", 0.4), ("nearest-neighbors", 0.4), ("landmarks", 0.0), ("nystroem", 0.4)]
)
def test_predict_repeats_the_labels(affinity, missing):
    views, _ = some_views(missing, separation=3)
    model = fit_model(views, affinity=affinity, n_iter=2)
    assert np.array_equal(model.predict(views), model.labels_)
    assert np.array_equal(model.predict(views[60:90]), model.labels_[60:90])
    assert model.predict(views[:0]).shape == (0,)


def test_one_view_is_ordinary_spectral_clustering():
    X = some_views()[0]["view0"]
    ours = fit_model(X, affinity=NearestNeighbors(10, "euclidean"), n_iter=7)
    theirs = SpectralClustering(4, affinity="nearest_neighbors", n_neighbors=10, random_state=0).fit(X)
    assert ours.n_iter_ == 0
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.97  # theirs does not scale rows to unit length


def test_paper_settings_match_the_equations():
    """With the paper's settings, the embeddings and labels match its equations."""
    views = load_digits_views().views[["fou", "fac"]][::5]
    model = fit_model(views, 10, affinity="gaussian", n_iter=1)
    distances = [pairwise.euclidean_distances(X) for _, X in views.items()]
    kernels = [np.exp(-(D**2) / (2 * np.median(D) ** 2)) for D in distances]
    for (name, U), expected in zip(
        model.embeddings_.items(), literal.co_trained_spectral(kernels, 10, 1)[0], strict=True
    ):
        np.testing.assert_allclose(U @ U.T, expected @ expected.T, atol=1e-8, err_msg=name)
    E = np.hstack([normalize_rows(U) for U in model.embeddings_.values()])
    assert same_clusters(cs.MultiViewKMeans(10, random_state=0).fit(E).labels_, model.labels_)


def test_numbers_of_projections():
    views, _ = some_views(separation=2)
    usual = fit_model(views, affinity="gaussian", n_iter=1).embeddings_["view0"]
    for n_projections in (2, 7):
        model = fit_model(views, affinity="gaussian", n_iter=1, n_projections=n_projections)
        assert all(U.shape == (200, 4) for U in model.embeddings_.values())
        assert not np.allclose(np.abs(usual), np.abs(model.embeddings_["view0"]))
        assert np.array_equal(model.predict(views), model.labels_)


def test_cluster_qr():
    views, y = some_views(separation=15)
    model = fit_model(views, assign_labels="cluster-qr")
    assert same_clusters(y, model.labels_)
    assert np.array_equal(model.predict(views), model.labels_)
    X = some_views(separation=4)[0]["view1"]
    ours = fit_model(X, assign_labels="cluster-qr", affinity=NearestNeighbors(12, "euclidean"))
    options = {"affinity": "nearest_neighbors", "n_neighbors": 12, "assign_labels": "cluster_qr", "random_state": 0}
    theirs = SpectralClustering(4, **options).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.8  # theirs does not scale rows to unit length


def test_auto_rounds_only_for_unaligned_views():
    """Views with nothing in common get one round, others none."""
    alike, _ = some_views(separation=8)
    assert fit_model(alike).n_iter_ == 0
    rng = np.random.default_rng(0)
    strangers = fit_model([rng.standard_normal((200, 3)), rng.standard_normal((200, 3))])
    assert strangers.history_["alignment"][0] < 0.2
    assert strangers.n_iter_ == 1


def test_result_does_not_depend_on_threads(tune):
    tune("arrays.pairwise", tile=500)
    tune("methods.spectral.algorithm", search_block=500)
    views, _ = some_views(0.2, separation=2)
    for affinity in ("gaussian", "nearest-neighbors", "landmarks", "nystroem"):
        first, other = (fit_model(views, affinity=affinity, n_iter=1, n_jobs=n) for n in (1, 3))
        assert np.array_equal(first.labels_, other.labels_)
        assert all(np.array_equal(first.embeddings_[v], other.embeddings_[v]) for v in views.names)


def test_missing_views():
    """The values of their rows do not matter."""
    views, y = some_views(0.5, separation=8)
    model = fit_model(views, n_iter=1)
    assert normalized_mutual_info_score(y, model.labels_) > 0.9
    for v, labels in enumerate(model.view_labels_.values()):
        assert np.array_equal(labels >= 0, views.present[:, v])
    other = views.map(lambda X: np.nan_to_num(X, nan=99.0))
    assert np.array_equal(fit_model(other, n_iter=1).labels_, model.labels_)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_precomputed(make):
    views, _ = some_views(separation=4)
    kernels = cs.Views({name: make(pairwise.rbf_kernel(X, gamma=0.1)) for name, X in views.items()})
    chosen = np.random.default_rng(0).permutation(200)[:120]  # rows of the views move, columns do not
    for rows in (slice(None), chosen):
        model = fit_model(kernels[rows], affinity="precomputed", n_iter=1)
        computed = fit_model(views[rows], affinity=Gaussian(np.sqrt(5.0)), n_iter=1)
        assert same_clusters(model.labels_, computed.labels_)
        assert np.array_equal(model.predict(kernels[rows][20:40]), model.labels_[20:40])


def test_precomputed_with_missing_entities():
    views, _ = some_views(0.3, separation=4)
    kernels = {name: pairwise.rbf_kernel(np.nan_to_num(X), gamma=0.1) for name, X in views.items()}
    for K, has_view in zip(kernels.values(), views.present.T, strict=True):
        K[~has_view] = K[:, ~has_view] = np.nan
    model = fit_model(cs.Views(kernels, present=views.present), affinity="precomputed", n_iter=1)
    assert same_clusters(model.labels_, fit_model(views, affinity=Gaussian(np.sqrt(5.0)), n_iter=1).labels_)


def test_affinities_per_view():
    views, _ = some_views()
    model = fit_model(
        views,
        affinity={"view0": "gaussian", "view1": NearestNeighbors(9), "view2": "auto"},
        bandwidth=[2.0, None, None],
    )
    assert model.affinities_["view0"] == Gaussian(2.0)
    assert model.affinities_["view1"].n_neighbors == 9
    assert model.affinities_["view2"] == NearestNeighbors(14, "euclidean")


def test_auto_depends_on_the_number_of_entities_and_clusters(tune):
    views, _ = some_views()
    assert fit_model(views, 20).affinities_["view0"].n_neighbors == 5
    tune("affinities.choose", exact_up_to=100)
    assert set(fit_model(views).affinities_.values()) == {NearestNeighbors(14, "euclidean", True)}


def test_auto_leaves_many_rows_on_disk_with_a_warning(tmp_path, monkeypatch, tune):
    views, _ = some_views()
    stored = store_in_files(tmp_path, dict(views.items()))
    assert fit_model(stored).affinities_ == fit_model(views).affinities_
    tune("affinities.choose", read_up_to=100)
    monkeypatch.setattr("consilience.methods.common.input_checks.read_whole", None)
    message = r"view 'view0' is not in memory: affinity='auto' leaves its 200 rows where they are and uses Landmarks\("
    with pytest.warns(UserWarning, match=message):
        model = fit_model(stored)
    expected = fit_model(stored, affinity="landmarks")
    assert model.affinities_ == expected.affinities_
    np.testing.assert_array_equal(model.labels_, expected.labels_)


KERNELS = Gaussian(), Gaussian("local"), Linear(), Polynomial(), Cosine(), ChiSquared(0.01), HistogramIntersection()


@pytest.mark.parametrize(
    ("affinity", "make"),
    [
        ("landmarks", sp.csr_array.toarray),
        ("landmarks", sp.csr_array),
        (Nystroem(Gaussian(), 50), sp.csr_array.toarray),
        *((Nystroem(kernel, 50), sp.csr_array) for kernel in KERNELS),
    ],
)
def test_approximations_read_rows_on_disk(tmp_path, affinity, make):
    views, _ = make_text_views(n_samples=200, n_clusters=4, random_state=0)
    stored = store_in_files(tmp_path, {name: make(sp.csr_array(X)) for name, X in views.items()})
    model, expected = (fit_model(rows, affinity=affinity) for rows in (stored, views))
    assert same_clusters(model.labels_, expected.labels_)


class NeighborsByRows(Affinity):
    """An affinity that the rows alone decide."""

    def resolve(self, X):
        return NearestNeighbors(len(X) // 20, "euclidean")

    def build_operator(self, X, rng):
        return self.resolve(X).build_operator(X, rng)

    def nbytes(self, X):
        return self.resolve(X).nbytes(X)


def test_affinity_of_users_may_be_resolved_by_rows_alone():
    model = fit_model(some_views()[0], affinity=NeighborsByRows())
    assert set(model.affinities_.values()) == {NearestNeighbors(10, "euclidean")}


def test_verbose_output(capfd):
    views, _ = some_views()
    fit_model(views, n_iter=1)
    assert capfd.readouterr() == ("", "")
    fit_model(views, n_iter=1, verbose=True)
    lines = capfd.readouterr().err
    assert "CoTrainedSpectral: start 1 of 1, round 1: round 1, alignment 0." in lines
    assert "view 'view0': NearestNeighbors(n_neighbors=14, metric='euclidean'" in lines


def test_interrupt_leaves_the_model_unchanged(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt("by hand")

    views, _ = some_views()
    model = fit_model(views)
    before = dict(vars(model))
    monkeypatch.setattr("consilience.methods.spectral.algorithm.project_view", interrupt)
    with pytest.raises(KeyboardInterrupt, match="by hand"):
        model.set_params(n_iter=3).fit(views)
    assert model.labels_ is before["labels_"]
    assert model.history_ is before["history_"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embedding": "view7"}, "embedding='view7' is not a view: give 'concat' or one of 'view0', 'view1', 'view2'"),
        ({"affinity": "sausage"}, "The 'affinity' parameter of CoTrainedSpectral must be"),
        ({"affinity": ["sausage", "auto", "auto"]}, "view 'view0': no affinity 'sausage'; choose"),
        ({"affinity": ["auto"]}, "affinity lists 1 values for 3 views"),
        ({"affinity": "gaussian", "bandwidth": "mean"}, "The 'bandwidth' parameter of CoTrainedSpectral must be"),
        ({"bandwidth": "median"}, "view 'view0': affinity='auto' does not use bandwidth; the options"),
        ({"affinity": "gaussian", "bandwidth": [1.0, 0, 1.0]}, "view 'view1': bandwidth=0 must be a number"),
        ({"affinity": Gaussian(1.0), "bandwidth": 2.0}, r"view 'view0': affinity=Gaussian\(.*\) has its own"),
        ({"affinity": {"view0": "auto", "view1": None, "view2": "auto"}}, "view 'view1': affinity=None is neither"),
        ({"affinity": Gaussian}, "view 'view0': affinity=<class .* is neither a name nor an affinity: give an object"),
        ({"bandwidth": -1.0}, "The 'bandwidth' parameter of CoTrainedSpectral must be"),
        ({"n_iter": -1}, "The 'n_iter' parameter of CoTrainedSpectral must be"),
        ({"n_iter": "some"}, "The 'n_iter' parameter of CoTrainedSpectral must be"),
        ({"n_projections": 0}, "The 'n_projections' parameter of CoTrainedSpectral must be"),
        ({"assign_labels": "magic"}, "The 'assign_labels' parameter of CoTrainedSpectral must be"),
        ({"affinity": "precomputed"}, r"'view0': affinity='precomputed' needs a square matrix .* got shape \(200, 4\)"),
        ({"affinity": "chi2"}, "view 'view0': ChiSquared compares counts or histograms, and there are negative"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit_model(some_views()[0], **options)


def test_duplicates_leave_no_median_bandwidth():
    views, _ = some_views()
    blocks = dict(views.items())
    blocks["view1"] = np.repeat(blocks["view1"][:1], 200, axis=0) + np.eye(200, 6)
    with pytest.raises(
        ValueError, match=r"view 'view1': half of the rows' distances are zero .* give bandwidth= a number"
    ):
        fit_model(blocks, affinity="gaussian")
    model = fit_model(blocks)
    assert np.isfinite(np.hstack(list(model.embeddings_.values()))).all()


def test_constant_view_is_refused():
    views, _ = some_views()
    for constant in (np.full((200, 2), 3.0), sp.csr_array(np.full((200, 2), 3.0)), np.zeros((200, 2))):
        for affinity in ("auto", "gaussian", "cosine"):
            with pytest.raises(ValueError, match="view 'b' is the same for every entity: leave the view out"):
                fit_model({"a": views["view0"], "b": constant}, affinity=affinity)


@pytest.mark.parametrize("n_iter", [0, 1])
@pytest.mark.filterwarnings("ignore:view 'view1' has entity 3 similar to no other")
def test_isolated_entity_warns(n_iter):
    K = np.kron(np.eye(2), np.ones((10, 10)))
    K[3] = K[:, 3] = 0
    with pytest.warns(UserWarning, match=r"view 'view0' has entity 3 similar to no other \(1 such\)"):
        model = fit_model([K, K], 2, affinity="precomputed", n_iter=n_iter)
    assert np.isfinite(np.hstack(list(model.embeddings_.values()))).all()
    others = np.delete(np.arange(20), 3)
    assert same_clusters(model.labels_[others], others >= 10)
    with pytest.warns(UserWarning, match="entity 0 is similar to none of the fit"):
        model.predict([np.zeros((1, 20)), np.zeros((1, 20))])


@pytest.mark.parametrize(
    ("affinity", "n_iter"), [(Gaussian(1e-3), 0), (Gaussian(1.0), 1), (Landmarks(60, 3), 1), (NearestNeighbors(5), 0)]
)
@pytest.mark.filterwarnings("ignore:view 'view1' has a similarity graph of more")
def test_components_warn_for_every_affinity(affinity, n_iter):
    X = np.random.default_rng(0).random((60, 2)) + np.repeat([[0, 0], [1000, 0], [0, 1000]], 20, axis=0)
    with pytest.warns(
        UserWarning, match="view 'view0' has a similarity graph of more connected components than n_clusters=2"
    ):
        fit_model([X, X + 1], 2, affinity=affinity, n_iter=n_iter)


def test_components_that_are_the_clusters():
    K = np.kron(np.eye(3), np.ones((7, 7)))
    model = fit_model([K, K], 3, affinity="precomputed", n_iter=2)
    assert same_clusters(model.labels_, np.repeat([0, 1, 2], 7))
    assert np.array_equal(model.predict([K, K]), model.labels_)


def test_small_similarities_are_no_components():
    kernels = [1e-12 * pairwise.rbf_kernel(X, gamma=0.05) for _, X in some_views(separation=4)[0].items()]
    assert len(set(fit_model(kernels, affinity="precomputed").labels_)) == 4  # and no warning


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_few_clusters_and_few_entities(n_clusters):
    views, _ = some_views(n=5)
    model = fit_model(views, n_clusters, n_iter=1)
    assert len(set(model.labels_)) == n_clusters
    assert np.isfinite(np.hstack(list(model.embeddings_.values()))).all()


def test_row_of_zeros_in_all_views_warns():
    views, _ = make_text_views(60, n_clusters=3, random_state=0)
    blocks = {name: X.toarray() * (np.arange(60) != 5)[:, None] for name, X in views.items()}
    with pytest.warns(UserWarning, match=r"entity 5 is all zeros in every view it has \(1 such\): it is similar to no"):
        model = fit_model(blocks, 3, affinity="cosine")
    assert model.labels_[5] in {0, 1, 2}
    with pytest.warns(UserWarning, match=r"entity 0 is all zeros in every view it has \(2 such\)"):
        labels = model.predict({name: 0 * X[:2] for name, X in blocks.items()})
    assert set(labels) <= {0, 1, 2}


def test_rings_and_curves_with_many_entities():
    """Eigenvalues close to 1 and to each other need many steps of the solver."""
    rng = np.random.default_rng(0)
    angle, ring = rng.random(3000) * 2 * np.pi, np.arange(3000) % 2
    radius = np.where(ring, 1.0, 0.7) + 0.02 * rng.standard_normal(3000)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert same_clusters(fit_model(X, 2).labels_, ring)
    t = np.sort(rng.random(3000))
    line = np.column_stack([t, 0.01 * rng.standard_normal(3000)])
    assert adjusted_rand_score(fit_model(line, 4).labels_, np.arange(3000) // 750) > 0.75


def test_predict_distant_row_in_float32():
    views = some_views()[0].map(lambda X: X.astype(np.float32))
    model = fit_model(views, affinity=Gaussian(2.0))
    assert model.predict(views[:1].map(lambda X: 4 * X))[0] in range(4)


def test_precomputed_is_square_or_rows_of_views():
    K = pairwise.rbf_kernel(np.random.default_rng(0).random((120, 2)))
    with pytest.raises(ValueError, match=r"needs a square matrix of similarities, 60 x 60, got shape \(60, 120\)"):
        fit_model([K[:60]], 2, affinity="precomputed")
    assert len(fit_model(cs.Views([K])[:60], 2, affinity="precomputed").labels_) == 60
    with pytest.raises(ValueError, match=r"got shape \(60, 60\)\. It must .* a row that was at position 119 has none"):
        fit_model(cs.Views([K])[60:].replace_blocks({"view0": K[60:, 60:]}), 2, affinity="precomputed")


def test_too_large_similarities_are_refused(monkeypatch):
    monkeypatch.setattr("consilience.methods.spectral.similarities.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"view 'view0': the similarities by Gaussian\(.* take 0.0 GiB .*landmarks"):
        fit_model(some_views()[0], affinity="gaussian")


def test_linear_affinity_with_huge_numbers_and_missing_views():
    views, _ = some_views(missing=0.2, separation=8)
    first, *others = (
        fit_model(views.map(lambda X, exponent=exponent: np.ldexp(X, exponent)), affinity="linear").labels_
        for exponent in (0, 330, 400, 500)
    )
    assert all(np.array_equal(labels, first) for labels in others)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, 1e152, 1], r"view 'view1': rows up to length .* do not fit float64: rescale the view"),
        ([1e120, 1e-120, 1], "of view 'view0' are too large compared with those of view 'view1'"),
    ],
)
def test_linear_affinity_refuses_numbers_that_are_too_large(sizes, message):
    views, _ = some_views(missing=0.2)
    blocks = {name: size * X for (name, X), size in zip(views.items(), sizes, strict=True)}
    with pytest.raises(ValueError, match=message):
        fit_model(cs.Views(blocks, present=views.present), affinity="linear")


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster-qr"])
def test_score_is_minus_the_cost(assign_labels):
    views, _ = some_views(separation=4)
    model = fit_model(views, assign_labels=assign_labels)
    assert 0 < model.cost_ == pytest.approx(-model.score(views), rel=1e-6)
