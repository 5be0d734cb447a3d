"""Peak memory of `fit` beyond its inputs, against the size of the embedding and of the merged matrix.

python benchmarks/memory.py
"""

from __future__ import annotations

import ctypes
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import sleep

from common import check, store
from contrastive_fuse import ContrastiveFUSE, Graph, SignedPairs, sample_pairs
from contrastive_fuse.datasets import planted

PAGE = 4096
CASES = {
    "many nodes, k = 128": (1_000_000, 5_000_000, 200_000, 128),
    "many edges, k = 16": (200_000, 20_000_000, 200_000, 16),
    "many pairs, k = 64": (200_000, 2_000_000, 4_000_000, 64),
    "padded width, k = 100": (500_000, 3_000_000, 100_000, 100),
}


def resident() -> int:
    """Bytes of memory this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Peak:
    """The most memory held while the block runs, looked at every few milliseconds."""

    def __enter__(self) -> Peak:
        ctypes.CDLL(None).malloc_trim(0)  # else memory that was freed before is found here and costs nothing
        self.before = self.most = resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.is_set():
            self.most = max(self.most, resident())
            sleep(0.002)

    @property
    def beyond(self) -> int:
        """Bytes above what was held before."""
        return self.most - self.before


def peak_of_fit(graph: Graph, pairs: SignedPairs, k: int) -> tuple[int, int]:
    """Bytes that `fit` holds at its peak beyond graph and pairs, and bytes of the embedding."""
    small = planted(2000, 10_000, 5, 2)
    ContrastiveFUSE(k, max_iter=1, readout="cosine").fit(small.graph, sample_pairs(small.labels, 2000, 0))
    _ = graph.degrees
    with Peak() as peak:
        model = ContrastiveFUSE(k, max_iter=3, readout="cosine", random_state=0).fit(graph, pairs)
    return peak.beyond, model.embedding_.nbytes


def main() -> None:
    """Measure, store, and check the bar."""
    results, bars = {}, {}
    for name, (nodes, edges, n_pairs, k) in CASES.items():
        data = planted(nodes, edges, 10, 4)
        pairs = sample_pairs(data.labels, n_pairs, 0)
        # A process of its own: here the allocator keeps what making the graph took, and every peak depends on that.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            beyond, embedding = fresh.submit(peak_of_fit, data.graph, pairs, k).result()
        merged = (2 * data.graph.n_edges + 2 * len(pairs)) * 8 + (nodes + 1) * 8
        allowed = 2.5 * embedding + 2 * merged
        results[name] = {
            "nodes": nodes, "edges": data.graph.n_edges, "pairs": n_pairs, "n_components": k,
            "embedding_bytes": embedding, "merged_matrix_bytes": merged, "peak_beyond_inputs_bytes": beyond,
            "allowed_bytes": allowed, "share_of_allowed": beyond / allowed,
        }  # fmt: skip
        bars[f"{name}: at most 2.5 embeddings + 2 merged matrices"] = beyond <= allowed
        del data, pairs
    store("memory", results)
    check(bars)


if __name__ == "__main__":
    main()
