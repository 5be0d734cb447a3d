from time import perf_counter

import numpy as np
import pytest
from scipy.stats import chisquare

from contrastive_fuse import InputError, sample_pairs
from contrastive_fuse.ids import NodeIds

LABELS = np.repeat([0, 1, 2, -1], [40, 25, 10, 30])[np.random.default_rng(0).permutation(105)]


def keys(pairs, n_nodes):
    rows = np.sort(pairs.pairs, axis=1)
    return rows[:, 0] * n_nodes + rows[:, 1]


@pytest.mark.parametrize(("n_pairs", "n_alike"), [(2, 1), (100, 50), (101, 50), (1000, 500)])
def test_half_alike_half_unlike(n_pairs, n_alike):
    pairs = sample_pairs(LABELS, n_pairs, random_state=0)
    assert (pairs.report.n_alike, pairs.report.n_unlike) == (n_alike, n_pairs - n_alike)


def test_signs_follow_the_labels():
    pairs = sample_pairs(LABELS, 600, random_state=1)
    first, second = LABELS[pairs.pairs].T
    np.testing.assert_array_equal(pairs.y, np.where(first == second, 1, -1))


def test_pairs_are_distinct_and_of_two_nodes():
    pairs = sample_pairs(LABELS, 1500, random_state=2)
    assert (pairs.pairs[:, 0] != pairs.pairs[:, 1]).all()
    assert len(np.unique(keys(pairs, len(LABELS)))) == 1500


def test_unlabelled_nodes_are_never_drawn():
    assert (LABELS[sample_pairs(LABELS, 2000, random_state=3).pairs] >= 0).all()


def test_every_class_is_drawn():
    pairs = sample_pairs(LABELS, 400, random_state=4)
    alike = LABELS[pairs.pairs[pairs.y > 0, 0]]
    assert set(alike) == {0, 1, 2}


def test_same_seed_same_pairs():
    one, two, other = (keys(sample_pairs(LABELS, 200, random_state=seed), 105).tolist() for seed in (7, 7, 8))
    assert one == two != other


def test_a_half_with_too_few_is_drawn_with_replacement():
    """As in the paper; repeats are folded before any split, and counted."""
    labels = np.array([0, 0, 1, 1, 1])
    pairs = sample_pairs(labels, 100, random_state=0)
    assert (pairs.report.n_alike, pairs.report.n_unlike) == (1 + 3, 2 * 3)
    assert (pairs.report.rows_read, pairs.report.repeats_folded) == (100, 90)


def test_only_the_half_with_too_few_is_drawn_with_replacement():
    labels = np.append(np.arange(60), [0, 0])  # 3 alike pairs, 1,888 unlike ones
    report = sample_pairs(labels, 200, random_state=1).report
    assert report.n_unlike == 100
    assert report.repeats_folded == 100 - report.n_alike
    assert report.n_alike <= 3


def test_ids_name_the_pairs():
    ids = NodeIds(["w", "x", "y", "z"])
    pairs = sample_pairs(np.array([0, 0, 1, 1]), 100, random_state=0, ids=ids)
    alike = {frozenset(pair) for pair in pairs.pairs[pairs.y > 0].tolist()}
    assert alike == {frozenset("wx"), frozenset("yz")}


@pytest.mark.parametrize("sign", [1, -1])
def test_draws_are_uniform_within_each_half(sign):
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, -1])
    rows, columns = np.triu_indices(10, 1)
    wanted = (labels[rows] == labels[columns]) == (sign > 0)
    cells = rows[wanted] * len(labels) + columns[wanted]
    counts = dict.fromkeys(cells.tolist(), 0)
    rng = np.random.default_rng(11)
    for _ in range(3000):
        pairs = sample_pairs(labels, 8, random_state=rng)
        for key in keys(pairs.subset(pairs.y == sign), len(labels)).tolist():
            counts[key] += 1
    assert len(counts) == len(cells)
    assert chisquare(list(counts.values())).pvalue > 0.01


@pytest.mark.parametrize("sign", [1, -1])
def test_draws_that_are_uniform_over_nodes(sign):
    """The first node is any node alike; with many classes of uneven size that is not uniform over pairs."""
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, -1, 3])
    n_pairs = np.zeros((12, 12))
    for first in range(12):
        partners = [
            p for p in range(12) if p != first and labels[p] >= 0 and (labels[p] == labels[first]) == (sign > 0)
        ]
        if labels[first] >= 0 and partners:
            n_pairs[first, partners] += 1 / len(partners)
    expected = (n_pairs + n_pairs.T)[np.triu_indices(12, 1)]
    counts = np.zeros((12, 12))
    rng = np.random.default_rng(5)
    for _ in range(4000):
        pairs = sample_pairs(labels, 2, random_state=rng, uniform_over="nodes")
        first, second = pairs.pairs[pairs.y == sign][0]
        counts[min(first, second), max(first, second)] += 1
    counts = counts[np.triu_indices(12, 1)]
    possible = expected > 0
    assert not counts[~possible].any()
    assert chisquare(counts[possible], 4000 * expected[possible] / expected.sum()).pvalue > 0.01


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2], [-1, -1], [0, 0, -1]])
def test_pairs_of_both_signs_must_exist(labels):
    with pytest.raises(InputError, match="two classes, and two nodes of one class"):
        sample_pairs(np.array(labels), 10)


@pytest.mark.parametrize("n_pairs", [0, 1, 2.5, "10"])
def test_number_of_pairs_is_checked(n_pairs):
    with pytest.raises(InputError, match="n_pairs must be"):
        sample_pairs(LABELS, n_pairs)


def test_half_a_million_pairs_of_ogbn_arxiv_in_two_seconds(real_set):
    _, labels = real_set("ogbn-arxiv")
    started = perf_counter()
    pairs = sample_pairs(labels, 500_000, random_state=0)
    assert perf_counter() - started < 2
    assert len(pairs) == 500_000
