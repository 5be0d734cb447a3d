"""What every data set looks like, and what is known of one before it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

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
    features : (n_nodes, n_features) array or SciPy sparse array, or None; read when first asked for
    pairs : SignedPairs or None, where the set brings pairs of its own
    splits : dict of node rows by name, such as ``train``, ``val`` and ``test``, where the set brings them
    info : dict, with at least ``description`` and ``licence``
    """

    name: str
    graph: Graph
    labels: IntArray
    read_features: Callable[[], Any] | None = None
    pairs: SignedPairs | None = None
    splits: dict[str, IntArray] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def features(self) -> Any:
        return None if self.read_features is None else self.read_features()

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.labels[self.labels >= 0]))

    def __repr__(self) -> str:
        parts = [f"{self.graph.n_nodes:,} nodes", f"{self.graph.n_edges:,} edges"]
        parts += [f"{self.n_classes} classes"] if self.n_classes else []
        parts += [f"{len(self.pairs):,} pairs"] if self.pairs is not None else []
        return f"Dataset({self.name!r}, {', '.join(parts)})"


@dataclass(frozen=True)
class Download:
    """A file at its official home.

    Attributes
    ----------
    url : str
    path : str
        Where it belongs, below the folder of the set; for an archive the folder its content is unpacked to.
    sha256 : str, optional
        Where it is known from a source that can be named.
    inside : str, optional
        The file is a zip or tar archive, and what lies in this folder of it (or has this name) is unpacked.
    """

    url: str
    path: str
    sha256: str | None = None
    inside: str | None = None


@dataclass(frozen=True)
class Files:
    """The official files of a set.

    Attributes
    ----------
    folders : names that the folder may have; the first is used in our own cache
    needed : file names below it, all of which must be there
    downloads : where they come from
    read : reads that folder
    read_npz : reads ``NAME.npz``, where that holds more than our layout says
    """

    folders: tuple[str, ...]
    needed: tuple[str, ...]
    downloads: tuple[Download, ...]
    read: Callable[..., Dataset]
    read_npz: Callable[..., Dataset] | None = None


class Facts(NamedTuple):
    """What is known of a set before it is loaded; None where nothing is."""

    nodes: int | None = None
    edges: int | None = None
    classes: int | None = None
    features: int | None = None


@dataclass(frozen=True)
class Source:
    """A data set as the registry knows it.

    Attributes
    ----------
    megabytes : float, size of the download; 0 for what is generated or comes with a dependency
    files : Files, or None
    make : callable that returns the set, for what is generated or comes with a dependency
    """

    name: str
    description: str
    licence: str
    homepage: str
    facts: Facts
    megabytes: float = 0.0
    files: Files | None = None
    make: Callable[..., Dataset] | None = None

    def complete(self, data: Dataset) -> Dataset:
        """The set under its registered name, with what is known of it."""
        known = {"description": self.description, "licence": self.licence, "homepage": self.homepage}
        return Dataset(
            self.name, data.graph, data.labels, data.read_features, data.pairs, data.splits, known | data.info
        )
