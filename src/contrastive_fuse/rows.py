"""Tables of rows as kernels want them: padded to whole vectors, and every row on a cache line of its own."""

from __future__ import annotations

import numpy as np
from numba import njit

from contrastive_fuse.kernels.contract import padded_width
from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.types import FloatArray, IntArray, Seed

ROWS_AT_ONCE = 1 << 15
PAIRS_AT_ONCE = 1 << 14
CACHE_LINE = 64  # bytes


def random_rows(n_rows: int, n_columns: int, random_state: Seed = None, n_jobs: int | None = None) -> FloatArray:
    """Unit rows that point anywhere, in the padded layout of `aligned_rows`.

    Every block of rows has a generator of its own, so the rows do not depend on the number of threads.
    """
    rows = aligned_rows(n_rows, n_columns)
    bounds = even_chunks(n_rows, ROWS_AT_ONCE)
    generators = np.random.default_rng(random_state).spawn(len(bounds) - 1)

    def draw(chunk: int) -> None:
        block = generators[chunk].standard_normal((bounds[chunk + 1] - bounds[chunk], n_columns), dtype=np.float32)
        block /= np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
        rows[bounds[chunk] : bounds[chunk + 1], :n_columns] = block

    map_chunks(draw, len(bounds) - 1, thread_count(n_jobs))
    return rows


def aligned_rows(n_rows: int, n_columns: int) -> FloatArray:
    """Zeros whose rows start on cache lines and are padded to the width the compiled kernel wants."""
    width = padded_width(n_columns)
    space = np.zeros(n_rows * width + CACHE_LINE // 4, dtype=np.float32)
    start = -space.ctypes.data % CACHE_LINE // 4
    return space[start : start + n_rows * width].reshape(n_rows, width)


def aligned_copy(rows: FloatArray) -> FloatArray:
    """The same rows in the layout of `aligned_rows`, columns of zeros added."""
    copy = aligned_rows(*rows.shape)
    copy[:, : rows.shape[1]] = rows
    return copy


def take_rows(rows: FloatArray, order: IntArray, out: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """``rows[order]``, written to the first columns of ``out``."""
    bounds = even_chunks(len(order), ROWS_AT_ONCE)

    def take(chunk: int) -> None:
        part = slice(bounds[chunk], bounds[chunk + 1])
        out[part, : rows.shape[1]] = rows[order[part]]

    map_chunks(take, len(bounds) - 1, thread_count(n_jobs))
    return out


def is_aligned(rows: FloatArray) -> bool:
    """Whether these rows already have the layout of `aligned_rows`."""
    return (
        rows.dtype == np.float32
        and rows.flags.c_contiguous
        and rows.flags.writeable
        and rows.shape[1] == padded_width(rows.shape[1])
        and rows.ctypes.data % CACHE_LINE == 0
    )


def row_dots(rows: FloatArray, first: IntArray, second: IntArray, n_jobs: int | None = None) -> FloatArray:
    """Inner products of pairs of rows, (n_pairs,) float32."""
    found = np.empty(len(first), dtype=np.float32)
    bounds = even_chunks(len(first), PAIRS_AT_ONCE)

    def work(chunk: int) -> None:
        _dots(rows, first, second, found, bounds[chunk], bounds[chunk + 1])

    map_chunks(work, len(bounds) - 1, thread_count(n_jobs))
    return found


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _dots(rows, first, second, found, start, stop):  # type: ignore[no-untyped-def]
    for pair in range(start, stop):
        one, two = rows[first[pair]], rows[second[pair]]
        total = np.float32(0)
        for column in range(rows.shape[1]):
            total += one[column] * two[column]
        found[pair] = total
