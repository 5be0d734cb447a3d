"""Where the default weight of the pairs comes from: a sweep judged on pairs split off the training pairs.

Test pairs of any later comparison are never looked at. Needs CFUSE_DATA.

python benchmarks/pair_strength.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import arguments, check, real, store
from contrastive_fuse import ContrastiveFUSE, Graph, SignedPairs, sample_pairs, split_pairs
from contrastive_fuse.objective import default_pair_strength

SETS = ("cora", "citeseer", "pubmed", "wikics", "amazon-photo")
PAIRS = (500, 2000, 5000, 50_000)
STRENGTHS = (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 5.0)
FINE = 1e-4


def auc(graph: Graph, train: SignedPairs, valid: SignedPairs, seed: int, strength: float | None, tol: float) -> float:
    """ROC-AUC on validation pairs."""
    model = ContrastiveFUSE(
        objective_params={"pair_strength": strength}, calibration=None, tol=tol, max_iter=2000, random_state=seed
    )
    return model.fit(graph, train).score(valid)


def main() -> None:
    """Measure, store, and check that the default is close to the best of the sweep."""
    seeds = arguments(__doc__, seeds=5).seeds
    rows: list[dict[str, Any]] = []
    for name in SETS:
        found = real(name)
        if found is None:
            raise SystemExit(f"needs real data: set CFUSE_DATA to a folder with {name}.npz")
        graph, labels = found
        for n_pairs in PAIRS:
            scores: dict[str, list[float]] = {}
            for seed in range(seeds):
                training, _ = split_pairs(sample_pairs(labels, n_pairs, 100 + seed), 0.2, seed)
                train, valid = split_pairs(training, 0.2, seed)
                for strength in STRENGTHS:
                    scores.setdefault(f"{strength:g}", []).append(auc(graph, train, valid, seed, strength, 1e-2))
                scores.setdefault("default", []).append(auc(graph, train, valid, seed, None, 1e-2))
                scores.setdefault("default, tol 1e-4", []).append(auc(graph, train, valid, seed, None, FINE))
            row = {
                "set": name,
                "training_pairs": len(train),
                "default": default_pair_strength(len(train), graph.n_nodes),
            }
            rows.append(row | {"roc_auc": {key: float(np.mean(values)) for key, values in scores.items()}})
            print(rows[-1], flush=True)
    losses = [max(r["roc_auc"][f"{s:g}"] for s in STRENGTHS) - r["roc_auc"]["default"] for r in rows]
    gaps = [r["roc_auc"]["default, tol 1e-4"] - r["roc_auc"]["default"] for r in rows]
    store(
        "pair_strength",
        {
            "seeds": seeds,
            "rows": rows,
            "mean_loss_against_the_best_of_the_sweep": float(np.mean(losses)),
            "largest_loss": float(np.max(losses)),
            "gain_of_going_on_to_1e-4": {"lowest": float(np.min(gaps)), "highest": float(np.max(gaps))},
        },
    )
    check({"default within 0.03 of the best strength everywhere": max(losses) <= 0.03})


if __name__ == "__main__":
    main()
