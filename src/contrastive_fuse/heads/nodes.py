"""Rows of nodes, as pairs see them: the vectors themselves, or refined over the whole graph or samples of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from contrastive_fuse.heads.network import PairNetwork
from contrastive_fuse.nets.links import Links
from contrastive_fuse.types import LongArray

FANOUT = 10  # neighbours a hop, where the graph is sampled
EDGES_IN_A_SLAB = 1 << 21

Apply = Callable[[nn.Module, Tensor, Tensor, Tensor], Tensor]  # layer, rows, targets, links -> rows of the targets


class Nodes:
    """Gives rows of nodes, as pairs see them, to the training loop."""

    def __init__(self, network: PairNetwork, vectors: Tensor) -> None:
        self.network, self.vectors = network, vectors

    def of_pairs(self, first: LongArray, second: LongArray) -> tuple[Tensor, Tensor]:
        """Rows of both sides of pairs."""
        rows, places = self.around(first, second)
        left, right = (torch.from_numpy(place).to(rows.device) for place in places)
        return rows.index_select(0, left), rows.index_select(0, right)

    def around(self, first: LongArray, second: LongArray) -> tuple[Tensor, tuple[LongArray, LongArray]]:
        """Rows that hold the nodes of pairs, and where they are among them."""
        return self.all_rows(), (first, second)

    def all_rows(self) -> Tensor:
        """Rows of every node."""
        return self.vectors


class Given(Nodes):
    """The vectors as they are."""


class Whole(Nodes):
    """The whole graph in every step, slab by slab where no gradient is wanted."""

    def __init__(
        self, network: PairNetwork, vectors: Tensor, links: Links, apply: Apply, rng: np.random.Generator
    ) -> None:
        super().__init__(network, vectors)
        self.links, self.apply, self.rng = links, apply, rng
        self.whole: Tensor | None = None

    def all_rows(self) -> Tensor:
        if not torch.is_grad_enabled():
            return self.network.encode(self.vectors, self._in_slabs)
        if self.whole is None:
            self.whole = self.links.tensor(self.vectors.device)
        links = self.whole
        return self.network.encode(self.vectors, lambda layer, rows: self.apply(layer, rows, rows, links))

    def _in_slabs(self, layer: nn.Module, rows: Tensor) -> Tensor:
        indptr = self.links.indptr
        n_slabs = max(1, -(-int(indptr[-1]) // EDGES_IN_A_SLAB))
        bounds = np.unique(np.searchsorted(indptr, np.linspace(0, indptr[-1], n_slabs + 1)[1:-1])).tolist()
        bounds = [0, *(bound for bound in bounds if 0 < bound < self.links.n_rows), self.links.n_rows]
        slabs = []
        for start, stop in pairwise(bounds):
            links = self.links.tensor(rows.device, start, stop)
            slabs.append(self.apply(layer, rows, rows[start:stop], links))
        return torch.cat(slabs)


class Sampled(Whole):
    """A fresh sample of the neighbours of the nodes at hand in every step."""

    def around(self, first: LongArray, second: LongArray) -> tuple[Tensor, tuple[LongArray, LongArray]]:
        if not torch.is_grad_enabled():
            return super().around(first, second)
        hops = len(self.network.layers)
        members, place, links = self.links.around(np.concatenate([first, second]), hops, FANOUT, self.rng)
        inside = links.tensor(self.vectors.device, n_columns=len(members))
        rows = self.network.encode(
            self.vectors[torch.from_numpy(members).to(self.vectors.device)],
            lambda layer, rows: self.apply(layer, rows, rows, inside),
        )
        return rows, (place[: len(first)], place[len(first) :])
