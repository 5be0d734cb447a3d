"""Signed graph contrastive learning (Shu et al. 2021), and the simplified variant of the paper's authors.

The signed graph is made of the edges and must-links (positive) and the cannot-links (negative).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize, softplus

from contrastive_fuse.baselines.base import Task
from contrastive_fuse.baselines.infonce import CONTRASTED, info_nce
from contrastive_fuse.baselines.torch_baseline import GcnStack, TorchBaseline, links_of, mask_columns, minimise
from contrastive_fuse.graph import Graph
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.types import AnyArray


class Sgcl(TorchBaseline):
    """Two views, each with some links dropped and some signs flipped; encoders of their own for either sign.

    Encoders of one sign agree across views, a node's final vector is closer to its positive than to its negative
    rows, and signs of links are told from the final vectors of their ends.
    """

    FEATURELESS: ClassVar[Mapping[str, Any]] = {
        "epochs": 200, "learning_rate": 0.005, "temperature": 0.5, "alpha": 0.8, "beta": 1e-4, "drop": 0.1, "flip": 0.1,
        "contrasted": CONTRASTED,
    }  # fmt: skip
    REFERENCE: ClassVar[Mapping[str, Any]] = FEATURELESS

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, pairs, settings, rng, callback = task.graph, task.pairs, task.settings, task.rng, task.callback
        k, n, device = int(self.n_components), graph.n_nodes, inputs.device
        first, second, sign = _signed_links(graph, pairs)
        encoders = [GcnStack([inputs.shape[1], k, k], nn.PReLU).to(device) for _ in range(2)]
        join = nn.Sequential(nn.Linear(4 * k, k), nn.ReLU(), nn.Linear(k, k)).to(device)
        judge = nn.Sequential(nn.Linear(2 * k, k), nn.ReLU(), nn.Linear(k, 1)).to(device)
        ends = [torch.from_numpy(column.astype(np.int64)).to(device) for column in (first, second)]
        truth = torch.from_numpy((sign > 0).astype(np.float32)).to(device)
        tau, alpha, beta = (float(settings[name]) for name in ("temperature", "alpha", "beta"))

        def view(drop: float, flip: float) -> list[Tensor]:
            kept = rng.random(len(first)) >= drop
            turned = np.where(rng.random(len(first)) < flip, -sign, sign)
            rows = []
            for encoder, wanted in zip(encoders, (1, -1), strict=True):
                chosen = kept & (turned == wanted)
                links = links_of(Graph.from_edges(first[chosen], second[chosen], nodes=n), device)
                rows.append(encoder(inputs, links))
            return rows

        def loss() -> Tensor:
            one, two = (view(float(settings["drop"]), float(settings["flip"])) for _ in range(2))
            final = join(torch.cat([*one, *two], dim=1))
            across = sum(
                info_nce(left, right, tau, within=False, contrasted=settings["contrasted"])
                for left, right in zip(one, two, strict=True)
            )
            inside = torch.zeros((), device=device)
            for positive, negative in (one, two):
                gap = (normalize(final) * (normalize(negative) - normalize(positive))).sum(dim=1) / tau
                inside = inside + softplus(gap).mean()
            value: Tensor = beta * ((1 - alpha) * across + alpha * inside)
            if len(truth):
                scores = judge(torch.cat([final.index_select(0, end) for end in ends], dim=1)).squeeze(1)
                value = value + binary_cross_entropy_with_logits(scores, truth)
            return value

        minimise([*encoders, join, judge], loss, settings, callback)
        with torch.no_grad():
            whole = view(0.0, 0.0)
            rows: Tensor = join(torch.cat([*whole, *whole], dim=1))
        return rows


class SgclLinear(TorchBaseline):
    """The simplified variant of the paper's authors: a linear encoder, InfoNCE of two views, smoothness over edges."""

    FEATURELESS: ClassVar[Mapping[str, Any]] = {
        "epochs": 200, "learning_rate": 1e-3, "temperature": 0.5, "smoothness": 0.1, "edge_drop": 0.2,
        "feature_drop": 0.2, "contrasted": CONTRASTED,
    }  # fmt: skip
    REFERENCE: ClassVar[Mapping[str, Any]] = FEATURELESS

    def learn(self, task: Task, inputs: Tensor) -> Tensor:
        graph, settings, rng, callback = task.graph, task.settings, task.rng, task.callback
        k, n, links = int(self.n_components), graph.n_nodes, links_of(graph, inputs.device)
        encoder = nn.Linear(inputs.shape[1], k).to(inputs.device)

        def loss() -> Tensor:
            views = []
            for _ in range(2):
                damaged = links_of(graph, inputs.device, settings["edge_drop"], rng)
                views.append(damaged @ encoder(mask_columns(inputs, settings["feature_drop"])))
            rows = links @ encoder(inputs)
            rough = ((rows - links @ rows) * rows).sum() / n
            apart = info_nce(views[0], views[1], settings["temperature"], contrasted=settings["contrasted"])
            value: Tensor = apart + settings["smoothness"] * rough
            return value

        minimise([encoder], loss, settings, callback)
        with torch.no_grad():
            rows: Tensor = links @ encoder(inputs)
        return rows


def _signed_links(graph: Graph, pairs: PairRows | None) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Edges and pairs as links with a sign; where both speak of the same two nodes, the pair does."""
    first, second = graph.edges()
    sign = np.ones(len(first), dtype=np.int8)
    if pairs is None or not len(pairs.y):
        return first, second, sign
    n = graph.n_nodes
    told = np.isin(first.astype(np.int64) * n + second, pairs.first.astype(np.int64) * n + pairs.second)
    return (
        np.concatenate([first[~told], pairs.first]),
        np.concatenate([second[~told], pairs.second]),
        np.concatenate([sign[~told], pairs.y]),
    )
