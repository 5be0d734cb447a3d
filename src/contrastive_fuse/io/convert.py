"""Anything that is a graph, or pairs, in some other library's sense. Nothing here imports those libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph, Repeats
from contrastive_fuse.io.files import read_graph, read_pairs
from contrastive_fuse.io.tables import WEIGHT_NAMES, graph_from_table, id_columns, pairs_from_table
from contrastive_fuse.pairs import SignedPairs, pair_columns

SPARSE_NUMBERING = 16  # an array whose largest number exceeds this many times its distinct numbers holds ids


def as_graph(graph: Any, *, nodes: Any = None, repeats: Repeats = "max") -> Graph:
    """Turn what the caller has into a `Graph`.

    Parameters
    ----------
    graph : Graph, SciPy sparse matrix, dense square array, (2, E) or (E, 2) array, pandas / Polars / Arrow table,
        NetworkX or igraph graph, PyTorch Geometric ``Data``, or the path of a file
        An integer array of edges numbers the nodes 0..n-1; tables, files and NetworkX graphs name them by any id.
    nodes : int or sequence of ids, optional
        All nodes in row order, for arrays and tables that do not show those without an edge.
    repeats : {"max", "sum"}
        The weight of an edge given several times.
    """
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | Path):
        return read_graph(graph, nodes=nodes, repeats=repeats)
    if hasattr(graph, "tocoo"):  # SciPy sparse
        return Graph.from_adjacency(graph, nodes, repeats=repeats)
    if hasattr(graph, "edge_index"):
        return _from_pyg(graph, repeats)
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        return _from_networkx(graph, repeats)
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vs"):
        return _from_igraph(graph, repeats)
    if _is_table(graph):
        return graph_from_table(_table(graph), nodes=nodes, repeats=repeats)
    if hasattr(graph, "columns") and hasattr(graph, "iloc"):
        return _from_mixed_frame(graph, nodes, repeats)
    if isinstance(graph, np.ndarray | list | tuple) or hasattr(graph, "__array__"):
        return _from_array(graph, nodes, repeats)
    raise InputError(
        f"cannot read a graph from {type(graph).__name__}; expected a Graph, a SciPy sparse matrix, an edge array, a"
        " table, a NetworkX, igraph or PyTorch Geometric graph, or a file name"
    )


def as_pairs(pairs: Any, y: Any = None) -> SignedPairs | None:
    """Turn what the caller has into `SignedPairs`; None stays None.

    Parameters
    ----------
    pairs : SignedPairs, (n, 2) array or list of node ids with ``y``, table with columns of ids and ``y``, or file name
    """
    if pairs is None:
        if y is not None:
            raise InputError("y was given without pairs")
        return None
    if isinstance(pairs, SignedPairs):
        if y is not None:
            raise InputError("y was given twice: SignedPairs bring their own")
        return pairs
    if isinstance(pairs, str | Path):
        return read_pairs(pairs)
    if y is None and _is_table(pairs):
        return pairs_from_table(_table(pairs))
    if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy") and not isinstance(pairs, pa.Table):
        values = pairs.to_numpy()
        if y is None and values.shape[1] >= 3:
            return SignedPairs(values[:, :2], values[:, 2].astype(np.float64))
        pairs = values[:, :2]
    return SignedPairs(pairs, y)


def _is_table(value: Any) -> bool:
    """Whether Arrow can read it as a table (pandas and Polars frames, Arrow tables and batches)."""
    if isinstance(value, pa.Table | pa.RecordBatch):
        return True
    if not hasattr(value, "__arrow_c_stream__") or not hasattr(value, "columns"):
        return False
    try:
        types = pa.table(value).schema.types
    except (pa.ArrowInvalid, TypeError):
        return False  # a column of mixed Python objects
    return not (hasattr(value, "iloc") and any(map(pa.types.is_nested, types)))  # pandas with tuples


def _table(value: Any) -> pa.Table:
    """The Arrow table, without the index that pandas adds."""
    table = pa.table(value)
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


def _from_mixed_frame(frame: Any, nodes: Any, repeats: Repeats) -> Graph:
    """A pandas frame whose id columns hold tuples, or objects of several types."""
    columns = {str(name): frame[name] for name in frame.columns}
    first, second = id_columns(pa.table({name: pa.nulls(0) for name in columns}))
    weight = next((column for name, column in columns.items() if name.lower() in WEIGHT_NAMES), None)
    return Graph.from_edges(columns[first], columns[second], weight, nodes=nodes, repeats=repeats)


def _from_array(edges: Any, nodes: Any, repeats: Repeats) -> Graph:
    if isinstance(edges, list | tuple) and len(edges) and not _is_numeric_matrix(edges):
        return Graph.from_edges(*pair_columns(edges), nodes=nodes, repeats=repeats)
    array = np.asarray(edges)
    square = array.ndim == 2 and array.shape[0] == array.shape[1]
    if square and (array.dtype.kind in "bf" or (array.dtype.kind in "iu" and len(array) > 2)):
        return Graph.from_adjacency(array, nodes, repeats=repeats)
    if array.size == 0 and nodes is not None:
        array = np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or 2 not in array.shape:
        raise InputError(f"an array of edges must have shape (2, E) or (E, 2); got {array.shape}")
    if array.shape == (2, 2) and not np.array_equal(array, array.T):
        raise InputError("a 2 x 2 array of edges can be read in two ways; use Graph.from_edges(source, target)")
    source, target = array if array.shape[0] == 2 else array.T
    if array.dtype.kind not in "iu":
        return Graph.from_edges(source.tolist(), target.tolist(), nodes=nodes, repeats=repeats)
    if nodes is None:
        nodes = _count_nodes(array)
    return Graph.from_edges(source, target, nodes=nodes, repeats=repeats)


def _is_numeric_matrix(rows: Any) -> bool:
    try:
        array = np.asarray(rows)
    except ValueError:
        return False  # rows of unequal length, or ids that are tuples
    return array.ndim == 2 and array.dtype.kind in "biuf"


def _count_nodes(numbers: Any) -> int:
    if numbers.size == 0:
        return 0
    if numbers.min() < 0:
        raise InputError(f"an integer array of edges numbers the nodes from 0; got {numbers.min()}")
    n_nodes = int(numbers.max()) + 1
    if n_nodes > 1_000_000 and n_nodes > SPARSE_NUMBERING * len(np.unique(numbers)):
        raise InputError(
            f"an integer array of edges numbers the nodes 0..n-1, but the largest number is {n_nodes - 1:,} and few"
            " others occur. If these are ids, use Graph.from_edges(source, target)"
        )
    return n_nodes


def _from_pyg(data: Any, repeats: Repeats) -> Graph:
    """PyTorch Geometric ``Data``: edge_index, num_nodes, and edge_weight or one-column edge_attr if there are any."""
    edge_index = _to_numpy(data.edge_index)
    weight = getattr(data, "edge_weight", None)
    if weight is None:
        attributes = getattr(data, "edge_attr", None)
        if attributes is not None and (attributes.ndim == 1 or attributes.shape[1] == 1):
            weight = attributes.reshape(-1)
    n_nodes = getattr(data, "num_nodes", None)
    return Graph.from_edges(
        edge_index[0],
        edge_index[1],
        None if weight is None else _to_numpy(weight),
        nodes=_count_nodes(edge_index) if n_nodes is None else int(n_nodes),
        repeats=repeats,
    )


def _to_numpy(tensor: Any) -> Any:
    for method in ("detach", "cpu", "numpy"):
        tensor = getattr(tensor, method)() if hasattr(tensor, method) else tensor
    return np.asarray(tensor)


def _from_networkx(graph: Any, repeats: Repeats) -> Graph:
    """Any NetworkX graph; the edge attribute ``weight`` is used where there is one (1 where an edge lacks it)."""
    links = list(graph.edges(data="weight"))
    weighted = any(weight is not None for _, _, weight in links)
    return Graph.from_edges(
        [a for a, _, _ in links],
        [b for _, b, _ in links],
        [1.0 if weight is None else weight for _, _, weight in links] if weighted else None,
        nodes=list(graph.nodes),
        repeats=repeats,
    )


def _from_igraph(graph: Any, repeats: Repeats) -> Graph:
    """An igraph graph; vertices are named by ``name`` where all have one, else numbered."""
    names = graph.vs["name"] if "name" in graph.vs.attributes() else [None]
    links = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weight = graph.es["weight"] if "weight" in graph.es.attributes() else None
    numbered = Graph.from_edges(links[:, 0], links[:, 1], weight, nodes=graph.vcount(), repeats=repeats)
    return numbered if None in names else numbered.with_ids(names)
