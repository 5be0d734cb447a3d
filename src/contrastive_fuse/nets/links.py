"""The edges of a graph as graph layers want them: weighted rows, whole, in slabs, or sampled around some nodes."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from contrastive_fuse.graph import Graph
from contrastive_fuse.types import FloatArray, IntArray, LongArray

Weighting = Literal["symmetric", "mean", "edges"]


class Links(NamedTuple):
    """Rows of incoming edges with a weight each.

    Attributes
    ----------
    indptr : (n + 1,) int64
    indices : (nnz,) int32
    values : (nnz,) float32
    weighting : "symmetric" D^-1/2 (A + I) D^-1/2, "mean" D^-1 A, or "edges" A + I without weights
    """

    indptr: LongArray
    indices: IntArray
    values: FloatArray
    weighting: Weighting

    @classmethod
    def of(cls, graph: Graph, weighting: Weighting) -> Links:
        import scipy.sparse as sp

        matrix = graph.adjacency
        if weighting != "mean":
            matrix = sp.csr_array(matrix + sp.eye_array(graph.n_nodes, dtype=np.float32))
        degrees = np.asarray(matrix.sum(axis=1)).ravel()
        rows = np.repeat(np.arange(graph.n_nodes), np.diff(matrix.indptr))
        if weighting == "symmetric":
            values = matrix.data / np.sqrt(degrees[rows] * degrees[matrix.indices])
        else:
            values = matrix.data / np.where(degrees > 0, degrees, 1)[rows]
        return cls(
            matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), values.astype(np.float32), weighting
        )

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def tensor(self, device: Any, start: int = 0, stop: int | None = None, n_columns: int | None = None) -> Tensor:
        """Rows from ``start`` to ``stop`` as torch wants them: a CSR matrix, or (2, nnz) source and target rows."""
        stop = self.n_rows if stop is None else stop
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        part = slice(self.indptr[start], self.indptr[stop])
        columns = torch.from_numpy(self.indices[part].astype(np.int64))
        if self.weighting == "edges":
            targets = torch.from_numpy(np.repeat(np.arange(stop - start), np.diff(indptr)))
            return torch.stack([columns, targets]).to(device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the sparse tensors of torch are young
            matrix = torch.sparse_csr_tensor(
                torch.from_numpy(indptr), columns, torch.from_numpy(self.values[part]),
                size=(stop - start, self.n_rows if n_columns is None else n_columns), check_invariants=False,
            )  # fmt: skip
        return matrix.to(device)

    def around(
        self, nodes: LongArray, hops: int, fanout: int, rng: np.random.Generator
    ) -> tuple[LongArray, LongArray, Links]:
        """A sample of the edges that lead to some nodes in a number of hops.

        Where a node has more than ``fanout`` incoming edges, so many are drawn, and weigh more in return.

        Returns
        -------
        members : rows of all nodes of the sample
        place : where in ``members`` the given nodes are
        links : Links among the members
        """
        members = np.unique(nodes)
        edges: list[tuple[LongArray, LongArray, FloatArray]] = []
        reached = np.zeros(self.n_rows, dtype=bool)
        reached[members] = True
        frontier = members
        for _ in range(hops):
            target, source, value = self._draw(frontier, fanout, rng)
            edges.append((target, source, value))
            fresh = np.unique(source[~reached[source]])
            reached[fresh] = True
            members, frontier = np.concatenate([members, fresh]), fresh
        position = np.full(self.n_rows, -1, dtype=np.int64)
        position[members] = np.arange(len(members))
        target, source, value = (np.concatenate(column) for column in zip(*edges, strict=True))
        order = np.argsort(position[target], kind="stable")
        indptr = np.zeros(len(members) + 1, dtype=np.int64)
        np.cumsum(np.bincount(position[target], minlength=len(members)), out=indptr[1:])
        sampled = Links(indptr, position[source[order]].astype(np.int32), value[order], self.weighting)
        return members, position[nodes], sampled

    def _draw(self, nodes: LongArray, fanout: int, rng: np.random.Generator) -> tuple[LongArray, LongArray, FloatArray]:
        """Target, source and weight of at most ``fanout`` incoming edges of each node."""
        degree = self.indptr[nodes + 1] - self.indptr[nodes]
        count = np.minimum(degree, fanout)
        entry = np.repeat(self.indptr[nodes], count)
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        many = np.repeat(degree > fanout, count)
        drawn = (rng.random(len(within)) * np.repeat(degree, count)).astype(np.int64)
        entry += np.where(many, drawn, within)
        scale = np.repeat(degree / np.maximum(count, 1), count).astype(np.float32)
        return np.repeat(nodes, count), self.indices[entry].astype(np.int64), self.values[entry] * scale
