"""Baselines against their own literature on Cora: node classes by logistic regression, edges by VGAE. Needs CFUSE_DATA.

python benchmarks/baselines.py            # Cora; goes on where it stopped
python benchmarks/baselines.py --large 1  # DeepWalk's seconds on Cora and ogbn-arxiv, 10 walks of 80, k = 128
python benchmarks/baselines.py --runs 1   # every method on the five sets, some on ogbn-arxiv; goes on where it stopped
python benchmarks/baselines.py --runs 1 --methods grace,sgcl --sets pubmed --device cuda   # some of that, elsewhere
"""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from common import RESULTS, arguments, check, store
from contrastive_fuse import Graph, InputError, draw_pairs, load_dataset
from contrastive_fuse.datasets import Dataset
from contrastive_fuse.heads import make_head
from contrastive_fuse.metrics import roc_auc
from contrastive_fuse.parallel import thread_count
from contrastive_fuse.registry import EMBEDDERS, make_embedder

SETS = ("cora", "citeseer", "pubmed", "amazon-photo", "wikics")
LARGE, ON_LARGE = "ogbn-arxiv", ("random", "coles", "deepwalk", "cca-ssg", "dgi", "node2vec")
SEEDS = (0, 1, 2, 3, 4)
COSTLY = ("grace", "sgcl", "sgcl-linear", "mvgrl")  # run last
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0)
# name, components, whether the set's features are given; the bar on the public split, and with half of the labels
CLASSIFIED = (
    ("random", 128, False, 0.0, 0.0),
    ("deepwalk", 128, False, 0.66, 0.78),
    ("node2vec", 128, False, 0.66, 0.78),
    ("coles", 512, True, 0.79, 1.0),
    ("dgi", 512, True, 0.79, 1.0),
    ("cca-ssg", 512, True, 0.79, 1.0),
    ("grace", 128, True, 0.79, 1.0),
    ("mvgrl", 512, True, 0.80, 1.0),
)


def classify(data: Dataset, vectors: Any) -> dict[str, float]:
    """Accuracy on the public split, the penalty chosen on validation nodes, and with half of the labels (10 splits)."""
    rows, labels = normalize(vectors), data.labels
    train, val, test = (data.splits[name] for name in ("train", "val", "test"))
    models = [LogisticRegression(C=c, max_iter=2000).fit(rows[train], labels[train]) for c in PENALTIES]
    best = max(models, key=lambda model: model.score(rows[val], labels[val]))
    halves = []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(labels))
        one, two = np.array_split(order, 2)
        half = LogisticRegression(C=10.0, max_iter=2000).fit(rows[one], labels[one])
        halves.append(half.score(rows[two], labels[two]))
    return {"public": float(best.score(rows[test], labels[test])), "half": float(np.mean(halves))}


def link_prediction(data: Dataset) -> dict[str, float]:
    """ROC-AUC of VGAE with features on a tenth of the edges, which it has not seen, against as many other pairs."""
    rng = np.random.default_rng(0)
    first, second = data.graph.edges()
    hidden = rng.permutation(len(first))[: len(first) // 10]
    kept = np.ones(len(first), dtype=bool)
    kept[hidden] = False
    graph = Graph.from_edges(first[kept], second[kept], nodes=data.graph.n_nodes)
    started = perf_counter()
    model = make_embedder("vgae", 16, settings={"features": data.features}, random_state=0).fit(graph)
    seconds = perf_counter() - started
    others = rng.integers(0, graph.n_nodes, (4 * len(hidden), 2))
    known = set(zip(first.tolist(), second.tolist(), strict=True))
    others = [pair for pair in np.sort(others, axis=1).tolist() if pair[0] < pair[1] and tuple(pair) not in known]
    asked = np.concatenate([np.stack([first[hidden], second[hidden]], axis=1), others[: len(hidden)]])
    y = np.repeat([1, -1], len(hidden))
    return {"roc_auc": roc_auc(y, model.pair_score(asked)), "seconds": seconds}


def literature() -> None:
    """Cora, mean over the seeds."""
    data = load_dataset("cora")
    partial = RESULTS / "baselines.partial.json"
    results: dict[str, Any] = json.loads(partial.read_text()) if partial.exists() else {}
    for name, n_components, featured, *_ in CLASSIFIED:
        found = results.setdefault(name, {"features": featured, "public": [], "half": [], "seconds": []})
        for seed in SEEDS[len(found["public"]) :]:
            settings = {"features": data.features} if featured else None
            started = perf_counter()
            model = make_embedder(name, n_components, settings=settings, random_state=seed).fit(data.graph)
            found["seconds"].append(perf_counter() - started)
            for measure, value in classify(data, model.embedding_).items():
                found[measure].append(value)
            partial.write_text(json.dumps(results))
        print(name, found, flush=True)
    if "vgae" not in results:
        results["vgae"] = link_prediction(data)
    store("baselines", results)
    partial.unlink(missing_ok=True)
    bars = {
        f"{name}: {public} on the public split" + (f", or {half} with half of the labels" if half < 1 else ""): (
            np.mean(results[name]["public"]) >= public or np.mean(results[name]["half"]) >= half
        )
        for name, _, _, public, half in CLASSIFIED
        if public
    }
    bars["vgae: link prediction 0.90"] = results["vgae"]["roc_auc"] >= 0.90
    check(bars)


def large() -> None:
    """DeepWalk's seconds."""
    results, settings = {}, {"walks": 10, "length": 80}
    for name in ("cora", "ogbn-arxiv"):
        graph = load_dataset(name).graph
        started = perf_counter()
        make_embedder("deepwalk", 128, settings=settings, random_state=0).fit(graph)
        results[name] = perf_counter() - started
        print(name, results[name], flush=True)
    store("baselines_large", results)
    check({"Cora under 10 s": results["cora"] < 10, "ogbn-arxiv under 10 minutes": results["ogbn-arxiv"] < 600})


def runs(methods: str, sets: str, device: str) -> None:
    """Every method on every set that the paper ran it on, 50,000 pairs split 80/20; stored once all are there."""
    partial = RESULTS / "baselines_runs.partial.json"
    results: dict[str, Any] = json.loads(partial.read_text()) if partial.exists() else {}
    by_cost = sorted(EMBEDDERS, key=lambda name: name in COSTLY)
    wanted = [(name, method) for method in by_cost for name in SETS] + [(LARGE, method) for method in ON_LARGE]
    for name, method in wanted:
        key = f"{name}, {method}"
        if (
            key not in results
            and (not methods or method in methods.split(","))
            and (not sets or name in sets.split(","))
        ):
            results[key] = judge(load_dataset(name), method, device)
            partial.write_text(json.dumps(results))
            print(key, results[key], flush=True)
    if all(f"{name}, {method}" in results for name, method in wanted):
        store("baselines_runs", results)
        partial.unlink()
        check({key: "seconds" in found or "left_out" in found for key, found in results.items()})


def judge(data: Dataset, method: str, device: str) -> dict[str, Any]:
    """Seconds, and ROC-AUC of the method's own pair score and of two heads on its vectors."""
    entry = EMBEDDERS[method]
    settings = {entry.needs: getattr(data, entry.needs)} if entry.needs else None
    if settings is not None and settings[entry.needs or ""] is None:
        return {"left_out": f"the set has no {entry.needs}"}
    train, test = draw_pairs(data, 50_000, random_state=0)
    model = make_embedder(method, 128, random_state=0, **({} if settings is None else {"settings": settings}))
    if "device" in model.get_params():
        model.set_params(device=device)
    started = perf_counter()
    try:
        model.fit(data.graph, train)
    except InputError as error:
        return {"refused": str(error)}
    found: dict[str, Any] = {"seconds": perf_counter() - started, "where": where(model)}
    found["own"] = {"roc_auc": model.score(test)}
    if not entry.needs_pairs:  # what learned from the pairs alone cannot be judged by a head on the same pairs
        for name in ("logistic", "mlp"):
            head = make_head(name, "strong", random_state=0).fit(model.embedding_, data.graph, train)
            found[name] = {"roc_auc": roc_auc(test.y, head.pair_score(test))}
    return found


def where(model: Any) -> str:
    """What a method ran on."""
    if model.get_params().get("device") == "cuda":
        import torch  # noqa: PLC0415

        return str(torch.cuda.get_device_name())
    return f"CPU, {thread_count(None)} threads"


if __name__ == "__main__":
    options = arguments(__doc__, large=0, runs=0, methods="", sets="", device="cpu")
    if options.large:
        large()
    elif options.runs:
        runs(options.methods, options.sets, options.device)
    else:
        literature()
