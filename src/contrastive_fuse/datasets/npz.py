"""Our own layout of a data set: one ``.npz`` file, or a folder of ``.npy`` files of the same names (docs/data.md)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contrastive_fuse.datasets.base import Dataset
from contrastive_fuse.errors import InputError, counted
from contrastive_fuse.graph import Graph
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.arrays import read_arrays
from contrastive_fuse.io.atomic import whole_file
from contrastive_fuse.io.files import graph_from_arrays
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import AnyArray, IntArray

SPLITS = {"train_index": "train", "val_index": "val", "valid_index": "val", "test_index": "test"}
SPARSE = ("feat_data", "feat_indices", "feat_indptr", "feat_shape")
KNOWN = {"edge_index", "num_nodes", "edge_weight", "labels", "node_ids", "pairs", "y", "pair_weight",
         "description", "licence", "features", *SPARSE, *SPLITS}  # fmt: skip


def read_npz(path: Path) -> Dataset:
    """Read a data set in our layout; arrays that the layout does not name go into ``info["arrays"]``."""
    try:
        if path.is_dir():
            files = sorted(path.glob("*.npz"))
            if len(files) == 1:
                path = files[0]
            elif not (path / "edge_index.npy").is_file():
                raise InputError("expected a folder with one .npz file, or with edge_index.npy and its companions")
        return dataset_from_arrays(path.stem, read_arrays(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def dataset_from_arrays(name: str, arrays: dict[str, AnyArray]) -> Dataset:
    """The data set that these arrays describe, checked against each other."""
    if "edge_index" not in arrays:
        raise InputError(f"a data set needs an array 'edge_index'; found {sorted(arrays)}")
    graph = graph_from_arrays(arrays)
    if "node_ids" in arrays:
        graph = graph.with_ids(arrays["node_ids"])
    return Dataset(
        name,
        graph,
        _labels(arrays.get("labels"), graph),
        features_from_arrays(arrays, graph.n_nodes),
        pairs=_pairs(arrays, graph),
        splits={split: _node_rows(key, arrays[key], graph) for key, split in SPLITS.items() if key in arrays},
        info={key: str(arrays[key]) for key in ("description", "licence") if key in arrays}
        | {"arrays": {key: value for key, value in arrays.items() if key not in KNOWN}},
    )


def save_dataset(data: Dataset, path: str | Path) -> Path:
    """Write a data set in our layout; `load_dataset` reads it, and so does any NumPy."""
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"a data set is written to a file that ends in .npz; got {path.name!r}")
    first, second = data.graph.edges()
    arrays: dict[str, Any] = {"edge_index": np.stack([first, second]), "num_nodes": np.int64(data.graph.n_nodes)}
    if data.graph.weights is not None:
        once = np.repeat(np.arange(data.graph.n_nodes), np.diff(data.graph.indptr)) < data.graph.indices
        arrays["edge_weight"] = data.graph.weights[once]
    arrays["labels"] = data.labels
    if not data.graph.ids.is_range:
        arrays["node_ids"] = _plain_ids(data.graph.ids)
    if data.features is not None:
        arrays |= _feature_arrays(data.features)
    if data.pairs is not None:
        rows, _ = data.pairs.rows_in(data.graph.ids)
        arrays |= {"pairs": np.stack([rows.first, rows.second], axis=1), "y": rows.y}
        arrays |= {} if rows.weight is None else {"pair_weight": rows.weight}
    arrays |= {f"{split}_index": rows for split, rows in data.splits.items() if split in SPLITS.values()}
    arrays |= {key: np.array(str(data.info[key])) for key in ("description", "licence") if key in data.info}
    with whole_file(path) as partial_path, partial_path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return path


def features_from_arrays(arrays: dict[str, AnyArray], n_nodes: int) -> partial[Any] | None:
    """What gives back the features: a dense table, or the parts of a sparse one."""
    if "features" in arrays:
        if arrays["features"].ndim != 2 or len(arrays["features"]) != n_nodes:
            raise InputError(f"'features' must have {n_nodes:,} rows; got shape {arrays['features'].shape}")
        return partial(np.asarray, arrays["features"])
    missing = [key for key in SPARSE if key not in arrays]
    if len(missing) == len(SPARSE):
        return None
    if missing:
        raise InputError(f"sparse features need the arrays {', '.join(SPARSE)}; {', '.join(missing)} missing")
    data, indices, indptr, shape = (arrays[key] for key in SPARSE)
    return partial(sparse_features, data, indices, indptr, shape, n_nodes)


def sparse_features(data: AnyArray, indices: AnyArray, indptr: AnyArray, shape: AnyArray, n_nodes: int) -> Any:
    """Features as a SciPy CSR array of float32."""
    import scipy.sparse as sp

    size = tuple(int(length) for length in np.ravel(shape))
    if len(size) != 2 or size[0] != n_nodes:
        raise InputError(f"sparse features must have {n_nodes:,} rows; their shape is {size}")
    try:
        matrix = sp.csr_array((data.astype(np.float32), indices, indptr), shape=size)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"the parts of the sparse features do not fit together: {error}") from None
    return matrix


def _labels(given: AnyArray | None, graph: Graph) -> IntArray:
    if given is None:
        return np.full(graph.n_nodes, -1, dtype=np.int32)
    if given.shape != (graph.n_nodes,) or given.dtype.kind not in "iu":
        raise InputError(
            f"'labels' must hold a whole number for each of the {graph.n_nodes:,} nodes; got {given.dtype} of shape"
            f" {given.shape}"
        )
    if len(given) and (given.min() < -1 or given.max() > np.iinfo(np.int32).max):
        raise InputError(f"'labels' must be -1 (none) or from 0 on; they range over {given.min()} to {given.max()}")
    return given.astype(np.int32)


def _node_rows(name: str, rows: AnyArray, graph: Graph) -> IntArray:
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(f"{name!r} must hold one column of node rows; got {rows.dtype} of shape {rows.shape}")
    outside = int(np.count_nonzero((rows < 0) | (rows >= graph.n_nodes)))
    if outside:
        raise InputError(f"{name!r} names {counted(outside, 'row')} beyond the {graph.n_nodes:,} nodes")
    return rows.astype(np.int32)


def _pairs(arrays: dict[str, AnyArray], graph: Graph) -> SignedPairs | None:
    if "pairs" not in arrays:
        return None
    pairs = arrays["pairs"]
    if pairs.ndim != 2 or pairs.shape[1] != 2 or "y" not in arrays:
        raise InputError(f"'pairs' must have shape (n, 2) and come with 'y'; got shape {pairs.shape}")
    first, second = (_node_rows("pairs", column, graph) for column in pairs.T)
    return SignedPairs.of_rows(graph.ids, first, second, arrays["y"], arrays.get("pair_weight"))


def _plain_ids(ids: NodeIds) -> AnyArray:
    if ids.kind == "object":
        raise InputError("node ids that are neither numbers nor text cannot be written to .npz")
    names = ids.to_numpy()
    return names if ids.kind == "number" else names.astype(str)


def _feature_arrays(features: Any) -> dict[str, Any]:
    if not hasattr(features, "tocsr"):
        return {"features": np.asarray(features)}
    rows = features.tocsr()
    return {"feat_data": rows.data, "feat_indices": rows.indices, "feat_indptr": rows.indptr,
            "feat_shape": np.array(rows.shape)}  # fmt: skip
