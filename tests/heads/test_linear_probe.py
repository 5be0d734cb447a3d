"""Why the paper's linear probe says one half (docs/heads.md): the true classes themselves, seen side by side."""

import numpy as np
import pytest

from contrastive_fuse import make_head, sample_pairs, split_pairs


@pytest.mark.parametrize(("uniform_over", "low", "high"), [("pairs", 0.55, 0.60), ("nodes", 0.40, 0.53)])
def test_the_true_classes_tell_a_linear_probe_only_how_pairs_were_drawn(real_set, uniform_over, low, high):
    _, labels = real_set("cora")
    train, test = split_pairs(sample_pairs(labels, 50_000, 0, uniform_over=uniform_over), 0.2, 0)
    probe = make_head("logistic", "paper").fit(np.eye(7)[labels], pairs=train)
    accuracy = np.mean(probe.predict(test) == test.y)
    assert low < accuracy < high
    product = make_head("logistic", "paper", representation="product").fit(np.eye(7)[labels], pairs=train)
    assert np.mean(product.predict(test) == test.y) == 1  # a probe that can compare them needs nothing else
