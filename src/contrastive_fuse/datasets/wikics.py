"""WikiCS: articles on computer science that link to each other (Mernyei and Cangea 2020)."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contrastive_fuse.datasets.base import Dataset, Download, Facts, Files, Source
from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.types import AnyArray

HOME = "https://github.com/pmernyei/wiki-cs-dataset"
FILE = "data.json"
LARGEST_FILE = 1 << 30
NEEDED = ("links", "labels", "features")


def read(folder: Path) -> Dataset:
    """Read ``data.json``. The articles that link to themselves are in ``info["arrays"]["selfloop_nodes"]``."""
    path = folder / FILE
    if path.stat().st_size > LARGEST_FILE:
        raise InputError(f"{path} has {path.stat().st_size:,} bytes; such a file is not expected to exceed 1 GB")
    try:
        stored = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not readable JSON: {error}") from None
    missing = [key for key in NEEDED if not isinstance(stored, dict) or not isinstance(stored.get(key), list)]
    if missing:
        raise InputError(f"{path} must hold the lists {', '.join(NEEDED)}; {', '.join(missing)} missing")
    try:
        links, labels = stored["links"], np.array(stored["labels"], dtype=np.int32)
        n_nodes = len(links)
        source = np.repeat(np.arange(n_nodes), [len(listed) for listed in links])
        target = np.array([node for listed in links for node in listed], dtype=np.int64)
        features = np.array(stored["features"], dtype=np.float32)
        splits = {name: _rows(stored[key]) for name, key in _masks(stored).items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: lists of numbers are expected: {error}") from None
    if labels.shape != (n_nodes,) or features.ndim != 2 or len(features) != n_nodes:
        raise InputError(f"{path}: links, labels and features must speak of the same nodes")
    return Dataset(
        "wikics",
        Graph.from_edges(source, target, nodes=n_nodes),
        labels,
        partial(np.asarray, features),
        splits=splits,
        info={"arrays": {"selfloop_nodes": np.unique(source[source == target]).astype(np.int32)}},
    )


def _masks(stored: dict[str, Any]) -> dict[str, str]:
    """The first of the twenty published splits, as most papers use it, and the common test set."""
    found = {"train": "train_masks", "val": "val_masks", "stopping": "stopping_masks", "test": "test_mask"}
    return {name: key for name, key in found.items() if key in stored}


def _rows(mask: Any) -> AnyArray:
    chosen = np.array(mask[0] if isinstance(mask[0], list) else mask, dtype=bool)
    return np.flatnonzero(chosen).astype(np.int32)


SOURCES = (
    Source(
        "wikics",
        "Wikipedia articles on computer science, joined by links",
        "MIT",
        HOME,
        facts=Facts(nodes=11_701, edges=215_603, classes=10, features=300),
        megabytes=27,
        files=Files(
            folders=("wikics", "WikiCS/raw"),
            needed=(FILE,),
            downloads=(Download(f"{HOME}/raw/master/dataset/{FILE}", FILE),),
            read=read,
        ),
    ),
)
