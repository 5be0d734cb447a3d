"""What every kernel returns and what all of them share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from contrastive_fuse.operator import Operator
from contrastive_fuse.types import DoubleArray, FloatArray

VECTOR = 16  # floats in a cache line, and in the widest vector register
ROWS_PER_SUM = 1024


def padded_width(n_columns: int) -> int:
    """The row width that kernels work with: 1, 2, 4, 8 or a multiple of 16 floats."""
    for width in (1, 2, 4, 8):
        if n_columns <= width:
            return width
    return -(-n_columns // VECTOR) * VECTOR


class Step(NamedTuple):
    """What one iteration reports besides the new rows.

    Attributes
    ----------
    change : float
        Root mean square distance between a row and its successor.
    gain : float
        ``tr S' (M T - u v' T)`` of the state the step started from: what an objective with T = S raises.
    null_sum : (k,) float32
        ``v' T`` of the new state where T = S (the next step starts from it), else empty.
    """

    change: float
    gain: float
    null_sum: FloatArray


def null_sum(operator: Operator, tables: FloatArray) -> FloatArray:
    """``v' T``; what the first step starts from."""
    return weighted_sum(operator.v, tables).astype(np.float32)


def weighted_sum(weights: FloatArray, rows: FloatArray) -> DoubleArray:
    """Sum of the rows, each times its weight: single-precision sums of few rows added up in double."""
    total = np.zeros(rows.shape[1])
    _add_weighted(weights, rows, total)
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def _add_weighted(weights, rows, total):  # type: ignore[no-untyped-def]
    part = np.empty(rows.shape[1], dtype=np.float32)
    for start in range(0, len(rows), ROWS_PER_SUM):
        part[:] = 0
        for row in range(start, min(start + ROWS_PER_SUM, len(rows))):
            weight = weights[row]
            if weight != 0:
                for column in range(rows.shape[1]):
                    part[column] += weight * rows[row, column]
        for column in range(rows.shape[1]):
            total[column] += part[column]
