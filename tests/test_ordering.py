import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, Graph, SignedPairs, ordering
from contrastive_fuse.arrangement import Arrangement
from contrastive_fuse.datasets import planted
from contrastive_fuse.ordering import locality_order, worth_ordering
from contrastive_fuse.rows import random_rows
from contrastive_fuse.sparse import SparseRows, inverse_order


@pytest.fixture
def small_caches(monkeypatch):
    """Caches so small that the graphs of these tests exceed them."""
    monkeypatch.setattr(ordering, "CACHES", (1 << 11, 1 << 13))


def rows_of(graph):
    return SparseRows(graph.indptr, graph.indices, graph.weights)


def share_of_short_edges(graph, place):
    first, second = graph.edges()
    return np.mean(np.abs(place[first].astype(int) - place[second]) < graph.n_nodes / 20)


@pytest.mark.usefixtures("small_caches")
class TestOrder:
    def test_every_node_once(self, seed):
        graph = planted(500, 2000, 4, 3, random_state=seed).graph
        order = locality_order(rows_of(graph), 64)
        np.testing.assert_array_equal(np.sort(order), np.arange(500))

    def test_neighbours_move_together(self, seed):
        data = planted(3000, 24_000, 5, 4, random_state=seed)
        place = inverse_order(locality_order(rows_of(data.graph), 16))
        best = inverse_order(np.argsort(data.info["communities"], kind="stable"))
        shuffled, found, planted_order = (share_of_short_edges(data.graph, p) for p in (np.arange(3000), place, best))
        assert found > (shuffled + planted_order) / 2

    def test_groups_respect_the_cache(self):
        """A clique larger than the limit is cut into groups of at most that size."""
        n, limit = 40, 8
        first, second = np.triu_indices(n, 1)
        graph = Graph.from_edges(first, second)
        label, n_groups = ordering._group(
            graph.indptr, graph.indices, np.empty(0, np.float32), False, np.ones(n, np.int64), limit
        )
        assert np.bincount(label, minlength=n_groups).max() <= limit
        assert n_groups == label.max() + 1

    def test_contracted_graph_keeps_strengths_and_sizes(self):
        graph = Graph.from_edges([0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 5], nodes=7)
        label = np.array([0, 0, 1, 1, 2, 2, 3], np.int32)
        starts, members = ordering._members(label, 4)
        indptr, indices, strength, sizes = ordering._contract(
            graph.indptr, graph.indices, np.empty(0, np.float32), False, label, starts, members, np.ones(7, np.int64)
        )
        dense = np.zeros((4, 4))
        for group in range(4):
            dense[group, indices[indptr[group] : indptr[group + 1]]] = strength[indptr[group] : indptr[group + 1]]
        np.testing.assert_array_equal(dense, [[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
        assert sizes.tolist() == [2, 2, 2, 1]

    @pytest.mark.parametrize("graph", [Graph.from_edges([], [], nodes=9), Graph.from_edges([0], [1], nodes=50)])
    def test_hardly_any_edges(self, graph):
        order = locality_order(rows_of(graph), 512)
        np.testing.assert_array_equal(np.sort(order), np.arange(graph.n_nodes))

    def test_only_tables_beyond_the_caches(self):
        graph = planted(500, 2000, 4, 3).graph
        assert worth_ordering(rows_of(graph), 64)
        assert not worth_ordering(rows_of(graph), 16)
        assert not worth_ordering(rows_of(Graph.from_edges([], [], nodes=5000)), 64)


def as_edges(graph):
    names = list(graph.ids)
    weights = graph.adjacency.toarray()
    return {frozenset((names[a], names[b])): weights[a, b] for a, b in zip(*graph.edges(), strict=True)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [range(30), [f"n{i}" for i in range(30)], [("t", i) for i in range(30)]])
def test_reordered_graph_is_the_same_graph(names, weighted, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 30, (2, 60))
    weight = rng.uniform(0.5, 2, 60) if weighted else None
    graph = Graph.from_edges(first, second, weight, nodes=30).with_ids(list(names))
    order = rng.permutation(30).astype(np.int32)
    moved = graph.reordered(order)
    assert as_edges(moved) == as_edges(graph)
    assert [moved.ids[row] for row in range(30)] == [graph.ids[row] for row in order]
    np.testing.assert_allclose(moved.degrees, graph.degrees[order])


@pytest.mark.usefixtures("small_caches")
class TestWorkingOrder:
    def test_there_and_back(self, community_graph):
        rows = random_rows(600, 12, 0)
        working = Arrangement.for_graph(community_graph.graph, 12)
        assert working.order is not None
        np.testing.assert_array_equal(working.outward(working.inward(rows)), rows)
        np.testing.assert_array_equal(working.inward(rows), rows[working.order])

    @pytest.mark.parametrize("objective", ["balanced", "paper"])
    @pytest.mark.parametrize("n_components", [5, 16])
    def test_the_result_does_not_depend_on_it(
        self, community_graph, community_pairs, objective, n_components, monkeypatch
    ):
        train, test = community_pairs
        options = {"objective": objective, "max_iter": 5, "tol": 0.0, "readout": "cosine", "random_state": 0}
        ordered = ContrastiveFUSE(n_components, **options).fit(community_graph.graph, train)
        monkeypatch.setattr(ordering, "CACHES", (1 << 21, 1 << 25))
        as_given = ContrastiveFUSE(n_components, **options).fit(community_graph.graph, train)
        np.testing.assert_allclose(ordered.embedding_, as_given.embedding_, atol=1e-3)
        np.testing.assert_allclose(ordered.pair_score(test), as_given.pair_score(test), atol=1e-3)
        assert ordered.threshold_ == pytest.approx(as_given.threshold_, abs=1e-2)
        assert list(ordered.ids_) == list(as_given.ids_)

    def test_warm_start_and_names(self):
        data = planted(400, 1500, 4, 3)
        graph = data.graph.with_ids([f"n{i}" for i in range(400)])
        pairs = SignedPairs([("n0", "n1"), ("n2", "n3"), ("n4", "n5"), ("n6", "n7")], [1, -1, 1, -1])
        start = random_rows(400, 16, 1)
        model = ContrastiveFUSE(16, calibration=None, max_iter=0).fit(graph, pairs, init=start)
        np.testing.assert_array_equal(model.embedding_, start)

    def test_same_bits_for_any_number_of_threads(self, community_graph, community_pairs):
        bits = {
            ContrastiveFUSE(16, n_jobs=n, random_state=0).fit(community_graph.graph, community_pairs[0])
            .embedding_.tobytes()
            for n in (1, 2, 3)
        }  # fmt: skip
        assert len(bits) == 1
