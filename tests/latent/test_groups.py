import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, Graph, SignedPairs, flip_pairs
from contrastive_fuse.latent import groups as stage
from contrastive_fuse.latent.groups import Evidence, MeanField, homophily_of, infer_groups, merge_cells


@pytest.fixture(scope="module")
def case(community_graph, community_pairs):
    """Graph, pairs as rows, and rows of stage one."""
    graph, train = community_graph.graph, community_pairs[0]
    rows = ContrastiveFUSE(16, readout="cosine", random_state=0).fit(graph, train).embedding_
    return graph, train.rows_in(graph.ids, "error")[0], rows


def rounds(objective):
    """The objective of each round; NaN lies between them."""
    ends = np.flatnonzero(np.isnan(objective))
    return [part[~np.isnan(part)] for part in np.split(np.asarray(objective), ends)]


def test_the_objective_rises(case, seed):
    graph, pairs, rows = case
    found = infer_groups(graph, pairs, rows, np.random.default_rng(seed))
    for part in rounds(found.objective):
        assert (np.diff(part) > -1e-5 * np.abs(part[1:])).all()


@pytest.mark.parametrize("name", ["cora", "wikics"])
@pytest.mark.parametrize("wrong", [0.0, 0.4])
def test_the_objective_rises_on_real_data(real_set, name, wrong):
    from contrastive_fuse import sample_pairs

    graph, labels = real_set(name)
    train = flip_pairs(sample_pairs(labels, 5000, 0), wrong, 0)
    rows = ContrastiveFUSE(32, readout="cosine", random_state=0).fit(graph, train).embedding_
    found = infer_groups(graph, train.rows_in(graph.ids, "error")[0], rows, np.random.default_rng(0))
    for part in rounds(found.objective):
        assert (np.diff(part) > -1e-5 * np.abs(part[1:])).all()
    assert sum(len(part) for part in rounds(found.objective)) > 5


def dense_terms(graph, pairs):
    """The edge term beyond the null model and the signed pairs, dense."""
    root = np.maximum(graph.degrees, 1e-12) ** 0.25
    edges = stage.EDGE_WEIGHT * graph.adjacency.toarray() / root[:, None] / root
    strength = edges.sum(axis=1)
    signed = np.zeros_like(edges)
    signed[pairs.first, pairs.second] = pairs.signed_weight
    return edges - np.outer(strength, strength) / strength.sum(), signed + signed.T


@pytest.mark.parametrize("kernel", ["numba", "reference"])
def test_a_step_is_the_formula(case, kernel):
    graph, pairs, _ = case
    group = np.random.default_rng(0).integers(0, 5, 600).astype(np.int32)
    work = MeanField(Evidence.of(graph, pairs, kernel, 1), pairs, group, kernel, 1)
    stage_rounds, stage.ROUNDS = stage.ROUNDS, 1
    iterations, stage.ITERATIONS_A_ROUND = stage.ITERATIONS_A_ROUND, 2
    try:
        found = work.run()
    finally:
        stage.ROUNDS, stage.ITERATIONS_A_ROUND = stage_rounds, iterations
    edges, signed = dense_terms(graph, pairs)
    rows = np.full((600, 5), 0.1 / 4)
    rows[np.arange(600), group] = 0.9
    lift = stage.log_lift(float(np.sum(rows.mean(axis=0) ** 2)))
    for expected in found.objective[:2]:
        pair = np.einsum("ij,ij->i", rows[pairs.first], rows[pairs.second])
        wrong = np.sum(np.where(pairs.y > 0, 1 - pair, pair))
        noise = np.clip((1 + wrong) / (2 + len(pair)), *stage.NOISE_RANGE)
        share = rows.mean(axis=0)
        field = lift * edges @ rows + np.log((1 - noise) / noise) * signed @ rows
        likelihood = np.sum(np.where(pairs.y > 0, np.log(noise), np.log(1 - noise))) + np.log(noise) + np.log(1 - noise)
        entropy = np.sum(rows * (np.log(share) - np.log(rows)))
        assert np.sum(field * rows) / 2 + entropy + likelihood == pytest.approx(expected, rel=1e-4)
        field += np.log(share)
        new = np.exp(field - field.max(axis=1, keepdims=True))
        rows = (rows + new / new.sum(axis=1, keepdims=True)) / 2
    np.testing.assert_allclose(found.posterior, rows[:, np.argsort(-rows.sum(axis=0))], atol=2e-3)
    assert found.noise == pytest.approx(noise, rel=1e-3)


def test_cells_are_merged_as_the_evidence_has_it(case):
    """Joining any two of the merged groups would lose, joining the cells within each has gained."""
    graph, pairs, _ = case
    cell = np.random.default_rng(0).integers(0, 30, 600).astype(np.int32)
    group = merge_cells(Evidence.of(graph, pairs, "numba", 1), pairs, cell)
    edges, signed = dense_terms(graph, pairs)
    lift = stage.log_lift(3 * float(np.sum((np.bincount(cell) / 600) ** 2)))
    whole = lift * edges + stage.log_odds(0.1) * signed
    member = np.eye(group.max() + 1)[group]
    between = member.T @ whole @ member
    np.fill_diagonal(between, -1.0)
    assert between.max() <= 1e-6 * np.abs(between).max()
    assert all(len(np.unique(group[cell == c])) == 1 for c in range(30))
    one_cell = np.zeros(600, dtype=np.int32)
    assert merge_cells(Evidence.of(graph, pairs, "numba", 1), pairs, one_cell).max() == 0


def test_groups_of_a_planted_graph(case, community_graph, seed):
    graph, pairs, rows = case
    found = infer_groups(graph, pairs, rows, np.random.default_rng(seed))
    group = found.posterior.argmax(axis=1)
    assert found.posterior.shape[1] == 3
    agreeing = sum(np.bincount(community_graph.labels[group == g]).max() for g in range(3))
    assert agreeing > 0.97 * 600
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1, atol=1e-5)
    inside = community_graph.labels[graph.edges()[0]] == community_graph.labels[graph.edges()[1]]
    assert homophily_of(graph, found.posterior) == pytest.approx(inside.mean(), abs=0.03)


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.3])
def test_noise_is_found(community_graph, community_pairs, case, wrong):
    graph, _, rows = case
    pairs = flip_pairs(community_pairs[0], wrong, 1).rows_in(graph.ids, "error")[0]
    found = infer_groups(graph, pairs, rows, np.random.default_rng(0))
    assert found.noise == pytest.approx(wrong, abs=0.03)


def test_same_bits_for_any_number_of_threads(case):
    graph, pairs, rows = case
    bits = {
        infer_groups(graph, pairs, rows, np.random.default_rng(0), n_jobs=n_jobs).posterior.tobytes()
        for n_jobs in (1, 2, 4)
    }
    assert len(bits) == 1


def test_no_edges_or_one_group(case):
    _, pairs, rows = case
    nothing = Graph.from_edges([], [], nodes=600)
    found = infer_groups(nothing, pairs, rows, np.random.default_rng(0))
    assert np.isfinite(found.posterior).all()
    assert homophily_of(nothing, found.posterior) == 0
    alike = SignedPairs([(i, i + 1) for i in range(99)], np.ones(99)).rows_in(nothing.ids, "error")[0]
    one = infer_groups(nothing, alike, np.tile(rows[:1], (600, 1)), np.random.default_rng(0))
    assert one.posterior.shape == (600, 1)
    assert one.converged
