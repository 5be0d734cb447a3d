"""What all torch heads share: parameters, the memory they take, and scoring once they are trained."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from contrastive_fuse.errors import InputError, check_choice
from contrastive_fuse.heads.base import Callback, PairHead, Problem, in_blocks
from contrastive_fuse.heads.network import PairNetwork
from contrastive_fuse.heads.nodes import Given, Nodes, Sampled, Whole
from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.heads.representation import REPRESENTATIONS
from contrastive_fuse.heads.training import train
from contrastive_fuse.memory import available_memory, check_memory
from contrastive_fuse.nets.device import choose_device, own_randomness
from contrastive_fuse.nets.links import Links, Weighting
from contrastive_fuse.types import AnyArray, FloatArray, LongArray

SAFE_SHARE = 0.85  # of the memory that is available


class TorchHead(PairHead):
    """A head that is a torch network.

    A graph head names its ``weighting`` and says how a layer is made (`layer`) and applied (`apply`).
    """

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
        choose_device(self.device)
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
                nodes = (Whole if whole else Sampled)(network, vectors, links, self.apply, rng)
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
