"""Small cells of rows that point the same way: spherical k-means, compiled, the same for any number of threads."""

from __future__ import annotations

import numpy as np
from numba import njit

from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.types import DoubleArray, FloatArray, IntArray, LongArray

ROUNDS = 12
POOL, TRIALS = 6000, 6  # centres start from rows of a pool, each the best of so many that are drawn
LEARNED_FROM = 20_000  # centres are learned from so many rows, the others are then assigned
ROWS_AT_ONCE = 2048


def find_cells(rows: FloatArray, n_cells: int, rng: np.random.Generator, n_jobs: int | None = None) -> IntArray:
    """The cell of every row, (n,) int32 below ``n_cells``.

    Parameters
    ----------
    rows : (n, k) float32, of unit length
    """
    n_cells = min(n_cells, len(rows))
    sample = rows if len(rows) <= LEARNED_FROM else rows[np.sort(rng.choice(len(rows), LEARNED_FROM, replace=False))]
    centres = np.ascontiguousarray(sample[_spread_out(sample, n_cells, rng)])
    for _ in range(ROUNDS):
        _, sums = _assign_all(sample, centres, n_jobs)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        empty = lengths[:, 0] == 0
        sums[empty] = sample[rng.integers(0, len(sample), int(empty.sum()))]
        lengths[empty] = 1
        centres = (sums / lengths).astype(np.float32)
    return _assign_all(rows, centres, n_jobs)[0]


def _spread_out(rows: FloatArray, n_cells: int, rng: np.random.Generator) -> LongArray:
    """Rows to start from: each the best of several drawn in proportion to the distance from those before it."""
    pool = np.sort(rng.permutation(len(rows))[:POOL])
    points = rows[pool]
    chosen = [int(rng.integers(len(pool)))]
    gap = np.maximum(1 - points @ points[chosen[0]], 0)
    while len(chosen) < n_cells:
        sums = np.cumsum(gap, dtype=np.float64)
        drawn = np.minimum(np.searchsorted(sums, rng.random(TRIALS) * sums[-1]), len(pool) - 1)
        gaps = np.minimum(gap, np.maximum(1 - points[drawn] @ points.T, 0))
        best = int(np.argmin(gaps.sum(axis=1, dtype=np.float64)))
        chosen.append(int(drawn[best]))
        gap = gaps[best]
    return np.asarray(pool[chosen])


def _assign_all(rows: FloatArray, centres: FloatArray, n_jobs: int | None) -> tuple[IntArray, DoubleArray]:
    """The closest centre of each row, and the sum of the rows of each centre in double precision."""
    bounds = even_chunks(len(rows), ROWS_AT_ONCE)
    cell = np.empty(len(rows), dtype=np.int32)

    def work(chunk: int) -> FloatArray:
        sums = np.zeros(centres.shape, dtype=np.float32)
        _assign(rows, centres, cell, sums, bounds[chunk], bounds[chunk + 1])
        return sums

    parts = map_chunks(work, len(bounds) - 1, thread_count(n_jobs))
    return cell, np.sum(parts, axis=0, dtype=np.float64)


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _assign(rows, centres, cell, sums, start, stop):  # type: ignore[no-untyped-def]
    width = rows.shape[1]
    for row in range(start, stop):
        best, closest = np.float32(-np.inf), 0
        for centre in range(len(centres)):
            product = np.float32(0)
            for column in range(width):
                product += rows[row, column] * centres[centre, column]
            if product > best:
                best, closest = product, centre
        cell[row] = closest
        for column in range(width):
            sums[closest, column] += rows[row, column]
