"""Wall time of the command, second run: help, Cora, and ogbn-arxiv as CSV with text ids. Needs CFUSE_DATA.

python benchmarks/command.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow as pa
import pyarrow.compute as pc

from common import check, real, store
from contrastive_fuse import sample_pairs, split_pairs
from contrastive_fuse.io.csv import write_csv

COMMAND = Path(sys.executable).parent / "cfuse"


def seconds(*arguments: object) -> list[float]:
    """Wall time of three runs after a first one."""
    times = []
    for _ in range(4):
        started = perf_counter()
        subprocess.run([COMMAND, *map(str, arguments)], check=True, capture_output=True)
        times.append(perf_counter() - started)
    return times[1:]


def write_inputs(folder: Path, name: str, n_pairs: int) -> tuple[Path, Path]:
    """Edges and training pairs as CSV with text ids."""
    found = real(name)
    if found is None:
        raise SystemExit(f"needs real data: set CFUSE_DATA to a folder with {name}.npz")
    graph, labels = found
    train, _ = split_pairs(sample_pairs(labels, n_pairs, 0), 0.2, 0)

    def names(rows: object) -> pa.Array:
        return pc.binary_join_element_wise("paper", pa.array(rows).cast(pa.string()), "-")

    first, second = graph.edges()
    edges, pairs = folder / f"{name}.csv", folder / f"{name}-pairs.csv"
    write_csv(pa.table({"source": names(first), "target": names(second)}), edges)
    write_csv(pa.table({"a": names(train.first), "b": names(train.second), "y": train.y}), pairs)
    return edges, pairs


def main() -> None:
    """Measure, store, and check the bars."""
    results = {"help": seconds("--help")}
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, n_pairs in (("cora", 50_000), ("ogbn-arxiv", 100_000)):
            edges, pairs = write_inputs(folder, name, n_pairs)
            results[f"embed {name}"] = seconds(
                "embed", edges, "--pairs", pairs, "--readout", "cosine", "-o", folder / "model"
            )
    store("command", results)
    check(
        {
            "cfuse --help under half a second": max(results["help"]) < 0.5,
            "cfuse embed on Cora under 2 s": max(results["embed cora"]) < 2,
            "cfuse embed on ogbn-arxiv as CSV under 10 s": max(results["embed ogbn-arxiv"]) < 10,
        }
    )


if __name__ == "__main__":
    main()
