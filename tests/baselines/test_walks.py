import numpy as np
import pytest
from scipy.stats import chisquare

from contrastive_fuse import Graph
from contrastive_fuse.baselines.walks import random_walks


@pytest.fixture(scope="module")
def graph():
    """A triangle 0-1-2 with a tail 2-3-4, weights of all sizes, and a node without edges."""
    return Graph.from_edges([0, 1, 0, 2, 3], [1, 2, 2, 3, 4], [1.0, 2.0, 4.0, 3.0, 0.5], nodes=6)


def test_walks_follow_edges(graph, seed):
    walks = random_walks(graph, 20, 15, seed)
    assert walks.shape == (120, 15)
    np.testing.assert_array_equal(np.bincount(walks[:, 0]), 20)
    linked = graph.adjacency.toarray() > 0
    for walk in walks:
        steps = walk[walk >= 0]
        assert linked[steps[:-1], steps[1:]].all()
    assert (walks[walks[:, 0] == 5, 1:] == -1).all()
    assert (walks[walks[:, 0] != 5] >= 0).all()


def test_same_walks_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 3000, (2, 9000)), nodes=3000)
    for p, q in ((1.0, 1.0), (0.5, 2.0)):
        one, two, other = (random_walks(graph, 4, 10, s, p=p, q=q, n_jobs=j) for s, j in ((1, 1), (1, 3), (2, 1)))
        np.testing.assert_array_equal(one, two)
        assert not np.array_equal(one, other)


def test_steps_are_in_proportion_to_weights(graph):
    walks = random_walks(graph, 4000, 2, 7)
    weights = graph.adjacency.toarray().astype(float)
    for node in range(5):
        seen = np.bincount(walks[walks[:, 0] == node, 1], minlength=6)
        expected = weights[node] / weights[node].sum()
        assert not seen[expected == 0].any()
        if np.count_nonzero(expected) > 1:
            assert chisquare(seen[expected > 0], seen.sum() * expected[expected > 0]).pvalue > 0.001


@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (0.5, 2.0)])
def test_second_order_steps_are_those_of_node2vec(graph, p, q):
    """From (before, node): weight times 1/p to return, 1 to a common neighbour, 1/q to go on."""
    walks = random_walks(graph, 6000, 3, 11, p=p, q=q)
    weights = graph.adjacency.toarray().astype(float)
    checked = 0
    for before in range(5):
        for node in np.flatnonzero(weights[before]):
            favour = np.where(np.arange(6) == before, 1 / p, np.where(weights[before] > 0, 1, 1 / q))
            expected = weights[node] * favour
            expected /= expected.sum()
            seen = np.bincount(walks[(walks[:, 0] == before) & (walks[:, 1] == node), 2], minlength=6)
            if np.count_nonzero(expected) > 1 and seen.sum() > 200:
                assert chisquare(seen[expected > 0], seen.sum() * expected[expected > 0]).pvalue > 0.001
                checked += 1
    assert checked >= 6
