"""Graph attention (Velickovic et al. 2018) that refines the vectors before pairs are classified."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import GATConv

from contrastive_fuse.heads.torch_head import TorchHead


class GatHead(TorchHead):
    """Layers with one attention head over neighbours and the node itself; edge weights are not looked at."""

    needs_graph = True
    weighting = "edges"

    @staticmethod
    def layer(n_in: int, n_out: int) -> nn.Module:
        made: nn.Module = GATConv(n_in, n_out, add_self_loops=False)  # they are among the links
        return made

    @staticmethod
    def apply(layer: nn.Module, rows: Tensor, targets: Tensor, links: Tensor) -> Tensor:
        refined: Tensor = layer((rows, targets), links)
        return refined
