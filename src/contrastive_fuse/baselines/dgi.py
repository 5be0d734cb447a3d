"""Deep graph infomax (Velickovic et al. 2019): tell nodes of a graph from nodes of a shuffled one by a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, minimise


class Dgi(TorchBaseline):
    """One layer with PReLU on features; two, the first twice as wide, on random inputs."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = {"layers": 2, "epochs": 200, "learning_rate": 0.01}
    REFERENCE: ClassVar[Mapping[str, Any]] = {"layers": 1, "epochs": 500, "learning_rate": 0.001, "patience": 20}

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, callback = task.graph, task.settings, task.callback
        k, links = int(self.n_components), links_of(graph, inputs.device)
        widths = [inputs.shape[1], *[2 * k] * (settings["layers"] - 1), k]
        encoder = GcnStack(widths, nn.PReLU).to(inputs.device)
        judge = nn.Linear(k, k).to(inputs.device)  # a bilinear form of rows and summary

        def loss() -> Tensor:
            rows = encoder(inputs, links)
            shuffled = encoder(inputs[torch.randperm(len(inputs), device=inputs.device)], links)
            direction = judge(torch.sigmoid(rows.mean(dim=0)))
            scores = torch.cat([rows @ direction, shuffled @ direction])
            truth = (torch.arange(len(scores), device=scores.device) < len(rows)).float()
            return binary_cross_entropy_with_logits(scores, truth)

        minimise([encoder, judge], loss, settings, callback)
        with torch.no_grad():
            rows: Tensor = encoder(inputs, links)
        return rows
