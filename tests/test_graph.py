from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from contrastive_fuse import Graph, InputError
from contrastive_fuse.graph import GraphReport
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.sparse import symmetric_rows


def edge_set(graph):
    """Edges as {frozenset of ids: weight}."""
    matrix = graph.adjacency
    first, second = graph.edges()
    names = list(graph.ids)
    return {frozenset((names[a], names[b])): matrix[a, b] for a, b in zip(first, second, strict=True)}


def dense(first, second, weight, n_nodes, repeats):
    """What the rule says, in plain loops."""
    matrix = np.zeros((n_nodes, n_nodes), dtype=np.float32)
    for a, b, w in zip(first, second, weight, strict=True):
        if a != b:
            matrix[a, b] = matrix[a, b] + w if repeats == "sum" else max(matrix[a, b], w)
            matrix[b, a] = matrix[a, b]
    return matrix


class TestTheRule:
    def test_direction_is_dropped(self):
        graph = Graph.from_edges(["b", "b"], ["a", "c"])
        assert edge_set(graph) == {frozenset("ab"): 1, frozenset("bc"): 1}

    def test_isolated_nodes_keep_their_rows(self):
        graph = Graph.from_edges([1], [3], nodes=5)
        np.testing.assert_array_equal(np.diff(graph.indptr), [0, 1, 0, 1, 0])

    def test_the_node_of_a_self_loop_stays(self):
        graph = Graph.from_edges(["a", "b"], ["b", "b"])
        assert list(graph.ids) == ["a", "b"]
        assert graph.n_edges == 1

    def test_the_nodes_of_a_zero_weight_edge_stay(self):
        graph = Graph.from_edges(["a", "c"], ["b", "d"], [1, 0])
        assert set(graph.ids) == set("abcd")
        assert edge_set(graph) == {frozenset("ab"): 1}

    @pytest.mark.parametrize(("repeats", "weight"), [("max", 3), ("sum", 6)])
    def test_repeats_in_either_direction(self, repeats, weight):
        graph = Graph.from_edges([0, 1, 0], [1, 0, 1], [1, 3, 2], repeats=repeats)
        assert edge_set(graph) == {frozenset((0, 1)): weight}

    def test_summing_without_weights_counts(self):
        graph = Graph.from_edges([0, 1, 1], [1, 0, 2], repeats="sum")
        assert edge_set(graph) == {frozenset((0, 1)): 2, frozenset((1, 2)): 1}

    def test_weights_are_kept(self):
        graph = Graph.from_edges([0, 1], [1, 2], [0.5, 2.25])
        assert edge_set(graph) == {frozenset((0, 1)): 0.5, frozenset((1, 2)): 2.25}

    def test_weights_of_one_are_no_weights(self):
        assert not Graph.from_edges([0, 1], [1, 2], [1, 1]).is_weighted

    def test_disconnected_parts(self):
        graph = Graph.from_edges(["a", "x"], ["b", "y"])
        assert edge_set(graph) == {frozenset("ab"): 1, frozenset("xy"): 1}

    def test_no_edges_at_all(self):
        graph = Graph.from_edges([], [], nodes=3)
        assert (graph.n_nodes, graph.n_edges) == (3, 0)
        np.testing.assert_array_equal(graph.degrees, [0, 0, 0])


class TestReport:
    def test_everything_is_counted(self):
        graph = Graph.from_edges([0, 1, 0, 2, 3, 3, 0], [1, 0, 1, 2, 4, 4, 4], [1, 3, 2, 9, 0, 0, 0], nodes=6)
        assert graph.report == GraphReport(
            rows_read=7,
            n_nodes=6,
            n_edges=1,
            isolated_nodes=4,
            self_loops_left_out=1,
            zero_weights_left_out=3,
            repeats_folded=2,
            both_directions_listed=False,
            weighted=True,
        )

    def test_both_directions(self):
        report = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1]).report
        assert report.both_directions_listed
        assert "every edge was listed in both directions; each counts once" in report.lines()

    @pytest.mark.parametrize(("first", "second"), [([0, 1, 1], [1, 0, 2]), ([0, 0], [1, 1]), ([0], [1])])
    def test_not_every_edge_in_both_directions(self, first, second):
        assert not Graph.from_edges(first, second).report.both_directions_listed

    def test_lines_name_what_was_done(self):
        text = " ".join(Graph.from_edges([0, 0, 2, 3], [1, 1, 2, 4], [1, 2, 1, 0], nodes=6).report.lines())
        assert "6 nodes, 1 weighted edge" in text
        assert "1 row repeated" in text
        assert "1 self-loop " in text
        assert "1 edge of weight zero" in text
        assert "4 nodes without an edge" in text

    def test_tidy_input_is_one_line(self):
        assert Graph.from_edges([0], [1]).report.lines() == ["2 nodes, 1 edge"]

    def test_survives_a_dict(self):
        report = Graph.from_edges([0, 1], [1, 1]).report
        assert GraphReport.from_dict(report.to_dict()) == report
        assert report.to_dict() == asdict(report)


class TestIds:
    @pytest.mark.parametrize(
        ("source", "target"),
        [
            ([100, 7], [7, 55]),
            ([2**62, 5], [5, -9]),
            (np.array([2**64 - 1, 5], dtype=np.uint64), np.array([5, 2**63], dtype=np.uint64)),
            (["007", "7"], ["7", "07"]),
            (["NA", "null"], ["nan", ""]),
            ([(0, 1), (1, 2)], [(1, 2), (2, 3)]),
            (["a", 1], [1, (2, 3)]),
            (np.array([5, 6], np.int32), np.array([6, 7], np.int64)),
        ],
    )
    def test_any_hashable(self, source, target):
        graph = Graph.from_edges(source, target)
        left, right = (x.tolist() if isinstance(x, np.ndarray) else x for x in (source, target))
        assert edge_set(graph) == {frozenset(edge): 1 for edge in zip(left, right, strict=True)}

    def test_given_nodes_set_the_row_order(self):
        graph = Graph.from_edges(["a"], ["c"], nodes=["c", "b", "a"])
        assert list(graph.ids) == ["c", "b", "a"]
        np.testing.assert_array_equal(graph.adjacency.toarray()[0], [0, 0, 1])

    def test_unknown_nodes_are_named(self):
        with pytest.raises(InputError, match="name 7 nodes not among the given nodes: 2, 3, 4, 5, 6 and 2"):
            Graph.from_edges([0] * 7, list(range(2, 9)), nodes=2)

    def test_with_ids_renames(self):
        graph = Graph.from_edges([0, 1], [1, 2]).with_ids(["x", "y", "z"])
        assert edge_set(graph) == {frozenset("xy"): 1, frozenset("yz"): 1}

    def test_with_ids_checks_the_number(self):
        with pytest.raises(InputError, match="2 ids were given for a graph of 3 nodes"):
            Graph.from_edges([0, 1], [1, 2]).with_ids(["x", "y"])


class TestFromAdjacency:
    SYMMETRIC = np.array([[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]], dtype=float)
    UPPER = np.triu(SYMMETRIC)

    @pytest.mark.parametrize("matrix", [SYMMETRIC, UPPER, UPPER.T], ids=["symmetric", "upper", "lower"])
    @pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array, sp.csc_matrix, np.asarray])
    @pytest.mark.parametrize("repeats", ["max", "sum"])
    def test_same_graph_whichever_triangle(self, matrix, form, repeats):
        graph = Graph.from_adjacency(form(matrix), repeats=repeats)
        np.testing.assert_array_equal(graph.adjacency.toarray(), self.SYMMETRIC)

    def test_of_unequal_directions_the_larger_counts(self):
        graph = Graph.from_adjacency(np.array([[0.0, 1.0], [4.0, 0.0]]))
        assert edge_set(graph) == {frozenset((0, 1)): 4}

    def test_boolean_matrices_have_no_weights(self):
        assert not Graph.from_adjacency(sp.csr_array(self.SYMMETRIC > 0)).is_weighted

    def test_diagonal_is_left_out(self):
        assert Graph.from_adjacency(np.eye(3)).report.self_loops_left_out == 3

    def test_ids_name_the_rows(self):
        assert list(Graph.from_adjacency(self.UPPER, list("abcd")).ids) == list("abcd")

    def test_must_be_square(self):
        with pytest.raises(InputError, match=r"must be square; got shape \(2, 3\)"):
            Graph.from_adjacency(np.ones((2, 3)))

    def test_must_have_as_many_ids(self):
        with pytest.raises(InputError, match="2 ids were given for an adjacency matrix of 4 nodes"):
            Graph.from_adjacency(self.UPPER, ["a", "b"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, -2], r"not negative; 1 are not, the first in row 1 \(-2\)"),
            ([np.nan, 1], r"the first in row 0 \(nan\)"),
            ([1, np.inf], r"the first in row 1 \(inf\)"),
            ([1], r"one weight for each of the 2 edges; got shape \(1,\)"),
            (["x", "y"], "edge weights must be numbers"),
        ],
    )
    def test_weights(self, weight, message):
        with pytest.raises(InputError, match=message):
            Graph.from_edges([0, 1], [1, 2], weight)

    def test_columns_of_unequal_length(self):
        with pytest.raises(InputError, match="equally long; got 1 and 2"):
            Graph.from_edges([0], [1, 2])

    def test_unknown_repeats(self):
        with pytest.raises(InputError, match="repeats must be one of 'max', 'sum'"):
            Graph.from_edges([0], [1], repeats="mean")

    def test_negative_count(self):
        with pytest.raises(InputError, match="nodes must be"):
            Graph.from_edges([], [], nodes=-1)


edge_lists = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 9)), max_size=60),
    )
)


@pytest.mark.parametrize("repeats", ["max", "sum"])
@settings(deadline=None)
@given(drawn=edge_lists)
def test_random_edge_lists_equal_a_dense_computation(repeats, drawn):
    n_nodes, rows = drawn
    first, second, weight = ([row[i] for row in rows] for i in range(3))
    expected = dense(first, second, weight, n_nodes, repeats)
    graph = Graph.from_edges(first, second, weight, nodes=n_nodes, repeats=repeats)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.degrees, expected.sum(axis=1))
    assert all(np.all(np.diff(graph.indices[a:b]) > 0) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False))


@settings(deadline=None)
@given(drawn=edge_lists)
def test_the_counts_of_the_report_add_up(drawn):
    n_nodes, rows = drawn
    first, second, weight = ([row[i] for row in rows] for i in range(3))
    report = Graph.from_edges(first, second, weight, nodes=n_nodes).report
    left_out = report.self_loops_left_out + report.zero_weights_left_out + report.repeats_folded
    assert report.rows_read == len(rows) == report.n_edges + left_out
    assert report.zero_weights_left_out == weight.count(0)


def test_building_does_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    n_nodes, n_links = 20_000, 700_000  # more than one chunk
    first, second = rng.integers(0, n_nodes, (2, n_links)).astype(np.int32)
    values = rng.random(n_links, dtype=np.float32)
    one, two = (symmetric_rows(first, second, values, n_nodes, add_repeats=True, n_jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_edges_are_listed_once_and_ordered():
    first, second = Graph.from_edges([2, 1, 0], [0, 0, 2]).edges()
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (0, 2)]


def test_ids_may_be_shared_between_graphs():
    ids = NodeIds(["a", "b"])
    assert Graph.from_edges(["a"], ["b"], nodes=ids).ids is ids


def test_repr_tells_the_size():
    assert repr(Graph.from_edges([0], [1], [2.0])) == "Graph(2 nodes, 1 edge, weighted)"
