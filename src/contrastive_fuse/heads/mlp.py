"""An MLP on the representation of a pair: the paper's non-linear probe."""

from __future__ import annotations

from torch import Tensor, nn

from contrastive_fuse.heads.torch_head import TorchHead


class MlpHead(TorchHead):
    """Vectors go into the pair as they are; edges are not looked at."""

    @staticmethod
    def apply(layer: nn.Module, rows: Tensor, targets: Tensor, links: Tensor) -> Tensor:
        return rows
