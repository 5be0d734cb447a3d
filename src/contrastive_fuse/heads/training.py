"""The one loop that trains every torch head, and the one way to encode all nodes afterwards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from contrastive_fuse.errors import InputError, check_choice
from contrastive_fuse.heads.base import PAIRS_AT_ONCE, Callback, Epoch, PairHead, Problem, in_blocks
from contrastive_fuse.heads.links import Links, Weighting
from contrastive_fuse.heads.network import PairNetwork, choose_device
from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.heads.representation import REPRESENTATIONS
from contrastive_fuse.memory import available_memory, check_memory
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.types import AnyArray, FloatArray, LongArray

FANOUT = 10  # neighbours a hop, where the graph is sampled
EDGES_IN_A_SLAB = 1 << 21
SAFE_SHARE = 0.85  # of the memory that is available


class TorchHead(PairHead):
    """A head that is a torch network.

    A graph head names its ``weighting`` and says how a layer is made (`layer`) and applied (`apply`).
    """

    uses_torch = True
    weighting: Weighting | None = None

    @staticmethod
    def layer(n_in: int, n_out: int) -> nn.Module:
        """A graph layer."""
        raise InputError("this head has no graph layers")

    @staticmethod
    @abstractmethod
    def apply(layer: nn.Module, rows: Tensor, targets: Tensor, links: Tensor) -> Tensor:
        """Rows of the targets after a layer; ``links`` lead from ``rows`` to ``targets``."""

    def check_parameters(self) -> Settings:
        check_choice("batching", self.batching, ("auto", "whole", "sampled"))
        try:
            choose_device(self.device)
        except RuntimeError as error:
            raise InputError(f"device {self.device!r} cannot be used: {str(error).splitlines()[0]}") from None
        return super().check_parameters()

    def memory_estimate(self, n_nodes: int, n_components: int, n_edges: int, n_pairs: int) -> int:
        """Bytes that training on the whole graph takes beyond the inputs: activations, their gradients, and edges."""
        settings = self.check_parameters()
        batch = min(n_pairs, settings.batch_pairs or n_pairs)
        width, graph = n_components, 0
        if self.weighting is not None:
            widths = settings.layers * settings.hidden
            graph = 4 * n_nodes * (n_components + 5 * widths)
            nnz = 2 * n_edges + n_nodes
            graph += nnz * 24 if self.weighting != "edges" else 4 * nnz * (4 + 3 * widths)
            width = settings.hidden + (n_components if settings.keep_input else 0)
            graph += 8 * n_nodes * width
        columns = REPRESENTATIONS[settings.representation].factor * width
        return graph + 4 * batch * (4 * width + 3 * columns + 4 * settings.decoder)

    def learn(self, problem: Problem, settings: Settings, rng: np.random.Generator, callback: Callback | None) -> None:
        device = choose_device(self.device)
        scale = float(np.sqrt(np.mean(problem.vectors**2))) if settings.rescale else 1.0
        vectors = torch.from_numpy(problem.vectors / np.float32(scale or 1.0)).to(device)
        with own_randomness(int(rng.integers(1 << 62))):
            made = self.layer if self.weighting is not None else None
            network = PairNetwork(vectors.shape[1], settings, made).to(device)
            nodes: Nodes
            if self.weighting is None or problem.graph is None:
                nodes = Given(network, vectors)
            else:
                links = Links.of(problem.graph, self.weighting)
                whole = self._fits(problem, settings, device)
                nodes = (Whole if whole else Sampled)(network, vectors, links, self, rng)
            self.sampled_ = isinstance(nodes, Sampled)
            train(network, nodes, problem, settings, rng, self.losses_, callback)
        network.eval()
        with torch.no_grad():
            self.rows_: FloatArray = nodes.all_rows().cpu().numpy()
        self.network_ = network.cpu()

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Log odds, (n,)."""
        rows = torch.from_numpy(self.rows_)

        def score(one: LongArray, two: LongArray) -> FloatArray:
            with torch.no_grad():
                return self.network_.decode(rows[torch.from_numpy(one)], rows[torch.from_numpy(two)]).numpy()

        return in_blocks(score, np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64))

    def _fits(self, problem: Problem, settings: Settings, device: Any) -> bool:
        """Whether to train on the whole graph; what was asked for and does not fit is refused."""
        if self.batching == "sampled":
            return False
        assert problem.graph is not None
        n_nodes, n_components = problem.vectors.shape
        needed = self.memory_estimate(n_nodes, n_components, problem.graph.n_edges, len(problem.train.y))
        available = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available_memory()
        available = int(SAFE_SHARE * available)
        if self.batching == "whole" or settings.batch_pairs is None:  # the paper trains on the whole graph
            advice = 'Use fewer components, or batching="sampled" (--batching sampled)'
            check_memory(f"training {type(self).__name__} on the whole graph", needed, available, advice)
        return needed <= available


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Torch's generators seeded inside the block, and as they were after it."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


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
        self, network: PairNetwork, vectors: Tensor, links: Links, head: TorchHead, rng: np.random.Generator
    ) -> None:
        super().__init__(network, vectors)
        self.links, self.head, self.rng = links, head, rng
        self.whole: Tensor | None = None

    def all_rows(self) -> Tensor:
        if not torch.is_grad_enabled():
            return self.network.encode(self.vectors, self._in_slabs)
        if self.whole is None:
            self.whole = self.links.tensor(self.vectors.device)
        links = self.whole
        return self.network.encode(self.vectors, lambda layer, rows: self.head.apply(layer, rows, rows, links))

    def _in_slabs(self, layer: nn.Module, rows: Tensor) -> Tensor:
        indptr = self.links.indptr
        n_slabs = max(1, -(-int(indptr[-1]) // EDGES_IN_A_SLAB))
        bounds = np.unique(np.searchsorted(indptr, np.linspace(0, indptr[-1], n_slabs + 1)[1:-1])).tolist()
        bounds = [0, *(bound for bound in bounds if 0 < bound < self.links.n_rows), self.links.n_rows]
        slabs = []
        for start, stop in pairwise(bounds):
            links = self.links.tensor(rows.device, start, stop)
            slabs.append(self.head.apply(layer, rows, rows[start:stop], links))
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
            lambda layer, rows: self.head.apply(layer, rows, rows, inside),
        )
        return rows, (place[: len(first)], place[len(first) :])


def train(
    network: PairNetwork,
    nodes: Nodes,
    problem: Problem,
    settings: Settings,
    rng: np.random.Generator,
    losses: list[float],
    callback: Callback | None,
) -> None:
    """Minimise the binary cross-entropy of pairs; with patience, keep what did best on held-out pairs."""
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    pairs, best, best_state, waited = problem.train, float("inf"), None, 0
    n_pairs = len(pairs.y)
    batch = n_pairs if settings.batch_pairs is None else settings.batch_pairs
    if isinstance(nodes, Sampled):
        batch = min(batch, PAIRS_AT_ONCE)
    for epoch in range(1, settings.epochs + 1):
        network.train()
        order = np.arange(n_pairs) if batch >= n_pairs else rng.permutation(n_pairs)
        total = 0.0
        for start in range(0, n_pairs, batch):
            part = pairs.subset(order[start : start + batch])
            optimiser.zero_grad()
            loss = _loss(network, nodes, part)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += float(loss.detach()) * len(part.y)
        losses.append(total / n_pairs)
        held_out_loss = None
        if problem.held_out is not None and settings.patience is not None:
            network.eval()
            with torch.no_grad():
                held_out_loss = float(_loss(network, nodes, problem.held_out))
            waited += 1
            if held_out_loss < best:
                best, best_state, waited = held_out_loss, deepcopy(network.state_dict()), 0
        if callback is not None:
            callback(Epoch(epoch, settings.epochs, losses[-1], held_out_loss))
        if settings.patience is not None and waited >= settings.patience:
            break
    if best_state is not None:
        network.load_state_dict(best_state)


def _loss(network: PairNetwork, nodes: Nodes, pairs: PairRows) -> Tensor:
    left, right = nodes.of_pairs(pairs.first.astype(np.int64), pairs.second.astype(np.int64))
    scores = network.decode(left, right)
    alike = torch.from_numpy((pairs.y > 0).astype(np.float32)).to(scores.device)
    weight = None if pairs.weight is None else torch.from_numpy(pairs.weight / pairs.weight.mean()).to(scores.device)
    return binary_cross_entropy_with_logits(scores, alike, weight)
