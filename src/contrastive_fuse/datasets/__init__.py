"""Data sets by name. To add one, write a function that returns a `Dataset` and enter it in `DATASETS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contrastive_fuse.datasets.base import Dataset
from contrastive_fuse.datasets.embedded import digits, karate
from contrastive_fuse.datasets.planted import planted
from contrastive_fuse.errors import check_choice

__all__ = ["DATASETS", "Dataset", "digits", "karate", "load_dataset", "planted"]

DATASETS: dict[str, Callable[..., Dataset]] = {"digits": digits, "karate": karate, "planted": planted}


def load_dataset(name: str, **parameters: Any) -> Dataset:
    """Load a data set by its name; generators take parameters."""
    check_choice("data set", name, DATASETS)
    return DATASETS[name](**parameters)
