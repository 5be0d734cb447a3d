"""Further bars of the default estimator, one seed: many clean pairs, hidden nodes against an oracle, uneven signs.

Needs CFUSE_DATA.

python benchmarks/mixture_bars.py    # goes on where it stopped
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from common import RESULTS, arguments, check, store
from contrastive_fuse import ContrastiveFUSE, SignedPairs, draw_pairs, load_dataset, sample_pairs
from contrastive_fuse.datasets import Dataset
from contrastive_fuse.metrics import accuracy, roc_auc
from contrastive_fuse.protocol import sample_split_nodes
from contrastive_fuse.registry import make_embedder

SETS, LARGE = ("cora", "citeseer", "pubmed", "wikics", "amazon-photo"), "ogbn-arxiv"
MANY = (50_000, 100_000, 500_000)
N_TEST = 10_000
SHARES, UNEVEN, ALLOWED = (0.5, 0.1, 0.9), (5000, 50_000), {5000: 0.05, 50_000: 0.02}


def clean(data: Dataset, n_pairs: int, seed: int) -> dict[str, float]:
    """The paper's protocol, 80/20."""
    train, test = draw_pairs(data, n_pairs, random_state=seed)
    model = ContrastiveFUSE(random_state=seed).fit(data.graph, train)
    return {"accuracy": accuracy(test.y, model.predict(test)), "roc_auc": model.score(test)}


def hidden(data: Dataset, n_pairs: int, seed: int) -> dict[str, float]:
    """Half of the nodes in no training pair; the oracle is told the class of every node in one."""
    n_test = n_pairs // 5
    train, test = sample_split_nodes(data.labels, n_pairs + n_test, n_test / (n_pairs + n_test), seed)
    model = ContrastiveFUSE(random_state=seed).fit(data.graph, train)
    oracle = make_embedder("label-propagation-oracle", settings={"labels": data.labels}).fit(data.graph, train)
    rows = test.rows_in(data.graph.ids, "error")[0]
    likeliest = oracle.rows_.argmax(axis=1)
    same = np.where(likeliest[rows.first] == likeliest[rows.second], 1, -1)
    return {
        "accuracy": accuracy(test.y, model.predict(test)), "roc_auc": model.score(test),
        "oracle_accuracy": accuracy(test.y, same), "oracle_roc_auc": roc_auc(test.y, oracle.pair_score(test)),
    }  # fmt: skip


def uneven(data: Dataset, n_pairs: int, share: float, seed: int) -> dict[str, float]:
    """Training pairs of which only so many are alike; test pairs are balanced."""
    drawn = sample_pairs(data.labels, 2 * n_pairs + 2 * N_TEST, seed)
    rng = np.random.default_rng(seed)
    alike, unlike = (rng.permutation(np.flatnonzero(drawn.y == sign)) for sign in (1, -1))
    n_alike = round(share * n_pairs)
    chosen = np.concatenate([alike[:n_alike], unlike[: n_pairs - n_alike]])
    test = drawn.subset(np.sort(np.concatenate([alike[-N_TEST // 2 :], unlike[-N_TEST // 2 :]])))
    train: SignedPairs = drawn.subset(np.sort(chosen))
    return {"roc_auc": ContrastiveFUSE(random_state=seed).fit(data.graph, train).score(test)}


def main() -> None:
    """Measure what is not measured yet, store, and check the bars."""
    seed = arguments(__doc__, seed=0).seed
    partial = RESULTS / "mixture_bars.partial.json"
    results: dict[str, Any] = json.loads(partial.read_text()) if partial.exists() else {}

    def once(key: str, measure: Callable[..., dict[str, float]], *given: Any) -> None:
        if key not in results:
            results[key] = measure(*given, seed)
            partial.write_text(json.dumps(results))
            print(key, results[key], flush=True)

    for name in (*SETS, LARGE):
        data = load_dataset(name)
        for n_pairs in MANY:
            once(f"{name}, {n_pairs:,} pairs", clean, data, n_pairs)
        once(f"{name}, hidden nodes", hidden, data, 500_000 if name == LARGE else 50_000)
        if name != LARGE:
            for n_pairs in UNEVEN:
                for share in SHARES:
                    once(f"{name}, {n_pairs:,} pairs, {share:.0%} alike", uneven, data, n_pairs, share)
    store("mixture_bars", results)
    partial.unlink()
    check(verdicts(results))


def verdicts(results: dict[str, Any]) -> dict[str, bool]:
    """Each bar, and whether it is met."""

    def mean(keys: list[str], measure: str) -> float:
        return float(np.mean([results[key][measure] for key in keys]))

    at_50k = mean([f"{name}, 50,000 pairs" for name in SETS], "accuracy")
    at_all = mean([f"{name}, {n:,} pairs" for name in SETS for n in MANY], "accuracy")
    large = mean([f"{LARGE}, {n:,} pairs" for n in MANY], "accuracy")
    bars = {
        f"five sets, 50,000 pairs: accuracy {at_50k:.4f}, at least 0.985": at_50k >= 0.985,
        f"five sets, 50k to 500k pairs: accuracy {at_all:.4f}, at least 0.99": at_all >= 0.99,
        f"{LARGE}, 50k to 500k pairs: accuracy {large:.4f}, at least 0.86": large >= 0.86,
    }
    keys = [f"{name}, hidden nodes" for name in (*SETS, LARGE)]
    for measure in ("roc_auc", "accuracy"):
        ours, oracle = mean(keys, measure), mean(keys, f"oracle_{measure}")
        bars[f"hidden nodes, six sets: {measure} {ours:.4f}, the oracle's {oracle:.4f}"] = ours >= oracle
    for name in SETS:
        for n_pairs in UNEVEN:
            even, *others = (results[f"{name}, {n_pairs:,} pairs, {share:.0%} alike"]["roc_auc"] for share in SHARES)
            loss = even - min(others)
            bars[f"{name}, {n_pairs:,} uneven pairs: {loss:.4f} below even ones, {ALLOWED[n_pairs]} allowed"] = (
                loss <= ALLOWED[n_pairs]
            )
    return bars


if __name__ == "__main__":
    main()
