"""How many of the pairs that `audit_pairs` puts first are wrong, a fifth of 50,000 being flipped. Needs CFUSE_DATA.

python benchmarks/audit.py
"""

from __future__ import annotations

import numpy as np

from common import arguments, check, store
from contrastive_fuse import ContrastiveFUSE, flip_pairs, load_dataset, sample_pairs

BARS = {"cora": 0.97, "pubmed": 0.75}


def precision(name: str, seed: int) -> float:
    """Share of wrong pairs among as many as there are."""
    data = load_dataset(name)
    clean = sample_pairs(data.labels, 50_000, seed)
    given = flip_pairs(clean, 0.2, seed)
    n_wrong = int(np.sum(clean.y != given.y))
    model = ContrastiveFUSE(random_state=seed).fit(data.graph, given)
    first = model.audit_pairs(n_wrong)
    labels = dict(zip(model.ids_.column().to_list(), data.labels.tolist(), strict=True))
    alike = [labels[a] == labels[b] for a, b in zip(first["node_1"], first["node_2"], strict=True)]
    return float(np.mean(np.where(alike, 1, -1) != first["y"]))


def main() -> None:
    """Measure, store, and check the bars."""
    seeds = arguments(__doc__, seeds=5).seeds
    results = {name: [precision(name, seed) for seed in range(seeds)] for name in BARS}
    store("audit", results)
    check({f"{name}: {np.mean(results[name]):.3f}, at least {bar}": np.mean(results[name]) >= bar
           for name, bar in BARS.items()})  # fmt: skip


if __name__ == "__main__":
    main()
