import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, InputError
from contrastive_fuse.parallel import chunks_by_work, even_chunks, map_chunks, thread_count


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_every_chunk_once_and_in_order(n_threads):
    seen = []

    def work(chunk):
        time.sleep(0.001 * (chunk % 3))
        seen.append(chunk)
        return chunk * chunk

    assert map_chunks(work, 20, n_threads) == [chunk * chunk for chunk in range(20)]
    assert sorted(seen) == list(range(20))


def test_nothing_to_do():
    assert map_chunks(lambda chunk: chunk, 0, 2) == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_chunk_is_raised(n_threads):
    def work(chunk):
        if chunk == 3:
            raise ZeroDivisionError
        return chunk

    with pytest.raises(ZeroDivisionError):
        map_chunks(work, 8, n_threads)
    assert map_chunks(lambda chunk: chunk, 3, n_threads) == [0, 1, 2]


def test_thread_count():
    assert thread_count(None) == thread_count(-1) == len(os.sched_getaffinity(0))
    assert thread_count(3) == 3
    with pytest.raises(InputError, match="n_jobs"):
        thread_count(-2)


def test_chunks_cover_all_rows_and_are_even(seed):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(rng.poisson(5, 10_000))]).astype(np.int64)
    bounds = chunks_by_work(indptr, entries_per_chunk=1000, rows_per_chunk=500)
    assert (bounds[0], bounds[-1]) == (0, 10_000)
    assert np.all(np.diff(bounds) > 0)
    assert np.diff(bounds).max() <= 501
    assert np.diff(indptr[bounds]).max() <= 1000


@pytest.mark.parametrize(("items", "size", "expected"), [(0, 3, [0]), (3, 3, [0, 3]), (7, 3, [0, 3, 6, 7])])
def test_even_chunks(items, size, expected):
    assert even_chunks(items, size).tolist() == expected


def _fit_bits(community_graph):
    return ContrastiveFUSE(8, n_jobs=2, max_iter=5, random_state=0).fit(community_graph.graph).embedding_.tobytes()


def _child(community_graph, queue):
    queue.put(_fit_bits(community_graph))


def test_works_after_a_fork(community_graph):
    """Threads do not survive a fork; a child that waited for its parent's would hang."""
    here = _fit_bits(community_graph)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(community_graph, queue))
    child.start()
    assert queue.get(timeout=60) == here
    child.join(timeout=60)
    assert child.exitcode == 0


def test_several_fits_at_once(community_graph):
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(_fit_bits, [community_graph] * 8))) == 1
