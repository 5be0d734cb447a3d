"""From pair scores to probabilities, learned on pairs that the embedding has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from contrastive_fuse.errors import InputError, check_choice
from contrastive_fuse.types import AnyArray, DoubleArray

Method = Literal["auto", "platt", "isotonic"]
Strategy = Literal["accuracy", "balanced_accuracy", "f1"]
METHODS = ("auto", "platt", "isotonic")
STRATEGIES = ("accuracy", "balanced_accuracy", "f1")
LEAST_SPREAD = 0.05  # of scores: closer ones must not turn into certainty because there are only two of them
ISOTONIC_FROM = 1000  # fewer held-out pairs than this leave a step function too coarse


@dataclass(frozen=True)
class Calibration:
    """A monotone map from score to probability.

    Platt's map is the logistic function of ``slope * score + intercept``; the isotonic one runs straight between knots.

    Attributes
    ----------
    method : {"platt", "isotonic"}
    n_pairs : int, held-out pairs it was learned from
    roc_auc : float, of the score on those pairs
    slope, intercept : float, of Platt's map
    scores, probabilities : tuple of float, knots of the isotonic map
    """

    method: str
    n_pairs: int
    roc_auc: float
    slope: float = 0.0
    intercept: float = 0.0
    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()

    @classmethod
    def learn(cls, scores: AnyArray, y: AnyArray, method: Method = "auto") -> Calibration:
        """Fit the map to the scores and signs of held-out pairs."""
        from sklearn.isotonic import IsotonicRegression
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        check_choice("calibration", method, METHODS)
        alike = np.asarray(y) > 0
        n_alike, n_pairs = int(alike.sum()), len(alike)
        if n_alike in (0, n_pairs):
            raise InputError(
                f"calibration needs pairs of both signs; got {n_alike:,} alike, {n_pairs - n_alike:,} unlike"
            )
        auc = float(roc_auc_score(alike, scores))
        if method == "platt" or (method == "auto" and n_pairs < ISOTONIC_FROM):
            spread = max(float(np.std(scores)), LEAST_SPREAD)
            model = LogisticRegression().fit(np.asarray(scores, dtype=np.float64)[:, None] / spread, alike)
            slope = max(0.0, float(model.coef_[0, 0]) / spread)
            return cls("platt", n_pairs, auc, slope=slope, intercept=float(model.intercept_[0]))
        surest = 1 / (n_pairs + 2)  # a finite sample is never proof
        curve = IsotonicRegression(y_min=surest, y_max=1 - surest).fit(scores, alike)
        return cls(
            "isotonic",
            n_pairs,
            auc,
            scores=tuple(float(x) for x in curve.X_thresholds_),
            probabilities=tuple(float(x) for x in curve.y_thresholds_),
        )

    def probability(self, scores: AnyArray) -> DoubleArray:
        """Probability that pairs with these scores are alike."""
        scores = np.asarray(scores, dtype=np.float64)
        if self.method == "platt":
            return np.asarray(expit(self.slope * scores + self.intercept))
        return np.interp(scores, self.scores, self.probabilities)

    @property
    def threshold(self) -> float:
        """The lowest score whose probability reaches one half."""
        if self.method == "platt":
            return -self.intercept / self.slope if self.slope > 0 else float(np.copysign(np.inf, -self.intercept))
        probabilities = np.array(self.probabilities)
        likely = np.flatnonzero(probabilities >= 0.5)
        if not len(likely):
            return float("inf")
        first = int(likely[0])
        if first == 0:
            return float("-inf")
        span = slice(first - 1, first + 1)
        return float(np.interp(0.5, probabilities[span], np.array(self.scores)[span]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "method": self.method, "n_pairs": self.n_pairs, "roc_auc": self.roc_auc, "slope": self.slope,
            "intercept": self.intercept, "scores": list(self.scores), "probabilities": list(self.probabilities),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Calibration:
        stored = dict(stored)
        for knots in ("scores", "probabilities"):
            stored[knots] = tuple(stored[knots])
        return cls(**stored)


def best_threshold(scores: AnyArray, y: AnyArray, strategy: Strategy = "accuracy") -> float:
    """The score threshold that does best on the given pairs.

    Parameters
    ----------
    strategy : {"accuracy", "balanced_accuracy", "f1"}
    """
    check_choice("strategy", strategy, STRATEGIES)
    order = np.argsort(-np.asarray(scores), kind="stable")
    ranked, alike = np.asarray(scores, dtype=np.float64)[order], np.asarray(y)[order] > 0
    n_alike, n_unlike = int(alike.sum()), int((~alike).sum())
    if not n_alike or not n_unlike:
        raise InputError(f"a threshold needs pairs of both signs; got {n_alike:,} alike, {n_unlike:,} unlike")
    hits = np.concatenate([[0], np.cumsum(alike)])  # pairs called alike: the first 0, 1, 2, ...
    misses = np.arange(len(ranked) + 1) - hits
    value = {
        "accuracy": hits - misses,
        "balanced_accuracy": hits / n_alike - misses / n_unlike,
        "f1": 2 * hits / (hits + misses + n_alike),
    }[strategy].astype(np.float64)
    cuttable = np.concatenate([[True], ranked[:-1] > ranked[1:], [True]])  # equal scores fall on one side
    best = int(np.argmax(np.where(cuttable, value, -np.inf)))
    if best == 0:
        return float(np.nextafter(ranked[0], np.inf))
    if best == len(ranked):
        return float(ranked[-1])
    return float((ranked[best - 1] + ranked[best]) / 2)
