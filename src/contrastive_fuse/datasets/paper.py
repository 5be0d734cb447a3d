"""What the paper says of its data sets, beside what is counted here, and why the two differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from contrastive_fuse.datasets.base import Dataset, Facts
from contrastive_fuse.graph import Graph
from contrastive_fuse.theory import EdgeBound, edge_bound


class PrintedBound(NamedTuple):
    """A row of the paper's table of edge bounds."""

    nodes: int
    edges: int
    degree_norm: float
    zagreb_constant: float
    m_min: float


class Row(NamedTuple):
    """One figure, as printed and as counted."""

    what: str
    paper: str
    here: str
    why: str = ""


STATISTICS = {
    "cora": Facts(2708, 5429, 7, 1433),
    "citeseer": Facts(3327, 9104, 6, 3703),
    "pubmed": Facts(19_717, 44_338, 3, 500),
    "amazon-photo": Facts(7487, 119_043, 8, 745),
    "wikics": Facts(11_701, 216_123, 10, 300),
    "ogbn-arxiv": Facts(169_343, 1_166_243, 40, 128),
    "ogbn-products": Facts(2_449_029, 61_859_140, 47, 100),
}
BOUNDS = {
    "cora": PrintedBound(2708, 5278, 3.39e2, 0.176, 459.3),
    "citeseer": PrintedBound(3327, 4552, 2.51e2, 0.285, 714.9),
    "pubmed": PrintedBound(19_717, 44_324, 1.22e3, 0.235, 1252.6),
    "wikics": PrintedBound(11_701, 216_123, 8.62e3, 0.180, 30.9),
    "amazon-photo": PrintedBound(7650, 119_081, 4.95e3, 0.216, 30.0),
    "ogbn-arxiv": PrintedBound(169_343, 1_157_799, 2.88e4, 0.049, 971.9),
}
WHY_EDGES = {
    "cora": "the original neighbour lists have 10,858 entries, repeats among them; the paper halves that",
    "citeseer": "the paper counts every edge in both directions: 2 x 4,552",
    "pubmed": "the original neighbour lists have 88,676 entries, repeats and loops among them; the paper halves that",
    "wikics": "520 articles link to themselves; the paper counts these loops",
    "ogbn-arxiv": "the paper counts citations with their direction: 8,444 pairs of papers cite each other",
}


def compare(name: str, data: Dataset | None = None) -> dict[str, list[Row]]:
    """The paper's rows on a set, by the title of the table, beside the set where it is at hand."""
    tables = {}
    if name in STATISTICS:
        tables["the paper's table of data sets"] = (
            [Row(what, f"{value:,}", "not here") for what, value in STATISTICS[name]._asdict().items()]
            if data is None
            else _statistics(data)
        )
    if name in BOUNDS and data is not None:
        tables["the paper's table of edge bounds"] = _bounds(data)
    return tables


def _statistics(data: Dataset) -> list[Row]:
    printed, graph = STATISTICS[data.name], data.graph
    why = {"edges": WHY_EDGES.get(data.name, "")}
    if data.name == "amazon-photo":
        nodes, edges = largest_component(graph)
        why = {"nodes": f"the paper's table is of the largest connected component: {nodes:,} nodes, {edges:,} edges"}
        why["edges"] = "the same component"
    n_features = None if data.features is None else int(data.features.shape[1])
    here = Facts(graph.n_nodes, graph.n_edges, data.n_classes, n_features)
    return [
        Row(
            what, f"{one:,}", "not in this file" if two is None else f"{two:,}", "" if one == two else why.get(what, "")
        )
        for what, one, two in zip(Facts._fields, printed, here, strict=True)
    ]


def _bounds(data: Dataset) -> list[Row]:
    printed = BOUNDS[data.name]
    here = paper_bound(data)
    loops = " (self-loops counted)" if data.name == "wikics" else ""
    return [
        Row("n", f"{printed.nodes:,}", f"{here.n_nodes:,}"),
        Row(f"m{loops}", f"{printed.edges:,}", f"{here.n_edges:,}"),
        Row("norm of the degrees", f"{printed.degree_norm:.2e}", f"{here.degree_norm:.2e}"),
        Row("Zagreb constant c(G)", f"{printed.zagreb_constant:.3f}", f"{here.zagreb_constant:.3f}"),
        Row("edges needed, m_min", f"{printed.m_min:,.1f}", f"{here.m_min:,.1f}"),
    ]


def paper_bound(data: Dataset) -> EdgeBound:
    """The edge bound as the paper computes it: with self-loops, where the set brings them."""
    return edge_bound(data.graph, data.info.get("arrays", {}).get("selfloop_nodes"))


def largest_component(graph: Graph) -> tuple[int, int]:
    """Nodes and edges of the largest connected component."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(graph.adjacency, directed=False)
    largest = int(np.argmax(np.bincount(component)))
    return int(np.count_nonzero(component == largest)), int(np.count_nonzero(component[graph.edges()[0]] == largest))
