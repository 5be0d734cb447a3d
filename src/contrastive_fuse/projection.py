"""Projections: what brings every row back to where it must lie after a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from contrastive_fuse.types import FloatArray


@dataclass(frozen=True)
class Projection:
    """A map of rows to their constraint set.

    Attributes
    ----------
    name : str
        Kernels may know a projection by name and fuse it into their step.
    apply : callable
        ``apply(candidate, previous)`` returns the new rows; both (n, k) float32.
    """

    name: str
    apply: Callable[[FloatArray, FloatArray], FloatArray]


def _unit(candidate: FloatArray, previous: FloatArray) -> FloatArray:
    norms = np.sqrt(np.einsum("ij,ij->i", candidate, candidate))[:, None]
    return np.where(norms > 0, candidate / np.where(norms > 0, norms, 1), previous)


UNIT_ROWS = Projection("unit", _unit)
"""Rows of length one; a row that a step brings to zero stays as it was."""
