"""The one loop: step, swap, watch convergence, report progress, keep a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from contrastive_fuse.checkpoint import Checkpoint
from contrastive_fuse.errors import InputError
from contrastive_fuse.kernels import get_kernel
from contrastive_fuse.kernels.contract import null_sum
from contrastive_fuse.operator import Operator
from contrastive_fuse.progress import Callback, Progress, SolveResult
from contrastive_fuse.projection import UNIT_ROWS, Projection
from contrastive_fuse.rows import aligned_copy, aligned_rows, is_aligned
from contrastive_fuse.types import FloatArray


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
