"""Random walks, compiled: of first order, or of second order by rejection, with no table over pairs of edges.

Every walk has a generator of its own, so walks are the same for a seed whatever the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from contrastive_fuse.graph import Graph
from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.types import DoubleArray, IntArray

WALKS_PER_CHUNK = 1 << 12


def random_walks(
    graph: Graph,
    walks_per_node: int,
    length: int,
    seed: int,
    *,
    p: float = 1.0,
    q: float = 1.0,
    n_jobs: int | None = None,
) -> IntArray:
    """Walks from every node, in random order of the starts.

    Parameters
    ----------
    p, q : float
        Node2Vec's return and in-out parameters; with both 1 a walk has no memory.

    Returns
    -------
    walks : (n_nodes * walks_per_node, length) int32, -1 after the end of a walk that has nowhere to go
    """
    rng = np.random.default_rng(seed)
    starts = np.concatenate([rng.permutation(graph.n_nodes) for _ in range(walks_per_node)]).astype(np.int32)
    walks = np.empty((len(starts), length), dtype=np.int32)
    sums = np.empty(0) if graph.weights is None else _running_sums(graph)
    bounds = even_chunks(len(starts), WALKS_PER_CHUNK)

    def work(chunk: int) -> None:
        _walk(graph.indptr, graph.indices, sums, starts, bounds[chunk], bounds[chunk + 1], seed, p, q, walks)

    map_chunks(work, len(bounds) - 1, thread_count(n_jobs))
    return walks


def _running_sums(graph: Graph) -> DoubleArray:
    """Sums of the weights of each row up to and with each entry."""
    assert graph.weights is not None
    total = np.cumsum(graph.weights, dtype=np.float64)
    before = np.concatenate([[0.0], total])[graph.indptr[:-1]]
    return np.asarray(total - np.repeat(before, np.diff(graph.indptr)))


@njit(nogil=True, cache=True)
def draw(state):  # type: ignore[no-untyped-def]
    """The next state of splitmix64, and a number in [0, 1) from it."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(nogil=True, cache=True)
def _neighbour(indptr, indices, sums, node, number):  # type: ignore[no-untyped-def]
    """A neighbour in proportion to the weights, for a number in [0, 1)."""
    low, high = indptr[node], indptr[node + 1]
    if len(sums) == 0:
        return indices[low + int(number * (high - low))]
    wanted = number * sums[high - 1]
    while low < high - 1:
        middle = (low + high - 1) // 2
        if sums[middle] > wanted:
            high = middle + 1
        else:
            low = middle + 1
    return indices[low]


@njit(nogil=True, cache=True)
def _linked(indptr, indices, a, b):  # type: ignore[no-untyped-def]
    low, high = indptr[a], indptr[a + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low < indptr[a + 1] and indices[low] == b


@njit(nogil=True, cache=True)
def _walk(indptr, indices, sums, starts, first, last, seed, p, q, walks):  # type: ignore[no-untyped-def]
    most = max(1.0 / p, 1.0, 1.0 / q)
    for walk in range(first, last):
        state = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(walk) * np.uint64(0xA0761D6478BD642F)
        node = starts[walk]
        before = -1
        walks[walk, 0] = node
        for place in range(1, walks.shape[1]):
            if node < 0 or indptr[node] == indptr[node + 1]:
                walks[walk, place] = -1
                node = -1
                continue
            while True:
                state, number = draw(state)
                candidate = _neighbour(indptr, indices, sums, node, number)
                if before < 0 or (p == 1.0 and q == 1.0):
                    break
                favour = 1.0 / q
                if candidate == before:
                    favour = 1.0 / p
                elif _linked(indptr, indices, before, candidate):
                    favour = 1.0
                state, number = draw(state)
                if number * most < favour:
                    break
            before, node = node, candidate
            walks[walk, place] = node
