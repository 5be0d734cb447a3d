"""How well scores and probabilities of pairs agree with their signs."""

from __future__ import annotations

import numpy as np

from contrastive_fuse.errors import InputError
from contrastive_fuse.types import AnyArray


def roc_auc(y: AnyArray, scores: AnyArray) -> float:
    """Area under the ROC curve: how often an alike pair has the higher score, ties counted half.

    Parameters
    ----------
    y : (n,) above 0 for alike pairs, else unlike
    scores : (n,) higher for pairs that are more alike
    """
    alike = np.asarray(y) > 0
    n_alike, n_unlike = int(alike.sum()), int((~alike).sum())
    if not n_alike or not n_unlike:
        raise InputError(f"the ROC-AUC needs pairs of both signs; got {n_alike:,} alike and {n_unlike:,} unlike")
    place, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)[1:]
    ranks = np.cumsum(counts) - (counts - 1) / 2  # equal scores share the mean of their ranks
    return float((ranks[place[alike]].sum() - n_alike * (n_alike + 1) / 2) / (n_alike * n_unlike))
