"""Compare the kernels of Triton, which it interprets without a GPU, with plain torch: run by a test in a subprocess."""

from __future__ import annotations

import itertools
import os

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch

from consilience.arrays import triton_kernels
from consilience.arrays.linalg import weighted_cross_products
from consilience.families.base import log_zero, safe_log
from consilience.methods.coem import algorithm
from consilience.rows import ViewRows

RNG = np.random.default_rng(0)
NORMAL = torch.float32


def draw(*shape):
    return torch.tensor(RNG.standard_normal(shape), dtype=NORMAL)


def check_rows(n, d, k):
    X, origin, weights = draw(n, d), draw(d), torch.tensor(RNG.dirichlet(np.ones(k), n), dtype=NORMAL)
    shifted = (X - origin).double()
    whitening, shift, constant = draw(k, d, d), draw(k, d), draw(k)
    white = torch.einsum("nd,kde->nke", shifted, whitening.double()) - shift
    log_prob = triton_kernels.compute_whitened_log_prob(X, whitening, shift, constant, origin)
    torch.testing.assert_close(log_prob.double(), constant - (white**2).sum(-1) / 2, rtol=1e-5, atol=1e-4)
    products = triton_kernels.sum_cross_products(X, weights)
    expected = torch.asarray(weighted_cross_products(X.double().numpy(), weights.double().numpy()))
    torch.testing.assert_close(products, expected, rtol=1e-5, atol=1e-4)

    linear, quadratic, bias = draw(k, d), draw(k, d), draw(k)
    scores = shifted @ linear.double().T - bias
    computed = triton_kernels.compute_quadratic_scores(X, linear, quadratic, bias, origin)
    torch.testing.assert_close(computed.double(), scores + shifted**2 @ quadratic.double().T, rtol=1e-5, atol=1e-4)
    labels, best = triton_kernels.find_largest_scores(X, linear, bias, origin)
    assert torch.equal(labels, scores.argmax(1))
    torch.testing.assert_close(best.double(), scores.max(1).values, rtol=1e-5, atol=1e-4)
    assert torch.equal(triton_kernels.find_largest_scores(X * 0, linear * 0, None)[0], labels * 0), "the first on ties"

    labels[:5] = -1
    sums = torch.stack([X[labels == cluster].double().sum(0) for cluster in range(k)])
    torch.testing.assert_close(triton_kernels.sum_by_label(X, labels, k), sums, rtol=1e-5, atol=1e-4)
    sums, squares = triton_kernels.sum_moments(X, weights, origin)
    torch.testing.assert_close(sums, weights.double().T @ shifted, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(squares, weights.double().T @ shifted**2, rtol=1e-5, atol=1e-3)


def check_blend(n_views, has_missing, has_fixed, k, target, eta, has_extremes, n=333):
    names = [f"view{i}" for i in range(n_views)]
    log_probs = [5 * draw(k, n).T for _ in names]
    priors = torch.asarray(RNG.dirichlet(np.ones(k), n_views))
    if has_extremes:
        priors[0, 1] = 0
        for values in log_probs:
            values[5], values[7, 0], values[9] = log_zero(NORMAL), log_zero(NORMAL), 50 * values[9]
    masks = torch.asarray(RNG.random((n_views + 1, n)) < (0.7 if has_missing else 2))
    fixed_labels = np.where(RNG.random(n) < 0.2, RNG.integers(0, k, n), -1) if has_fixed else None
    fixed_labels = None if fixed_labels is None else torch.asarray(fixed_labels)

    posteriors = {}
    for name, values, prior, present in zip(names, log_probs, priors, masks, strict=False):
        posterior, evidence = algorithm.compute_posteriors(values, safe_log(prior, NORMAL), fixed_labels)
        posterior, evidence = posterior * present[:, None], torch.where(present, evidence, 0.0)
        posteriors[name] = algorithm.ViewPosterior(values, posterior, evidence, present, not has_missing)
    views = {name: ViewRows(draw(n, 1), mask) for name, mask in zip([*names, "new"], masks, strict=True)}
    target_name = [*names, "new"][target]
    if target >= 0:
        del views["new"]
    expected = algorithm.blend_posteriors(views, posteriors, target_name, eta, slice(0, n))
    if has_fixed and target < 0:
        expected = algorithm.clamp_posteriors(expected + 0, fixed_labels) * masks[-1][:, None]
    terms = algorithm.compute_disagreement_terms(posteriors, dict(zip(names, priors, strict=True)))
    terms |= algorithm.count_posterior_agreement(list(posteriors.values()), fixed_labels)

    blended, sums, quality = triton_kernels.blend_views(
        log_probs,
        safe_log(priors, NORMAL),
        list(masks[:-1]) if has_missing else None,
        masks[target],
        target,
        eta,
        log_zero(NORMAL) / 2,
        fixed_labels,
        with_quality=True,
    )
    torch.testing.assert_close(blended, expected, rtol=1e-5, atol=1e-6)
    totals = torch.stack([*(view.posterior.sum(0) for view in posteriors.values()), expected.sum(0)])
    torch.testing.assert_close(sums, totals.double(), rtol=1e-5, atol=1e-4)
    likelihoods = [view.evidence.sum() for view in posteriors.values()]
    expected_quality = torch.stack([*likelihoods, *(terms[key] for key in ("certainty", "delta", "counted", "agreed"))])
    torch.testing.assert_close(quality, expected_quality, rtol=1e-5, atol=1e-3)


if __name__ == "__main__":
    for case in ((300, 5, 3), (257, 32, 20), (130, 50, 2)):
        check_rows(*case)
    for n_views, has_missing, has_fixed, has_extremes in itertools.product((1, 3), *[(False, True)] * 3):
        for target in (-1, 0, n_views - 1):
            check_blend(
                n_views,
                has_missing,
                has_fixed,
                int(RNG.integers(2, 12)),
                target,
                RNG.choice([0.0, 0.5, 1.0]),
                has_extremes,
            )
    print("all kernels agree")
