"""MVGRL (Hassani and Khasahmadi 2020): nodes of a graph against a summary of its diffusion, and in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.torch_baseline import TorchBaseline, minimise
from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.graph import Graph
from contrastive_fuse.nets.links import Links

DENSE_BELOW = 6000  # nodes up to which the diffusion is solved for; beyond that its largest entries are approximated
KEPT_A_NODE, ROUNDS, NODES_AT_ONCE = 64, 20, 512


class Mvgrl(TorchBaseline):
    """Trained on windows of 2,000 nodes, drawn anew in every epoch."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = {
        "epochs": 1000, "learning_rate": 1e-3, "patience": 20, "alpha": 0.2, "window": 2000,
    }  # fmt: skip
    REFERENCE: ClassVar[Mapping[str, Any]] = {**FEATURELESS, "epochs": 3000}

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, rng, callback = task.graph, task.settings, task.rng, task.callback
        n, k, device = graph.n_nodes, int(self.n_components), inputs.device
        alpha = check_number("alpha", settings["alpha"], above=0)
        if alpha >= 1:
            raise InputError(f"alpha is a share, between 0 and 1; got {alpha!r}")
        window = min(n, check_integer("window", settings["window"], at_least=1))
        near, far = _normalised(graph), diffusion(graph, alpha)
        layers = [_Layer(inputs.shape[1], k).to(device) for _ in range(2)]
        judge = nn.Linear(k, k).to(device)

        def loss() -> Tensor:
            nodes = np.sort(rng.permutation(n)[:window])
            given = inputs[torch.from_numpy(nodes).to(device)]
            shuffled = given[torch.randperm(window, device=device)]
            views = [torch.from_numpy(_block(matrix, nodes)).to(device) for matrix in (near, far)]
            real = [layer(given, view) for layer, view in zip(layers, views, strict=True)]
            fake = [layer(shuffled, view) for layer, view in zip(layers, views, strict=True)]
            summaries = [judge(torch.sigmoid(rows.mean(dim=0))) for rows in real]
            scores = [rows @ summary for rows, summary in zip(real + fake, 2 * summaries[::-1], strict=True)]
            truth = (torch.arange(4 * window, device=device) < 2 * window).float()
            return binary_cross_entropy_with_logits(torch.cat(scores), truth)

        minimise([*layers, judge], loss, settings, callback)
        with torch.no_grad():
            one, two = (
                layer(inputs, _whole(matrix, device)) for layer, matrix in zip(layers, (near, far), strict=True)
            )
            both: Tensor = one + two
        return both

    def memory_estimate(self, graph: Graph) -> int:
        n = graph.n_nodes
        window = min(n, int(self.check_parameters()["window"]))
        diffused = 3 * 8 * n * n if n <= DENSE_BELOW else 16 * n * KEPT_A_NODE + 8 * 8 * n * NODES_AT_ONCE
        return super().memory_estimate(graph) + diffused + 6 * 4 * window * window


class _Layer(nn.Module):
    """A graph convolution over a dense or sparse matrix, with PReLU."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Linear(n_in, n_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.activation = nn.PReLU()
        nn.init.xavier_uniform_(self.weight.weight)

    def forward(self, rows: Tensor, links: Tensor) -> Tensor:
        refined: Tensor = self.activation(links @ self.weight(rows) + self.bias)
        return refined


def diffusion(graph: Graph, alpha: float) -> Any:
    """Personalised PageRank ``alpha (I - (1 - alpha) D^-1/2 (A + I) D^-1/2)^-1``.

    Dense for small graphs, else a sparse matrix of the largest entries of every row.
    """
    links, n = _normalised(graph), graph.n_nodes
    if n <= DENSE_BELOW:
        return alpha * np.linalg.inv(np.eye(n) - (1 - alpha) * links.toarray())
    blocks = []
    for start in range(0, n, NODES_AT_ONCE):
        nodes = np.arange(start, min(start + NODES_AT_ONCE, n))
        told = np.zeros((n, len(nodes)), dtype=np.float32)
        told[nodes, nodes - start] = alpha
        rows = told.copy()
        for _ in range(ROUNDS):
            rows = (1 - alpha) * (links @ rows) + told
        largest = np.argpartition(rows, -KEPT_A_NODE, axis=0)[-KEPT_A_NODE:]
        values = np.take_along_axis(rows, largest, axis=0)
        place = np.broadcast_to(nodes - start, largest.shape)
        blocks.append(sp.csr_array((values.ravel(), (place.ravel(), largest.ravel())), shape=(len(nodes), n)))
    return sp.csr_array(sp.vstack(blocks))


def _normalised(graph: Graph) -> sp.csr_array:
    links = Links.of(graph, "symmetric")
    return sp.csr_array((links.values, links.indices, links.indptr), shape=(links.n_rows, links.n_rows))


def _block(matrix: Any, nodes: Any) -> Any:
    """The rows and columns of some nodes, dense float32."""
    block = matrix[np.ix_(nodes, nodes)] if isinstance(matrix, np.ndarray) else matrix[nodes][:, nodes].toarray()
    return block.astype(np.float32)


def _whole(matrix: Any, device: Any) -> Tensor:
    if isinstance(matrix, np.ndarray):
        return torch.from_numpy(matrix.astype(np.float32)).to(device)
    rows = sp.csr_array(matrix)
    links = Links(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32), "mean")
    return links.tensor(device)
