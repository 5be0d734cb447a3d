import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrastive_fuse import (
    InputError,
    SignedPairs,
    draw_pairs,
    few_pairs,
    flip_pairs,
    load_dataset,
    sample_pairs,
    sample_split_nodes,
    split_nodes,
    split_pairs,
)

NAMES = [f"n{i}" for i in range(40)]
PAIRS = SignedPairs(
    [(a, b) for a in NAMES for b in NAMES if a < b],
    [1 if int(a[1:]) % 3 == int(b[1:]) % 3 else -1 for a in NAMES for b in NAMES if a < b],
)


def keys(pairs):
    return {frozenset(pair) for pair in pairs.pairs.tolist()}


def signs(pairs):
    return {frozenset(pair): int(y) for pair, y in zip(pairs.pairs.tolist(), pairs.y, strict=True)}


def touched(pairs):
    return set(pairs.pairs.ravel().tolist())


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=5, max_size=80),
    st.sampled_from([0.2, 0.5]),
    st.integers(0, 5),
)
def test_no_test_pair_is_trained_on_in_either_order(rows, share, seed):
    """Whatever is given: repeats, both orders, nodes with themselves."""
    pairs = SignedPairs(rows, [1] * len(rows))
    train, test = split_pairs(pairs, share, seed)
    assert not keys(train) & keys(test)
    assert keys(train) | keys(test) == keys(pairs)
    assert len(test) == round(share * len(pairs))


def test_split_pairs_keeps_signs_and_weights():
    pairs = SignedPairs([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")], [1, -1, 1, -1], [1, 2, 3, 4])
    train, test = split_pairs(pairs, 0.5, 0)
    assert signs(train) | signs(test) == signs(pairs)
    assert sorted([*train.weight, *test.weight]) == [1, 2, 3, 4]


@pytest.mark.parametrize("split", [split_pairs, split_nodes])
@pytest.mark.parametrize("test_size", [0, 1, -0.5, 2, "x", float("nan")])
def test_share_out_of_range(split, test_size):
    with pytest.raises(InputError, match="test_size"):
        split(PAIRS, test_size)


def test_split_nodes_hides_the_test_nodes(seed):
    train, test = split_nodes(PAIRS, 0.5, seed)
    assert not touched(train) & touched(test)
    assert touched(train) | touched(test) == set(NAMES)
    assert len(train) == len(test) == 20 * 19 / 2  # all pairs within either half
    assert signs(train) | signs(test) == {
        key: y for key, y in signs(PAIRS).items() if key in signs(train) | signs(test)
    }


def test_split_nodes_needs_nodes():
    with pytest.raises(InputError, match="at least four nodes are needed to divide them; there are 2"):
        split_nodes(SignedPairs([("a", "b")], [1]))


def test_sample_split_nodes(seed):
    labels = np.repeat([0, 1, 2, -1], [30, 40, 50, 20])
    train, test = sample_split_nodes(labels, 500, 0.2, seed)
    assert not touched(train) & touched(test)
    assert (len(train), len(test)) == (400, 100)
    for part in (train, test):
        first, second = labels[part.pairs.astype(int)].T
        np.testing.assert_array_equal(part.y, np.where(first == second, 1, -1))
        assert part.report.n_alike == len(part) // 2


def test_few_pairs_keep_their_test_set():
    """The test set does not depend on how many are learned from, and more contains less."""
    parts = {n: few_pairs(PAIRS, n, 300, random_state=3) for n in (20, 50, 400)}
    assert len({frozenset(keys(test)) for _, test in parts.values()}) == 1
    assert keys(parts[20][0]) < keys(parts[50][0]) < keys(parts[400][0])
    for n_train, (train, test) in parts.items():
        assert (len(train), len(test)) == (n_train, 300)
        assert not keys(train) & keys(test)


def test_few_pairs_have_both_signs_in_proportion():
    share = np.mean(PAIRS.y > 0)
    for n_train in (20, 50, 400):
        for part in few_pairs(PAIRS, n_train, 300, random_state=1):
            assert abs(np.sum(part.y > 0) - share * len(part)) <= 1.5


def test_few_pairs_of_too_few():
    with pytest.raises(InputError, match="700 \\+ 100 pairs are wanted, but there are 780"):
        few_pairs(PAIRS, 700, 100)


@pytest.mark.parametrize("fraction", [0, 0.1, 0.4, 1])
def test_flip(fraction):
    flipped = flip_pairs(PAIRS, fraction, random_state=0)
    before, after = signs(PAIRS), signs(flipped)
    assert before.keys() == after.keys()
    assert sum(before[key] != after[key] for key in before) == round(fraction * len(PAIRS))


@pytest.mark.parametrize("fraction", [-0.1, 1.1, "much"])
def test_flip_out_of_range(fraction):
    with pytest.raises(InputError, match="fraction"):
        flip_pairs(PAIRS, fraction)


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: split_pairs(PAIRS, 0.2, seed),
        lambda seed: split_nodes(PAIRS, 0.5, seed),
        lambda seed: few_pairs(PAIRS, 100, 100, seed),
        lambda seed: (flip_pairs(PAIRS, 0.2, seed),) * 2,
    ],
    ids=["pairs", "nodes", "few", "flip"],
)
def test_same_seed_same_division(draw):
    one, two, other = ([signs(part) for part in draw(seed)] for seed in (5, 5, 6))
    assert one == two != other


class TestDraw:
    @pytest.mark.parametrize("split", ["pairs", "nodes", "few"])
    def test_from_classes(self, split):
        data = load_dataset("digits")
        train, test = draw_pairs(data, 1000, split=split, random_state=0)
        assert (len(train), len(test)) == ((1000, 20_000) if split == "few" else (800, 200))
        assert not keys(train) & keys(test)
        assert bool(touched(train) & touched(test)) == (split != "nodes")

    def test_few_keep_their_test_set(self):
        data = load_dataset("digits")
        small, large = (draw_pairs(data, n, split="few", random_state=0) for n in (200, 5000))
        assert keys(small[1]) == keys(large[1])
        assert keys(small[0]) < keys(large[0])

    def test_only_training_pairs_are_flipped(self):
        data = load_dataset("digits")
        clean, noisy = (draw_pairs(data, 1000, flip=flip, random_state=0) for flip in (0, 0.25))
        assert signs(clean[1]) == signs(noisy[1])
        assert sum(signs(clean[0])[key] != y for key, y in signs(noisy[0]).items()) == 200

    def test_named_nodes(self):
        data = load_dataset("karate")
        named = type(data)("k", data.graph.with_ids([f"p{i}" for i in range(34)]), data.labels)
        for split in ("pairs", "nodes"):
            train, _ = draw_pairs(named, 40, split=split, random_state=0)
            assert touched(train) <= {f"p{i}" for i in range(34)}

    def test_a_set_without_classes_and_pairs(self):
        data = load_dataset("karate")
        bare = type(data)("bare", data.graph, np.full(34, -1, dtype=np.int32))
        with pytest.raises(InputError, match="bare has neither classes to draw pairs from nor pairs of its own"):
            draw_pairs(bare, 10)

    def test_own_pairs_are_used_whole(self):
        data = load_dataset("karate")
        own = type(data)("own", data.graph, np.full(34, -1, np.int32), pairs=sample_pairs(data.labels, 100, 0))
        train, test = draw_pairs(own, random_state=0)
        assert len(train) + len(test) == 100
        train, test = draw_pairs(own, 50, split="few", random_state=0)
        assert (len(train), len(test)) == (50, 20)
        train, test = draw_pairs(own, split="nodes", random_state=0)
        assert not touched(train) & touched(test)
