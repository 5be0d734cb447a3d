"""Variational graph autoencoder (Kipf and Welling 2016): vectors from which edges can be told from other pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch_geometric.nn import GCNConv

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.torch_baseline import TorchBaseline, links_of, minimise
from contrastive_fuse.scoring import row_cosines
from contrastive_fuse.types import AnyArray, FloatArray


class Vgae(TorchBaseline):
    """Without features the input is one learned vector a node, never a dense identity matrix."""

    normalise_features = False

    FEATURELESS: ClassVar[Mapping[str, Any]] = {"hidden": None, "epochs": 200, "learning_rate": 0.01}
    REFERENCE: ClassVar[Mapping[str, Any]] = {"hidden": 32, "epochs": 200, "learning_rate": 0.01}

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, callback = task.graph, task.settings, task.callback
        k, n = int(self.n_components), graph.n_nodes
        hidden = settings["hidden"] or 2 * k
        links, device = links_of(graph, inputs.device), inputs.device
        if settings["features"] is None:
            first: nn.Module = _Table(n, hidden)
        else:
            first = GCNConv(inputs.shape[1], hidden, normalize=False)
        mean, log_deviation = (GCNConv(hidden, k, normalize=False) for _ in range(2))
        modules = [module.to(device) for module in (first, mean, log_deviation)]
        ends = [torch.from_numpy(column.astype(np.int64)).to(device) for column in graph.edges()]

        def encode() -> tuple[Tensor, Tensor]:
            rows = torch.relu(first(inputs, links))
            return mean(rows, links), log_deviation(rows, links).clamp(max=10)

        def loss() -> Tensor:
            centre, spread = encode()
            rows = centre + torch.randn_like(centre) * spread.exp()
            others = torch.randint(n, (2, len(ends[0])), device=device)
            linked = logsigmoid(_inner(rows, ends[0], ends[1]))
            apart = logsigmoid(-_inner(rows, others[0], others[1]))
            divergence = -0.5 * (1 + 2 * spread - centre**2 - (2 * spread).exp()).sum(dim=1).mean()
            reconstruction = -(linked.mean() + apart.mean()) if len(linked) else torch.zeros((), device=device)
            return reconstruction + divergence / n

        minimise(modules, loss, settings, callback)
        with torch.no_grad():
            return encode()[0]

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Inner product of the two vectors, as the decoder has it, (n,)."""
        return row_cosines(self.embedding_, first, second)  # rows are not unit ones, so these are inner products


class _Table(nn.Module):
    """A graph convolution of the identity matrix: a learned vector a node, averaged over neighbours."""

    def __init__(self, n_nodes: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(n_nodes, width))
        nn.init.xavier_uniform_(self.table)

    def forward(self, inputs: Tensor, links: Tensor) -> Tensor:
        return links @ self.table


def _inner(rows: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return (rows.index_select(0, first) * rows.index_select(0, second)).sum(dim=1)
