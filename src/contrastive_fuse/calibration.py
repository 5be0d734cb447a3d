"""From pair scores to probabilities, learned on pairs that the embedding has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from contrastive_fuse.errors import InputError, check_choice, check_number
from contrastive_fuse.metrics import roc_auc
from contrastive_fuse.types import AnyArray, BoolArray, DoubleArray

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
    base_rate : float or None, share of alike pairs that the probabilities refer to
    """

    method: str
    n_pairs: int
    roc_auc: float
    slope: float = 0.0
    intercept: float = 0.0
    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    base_rate: float | None = None

    @classmethod
    def learn(
        cls, scores: AnyArray, y: AnyArray, method: Method = "auto", weight: AnyArray | None = None
    ) -> Calibration:
        """Fit the map to the scores and signs of held-out pairs, each counted by its weight where there is one."""
        check_choice("calibration", method, METHODS)
        alike = np.asarray(y) > 0
        n_alike, n_pairs = int(alike.sum()), len(alike)
        if n_alike in (0, n_pairs):
            raise InputError(
                f"calibration needs pairs of both signs; got {n_alike:,} alike, {n_pairs - n_alike:,} unlike"
            )
        auc, base_rate = roc_auc(alike, scores), float(np.average(alike, weights=weight))
        if method == "platt" or (method == "auto" and n_pairs < ISOTONIC_FROM):
            slope, intercept = _platt(np.asarray(scores, dtype=np.float64), alike, _relative(weight, n_pairs))
            return cls("platt", n_pairs, auc, slope=slope, intercept=intercept, base_rate=base_rate)
        knots, probabilities = _isotonic(np.asarray(scores, dtype=np.float64), alike, _relative(weight, n_pairs))
        knots, probabilities = knots.tolist(), probabilities.tolist()
        return cls(
            "isotonic", n_pairs, auc, scores=tuple(knots), probabilities=tuple(probabilities), base_rate=base_rate
        )

    def probability(self, scores: AnyArray, base_rate: float | None = None) -> DoubleArray:
        """Probability that pairs with these scores are alike.

        Parameters
        ----------
        base_rate : float, optional
            Share of alike pairs among those asked about, where it differs from that of the pairs learned from.
        """
        scores = np.asarray(scores, dtype=np.float64)
        if self.method == "platt":
            found = logistic(self.slope * scores + self.intercept)
        else:
            found = np.interp(scores, self.scores, self.probabilities)
        return found if base_rate is None else self._moved(found, base_rate)

    def _moved(self, probability: DoubleArray, base_rate: float) -> DoubleArray:
        """The same evidence on top of another base rate (Bayes' rule)."""
        check_number("base_rate", base_rate, above=0)
        if base_rate >= 1:
            raise InputError(f"base_rate is a share, between 0 and 1; got {base_rate!r}")
        if self.base_rate is None:
            raise InputError("this calibration does not know the base rate it was learned at; calibrate anew")
        alike = probability * base_rate / self.base_rate
        unlike = (1 - probability) * (1 - base_rate) / (1 - self.base_rate)
        return np.asarray(alike / (alike + unlike))

    @property
    def threshold(self) -> float:
        """The lowest score whose probability reaches one half."""
        if self.method == "platt":
            return 0.0 - self.intercept / self.slope if self.slope > 0 else float(np.copysign(np.inf, -self.intercept))
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
            "base_rate": self.base_rate,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Calibration:
        stored = dict(stored)
        for knots in ("scores", "probabilities"):
            stored[knots] = tuple(stored[knots])
        return cls(**stored)


# Written out because importing scipy.optimize takes longer than a small fit; tests hold both against scikit-learn.


def _relative(weight: AnyArray | None, n_pairs: int) -> DoubleArray:
    """Weights with a mean of 1."""
    given = np.ones(n_pairs) if weight is None else np.asarray(weight, dtype=np.float64)
    return np.asarray(given / given.mean())


def _platt(scores: DoubleArray, alike: BoolArray, weight: DoubleArray) -> tuple[float, float]:
    """Slope and intercept of the logistic map, by maximum likelihood with a unit Gaussian prior on the scaled slope."""
    spread = max(float(np.std(scores)), LEAST_SPREAD)
    columns = np.stack([scores / spread, np.ones(len(scores))], axis=1)
    sign, prior = np.where(alike, 1.0, -1.0), np.diag([1.0, 0.0])

    def loss(weights: DoubleArray) -> float:
        return float(weight @ np.logaddexp(0, -sign * (columns @ weights)) + weights[0] ** 2 / 2)

    weights = np.zeros(2)
    for _ in range(100):
        wrong = logistic(-sign * (columns @ weights))  # probability of the other sign
        gradient = prior @ weights - columns.T @ (weight * sign * wrong)
        step = np.linalg.solve(
            (columns.T * (weight * wrong * (1 - wrong))) @ columns + prior + 1e-12 * np.eye(2), gradient
        )
        while np.abs(step).max() > 1e-9 and loss(weights - step) > loss(weights):
            step /= 2  # Newton's step may be too long far from the optimum
        weights = weights - step
        if np.abs(step).max() <= 1e-9:
            break
    if weights[0] > 0:
        return float(weights[0]) / spread, float(weights[1])
    share = np.average(alike, weights=weight)
    return 0.0, float(np.log(share / (1 - share)))  # a higher score is never less alike


def _isotonic(scores: DoubleArray, alike: BoolArray, weight: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
    """Knots of the closest curve that never falls; equal scores count as one point."""
    points, place = np.unique(scores, return_inverse=True)
    counts = np.bincount(place, weight)
    levels: list[tuple[float, float, int]] = []  # flat stretches: share of alike pairs, weight of pairs, first point
    for point, (share, count) in enumerate(zip(np.bincount(place, alike * weight) / counts, counts, strict=True)):
        level = (float(share), float(count), point)
        while levels and levels[-1][0] >= level[0]:
            share_before, count_before, start = levels.pop()
            together = level[1] + count_before
            level = ((level[0] * level[1] + share_before * count_before) / together, together, start)
        levels.append(level)
    starts = np.array([start for _, _, start in levels])
    knots = np.stack([starts, np.append(starts[1:], len(points)) - 1], axis=1)  # both ends of every stretch
    surest = 1 / (len(scores) + 2)  # a finite sample is never proof
    heights = np.clip([share for share, _, _ in levels], surest, 1 - surest)
    ends, first = np.unique(knots.ravel(), return_index=True)
    return points[ends], np.repeat(heights, 2)[first]


def logistic(x: DoubleArray) -> DoubleArray:
    """``1 / (1 + exp(-x))``, without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0, -x)))


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
