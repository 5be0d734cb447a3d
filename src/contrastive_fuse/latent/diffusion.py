"""What one node knows, spread over the graph: truncated personalised PageRank, as affine steps of one operator.

    Y  <-  M Y  +  c X,   repeated

With ``M = keep D^-1/2 A D^-1/2`` and ``c = 1 - keep`` this sums the walks of every length, each step weighing ``keep``.
"""

from __future__ import annotations

import numpy as np

from contrastive_fuse.graph import Graph
from contrastive_fuse.kernels import get_combine
from contrastive_fuse.objective import pair_scale
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.progress import Callback
from contrastive_fuse.projection import UNIT_ROWS
from contrastive_fuse.rows import aligned_copy, aligned_rows, random_rows
from contrastive_fuse.solver import solve
from contrastive_fuse.sparse import Links, SparseRows, stack_scaled
from contrastive_fuse.types import DoubleArray, FloatArray, IntArray, LongArray

SMOOTHING, SMOOTHING_STEPS = 0.8, 8  # of rows over the graph, and of pairs before rows are learned from them
SETTLING, SETTLING_STEPS = 0.9, 30
OWN_SHARE, HALFWAY = 0.3, 1.0  # a node of many pairs keeps this share of its own posterior, with one pair half of that
PRIOR = 0.02  # of the groups' sizes in settled posteriors: certainty fades with the distance from evidence
PAIR_STRENGTH = 10.0  # of diffused pairs against the edges
DIFFUSED_WIDTH = 32
DIFFUSED_ITERATIONS = 40


def spread(operator: Operator, given: FloatArray, steps: int, kernel: str, n_jobs: int | None) -> FloatArray:
    """``Y <- M Y + c X`` so many times from ``Y = X``; rows in the layout of `aligned_rows`."""
    combine = get_combine(kernel)
    one, two, current = aligned_rows(*given.shape), aligned_rows(*given.shape), given
    for step in range(steps):
        out = (one, two)[step % 2]
        combine(operator, given, current, out, n_jobs=n_jobs)
        current = out
    return current


def walks(graph: Graph, keep: float, row_scale: DoubleArray | None = None, shift: float | None = None) -> Operator:
    """``M = keep D^-1/2 A D^-1/2`` and ``c = 1 - keep``, rows of M scaled where a scale is given."""
    rows = stack_scaled(edges_of(graph), np.sqrt(keep) * inverse_root(graph.degrees))
    assert rows.values is not None
    values = rows.values
    if row_scale is not None:
        values = values * np.repeat(row_scale.astype(np.float32), np.diff(rows.indptr))
    return plain_operator(rows._replace(values=values), 1 - keep if shift is None else shift)


def smooth_rows(graph: Graph, rows: FloatArray, kernel: str, n_jobs: int | None) -> FloatArray:
    """Unit rows after random walks over the graph: each row the mean of rows around it."""
    rows, width = aligned_copy(rows), rows.shape[1]
    root = np.sqrt(graph.degrees).astype(np.float32)  # turns the symmetric operator into that of random walks
    root[root == 0] = 1
    rows *= root[:, None]
    spread_out = spread(walks(graph, SMOOTHING), rows, SMOOTHING_STEPS, kernel, n_jobs)
    return to_unit(spread_out[:, :width])


def diffused_rows(
    graph: Graph,
    pairs: PairRows,
    rng: np.random.Generator,
    kernel: str,
    n_jobs: int | None,
    callback: Callback | None = None,
) -> FloatArray:
    """Rows learned from edges and from pairs that are spread over the graph first: ``D^-1/2 A D^-1/2 + lambda K N K``.

    ``K`` sums the walks as above. A pair then speaks for the surroundings of its two nodes, which counts most where
    pairs are few or wrong.
    """
    n = graph.n_nodes
    filtering = walks(graph, SMOOTHING)
    nothing = SparseRows(np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))
    pairs = even_signs(pairs)
    links = Links(pairs.first, pairs.second, pairs.signed_weight)
    contrast = plain_operator(stack_scaled(nothing, np.ones(n), links, pair_scale(n, pairs)), 0.0)
    indptr, indices, values = beside(
        stack_scaled(edges_of(graph), inverse_root(graph.degrees)), np.full(n, PAIR_STRENGTH, dtype=np.float32)
    )
    root = np.sqrt(graph.degrees)
    combine = get_combine(kernel)
    told = aligned_rows(n, DIFFUSED_WIDTH)
    tables = np.empty((2 * n, DIFFUSED_WIDTH), dtype=np.float32)

    def expand(state: FloatArray) -> FloatArray:
        around = spread(filtering, state, SMOOTHING_STEPS, kernel, n_jobs)
        combine(contrast, around, around, told, n_jobs=n_jobs)
        tables[:n] = state
        tables[n:] = spread(filtering, told, SMOOTHING_STEPS, kernel, n_jobs)
        return tables

    operator = Operator(
        indptr, indices, values, u=(root / max(root @ root, 1.0)).astype(np.float32),
        v=np.concatenate([root, np.zeros(n)]).astype(np.float32), shift=0.2,
    )  # fmt: skip
    start = random_rows(n, DIFFUSED_WIDTH, rng, n_jobs)
    result = solve(
        operator, start, expand=expand, max_iter=DIFFUSED_ITERATIONS, tol=1e-2, kernel=kernel, n_jobs=n_jobs,
        overwrite_init=True, callback=callback, stage="diffusion",
    )  # fmt: skip
    return result.rows


def even_signs(pairs: PairRows) -> PairRows:
    """The pairs with weights that make both signs count the same in all: else many of one sign drown the other."""
    weight = np.ones(len(pairs.y)) if pairs.weight is None else pairs.weight.astype(np.float64)
    alike, half = pairs.y > 0, weight.sum() / 2
    if alike.all() or not alike.any():
        return pairs
    for side in (alike, ~alike):
        weight[side] *= half / weight[side].sum()
    return pairs._replace(weight=weight.astype(np.float32))


def settle(graph: Graph, posterior: FloatArray, evidence: DoubleArray, kernel: str, n_jobs: int | None) -> FloatArray:
    """Posteriors of nodes with little evidence, settled by those around them.

    A node keeps its posterior to the extent ``c = 0.3 t / (t + 1)`` of the ``t`` pairs that touch it, the rest comes in
    from its neighbours:  ``F <- C Q + (1 - C) (0.9 D^-1/2 A D^-1/2 F + 0.1 C Q)``. What reaches a node fades with the
    distance, and a share of the groups' sizes takes its place.
    """
    kept = OWN_SHARE * evidence
    own = aligned_copy((posterior * (kept * (1 + (1 - kept) * (1 - SETTLING)))[:, None]).astype(np.float32))
    operator = walks(graph, SETTLING, row_scale=1 - kept, shift=1.0)
    settled = spread(operator, own, SETTLING_STEPS, kernel, n_jobs)[:, : posterior.shape[1]]
    settled = settled + np.float32(PRIOR * max(float(kept.mean()), 1e-6)) * posterior.mean(axis=0)
    return np.asarray(settled / settled.sum(axis=1, keepdims=True), dtype=np.float32)


def evidence_of(pairs: PairRows, n_nodes: int) -> DoubleArray:
    """How much the pairs tell of each node, from 0 (no pair) towards 1: ``t / (t + 1)`` for t pairs."""
    touching = np.bincount(pairs.first, minlength=n_nodes) + np.bincount(pairs.second, minlength=n_nodes)
    return np.asarray(touching / (touching + HALFWAY))


def edges_of(graph: Graph) -> SparseRows:
    """The adjacency of a graph."""
    return SparseRows(graph.indptr, graph.indices, graph.weights)


def inverse_root(degrees: DoubleArray, power: float = 0.5) -> DoubleArray:
    """``d^-power``, and 0 for nodes without edges."""
    return np.asarray(np.where(degrees > 0, np.maximum(degrees, 1e-300) ** -power, 0.0))


def beside(rows: SparseRows, diagonal: FloatArray) -> tuple[LongArray, IntArray, FloatArray]:
    """``[M | diag]``: one more entry at the end of each row, in a second block of columns."""
    n = len(diagonal)
    indptr = rows.indptr + np.arange(n + 1)
    assert rows.values is not None
    last = indptr[1:] - 1
    mask = np.ones(int(indptr[-1]), dtype=bool)
    mask[last] = False
    indices, values = np.empty(len(mask), dtype=np.int32), np.empty(len(mask), dtype=np.float32)
    indices[mask], values[mask] = rows.indices, rows.values
    indices[last], values[last] = np.arange(n, 2 * n), diagonal
    return indptr, indices, values


def plain_operator(rows: SparseRows, shift: float) -> Operator:
    """An operator without rank-one term."""
    zeros = np.zeros(len(rows.indptr) - 1, dtype=np.float32)
    assert rows.values is not None
    return Operator(rows.indptr, rows.indices, rows.values, u=zeros, v=zeros, shift=shift)


def to_unit(rows: FloatArray) -> FloatArray:
    """Rows of length one; rows of zeros stay."""
    return np.asarray(UNIT_ROWS.apply(rows, rows), dtype=np.float32)
