import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from contrastive_fuse import Graph, InputError, as_graph, as_pairs

SOURCE, TARGET, WEIGHT = [0, 1, 2, 4], [1, 2, 0, 0], [0.5, 2.0, 1.0, 3.25]  # node 3 is isolated
COLUMNS = {"source": SOURCE, "target": TARGET, "weight": WEIGHT}
DENSE = np.zeros((5, 5))
DENSE[SOURCE, TARGET] = DENSE[TARGET, SOURCE] = WEIGHT


class Tensor:
    """As much of a PyTorch tensor as the library touches; on a device until it is asked to come to the CPU."""

    def __init__(self, values, place="cuda with gradient"):
        self.values, self.place = np.asarray(values), place

    @property
    def ndim(self):
        return self.values.ndim

    @property
    def shape(self):
        return self.values.shape

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape), self.place)

    def detach(self):
        return Tensor(self.values, "cuda")

    def cpu(self):
        return Tensor(self.values, "cpu" if self.place == "cuda" else self.place)

    def numpy(self):
        assert self.place == "cpu", "can't convert a tensor on a device or with a gradient"
        return self.values


class Data:
    """A stand-in for PyTorch Geometric's ``Data``."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def pyg(**fields):
    both = np.array([SOURCE + TARGET, TARGET + SOURCE])
    return Data(edge_index=Tensor(both), num_nodes=5, **fields)


def networkx_graph():
    graph = nx.Graph()
    graph.add_nodes_from(range(5))
    graph.add_weighted_edges_from(zip(SOURCE, TARGET, WEIGHT, strict=True))
    return graph


def igraph_graph():
    return igraph.Graph(n=5, edges=list(zip(SOURCE, TARGET, strict=True)), edge_attrs={"weight": WEIGHT})


WEIGHTED = {
    "csr": lambda: sp.csr_array(DENSE),
    "coo": lambda: sp.coo_array(DENSE),
    "old csr matrix": lambda: sp.csr_matrix(DENSE),
    "one triangle": lambda: sp.csr_array(np.triu(DENSE)),
    "unsorted coo": lambda: sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(5, 5)),
    "dense": lambda: DENSE,
    "dense integers": lambda: (DENSE * 4).astype(int),
    "nested lists": DENSE.tolist,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "filtered pandas": lambda: pd.DataFrame(COLUMNS, index=[3, 9, 4, 0]),
    "pandas of objects": lambda: pd.DataFrame(COLUMNS).astype(object),
    "pandas in another order": lambda: pd.DataFrame(COLUMNS)[["weight", "target", "source"]],
    "Polars": lambda: pl.DataFrame(COLUMNS),
    "Arrow table": lambda: pa.table(COLUMNS),
    "Arrow batch": lambda: pa.record_batch(COLUMNS),
    "NetworkX": networkx_graph,
    "directed NetworkX": lambda: networkx_graph().to_directed(),
    "igraph": igraph_graph,
    "PyG edge_weight": lambda: pyg(edge_weight=Tensor(WEIGHT + WEIGHT)),
    "PyG edge_attr": lambda: pyg(edge_weight=None, edge_attr=Tensor(np.array(WEIGHT + WEIGHT)[:, None])),
    "Graph": lambda: Graph.from_adjacency(DENSE),
}
UNWEIGHTED = {
    "(2, E)": lambda: np.array([SOURCE, TARGET]),
    "(E, 2)": lambda: np.array([SOURCE, TARGET], dtype=np.uint8).T,
    "list of pairs": lambda: list(zip(SOURCE, TARGET, strict=True)),
    "boolean csr": lambda: sp.csr_array(DENSE > 0),
    "pandas": lambda: pd.DataFrame(COLUMNS)[["source", "target"]],
    "NetworkX": lambda: nx.Graph(list(zip(SOURCE, TARGET, strict=True))),
    "igraph": lambda: igraph.Graph(n=5, edges=list(zip(SOURCE, TARGET, strict=True))),
    "PyG": lambda: pyg(edge_weight=None),
    "PyG with edge features": lambda: pyg(edge_attr=Tensor(np.ones((8, 3)))),
}
TABLES = ("pandas", "Polars", "Arrow")


@pytest.mark.parametrize("form", WEIGHTED)
def test_the_same_weighted_graph_from_every_form(form):
    nodes = 5 if form.startswith((*TABLES, "filtered")) else None
    graph = as_graph(WEIGHTED[form](), nodes=nodes)
    scale = 4 if form == "dense integers" else 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE * scale)
    assert list(graph.ids) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("form", UNWEIGHTED)
def test_the_same_unweighted_graph_from_every_form(form):
    graph = as_graph(UNWEIGHTED[form]())
    if form in ("pandas", "NetworkX"):  # the isolated node does not show
        assert sorted(graph.ids) == [0, 1, 2, 4]
        order = [list(graph.ids).index(node) for node in (0, 1, 2, 4)]
        expected = (DENSE > 0)[np.ix_([0, 1, 2, 4], [0, 1, 2, 4])]
        np.testing.assert_array_equal(graph.adjacency.toarray()[np.ix_(order, order)], expected)
    else:
        np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE > 0)
    assert not graph.is_weighted


def test_a_file_name_is_read(tmp_path):
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "edges.csv", index=False)
    for path in (tmp_path / "edges.csv", str(tmp_path / "edges.csv")):
        assert as_graph(path).report.rows_read == 4


def test_a_graph_is_handed_through():
    graph = Graph.from_edges([0], [1])
    assert as_graph(graph) is graph


class TestIds:
    @pytest.mark.parametrize(
        "edges",
        [
            [("a", "b"), ("b", "c")],
            [("a", "b"), ("c", "d")],
            [("a", "b")],
            [("a", 1), (1, (2, 3)), (2.5, "a")],
            [((0, 0), (0, 1)), ((0, 1), (1, 1))],
            (["a", "b"], ["b", "c"]),
        ],
    )
    def test_a_list_of_pairs_names_nodes_by_any_id(self, edges):
        graph = as_graph(edges)
        names = list(graph.ids)
        first, second = graph.edges()
        found = {frozenset((names[a], names[b])) for a, b in zip(first, second, strict=True)}
        assert found == {frozenset(edge) for edge in edges}

    def test_text_arrays(self):
        assert set(as_graph(np.array([["007", "7"], ["7", "NA"], ["NA", "x"]])).ids) == {"007", "7", "NA", "x"}

    @pytest.mark.parametrize("ids", [[100, 7], ["007", "7"], [(0, 1), (1, 2)], ["a", 3], [2**62, -5]])
    def test_pandas(self, ids):
        frame = pd.DataFrame({"source": [ids[0]], "target": [ids[1]], "weight": [2.0]})
        graph = as_graph(frame)
        assert list(graph.ids) in (ids, ids[::-1])
        assert set(graph.weights) == {2}

    def test_networkx_tuples(self):
        graph = as_graph(nx.grid_2d_graph(2, 3))
        assert list(graph.ids) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
        assert graph.n_edges == 7

    def test_networkx_isolated_nodes(self):
        source = nx.Graph([("a", "b")])
        source.add_node(("lonely", 1))
        graph = as_graph(source)
        assert list(graph.ids) == ["a", "b", ("lonely", 1)]
        assert graph.report.isolated_nodes == 1

    def test_igraph_names(self):
        source = igraph.Graph(n=3, edges=[(0, 1)], vertex_attrs={"name": ["x", "y", "z"]})
        assert list(as_graph(source).ids) == ["x", "y", "z"]

    def test_igraph_where_only_some_have_names(self):
        source = igraph.Graph(n=3, edges=[(0, 1)], vertex_attrs={"name": ["x", None, "z"]})
        assert list(as_graph(source).ids) == [0, 1, 2]


def test_networkx_edges_without_weight_count_one():
    source = nx.Graph()
    source.add_edge(0, 1, weight=4.0)
    source.add_edge(1, 2)
    np.testing.assert_array_equal(as_graph(source).degrees, [4, 5, 1])


@pytest.mark.parametrize(("repeats", "weight"), [("max", 2), ("sum", 3)])
def test_networkx_multigraphs_fold(repeats, weight):
    source = nx.MultiGraph()
    source.add_edge(0, 1, weight=2.0)
    source.add_edge(0, 1, weight=1.0)
    assert set(as_graph(source, repeats=repeats).weights) == {weight}


def test_the_pandas_index_is_no_column():
    (note,) = as_graph(pd.DataFrame(COLUMNS, index=[3, 9, 4, 0])).report.notes
    assert note == "ids from 'source' and 'target', weights from 'weight'"


def test_pyg_without_a_number_of_nodes():
    assert as_graph(Data(edge_index=Tensor([[0, 3], [1, 0]]))).n_nodes == 4


class TestRefusals:
    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (None, "cannot read a graph from NoneType"),
            (3, "cannot read a graph from int"),
            ([], "must have shape"),
            (np.zeros((3, 4), dtype=int), r"shape \(2, E\) or \(E, 2\); got \(3, 4\)"),
            (np.array([[0, 1], [2, 3]]), "a 2 x 2 array of edges can be read in two ways"),
            (np.array([[0, 1, 2], [1, 2, -1]]), "numbers the nodes from 0; got -1"),
            (np.array([[0, 1, 2], [1, 2, 10**9]]), r"If these are ids, use Graph\.from_edges"),
            ([("a", "b", 2.0), ("b", "c", 1.0)], "two node ids each; row 0 is"),
            ([("a", "b"), ("c",)], r"row 1 is \('c',\)"),
            (pa.table({"source": [1]}), "two columns of node ids are needed"),
            (pd.DataFrame({"source": [1, "x"]}), "two columns of node ids are needed"),
            (pa.table({"source": [1], "target": [2], "weight": [-1.0]}), r"the first in row 0 \(-1\)"),
            (sp.csr_array((2, 3)), "must be square"),
        ],
        ids=str,
    )
    def test_what_is_no_graph(self, graph, message):
        with pytest.raises(InputError, match=message):
            as_graph(graph)


class TestPairs:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=TABLES)
    def test_tables_with_signs(self, frame):
        pairs = as_pairs(frame({"u": ["a", "b"], "v": ["b", "c"], "y": [1, -1], "weight": [2.0, 3.0]}))
        assert (pairs.y.tolist(), pairs.weight.tolist()) == ([1, -1], [2, 3])

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=TABLES)
    def test_tables_of_ids_with_signs_apart(self, frame):
        assert as_pairs(frame({"u": ["a", "b"], "v": ["b", "c"]}), [1, -1]).y.tolist() == [1, -1]

    def test_pandas_of_mixed_ids(self):
        pairs = as_pairs(pd.DataFrame({"u": ["a", 1], "v": [(2, 3), "c"], "y": [1, -1]}))
        assert [frozenset(pair) for pair in pairs.pairs.tolist()] == [frozenset({"a", (2, 3)}), frozenset({1, "c"})]

    def test_arrays_with_signs(self):
        pairs = as_pairs(np.array([[10, 20], [20, 30]]), [1, -1])
        assert (pairs.pairs.tolist(), pairs.y.tolist()) == ([[10, 20], [20, 30]], [1, -1])

    def test_a_file_name_is_read(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_text("a,b,y\np,q,-1\n")
        assert as_pairs(str(path)).y.tolist() == [-1]

    def test_none_stays_none(self):
        assert as_pairs(None) is None

    def test_signed_pairs_are_handed_through(self):
        pairs = as_pairs([("a", "b")], [1])
        assert as_pairs(pairs) is pairs

    def test_signs_without_pairs(self):
        with pytest.raises(InputError, match="y was given without pairs"):
            as_pairs(None, [1])

    def test_signs_given_twice(self):
        with pytest.raises(InputError, match="y was given twice"):
            as_pairs(as_pairs([("a", "b")], [1]), [1])
