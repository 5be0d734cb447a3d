"""Array types used throughout."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
SignArray = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Seed = int | np.integer[Any] | np.random.Generator | None
