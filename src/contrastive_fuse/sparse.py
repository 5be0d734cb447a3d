"""Compiled building of symmetric sparse rows from a list of links.

Links are undirected: each is stored once in the row of either end. Row pointers are 64-bit and column indices 32-bit,
so that a billion entries fit and half of the memory traffic is saved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from contrastive_fuse.parallel import chunks_by_work, map_chunks, thread_count
from contrastive_fuse.types import DoubleArray, FloatArray, IntArray, LongArray, SignArray


class SparseRows(NamedTuple):
    """Compressed sparse rows; ``values`` is None where every entry is 1."""

    indptr: LongArray
    indices: IntArray
    values: FloatArray | None


def symmetric_rows(
    first: IntArray,
    second: IntArray,
    values: FloatArray | None,
    n_rows: int,
    *,
    add_repeats: bool = False,
    n_jobs: int | None = None,
) -> SparseRows:
    """Rows of the symmetric matrix with the given links, columns sorted, no entry twice.

    Parameters
    ----------
    first, second : (n_links,) int32, the two ends; links from a node to itself are left out
    values : (n_links,) float32 or None
    add_repeats : bool
        Whether a link given several times gets the sum of its values, or the largest.
    """
    if values is None and add_repeats:
        values = np.ones(len(first), dtype=np.float32)
    weighted = values is not None
    given = values if values is not None else np.empty(0, dtype=np.float32)
    indptr = _count(first, second, n_rows)
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1] if weighted else 0, dtype=np.float32)
    _scatter(first, second, given, weighted, np.empty(0, dtype=np.float32), indptr[:-1].copy(), indices, data)

    kept = np.zeros(n_rows + 1, dtype=np.int64)
    bounds = chunks_by_work(indptr, entries_per_chunk=1 << 20, rows_per_chunk=1 << 18)

    def tidy(chunk: int) -> None:
        start, stop = bounds[chunk], bounds[chunk + 1]
        _sort_and_fold(indptr, indices, data, weighted, add_repeats, kept, start, stop)

    map_chunks(tidy, len(bounds) - 1, thread_count(n_jobs))
    np.cumsum(kept, out=kept)
    if kept[-1] < indptr[-1]:
        _close_gaps(indptr, kept, indices, data, weighted)
        indices = indices[: kept[-1]].copy()
        data = data[: kept[-1]].copy() if weighted else data
    return SparseRows(kept, indices, data if weighted else None)


@njit(nogil=True, cache=True)
def _count(first, second, n_rows):  # type: ignore[no-untyped-def]
    indptr = np.zeros(n_rows + 1, np.int64)
    for link in range(len(first)):
        if first[link] != second[link]:
            indptr[first[link] + 1] += 1
            indptr[second[link] + 1] += 1
    for row in range(n_rows):
        indptr[row + 1] += indptr[row]
    return indptr


@njit(nogil=True, cache=True)
def _scatter(first, second, values, weighted, scale, free, indices, data):  # type: ignore[no-untyped-def]
    """Enter each link in the rows of both ends, its value times the scales of both where there are any."""
    for link in range(len(first)):
        a, b = first[link], second[link]
        if a == b:
            continue
        indices[free[a]] = b
        indices[free[b]] = a
        if weighted:
            value = values[link] if len(scale) == 0 else scale[a] * values[link] * scale[b]
            data[free[a]] = value
            data[free[b]] = value
        free[a] += 1
        free[b] += 1


@njit(nogil=True, cache=True)
def _sort_and_fold(indptr, indices, data, weighted, add, kept, start, stop):  # type: ignore[no-untyped-def]
    """Sort each row's columns in place and fold repeats together at the row's front."""
    for row in range(start, stop):
        low, high = indptr[row], indptr[row + 1]
        columns = indices[low:high]
        if weighted:
            order = np.argsort(columns, kind="mergesort")
            columns[:] = columns[order]
            data[low:high] = data[low:high][order]
        else:
            columns.sort()
        last = low - 1
        for entry in range(low, high):
            if last >= low and indices[last] == indices[entry]:
                if weighted:
                    both = data[last] + data[entry]
                    data[last] = both if add else max(data[last], data[entry])
            else:
                last += 1
                indices[last] = indices[entry]
                if weighted:
                    data[last] = data[entry]
        kept[row + 1] = last + 1 - low


@njit(nogil=True, cache=True)
def _close_gaps(indptr, kept, indices, data, weighted):  # type: ignore[no-untyped-def]
    """Move every row to the place that the folded rows before it leave."""
    for row in range(len(indptr) - 1):
        shift = indptr[row] - kept[row]
        for entry in range(kept[row], kept[row + 1]):
            indices[entry] = indices[entry + shift]
            if weighted:
                data[entry] = data[entry + shift]


class Links(NamedTuple):
    """Undirected links with a value each: (n,) int32, (n,) int32, (n,) float32 or int8."""

    first: IntArray
    second: IntArray
    values: FloatArray | SignArray


def stack_scaled(
    rows: SparseRows,
    scale: DoubleArray,
    links: Links | None = None,
    link_scale: DoubleArray | None = None,
    n_jobs: int | None = None,
) -> SparseRows:
    """Each row of ``s_i A_ij s_j``, then ``t_i y_ij t_j`` of its links: the sum, without merging columns."""
    n_rows = len(rows.indptr) - 1
    indptr = rows.indptr
    if links is not None:
        indptr = indptr + _count(links.first, links.second, n_rows)
    indices = np.empty(indptr[-1], dtype=np.int32)
    values = np.empty(indptr[-1], dtype=np.float32)
    bounds = chunks_by_work(rows.indptr, entries_per_chunk=1 << 20, rows_per_chunk=1 << 18)
    given = np.empty(0, dtype=np.float32) if rows.values is None else rows.values
    narrow = scale.astype(np.float32)

    def fill(chunk: int) -> None:
        _fill_scaled(rows.indptr, rows.indices, given, rows.values is not None, narrow, indptr, indices, values,
                     bounds[chunk], bounds[chunk + 1])  # fmt: skip

    map_chunks(fill, len(bounds) - 1, thread_count(n_jobs))
    if links is not None and link_scale is not None:
        free = indptr[:-1] + np.diff(rows.indptr)
        _scatter(links.first, links.second, links.values, True, link_scale.astype(np.float32), free, indices, values)
    return SparseRows(indptr, indices, values)


def link_strength(first: IntArray, second: IntArray, values: FloatArray | None, n_rows: int) -> DoubleArray:
    """Sum of the values of each row's links, or their number; `numpy.bincount` would copy both columns."""
    given = np.empty(0, dtype=np.float32) if values is None else values
    total: DoubleArray = _strength(first, second, given, values is not None, n_rows)
    return total


@njit(nogil=True, cache=True)
def _strength(first, second, values, weighted, n_rows):  # type: ignore[no-untyped-def]
    total = np.zeros(n_rows)
    for link in range(len(first)):
        value = values[link] if weighted else np.float32(1)
        total[first[link]] += value
        total[second[link]] += value
    return total


def links_sorted(first: IntArray, second: IntArray) -> bool:
    """Whether links come in the order of their rows, then columns."""
    return bool(_sorted(first, second))


@njit(nogil=True, cache=True)
def _sorted(first, second):  # type: ignore[no-untyped-def]
    for link in range(1, len(first)):
        if first[link] < first[link - 1] or (first[link] == first[link - 1] and second[link] < second[link - 1]):
            return False
    return True


@njit(nogil=True, cache=True)
def _fill_scaled(indptr, columns, data, weighted, scale, start_of, indices, values, start, stop):  # type: ignore[no-untyped-def]
    for row in range(start, stop):
        to = start_of[row]
        for entry in range(indptr[row], indptr[row + 1]):
            column = columns[entry]
            value = scale[row] * scale[column]
            indices[to] = column
            values[to] = value * data[entry] if weighted else value
            to += 1


def permuted_rows(rows: SparseRows, order: IntArray, n_jobs: int | None = None) -> SparseRows:
    """The same symmetric matrix, its rows and columns in another order; columns within a row are not sorted anew."""
    position = inverse_order(order)
    indptr = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.diff(rows.indptr)[order], out=indptr[1:])
    indices = np.empty_like(rows.indices)
    values = None if rows.values is None else np.empty_like(rows.values)
    bounds = chunks_by_work(indptr, entries_per_chunk=1 << 20, rows_per_chunk=1 << 18)

    def move(chunk: int) -> None:
        start, stop = bounds[chunk], bounds[chunk + 1]
        _renumber(rows.indptr, rows.indices, order, position, indptr, indices, start, stop)
        if rows.values is not None:
            _move(rows.indptr, rows.values, order, indptr, values, start, stop)

    map_chunks(move, len(bounds) - 1, thread_count(n_jobs))
    return SparseRows(indptr, indices, values)


def inverse_order(order: IntArray) -> IntArray:
    """Where each row went: ``inverse_order(order)[order[i]] == i``."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position


@njit(nogil=True, cache=True)
def _renumber(indptr, indices, order, position, new_indptr, new_indices, start, stop):  # type: ignore[no-untyped-def]
    for row in range(start, stop):
        to = new_indptr[row]
        for entry in range(indptr[order[row]], indptr[order[row] + 1]):
            new_indices[to] = position[indices[entry]]
            to += 1


@njit(nogil=True, cache=True)
def _move(indptr, values, order, new_indptr, new_values, start, stop):  # type: ignore[no-untyped-def]
    for row in range(start, stop):
        low, high = indptr[order[row]], indptr[order[row] + 1]
        new_values[new_indptr[row] : new_indptr[row + 1]] = values[low:high]
