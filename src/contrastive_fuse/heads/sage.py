"""GraphSAGE with the mean of the neighbours (Hamilton, Ying, Leskovec 2017)."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from contrastive_fuse.heads.torch_head import TorchHead


class SageHead(TorchHead):
    """Layers of ``X W1 + mean of the neighbours' X W2``, edge weights included."""

    needs_graph = True
    weighting = "mean"

    @staticmethod
    def layer(n_in: int, n_out: int) -> nn.Module:
        made: nn.Module = SAGEConv(n_in, n_out, aggr="sum")  # of rows whose weights add up to 1: the mean
        return made

    @staticmethod
    def apply(layer: nn.Module, rows: Tensor, targets: Tensor, links: Tensor) -> Tensor:
        refined: Tensor = layer((rows, targets), links)
        return refined
