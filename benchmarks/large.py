"""A planted graph of ogbn-products' size, generated and fitted in one process: seconds and peak memory.

python benchmarks/large.py
"""

from __future__ import annotations

import resource
from time import perf_counter

import numpy as np

from common import arguments, check, store
from contrastive_fuse import ContrastiveFUSE, sample_pairs, split_pairs
from contrastive_fuse.datasets import planted


def peak_gigabytes() -> float:
    """Most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Measure, store, and check the bars."""
    options = arguments(__doc__, nodes=2_449_029, edges=61_859_140, classes=47, components=128)
    small = planted(2000, 10_000, 5, 2)
    ContrastiveFUSE(options.components, max_iter=1, readout="cosine").fit(
        small.graph, sample_pairs(small.labels, 2000, 0)
    )
    started = perf_counter()
    data = planted(options.nodes, options.edges, options.classes)
    generated = perf_counter() - started
    after_graph = peak_gigabytes()
    train, test = split_pairs(sample_pairs(data.labels, 100_000, 0), 0.2, 0)
    started = perf_counter()
    steps: list[str] = []
    model = ContrastiveFUSE(options.components, max_iter=30, tol=0, readout="cosine", random_state=0)
    model.fit(data.graph, train, callback=lambda step: steps.append(step.stage))
    fitted = perf_counter() - started
    results = {
        "nodes": data.graph.n_nodes,
        "edges": data.graph.n_edges,
        "generate_seconds": generated,
        "fit_seconds": fitted,
        "parts": model.timings_,
        "iterations": {stage: steps.count(stage) for stage in ("calibration", "embedding")},
        "seconds_an_iteration": model.timings_["iterations"] / len(steps),
        "peak_gigabytes_after_generation": after_graph,
        "peak_gigabytes": peak_gigabytes(),
        "roc_auc": model.score(test),
        "accuracy": float(np.mean(model.predict(test) == test.y)),
    }
    store("large", results)
    check(
        {
            "generated within 60 s": generated <= 60,
            "fitted within 2 minutes": fitted <= 120,
            "at most 12 GB": results["peak_gigabytes"] <= 12,
        }
    )


if __name__ == "__main__":
    main()
