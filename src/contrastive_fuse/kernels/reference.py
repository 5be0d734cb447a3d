"""The readable kernel: NumPy and SciPy, written to be checked against, not to be fast."""

from __future__ import annotations

import numpy as np

from contrastive_fuse.kernels.contract import Step, null_sum
from contrastive_fuse.operator import Operator
from contrastive_fuse.projection import Projection
from contrastive_fuse.types import FloatArray


def step(
    operator: Operator,
    state: FloatArray,
    out: FloatArray,
    null: FloatArray,
    *,
    projection: Projection,
    tables: FloatArray | None = None,
    n_jobs: int | None = None,
) -> Step:
    """One iteration, as the formula says."""
    stacked = state if tables is None else tables
    gradient = operator.matrix @ stacked - np.outer(operator.u, null)
    out[:] = projection.apply(gradient + np.float32(operator.shift) * state, state)
    change = float(np.sqrt(np.mean(np.sum((out - state) ** 2, axis=1, dtype=np.float64))))
    gain = float(np.sum(gradient * state, dtype=np.float64))
    return Step(change, gain, null_sum(operator, out) if tables is None else np.empty(0, np.float32))


def combine(
    operator: Operator, state: FloatArray, tables: FloatArray, out: FloatArray, *, n_jobs: int | None = None
) -> None:
    """``M T + c S`` without rank-one term and projection."""
    out[:] = operator.matrix @ tables + np.float32(operator.shift) * state
