"""One full iteration (product, rank-one term, row norm) against pycleora and SciPy, all widths, in one run.

python benchmarks/kernel.py
"""

from __future__ import annotations

from functools import partial

import numpy as np
from pycleora import SparseMatrix

from common import arguments, arxiv_size, check, median_seconds, median_seconds_by_turns, store
from contrastive_fuse import sample_pairs
from contrastive_fuse.arrangement import Arrangement
from contrastive_fuse.kernels.contract import null_sum, padded_width
from contrastive_fuse.kernels.numba import step
from contrastive_fuse.objective import balanced, paper
from contrastive_fuse.operator import Operator
from contrastive_fuse.parallel import map_chunks, thread_count
from contrastive_fuse.projection import UNIT_ROWS
from contrastive_fuse.rows import aligned_rows, random_rows

WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 50, 64, 100, 128, 150, 200, 256)


def ours(operator: Operator, width: int, n_jobs: int | None = None) -> float:
    """Seconds of one fused iteration."""
    return ours_by_turns([operator], width, n_jobs)[0]


def ours_by_turns(operators: list[Operator], width: int, n_jobs: int | None = None) -> list[float]:
    """Seconds of one fused iteration of each, measured in turn, so that a busy moment hits all alike."""
    state = random_rows(operators[0].n_rows, width, 0)
    out = aligned_rows(operators[0].n_rows, width)
    nulls = [null_sum(operator, state) for operator in operators]

    def work(turn: int) -> None:
        step(operators[turn], state, out, nulls[turn], projection=UNIT_ROWS, n_jobs=n_jobs)

    return median_seconds_by_turns([partial(work, turn) for turn in range(len(operators))])


def scipy_iteration(operator: Operator, width: int, repeats: int) -> float:
    """Seconds of the same iteration, written as one would with SciPy and NumPy."""
    rows = np.ascontiguousarray(random_rows(operator.n_rows, width, 0)[:, :width])

    def work() -> None:
        moved = operator.matrix @ rows
        moved -= np.outer(operator.u, operator.v @ rows)
        moved += np.float32(operator.shift) * rows
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)

    return median_seconds(work, repeats)


def scipy_product(operator: Operator, width: int, repeats: int) -> float:
    """Seconds of SciPy's sparse product alone."""
    rows = np.ascontiguousarray(random_rows(operator.n_rows, width, 0)[:, :width])
    return median_seconds(lambda: operator.matrix @ rows, repeats)


def copy_roof() -> float:
    """Bytes a second that a copy of a large array moves, reads and writes counted, on all threads, at its best."""
    threads = thread_count(None)
    source, target = np.ones((2, threads, 1 << 26), dtype=np.float32)

    def work() -> None:
        map_chunks(lambda part: np.copyto(target[part], source[part]), threads, threads)

    return 2 * source.nbytes / min(median_seconds(work, 1, 1) for _ in range(9))


def cleora(edges: tuple[np.ndarray, np.ndarray], width: int, repeats: int) -> dict[str, float]:
    """Seconds of pycleora's propagate + normalise, and of an iteration of its fused path."""
    lines = (f"{a} {b}" for a, b in zip(edges[0].tolist(), edges[1].tolist(), strict=True))
    graph = SparseMatrix.from_iterator(lines, "complex::reflexive::node")
    rows = graph.initialize_deterministically(width)
    both = median_seconds(lambda: graph.l2_normalize(graph.left_markov_propagate(rows)), repeats)
    one, many = (median_seconds(lambda n=n: graph.embed_fast(width, n), 3, 1) for n in (1, 6))
    return {"propagate_normalise": both, "embed_fast_iteration": (many - one) / 5}


def main() -> None:
    """Measure, store, and check the bars."""
    options = arguments(__doc__, repeats=7)
    name, given = arxiv_size()
    results: dict[str, object] = {"graph": name, "nodes": given.n_nodes, "edges": given.n_edges}
    ordering = median_seconds(lambda: Arrangement.for_graph(given, 128).graph(given), 3, 1)
    graph = Arrangement.for_graph(given, 128).graph(given)  # as fit does
    operator, as_given = balanced(graph), balanced(given)

    fused = ours(operator, 128)
    scipy_seconds = scipy_iteration(as_given, 128, options.repeats)
    peers = cleora(given.edges(), 128, options.repeats)
    again = ours(operator, 128)
    gathered = 4 * 128 * (len(operator.indices) + 3 * operator.n_rows) + 8 * len(operator.indices)
    roof = copy_roof()
    results["k128"] = {
        "fused_seconds": fused,
        "fused_seconds_again": again,
        "fused_seconds_in_the_given_order": ours(as_given, 128),
        "seconds_to_find_the_working_order": ordering,
        "one_thread_seconds": ours(operator, 128, 1),
        "scipy_iteration_seconds": scipy_seconds,
        "scipy_iteration_seconds_in_the_working_order": scipy_iteration(operator, 128, options.repeats),
        "scipy_product_seconds": scipy_product(as_given, 128, options.repeats),
        "pycleora_propagate_normalise_seconds": peers["propagate_normalise"],
        "pycleora_embed_fast_iteration_seconds": peers["embed_fast_iteration"],
        "ratio_to_scipy": fused / scipy_seconds,
        "ratio_to_pycleora": fused / peers["propagate_normalise"],
        "ratio_to_pycleora_embed_fast": fused / peers["embed_fast_iteration"],
        "gathered_bytes_a_second": gathered / fused,
        "copy_roof_bytes_a_second": roof,
        "share_of_roof": gathered / fused / roof,
    }

    exact, approximate = ours_by_turns([paper(graph, gradient=g) for g in ("exact", "approximate")], 128)
    results["exact_over_approximate"] = exact / approximate

    widths = {}
    for width in WIDTHS:
        working = Arrangement.for_graph(given, width).graph(given)
        seconds = ours(balanced(working), width)
        widths[str(width)] = {
            "seconds": seconds,
            "padded_to": padded_width(width),
            "cost_per_column_relative_to_128": seconds / width / (fused / 128),
            "ratio_to_scipy_iteration": seconds / scipy_iteration(as_given, width, 5),
            "ratio_to_scipy_product_alone": seconds / scipy_product(as_given, width, 5),
        }
        print(width, widths[str(width)], flush=True)
    results["widths"] = widths

    pairs = sample_pairs(np.arange(graph.n_nodes) % 40, 100_000, 0, graph.ids).rows_in(graph.ids)[0]
    results["k128_with_100k_pairs_seconds"] = ours(balanced(graph, pairs), 128)
    store("kernel", results)
    relative = {k: row["cost_per_column_relative_to_128"] for k, row in widths.items()}
    check(
        {
            "at most 0.2 of pycleora's propagate + normalise": fused <= 0.2 * peers["propagate_normalise"],
            "at most 0.12 of SciPy": fused <= 0.12 * scipy_seconds,
            "k = 50, 100, 150, 200, 256 within 1.5 of the cost per column at 128": all(
                relative[k] <= 1.5 for k in ("50", "100", "150", "200", "256")
            ),
            "k = 1 to 48 not slower than SciPy": all(
                row["ratio_to_scipy_iteration"] <= 1 for k, row in widths.items() if int(k) <= 48
            ),
            "exact gradient at most 1.1 of approximate": exact <= 1.1 * approximate,
        }
    )


if __name__ == "__main__":
    main()
