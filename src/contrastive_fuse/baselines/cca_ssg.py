"""CCA-SSG (Zhang et al. 2021): two damaged views agree, and no two components tell the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from contrastive_fuse.baselines.base import Callback
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, mask_columns, minimise
from contrastive_fuse.graph import Graph
from contrastive_fuse.pairs import PairRows


class CcaSsg(TorchBaseline):
    """Settings with features are those for Cora."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = {
        "hidden": None, "epochs": 100, "learning_rate": 1e-3, "balance": 1e-3, "edge_drop": 0.2, "feature_drop": 0.2,
    }  # fmt: skip
    REFERENCE: ClassVar[Mapping[str, Any]] = {
        "hidden": 512, "epochs": 50, "learning_rate": 1e-3, "balance": 1e-3, "edge_drop": 0.4, "feature_drop": 0.1,
    }  # fmt: skip

    def learn(
        self,
        graph: Graph,
        pairs: PairRows | None,
        inputs: Tensor,
        settings: dict[str, Any],
        rng: np.random.Generator,
        callback: Callback | None,
    ) -> Tensor:
        k, n = int(self.n_components), graph.n_nodes
        encoder = GcnStack([inputs.shape[1], settings["hidden"] or 2 * k, k], nn.ReLU, last=False).to(inputs.device)

        def view() -> Tensor:
            links = links_of(graph, inputs.device, settings["edge_drop"], rng)
            rows: Tensor = encoder(mask_columns(inputs, settings["feature_drop"]), links)
            scaled: Tensor = (rows - rows.mean(dim=0)) / (rows.std(dim=0, correction=0) + 1e-6) / n**0.5
            return scaled

        def loss() -> Tensor:
            one, two = view(), view()
            unit = torch.eye(k, device=one.device)
            apart = ((one.T @ one - unit) ** 2).sum() + ((two.T @ two - unit) ** 2).sum()
            value: Tensor = -(one * two).sum() + settings["balance"] * apart
            return value

        minimise([encoder], loss, settings, callback)
        with torch.no_grad():
            rows: Tensor = encoder(inputs, links_of(graph, inputs.device))
        return rows
