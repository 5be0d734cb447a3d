"""From what the members say of a pair to the log-odds that it is alike: a mixture learned on pairs they have not seen.

    log-odds  =  sum_m ((1 - c) a_m + c b_m) x_m  +  (1 - c) a_0 + c b_0

``x_m`` is what member m says, c the mean evidence on the two nodes: what to trust depends on how much the pairs tell of
them. Weights are not negative and are drawn towards fixed ones, so that few pairs move them little. Some of the
held-out pairs are wrong themselves: with a share e of wrong ones a pair given as alike has the probability
``(1 - e) p + e (1 - p)``, and the weights maximise the likelihood of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from contrastive_fuse.calibration import logistic
from contrastive_fuse.latent.members import COLUMNS
from contrastive_fuse.types import AnyArray, DoubleArray

EXPECTED = (1.0, 2.0, 0.15, 0.15, 0.25, 0.25)  # weights of the members where nothing is known
EXPECTED_SPREAD = (2.0, 3.0, 0.4, 0.4, 0.4, 0.4)
BASE, BASE_SPREAD = -2.0, 3.0
STRENGTH = 3.0  # of the draw towards the expected weights
ITERATIONS = 200
SUREST_SHARES = (0.2, 0.1, 0.05, 0.02)  # of the held-out pairs: where these are wrong, it is rather the pair that is
REDUNDANT = (2.0, 4.0)  # pairs a touched node: below the first a wrong pair cannot be told from a wrong node


@dataclass(frozen=True)
class Noise:
    """Share of wrong pairs, with bounds of about 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Readout:
    """Weights of the mixture.

    Attributes
    ----------
    cold, warm : tuples of 7 floats, weights of the members and the constant, without and with full evidence
    noise : Noise
    n_pairs : int, held-out pairs the weights were learned from
    """

    cold: tuple[float, ...]
    warm: tuple[float, ...]
    noise: Noise
    n_pairs: int

    @classmethod
    def learn(
        cls, columns: DoubleArray, evidence: DoubleArray, y: AnyArray, weight: AnyArray | None, pairs_a_node: float
    ) -> Readout:
        """Weights and noise from held-out pairs."""
        design = _design(columns, evidence)
        alike = np.asarray(y) > 0
        counts = np.ones(len(alike)) if weight is None else np.asarray(weight, dtype=np.float64) / np.mean(weight)
        first = _fit(design, alike, counts, 0.0)
        noise = _noise(design @ first, alike, pairs_a_node)
        weights = first if noise.value == 0 else _fit(design, alike, counts, noise.value)
        half = len(weights) // 2
        return cls(tuple(weights[:half].tolist()), tuple(weights[half:].tolist()), noise, len(alike))

    def log_odds(self, columns: DoubleArray, evidence: DoubleArray) -> DoubleArray:
        """Log-odds that pairs are alike, (n_pairs,)."""
        return np.asarray(_design(columns, evidence) @ np.array([*self.cold, *self.warm]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"members": list(COLUMNS), **asdict(self), "cold": list(self.cold), "warm": list(self.warm)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Readout:
        return cls(tuple(stored["cold"]), tuple(stored["warm"]), Noise(**stored["noise"]), stored["n_pairs"])


def _design(columns: DoubleArray, evidence: DoubleArray) -> DoubleArray:
    whole = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    return np.concatenate([whole * (1 - evidence)[:, None], whole * evidence[:, None]], axis=1)


def _fit(design: DoubleArray, alike: AnyArray, counts: DoubleArray, noise: float) -> DoubleArray:
    """Most likely weights under the prior, none negative but the constants: Fisher scoring on those not at zero."""
    prior, spread = np.array([*EXPECTED, BASE] * 2), np.array([*EXPECTED_SPREAD, BASE_SPREAD] * 2)
    penalty = STRENGTH / spread**2
    bounded = np.array(([True] * len(EXPECTED) + [False]) * 2)

    def loss(weights: DoubleArray) -> float:
        given = noise + (1 - 2 * noise) * logistic(design @ weights)
        likelihood = counts @ np.log(np.maximum(np.where(alike, given, 1 - given), 1e-300))
        return float(penalty @ (weights - prior) ** 2 / 2 - likelihood)

    weights, value = prior.copy(), loss(prior)
    for _ in range(ITERATIONS):
        chance = logistic(design @ weights)
        given = np.clip(noise + (1 - 2 * noise) * chance, 1e-12, 1 - 1e-12)
        slope = (1 - 2 * noise) * chance * (1 - chance)
        gradient = penalty * (weights - prior) - design.T @ (counts * slope * (alike / given - ~alike / (1 - given)))
        free = ~bounded | (weights > 0) | (gradient < 0)
        curvature = (design.T * (counts * slope**2 / (given * (1 - given)))) @ design + np.diag(penalty)
        move = np.zeros_like(weights)
        move[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        length = 1.0
        while length > 1e-6:
            tried = weights - length * move
            tried[bounded] = np.maximum(tried[bounded], 0)
            lower = loss(tried)
            if lower < value:
                break
            length /= 2
        else:
            break
        gain, weights, value = value - lower, tried, lower
        if gain < 1e-7 * (1 + abs(value)):
            break
    return weights


def _noise(log_odds: DoubleArray, alike: AnyArray, pairs_a_node: float) -> Noise:
    """Share of wrong pairs, from how often the surest judgements of held-out pairs are contradicted.

    A judgement may be wrong itself, the less so the surer it is; so of several shares of the surest that one counts
    whose upper bound is lowest. Where most nodes are in few pairs the estimate counts only in part, because there a
    wrong judgement looks like a wrong pair; the upper bound still tells of it.
    """
    order = np.argsort(-np.abs(log_odds), kind="stable")
    wrong = np.cumsum((log_odds[order] > 0) != alike[order])
    counts = [max(1, round(share * len(order))) for share in SUREST_SHARES]
    total = min(counts, key=lambda count: _wilson(int(wrong[count - 1]), count)[1])
    found = int(wrong[total - 1])
    told = float(np.clip((pairs_a_node - REDUNDANT[0]) / (REDUNDANT[1] - REDUNDANT[0]), 0, 1))
    low, high = _wilson(found, total)
    return Noise(min(told * found / total, 0.45), min(told * low, 0.45), min(high, 0.5))


def _wilson(count: int, total: int, z: float = 1.96) -> Sequence[float]:
    """Bounds of a share (Wilson 1927)."""
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * np.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return float(max(middle - half, 0.0)), float(middle + half)
