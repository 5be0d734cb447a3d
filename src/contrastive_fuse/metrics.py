"""How well scores and probabilities of pairs agree with their signs."""

from __future__ import annotations

import numpy as np

from contrastive_fuse.errors import InputError
from contrastive_fuse.types import AnyArray, BoolArray

CALIBRATION_BINS = 10


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


def accuracy(y: AnyArray, predicted: AnyArray) -> float:
    """Share of the pairs whose sign is predicted."""
    return float(np.mean((np.asarray(y) > 0) == (np.asarray(predicted) > 0)))


def f1(y: AnyArray, predicted: AnyArray) -> float:
    """F1 of the alike pairs; the paper's tables call this Macro-F1."""
    return _f1(np.asarray(y) > 0, np.asarray(predicted) > 0)


def macro_f1(y: AnyArray, predicted: AnyArray) -> float:
    """Mean of the F1 of the alike and that of the unlike pairs."""
    alike, called = np.asarray(y) > 0, np.asarray(predicted) > 0
    return (_f1(alike, called) + _f1(~alike, ~called)) / 2


def average_precision(y: AnyArray, scores: AnyArray) -> float:
    """Precision at each alike pair in the order of the scores, averaged; equal scores count as one place."""
    alike = np.asarray(y) > 0
    if not alike.any():
        raise InputError("the average precision needs pairs that are alike; there are none")
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    ranked, hits = np.asarray(scores)[order], np.cumsum(alike[order])
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)  # of each run of equal scores
    precision, recall = hits[last] / (last + 1), hits[last] / hits[-1]
    return float(np.sum(np.diff(recall, prepend=0) * precision))


def brier(y: AnyArray, probabilities: AnyArray) -> float:
    """Mean squared distance between the probability of being alike and what is the case."""
    return float(np.mean((np.asarray(probabilities, dtype=np.float64) - (np.asarray(y) > 0)) ** 2))


def calibration_error(y: AnyArray, probabilities: AnyArray, bins: int = CALIBRATION_BINS) -> float:
    """Expected calibration error: how far the mean probability and the share of alike pairs lie apart, bin by bin.

    Bins of the probability of being alike, equally wide, weighted by the pairs in them.
    """
    alike, given = np.asarray(y) > 0, np.asarray(probabilities, dtype=np.float64)
    place = np.searchsorted(
        np.linspace(0, 1, bins + 1)[1:-1], given
    )  # a probability on an edge belongs to the bin below
    gaps = np.bincount(place, given, bins) - np.bincount(place, alike, bins)
    return float(np.abs(gaps).sum() / len(given))


def evaluate(y: AnyArray, scores: AnyArray, predicted: AnyArray, probabilities: AnyArray | None) -> dict[str, float]:
    """Every metric by name; those of probabilities only where there are some."""
    values = {
        "accuracy": accuracy(y, predicted),
        "f1": f1(y, predicted),
        "macro_f1": macro_f1(y, predicted),
        "roc_auc": roc_auc(y, scores),
        "average_precision": average_precision(y, scores),
    }
    if probabilities is not None:
        values |= {"brier": brier(y, probabilities), "calibration_error": calibration_error(y, probabilities)}
    return values


def _f1(alike: BoolArray, called: BoolArray) -> float:
    hits, either = int(np.sum(alike & called)), int(np.sum(alike)) + int(np.sum(called))
    return 2 * hits / max(1, either)
