import numpy as np
import pytest
from scipy.optimize import minimize

from contrastive_fuse.latent import readout as module
from contrastive_fuse.latent.members import COLUMNS
from contrastive_fuse.latent.readout import Readout

M = len(COLUMNS)


def drawn(n, wrong, seed, scale=1.0):
    """Columns, evidence, and signs from known log-odds, a share of them flipped; the log-odds last."""
    rng = np.random.default_rng(seed)
    columns, evidence = rng.standard_normal((n, M)) * 2, rng.uniform(0, 1, n)
    log_odds = scale * ((1 - evidence) * columns[:, 1] + evidence * (columns[:, 0] + columns[:, 3]) - 0.5)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), 1, -1)
    return columns, evidence, np.where(rng.random(n) < wrong, -y, y), log_odds


def test_weights_are_found(seed):
    columns, evidence, y, log_odds = drawn(60_000, 0.0, seed)
    found = Readout.learn(columns, evidence, y, None, 10)
    np.testing.assert_allclose(found.log_odds(columns, evidence), log_odds, atol=0.5)
    assert min(found.cold[:-1] + found.warm[:-1]) >= 0


def test_probabilities_are_of_the_truth_where_pairs_are_wrong(seed):
    columns, evidence, y, log_odds = drawn(60_000, 0.3, seed, scale=3.0)
    found = Readout.learn(columns, evidence, y, None, 10)
    assert found.noise.low < 0.3 < found.noise.high
    assert found.noise.value == pytest.approx(0.3, abs=0.02)
    told, true = (1 / (1 + np.exp(-x)) for x in (found.log_odds(columns, evidence), log_odds))
    assert np.abs(told - true).mean() < 0.03


def test_the_optimum_is_the_one_that_scipy_finds(seed):
    columns, evidence, y, _ = drawn(400, 0.1, seed)
    design, alike = module._design(columns, evidence), y > 0
    weight = np.random.default_rng(seed).uniform(0.5, 2, 400)
    prior = np.array([*module.EXPECTED, module.BASE] * 2)
    penalty = module.STRENGTH / np.array([*module.EXPECTED_SPREAD, module.BASE_SPREAD] * 2) ** 2

    def loss(weights):
        given = 0.1 + 0.8 / (1 + np.exp(-design @ weights))
        return penalty @ (weights - prior) ** 2 / 2 - weight @ np.log(np.where(alike, given, 1 - given))

    bounds = ([(0, None)] * M + [(None, None)]) * 2
    expected = minimize(loss, prior, method="L-BFGS-B", bounds=bounds, options={"maxiter": 5000, "ftol": 1e-14})
    assert loss(module._fit(design, alike, weight, 0.1)) <= expected.fun + 1e-3


def test_noise_counts_only_where_nodes_are_in_several_pairs():
    columns, evidence, y, _ = drawn(5000, 0.2, 0, scale=3.0)
    few, some, many = (Readout.learn(columns, evidence, y, None, pairs) for pairs in (1.5, 3, 8))
    assert few.noise.value == few.noise.low == 0 < some.noise.value < many.noise.value
    assert few.noise.high == many.noise.high > 0.2


def test_a_weight_of_two_is_a_pair_given_twice():
    columns, evidence, y, _ = drawn(300, 0.0, 0)
    twice = np.arange(300) % 3 == 0
    repeated = np.concatenate([np.arange(300), np.flatnonzero(twice)])
    one = module._fit(module._design(columns, evidence), y > 0, np.where(twice, 2.0, 1.0), 0.0)
    two = module._fit(module._design(columns, evidence)[repeated], y[repeated] > 0, np.ones(400), 0.0)
    np.testing.assert_allclose(one, two, atol=0.02)


def test_comes_back_from_plain_values():
    found = Readout.learn(*drawn(500, 0.1, 0)[:3], None, 5)
    assert Readout.from_dict(found.to_dict()) == found
