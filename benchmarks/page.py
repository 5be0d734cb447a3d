"""Render docs/performance.md from the stored results, so that every figure there can be traced.

python benchmarks/page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PARTS = ("order", "init", "operator", "iterations", "calibration")
PAGE = ROOT / "docs" / "performance.md"


def load(name: str) -> dict[str, Any]:
    """A stored result with its machine and versions."""
    record: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return record


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def source(name: str, options: str = "", script: str | None = None) -> str:
    """Where a section's figures come from."""
    record = load(name)
    machine, versions = record["machine"], record["versions"]
    packages = ", ".join(f"{package} {versions[package]}" for package in ("numpy", "scipy", "numba"))
    return (
        f"`python benchmarks/{script or name}.py{options}`, stored in `benchmarks/results/{name}.json`: {record['measured']},"
        f" {machine['processor']}, {machine['threads']} threads, Python {versions['python']}, {packages}."
    )


def kernel() -> str:
    """The iteration against its peers, and over widths."""
    record = load("kernel")
    results = record["results"]
    k128 = results["k128"]
    peers = [
        ["Contrastive FUSE, fused", k128["fused_seconds"], 1.0],
        ["the same on one thread", k128["one_thread_seconds"], None],
        ["the same in the given order of nodes", k128["fused_seconds_in_the_given_order"], None],
        ["pycleora, propagate + normalise", k128["pycleora_propagate_normalise_seconds"], k128["ratio_to_pycleora"]],
        ["pycleora, `embed_fast`", k128["pycleora_embed_fast_iteration_seconds"], k128["ratio_to_pycleora_embed_fast"]],
        ["SciPy and NumPy, the same iteration", k128["scipy_iteration_seconds"], k128["ratio_to_scipy"]],
        [
            "SciPy and NumPy in our working order",
            k128["scipy_iteration_seconds_in_the_working_order"],
            k128["fused_seconds"] / k128["scipy_iteration_seconds_in_the_working_order"],
        ],
        [
            "SciPy, the product alone",
            k128["scipy_product_seconds"],
            k128["fused_seconds"] / k128["scipy_product_seconds"],
        ],
    ]
    rows = [[name, f"{1000 * s:.1f} ms", "" if ratio is None else f"{ratio:.3f}"] for name, s, ratio in peers]
    widths = [
        [
            width, f"{1000 * row['seconds']:.2f} ms", f"{row['cost_per_column_relative_to_128']:.2f}",
            f"{row['ratio_to_scipy_iteration']:.2f}", f"{row['ratio_to_scipy_product_alone']:.2f}",
        ]
        for width, row in results["widths"].items()
    ]  # fmt: skip
    return f"""## One iteration

Product, rank-one term, row norm and convergence sums on {results["graph"]} ({results["nodes"]:,} nodes,
{results["edges"]:,} edges), k = 128, in one run after warm-up. pycleora {record["versions"]["pycleora"]}; the ratio is our
time over theirs. Peers get the nodes in the order of the data; ours works in the order that `fit` finds for itself, which
takes {1000 * k128["seconds_to_find_the_working_order"]:.0f} ms once.

{table(["", "time", "ratio"], rows)}

It gathers {k128["gathered_bytes_a_second"] / 1e9:.0f} GB/s of rows; copying memory moves
{k128["copy_roof_bytes_a_second"] / 1e9:.0f} GB/s on this machine, reads and writes counted, so this is
{k128["share_of_roof"]:.2f} of that roof (above 1 where part of the rows is found in cache). The exact gradient costs
{results["exact_over_approximate"]:.2f} of the approximate one. With 100,000 pairs added an iteration takes
{1000 * results["k128_with_100k_pairs_seconds"]:.1f} ms.

{table(["k", "time", "per column, k = 128 is 1", "over SciPy iteration", "over SciPy product alone"], widths)}

{source("kernel")}
"""


def scaling() -> str:
    """The three slopes."""
    results = load("scaling")["results"]
    rows = [
        [
            name,
            ", ".join(f"{size:,}" for size in entry["sizes"]),
            ", ".join(f"{1000 * s:.0f}" for s in entry["seconds"]),
            f"{entry['slope']:.2f}",
        ]
        for name, entry in results.items()
    ]
    return f"""## Linear in edges, pairs and columns

Slope of log time over log size of one iteration; 1 is linear. Edges and pairs: planted graphs of 100,000 nodes, the
pairs on 200,000 edges. Columns: 500,000 nodes and 2.5 million edges, so that no table fits into the caches. A slope
below 1 shows the share of work that does not grow.

{table(["", "sizes", "milliseconds", "slope"], rows)}

{source("scaling")}
"""


def fit() -> str:
    """The whole call."""
    results = load("fit")["results"]
    rows = []
    for name, entry in results.items():
        parts = entry["parts_of_the_median_fit"]
        rows.append(
            [
                name, f"{entry['pairs']:,}", f"{entry['seconds_median']:.3f} s",
                " / ".join(f"{parts[part]:.3f}" for part in PARTS),
                f"{mean(entry['accuracy']):.3f}", f"{mean(entry['roc_auc']):.3f}",
            ]
        )  # fmt: skip
    header = ["", "pairs", "fit", " / ".join(PARTS), "accuracy", "ROC-AUC"]
    return f"""## The whole fit

Everything that `fit` does with `readout="cosine"`, rows without latent groups, once compiled, held-out pairs and
calibration included; pairs are split 80/20, accuracy and
ROC-AUC are of the test pairs, mean of {len(next(iter(results.values()))["accuracy"])} seeds; the time is the median. k = 128,
for the paper's objective 150.

{table(header, rows)}

{source("fit")}
"""


def mean(values: list[float]) -> float:
    """Mean."""
    return sum(values) / len(values)


def large() -> str:
    """The graph of ogbn-products' size."""
    r = load("large")["results"]
    return f"""## {r["nodes"]:,} nodes and {r["edges"]:,} edges

A planted graph of ogbn-products' size (generated, not the real set), k = 128, 100,000 pairs split 80/20,
{r["iterations"]["calibration"]} iterations without the held-out pairs and {r["iterations"]["embedding"]} more with all.

{
        table(
            ["generate", "fit", "one iteration", "peak memory of the process"],
            [
                [
                    f"{r['generate_seconds']:.0f} s",
                    f"{r['fit_seconds']:.0f} s",
                    f"{r['seconds_an_iteration']:.2f} s",
                    f"{r['peak_gigabytes']:.1f} GB",
                ]
            ],
        )
    }

{source("large")}
"""


def memory() -> str:
    """Peak memory of fit."""
    rows = [
        [
            name, f"{r['nodes']:,}", f"{r['edges']:,}", f"{r['pairs']:,}",
            *(f"{r[key] / 1e6:.0f} MB" for key in ("embedding_bytes", "merged_matrix_bytes", "peak_beyond_inputs_bytes")),
            f"{r['share_of_allowed']:.2f}",
        ]
        for name, r in load("memory")["results"].items()
    ]  # fmt: skip
    header = ["", "nodes", "edges", "pairs", "embedding", "merged matrix", "peak of `fit`", "of the bound"]
    return f"""## Memory

Peak of `fit` with `readout="cosine"` beyond graph and pairs. The bound is 2.5 times the embedding plus 2 times the merged matrix.

{table(header, rows)}

{source("memory")}
"""


def command() -> str:
    """The command's wall time."""
    rows = [
        [f"`cfuse {'--help' if name == 'help' else name}`", f"{max(times):.2f} s"]
        for name, times in load("command")["results"].items()
    ]
    return f"""## The command

Whole wall time of the second and later runs (the slowest of three), start of Python included; edges and pairs are CSV
with text ids, 40,000 training pairs on Cora and 80,000 on ogbn-arxiv, `--readout cosine`, the whole model is written.

{table(["", "time"], rows)}

{source("command")}
"""


def data() -> str:
    """Loading and drawing pairs."""
    r = load("data")["results"]
    rows = [
        ["load ogbn-arxiv from `ogbn-arxiv.npz`", f"{r['npz_seconds']:.2f} s"],
        ["load ogbn-arxiv from OGB's CSV files (features are read when asked for)", f"{r['csv_seconds']:.2f} s"],
        [
            "pandas, reading edges and labels of these files and no more",
            f"{r['pandas_reads_edges_and_labels_seconds']:.2f} s",
        ],
        ["draw 500,000 pairs of ogbn-arxiv", f"{r['sample_500k_pairs_seconds']:.2f} s"],
        [f"draw {r['large_pairs']:,} pairs of {r['large_nodes']:,} nodes", f"{r['large_seconds']:.2f} s"],
    ]
    return f"""## Loading data and drawing pairs

{table(["", "time"], rows)}

{source("data")}
"""


def heads() -> str:
    """Classifiers of pairs, as the paper has them and better."""
    results, large_run = load("heads")["results"], load("heads_large")["results"]
    sets = [name for name in results if "," not in name]
    names = list(results[sets[0]]["paper"])
    rows = [
        [name, preset, *(f"{results[name][preset][head]['accuracy']:.3f}" for head in names)]
        for name in sets
        for preset in ("paper", "strong")
    ]
    linear = results["cora, pairs uniform over nodes"]["paper"]["logistic"]["accuracy"]
    return f"""## Heads

Accuracy on the test pairs of 50,000 pairs split 80/20, on vectors of `objective="paper"` with k = 150, one seed. What the
presets are: [heads.md](heads.md). The paper prints 0.82 (GCN), 0.82 (GAT), 0.80 (GraphSAGE), 0.79 (MLP) and 0.51 (Logistic)
for Cora. The linear probe gets {results["cora"]["paper"]["logistic"]["accuracy"]:.3f} here, where pairs are uniform among
all pairs of a sign, and {linear:.3f} where a first node is drawn from all nodes.

{table(["set", "preset", *names], rows)}

The paper's GCN on ogbn-arxiv with 100,000 pairs: {large_run["seconds"]:.0f} s for 100 epochs on
{load("heads_large")["machine"]["threads"]} core, {large_run["peak_gigabytes"]:.1f} GB for the process, accuracy
{large_run["accuracy"]:.3f}.

{source("heads")}
"""


def baselines() -> str:
    """Methods to compare with against their own literature, and on the paper's sets."""
    results, seconds = load("baselines")["results"], load("baselines_large")["results"]
    rows = [
        [
            name, "the set's" if r["features"] else "none", f"{mean(r['public']):.3f}", f"{mean(r['half']):.3f}",
            f"{mean(r['seconds']):.0f} s",
        ]
        for name, r in results.items()
        if "public" in r
    ]  # fmt: skip
    return f"""## Methods to compare with

Node classes of Cora by logistic regression on the vectors, mean of {len(results["dgi"]["public"])} seeds: accuracy on the public
split (20 labels a class), and with half of all labels (10 splits each). VGAE with features tells a tenth of the edges, hidden
from it, from other pairs with ROC-AUC {results["vgae"]["roc_auc"]:.3f}. The fits had one core.

{table(["method", "features", "public split", "half of the labels", "fit"], rows)}

{source("baselines")}

DeepWalk with 10 walks of 80, window 5, k = 128 on one core: Cora {seconds["cora"]:.1f} s, ogbn-arxiv {seconds["ogbn-arxiv"]:.0f} s.

{source("baselines_large", " --large 1", "baselines")}

{baseline_runs()}
"""


def baseline_runs() -> str:
    """Every method on the paper's sets."""
    results = load("baselines_runs")["results"]
    keys = [key.split(", ") for key in results]
    sets, methods = list(dict.fromkeys(key[0] for key in keys)), list(dict.fromkeys(key[1] for key in keys))

    def cell(name: str, method: str) -> str:
        found = results.get(f"{name}, {method}")
        if found is None or "own" not in found:
            return "" if found is None else "-"
        values = [found[part]["roc_auc"] for part in ("own", "logistic", "mlp") if part in found]
        return " / ".join(f"{value:.3f}" for value in values)

    def took(name: str, method: str) -> str:
        found = results.get(f"{name}, {method}", {})
        return f"{found['seconds']:.1f} s" + (" GPU" if "H200" in found["where"] else "") if "seconds" in found else ""

    auc = [[method, *(cell(name, method) for name in sets)] for method in methods]
    time = [[method, *(took(name, method) for name in sets)] for method in methods]
    return f"""Every method on 50,000 pairs split 80/20, 128 components, random inputs as in the paper, one seed: ROC-AUC on the test
pairs of the method's own score, and of two heads on its vectors, logistic and MLP with the strong preset (methods that learn
from pairs alone have no heads: these would see the same pairs again). Union-find and the signed spectral methods show how far
so many clean pairs reach without a graph; the oracle is told true classes.

{table(["method", *sets], auc)}

Seconds of the fit, on one core, or on an NVIDIA H200 where it says GPU.

{table(["method", *sets], time)}

{source("baselines_runs", " --runs 1", "baselines")}"""


def mixture() -> str:
    """The default estimator in seven regimes."""
    stored = load("mixture")["results"]
    sets = stored["sets"]
    kinds = list(next(iter(sets.values())))

    def cells(measure: str, digits: int = 3) -> list[list[str]]:
        return [
            [name, *(f"{mean([one[measure] for one in found[kind]]):.{digits}f}" for kind in kinds)]
            for name, found in sets.items()
        ]

    speed = load("mixture_speed")["results"]
    fits = [
        [
            name, f"{r['seconds']:.2f} s", f"{r['parts']['groups']:.2f} s", f"{r['accuracy']:.3f}", f"{r['roc_auc']:.3f}",
            str(r["groups"]),
        ]
        for name, r in speed.items()
        if isinstance(r, dict)
    ]  # fmt: skip
    return f"""## Few pairs, wrong pairs, and nodes without pairs

The default estimator, the same parameters for all sets, mean of {stored["seeds"]} seeds, 10,000 clean and balanced test pairs. Columns:
training pairs; "cold" has 50,000 pairs among half of the nodes and tests on the other half.

ROC-AUC:

{table(["set", *kinds], cells("roc_auc"))}

Accuracy of `predict`:

{table(["set", *kinds], cells("accuracy"))}

Expected calibration error of `predict_proba`, of the truth also where training pairs are wrong:

{table(["set", *kinds], cells("calibration_error"))}

Estimated share of wrong pairs (with few pairs a node it counts as 0, only its upper bound tells):

{table(["set", *kinds], cells("noise"))}

Groups found (classes: 7, 6, 3, 10, 8):

{table(["set", *kinds], cells("groups", 1))}

{source("mixture")}

The whole fit, held-out passes included, once compiled, on {speed["cora"]["training_pairs"]:,} training pairs of Cora and PubMed and
{speed["ogbn-arxiv"]["training_pairs"]:,} of ogbn-arxiv:

{table(["set", "fit", "of it groups", "accuracy", "ROC-AUC", "groups"], fits)}

In the same run gensim's DeepWalk (10 walks of 80, window 10, k = 128) took
{speed["pubmed_deepwalk_seconds"]:.0f} s on PubMed, {speed["pubmed_deepwalk_seconds"] / speed["pubmed"]["seconds"]:.0f} times as long.

{source("mixture_speed")}

{mixture_bars()}
"""


def mixture_bars() -> str:
    """Many clean pairs, hidden nodes against an oracle, uneven signs."""
    results = load("mixture_bars")["results"]
    sets = list(dict.fromkeys(key.split(", ")[0] for key in results))

    def value(key: str, measure: str) -> str:
        return f"{results[key][measure]:.3f}" if key in results else ""

    many = [
        [name, *(value(f"{name}, {n} pairs", "accuracy") for n in ("50,000", "100,000", "500,000"))] for name in sets
    ]
    measures = ("roc_auc", "oracle_roc_auc", "accuracy", "oracle_accuracy")
    hidden = [[name, *(value(f"{name}, hidden nodes", measure) for measure in measures)] for name in sets]
    columns = [f"{n} pairs, {share} alike" for n in ("5,000", "50,000") for share in ("10%", "50%", "90%")]
    uneven = [[name, *(value(f"{name}, {column}", "roc_auc") for column in columns)] for name in sets[:-1]]
    return f"""Accuracy of `predict` in the paper's protocol, pairs split 80/20, one seed (the paper's best means: 0.762 over five sets,
0.699 on ogbn-arxiv):

{table(["set", "50,000", "100,000", "500,000"], many)}

Nodes that no pair touches (half of all; 50,000 training pairs, on ogbn-arxiv 500,000) beside an oracle that is told the true
class of every node in a training pair and propagates it:

{table(["set", "ROC-AUC", "the oracle's", "accuracy", "the oracle's"], hidden)}

ROC-AUC on balanced test pairs where few or most training pairs are alike:

{table(["set", *columns], uneven)}

{source("mixture_bars")}

Of the pairs that `audit_pairs` puts first, as many as are wrong, with a fifth of 50,000 pairs flipped, really wrong are
{" and ".join(f"{mean(found):.3f} ({name})" for name, found in load("audit")["results"].items())}, mean of 5 seeds.

{source("audit")}"""


def pair_strength() -> str:
    """The sweep behind the default."""
    results = load("pair_strength")["results"]
    strengths = [key for key in results["rows"][0]["roc_auc"] if not key.startswith("default")]
    rows = [
        [
            row["set"], f"{row['training_pairs']:,}", *(f"{row['roc_auc'][s]:.3f}" for s in strengths),
            f"{row['default']:.2f}: {row['roc_auc']['default']:.3f}", f"{row['roc_auc']['default, tol 1e-4']:.3f}",
        ]
        for row in results["rows"]
    ]  # fmt: skip
    gain = results["gain_of_going_on_to_1e-4"]
    return f"""## The default weight of the pairs

ROC-AUC on pairs split off the training pairs, mean of {results["seeds"]} seeds, by `pair_strength` of the balanced objective.
The default loses {results["mean_loss_against_the_best_of_the_sweep"]:.3f} on average and
{results["largest_loss"]:.3f} at most against the best strength of each line. Iterating on to `tol=1e-4` changes ROC-AUC by
{gain["lowest"]:+.3f} to {gain["highest"]:+.3f}.

{table(["set", "pairs", *strengths, "default", "default, tol 1e-4"], rows)}

{source("pair_strength")}
"""


def render() -> str:
    """The whole page."""
    sections = (
        kernel(),
        scaling(),
        fit(),
        large(),
        memory(),
        command(),
        data(),
        heads(),
        mixture(),
        baselines(),
        pair_strength(),
    )
    intro = """# Performance

Rendered by `python benchmarks/page.py` from stored runs; `make bench` measures anew and says which of the project's bars
are met. Timings are wall time after warm-up. GPU: not measured yet, there is no GPU kernel in this release.
"""
    return "\n".join((intro, *sections))


if __name__ == "__main__":
    PAGE.write_text(render())
    print(f"wrote {PAGE.relative_to(ROOT)}")
