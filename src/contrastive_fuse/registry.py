"""Every method that embeds a graph, by name: what ``--method`` offers and what the contract tests run over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from contrastive_fuse.fuse import ContrastiveFUSE

EMBEDDERS: dict[str, Callable[..., Any]] = {
    "fuse": ContrastiveFUSE,
    "fuse-paper": partial(ContrastiveFUSE, objective="paper"),
}
