"""An order of the nodes in which neighbours lie close together in memory.

A step gathers the rows of each node's neighbours. Where the table of rows exceeds the cache, the time it takes is the
time to fetch them, and that depends on where they lie. Nodes are grouped by label propagation with a limit on the size
of a group (the rows of a group fit into a cache close to a core), and the groups again (for the cache behind it).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from contrastive_fuse.sparse import SparseRows
from contrastive_fuse.types import AnyArray, FloatArray, IntArray, LongArray

CACHES = (1 << 21, 1 << 25)  # bytes close to a core, and bytes behind that
SWEEPS = 3
SETTLED = 0.02  # share of nodes below which a sweep that moves them is the last


def worth_ordering(rows: SparseRows, bytes_per_row: int) -> bool:
    """Whether the table to gather from exceeds the caches, so that finding an order pays."""
    n_rows = len(rows.indptr) - 1
    return n_rows * bytes_per_row > CACHES[-1] and len(rows.indices) > n_rows


def locality_order(rows: SparseRows, bytes_per_row: int) -> IntArray:
    """The nodes, those that belong together next to each other; weights are not looked at.

    Parameters
    ----------
    rows : SparseRows, symmetric
    bytes_per_row : int
        Of the table whose rows will be gathered.
    """
    level = SparseRows(rows.indptr, rows.indices, None)
    sizes = np.ones(len(rows.indptr) - 1, dtype=np.int64)
    grouped: list[tuple[LongArray, IntArray]] = []
    for cache in CACHES:
        limit = max(2, cache // bytes_per_row)
        strength = np.empty(0, dtype=np.float32) if level.values is None else level.values
        weighted = level.values is not None
        label, n_groups = _group(level.indptr, level.indices, strength, weighted, sizes, limit)
        starts, members = _members(label, n_groups)
        grouped.append((starts, members))
        *coarse, sizes = _contract(level.indptr, level.indices, strength, weighted, label, starts, members, sizes)
        level = SparseRows(*coarse)
    order = np.arange(len(sizes), dtype=np.int32)
    for starts, members in reversed(grouped):
        order = _unfold(starts, members, order)
    return order


@njit(nogil=True, cache=True)
def _group(  # type: ignore[no-untyped-def]
    indptr: LongArray, indices: IntArray, strength: FloatArray, weighted: bool, sizes: LongArray, limit: int
):
    """Label of each node and their number: each node in turn joins the group it has most edges to, if there is room."""
    n = len(indptr) - 1
    label = np.arange(n).astype(np.int32)
    filled = sizes.copy()
    votes = np.zeros(n, np.float32)
    asked = np.empty(n, np.int32)
    for _ in range(SWEEPS):
        moved = 0
        for node in range(n):
            count = _vote(indptr, indices, strength, weighted, label, node, votes, asked, 0)
            own = label[node]
            best, most = own, votes[own]
            for position in range(count):
                group = asked[position]
                if votes[group] > most and filled[group] + sizes[node] <= limit:
                    best, most = group, votes[group]
            for position in range(count):
                votes[asked[position]] = 0
            if best != own:
                filled[own] -= sizes[node]
                filled[best] += sizes[node]
                label[node] = best
                moved += 1
        if moved < SETTLED * n:
            break
    number = np.full(n, -1, np.int32)
    n_groups = 0
    for node in range(n):
        if number[label[node]] < 0:
            number[label[node]] = n_groups
            n_groups += 1
        label[node] = number[label[node]]
    return label, n_groups


@njit(nogil=True, cache=True)
def _vote(indptr, indices, strength, weighted, label, node, votes, asked, count):  # type: ignore[no-untyped-def]
    """Add the edges of a node to the votes for its neighbours' groups; groups without a vote so far join ``asked``."""
    for entry in range(indptr[node], indptr[node + 1]):
        group = label[indices[entry]]
        if votes[group] == 0:
            asked[count] = group
            count += 1
        votes[group] += strength[entry] if weighted else np.float32(1)
    return count


@njit(nogil=True, cache=True)
def _members(label: IntArray, n_groups: int):  # type: ignore[no-untyped-def]
    """The nodes group by group, and where each group starts."""
    starts = np.zeros(n_groups + 1, np.int64)
    for group in label:
        starts[group + 1] += 1
    for group in range(n_groups):
        starts[group + 1] += starts[group]
    free = starts[:-1].copy()
    members = np.empty(len(label), np.int32)
    for node in range(len(label)):
        members[free[label[node]]] = node
        free[label[node]] += 1
    return starts, members


@njit(nogil=True, cache=True)
def _contract(indptr, indices, strength, weighted, label, starts, members, sizes):  # type: ignore[no-untyped-def]
    """The graph of the groups: sums of strengths between them, and the nodes in each."""
    n_groups = len(starts) - 1
    votes = np.zeros(n_groups, np.float32)
    asked = np.empty(n_groups, np.int32)
    new_indptr = np.zeros(n_groups + 1, np.int64)
    new_sizes = np.zeros(n_groups, np.int64)
    new_indices = np.empty(1024, np.int32)
    new_strength = np.empty(1024, np.float32)
    for group in range(n_groups):
        count = 0
        for position in range(starts[group], starts[group + 1]):
            new_sizes[group] += sizes[members[position]]
            count = _vote(indptr, indices, strength, weighted, label, members[position], votes, asked, count)
        end = new_indptr[group]
        if end + count > len(new_indices):
            new_indices = _longer(new_indices, end + count)
            new_strength = _longer(new_strength, end + count)
        for position in range(count):
            if asked[position] != group:
                new_indices[end] = asked[position]
                new_strength[end] = votes[asked[position]]
                end += 1
            votes[asked[position]] = 0
        new_indptr[group + 1] = end
    total = new_indptr[n_groups]
    return new_indptr, new_indices[:total], new_strength[:total], new_sizes


@njit(nogil=True, cache=True)
def _longer(values: AnyArray, at_least: int):  # type: ignore[no-untyped-def]
    copy = np.empty(max(at_least, 2 * len(values)), values.dtype)
    copy[: len(values)] = values
    return copy


@njit(nogil=True, cache=True)
def _unfold(starts, members, order):  # type: ignore[no-untyped-def]
    """Members of the groups, the groups in the given order."""
    unfolded = np.empty(len(members), np.int32)
    end = 0
    for group in order:
        for position in range(starts[group], starts[group + 1]):
            unfolded[end] = members[position]
            end += 1
    return unfolded
