"""The graph: a validated, symmetric sparse adjacency with node ids. The only place where a graph is validated.

The rule for untidy input, counted in `Graph.report`:

- an edge has no direction: (a, b) and (b, a) name the same edge;
- an edge named several times is one edge, with the largest of its weights, or their sum (``repeats="sum"``);
- an edge from a node to itself, or with weight zero, is left out (its node stays);
- nodes without edges are normal: they keep their row.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from contrastive_fuse.errors import InputError, check_choice, check_integer, counted, first_few
from contrastive_fuse.ids import Column, NodeIds, factorize
from contrastive_fuse.sparse import SparseRows, permuted_rows, symmetric_rows
from contrastive_fuse.types import AnyArray, DoubleArray, FloatArray, IntArray, LongArray

if TYPE_CHECKING:
    import scipy.sparse as sp

Repeats = Literal["max", "sum"]
MAX_NODES = np.iinfo(np.int32).max


@dataclass(frozen=True)
class GraphReport:
    """What was read, and what was done to it."""

    rows_read: int
    n_nodes: int
    n_edges: int
    isolated_nodes: int
    self_loops_left_out: int
    zero_weights_left_out: int
    repeats_folded: int
    both_directions_listed: bool
    weighted: bool
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The report as sentences for a person."""
        edges = counted(self.n_edges, "weighted edge" if self.weighted else "edge")
        text = [f"{counted(self.n_nodes, 'node')}, {edges}"]
        if self.both_directions_listed:
            text.append("every edge was listed in both directions; each counts once")
        elif self.repeats_folded:
            text.append(f"{counted(self.repeats_folded, 'row')} repeated an edge; it counts once")
        if self.self_loops_left_out:
            text.append(f"{counted(self.self_loops_left_out, 'self-loop')} left out")
        if self.zero_weights_left_out:
            text.append(f"{counted(self.zero_weights_left_out, 'edge')} of weight zero left out")
        if self.isolated_nodes:
            text.append(f"{counted(self.isolated_nodes, 'node')} without an edge")
        return [*text, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> GraphReport:
        return cls(**{**stored, "notes": tuple(stored["notes"])})


class Graph:
    """An undirected graph with non-negative edge weights and ids for its nodes.

    Make one with `Graph.from_edges`, `Graph.from_adjacency`, `contrastive_fuse.as_graph` (NetworkX, igraph, PyTorch
    Geometric, tables, arrays) or `contrastive_fuse.read_graph` (files).

    Attributes
    ----------
    indptr : (n + 1,) int64
    indices : (2 m,) int32
    weights : (2 m,) float32, or None where every edge weighs 1
    ids : NodeIds, in row order
    report : GraphReport
    """

    def __init__(self, rows: SparseRows, ids: NodeIds, report: GraphReport) -> None:
        self.indptr, self.indices, self.weights = rows
        self.ids = ids
        self.report = report

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        nodes: Any = None,
        repeats: Repeats = "max",
    ) -> Graph:
        """Build a graph from two columns of node ids.

        Parameters
        ----------
        source, target : (n_rows,) columns of node ids: array, list, pandas / Polars / Arrow column
        weight : (n_rows,) numbers, optional
        nodes : int or sequence of ids, optional
            All nodes, in the wanted row order; needed where some have no edge. A count n stands for 0..n-1. By
            default the nodes are the ids that occur.
        repeats : {"max", "sum"}
            The weight of an edge that several rows name.
        """
        left, right = Column.of(source), Column.of(target)
        if len(left) != len(right):
            raise InputError(f"source and target must be equally long; got {len(left):,} and {len(right):,}")
        if nodes is None:
            ids, (first, second) = factorize(left, right)
        else:
            ids = nodes if isinstance(nodes, NodeIds) else NodeIds(_node_count(nodes))
            first, second = (_known_rows(ids, column) for column in (left, right))
        return cls._build(first, second, _check_weights(weight, len(left)), ids, repeats)

    @classmethod
    def from_adjacency(cls, matrix: Any, ids: Any = None, *, repeats: Repeats = "max") -> Graph:
        """Build a graph from a SciPy sparse (or dense NumPy) adjacency matrix.

        A symmetric matrix is taken as it is. In any other, every stored entry is an edge whose direction is dropped.
        """
        import scipy.sparse as sp

        matrix = sp.coo_array(matrix)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"an adjacency matrix must be square; got shape {matrix.shape}")
        names = NodeIds(matrix.shape[0] if ids is None else ids)
        if len(names) != matrix.shape[0]:
            raise InputError(f"{len(names):,} ids were given for an adjacency matrix of {matrix.shape[0]:,} nodes")
        first, second = matrix.coords
        weight = _check_weights(None if matrix.dtype == bool else matrix.data, matrix.nnz)
        if repeats == "sum" and (abs(matrix - matrix.T)).nnz == 0:
            repeats = "max"  # both triangles of a symmetric matrix tell of the same edge
        return cls._build(first, second, weight, names, repeats)

    @classmethod
    def _build(
        cls, first: AnyArray, second: AnyArray, weight: FloatArray | None, ids: NodeIds, repeats: Repeats
    ) -> Graph:
        check_choice("repeats", repeats, ("max", "sum"))
        if len(ids) > MAX_NODES:
            raise InputError(f"at most {MAX_NODES:,} nodes are possible; got {len(ids):,}")
        rows_read = len(first)
        zeros = 0
        if weight is not None:
            keep = weight > 0
            zeros = rows_read - int(np.count_nonzero(keep))
            if zeros:
                first, second, weight = first[keep], second[keep], weight[keep]
            if not zeros and repeats == "max" and np.all(weight == 1):
                weight = None
        first, second = first.astype(np.int32, copy=False), second.astype(np.int32, copy=False)
        loops = int(np.count_nonzero(first == second))
        forward = int(np.count_nonzero(first < second))
        rows = symmetric_rows(first, second, weight, len(ids), add_repeats=repeats == "sum")
        n_edges = len(rows.indices) // 2
        report = GraphReport(
            rows_read=rows_read,
            n_nodes=len(ids),
            n_edges=n_edges,
            isolated_nodes=int(np.count_nonzero(np.diff(rows.indptr) == 0)),
            self_loops_left_out=loops,
            zero_weights_left_out=zeros,
            repeats_folded=rows_read - zeros - loops - n_edges,
            both_directions_listed=n_edges > 0 and forward == n_edges == rows_read - zeros - loops - forward,
            weighted=rows.values is not None,
        )
        return cls(rows, ids, report)

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        return len(self.indices) // 2

    @property
    def is_weighted(self) -> bool:
        return self.weights is not None

    @cached_property
    def degrees(self) -> DoubleArray:
        """Sum of the weights of each node's edges, (n,) float64."""
        counts = np.diff(self.indptr)
        if self.weights is None:
            return counts.astype(np.float64)
        sums = np.zeros(self.n_nodes)
        occupied = np.flatnonzero(counts)
        if len(occupied):
            sums[occupied] = np.add.reduceat(self.weights, self.indptr[occupied], dtype=np.float64)
        return sums

    @property
    def adjacency(self) -> sp.csr_array:
        """The adjacency as a SciPy CSR array of float32."""
        import scipy.sparse as sp

        values = self.weights
        if values is None:
            values = np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def with_ids(self, ids: Any) -> Graph:
        """The same graph with other names for its nodes, in row order."""
        names = ids if isinstance(ids, NodeIds) else NodeIds(ids)
        if len(names) != self.n_nodes:
            raise InputError(f"{len(names):,} ids were given for a graph of {self.n_nodes:,} nodes")
        return Graph(SparseRows(self.indptr, self.indices, self.weights), names, self.report)

    def reordered(self, order: IntArray, n_jobs: int | None = None) -> Graph:
        """The same graph with its rows in another order, ids with them: row i is what row ``order[i]`` was."""
        rows = permuted_rows(SparseRows(self.indptr, self.indices, self.weights), order, n_jobs)
        return Graph(rows, self.ids.take(order), self.report)

    def edges(self) -> tuple[IntArray, IntArray]:
        """Rows of the two ends of every edge, each edge once, first < second."""
        first = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.indptr))
        once = first < self.indices
        return first[once], self.indices[once]

    def __repr__(self) -> str:
        kind = ", weighted" if self.is_weighted else ""
        return f"Graph({counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')}{kind})"


def _node_count(nodes: Any) -> Any:
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        return check_integer("nodes", int(nodes), at_least=0)
    return nodes


def _known_rows(ids: NodeIds, column: Column) -> LongArray:
    rows = ids.rows(column)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        named = first_few(column.take(unknown[:5]).to_list(), len(unknown))
        raise InputError(f"the edges name {counted(len(unknown), 'node')} not among the given nodes: {named}")
    return rows


def _check_weights(weight: Any, n_rows: int) -> FloatArray | None:
    if weight is None:
        return None
    try:
        values = np.asarray(weight, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"edge weights must be numbers: {error}") from None
    if values.shape != (n_rows,):
        raise InputError(f"there must be one weight for each of the {n_rows:,} edges; got shape {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise InputError(
            f"edge weights must be finite and not negative; {len(bad):,} are not, the first in row {bad[0]}"
            f" ({values[bad[0]]:g}). Pairs that are unlike belong into the pairs, not into the edges"
        )
    return values
