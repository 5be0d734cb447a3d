"""Graph convolution (Kipf and Welling 2017) that refines the vectors before pairs are classified."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from contrastive_fuse.heads.torch_head import TorchHead


class GcnHead(TorchHead):
    """Layers of ``D^-1/2 (A + I) D^-1/2 X W``, edge weights included."""

    needs_graph = True
    weighting = "symmetric"

    @staticmethod
    def layer(n_in: int, n_out: int) -> nn.Module:
        made: nn.Module = GCNConv(
            n_in, n_out, normalize=False
        )  # the links are normalised once, for all layers and epochs
        return made

    @staticmethod
    def apply(layer: nn.Module, rows: Tensor, targets: Tensor, links: Tensor) -> Tensor:
        refined: Tensor = layer(rows, links)
        return refined
