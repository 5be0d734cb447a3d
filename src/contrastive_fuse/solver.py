"""The one loop: step, swap, watch convergence, report progress, keep a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from contrastive_fuse.checkpoint import Checkpoint
from contrastive_fuse.errors import InputError
from contrastive_fuse.kernels import get_kernel
from contrastive_fuse.kernels.contract import null_sum, padded_width
from contrastive_fuse.operator import Operator
from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.progress import Callback, Progress, SolveResult
from contrastive_fuse.projection import UNIT_ROWS, Projection
from contrastive_fuse.types import FloatArray, Seed

ROWS_PER_DRAW = 1 << 15
CACHE_LINE = 64  # bytes


def solve(
    operator: Operator,
    init: FloatArray,
    *,
    projection: Projection = UNIT_ROWS,
    expand: Callable[[FloatArray], FloatArray] | None = None,
    max_iter: int = 40,
    tol: float = 1e-3,
    kernel: str = "numba",
    n_jobs: int | None = None,
    overwrite_init: bool = False,
    callback: Callback | None = None,
    stage: str = "embedding",
    checkpoint: Checkpoint | None = None,
) -> SolveResult:
    """Iterate ``S <- project(M T - u (v' T) + c S)`` until the rows come to rest.

    Parameters
    ----------
    operator : Operator
    init : (n, k) float32
        Start.
    projection : Projection
    expand : callable, optional
        The tables ``T`` of a state, stacked below each other; by default ``T = S``.
    max_iter : int
    tol : float
        The loop ends when the root mean square move of a row is below this.
    overwrite_init : bool
        Work in the memory of ``init`` where it is laid out as `aligned_rows` does; saves a copy of the embedding.
    callback : callable, optional
        Called with a `Progress` after every iteration; what it raises ends the loop.
    checkpoint : Checkpoint, optional
        Where to keep the state now and then, and to go on from.
    """
    if init.shape[0] != operator.n_rows or init.ndim != 2:
        raise InputError(f"init must have one row for each of the {operator.n_rows:,} nodes; got shape {init.shape}")
    step = get_kernel(kernel)
    started = perf_counter()
    state = init if overwrite_init and is_aligned(init) else aligned_copy(init)
    spare = aligned_rows(*init.shape)
    result = SolveResult(rows=state)
    null = null_sum(operator, state if expand is None else expand(state))
    if checkpoint is not None:
        null = checkpoint.resume(operator, state, null, result)
    try:
        while result.n_iter < max_iter and not result.converged:
            tables = None if expand is None else expand(state)
            if tables is not None:
                null = null_sum(operator, tables)
            done = step(operator, state, spare, null, projection=projection, tables=tables, n_jobs=n_jobs)
            state, spare = spare, state
            null = done.null_sum
            result.change.append(done.change)
            result.gain.append(done.gain)
            result.converged = done.change < tol
            if checkpoint is not None:
                checkpoint.keep(operator, state, null, result)
            if callback is not None:
                callback(Progress(stage, result.n_iter, max_iter, done.change, done.gain))
    except BaseException:
        if checkpoint is not None:
            checkpoint.keep(operator, state, null, result, now=True)
        raise
    result.rows = state[:, : init.shape[1]]
    result.seconds = perf_counter() - started
    return result


def random_rows(n_rows: int, n_columns: int, random_state: Seed = None, n_jobs: int | None = None) -> FloatArray:
    """Unit rows that point anywhere, in the padded layout of `aligned_rows`.

    Every block of rows has a generator of its own, so the rows do not depend on the number of threads.
    """
    rows = aligned_rows(n_rows, n_columns)
    bounds = even_chunks(n_rows, ROWS_PER_DRAW)
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


def is_aligned(rows: FloatArray) -> bool:
    """Whether these rows already have the layout of `aligned_rows`."""
    return (
        rows.dtype == np.float32
        and rows.flags.c_contiguous
        and rows.flags.writeable
        and rows.shape[1] == padded_width(rows.shape[1])
        and rows.ctypes.data % CACHE_LINE == 0
    )
