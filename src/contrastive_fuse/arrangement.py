"""How a fit numbers the nodes while it works: so that neighbours lie close together in memory, where that pays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contrastive_fuse.graph import Graph
from contrastive_fuse.kernels.contract import padded_width
from contrastive_fuse.ordering import locality_order, worth_ordering
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.rows import aligned_rows, take_rows
from contrastive_fuse.sparse import SparseRows, inverse_order
from contrastive_fuse.types import FloatArray, IntArray


@dataclass(frozen=True)
class Arrangement:
    """A working order of the nodes, and the way there and back.

    Attributes
    ----------
    order : (n,) int32 or None
        Working row i is given row ``order[i]``; None where nodes stay as given.
    place : (n,) int32 or None, the inverse
    """

    order: IntArray | None
    place: IntArray | None
    n_jobs: int | None = None

    @classmethod
    def for_graph(cls, graph: Graph, n_components: int, n_jobs: int | None = None) -> Arrangement:
        """An order found from the edges, if the rows exceed the caches."""
        edges = SparseRows(graph.indptr, graph.indices, graph.weights)
        bytes_per_row = 4 * padded_width(n_components)
        if not worth_ordering(edges, bytes_per_row):
            return cls(None, None)
        order = locality_order(edges, bytes_per_row)
        return cls(order, inverse_order(order), n_jobs)

    def graph(self, graph: Graph) -> Graph:
        return graph if self.order is None else graph.reordered(self.order, self.n_jobs)

    def pairs(self, pairs: PairRows | None) -> PairRows | None:
        return pairs if self.place is None or pairs is None else pairs.renumbered(self.place)

    def inward(self, rows: FloatArray) -> FloatArray:
        """Rows in the given order, as they are or in working order."""
        if self.order is None:
            return rows
        return take_rows(rows, self.order, aligned_rows(*rows.shape), self.n_jobs)

    def outward(self, rows: FloatArray) -> FloatArray:
        """Rows in working order, in the given one and without padding between them."""
        if self.place is None:
            return np.ascontiguousarray(rows)
        return take_rows(rows, self.place, np.empty(rows.shape, dtype=np.float32), self.n_jobs)
