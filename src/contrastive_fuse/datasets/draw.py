"""Training and test pairs of a data set, by the protocols of the paper and beyond."""

from __future__ import annotations

from typing import Literal

import numpy as np

from contrastive_fuse.datasets.base import Dataset
from contrastive_fuse.errors import InputError, check_choice
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.protocol import few_pairs, flip_pairs, sample_split_nodes, split_nodes, split_pairs
from contrastive_fuse.sampling import sample_pairs
from contrastive_fuse.types import Seed

Split = Literal["pairs", "nodes", "few"]
SPLITS = ("pairs", "nodes", "few")
FEW_AT_MOST = 5000  # training pairs up to which the test set of "few" stays the same
FEW_TEST = 20_000


def draw_pairs(
    data: Dataset,
    n_pairs: int = 50_000,
    *,
    split: Split = "pairs",
    test_size: float = 0.2,
    flip: float = 0.0,
    random_state: Seed = None,
) -> tuple[SignedPairs, SignedPairs]:
    """Draw pairs from the classes of a data set, or take those it brings, and divide them into training and test.

    Parameters
    ----------
    n_pairs : int
        Training and test pairs together, for "few" the training pairs alone. Sets that bring pairs of their own are
        used whole, except for "few".
    split : {"pairs", "nodes", "few"}
        Test on other pairs (`split_pairs`), on pairs of nodes that no training pair touches (`split_nodes`), or learn
        from few pairs and test on many that stay the same (`few_pairs`).
    test_size : float
        Share of the pairs to test on. For "few" it is 20,000 pairs, where they are drawn.
    flip : float
        Share of the training pairs to give the wrong sign; test pairs are never touched.
    """
    check_choice("split", split, SPLITS)
    if data.pairs is None and not (data.labels >= 0).any():
        raise InputError(f"{data.name} has neither classes to draw pairs from nor pairs of its own")
    rng = np.random.default_rng(random_state)
    ids = data.graph.ids
    if split == "nodes":
        if data.pairs is not None:
            train, test = split_nodes(data.pairs, random_state=rng)
        else:
            train, test = sample_split_nodes(data.labels, n_pairs, test_size, rng, ids=ids)
    elif split == "few":
        pairs = data.pairs
        if pairs is None:
            pairs = sample_pairs(data.labels, max(n_pairs, FEW_AT_MOST) + FEW_TEST, rng, ids)
        n_test = min(FEW_TEST, len(pairs) - n_pairs) if data.pairs is None else round(test_size * len(pairs))
        train, test = few_pairs(pairs, n_pairs, n_test, rng)
    else:
        pairs = sample_pairs(data.labels, n_pairs, rng, ids) if data.pairs is None else data.pairs
        train, test = split_pairs(pairs, test_size, rng)
    return (flip_pairs(train, flip, rng) if flip else train), test
