import networkx as nx
import numpy as np
import pytest

from contrastive_fuse import Graph, InputError, load_dataset
from contrastive_fuse.rows import random_rows
from contrastive_fuse.theory import (
    edge_bound,
    gradient_cosine,
    lipschitz_constant,
    modularity,
    objective_value,
    structure_gradient,
)

# The paper's table of edge bounds: n, m, norm of the degrees, c(G), m_min, as printed.
PAPER = {
    "cora": (2708, 5278, "3.39e+02", "0.176", "459.3"),
    "citeseer": (3327, 4552, "2.51e+02", "0.285", "714.9"),
    "pubmed": (19717, 44324, "1.22e+03", "0.235", "1252.6"),
    "amazon-photo": (7650, 119081, "4.95e+03", "0.216", "30.0"),
    "ogbn-arxiv": (169343, 1157799, "2.88e+04", "0.049", "971.9"),
}


@pytest.fixture
def karate():
    return load_dataset("karate").graph


def dense(graph):
    return graph.adjacency.toarray().astype(float)


@pytest.mark.parametrize("name", PAPER)
def test_edge_bounds_of_the_paper_to_the_printed_digits(name, real_set):
    bound = edge_bound(real_set(name)[0])
    printed = (
        bound.n_nodes, bound.n_edges, f"{bound.degree_norm:.2e}", f"{bound.zagreb_constant:.3f}", f"{bound.m_min:.1f}",
    )  # fmt: skip
    assert printed == PAPER[name]
    assert bound.holds


def test_edge_bound_of_wikics_within_a_per_cent(real_set):
    """Its 520 self-loops are stored apart and counted by the paper."""
    bound = edge_bound(real_set("wikics")[0])
    assert bound.degree_norm == pytest.approx(8.62e3, rel=0.01)
    assert bound.zagreb_constant == pytest.approx(0.180, rel=0.01)
    assert bound.m_min == pytest.approx(30.9, rel=0.01)


def test_edge_bound_of_wikics_to_the_printed_digits_with_its_loops(real_set, data_folder):
    graph, _ = real_set("wikics")
    with np.load(data_folder / "wikics.npz") as stored:
        bound = edge_bound(graph, stored["selfloop_nodes"])
    assert (bound.n_edges, f"{bound.degree_norm:.2e}") == (216_123, "8.62e+03")
    assert (f"{bound.zagreb_constant:.3f}", f"{bound.m_min:.1f}") == ("0.180", "30.9")


def test_edge_bound_with_a_loop_by_hand():
    bound = edge_bound(Graph.from_edges([0], [1]), np.array([0]))  # degrees 2 and 1, edges (0, 0) and (0, 1)
    assert (bound.n_edges, bound.zagreb) == (2, 2 * 2 + 2 * 1)
    assert bound.zagreb_constant == pytest.approx(6 * 2 / 25)


def test_edge_bound_by_hand():
    bound = edge_bound(Graph.from_edges([0, 1], [1, 2]))  # degrees 1, 2, 1
    assert bound.zagreb == 4
    assert bound.zagreb_constant == pytest.approx(4 * 2 / 36)
    assert bound.m_min == pytest.approx((1 + 3 / 6**0.5) ** 2 / (8 / 36))


def test_edge_bound_needs_an_edge():
    with pytest.raises(InputError, match="at least one edge"):
        edge_bound(Graph.from_edges([], [], nodes=3))


def test_modularity_of_one_hot_rows_is_newmans():
    club = nx.karate_club_graph()
    parts = list(nx.community.greedy_modularity_communities(club))
    rows = np.zeros((34, len(parts)), dtype=np.float32)
    for column, part in enumerate(parts):
        rows[list(part), column] = 1
    assert modularity(load_dataset("karate").graph, rows) == pytest.approx(
        nx.community.modularity(club, parts), abs=1e-6
    )


def test_objective_value_is_j(community_graph, community_pairs):
    graph = community_graph.graph
    pairs = community_pairs[0].rows_in(graph.ids)[0]
    rows = random_rows(graph.n_nodes, 8, 0)
    n, degrees = graph.n_nodes, graph.degrees
    signed = np.zeros((n, n))
    signed[pairs.first, pairs.second] = pairs.y
    signed += signed.T
    scale = 1 / np.sqrt(np.maximum(np.abs(signed).sum(axis=1), 1))
    laplacian = np.eye(n) - scale[:, None] * signed * scale
    matrix = dense(graph) - np.outer(degrees, np.ones(n)) / degrees.sum() - 0.4 * laplacian
    assert objective_value(graph, pairs, rows, 0.4) == pytest.approx(np.trace(rows.T @ matrix @ rows), rel=1e-5)


@pytest.mark.parametrize("exact", [True, False])
def test_structure_gradient(karate, exact):
    rows = random_rows(34, 8, 0)
    aggregate = karate.degrees if exact else np.ones(34)
    expected = (dense(karate) - np.outer(karate.degrees, aggregate) / karate.degrees.sum()) @ rows
    np.testing.assert_allclose(structure_gradient(karate, rows, exact=exact), expected, atol=1e-4)


def test_gradients_are_nearly_parallel_at_random_rows(real_set):
    """The paper reports a cosine of 0.995 on Cora."""
    graph, _ = real_set("cora")
    assert gradient_cosine(graph, random_rows(graph.n_nodes, 150, 0)) == pytest.approx(0.995, abs=0.004)


def test_gradients_of_a_regular_graph_are_parallel():
    """Where all degrees are equal both null terms point the same way; with sum zero rows they vanish."""
    ring = Graph.from_edges(np.arange(10), (np.arange(10) + 1) % 10)
    rows = random_rows(10, 4, 0)
    centred = (rows - rows.mean(axis=0)).astype(np.float32)
    assert gradient_cosine(ring, centred) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("lam", [0.0, 2.0])
def test_lipschitz_constant_is_the_spectral_norm(community_graph, community_pairs, lam):
    graph = community_graph.graph
    pairs = community_pairs[0].rows_in(graph.ids)[0]
    n, degrees = graph.n_nodes, graph.degrees
    signed = np.zeros((n, n))
    signed[pairs.first, pairs.second] = pairs.y
    signed += signed.T
    scale = 1 / np.sqrt(np.maximum(np.abs(signed).sum(axis=1), 1))
    matrix = dense(graph) - np.outer(degrees, np.ones(n)) / degrees.sum()
    matrix = (matrix + matrix.T) / 2 - lam * (np.eye(n) - scale[:, None] * signed * scale)
    assert lipschitz_constant(graph, pairs, lam) == pytest.approx(2 * np.linalg.norm(matrix, 2), rel=1e-4)


def test_lipschitz_constant_of_two_nodes():
    """B = [[-1/2, 1/2], [1/2, -1/2]] has spectral norm 1."""
    assert lipschitz_constant(Graph.from_edges([0], [1])) == pytest.approx(2)
