"""The whole `fit` call on real data, once compiled: seconds by part, and held-out quality. Needs CFUSE_DATA.

python benchmarks/fit.py
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from common import arguments, check, real, store
from contrastive_fuse import ContrastiveFUSE, sample_pairs, split_pairs


def measure(name: str, n_pairs: int, repeats: int, seeds: int = 3, **params: Any) -> dict[str, Any]:
    """Fit several times; median seconds, and held-out quality over seeds."""
    found = real(name)
    if found is None:
        raise SystemExit(f"needs real data: set CFUSE_DATA to a folder with {name}.npz")
    graph, labels = found
    seconds, parts, aucs, accuracies = [], [], [], []
    for seed in range(seeds):
        train, test = split_pairs(sample_pairs(labels, n_pairs, seed), 0.2, seed)
        ContrastiveFUSE(max_iter=1, readout="cosine", random_state=seed, **params).fit(graph, train)
        for _ in range(repeats):
            started = perf_counter()
            model = ContrastiveFUSE(readout="cosine", random_state=seed, **params).fit(graph, train)
            seconds.append(perf_counter() - started)
            parts.append(model.timings_)
        aucs.append(model.score(test))
        accuracies.append(float(np.mean(model.predict(test) == test.y)))
    typical = parts[int(np.argsort(seconds)[len(seconds) // 2])]
    return {
        "pairs": n_pairs,
        "seconds_median": float(np.median(seconds)),
        "seconds_slowest": float(np.max(seconds)),
        "parts_of_the_median_fit": typical,
        "share_of_iterations": typical["iterations"] / typical["total"],
        "iterations_of_the_final_solve": model.n_iter_,
        "roc_auc": aucs,
        "accuracy": accuracies,
    }


def main() -> None:
    """Measure, store, and check the bars."""
    repeats = arguments(__doc__, repeats=3).repeats
    results = {
        "ogbn-arxiv": measure("ogbn-arxiv", 100_000, repeats, n_components=128),
        "cora": measure("cora", 50_000, repeats, n_components=128),
        "cora, paper": measure("cora", 50_000, repeats, n_components=150, objective="paper"),
        "cora, paper, lambda 0": measure(
            "cora", 50_000, repeats, n_components=150, objective="paper", objective_params={"lambda_scaled": 0}
        ),
    }
    store("fit", results)
    arxiv, cora = results["ogbn-arxiv"], results["cora"]
    paper, ablation = results["cora, paper"], results["cora, paper, lambda 0"]
    check(
        {
            "ogbn-arxiv, 100,000 pairs, k = 128: within 3 s": arxiv["seconds_median"] <= 3,
            "ogbn-arxiv: accuracy at least 0.79": min(arxiv["accuracy"]) >= 0.79,
            "ogbn-arxiv: iterations are most of it": arxiv["share_of_iterations"] > 0.5,
            "Cora, 50,000 pairs: within 0.2 s": cora["seconds_median"] <= 0.2,
            "Cora: accuracy at least 0.97": min(cora["accuracy"]) >= 0.97,
            "paper on Cora: accuracy at least 0.80": min(paper["accuracy"]) >= 0.80,
            "lambda = 0 is lower": max(ablation["accuracy"]) < min(paper["accuracy"]),
        }
    )


if __name__ == "__main__":
    main()
