import json

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from contrastive_fuse import InputError
from contrastive_fuse.calibration import STRATEGIES, Calibration, best_threshold


def noisy_scores(n, rng):
    """Scores in [-1, 1] whose true probability of being alike is known."""
    scores = rng.uniform(-1, 1, n)
    truth = 1 / (1 + np.exp(-6 * (scores - 0.2)))
    return scores, np.where(rng.random(n) < truth, 1, -1), truth


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_finds_the_true_probabilities(method, seed):
    scores, y, truth = noisy_scores(20_000, np.random.default_rng(seed))
    learned = Calibration.learn(scores, y, method).probability(scores)
    assert np.abs(learned - truth).mean() < 0.02
    assert np.all((learned > 0) & (learned < 1))


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_threshold_is_where_probability_passes_one_half(method, seed):
    scores, y, _ = noisy_scores(3000, np.random.default_rng(seed))
    calibration = Calibration.learn(scores, y, method)
    probe = np.linspace(-1, 1, 4001)
    above = calibration.probability(probe) >= 0.5
    clear = abs(probe - calibration.threshold) > 1e-9
    np.testing.assert_array_equal(above[clear], (probe >= calibration.threshold)[clear])
    assert calibration.threshold == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_higher_score_is_never_less_alike(method, seed):
    rng = np.random.default_rng(seed)
    calibration = Calibration.learn(rng.uniform(-1, 1, 50), rng.choice([-1, 1], 50), method)
    assert np.all(np.diff(calibration.probability(np.linspace(-1, 1, 500))) >= 0)


@pytest.mark.parametrize(("sign", "method"), [(1, "platt"), (-1, "platt"), (1, "isotonic"), (-1, "isotonic")])
def test_scores_that_tell_nothing(sign, method):
    """All scores equal, three of four pairs of one sign: that sign is predicted."""
    y = np.array([sign, sign, sign, -sign])
    calibration = Calibration.learn(np.zeros(4), y, method)
    assert (calibration.threshold <= 0) == (sign > 0)


def test_auto_is_isotonic_with_many_pairs_and_platt_with_few():
    scores, y, _ = noisy_scores(2000, np.random.default_rng(0))
    assert Calibration.learn(scores, y).method == "isotonic"
    assert Calibration.learn(scores[:500], y[:500]).method == "platt"


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_survives_json(method):
    scores, y, _ = noisy_scores(500, np.random.default_rng(0))
    calibration = Calibration.learn(scores, y, method)
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


def test_needs_both_signs():
    with pytest.raises(InputError, match="both signs; got 3 alike, 0 unlike"):
        Calibration.learn([0.1, 0.2, 0.3], [1, 1, 1])


def value_of(strategy, scores, y, threshold):
    said, alike = scores >= threshold, y > 0
    if strategy == "accuracy":
        return np.mean(said == alike)
    if strategy == "balanced_accuracy":
        return (np.mean(said[alike]) + np.mean(~said[~alike])) / 2
    return 2 * np.sum(said & alike) / max(1, np.sum(said) + np.sum(alike))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_best_threshold_against_brute_force(strategy, seed):
    rng = np.random.default_rng(seed)
    scores, y = np.round(rng.uniform(-1, 1, 60), 1), rng.choice([-1, 1], 60)  # with ties
    reached = value_of(strategy, scores, y, best_threshold(scores, y, strategy))
    possible = [value_of(strategy, scores, y, t) for t in [*np.unique(scores), 2.0]]
    assert reached == pytest.approx(max(possible))


def test_best_threshold_needs_both_signs():
    with pytest.raises(InputError, match="a threshold needs pairs of both signs"):
        best_threshold(np.array([0.1]), np.array([1]))


def test_two_pairs_with_nearly_equal_scores_prove_nothing():
    calibration = Calibration.learn(np.array([-0.2704, -0.2712]), np.array([1, -1]), "platt")
    assert 0.4 < calibration.probability(np.array([-0.2704]))[0] < 0.6


def test_extreme_maps_do_not_overflow():
    steep = Calibration("platt", n_pairs=10, roc_auc=1.0, slope=1e5, intercept=0.0)
    np.testing.assert_array_equal(steep.probability(np.array([-1.0, 1.0])), [0, 1])


def test_platt_is_scikit_learns_logistic_regression(seed):
    scores, y, _ = noisy_scores(700, np.random.default_rng(seed))
    model = LogisticRegression(C=1.0, tol=1e-10).fit(scores[:, None] / scores.std(), y)
    expected = model.predict_proba(scores[:, None] / scores.std())[:, 1]
    np.testing.assert_allclose(Calibration.learn(scores, y, "platt").probability(scores), expected, atol=1e-6)


def test_platt_of_scores_that_part_the_signs_completely():
    calibration = Calibration.learn(np.repeat([-0.5, 0.5], 300), np.repeat([-1, 1], 300), "platt")
    assert np.isfinite([calibration.slope, calibration.intercept]).all()
    assert calibration.probability(np.array([0.5]))[0] > 0.95


@pytest.mark.parametrize("digits", [1, 2, 8])  # with many equal scores, some, none
def test_isotonic_is_scikit_learns(digits, seed):
    scores, y, _ = noisy_scores(3000, np.random.default_rng(seed))
    scores, probe = scores.round(digits), np.linspace(-1, 1, 999)
    model = IsotonicRegression(y_min=1 / 3002, y_max=1 - 1 / 3002, out_of_bounds="clip").fit(scores, y > 0)
    np.testing.assert_allclose(
        Calibration.learn(scores, y, "isotonic").probability(probe), model.predict(probe), atol=1e-9
    )


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_weight_counts_as_so_many_pairs(method, seed):
    """A pair of weight 3 is three pairs."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], 400)
    scores = (y + 1.5 * rng.standard_normal(400)).round(2)
    weight = rng.integers(1, 4, 400)
    weighed = Calibration.learn(scores, y, method, weight)
    repeated = Calibration.learn(np.repeat(scores, weight), np.repeat(y, weight), method)
    grid = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(weighed.probability(grid), repeated.probability(grid), atol=0.01)
