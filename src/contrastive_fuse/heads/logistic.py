"""Logistic regression on the representation of a pair: the paper's linear probe.

On concatenated vectors it is linear in each side, so it cannot see whether the two are alike: it can only tell from
either node alone how often pairs with such a node are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from contrastive_fuse.heads.base import Callback, PairHead, Problem, in_blocks
from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.heads.representation import REPRESENTATIONS
from contrastive_fuse.types import AnyArray, FloatArray


class LogisticHead(PairHead):
    """Scikit-learn's logistic regression; of several strengths of the penalty, the best on held-out pairs."""

    def learn(self, problem: Problem, settings: Settings, rng: np.random.Generator, callback: Callback | None) -> None:
        from sklearn.linear_model import LogisticRegression

        scale = float(np.sqrt(np.mean(problem.vectors**2))) if settings.rescale else 1.0
        self.rows_: FloatArray = problem.vectors / np.float32(scale or 1.0)
        self.parts_ = REPRESENTATIONS[settings.representation].parts
        columns = self._columns(problem.train.first, problem.train.second)
        held_out = problem.held_out
        best = -np.inf
        for penalty in settings.penalties:
            model: Any = LogisticRegression(C=penalty, max_iter=1000, tol=1e-3)
            model.fit(columns, problem.train.y, sample_weight=problem.train.weight)
            weights = (model.coef_[0].astype(np.float32), float(model.intercept_[0]))
            gain = 0.0
            if held_out is not None:
                margin = self._margins(weights, held_out.first, held_out.second) * held_out.y
                gain = -float(np.logaddexp(0, -margin.astype(np.float64)).mean())
            if gain > best:
                best, self.weights_ = gain, weights

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Log odds, (n,)."""
        return in_blocks(lambda a, b: self._margins(self.weights_, a, b), first, second)

    def memory_estimate(self, n_nodes: int, n_components: int, n_edges: int, n_pairs: int) -> int:
        return 3 * 8 * n_pairs * 2 * n_components  # scikit-learn works in double precision

    def _columns(self, first: Any, second: Any) -> FloatArray:
        return np.concatenate(self.parts_(self.rows_[first], self.rows_[second]), axis=1)

    def _margins(self, weights: tuple[FloatArray, float], first: Any, second: Any) -> FloatArray:
        return np.asarray(self._columns(first, second) @ weights[0] + np.float32(weights[1]))
