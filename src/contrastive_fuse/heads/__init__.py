"""Heads: classifiers of pairs on top of any embedding. To add one, write a file and enter it in `HEADS`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from contrastive_fuse.errors import MissingExtraError, check_choice
from contrastive_fuse.heads.base import Epoch, PairHead
from contrastive_fuse.heads.presets import PRESETS, Settings

__all__ = ["HEADS", "PRESETS", "Epoch", "PairHead", "Settings", "head_class", "make_head"]

HEADS = {
    "cosine": "cosine:CosineHead",
    "logistic": "logistic:LogisticHead",
    "mlp": "mlp:MlpHead",
    "gcn": "gcn:GcnHead",
    "gat": "gat:GatHead",
    "sage": "sage:SageHead",
}


def make_head(name: str, preset: str = "strong", **parameters: Any) -> PairHead:
    """A head by its name; see `PairHead` for the parameters."""
    return head_class(name)(preset, **parameters)


def head_class(name: str) -> Callable[..., PairHead]:
    """The class of a head, imported when first asked for."""
    check_choice("head", name, HEADS)
    module, _, cls = HEADS[name].partition(":")
    try:
        found: Callable[..., PairHead] = getattr(import_module(f"contrastive_fuse.heads.{module}"), cls)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("torch", "torch_geometric"):
            raise MissingExtraError(f"the head {name}", "torch") from None
        raise
    return found
