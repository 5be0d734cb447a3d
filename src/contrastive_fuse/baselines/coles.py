"""COLES (Zhu, Sun, Koniusz 2021) with S2GC features: contrastive Laplacian eigenmaps, solved exactly.

The method looks for orthonormal directions W of the smoothed features X that make ``tr W' X' (Lambda L- - L+) X W``
large, L+ the Laplacian of the graph and L- the mean one of random graphs. Its own code descends; the leading
eigenvectors of that small matrix are the optimum, and no matrix over pairs of nodes is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from contrastive_fuse.baselines.base import Baseline, Task, to_width
from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.graph import Graph
from contrastive_fuse.types import AnyArray


class Coles(Baseline):
    """Settings are those for Cora; others are in ``PUBLISHED``. Inputs are random numbers unless features are given."""

    SETTINGS: ClassVar[Mapping[str, Any]] = {
        "features": None,
        "hops": 8,
        "keep": 0.05,
        "negatives": 2,
        "balance": 0.9,
        "inputs": 512,
    }
    PUBLISHED: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "cora": {"negatives": 2, "balance": 0.9},
        "citeseer": {"negatives": 5, "balance": 0.8},
        "pubmed": {"negatives": 3, "balance": 1.0},
    }

    def embed(self, task: Task) -> AnyArray:
        graph, settings, rng = task.graph, task.settings, task.rng
        import scipy.sparse as sp

        n = graph.n_nodes
        adjacency = graph.adjacency.astype(np.float64)
        degrees = graph.degrees
        root = 1 / np.sqrt(degrees + 1)
        smooth = sp.csr_array(sp.diags_array(root) @ (adjacency + sp.eye_array(n)) @ sp.diags_array(root))
        start = _features(settings["features"], n, settings["inputs"], rng)
        rows, total = start, np.zeros_like(start)
        hops, keep = check_integer("hops", settings["hops"], at_least=1), float(settings["keep"])
        for _ in range(hops):
            rows = smooth @ rows
            total += (1 - keep) * rows + keep * start
        rows = total / hops
        scale = sp.diags_array(1 / np.sqrt(np.maximum(degrees, 1)))
        near = rows.T @ rows - rows.T @ (scale @ adjacency @ scale @ rows)
        far = np.zeros_like(near)
        negatives = check_integer("negatives", settings["negatives"], at_least=1)
        for _ in range(negatives):
            other = rng.permutation(n)
            gap = rows - rows[other]
            far += gap.T @ gap / (2 * negatives)
        target = check_number("balance", settings["balance"], above=0) * far - near
        values, directions = np.linalg.eigh((target + target.T) / 2)
        return to_width(rows @ directions[:, np.argsort(-values)][:, : int(self.n_components)], int(self.n_components))

    def memory_estimate(self, graph: Graph) -> int:
        features = (self.settings or {}).get("features")
        width = self.check_parameters()["inputs"] if features is None else int(features.shape[1])
        return 5 * 8 * graph.n_nodes * width + 4 * 8 * width**2 + 2 * graph.n_edges * 40


def _features(features: Any, n_nodes: int, width: int, rng: np.random.Generator) -> AnyArray:
    if features is None:
        return rng.standard_normal((n_nodes, check_integer("inputs", width, at_least=1)))
    if features.shape[0] != n_nodes:
        raise InputError(f"features must have {n_nodes:,} rows; got {features.shape[0]:,}")
    dense = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float64)
    total = np.abs(dense).sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return np.asarray(dense / total)
