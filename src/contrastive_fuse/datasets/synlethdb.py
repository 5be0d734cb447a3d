"""SynLethDB 2.0 on the human interactome: a network with real, tested pairs of genes.

A pair of genes is synthetic lethal (+1) if cells die when both are disturbed but live when one is. Pairs come from very
different sources, and most pairs that are not lethal were never listed. Compared at random, lethal and other pairs then
differ in *which genes were tested at all*. The subset ``crispr`` is the fair comparison: only CRISPR screens, and only
genes that occur among the tested pairs of both signs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrastive_fuse.datasets.base import Dataset, Download, Facts, Files, Source
from contrastive_fuse.errors import InputError, check_choice
from contrastive_fuse.graph import Graph
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.arrays import read_arrays
from contrastive_fuse.io.files import graph_from_arrays
from contrastive_fuse.io.text import read_text
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import AnyArray, BoolArray

HOME = "https://synlethdb.sist.shanghaitech.edu.cn/v2/"
NETWORK_HOME = "https://snap.stanford.edu/pathways"
LETHAL, NOT_LETHAL, NETWORK = "Human_SL.csv", "Human_nonSL.csv", "bio-pathways-network.csv"
ARRAYS = ("edge_index", "num_nodes", "node_symbol", "node_entrez", "pos_pairs", "neg_pairs", "pos_source",
          "pos_conflicts_with_nonsl")  # fmt: skip
COMPUTED = {"Computational Prediction", "Text Mining"}
Subset = Literal["crispr", "experimental", "all"]
SUBSETS = ("crispr", "experimental", "all")


class Genes(NamedTuple):
    """Lethal and other pairs as rows of the network's genes, (2, n) each.

    Attributes
    ----------
    source : (n_lethal,) text, where each lethal pair comes from; several sources are joined by semicolons
    conflict : (n_lethal,) whether the pair is also listed as not lethal
    """

    lethal: AnyArray
    other: AnyArray
    source: AnyArray
    conflict: BoolArray


def read_npz(path: Path, subset: Subset = "crispr") -> Dataset:
    """Read the set from one ``.npz`` file.

    Parameters
    ----------
    subset : {"crispr", "experimental", "all"}
        The fair comparison, all pairs but those only predicted or mined from text, or every pair. Pairs that are listed
        with both signs are left out.
    """
    try:
        arrays = read_arrays(path)
        missing = [name for name in ARRAYS if name not in arrays]
        if missing:
            raise InputError(f"expected the arrays {', '.join(ARRAYS)}; {', '.join(missing)} missing")
        graph = graph_from_arrays(arrays)
        n_nodes = graph.n_nodes
        for name in ("node_symbol", "node_entrez"):
            if len(arrays[name]) != n_nodes:
                raise InputError(f"{name!r} must name all of the {n_nodes:,} genes; it has {len(arrays[name]):,}")
        for name in ("pos_pairs", "neg_pairs"):
            rows = arrays[name]
            if rows.ndim != 2 or len(rows) != 2 or (rows.size and not 0 <= rows.min() <= rows.max() < n_nodes):
                raise InputError(f"{name!r} must hold rows of the {n_nodes:,} genes in shape (2, n)")
        genes = Genes(
            arrays["pos_pairs"], arrays["neg_pairs"], arrays["pos_source"], arrays["pos_conflicts_with_nonsl"]
        )
        if not len(genes.source) == len(genes.conflict) == genes.lethal.shape[1]:
            raise InputError("'pos_source' and 'pos_conflicts_with_nonsl' must have one entry a pair")
        return _dataset(graph, arrays["node_symbol"], arrays["node_entrez"], genes, subset)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read(folder: Path, subset: Subset = "crispr") -> Dataset:
    """Read the original files: the two lists of SynLethDB and the interactome of the disease pathways project."""
    network = read_text(folder / NETWORK, header="yes").table
    entrez = [_whole(network.column(i), folder / NETWORK) for i in range(2)]
    graph = Graph.from_edges(*entrez)
    numbers = graph.ids.to_numpy()
    lists = {name: _read_list(folder / name) for name in (LETHAL, NOT_LETHAL)}
    symbols = _symbols(numbers, [table for table, _ in lists.values()])

    keys = {}
    for name, (table, _) in lists.items():
        rows = [graph.ids.rows(table.column(f"identifier_{side}")) for side in (1, 2)]
        low, high = np.minimum(*rows), np.maximum(*rows)
        keys[name] = np.where((low < 0) | (low == high), -1, low * graph.n_nodes + high)
    lethal = np.unique(keys[LETHAL][keys[LETHAL] >= 0])
    other = np.setdiff1d(keys[NOT_LETHAL][keys[NOT_LETHAL] >= 0], lethal)
    genes = Genes(
        lethal=np.stack(np.divmod(lethal, graph.n_nodes)),
        other=np.stack(np.divmod(other, graph.n_nodes)),
        source=_joined_sources(lists[LETHAL][1], keys[LETHAL], lethal),
        conflict=np.isin(lethal, keys[NOT_LETHAL]),
    )
    return _dataset(graph, symbols, numbers, genes, subset)


def _dataset(graph: Graph, symbols: AnyArray, entrez: AnyArray, genes: Genes, subset: Subset) -> Dataset:
    check_choice("subset", subset, SUBSETS)
    names = [symbol or f"entrez:{number}" for symbol, number in zip(symbols.tolist(), entrez.tolist(), strict=True)]
    ids = NodeIds(names)
    lethal, other = _chosen(genes, graph.n_nodes, subset)
    both = np.concatenate([genes.lethal[:, lethal], genes.other[:, other]], axis=1)
    y = np.repeat([1, -1], [np.count_nonzero(lethal), np.count_nonzero(other)])
    return Dataset(
        "synlethdb",
        graph.with_ids(ids),
        np.full(graph.n_nodes, -1, dtype=np.int32),
        pairs=SignedPairs.of_rows(ids, both[0], both[1], y),
        info={"subset": subset, "arrays": {"node_entrez": entrez}},
    )


def _chosen(genes: Genes, n_genes: int, subset: Subset) -> tuple[BoolArray, BoolArray]:
    """Which lethal and which other pairs belong to a subset."""
    if subset == "all":
        return ~genes.conflict, np.ones(genes.other.shape[1], dtype=bool)
    sources = [set(source.split(";")) for source in genes.source.tolist()]
    if subset == "experimental":
        tested: BoolArray = np.array([not source <= COMPUTED for source in sources], dtype=bool)
        return tested & ~genes.conflict, np.ones(genes.other.shape[1], dtype=bool)
    screened: BoolArray = np.array([any("CRISPR" in one for one in source) for source in sources], dtype=bool)
    in_both = np.zeros((2, n_genes), dtype=bool)
    in_both[0, genes.lethal[:, screened]] = True
    in_both[1, genes.other] = True
    tested_genes = in_both[0] & in_both[1]
    fair_lethal, fair_other = (tested_genes[pairs[0]] & tested_genes[pairs[1]] for pairs in (genes.lethal, genes.other))
    return screened & fair_lethal & ~genes.conflict, fair_other


def _read_list(path: Path) -> tuple[pa.Table, pa.ChunkedArray]:
    """Symbols and Entrez numbers of listed pairs, and where each pair comes from."""
    table = read_text(path, header="yes").table
    found: dict[str, Any] = {}
    for side, prefixes in ((1, ("n1", "gene_a")), (2, ("n2", "gene_b"))):
        prefix = next((one for one in prefixes if f"{one}.identifier" in table.column_names), None)
        if prefix is None or f"{prefix}.name" not in table.column_names:
            raise InputError(f"{path} must have columns n1.name, n1.identifier, n2.name, n2.identifier; it has"
                             f" {', '.join(table.column_names)}")  # fmt: skip
        found[f"name_{side}"] = table.column(f"{prefix}.name")
        found[f"identifier_{side}"] = _whole(table.column(f"{prefix}.identifier"), path)
    source = next((name for name in ("r.source", "SL.source") if name in table.column_names), None)
    if source is None:
        raise InputError(f"{path} must have a column r.source; it has {', '.join(table.column_names)}")
    return pa.table(found), table.column(source)


def _whole(column: pa.ChunkedArray, path: Path) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: genes are named by whole Entrez numbers: {error}") from None


def _symbols(numbers: AnyArray, tables: list[pa.Table]) -> AnyArray:
    """The symbol of each gene, empty where no list names it."""
    known: dict[int, str] = {}
    taken: set[str] = set()
    for table in tables:
        for side in (1, 2):
            columns = (table.column(f"{kind}_{side}").to_pylist() for kind in ("identifier", "name"))
            for number, symbol in zip(*columns, strict=True):
                if symbol and number not in known and symbol not in taken:
                    known[number] = symbol
                    taken.add(symbol)
    return np.array([known.get(number, "") for number in numbers.tolist()], dtype=object)


def _joined_sources(source: pa.ChunkedArray, keys: AnyArray, wanted: AnyArray) -> AnyArray:
    """Where each pair comes from; the sources of repeats are joined."""
    table = pa.table({"key": keys, "source": pc.fill_null(source, "")}).filter(pc.field("key") >= 0)
    joined = table.group_by("key").aggregate([("source", "distinct")])
    by_key = dict(zip(joined.column("key").to_pylist(), joined.column("source_distinct").to_pylist(), strict=True))
    return np.array([";".join(sorted(by_key[key])) for key in wanted.tolist()], dtype=object)


SOURCES = (
    Source(
        "synlethdb",
        "human protein interactions, with gene pairs tested for synthetic lethality",
        "see homepage",
        HOME,
        facts=Facts(nodes=21_557, edges=338_636),
        megabytes=6,
        files=Files(
            folders=("synlethdb",),
            needed=(LETHAL, NOT_LETHAL, NETWORK),
            downloads=(
                Download(f"{HOME}static/download/SL/{LETHAL}", LETHAL),
                Download(f"{HOME}static/download/nonSL/{NOT_LETHAL}", NOT_LETHAL),
                Download(f"{NETWORK_HOME}/bio-pathways-network.tar.gz", ".", inside=NETWORK),
            ),
            read=read,
            read_npz=read_npz,
        ),
    ),
)
