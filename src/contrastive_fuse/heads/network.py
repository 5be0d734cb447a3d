"""The network of every torch head: graph layers (or none), then an MLP on the representation of the pair."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from contrastive_fuse.heads.presets import Settings
from contrastive_fuse.heads.representation import REPRESENTATIONS


class PairNetwork(nn.Module):
    """Scores pairs by log odds.

    Parameters
    ----------
    n_components : int, width of the vectors
    settings : Settings
    graph_layer : callable, optional
        ``graph_layer(n_in, n_out)`` makes one layer; without it vectors go into the pair as they are.
    """

    def __init__(
        self, n_components: int, settings: Settings, graph_layer: Callable[[int, int], nn.Module] | None = None
    ) -> None:
        super().__init__()
        representation = REPRESENTATIONS[settings.representation]
        self.parts = representation.parts
        self.keep_input = settings.keep_input
        widths = [n_components]
        if graph_layer is not None:
            widths += [settings.hidden] * settings.layers
        self.layers = nn.ModuleList(
            graph_layer(n_in, n_out) for n_in, n_out in pairwise(widths) if graph_layer is not None
        )
        self.dropout = nn.Dropout(settings.dropout)
        self.width = widths[-1] + (n_components if self.keep_input and len(self.layers) else 0)
        self.decoder = nn.Sequential(
            nn.Linear(representation.factor * self.width, settings.decoder),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.decoder, 1),
        )

    def encode(self, vectors: Tensor, apply: Callable[[nn.Module, Tensor], Tensor]) -> Tensor:
        """Rows of nodes as pairs see them; ``apply(layer, rows)`` sends rows over the edges."""
        rows = vectors
        for number, layer in enumerate(self.layers):
            rows = apply(layer, self.dropout(rows))
            if number + 1 < len(self.layers):
                rows = torch.relu(rows)
        return torch.cat([vectors, rows], dim=1) if self.keep_input and len(self.layers) else rows

    def decode(self, left: Tensor, right: Tensor) -> Tensor:
        """Log odds of pairs of rows, (n,)."""
        scores: Tensor = self.decoder(torch.cat(self.parts(left, right), dim=1))
        return scores.squeeze(1)
