"""Scoring pairs of nodes by their vectors, in metric-learn's sense: a higher score means more alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from contrastive_fuse.calibration import Calibration, Method, Strategy, best_threshold
from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.ids import Column, NodeIds
from contrastive_fuse.metrics import roc_auc
from contrastive_fuse.pairs import SignedPairs, check_signs, pair_columns, raise_unknown
from contrastive_fuse.types import AnyArray, DoubleArray, FloatArray, LongArray, SignArray

PAIRS_AT_ONCE = 1 << 15


def row_cosines(rows: FloatArray, first: Any, second: Any) -> FloatArray:
    """Cosine of pairs of unit rows, a block at a time so that memory stays small."""
    scores = np.empty(len(first), dtype=np.float32)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        block = slice(start, start + PAIRS_AT_ONCE)
        np.einsum("ij,ij->i", rows[first[block]], rows[second[block]], out=scores[block])
    return scores


class PairScorer(ABC):
    """What everything fitted can tell about pairs of nodes, once it can score the pairs of two columns of rows.

    Pairs are (n, 2) arrays of node ids, two-column tables, lists of pairs or `SignedPairs`.
    """

    ids_: NodeIds
    calibration_: Calibration | None
    threshold_: float

    @abstractmethod
    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Score of the pairs of nodes with these rows, (n,); higher is more alike."""

    def pair_score(self, pairs: Any) -> FloatArray:
        """Score of each pair, (n,); higher is more alike."""
        self._check_fitted()
        first, second = self._rows(pairs)
        return self.score_rows(first, second)

    def decision_function(self, pairs: Any) -> FloatArray:
        """The pair score; pairs from ``threshold_`` on are called alike."""
        return self.pair_score(pairs)

    def predict(self, pairs: Any) -> SignArray:
        """+1 for pairs called alike, -1 for the others."""
        return np.where(self.decision_function(pairs) >= self.threshold_, 1, -1).astype(np.int8)

    def predict_proba(self, pairs: Any, base_rate: float | None = None) -> DoubleArray:
        """Probability of being unlike and of being alike, (n, 2), columns in the order of ``classes_``.

        Parameters
        ----------
        base_rate : float, optional
            Share of alike pairs among those asked about. By default that of the pairs learned from.
        """
        self._check_fitted()
        if self.calibration_ is None:
            raise InputError("there are no probabilities without calibration: fit with pairs of both signs, or call"
                             " calibrate(pairs, y)")  # fmt: skip
        alike = self.calibration_.probability(self.pair_score(pairs), base_rate)
        return np.stack([1 - alike, alike], axis=1)

    @property
    def classes_(self) -> SignArray:
        """Unlike and alike, as `predict_proba` orders them."""
        return np.array([-1, 1], dtype=np.int8)

    def score(self, pairs: Any, y: Any = None) -> float:
        """Area under the ROC curve of the pair score."""
        return roc_auc(self._signs(pairs, y), self.pair_score(pairs))

    def calibrate(self, pairs: Any, y: Any = None, method: Method = "auto") -> Self:
        """Learn probabilities and threshold anew from held-out pairs."""
        self.calibration_ = Calibration.learn(self.pair_score(pairs), self._signs(pairs, y), method)
        self.threshold_ = self.calibration_.threshold
        return self

    def calibrate_threshold(self, pairs: Any, y: Any = None, strategy: Strategy = "accuracy") -> Self:
        """Choose the threshold of `predict` that does best on held-out pairs.

        Parameters
        ----------
        strategy : {"accuracy", "balanced_accuracy", "f1"}
        """
        self.threshold_ = best_threshold(self.pair_score(pairs), self._signs(pairs, y), strategy)
        return self

    def set_threshold(self, threshold: float) -> Self:
        """Set the score from which `predict` says alike."""
        self.threshold_ = check_number("threshold", threshold)
        return self

    def most_similar(self, node: Any, n: int = 10) -> tuple[list[Any], DoubleArray]:
        """The nodes most alike to a node: their ids, and the probability (the score, where there is none) of each."""
        self._check_fitted()
        row = int(self.ids_.rows(Column.of([node]))[0])
        if row < 0:
            raise InputError(f"the node {node!r} is not in the model")
        check_integer("n", n, at_least=1)
        others = np.delete(np.arange(len(self.ids_)), row)
        scores = np.asarray(self.score_rows(np.full(len(others), row), others), dtype=np.float64)
        best = np.argsort(-scores, kind="stable")[:n]
        told = scores[best] if self.calibration_ is None else self.calibration_.probability(scores[best])
        return self.ids_.column().take(others[best]).to_list(), told

    def _rows(self, pairs: Any) -> tuple[LongArray, LongArray]:
        columns = pair_columns(pairs)
        first, second = (self.ids_.rows(column) for column in columns)
        for column, rows in zip(columns, (first, second), strict=True):
            if (rows < 0).any():
                raise_unknown(column, rows < 0, int(((first < 0) | (second < 0)).sum()))
        return first, second

    def _signs(self, pairs: Any, y: Any) -> SignArray:
        if y is None and isinstance(pairs, SignedPairs):
            return pairs.y
        return check_signs(y, len(pairs))

    def _check_fitted(self) -> None:
        if not hasattr(self, "ids_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
