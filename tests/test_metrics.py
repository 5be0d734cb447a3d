import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, average_precision_score, brier_score_loss, f1_score, roc_auc_score

from contrastive_fuse import InputError
from contrastive_fuse.metrics import (
    accuracy,
    average_precision,
    brier,
    calibration_error,
    evaluate,
    f1,
    macro_f1,
    roc_auc,
)


@pytest.mark.parametrize("digits", [1, 8])  # with ties and without
def test_roc_auc_is_scikit_learns(digits, seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.choice([-1, 1], 2000), rng.standard_normal(2000).round(digits)
    assert roc_auc(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


def test_roc_auc_needs_both_signs():
    with pytest.raises(InputError, match="pairs of both signs; got 2 alike and 0 unlike"):
        roc_auc([1, 1], [0.1, 0.2])


@pytest.fixture(params=[1, 8])
def judged(request, seed):
    """Signs, scores with and without ties, predictions and probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], 3000, p=[0.7, 0.3])
    scores = (y + 2 * rng.standard_normal(3000)).round(request.param)
    return y, scores, np.where(scores > 0.3, 1, -1), 1 / (1 + np.exp(-scores))


def test_accuracy_and_f1_are_scikit_learns(judged):
    y, _, predicted, _ = judged
    assert accuracy(y, predicted) == pytest.approx(accuracy_score(y, predicted))
    assert f1(y, predicted) == pytest.approx(f1_score(y, predicted))
    assert macro_f1(y, predicted) == pytest.approx(f1_score(y, predicted, average="macro"))


def test_average_precision_and_brier_are_scikit_learns(judged):
    y, scores, _, probabilities = judged
    assert average_precision(y, scores) == pytest.approx(average_precision_score(y, scores), abs=1e-12)
    assert brier(y, probabilities) == pytest.approx(brier_score_loss(y, probabilities))


def test_calibration_error_is_that_of_scikit_learns_curve(judged):
    y, _, _, probabilities = judged
    share, mean = calibration_curve(y > 0, probabilities, n_bins=10)
    counts = np.bincount(np.digitize(probabilities, np.linspace(0, 1, 11)[1:-1], right=True), minlength=10)
    expected = np.sum(np.abs(share - mean) * counts[counts > 0]) / len(y)
    assert calibration_error(y, probabilities) == pytest.approx(expected)


def test_calibration_error_of_sure_and_right_is_zero():
    assert calibration_error([1, -1], [1.0, 0.0]) == 0
    assert calibration_error([1, -1], [0.0, 1.0]) == 1


def test_the_papers_macro_f1():
    """Accuracy 0.504 with F1 0.668, as in its tables: the F1 of the alike pairs of one who says alike nearly always."""
    y = np.repeat([1, -1], 1000)
    predicted = np.where(np.arange(2000) < 1984, 1, -1)
    predicted[:8] = 1
    assert accuracy(y, predicted) == pytest.approx(0.508, abs=0.005)
    assert f1(y, predicted) == pytest.approx(0.668, abs=0.005)
    assert macro_f1(y, predicted) < 0.36


def test_extremes():
    assert f1([-1, -1], [-1, -1]) == 0
    assert evaluate([1, -1], [0.9, 0.1], [1, -1], None) == {
        "accuracy": 1, "f1": 1, "macro_f1": 1, "roc_auc": 1, "average_precision": 1,
    }  # fmt: skip
    with pytest.raises(InputError, match="average precision needs pairs that are alike"):
        average_precision([-1, -1], [0.1, 0.2])
