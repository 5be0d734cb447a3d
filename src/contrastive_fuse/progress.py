"""What a solve reports while it runs and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from contrastive_fuse.types import FloatArray


class Progress(NamedTuple):
    """What a callback is told after every iteration."""

    stage: str
    iteration: int
    max_iter: int
    change: float
    gain: float


Callback = Callable[[Progress], object]


@dataclass
class SolveResult:
    """Where the loop ended, and how it got there.

    Attributes
    ----------
    rows : (n, k) float32
    change : list of float, root mean square move of a row in each iteration
    gain : list of float, what the objective raises, before each iteration
    converged : bool, whether the change fell below ``tol``
    seconds : float
    """

    rows: FloatArray
    change: list[float] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    converged: bool = False
    seconds: float = 0.0

    @property
    def n_iter(self) -> int:
        return len(self.change)
