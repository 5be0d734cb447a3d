"""What the torch baselines share: inputs, one training loop, the graph as layers want it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from contrastive_fuse.baselines.base import Baseline, Callback, Step, Task, to_width
from contrastive_fuse.errors import InputError, check_integer
from contrastive_fuse.graph import Graph
from contrastive_fuse.nets.device import choose_device, own_randomness
from contrastive_fuse.nets.links import Links
from contrastive_fuse.pairs import Unknown
from contrastive_fuse.types import AnyArray, Seed


class TorchBaseline(Baseline):
    """A network that is trained on the graph.

    Its settings are those of its own paper where features are given (``REFERENCE``), and those of the paper's authors
    where the inputs are random (``FEATURELESS``). Widths that are None follow from ``n_components``.

    Parameters
    ----------
    device : str
        "auto" (CUDA where there is one), "cpu", "cuda".
    """

    FEATURELESS: ClassVar[Mapping[str, Any]] = {}
    REFERENCE: ClassVar[Mapping[str, Any]] = {}
    COMMON: ClassVar[Mapping[str, Any]] = {"features": None, "weight_decay": 0.0, "patience": None}

    normalise_features = True  # each row to a sum of 1

    def __init__(
        self,
        n_components: int = 128,
        *,
        settings: Mapping[str, Any] | None = None,
        device: str = "auto",
        unknown: Unknown = "error",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(n_components, settings=settings, unknown=unknown, n_jobs=n_jobs, random_state=random_state)
        self.device = device

    def check_parameters(self) -> dict[str, Any]:
        choose_device(self.device)
        return super().check_parameters()

    def defaults(self) -> Mapping[str, Any]:
        given = (self.settings or {}).get("features") is not None
        return {**self.COMMON, **(self.REFERENCE if given else self.FEATURELESS)}

    def embed(self, task: Task) -> AnyArray:
        with own_randomness(int(task.rng.integers(1 << 62))):
            inputs = _inputs(task.graph, task.settings["features"], int(self.n_components), self.normalise_features)
            inputs = inputs.to(choose_device(self.device))
            rows = self.learn(task, inputs)
        return to_width(rows.detach().cpu().numpy(), int(self.n_components))

    @abstractmethod
    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        """The vectors, (n_nodes, at least n_components)."""

    def memory_estimate(self, graph: Graph) -> int:
        """Bytes of activations and their gradients, for inputs as wide as they are."""
        features = (self.settings or {}).get("features")
        n_inputs = int(self.n_components) if features is None else int(features.shape[1])
        return 4 * graph.n_nodes * (2 * n_inputs + 24 * int(self.n_components)) + 2 * graph.n_edges * 48


class GcnStack(nn.Module):
    """Graph convolutions with an activation after each (or after all but the last)."""

    def __init__(self, widths: list[int], activation: Callable[[], nn.Module], last: bool = True) -> None:
        super().__init__()
        self.layers = nn.ModuleList(GCNConv(n_in, n_out, normalize=False) for n_in, n_out in pairwise(widths))
        self.activations = nn.ModuleList(activation() for _ in self.layers)
        self.last = last

    def forward(self, rows: Tensor, links: Tensor) -> Tensor:
        for number, (layer, activation) in enumerate(zip(self.layers, self.activations, strict=True)):
            rows = layer(rows, links)
            if self.last or number + 1 < len(self.layers):
                rows = activation(rows)
        return rows


def minimise(
    modules: list[nn.Module], loss: Callable[[], Tensor], settings: dict[str, Any], callback: Callback | None
) -> None:
    """Adam on a loss; with patience, ends when the loss has not fallen for so many epochs, and keeps the best."""
    whole = nn.ModuleList(modules)
    optimiser = torch.optim.Adam(
        whole.parameters(), lr=settings["learning_rate"], weight_decay=settings["weight_decay"]
    )
    epochs = check_integer("epochs", settings["epochs"], at_least=1)
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(1, epochs + 1):
        whole.train()
        optimiser.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        now = float(value.detach())
        if not np.isfinite(now):
            raise InputError(f"training diverged in epoch {epoch}; try a lower learning_rate")
        if callback is not None:
            callback(Step("training", epoch, epochs, now))
        if settings["patience"] is not None:
            waited += 1
            if now < best:
                best, best_state, waited = now, deepcopy(whole.state_dict()), 0
            if waited >= settings["patience"]:
                break
    if best_state is not None:
        whole.load_state_dict(best_state)
    whole.eval()


def links_of(graph: Graph, device: Any, drop: float = 0.0, rng: np.random.Generator | None = None) -> Tensor:
    """``D^-1/2 (A + I) D^-1/2``, of the graph or of what is left of it when a share of its edges is dropped.

    Either direction of an edge is dropped by itself, as in the code of GRACE and CCA-SSG.
    """
    if drop == 0 or rng is None:
        return Links.of(graph, "symmetric").tensor(device)
    import scipy.sparse as sp

    kept = graph.adjacency.copy()  # what is dropped here stays in the graph
    kept.data = kept.data * (rng.random(kept.nnz) >= drop)
    kept.eliminate_zeros()
    whole = sp.csr_array(kept + sp.eye_array(graph.n_nodes, dtype=np.float32))
    root = 1 / np.sqrt(np.asarray(whole.sum(axis=1)).ravel())
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(whole.indptr))
    values = (whole.data * root[rows] * root[whole.indices]).astype(np.float32)
    return Links(whole.indptr.astype(np.int64), whole.indices.astype(np.int32), values, "symmetric").tensor(device)


def mask_columns(rows: Tensor, share: float) -> Tensor:
    """The rows with a random share of their columns set to zero."""
    kept = torch.rand(rows.shape[1], device=rows.device) >= share
    return rows * kept


def _inputs(graph: Graph, features: Any, n_components: int, normalise: bool) -> Tensor:
    """Features, each row with sum 1 where the method's own code has it so; or normally distributed numbers."""
    if features is None:
        return torch.randn(graph.n_nodes, n_components)
    if features.shape[0] != graph.n_nodes:
        raise InputError(f"features must have {graph.n_nodes:,} rows; got {features.shape[0]:,}")
    dense = np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float32)
    total = np.abs(dense).sum(axis=1, keepdims=True)
    total[total == 0] = 1
    return torch.from_numpy(dense / total if normalise else dense)
