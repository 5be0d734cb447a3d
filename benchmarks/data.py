"""Loading ogbn-arxiv from both layouts, beside pandas reading the same files, and drawing pairs. Needs CFUSE_DATA.

python benchmarks/data.py
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import pandas as pd

from common import check, median_seconds, store
from contrastive_fuse import load_dataset, sample_pairs
from contrastive_fuse.datasets import DATASETS, planted

NAME = "ogbn-arxiv"
LARGE = {"n_nodes": 2_449_029, "n_edges": 10_000_000, "n_classes": 47}  # the pairs do not depend on the edges


def main() -> None:
    """Measure, store, and check the bars."""
    folder = Path(os.environ.get("CFUSE_DATA", "")).resolve()
    raw = folder / "raw" / "ogbn_arxiv"
    if "CFUSE_DATA" not in os.environ or not raw.is_dir():
        raise SystemExit("needs real data: set CFUSE_DATA to a folder with ogbn-arxiv.npz and raw/ogbn_arxiv")
    files = DATASETS[NAME].files
    assert files is not None
    results = {
        "npz_seconds": median_seconds(lambda: load_dataset(NAME, data_dir=folder), 5, 1),
        "csv_seconds": median_seconds(lambda: files.read(raw), 5, 1),
        "pandas_reads_edges_and_labels_seconds": median_seconds(
            lambda: [pd.read_csv(raw / "raw" / f"{name}.csv.gz", header=None) for name in ("edge", "node-label")], 5, 1
        ),
    }
    results["csv_ratio_to_pandas_reading_alone"] = (
        results["csv_seconds"] / results["pandas_reads_edges_and_labels_seconds"]
    )
    labels = load_dataset(NAME, data_dir=folder).labels
    results["sample_500k_pairs_seconds"] = median_seconds(lambda: sample_pairs(labels, 500_000, 0), 3, 1)
    large = planted(**LARGE).labels
    started = perf_counter()
    n_pairs = len(sample_pairs(large, 5_000_000, 0))
    results |= {"large_nodes": len(large), "large_pairs": n_pairs, "large_seconds": perf_counter() - started}
    store("data", results)
    check(
        {
            "ogbn-arxiv from npz under 1 s": results["npz_seconds"] < 1,
            "ogbn-arxiv from OGB's CSV files under 6 s": results["csv_seconds"] < 6,
            "500,000 pairs on ogbn-arxiv under 2 s": results["sample_500k_pairs_seconds"] < 2,
            "5 million pairs of 2.4 million nodes under 20 s": results["large_seconds"] < 20,
        }
    )


if __name__ == "__main__":
    main()
