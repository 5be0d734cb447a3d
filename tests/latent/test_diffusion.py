import numpy as np
import pytest

from contrastive_fuse import Graph, SignedPairs
from contrastive_fuse.latent import diffusion
from contrastive_fuse.rows import aligned_copy


@pytest.fixture(params=["numba", "reference"])
def kernel(request):
    return request.param


def dense(graph):
    """``D^-1/2 A D^-1/2`` in double precision."""
    root = np.sqrt(np.maximum(graph.degrees, 1e-12))
    return graph.adjacency.toarray() / root[:, None] / root


@pytest.fixture(scope="module")
def weighted():
    """A graph with weights and two nodes that have no edge."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 48, (2, 150))
    return Graph.from_edges(*ends, rng.uniform(0.5, 3, 150).astype(np.float32), nodes=50)


def test_spread_sums_walks_of_every_length(weighted, kernel):
    given = np.random.default_rng(1).standard_normal((50, 5)).astype(np.float32)
    found = diffusion.spread(diffusion.walks(weighted, 0.8), aligned_copy(given), 6, kernel, 2)[:, :5]
    step, walk, expected = 0.8 * dense(weighted), given.astype(float), 0.2 * given.astype(float)
    for length in range(1, 7):
        walk = step @ walk
        expected += walk * (0.2 if length < 6 else 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_smooth_rows_are_means_over_random_walks(weighted, kernel):
    rows = np.random.default_rng(1).standard_normal((50, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = diffusion.smooth_rows(weighted, rows, kernel, 1)
    degrees = np.maximum(weighted.degrees, 1e-12)
    step, walk, expected = 0.8 * weighted.adjacency.toarray() / degrees[:, None], rows.astype(float), 0.2 * rows
    for length in range(1, 9):
        walk = step @ walk
        expected = expected + walk * (0.2 if length < 8 else 1.0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    alone = np.diff(weighted.indptr) == 0
    assert alone.sum() >= 2
    np.testing.assert_allclose(found[alone], rows[alone], atol=1e-6)


def test_settled_posteriors_are_the_fixed_rule(weighted, kernel):
    rng = np.random.default_rng(2)
    posterior = rng.dirichlet(np.ones(3), 50).astype(np.float32)
    pairs = SignedPairs(rng.integers(0, 30, (60, 2)), rng.choice([-1, 1], 60)).rows_in(weighted.ids, "error")[0]
    evidence = diffusion.evidence_of(pairs, 50)
    found = diffusion.settle(weighted, posterior, evidence, kernel, 1)
    kept = (diffusion.OWN_SHARE * evidence)[:, None]
    own = kept * posterior
    settled = own + (1 - kept) * 0.1 * own
    start = settled
    for _ in range(diffusion.SETTLING_STEPS):
        settled = start + (1 - kept) * 0.9 * (dense(weighted) @ settled)
    settled = settled + diffusion.PRIOR * kept.mean() * posterior.mean(axis=0)
    np.testing.assert_allclose(found, settled / settled.sum(axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_evidence_counts_pairs(tiny):
    graph, pairs = tiny
    evidence = diffusion.evidence_of(pairs.rows_in(graph.ids, "error")[0], 8)
    np.testing.assert_allclose(evidence, [2 / 3, 0, 0, 2 / 3, 2 / 3, 0, 0.5, 0.5])


def test_diffused_rows_carry_a_pair_to_its_surroundings():
    """Two cliques of 20 joined by a path: one pair tells them apart, or together."""
    first, second = np.triu_indices(20, 1)
    graph = Graph.from_edges(
        np.concatenate([first, first + 20, [0, 40]]), np.concatenate([second, second + 20, [40, 20]]), nodes=41
    )
    for sign in (-1, 1):
        pairs = SignedPairs([(5, 25), (6, 26)], [sign, sign]).rows_in(graph.ids, "error")[0]
        rows = diffusion.diffused_rows(graph, pairs, np.random.default_rng(0), "numba", 1)
        assert sign * (rows[10] @ rows[30]) > 0.5
        assert rows[10] @ rows[11] > 0.9


@pytest.mark.parametrize("weighted_pairs", [False, True])
def test_both_signs_count_the_same(weighted_pairs):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(100) < 10, 1, -1)
    weight = rng.uniform(0.5, 2, 100).astype(np.float32) if weighted_pairs else None
    ids = Graph.from_edges([], [], nodes=200).ids
    pairs = SignedPairs(np.arange(200).reshape(100, 2), y, weight).rows_in(ids, "error")[0]
    even = diffusion.even_signs(pairs)
    assert even.weight[y > 0].sum() == pytest.approx(even.weight[y < 0].sum(), rel=1e-5)
    assert even.weight.sum() == pytest.approx(100 if weight is None else weight.sum(), rel=1e-5)
    one_sided = pairs.subset(y < 0)
    assert diffusion.even_signs(one_sided) is one_sided
