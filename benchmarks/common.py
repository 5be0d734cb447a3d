"""What all benchmarks share: timing after warm-up, graphs, and results stored with versions and machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from contrastive_fuse import Graph, read_graph
from contrastive_fuse.datasets import planted
from contrastive_fuse.parallel import thread_count

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "contrastive-fuse", "numpy", "scipy", "numba", "scikit-learn", "pyarrow", "pycleora", "torch", "torch_geometric",
    "gensim",
)  # fmt: skip


def median_seconds(work: Callable[[], object], repeats: int = 15, warm_up: int = 2) -> float:
    """Median wall time of a call, after warm-up."""
    return median_seconds_by_turns([work], repeats, warm_up)[0]


def median_seconds_by_turns(works: Sequence[Callable[[], object]], repeats: int = 15, warm_up: int = 2) -> list[float]:
    """Median wall time of each of several calls, after warm-up, one of each in turn."""
    seconds = []
    for turn in range(warm_up + repeats):
        for work in works:
            started = perf_counter()
            work()
            if turn >= warm_up:
                seconds.append(perf_counter() - started)
    return [float(value) for value in np.median(np.reshape(seconds, (repeats, len(works))), axis=0)]


def real(name: str) -> tuple[Graph, Any] | None:
    """Graph and labels of a real set from CFUSE_DATA, or None."""
    path = Path(os.environ.get("CFUSE_DATA", "")) / f"{name}.npz"
    if "CFUSE_DATA" not in os.environ or not path.exists():
        return None
    with np.load(path) as stored:
        return read_graph(path), stored["labels"]


def arxiv_size() -> tuple[str, Graph]:
    """ogbn-arxiv where it is at hand, else a planted graph of its size."""
    found = real("ogbn-arxiv")
    if found is not None:
        return "ogbn-arxiv", found[0]
    return "planted, size of ogbn-arxiv", planted(169_343, 1_157_799, 40, 8).graph


def store(name: str, results: dict[str, Any]) -> None:
    """Print the results and keep them with what they were measured on."""
    record = {
        "benchmark": name,
        "measured": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": _machine(),
        "versions": {"python": platform.python_version(), **{p: v for p in PACKAGES if (v := _version(p))}},
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    print(f"stored in {path.relative_to(Path(__file__).parent.parent)}")


def check(bars: dict[str, bool]) -> None:
    """Say which bars are met and fail if one is not."""
    for bar, met in bars.items():
        print(f"{'met ' if met else 'MISSED'}  {bar}")
    if not all(bars.values()):
        sys.exit(1)


def arguments(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Command-line options with the given defaults."""
    parser = argparse.ArgumentParser(description=description)
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def _machine() -> dict[str, Any]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {"processor": model, "threads": thread_count(None), "system": platform.platform(terse=True)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
