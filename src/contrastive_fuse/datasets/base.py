"""What every data set looks like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contrastive_fuse.graph import Graph
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import IntArray


@dataclass(frozen=True)
class Dataset:
    """A graph and what is known of its nodes.

    Attributes
    ----------
    name : str
    graph : Graph
    labels : (n_nodes,) int32, -1 where a node has no class
    features : array or None
    pairs : SignedPairs or None, where the set brings pairs of its own
    info : dict, with at least ``description`` and ``licence``
    """

    name: str
    graph: Graph
    labels: IntArray
    features: Any = None
    pairs: SignedPairs | None = None
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        return int(self.labels.max(initial=-1)) + 1
