"""Files of edges, pairs and node ids. The format follows from the name; ids in text files stay text."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from contrastive_fuse.errors import InputError, counted
from contrastive_fuse.graph import Graph, Repeats
from contrastive_fuse.io.arrays import read_arrays
from contrastive_fuse.io.tables import graph_from_table, pairs_from_table
from contrastive_fuse.io.text import TextTable, read_text
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import AnyArray

Header = Literal["auto", "yes", "no"]
COMPRESSED = (".gz", ".bz2", ".zst")
PLAUSIBLE_NODES, NODES_PER_EDGE = 10_000_000, 1000  # more nodes than both allow are a damaged file


def read_graph(
    path: str | Path,
    *,
    nodes: Any = None,
    weight: str | None = "auto",
    repeats: Repeats = "max",
    header: Header = "auto",
) -> Graph:
    """Read a graph from a file.

    ============================  =====================================================================
    name ends in                  content
    ============================  =====================================================================
    .csv .tsv .txt .edges ...     one edge a row, two columns of ids, a weight if wanted; .gz, .bz2, .zst too
    .parquet                      the same as a table
    .npz                          a SciPy sparse matrix, or ``edge_index`` (2, E) with ``num_nodes``
    .mtx                          Matrix Market; .gz too
    ============================  =====================================================================

    Parameters
    ----------
    path : str or Path
    nodes : int or sequence of ids, optional
        All nodes in row order, for files that do not show those without an edge.
    weight : str or None
        Column of the weights, "auto" or None; see `contrastive_fuse.io.tables.graph_from_table`.
    repeats : {"max", "sum"}
        The weight of an edge given several times.
    header : {"auto", "yes", "no"}
        Whether the first line of a text file names the columns.
    """
    path = existing(path)
    try:
        kind = file_kind(path)
        if kind == "npz":
            graph = _graph_from_npz(path, nodes, repeats)
        elif kind == "mtx":
            graph = Graph.from_adjacency(_read_mtx(path), nodes, repeats=repeats)
        elif kind == "parquet":
            graph = graph_from_table(read_parquet(path), weight=weight, nodes=nodes, repeats=repeats)
        else:
            text = read_text(path, header)
            graph = graph_from_table(
                text.table, weight=weight, nodes=nodes, repeats=repeats, named=text.has_header, where=text.where
            )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if graph.report.rows_read == 0:
        raise InputError(f"{path}: the file holds no edges")
    return graph


def read_pairs(
    path: str | Path, *, sign: str | None = None, weight: str | None = "auto", header: Header = "auto"
) -> SignedPairs:
    """Read signed pairs: text or Parquet (id, id, y, weight), or ``.npz`` with ``pairs``, ``y``, ``weight``."""
    path = existing(path)
    try:
        kind = file_kind(path)
        if kind == "npz":
            stored = read_arrays(path)
            missing = [name for name in ("pairs", "y") if name not in stored]
            if missing:
                raise InputError(f"expected arrays 'pairs' and 'y'; found {sorted(stored)}")
            pairs = SignedPairs(stored["pairs"], stored["y"], stored.get("weight"))
        elif kind == "mtx":
            raise InputError("pairs are read from text files, .parquet or .npz, not from Matrix Market")
        elif kind == "parquet":
            pairs = pairs_from_table(read_parquet(path), sign=sign, weight=weight)
        else:
            text = read_text(path, header)
            pairs = pairs_from_table(text.table, sign=sign, weight=weight, named=text.has_header, where=text.where)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not len(pairs):
        raise InputError(f"{path}: the file holds no usable pairs")
    return pairs


def read_table(path: str | Path, header: Header = "auto") -> TextTable:
    """Read a table whose first two columns are node ids: text or Parquet."""
    path = existing(path)
    try:
        if file_kind(path) == "parquet":
            return TextTable(read_parquet(path), has_header=True)
        if file_kind(path) != "text":
            raise InputError("a table is read from a text file or .parquet")
        return read_text(path, header)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_ids(path: str | Path, header: Header = "auto") -> pa.ChunkedArray:
    """Read the first column of a table: one node id a row."""
    path = existing(path)
    if file_kind(path) in ("npz", "mtx"):
        raise InputError(f"{path}: node ids are read from a text file or .parquet")
    try:
        table = read_parquet(path) if file_kind(path) == "parquet" else read_text(path, header, min_columns=1).table
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return table.column(0)


def existing(path: str | Path) -> Path:
    """The path, if there is a file."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    return path


def file_kind(path: Path) -> str:
    """parquet, npz, mtx or text, by the name of the file."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return {".parquet": "parquet", ".pq": "parquet", ".npz": "npz", ".mtx": "mtx"}.get(last, "text")


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file as an Arrow table."""
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"not a readable Parquet file: {error}") from None


def _graph_from_npz(path: Path, nodes: Any, repeats: Repeats) -> Graph:
    stored = read_arrays(path)
    if "format" in stored and "shape" in stored:
        return Graph.from_adjacency(_sparse_matrix(stored), nodes, repeats=repeats)
    if "edge_index" not in stored:
        raise InputError(f"expected a SciPy sparse matrix or an array 'edge_index'; found {sorted(stored)}")
    return graph_from_arrays(stored, nodes, repeats)


def graph_from_arrays(stored: dict[str, AnyArray], nodes: Any = None, repeats: Repeats = "max") -> Graph:
    """The graph of ``edge_index`` (2, E), with ``num_nodes`` and ``edge_weight`` where they are given."""
    edges = stored["edge_index"]
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise InputError(f"'edge_index' must hold whole numbers in shape (2, E); got {edges.dtype} {edges.shape}")
    if nodes is None:
        largest = int(edges.max()) + 1 if edges.size else 0
        nodes = _number(stored["num_nodes"], "num_nodes") if "num_nodes" in stored else largest
        check_node_count(nodes, edges.shape[1])
    return Graph.from_edges(edges[0], edges[1], stored.get("edge_weight"), nodes=nodes, repeats=repeats)


def check_node_count(n_nodes: int, n_edges: int) -> None:
    """Refuse a number of nodes that a damaged or hostile file announces, before tables of that length are made."""
    if n_nodes > max(PLAUSIBLE_NODES, NODES_PER_EDGE * n_edges):
        raise InputError(f"{n_nodes:,} nodes are announced for {counted(n_edges, 'edge')}; that cannot be meant")


def _number(value: AnyArray, name: str) -> int:
    if value.size != 1 or value.dtype.kind not in "iu":
        raise InputError(f"{name!r} must be one whole number; got {value.dtype} of shape {value.shape}")
    return int(value.reshape(()))


def _sparse_matrix(stored: dict[str, AnyArray]) -> Any:
    """What `scipy.sparse.save_npz` wrote."""
    import scipy.sparse as sp

    kind = stored["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else kind
    shape = tuple(int(length) for length in stored["shape"])
    check_node_count(max(shape, default=0), stored["data"].size if "data" in stored else 0)
    try:
        if kind == "coo":
            return sp.coo_array((stored["data"], (stored["row"], stored["col"])), shape=shape)
        if kind in ("csr", "csc"):
            matrix = {"csr": sp.csr_array, "csc": sp.csc_array}[kind](
                (stored["data"], stored["indices"], stored["indptr"]), shape=shape
            )
            matrix.check_format(full_check=True)
            return matrix
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InputError(f"not a sound sparse matrix: {error}") from None
    raise InputError(f"a sparse matrix is read in the formats coo, csr and csc; got {kind!r}")


def _read_mtx(path: Path) -> Any:
    import scipy.io
    import scipy.sparse as sp

    try:
        rows, columns, entries = scipy.io.mminfo(path)[:3]
        check_node_count(max(rows, columns), entries)
        return sp.coo_array(scipy.io.mmread(path))
    except InputError:
        raise
    except (ValueError, OSError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"not a readable Matrix Market file: {error}") from None
