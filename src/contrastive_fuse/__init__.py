"""Contrastive FUSE: node vectors from a graph's edges and signed pairs of nodes.

Names are imported when first used, so that ``import contrastive_fuse`` and ``cfuse --help`` are quick.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contrastive_fuse.datasets import draw_pairs, load_dataset, save_dataset
    from contrastive_fuse.errors import InputError
    from contrastive_fuse.fuse import ContrastiveFUSE
    from contrastive_fuse.graph import Graph
    from contrastive_fuse.heads import make_head
    from contrastive_fuse.io.convert import as_graph, as_pairs
    from contrastive_fuse.io.files import read_graph, read_pairs
    from contrastive_fuse.io.vectors import read_vectors, write_vectors
    from contrastive_fuse.pairs import SignedPairs
    from contrastive_fuse.protocol import few_pairs, flip_pairs, sample_split_nodes, split_nodes, split_pairs
    from contrastive_fuse.sampling import sample_pairs

_HOMES = {
    "ContrastiveFUSE": "fuse",
    "Graph": "graph",
    "InputError": "errors",
    "SignedPairs": "pairs",
    "as_graph": "io.convert",
    "as_pairs": "io.convert",
    "draw_pairs": "datasets",
    "few_pairs": "protocol",
    "flip_pairs": "protocol",
    "load_dataset": "datasets",
    "read_graph": "io.files",
    "make_head": "heads",
    "read_pairs": "io.files",
    "read_vectors": "io.vectors",
    "sample_pairs": "sampling",
    "sample_split_nodes": "protocol",
    "save_dataset": "datasets",
    "split_nodes": "protocol",
    "split_pairs": "protocol",
    "write_vectors": "io.vectors",
}

__all__ = [
    "ContrastiveFUSE",
    "Graph",
    "InputError",
    "SignedPairs",
    "__version__",
    "as_graph",
    "as_pairs",
    "draw_pairs",
    "few_pairs",
    "flip_pairs",
    "load_dataset",
    "make_head",
    "read_graph",
    "read_pairs",
    "read_vectors",
    "sample_pairs",
    "sample_split_nodes",
    "save_dataset",
    "split_nodes",
    "split_pairs",
    "write_vectors",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("contrastive-fuse")
    if name not in _HOMES:
        raise AttributeError(f"module 'contrastive_fuse' has no attribute {name!r}")
    return getattr(import_module(f"contrastive_fuse.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
