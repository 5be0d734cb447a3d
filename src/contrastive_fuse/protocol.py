"""How pairs are divided into training and test, and disturbed: the same ways for drawn pairs and for users' own.

Pairs have been folded before (`SignedPairs`): no pair is in both parts, in either order.
"""

from __future__ import annotations

import numpy as np

from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.pairs import PairRows, SignedPairs
from contrastive_fuse.sampling import sample_pairs
from contrastive_fuse.types import AnyArray, BoolArray, LongArray, Seed

HELD_OUT_SHARE = 0.1
HELD_OUT_AT_LEAST = 200  # where there are that many to spare
HELD_OUT_AT_MOST = 20_000
N_FOLDS, FEW_A_NODE, MANY_PAIRS = 4, 4, 20_000
HIDDEN_PARTS = 10  # one of so many parts of the nodes is hidden at a time


def split_pairs(
    pairs: SignedPairs, test_size: float = 0.2, random_state: Seed = None
) -> tuple[SignedPairs, SignedPairs]:
    """Training and test pairs, divided at random: the paper's protocol with its open share set to 80/20.

    Parameters
    ----------
    test_size : float, share of the pairs to test on

    Returns
    -------
    train, test : SignedPairs
    """
    _check_share("test_size", test_size)
    order = np.random.default_rng(random_state).permutation(len(pairs))
    n_test = round(test_size * len(pairs))
    return pairs.subset(np.sort(order[n_test:])), pairs.subset(np.sort(order[:n_test]))


def split_nodes(
    pairs: SignedPairs, test_size: float = 0.5, random_state: Seed = None
) -> tuple[SignedPairs, SignedPairs]:
    """Training pairs among some of the nodes, test pairs among the others: no test node is in any training pair.

    Pairs with one node on either side belong to neither part; with half of the nodes on each side these are half of
    all pairs. Where nodes have classes, `sample_split_nodes` draws as many pairs as are wanted instead.

    Parameters
    ----------
    test_size : float, share of the nodes that occur in pairs to keep for the test
    """
    _check_share("test_size", test_size)
    occurring = np.unique(np.concatenate([pairs.first, pairs.second]))
    is_test = np.zeros(len(pairs.ids), dtype=bool)
    is_test[_some(occurring, test_size, random_state)] = True
    first, second = is_test[pairs.first], is_test[pairs.second]
    return pairs.subset(~first & ~second), pairs.subset(first & second)


def sample_split_nodes(
    labels: AnyArray,
    n_pairs: int,
    test_size: float = 0.2,
    random_state: Seed = None,
    *,
    test_nodes: float = 0.5,
    ids: NodeIds | None = None,
) -> tuple[SignedPairs, SignedPairs]:
    """Draw pairs from node classes, training pairs among one half of the nodes, test pairs among the other.

    Parameters
    ----------
    labels : (n_nodes,) integers, the class of each node, below 0 where it has none
    n_pairs : int, training and test pairs together
    test_size : float, share of the pairs to test on
    test_nodes : float, share of the nodes to keep for the test
    ids : NodeIds, optional, names for the nodes
    """
    _check_share("test_size", test_size)
    _check_share("test_nodes", test_nodes)
    rng = np.random.default_rng(random_state)
    labels = np.asarray(labels)
    hidden = _some(np.flatnonzero(labels >= 0), test_nodes, rng)
    is_test = np.zeros(len(labels), dtype=bool)
    is_test[hidden] = True
    n_test = round(test_size * n_pairs)
    train = sample_pairs(np.where(is_test, -1, labels), n_pairs - n_test, rng, ids)
    return train, sample_pairs(np.where(is_test, labels, -1), n_test, rng, ids)


def few_pairs(
    pairs: SignedPairs, n_train: int, n_test: int, random_state: Seed = None
) -> tuple[SignedPairs, SignedPairs]:
    """A few training pairs and a large test set that stays the same, however many are learned from.

    With the same seed the test pairs are the same for every ``n_train``, and a larger training set contains the smaller
    ones. Both parts have the signs in the proportion of all pairs.

    Parameters
    ----------
    n_train, n_test : int
    """
    check_integer("n_train", n_train, at_least=1)
    check_integer("n_test", n_test, at_least=1)
    if n_train + n_test > len(pairs):
        raise InputError(f"{n_train:,} + {n_test:,} pairs are wanted, but there are {len(pairs):,}")
    rng = np.random.default_rng(random_state)
    place = np.empty(len(pairs))
    for sign in (-1, 1):  # both signs evenly along the order, so that any stretch has them in proportion
        of_sign = rng.permutation(np.flatnonzero(pairs.y == sign))
        place[of_sign] = (np.arange(len(of_sign)) + 0.5) / max(1, len(of_sign))
    order = np.argsort(place, kind="stable")
    return pairs.subset(np.sort(order[n_test : n_test + n_train])), pairs.subset(np.sort(order[:n_test]))


def flip_pairs(pairs: SignedPairs, fraction: float, random_state: Seed = None) -> SignedPairs:
    """The same pairs, a share of them with the wrong sign: noise for training pairs, never for those of a test."""
    check_number("fraction", fraction, at_least=0)
    if fraction > 1:
        raise InputError(f"fraction is a share of the pairs, from 0 to 1; got {fraction!r}")
    chosen = np.random.default_rng(random_state).permutation(len(pairs))[: round(fraction * len(pairs))]
    y = pairs.y.copy()
    y[chosen] = -y[chosen]
    return SignedPairs.of_rows(pairs.ids, pairs.first, pairs.second, y, pairs.weight)


def hold_out(pairs: PairRows | None, rng: np.random.Generator) -> BoolArray | None:
    """Which pairs to learn from when some are needed to calibrate on: a tenth, both signs in proportion.

    None, that is no division, where there are fewer than two pairs of either sign.
    """
    if pairs is None:
        return None
    n_pairs = len(pairs.y)
    wanted = min(max(HELD_OUT_SHARE * n_pairs, min(HELD_OUT_AT_LEAST, n_pairs / 3)), HELD_OUT_AT_MOST)
    kept = np.ones(n_pairs, dtype=bool)
    for sign in (-1, 1):  # both signs in proportion, so that there is always something to compare
        of_sign = np.flatnonzero(pairs.y == sign)
        if len(of_sign) < 2:
            return None
        count = min(max(1, round(wanted * len(of_sign) / n_pairs)), len(of_sign) - 1)
        kept[rng.choice(of_sign, count, replace=False)] = False
    return kept


def folds(pairs: PairRows, rng: np.random.Generator) -> list[BoolArray]:
    """Which pairs to hold out, several times over, so that what is learned on them holds for new pairs of any nodes.

    Where few pairs touch a node, every pair is held out once (a tenth at a time, where there are many); some of them
    are then of nodes in no other pair. Where many do, all pairs of one node in ten are held out besides one tenth of
    the others: else nothing would tell how to judge nodes without pairs.
    """
    n_pairs = len(pairs.y)
    nodes = np.unique(np.concatenate([pairs.first, pairs.second]))
    place = rng.permutation(n_pairs) / n_pairs
    if 2 * n_pairs < FEW_A_NODE * len(nodes):
        share = 1 / N_FOLDS if n_pairs < MANY_PAIRS else HELD_OUT_SHARE
        return [(place >= fold * share) & (place < (fold + 1) * share) for fold in range(N_FOLDS)]
    order, found = rng.permutation(nodes), []
    for fold in range(N_FOLDS):
        hidden = np.zeros(int(nodes.max()) + 1, dtype=bool)
        hidden[np.array_split(order, HIDDEN_PARTS)[fold]] = True
        chosen = (place >= fold * HELD_OUT_SHARE) & (place < (fold + 1) * HELD_OUT_SHARE)
        found.append(hidden[pairs.first] | hidden[pairs.second] | chosen)
    return found


def _some(nodes: LongArray, share: float, random_state: Seed) -> LongArray:
    """A random share of the nodes, but at least two on either side."""
    if len(nodes) < 4:
        raise InputError(f"at least four nodes are needed to divide them; there are {len(nodes)}")
    count = min(max(2, round(share * len(nodes))), len(nodes) - 2)
    return np.sort(np.random.default_rng(random_state).permutation(nodes)[:count])


def _check_share(name: str, value: float) -> None:
    check_number(name, value, above=0)
    if value >= 1:
        raise InputError(f"{name} is a share, between 0 and 1; got {value!r}")
