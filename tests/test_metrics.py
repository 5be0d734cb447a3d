import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from contrastive_fuse import InputError
from contrastive_fuse.metrics import roc_auc


@pytest.mark.parametrize("digits", [1, 8])  # with ties and without
def test_roc_auc_is_scikit_learns(digits, seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.choice([-1, 1], 2000), rng.standard_normal(2000).round(digits)
    assert roc_auc(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


def test_roc_auc_needs_both_signs():
    with pytest.raises(InputError, match="pairs of both signs; got 2 alike and 0 unlike"):
        roc_auc([1, 1], [0.1, 0.2])
