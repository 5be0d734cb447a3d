"""The cosine of the two vectors, calibrated: nothing is learned but how it becomes a probability."""

from __future__ import annotations

import numpy as np

from contrastive_fuse.calibration import Calibration
from contrastive_fuse.heads.base import Callback, PairHead, Problem
from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.scoring import row_cosines
from contrastive_fuse.types import AnyArray, FloatArray


class CosineHead(PairHead):
    """Pairs are alike from the cosine on where training pairs are as often alike as not; presets make no difference."""

    trains = False

    def learn(self, problem: Problem, settings: Settings, rng: np.random.Generator, callback: Callback | None) -> None:
        lengths = np.linalg.norm(problem.vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        self.rows_: FloatArray = np.divide(problem.vectors, lengths, dtype=np.float32)
        pairs = problem.train
        self.map_ = Calibration.learn(
            row_cosines(self.rows_, pairs.first, pairs.second), pairs.y, "platt", pairs.weight
        )

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Log odds that follow from the cosine, (n,)."""
        cosines = row_cosines(self.rows_, first, second)
        return (self.map_.slope * cosines + self.map_.intercept).astype(np.float32)
