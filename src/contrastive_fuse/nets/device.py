"""Where torch works, and its randomness kept to itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from contrastive_fuse.errors import InputError


def choose_device(device: str) -> Any:
    """The torch device that a name stands for; "auto" is CUDA where there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise InputError(f"device must be auto, cpu or cuda; got {device!r}") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {device!r} cannot be used: torch finds no CUDA device on this machine")
    return chosen


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Torch's generators seeded inside the block, and as they were after it."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
