"""The default estimator where pairs are few, wrong, many, or about other nodes. Test pairs are never touched.

Needs CFUSE_DATA.

python benchmarks/mixture.py            # five sets, seven kinds of training pairs, 5 seeds; goes on where it stopped
python benchmarks/mixture.py --sets cora,pubmed
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from common import RESULTS, arguments, check, store
from contrastive_fuse import ContrastiveFUSE, SignedPairs, load_dataset, sample_pairs
from contrastive_fuse.datasets import Dataset
from contrastive_fuse.metrics import evaluate
from contrastive_fuse.protocol import few_pairs, flip_pairs, sample_split_nodes

SETS = ("cora", "citeseer", "pubmed", "wikics", "amazon-photo")
N_TEST = 10_000
# training pairs and the share of them that is flipped; "cold" has half of the nodes in no training pair
KINDS = {
    "500": (500, 0.0), "2,000": (2000, 0.0), "5,000": (5000, 0.0), "50k, 40 % wrong": (50_000, 0.4),
    "50k, 20 % wrong": (50_000, 0.2), "50k, 10 % wrong": (50_000, 0.1), "50k": (50_000, 0.0), "cold": (50_000, 0.0),
}  # fmt: skip
COLUMNS = ("500", "2,000", "5,000", "50k, 40 % wrong", "50k, 20 % wrong", "cold")
BARS = {
    "cora": (0.87, 0.955, 0.99, 0.95, 0.997, 0.93),
    "citeseer": (0.66, 0.80, 0.955, 0.81, 0.99, 0.80),
    "pubmed": (0.765, 0.81, 0.85, 0.80, 0.93, 0.858),
    "wikics": (0.84, 0.87, 0.895, 0.865, 0.94, 0.92),
    "amazon-photo": (0.91, 0.96, 0.98, 0.94, 0.992, 0.975),
}
CALIBRATED, LARGEST_ERROR = ("cora", "pubmed"), 0.03
CLASSES = {"cora": 7, "citeseer": 6, "pubmed": 3, "wikics": 10, "amazon-photo": 8}


def draw(data: Dataset, kind: str, seed: int) -> tuple[SignedPairs, SignedPairs]:
    """Training and test pairs; the test pairs are clean and balanced."""
    n_pairs, wrong = KINDS[kind]
    if kind == "cold":
        return sample_split_nodes(data.labels, n_pairs + N_TEST, N_TEST / (n_pairs + N_TEST), seed)
    train, test = few_pairs(sample_pairs(data.labels, n_pairs + N_TEST, seed), n_pairs, N_TEST, seed)
    return (flip_pairs(train, wrong, seed) if wrong else train), test


def judge(data: Dataset, kind: str, seed: int) -> dict[str, float]:
    """Metrics on the test pairs, and what the model says of its training pairs."""
    train, test = draw(data, kind, seed)
    model = ContrastiveFUSE(random_state=seed).fit(data.graph, train)
    values = evaluate(test.y, model.pair_score(test), model.predict(test), model.predict_proba(test)[:, 1])
    noise = model.pair_noise_
    assert noise is not None
    return values | {
        "noise": noise.value, "noise_low": noise.low, "noise_high": noise.high, "groups": float(model.n_groups_ or 0),
        "homophily": model.homophily_ or 0.0,
    }  # fmt: skip


def verdicts(results: dict[str, Any], sets: list[str]) -> Iterator[tuple[str, bool]]:
    """Each bar, and whether it is met."""

    def mean(name: str, kind: str, measure: str) -> float:
        return float(np.mean([found[measure] for found in results[name][kind]]))

    for name in sets:
        for kind, bar in zip(COLUMNS, BARS[name], strict=True):
            yield (
                f"{name}, {kind}: {mean(name, kind, 'roc_auc'):.4f}, at least {bar}",
                mean(name, kind, "roc_auc") >= bar,
            )
        if name in CALIBRATED:
            for kind in COLUMNS:
                error = mean(name, kind, "calibration_error")
                yield f"{name}, {kind}: calibration error {error:.3f}, at most 0.03", error <= LARGEST_ERROR
        for kind in ("50k", "50k, 10 % wrong", "50k, 20 % wrong", "50k, 40 % wrong"):
            off = max(abs(found["noise"] - KINDS[kind][1]) for found in results[name][kind])
            yield f"{name}, {kind}: noise off by {off:.3f} at most, 0.03 allowed", off <= 0.03
        off = max(abs(found["groups"] - CLASSES[name]) for found in results[name]["50k"])
        yield f"{name}: groups off by {off:.0f} at most, 2 allowed", off <= 2


def main() -> None:
    """Measure what is not measured yet, store, and check the bars."""
    options = arguments(__doc__, seeds=5, sets=",".join(SETS))
    sets = options.sets.split(",")
    partial = RESULTS / "mixture.partial.json"
    results: dict[str, Any] = json.loads(partial.read_text()) if partial.exists() else {}
    for name in sets:
        data = load_dataset(name)
        for kind in KINDS:
            found = results.setdefault(name, {}).setdefault(kind, [])
            for seed in range(len(found), options.seeds):
                found.append(judge(data, kind, seed))
                partial.write_text(json.dumps(results))
            print(name, kind, f"{np.mean([one['roc_auc'] for one in found]):.4f}", flush=True)
    if set(sets) == set(SETS):
        store("mixture", {"seeds": options.seeds, "sets": results})
        partial.unlink()
    check(dict(verdicts(results, sets)))


if __name__ == "__main__":
    main()
