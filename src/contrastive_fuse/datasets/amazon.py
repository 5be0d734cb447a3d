"""Amazon Photo: products bought together (McAuley et al. 2015; graph by Shchur et al. 2018)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from contrastive_fuse.datasets.base import Dataset, Download, Facts, Files, Source
from contrastive_fuse.datasets.npz import features_from_arrays
from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.io.arrays import read_arrays

HOME = "https://github.com/shchur/gnn-benchmark"
FILE = "amazon_electronics_photo.npz"
NEEDED = ("adj_data", "adj_indices", "adj_indptr", "adj_shape", "labels")


def read(folder: Path, file: str = FILE) -> Dataset:
    """Read a file of Shchur's benchmark: adjacency and features as CSR parts, and labels. Direction is dropped."""
    try:
        arrays = read_arrays(folder / file)
        missing = [name for name in NEEDED if name not in arrays]
        if missing:
            raise InputError(f"expected the arrays {', '.join(NEEDED)}; {', '.join(missing)} missing")
        n_nodes, labels, indptr = len(arrays["labels"]), arrays["labels"], arrays["adj_indptr"].astype(np.int64)
        if len(indptr) != n_nodes + 1 or indptr[-1] != len(arrays["adj_indices"]) or (np.diff(indptr) < 0).any():
            raise InputError("the parts of the adjacency do not fit together")
        source = np.repeat(np.arange(n_nodes), np.diff(indptr))
        graph = Graph.from_edges(source, arrays["adj_indices"], nodes=n_nodes)
        named = {name.replace("attr_", "feat_"): array for name, array in arrays.items() if name.startswith("attr_")}
        features = features_from_arrays(named, n_nodes)
    except InputError as error:
        raise InputError(f"{folder / file}: {error}") from None
    return Dataset("amazon-photo", graph, labels.astype(np.int32), features)


SOURCES = (
    Source(
        "amazon-photo",
        "photo products that are often bought together",
        "MIT",
        HOME,
        facts=Facts(nodes=7650, edges=119_081, classes=8, features=745),
        megabytes=1.8,
        files=Files(
            folders=("amazon-photo", "Photo/raw"),
            needed=(FILE,),
            downloads=(Download(f"{HOME}/raw/master/data/npz/{FILE}", FILE),),
            read=read,
        ),
    ),
)
