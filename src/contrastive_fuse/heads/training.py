"""The one loop that trains every torch head."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from contrastive_fuse.heads.base import PAIRS_AT_ONCE, Callback, Epoch, Problem
from contrastive_fuse.heads.network import PairNetwork
from contrastive_fuse.heads.nodes import Nodes, Sampled
from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.pairs import PairRows


def train(
    network: PairNetwork,
    nodes: Nodes,
    problem: Problem,
    settings: Settings,
    rng: np.random.Generator,
    losses: list[float],
    callback: Callback | None,
) -> None:
    """Minimise the binary cross-entropy of pairs; with patience, keep what did best on held-out pairs."""
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    pairs, best, best_state, waited = problem.train, float("inf"), None, 0
    n_pairs = len(pairs.y)
    batch = n_pairs if settings.batch_pairs is None else settings.batch_pairs
    if isinstance(nodes, Sampled):
        batch = min(batch, PAIRS_AT_ONCE)
    for epoch in range(1, settings.epochs + 1):
        network.train()
        order = np.arange(n_pairs) if batch >= n_pairs else rng.permutation(n_pairs)
        total = 0.0
        for start in range(0, n_pairs, batch):
            part = pairs.subset(order[start : start + batch])
            optimiser.zero_grad()
            loss = _loss(network, nodes, part)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += float(loss.detach()) * len(part.y)
        losses.append(total / n_pairs)
        held_out_loss = None
        if problem.held_out is not None and settings.patience is not None:
            network.eval()
            with torch.no_grad():
                held_out_loss = float(_loss(network, nodes, problem.held_out))
            waited += 1
            if held_out_loss < best:
                best, best_state, waited = held_out_loss, deepcopy(network.state_dict()), 0
        if callback is not None:
            callback(Epoch(epoch, settings.epochs, losses[-1], held_out_loss))
        if settings.patience is not None and waited >= settings.patience:
            break
    if best_state is not None:
        network.load_state_dict(best_state)


def _loss(network: PairNetwork, nodes: Nodes, pairs: PairRows) -> Tensor:
    left, right = nodes.of_pairs(pairs.first.astype(np.int64), pairs.second.astype(np.int64))
    scores = network.decode(left, right)
    alike = torch.from_numpy((pairs.y > 0).astype(np.float32)).to(scores.device)
    weight = None if pairs.weight is None else torch.from_numpy(pairs.weight / pairs.weight.mean()).to(scores.device)
    return binary_cross_entropy_with_logits(scores, alike, weight)
