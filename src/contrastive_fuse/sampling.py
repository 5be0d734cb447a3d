"""Pairs drawn from node classes, as the paper's protocol has it: half alike, half unlike, uniform within each half.

Draws are without replacement. Only where there are fewer pairs of a sign than are asked for are they drawn with
replacement, as in the paper; repeats are then folded like any others, and the report counts them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from contrastive_fuse.errors import InputError, check_choice, check_integer
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import AnyArray, LongArray, Seed

Draw = Callable[[int], tuple[LongArray, LongArray]]


def sample_pairs(
    labels: AnyArray,
    n_pairs: int,
    random_state: Seed = None,
    ids: NodeIds | None = None,
    *,
    uniform_over: str = "pairs",
) -> SignedPairs:
    """Draw unordered pairs, ``n_pairs // 2`` of the same class and the rest of different classes.

    Parameters
    ----------
    labels : (n_nodes,) integers, the class of each node; nodes with a negative one are never drawn
    n_pairs : int
    ids : NodeIds, optional
        Names for the nodes; by default 0..n-1.
    uniform_over : {"pairs", "nodes"}
        Whether all pairs of a sign are equally likely, as the paper says, or a first node is drawn from all nodes and
        then a second one to match, as its figures suggest. Large classes have more pairs, so under "pairs" a node alone
        tells something about the sign; under "nodes" it does not (docs/heads.md).
    """
    check_choice("uniform_over", uniform_over, ("pairs", "nodes"))
    check_integer("n_pairs", n_pairs, at_least=2)
    labels = np.asarray(labels)
    labelled = np.flatnonzero(labels >= 0)
    by_class = labelled[np.argsort(labels[labelled], kind="stable")]
    sizes = np.unique(labels[by_class], return_counts=True)[1].astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    rng = np.random.default_rng(random_state)
    n = len(labelled)
    n_same = int(np.sum(sizes * (sizes - 1) // 2))
    n_other = n * (n - 1) // 2 - n_same
    if not n_same or not n_other:
        raise InputError("pairs of both signs need two classes, and two nodes of one class")
    has_partner = np.where(sizes > 1, sizes, 0)
    share = sizes * (sizes - 1.0) if uniform_over == "pairs" else has_partner.astype(np.float64)
    share /= share.sum()
    class_of = np.repeat(np.arange(len(sizes)), sizes)

    def same(count: int) -> tuple[LongArray, LongArray]:
        chosen = rng.choice(len(sizes), count, p=share)
        first = rng.integers(0, sizes[chosen])
        second = rng.integers(0, sizes[chosen] - 1)
        second += second >= first  # any other member of the class
        return by_class[starts[chosen] + first], by_class[starts[chosen] + second]

    def other(count: int) -> tuple[LongArray, LongArray]:
        if uniform_over == "nodes":  # any node of another class: those that come after one's own, and on from the start
            first = rng.integers(0, n, count)
            own = class_of[first]
            second = starts[own] + sizes[own] + rng.integers(0, n - sizes[own])
            return by_class[first], by_class[second % n]
        first, second = rng.integers(0, n, (2, int(count * n * n / (2 * n_other) * 1.05) + 8))
        unlike = np.flatnonzero(labels[labelled[first]] != labels[labelled[second]])[:count]
        return labelled[first[unlike]], labelled[second[unlike]]

    alike = _keys(same, n_pairs // 2, n_same, len(labels), rng)
    unlike = _keys(other, n_pairs - n_pairs // 2, n_other, len(labels), rng)
    keys = np.concatenate([alike, unlike])
    y = np.repeat([1, -1], [len(alike), len(unlike)])
    names = NodeIds(len(labels)) if ids is None else ids
    return SignedPairs.of_rows(names, keys // len(labels), keys % len(labels), y)


def _keys(draw: Draw, count: int, available: int, n_nodes: int, rng: np.random.Generator) -> LongArray:
    """Keys ``low * n + high`` of ``count`` pairs, different ones where so many are available.

    Repeats are thrown away and drawn again, which leaves every set of pairs equally likely.
    """
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < count:
        missing = count - len(keys)
        first, second = draw(missing + missing // 8 + 8)
        fresh = np.minimum(first, second) * n_nodes + np.maximum(first, second)
        keys = np.concatenate([keys, fresh])
        if count <= available:
            keys = keys[np.sort(np.unique(keys, return_index=True)[1])]  # in the order of drawing
        keys = keys[:count]
    return keys
