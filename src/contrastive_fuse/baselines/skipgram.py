"""Skip-gram with negative sampling, compiled: faster than gensim's on one thread, and it repeats.

All contexts of a centre share its negative samples (Ji et al. 2016), so the few rows of a window stay in the fastest
cache while every one of them meets every other. One thread does all updates in the order of the walks: with more, the
result would depend on which comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from contrastive_fuse.baselines.walks import draw
from contrastive_fuse.types import FloatArray, IntArray

WALKS_AT_ONCE = 1 << 14
HIGHEST_RATE, LOWEST_RATE = 0.025, 0.0001  # word2vec's learning rate, falling linearly
FLATTENED = 0.75  # negatives are drawn in proportion to this power of the counts


def train_skip_gram(
    walks: IntArray,
    n_nodes: int,
    n_components: int,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
    report: Callable[[int, int], object] | None = None,
) -> FloatArray:
    """Vectors from which the neighbours of a node on the walks can be told from other nodes.

    Parameters
    ----------
    walks : (n_walks, length) int32, -1 after the end of a walk
    negative : nodes drawn against each node of a walk
    report : told how many blocks of walks are done, and of how many

    Returns
    -------
    vectors : (n_nodes, n_components) float32
    """
    rng = np.random.default_rng(seed)
    counts = np.bincount(walks[walks >= 0], minlength=n_nodes).astype(np.float64)
    sums = np.cumsum(counts**FLATTENED)
    guide = np.searchsorted(sums, np.arange(n_nodes + 1) / n_nodes * sums[-1]).astype(np.int32)
    vectors = ((rng.random((n_nodes, n_components), dtype=np.float32) - 0.5) / np.float32(n_components)).copy()
    targets = np.zeros((n_nodes, n_components), dtype=np.float32)
    starts = range(0, len(walks), WALKS_AT_ONCE)
    blocks, state = epochs * len(starts), np.uint64(rng.integers(1 << 63))
    for block in range(blocks):
        start = starts[block % len(starts)]
        rates = HIGHEST_RATE - (HIGHEST_RATE - LOWEST_RATE) * np.array([block, block + 1]) / blocks
        part = walks[start : start + WALKS_AT_ONCE]
        state = np.uint64(_train(part, vectors, targets, sums, guide, window, negative, rates, state))
        if report is not None:
            report(block + 1, blocks)
    return vectors


@njit(nogil=True, cache=True)
def _node(sums, guide, number):  # type: ignore[no-untyped-def]
    """The node whose stretch of the running sums holds a number in [0, 1); the guide says where to begin to look."""
    wanted = number * sums[-1]
    node = guide[int(number * (len(guide) - 1))]
    while sums[node] <= wanted and node < len(sums) - 1:
        node += 1
    return node


@njit(nogil=True, cache=True)
def _contexts(walk, place, reach, found):  # type: ignore[no-untyped-def]
    """How many nodes of a walk lie within reach of a place; they are written to ``found``."""
    count = 0
    for other in range(max(0, place - reach), min(len(walk), place + reach + 1)):
        if other != place and walk[other] >= 0:
            found[count] = walk[other]
            count += 1
    return count


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _tell(vectors, contexts, target, truth, rate, moves, turn):  # type: ignore[no-untyped-def]
    """Move a target at once by the gradients that all contexts have for it, and sum up theirs in ``moves``."""
    width = len(target)
    turn[:] = 0
    for context in range(len(contexts)):
        vector, move = vectors[contexts[context]], moves[context]
        product = np.float32(0)
        for column in range(width):
            product += vector[column] * target[column]
        step = rate * (truth - np.float32(1) / (np.float32(1) + np.exp(-product)))
        for column in range(width):
            move[column] += step * target[column]
            turn[column] += step * vector[column]
    for column in range(width):
        target[column] += turn[column]


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _train(walks, vectors, targets, sums, guide, window, negative, rates, state):  # type: ignore[no-untyped-def]
    width = vectors.shape[1]
    nearby = np.empty(2 * window, dtype=np.int32)
    moves, turn = np.empty((2 * window, width), dtype=np.float32), np.empty(width, dtype=np.float32)
    for row in range(len(walks)):
        rate = np.float32(rates[0] + (rates[1] - rates[0]) * row / len(walks))
        for place in range(walks.shape[1]):
            centre = walks[row, place]
            if centre < 0:
                break
            state, number = draw(state)
            contexts = nearby[: _contexts(walks[row], place, 1 + int(number * window), nearby)]
            moves[: len(contexts)] = 0
            _tell(vectors, contexts, targets[centre], np.float32(1), rate, moves, turn)
            for _ in range(negative):
                state, number = draw(state)
                node = _node(sums, guide, number)
                if node != centre:
                    _tell(vectors, contexts, targets[node], np.float32(0), rate, moves, turn)
            for context in range(len(contexts)):
                vector, move = vectors[contexts[context]], moves[context]
                for column in range(width):
                    vector[column] += move[column]
    return state
