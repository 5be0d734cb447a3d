"""A fitted model on disk: a folder of JSON, NumPy and Parquet files, described in docs/model-format.md. No pickle."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contrastive_fuse.calibration import Calibration
from contrastive_fuse.errors import InputError
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.arrays import read_array
from contrastive_fuse.io.atomic import whole_folder
from contrastive_fuse.types import AnyArray, FloatArray

FORMAT = "contrastive-fuse-model"
FORMAT_VERSION = 2
MARKER = "model.json"
HEADER_NAMES = ("n_nodes", "n_components", "ids", "threshold", "calibration", "parameters", "facts")
PLAIN_IDS = (str, int, float, bool, type(None))


def write_model(
    path: str | Path,
    *,
    ids: NodeIds,
    embedding: FloatArray,
    threshold: float,
    calibration: Calibration | None,
    mixture: dict[str, Any] | None,
    arrays: dict[str, AnyArray],
    parameters: dict[str, Any],
    facts: dict[str, Any],
) -> None:
    """Write a model folder; it appears whole or not at all."""
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": {name: version(name) for name in ("contrastive-fuse", "numpy", "numba")},
        "n_nodes": embedding.shape[0],
        "n_components": embedding.shape[1],
        "ids": ids.kind,
        "threshold": threshold,
        "calibration": None if calibration is None else calibration.to_dict(),
        "mixture": mixture,
        "arrays": sorted(arrays),
        "parameters": parameters,
        "facts": facts,
    }
    with whole_folder(path, MARKER) as folder:
        np.save(folder / "embedding.npy", embedding)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        pq.write_table(pa.table({"node": _ids_to_storage(ids)}), folder / "nodes.parquet", compression="zstd")
        (folder / MARKER).write_text(json.dumps(header, indent=2, default=_plain) + "\n")


def read_model(path: str | Path) -> tuple[dict[str, Any], NodeIds, FloatArray, dict[str, AnyArray]]:
    """Header, ids, vectors and further arrays of a model folder, checked against each other."""
    path = Path(path)
    if not (path / MARKER).is_file():
        raise InputError(f"{path} is not a model folder: there is no {MARKER} in it")
    try:
        header = json.loads((path / MARKER).read_text())
        if header.get("format") != FORMAT:
            raise InputError(f"{path / MARKER} is not the header of a model")
        if header["format_version"] > FORMAT_VERSION:
            raise InputError(
                f"{path} has format version {header['format_version']}; this release reads up to {FORMAT_VERSION}."
                " Update contrastive-fuse to read it"
            )
        stored = pq.read_table(path / "nodes.parquet").column("node")
    except InputError:
        raise
    except (OSError, ValueError, KeyError, AttributeError, EOFError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    try:
        embedding = read_array(path / "embedding.npy")
        arrays = {name: read_array(path / f"{name}.npy") for name in _array_names(header)}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    missing = [name for name in HEADER_NAMES if name not in header]
    if missing:
        raise InputError(f"{path} is damaged: {MARKER} lacks {', '.join(missing)}")
    shape = (header["n_nodes"], header["n_components"])
    if embedding.shape != shape or embedding.dtype != np.float32 or len(stored) != shape[0]:
        raise InputError(
            f"{path} is damaged: expected {shape[0]:,} nodes with {shape[1]} float32 components, found"
            f" {embedding.shape} {embedding.dtype} and {len(stored):,} ids"
        )
    _check_arrays(path, arrays, shape[0])
    return header, _ids_from_storage(stored, header["ids"]), embedding, arrays


def _check_arrays(path: Path, arrays: dict[str, AnyArray], n_nodes: int) -> None:
    """One row a node, but for the pairs: two rows of nodes each, and as many signs."""
    n_pairs = len(arrays.get("pairs", ()))
    for name, array in arrays.items():
        expected = (n_pairs, 2) if name == "pairs" else (n_pairs,) if name == "signed_weights" else (n_nodes,)
        kind = np.int32 if name == "pairs" else np.float32
        if array.shape[: len(expected)] != expected or array.dtype != kind:
            raise InputError(
                f"{path} is damaged: {name}.npy should hold {expected[0]:,} {np.dtype(kind).name} rows, found"
                f" {array.shape} {array.dtype}"
            )
    if n_pairs and not (arrays["pairs"].min() >= 0 and arrays["pairs"].max() < n_nodes):
        raise InputError(f"{path} is damaged: pairs.npy names rows that no node has")


def _array_names(header: dict[str, Any]) -> list[str]:
    """The further arrays that a header names; plain names only, so that nothing outside the folder is read."""
    names = header.get("arrays", [])
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise ValueError(f"{MARKER} names arrays that cannot be: {names}")
    return list(names)


def _ids_to_storage(ids: NodeIds) -> pa.Array:
    column = ids.column()
    if column.kind != "object":
        return pa.array(column.values)
    return pa.array([json.dumps(_id_to_json(value)) for value in column.values], type=pa.string())


def _ids_from_storage(stored: pa.ChunkedArray, kind: str) -> NodeIds:
    if kind == "object":
        return NodeIds([_id_from_json(json.loads(text)) for text in stored.to_pylist()])
    return NodeIds(stored)


def _id_to_json(value: Any) -> Any:
    """Numbers, text, booleans and None as they are, tuples as {"tuple": [...]}."""
    if isinstance(value, PLAIN_IDS):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_id_to_json(part) for part in value]}
    raise InputError(
        f"node ids of type {type(value).__name__} cannot be stored ({value!r}); use text, numbers or tuples of them"
    )


def _id_from_json(value: Any) -> Any:
    return tuple(_id_from_json(part) for part in value["tuple"]) if isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return repr(value)
