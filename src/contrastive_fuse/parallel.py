"""Chunks of work on a thread pool, with results that do not depend on the number of threads.

Compiled kernels release the interpreter lock, so plain threads use every core. Each chunk computes its own result from
its own rows and results come back in chunk order: what is computed never depends on which thread computed it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

import numpy as np

from contrastive_fuse.errors import check_integer
from contrastive_fuse.types import LongArray

Result = TypeVar("Result")

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def thread_count(n_jobs: int | None) -> int:
    """Threads to use: None or -1 means every core this process may run on."""
    if n_jobs is None or n_jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return check_integer("n_jobs", n_jobs, at_least=1)


def map_chunks(work: Callable[[int], Result], n_chunks: int, n_threads: int) -> list[Result]:
    """Run ``work(0) .. work(n_chunks - 1)``, each thread taking the next chunk when it is free."""
    n_threads = min(n_threads, n_chunks)
    if n_threads <= 1:
        return [work(chunk) for chunk in range(n_chunks)]
    next_chunk = count()
    results: list[Result | None] = [None] * n_chunks

    def take_until_done() -> None:
        while (chunk := next(next_chunk)) < n_chunks:
            results[chunk] = work(chunk)

    helpers = [_pool(n_threads).submit(take_until_done) for _ in range(n_threads - 1)]
    try:
        take_until_done()
    finally:
        for _ in range(n_chunks):  # nothing is left to take if this thread was interrupted
            next(next_chunk)
        for helper in helpers:
            helper.result()
    return results  # type: ignore[return-value]


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """A pool of this process: threads do not survive a fork, so a child makes its own."""
    key = (os.getpid(), n_threads)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(n_threads - 1, thread_name_prefix="contrastive-fuse")
    return _pools[key]


def chunks_by_work(indptr: LongArray, entries_per_chunk: int, rows_per_chunk: int) -> LongArray:
    """Row boundaries that cut a sparse matrix into chunks of about equal work.

    The cut depends on the matrix alone, never on the machine, because sums over chunks are part of the result.

    Returns
    -------
    boundaries : (n_chunks + 1,) int64, from 0 to the number of rows
    """
    n_rows = len(indptr) - 1
    work = indptr + np.arange(n_rows + 1) * max(1, entries_per_chunk // rows_per_chunk)
    n_chunks = max(1, -(-int(work[-1]) // max(1, entries_per_chunk)))
    targets = np.linspace(0, work[-1], n_chunks + 1)
    boundaries = np.searchsorted(work, targets).astype(np.int64)
    boundaries[0], boundaries[-1] = 0, n_rows
    return np.unique(boundaries)


def even_chunks(n_items: int, items_per_chunk: int) -> LongArray:
    """Boundaries that cut ``n_items`` into chunks of at most ``items_per_chunk``."""
    return np.unique(np.append(np.arange(0, n_items, items_per_chunk), n_items)).astype(np.int64)
