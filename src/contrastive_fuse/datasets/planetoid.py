"""Cora, CiteSeer and PubMed as the Planetoid project published them (Yang, Cohen, Salakhutdinov 2016)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contrastive_fuse.datasets.base import Dataset, Download, Facts, Files, Source
from contrastive_fuse.datasets.unpickle import PickledArray, PickledMatrix, read_pickle
from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.types import AnyArray

HOME = "https://github.com/kimiyoung/planetoid"
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
N_VALIDATION = 500

# SHA-256 of each file, in the order of PARTS. Their exclusive or is f52b3d47...5c61c18, the checksum that the package
# MLDatasets.jl publishes for the 24 files together.
CHECKSUMS = {
    "cora": (
        "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    ),
    "citeseer": (
        "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    ),
    "pubmed": (
        "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    ),
}


def read(folder: Path, name: str) -> Dataset:
    """Read the eight files of a set.

    The test nodes of CiteSeer leave gaps: papers without features and class, some of them without edges too. They are
    nodes all the same, with class -1.
    """
    part = {kind: read_pickle(folder / f"ind.{name}.{kind}") for kind in PARTS if kind not in ("x", "test.index")}
    test = _test_nodes(folder / f"ind.{name}.test.index")
    first_labels, test_labels = (_array(part[kind], folder / f"ind.{name}.{kind}") for kind in ("ally", "ty"))
    n_first, n_train = len(first_labels), len(_array(part["y"], folder / f"ind.{name}.y"))
    if len(test) != len(test_labels) or first_labels.shape[1:] != test_labels.shape[1:] or test.min() < n_first:
        raise InputError(f"{folder}: the files of {name} do not fit together; download them again")
    n_nodes = int(test.max()) + 1
    if n_nodes > 100 * (n_first + len(test)):
        raise InputError(f"{folder}: ind.{name}.test.index names node {n_nodes - 1:,}, far beyond the others")
    one_hot = np.zeros((n_nodes, first_labels.shape[1]))
    one_hot[:n_first], one_hot[test] = first_labels, test_labels
    labels = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1).astype(np.int32)
    return Dataset(
        name,
        _graph(part["graph"], n_nodes, folder / f"ind.{name}.graph"),
        labels,
        partial(_features, part["allx"], part["tx"], test, n_nodes),
        splits={
            "train": np.arange(n_train, dtype=np.int32),
            "val": np.arange(n_train, n_train + N_VALIDATION, dtype=np.int32),
            "test": np.sort(test).astype(np.int32),
        },
    )


def _test_nodes(path: Path) -> AnyArray:
    try:
        nodes = np.array(path.read_text().split(), dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(f"{path} must hold one node number a line") from None
    if not len(nodes):
        raise InputError(f"{path} is empty")
    return nodes


def _array(value: Any, path: Path) -> AnyArray:
    if not isinstance(value, PickledArray) or value.value.ndim != 2:
        raise InputError(f"{path} must hold a table of classes, one column each")
    return value.value


def _graph(neighbours: Any, n_nodes: int, path: Path) -> Graph:
    """The graph of a dict that lists every node's neighbours."""
    try:
        counts = [len(listed) for listed in neighbours.values()]
        source = np.repeat(np.array(list(neighbours), dtype=np.int64), counts)
        target = np.array([node for listed in neighbours.values() for node in listed], dtype=np.int64)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise InputError(f"{path} must hold a dict of neighbour lists") from None
    return Graph.from_edges(source, target, nodes=n_nodes)


def _features(first: Any, test: Any, test_nodes: AnyArray, n_nodes: int) -> Any:
    """Features as one CSR array, rows without any where nothing is known."""
    import scipy.sparse as sp

    if not isinstance(first, PickledMatrix) or not isinstance(test, PickledMatrix):
        raise InputError("the features of a Planetoid set must be sparse matrices")
    above, below = (_csr(matrix) for matrix in (first, test))
    if above.shape[1] != below.shape[1] or below.shape[0] != len(test_nodes):
        raise InputError(f"features of shapes {above.shape} and {below.shape} do not fit together")
    order = sp.coo_array(
        (np.ones(len(test_nodes), dtype=np.float32), (test_nodes - above.shape[0], np.arange(len(test_nodes)))),
        shape=(n_nodes - above.shape[0], len(test_nodes)),
    )
    return sp.vstack([above, order.tocsr() @ below], format="csr")


def _csr(matrix: PickledMatrix) -> Any:
    from contrastive_fuse.datasets.npz import sparse_features

    parts = matrix.parts
    return sparse_features(parts["data"], parts["indices"], parts["indptr"], parts["shape"], int(parts["shape"][0]))


def _files(name: str) -> Files:
    names = tuple(f"ind.{name}.{part}" for part in PARTS)
    folders = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
    return Files(
        folders=(name, f"{folders[name]}/raw"),  # the second is where PyTorch Geometric keeps them
        needed=names,
        downloads=tuple(
            Download(f"{HOME}/raw/master/data/{file}", file, sha256)
            for file, sha256 in zip(names, CHECKSUMS[name], strict=True)
        ),
        read=partial(read, name=name),
    )


def _source(name: str, description: str, facts: Facts, megabytes: float) -> Source:
    return Source(name, description, "MIT", HOME, facts, megabytes, _files(name))


SOURCES = (
    _source("cora", "citations among papers on machine learning", Facts(2708, 5278, 7, 1433), 0.6),
    _source("citeseer", "citations among papers on computer science", Facts(3327, 4552, 6, 3703), 1.0),
    _source("pubmed", "citations among papers on diabetes", Facts(19717, 44324, 3, 500), 8.7),
)
