"""GRACE (Zhu et al. 2020): nodes agree with themselves across two damaged views of the graph, and with nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from contrastive_fuse.baselines.base import Callback
from contrastive_fuse.baselines.infonce import info_nce
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, mask_columns, minimise
from contrastive_fuse.graph import Graph
from contrastive_fuse.pairs import PairRows

CORA = {
    "epochs": 200, "learning_rate": 5e-4, "weight_decay": 1e-5, "temperature": 0.4,
    "edge_drop": (0.2, 0.4), "feature_drop": (0.3, 0.4),
}  # fmt: skip


class Grace(TorchBaseline):
    """Settings are those for Cora; the method's paper has others for CiteSeer and PubMed."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = CORA
    REFERENCE: ClassVar[Mapping[str, Any]] = CORA

    def learn(
        self,
        graph: Graph,
        pairs: PairRows | None,
        inputs: Tensor,
        settings: dict[str, Any],
        rng: np.random.Generator,
        callback: Callback | None,
    ) -> Tensor:
        k = int(self.n_components)
        encoder = GcnStack([inputs.shape[1], 2 * k, k], nn.ReLU).to(inputs.device)
        project = nn.Sequential(nn.Linear(k, k), nn.ELU(), nn.Linear(k, k)).to(inputs.device)

        def view(edge_drop: float, feature_drop: float) -> Tensor:
            links = links_of(graph, inputs.device, edge_drop, rng)
            rows: Tensor = project(encoder(mask_columns(inputs, feature_drop), links))
            return rows

        def loss() -> Tensor:
            drops = zip(settings["edge_drop"], settings["feature_drop"], strict=True)
            one, two = (view(edge, feature) for edge, feature in drops)
            return info_nce(one, two, settings["temperature"])

        minimise([encoder, project], loss, settings, callback)
        with torch.no_grad():
            rows: Tensor = encoder(inputs, links_of(graph, inputs.device))
        return rows
