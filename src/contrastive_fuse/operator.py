"""The one iteration that every objective comes down to.

    S  <-  project( M T  -  u (v' T)  +  c S )

``M`` is sparse, ``u v'`` a rank-one correction, ``c`` a scalar. ``T`` is ``S`` itself, or several tables computed from
``S`` and stacked (then ``M`` has as many column blocks).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from contrastive_fuse.types import FloatArray, IntArray, LongArray

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True)
class Operator:
    """Coefficients of one iteration over n rows and t stacked tables.

    Attributes
    ----------
    indptr : (n + 1,) int64
    indices : (nnz,) int32, columns of M, below t * n; a column may occur twice in a row, its values then add up
    values : (nnz,) float32
    u : (n,) float32
    v : (t * n,) float32
    shift : float, the scalar c
    """

    indptr: LongArray
    indices: IntArray
    values: FloatArray
    u: FloatArray
    v: FloatArray
    shift: float

    @property
    def n_rows(self) -> int:
        return len(self.u)

    @property
    def n_columns(self) -> int:
        return len(self.v)

    @cached_property
    def matrix(self) -> sp.csr_array:
        """M as a SciPy CSR array."""
        import scipy.sparse as sp

        shape = (self.n_rows, self.n_columns)
        return sp.csr_array((self.values, self.indices, self.indptr), shape=shape)
