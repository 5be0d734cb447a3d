"""OGBN-ArXiv and OGBN-Products from the files of the Open Graph Benchmark (Hu et al. 2020)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from contrastive_fuse.datasets.base import Dataset, Download, Facts, Files, Source
from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.types import AnyArray

HOME = "https://ogb.stanford.edu/docs/nodeprop/"
DOWNLOADS = "https://snap.stanford.edu/ogb/data/nodeproppred"
EDGES, LABELS, COUNT = "raw/edge.csv.gz", "raw/node-label.csv.gz", "raw/num-node-list.csv.gz"
FEATURES, YEARS = "raw/node-feat.csv.gz", "raw/node_year.csv.gz"
SPLITS = {"train": "train", "val": "valid", "test": "test"}


def read(folder: Path, name: str, split: str) -> Dataset:
    """Read the folder that OGB's archive unpacks to; direction is dropped, features are read when asked for."""
    n_nodes = int(_column(folder / COUNT, pa.int64())[0])
    labels = _column(folder / LABELS, pa.float64())
    if len(labels) != n_nodes:
        raise InputError(f"{folder / LABELS} has {len(labels):,} rows, but {COUNT} says {n_nodes:,} nodes")
    first, second = _columns(folder / EDGES, pa.int32(), 2)
    if len(first) and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= n_nodes):
        raise InputError(f"{folder / EDGES} names a node beyond the {n_nodes:,} nodes")
    years = {"node_year": _column(folder / YEARS, pa.int64())} if (folder / YEARS).exists() else {}
    features = folder / FEATURES
    return Dataset(
        name,
        Graph.from_edges(first, second, nodes=n_nodes),
        np.where(np.isfinite(labels), labels, -1).astype(np.int32),
        partial(_features, features, n_nodes) if features.exists() else None,
        splits={
            key: _column(folder / f"split/{split}/{file}.csv.gz", pa.int32())
            for key, file in SPLITS.items()
            if (folder / f"split/{split}/{file}.csv.gz").exists()
        },
        info={"arrays": years},
    )


def _features(path: Path, n_nodes: int) -> AnyArray:
    """(n_nodes, n_features) float32; the largest of the files, and the slowest to read."""
    table = _table(path, None)
    columns = [column.to_numpy() for column in table.columns]
    if table.num_rows != n_nodes:
        raise InputError(f"{path} has {table.num_rows:,} rows; {n_nodes:,} nodes are expected")
    return np.stack(columns, axis=1).astype(np.float32)


def _column(path: Path, kind: pa.DataType) -> AnyArray:
    return _columns(path, kind, 1)[0]


def _columns(path: Path, kind: pa.DataType, count: int) -> list[AnyArray]:
    table = _table(path, {f"f{i}": kind for i in range(count)})
    if table.num_columns != count or not table.num_rows:
        raise InputError(f"{path} must have {count} columns and at least one row")
    if any(column.null_count for column in table.columns) and not pa.types.is_floating(kind):
        raise InputError(f"{path} has empty entries; a number is expected in every row")
    return [column.to_numpy() for column in table.columns]


def _table(path: Path, types: dict[str, Any] | None) -> pa.Table:
    """A headless CSV file, compressed or not."""
    try:
        return pacsv.read_csv(
            path,
            read_options=pacsv.ReadOptions(autogenerate_column_names=True, block_size=1 << 24),
            convert_options=pacsv.ConvertOptions(column_types=types),
        )
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is not a readable CSV file of numbers: {error}") from None


def _source(
    name: str, description: str, licence: str, facts: Facts, megabytes: float, split: str, sha256: str
) -> Source:
    short = name.removeprefix("ogbn-")
    return Source(
        name,
        description,
        licence,
        HOME,
        facts,
        megabytes,
        Files(
            folders=(name.replace("-", "_"), short),
            needed=(EDGES, LABELS, COUNT),
            downloads=(Download(f"{DOWNLOADS}/{short}.zip", ".", sha256, inside=short),),
            read=partial(read, name=name, split=split),
        ),
    )


# The checksum of arxiv.zip is published by several projects that pin it; that of products.zip by MLDatasets.jl.
SOURCES = (
    _source(
        "ogbn-arxiv", "citations among arXiv papers on computer science", "ODC-BY",
        Facts(169_343, 1_157_799, 40, 128), megabytes=83.1, split="time",
        sha256="49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276",
    ),
    _source(
        "ogbn-products", "products that are often bought together", "Amazon licence",
        Facts(2_449_029, 61_859_140, 47, 100), megabytes=1_480, split="sales_ranking",
        sha256="5ea0a112edaec2141c0a2a612dd4aed58df97ff3e1ab1a0ca8238f43cbbb50a8",
    ),
)  # fmt: skip
