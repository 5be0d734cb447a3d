"""GRACE (Zhu et al. 2020): nodes agree with themselves across two damaged views of the graph, and with nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.infonce import CONTRASTED, info_nce
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, mask_columns, minimise
from contrastive_fuse.errors import check_choice

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "prelu": nn.PReLU}


class Grace(TorchBaseline):
    """Settings are those for Cora; those for CiteSeer and PubMed are in ``PUBLISHED``."""

    PUBLISHED: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "cora": {
            "epochs": 200, "learning_rate": 5e-4, "weight_decay": 1e-5, "temperature": 0.4, "activation": "relu",
            "edge_drop": (0.2, 0.4), "feature_drop": (0.3, 0.4), "contrasted": CONTRASTED,
        },
        "citeseer": {
            "epochs": 200, "learning_rate": 1e-3, "weight_decay": 1e-5, "temperature": 0.9, "activation": "prelu",
            "edge_drop": (0.2, 0.0), "feature_drop": (0.3, 0.2), "contrasted": CONTRASTED,
        },
        "pubmed": {
            "epochs": 1500, "learning_rate": 1e-3, "weight_decay": 1e-5, "temperature": 0.7, "activation": "relu",
            "edge_drop": (0.4, 0.1), "feature_drop": (0.0, 0.2), "contrasted": CONTRASTED,
        },
    }  # fmt: skip
    FEATURELESS: ClassVar[Mapping[str, Any]] = PUBLISHED["cora"]
    REFERENCE: ClassVar[Mapping[str, Any]] = PUBLISHED["cora"]

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, rng, callback = task.graph, task.settings, task.rng, task.callback
        k = int(self.n_components)
        activation = ACTIVATIONS[check_choice("activation", settings["activation"], ACTIVATIONS)]
        encoder = GcnStack([inputs.shape[1], 2 * k, k], activation).to(inputs.device)
        project = nn.Sequential(nn.Linear(k, k), nn.ELU(), nn.Linear(k, k)).to(inputs.device)

        def view(edge_drop: float, feature_drop: float) -> Tensor:
            links = links_of(graph, inputs.device, edge_drop, rng)
            rows: Tensor = project(encoder(mask_columns(inputs, feature_drop), links))
            return rows

        def loss() -> Tensor:
            drops = zip(settings["edge_drop"], settings["feature_drop"], strict=True)
            one, two = (view(edge, feature) for edge, feature in drops)
            return info_nce(one, two, settings["temperature"], contrasted=settings["contrasted"])

        minimise([encoder, project], loss, settings, callback)
        with torch.no_grad():
            rows: Tensor = encoder(inputs, links_of(graph, inputs.device))
        return rows
