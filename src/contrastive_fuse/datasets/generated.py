"""Planted graphs of any size: a degree-corrected block model whose classes are made of smaller communities.

Real classes are not single communities: a class of papers or products falls into many tight groups, and part of the
edges crosses. Every edge starts at a node and ends in the same community, elsewhere in the same class, or anywhere,
at a node drawn in proportion to its expected degree.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from contrastive_fuse.datasets.base import Dataset, Facts, Source
from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.graph import Graph
from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.types import DoubleArray, IntArray, Seed

EDGES_PER_CHUNK = 1 << 20


def planted(
    n_nodes: int = 10_000,
    n_edges: int = 100_000,
    n_classes: int = 10,
    communities_per_class: int = 8,
    *,
    within_community: float = 0.6,
    within_class: float = 0.2,
    degree_exponent: float = 2.6,
    shuffle: bool = True,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Dataset:
    """Generate a planted graph.

    Parameters
    ----------
    n_nodes : int
    n_edges : int
        Wanted number; it is met within a few per cent, because draws that repeat an edge fold into one.
    n_classes, communities_per_class : int
        Both of uneven size.
    within_community, within_class : float
        Share of edges that stay in the community, and that leave it but stay in the class. The rest ends anywhere.
    degree_exponent : float
        Exponent of the power law of expected degrees, above 2.
    shuffle : bool
        Whether nodes are numbered at random, or community by community.
    """
    check_integer("n_nodes", n_nodes, at_least=2)
    check_integer("n_edges", n_edges, at_least=1)
    check_integer("n_classes", n_classes, at_least=1)
    check_integer("communities_per_class", communities_per_class, at_least=1)
    check_number("degree_exponent", degree_exponent, above=2)
    check_number("within_community", within_community, at_least=0)
    check_number("within_class", within_class, at_least=0)
    if within_community + within_class > 1:
        raise InputError("within_community and within_class are shares of the edges; together they exceed 1")
    if n_nodes < n_classes * communities_per_class:
        raise InputError(f"{n_classes * communities_per_class:,} communities need as many nodes; got {n_nodes:,}")
    rng = np.random.default_rng(random_state)
    community = _uneven_groups(n_nodes, n_classes, communities_per_class, rng)
    ends = _ends(n_nodes, n_edges, degree_exponent, rng)
    name = rng.permutation(n_nodes).astype(np.int32) if shuffle else np.arange(n_nodes, dtype=np.int32)
    n_communities = n_classes * communities_per_class
    community_start = np.searchsorted(community[ends], np.arange(n_communities + 1))
    stay = np.array([within_community, within_community + within_class])

    def draw(count: int) -> tuple[IntArray, IntArray]:
        first, second = np.empty((2, count), dtype=np.int32)
        bounds = even_chunks(count, EDGES_PER_CHUNK)
        generators = rng.spawn(len(bounds) - 1)

        def work(chunk: int) -> None:
            part = slice(bounds[chunk], bounds[chunk + 1])
            _draw_edges(generators[chunk], ends, community, community_start, communities_per_class, stay, name,
                        first[part], second[part])  # fmt: skip

        map_chunks(work, len(bounds) - 1, thread_count(n_jobs))
        return first, second

    first, second = draw(n_edges)
    graph = Graph.from_edges(first, second, nodes=n_nodes)
    folded = 1 - graph.n_edges / n_edges
    if folded > 0.01:  # draw once more what was lost, less what will be lost of that
        more = draw(round(n_edges * folded / max(0.2, 1 - 2 * folded)))
        first, second = np.concatenate([first, more[0]]), np.concatenate([second, more[1]])
        del graph, more
        graph = Graph.from_edges(first, second, nodes=n_nodes)
    labels, communities = np.empty((2, n_nodes), dtype=np.int32)
    labels[name], communities[name] = community // communities_per_class, community
    return Dataset(
        "planted",
        graph,
        labels,
        info={
            "description": f"planted graph, {n_classes} classes of {communities_per_class} communities",
            "communities": communities,
        },
    )


def _uneven_groups(n_nodes: int, n_classes: int, per_class: int, rng: np.random.Generator) -> IntArray:
    """Community of each node in increasing order; sizes of classes and communities vary by a factor of a few."""
    n_groups = n_classes * per_class
    shares = np.repeat(rng.lognormal(0, 0.5, n_classes), per_class) * rng.lognormal(0, 0.5, n_groups)
    sizes = 1 + rng.multinomial(n_nodes - n_groups, shares / shares.sum())
    return np.repeat(np.arange(n_groups, dtype=np.int32), sizes)


def _ends(n_nodes: int, n_edges: int, exponent: float, rng: np.random.Generator) -> IntArray:
    """Every node as often as its expected degree: drawing an entry draws a node in proportion to its degree."""
    expected: DoubleArray = 1 + rng.pareto(exponent - 1, n_nodes)
    np.minimum(expected, np.sqrt(n_nodes), out=expected)
    expected *= 2 * n_edges / expected.sum()
    counts = np.maximum(1, np.floor(expected + rng.random(n_nodes))).astype(np.int64)
    return np.repeat(np.arange(n_nodes, dtype=np.int32), counts)


@njit(nogil=True, cache=True)
def _draw_edges(rng, ends, community, start, per_class, stay, name, first, second):  # type: ignore[no-untyped-def]
    total = len(ends)
    for edge in range(len(first)):
        here = ends[int(rng.random() * total)]
        where = rng.random()
        group = community[here]
        if where < stay[0]:
            low, high = start[group], start[group + 1]
        elif where < stay[1]:
            group -= group % per_class
            low, high = start[group], start[group + per_class]
        else:
            low, high = 0, total
        first[edge] = name[here]
        second[edge] = name[ends[low + int(rng.random() * (high - low))]]


SOURCES = (
    Source(
        "planted",
        "a degree-corrected block model of any size, classes made of smaller communities",
        "generated",
        "",
        facts=Facts(nodes=10_000, edges=100_000, classes=10),
        make=planted,
    ),
)
