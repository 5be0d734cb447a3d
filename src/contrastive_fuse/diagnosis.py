"""A description of a graph, and of how pairs lie on it, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from contrastive_fuse.graph import Graph
from contrastive_fuse.objective import default_pair_strength, paper_scaling
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.rows import random_rows
from contrastive_fuse.theory import edge_bound, gradient_cosine, lipschitz_constant

COMPONENTS = 128  # of the random rows at which gradients are compared


def diagnose(graph: Graph, pairs: PairRows | None = None) -> dict[str, dict[str, Any]]:
    """Components, degrees and the constants of the theory; with pairs, also what the pairs touch."""
    n_components, component = connected_components(graph.adjacency, directed=False)
    sizes = np.bincount(component) if graph.n_nodes else np.zeros(1, dtype=np.int64)
    neighbours = np.diff(graph.indptr)
    facts: dict[str, dict[str, Any]] = {
        "structure": {
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "weighted": graph.is_weighted,
            "connected_components": int(n_components),
            "nodes_in_the_largest": int(sizes.max()),
            "isolated_nodes": int(np.count_nonzero(neighbours == 0)),
            "neighbours_median": float(np.median(neighbours)),
            "neighbours_mean": float(neighbours.mean()),
            "neighbours_max": int(neighbours.max()),
        }
    }
    if graph.n_edges:
        bound = edge_bound(graph)
        rows = random_rows(graph.n_nodes, COMPONENTS, 0)
        facts["theory"] = {
            "degree_norm": bound.degree_norm,
            "zagreb_constant": bound.zagreb_constant,
            "edges_needed": bound.m_min,
            "edge_bound_holds": bound.holds,
            "gradient_cosine_at_random_rows": gradient_cosine(graph, rows),
            "lipschitz_constant_without_pairs": lipschitz_constant(graph),
        }
    if pairs is not None:
        touched = np.zeros(graph.n_nodes, dtype=bool)
        touched[pairs.first] = touched[pairs.second] = True
        scaling = paper_scaling(len(pairs.y), float(graph.degrees.mean()))
        facts["pairs"] = {
            "alike": int(np.count_nonzero(pairs.y > 0)),
            "unlike": int(np.count_nonzero(pairs.y < 0)),
            "nodes_touched": int(touched.sum()),
            "nodes_touched_share": float(touched.mean()),
            "balanced_pair_strength": default_pair_strength(len(pairs.y), graph.n_nodes),
            "paper_eta": scaling.eta,
            "paper_lambda": scaling.lam,
        }
    return facts
