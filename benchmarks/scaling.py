"""Time of an iteration against edges, pairs and columns: the slopes of log time over log size.

python benchmarks/scaling.py
"""

from __future__ import annotations

import numpy as np

from common import check, store
from contrastive_fuse import sample_pairs
from contrastive_fuse.arrangement import Arrangement
from contrastive_fuse.datasets import planted
from contrastive_fuse.objective import balanced
from kernel import ours

NODES = 100_000


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Of the straight line through the points, in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Measure, store, and check that no slope is above linear."""
    results: dict[str, dict[str, object]] = {}

    edges = [2_000_000, 4_000_000, 8_000_000, 16_000_000]
    graphs = [planted(NODES, count, 20, 4).graph for count in edges]
    seconds = [ours(balanced(graph), 128) for graph in graphs]
    results["edges"] = {"sizes": [graph.n_edges for graph in graphs], "seconds": seconds}
    sparse = planted(NODES, 200_000, 20, 4)
    del graphs

    pairs = [2_000_000, 4_000_000, 8_000_000, 16_000_000]
    seconds = []
    for count in pairs:
        rows = sample_pairs(sparse.labels, count, 0).rows_in(sparse.graph.ids)[0]
        seconds.append(ours(balanced(sparse.graph, rows), 128))
    results["pairs"] = {"sizes": pairs, "seconds": seconds}

    # So many nodes that no table fits into the caches, and in the order fit works in; else the slope is that of memory.
    given = planted(5 * NODES, 25 * NODES, 20, 40).graph
    graph = Arrangement.for_graph(given, 512).graph(given)
    columns = [32, 64, 128, 256, 512]
    results["columns"] = {"sizes": columns, "seconds": [ours(balanced(graph), width) for width in columns]}
    for entry in results.values():
        entry["slope"] = slope(entry["sizes"], entry["seconds"])  # type: ignore[arg-type]
    store("scaling", results)
    check({f"time linear in {name}": 0.8 <= entry["slope"] <= 1.25 for name, entry in results.items()})  # type: ignore[operator]


if __name__ == "__main__":
    main()
