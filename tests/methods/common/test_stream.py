"""Stepwise EM: a step without memory is a round, and streams equal literal averages."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
import literal
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.families import Gaussian, Multinomial
from consilience.methods.coem.algorithm import Model, co_em, run_e_step
from consilience.methods.coem.prepare import prepare_mixture
from consilience.methods.coem.priors import PRIORS
from consilience.methods.coem.stream import co_em_step, remember_sums
from consilience.methods.common.stream import average_memory, count_present, map_leaves
from pairs import cover_pairs

K = 3
FAMILIES = {"gaussian": Gaussian(), "multinomial": Multinomial(smoothing=0.3)}


def numbers(missing):
    options = {"n_clusters": K, "n_features": (3, 2, 4), "separation": 4, "random_state": 0}
    return make_gaussian_views(90, missing=missing, **options)[0]


def text(missing):
    views, _ = make_text_views(90, n_clusters=K, n_words=(12, 9, 15), length=8, missing=missing, random_state=0)
    return views.map(lambda block: block.toarray() if hasattr(block, "toarray") else block)


MAKERS = {"gaussian": numbers, "multinomial": text}


def fit_quietly(model, views, n_rounds=3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(max_iter=n_rounds, n_init=1, random_state=0).fit(views)


@cover_pairs(family=FAMILIES, missing=[0.0, 0.3], priors=PRIORS)
def test_co_em_step_without_memory_is_a_round(family, missing, priors):
    views = MAKERS[family](missing)
    before = fit_quietly(cs.CoEM(K, families=FAMILIES[family], eta=0.4, priors=priors), views)
    params = {n: {key: values for key, values in p.items() if key != "weights"} for n, p in before.params_.items()}
    shards, families, _ = prepare_mixture(views, before.families_, K, fitting=False)
    model = Model(families, params, {n: values["weights"] for n, values in before.params_.items()})
    sums = {name: run_e_step(shards, model, name, 0.4) for name in views.names}
    memories = map_leaves(lambda value: value * 0, remember_sums(shards, sums))  # as if no entity had been seen
    state, after = co_em_step(shards, model, memories, 0.4, PRIORS[priors])
    whole = next(co_em(shards, model, [0.4], PRIORS[priors]))
    assert state.record == pytest.approx(whole.record, rel=1e-9)
    for name in views.names:
        np.testing.assert_allclose(state.model.weights[name], whole.model.weights[name], rtol=1e-9)
        for key, expected in whole.model.params[name].items():
            np.testing.assert_allclose(state.model.params[name][key], expected, rtol=1e-9)
    assert {name: memory["n_entities"] for name, memory in after.items()} == count_present(shards)


def test_weights_of_batches_follow_the_literature():
    rng = np.random.default_rng(0)
    memory = {"n_entities": 7, "sums": rng.random(4)}
    expected = memory["sums"]
    for t in range(2, 9):
        sums = rng.random(4)
        memory = average_memory(memory, 7, {"sums": sums})
        expected = (1 - t**-0.7) * expected + t**-0.7 * sums / 7
        np.testing.assert_allclose(memory["sums"], expected)
    assert memory["n_entities"] == 8 * 7


def step_of(seen, n):
    return (n / (seen + n)) ** 0.7


def literal_statistics(blocks, present, thetas, alpha, v, eta):
    """Sum the rows of view v in one batch under blended posteriors, and each view's posteriors."""
    posteriors = [
        literal.local_posteriors(block, present[:, u], alpha, thetas[u], literal.multinomial_log_prob)[0]
        for u, block in enumerate(blocks)
    ]
    sums = np.zeros((K, blocks[v].shape[1]))
    for i in np.flatnonzero(present[:, v]):
        sums += np.outer(literal.blend_posteriors(posteriors, v, i, eta), blocks[v][i])
    return sums, [sum(values.values()) for values in posteriors]


def literal_stream(batches, thetas, alpha, eta, smoothing):
    """Run stepwise co-EM on multinomials with one prior; the parameters come from the first batch."""
    (blocks, present), *later = batches
    seen = present.sum(axis=0)
    views = range(len(blocks))
    results = [literal_statistics(blocks, present, thetas, alpha, v, eta) for v in views]
    S = [results[v][0] / seen[v] for v in views]
    P = [results[v][1][v] / seen[v] for v in views]
    thetas = list(thetas)
    for blocks, present in later:
        n, S_before, P_before = present.sum(axis=0), list(S), list(P)
        for v in views:
            sums, totals = literal_statistics(blocks, present, thetas, alpha, v, eta)
            g = step_of(seen[v], n[v])
            S[v] = (1 - g) * S_before[v] + g * sums / n[v]
            for u in views:
                g = step_of(seen[u], n[u])
                P[u] = (1 - g) * P_before[u] + g * totals[u] / n[u]
            theta = S[v] * (seen[v] + n[v]) + smoothing
            thetas[v] = theta / theta.sum(axis=1, keepdims=True)
            alpha = sum(P[u] * (seen[u] + n[u]) for u in views)
            alpha = alpha / alpha.sum()
        seen = seen + n
    return thetas, alpha, S


def test_co_em_stream_equals_literal_averages():
    views = text(0.3)
    cuts = [slice(0, 40), slice(40, 55), slice(55, 90)]
    model = fit_quietly(cs.CoEM(K, families=Multinomial(smoothing=0.3), eta=0.4), views[cuts[0]])
    thetas = [values["probabilities"] for values in model.params_.values()]
    batches = [([np.nan_to_num(block[rows]) for _, block in views.items()], views.present[rows]) for rows in cuts]
    expected, alpha, S = literal_stream(batches, thetas, model.cluster_weights_, 0.4, 0.3)
    for rows in cuts[1:]:
        model.partial_fit(views[rows])
    np.testing.assert_allclose(model.cluster_weights_, alpha, rtol=1e-9)
    for name, theta, sums in zip(views.names, expected, S, strict=True):
        np.testing.assert_allclose(model.params_[name]["probabilities"], theta, rtol=1e-9)
        np.testing.assert_allclose(model.statistics_[name]["statistics"]["sums"], sums, rtol=1e-9, atol=1e-12)


def literal_labels(blocks, present, centres, v, cost):
    """Return the nearest center of each row; -1 if it is missing."""
    nearest = [int(np.argmin([cost(x, c) for c in centres[v]])) for x in blocks[v]]
    return np.where(present[:, v], nearest, -1)


def literal_sums(rows, labels):
    """Return the sums and numbers of each cluster's rows."""
    is_member = labels == np.arange(K)[:, None]
    return is_member @ rows, is_member.sum(axis=1)


def newest(labels, order):
    """Return the label of each entity in the last view of the order that it has."""
    result = np.full(len(labels[0]), -1)
    for v in order:
        result = np.where(labels[v] >= 0, labels[v], result)
    return result


def literal_kmeans_stream(batches, centres, geometry):
    """Run stepwise k-means; return the centers of the views and the consensus centers. No cluster may be empty."""
    centre, cost, _ = literal.GEOMETRY[geometry]
    views = range(len(centres))
    seen, handed, agreed = None, {}, {}
    for blocks, present in batches:
        n = present.sum(axis=0)
        labels = [literal_labels(blocks, present, centres, v, cost) for v in views]
        for v in views:
            order = [v, *(u for u in views if u > v), *(u for u in views if u < v)]
            values = np.where(present[:, v], newest(labels, order), -1)
            s = [x / n[v] for x in literal_sums(blocks[v], values)]
            if seen is None:
                handed[v] = s
            else:
                g = step_of(seen[v], n[v])
                handed[v] = [(1 - g) * old + g * new for old, new in zip(handed[v], s, strict=True)]
                centres[v] = [centre(total[None] / count) for total, count in zip(*handed[v], strict=True)]
                labels[v] = literal_labels(blocks, present, centres, v, cost)
        stacked = np.stack(labels)
        unanimous = np.array([values.max() if len(set(values[values >= 0])) == 1 else -1 for values in stacked.T])
        for v in views:
            s = [x / n[v] for x in literal_sums(blocks[v], np.where(present[:, v], unanimous, -1))]
            g = 1 if seen is None else step_of(seen[v], n[v])
            agreed[v] = s if seen is None else [(1 - g) * a + g * b for a, b in zip(agreed[v], s, strict=True)]
        seen = n if seen is None else seen + n
    consensus = [[centre(total[None] / count) for total, count in zip(*agreed[v], strict=True)] for v in views]
    return centres, consensus


@pytest.mark.parametrize("estimator", [cs.MultiViewKMeans, cs.MultiViewSphericalKMeans])
def test_kmeans_stream_equals_literal_averages(estimator):
    views = numbers(0.3)
    cuts = [slice(0, 40), slice(40, 55), slice(55, 90)]
    model = fit_quietly(estimator(K), views[cuts[0]])
    centres = [list(values) for values in model.view_centers_.values()]
    blocks = [np.nan_to_num(block) for _, block in views.items()]
    if estimator is cs.MultiViewSphericalKMeans:
        lengths = [np.linalg.norm(block, axis=1, keepdims=True) for block in blocks]
        blocks = [block / np.where(values > 0, values, 1) for block, values in zip(blocks, lengths, strict=True)]
    batches = [([block[rows] for block in blocks], views.present[rows]) for rows in cuts]
    values, consensus = literal_kmeans_stream(batches, centres, estimator.__name__)
    for rows in cuts[1:]:
        model.partial_fit(views[rows])
    for name, mine, all_agree in zip(views.names, values, consensus, strict=True):
        np.testing.assert_allclose(model.view_centers_[name], np.array(mine), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.cluster_centers_[name], np.array(all_agree), rtol=1e-9, atol=1e-12)


def test_empty_cluster_keeps_its_statistics():
    views = cs.Views({"a": [[0.0], [1.0], [10.0], [11.0]], "b": [[0.0], [1.0], [10.0], [11.0]]})
    model = cs.MultiViewKMeans(2, init=[0, 0, 1, 1]).fit(views)
    before = map_leaves(np.copy, {name: values["handed"] for name, values in model.statistics_.items()})
    model.partial_fit(views[:2])
    for name, values in model.statistics_.items():
        assert values["handed"]["sums"][1] == before[name]["sums"][1]
        assert values["handed"]["counts"][1] == before[name]["counts"][1]
        assert model.view_centers_[name][1] == 10.5


@pytest.mark.filterwarnings("ignore:.* clusters are empty:sklearn.exceptions.ConvergenceWarning")
def test_always_empty_cluster_moves_to_the_farthest_row():
    same = cs.Views({"a": np.zeros((3, 1)), "b": np.zeros((3, 1))})
    model = cs.MultiViewKMeans(2, random_state=0).fit(same)
    model.partial_fit({"a": [[0.0], [1.0], [9.0]], "b": [[0.0], [1.0], [9.0]]})
    assert len(set(model.labels_[:2])) == 1
    assert model.labels_[2] != model.labels_[0]
    assert 9.0 in model.view_centers_["a"]
