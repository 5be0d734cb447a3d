"""CCA-SSG (Zhang et al. 2021): two damaged views agree, and no two components tell the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, mask_columns, minimise
from contrastive_fuse.errors import check_integer


class CcaSsg(TorchBaseline):
    """Settings with features are those for Cora; others are in ``PUBLISHED``."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = {
        "hidden": None, "layers": 2, "epochs": 100, "learning_rate": 1e-3, "balance": 1e-3, "edge_drop": 0.2,
        "feature_drop": 0.2,
    }  # fmt: skip
    PUBLISHED: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        name: {
            "hidden": 512, "layers": layers, "epochs": epochs, "learning_rate": 1e-3, "balance": balance,
            "edge_drop": edge_drop, "feature_drop": feature_drop,
        }
        for name, layers, epochs, balance, edge_drop, feature_drop in (
            ("cora", 2, 50, 1e-3, 0.4, 0.1),
            ("citeseer", 1, 20, 5e-4, 0.4, 0.0),
            ("pubmed", 2, 100, 1e-3, 0.5, 0.3),
            ("amazon-photo", 2, 50, 1e-3, 0.3, 0.2),
        )
    }  # fmt: skip
    REFERENCE: ClassVar[Mapping[str, Any]] = PUBLISHED["cora"]

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, rng, callback = task.graph, task.settings, task.rng, task.callback
        k, n = int(self.n_components), graph.n_nodes
        between = [settings["hidden"] or 2 * k] * (check_integer("layers", settings["layers"], at_least=1) - 1)
        encoder = GcnStack([inputs.shape[1], *between, k], nn.ReLU, last=False).to(inputs.device)

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
