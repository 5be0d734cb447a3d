"""What every kernel returns and what all of them share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from contrastive_fuse.operator import Operator
from contrastive_fuse.types import FloatArray

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
    """``v' T``, single-precision sums of few rows added up in double; what the first step starts from."""
    total = np.zeros(tables.shape[1])
    for start in range(0, len(tables), ROWS_PER_SUM):
        rows = slice(start, start + ROWS_PER_SUM)
        total += np.einsum("i,ij->j", operator.v[rows], tables[rows])
    return total.astype(np.float32)
