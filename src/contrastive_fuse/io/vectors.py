"""Vectors with their node ids: Parquet, CSV, NumPy and word2vec text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from contrastive_fuse.errors import InputError, first_few
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.arrays import read_array
from contrastive_fuse.io.atomic import whole_file, whole_files
from contrastive_fuse.io.csv import write_csv
from contrastive_fuse.io.files import existing, read_ids, read_parquet
from contrastive_fuse.io.tables import NODE_NAMES, numbers
from contrastive_fuse.io.text import read_text
from contrastive_fuse.types import FloatArray

ROWS_AT_ONCE = 1 << 14
VECTOR_SUFFIXES = (".parquet", ".csv", ".tsv", ".npy", ".txt")


def write_vectors(path: str | Path, ids: NodeIds, vectors: FloatArray) -> list[Path]:
    """Write vectors in the format that the file's name asks for.

    ============  ==========================================================================================
    name ends in  content
    ============  ==========================================================================================
    .parquet      a column ``node`` and one column a component, ``v0``, ``v1``, ...
    .csv .tsv     the same as text
    .npy          the array; its ids in ``NAME.ids.csv`` beside it, in row order
    .txt          word2vec text, as gensim's ``KeyedVectors.load_word2vec_format`` reads it
    ============  ==========================================================================================

    Returns
    -------
    list of Path, the files written
    """
    path = Path(path)
    check_vector_ids(path, ids)
    if path.suffix == ".npy":
        paths = [path, path.with_suffix(".ids.csv")]
        with whole_files(paths) as (array, names):
            np.save(array, vectors)
            write_csv(pa.table({"node": ids_to_arrow(ids)}), names)
        return paths
    if path.suffix == ".txt":
        with whole_file(path) as partial:
            _write_word2vec(partial, ids, vectors)
        return [path]
    columns = {f"v{i}": pa.array(np.ascontiguousarray(column)) for i, column in enumerate(vectors.T)}
    table = pa.table({"node": ids_to_arrow(ids), **columns})
    with whole_file(path) as partial:
        if path.suffix == ".parquet":
            pq.write_table(table, partial, use_dictionary=["node"], compression="zstd", compression_level=1)
        else:
            write_csv(table, partial, "\t" if path.suffix == ".tsv" else ",")
    return [path]


def read_vectors(path: str | Path) -> tuple[NodeIds, FloatArray]:
    """Read vectors with their node ids: what `write_vectors` writes, from anywhere, or a model folder.

    Tables have the id in a column ``node`` (else in the first), and numbers in all others.
    """
    path = Path(path)
    if path.is_dir():
        from contrastive_fuse.io.model import read_model

        return read_model(path)[1:3]
    path = existing(path)
    try:
        if path.suffix == ".npy":
            return _from_npy(path)
        if path.suffix == ".parquet":
            return _from_table(read_parquet(path))
        if path.suffix in (".csv", ".tsv"):
            return _from_table(read_text(path).table)
        if path.suffix == ".txt":
            return _from_word2vec(path)
        raise InputError(f"vectors are read from a model folder or from {', '.join(VECTOR_SUFFIXES)}")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _from_npy(path: Path) -> tuple[NodeIds, FloatArray]:
    try:
        vectors = read_array(path)
    except (OSError, ValueError) as error:
        raise InputError(f"not a readable .npy file: {error}") from None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise InputError(f"expected a table of numbers; got {vectors.dtype} of shape {vectors.shape}")
    names = path.with_suffix(".ids.csv")
    ids = NodeIds(read_ids(names, "yes")) if names.exists() else NodeIds(len(vectors))
    if len(ids) != len(vectors):
        raise InputError(f"{names.name} names {len(ids):,} nodes, but there are {len(vectors):,} vectors")
    return ids, vectors.astype(np.float32, copy=False)


def _from_table(table: pa.Table) -> tuple[NodeIds, FloatArray]:
    if table.num_columns < 2:
        raise InputError(f"expected a column of node ids and columns of numbers; found {table.column_names}")
    named = next((name for name in table.column_names if name.lower() in NODE_NAMES), table.column_names[0])
    columns = [numbers(table, name).astype(np.float32) for name in table.column_names if name != named]
    return NodeIds(table.column(named)), np.ascontiguousarray(np.stack(columns, axis=1))


def _from_word2vec(path: Path) -> tuple[NodeIds, FloatArray]:
    try:
        first, _, rest = path.read_bytes().partition(b"\n")
        n_nodes, n_components = map(int, first.split())
    except ValueError:
        raise InputError("the first line must hold the number of nodes and of components") from None
    options = pacsv.ReadOptions(column_names=["node", *(f"v{i}" for i in range(n_components))], block_size=1 << 24)
    types = {"node": pa.string(), **{f"v{i}": pa.float32() for i in range(n_components)}}
    try:
        table = pacsv.read_csv(
            pa.py_buffer(rest),
            options,
            pacsv.ParseOptions(delimiter=" ", quote_char=False),
            pacsv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"not word2vec text of {n_components} components: {error}") from None
    if table.num_rows != n_nodes:
        raise InputError(f"the first line says {n_nodes:,} nodes, but {table.num_rows:,} follow")
    return _from_table(table)


def check_vector_ids(path: Path, ids: NodeIds) -> None:
    """Refuse a file name that says no format, and ids that the format cannot hold; worth knowing before the work."""
    if path.suffix not in VECTOR_SUFFIXES:
        raise InputError(f"vectors are written to {', '.join(VECTOR_SUFFIXES)}; got {path.name!r}")
    if path.suffix == ".txt":
        names = ids_to_arrow(ids).cast(pa.string())
        spaced = names.filter(pc.match_substring_regex(names, r"\s|^$"))
        if len(spaced):
            few = first_few(spaced.slice(0, 5).to_pylist(), len(spaced))
            raise InputError(f"word2vec text cannot hold ids with white space: {few}; write .parquet or .csv instead")


def ids_to_arrow(ids: NodeIds) -> pa.Array:
    """Ids as an Arrow column: whole numbers as int64, everything else as text."""
    column = ids.column()
    if column.kind == "object":
        return pa.array([str(value) for value in column.values], type=pa.string())
    return pa.array(column.values)


def _write_word2vec(path: Path, ids: NodeIds, vectors: FloatArray) -> None:
    names = ids_to_arrow(ids).cast(pa.string())
    with path.open("wb") as file:
        file.write(f"{vectors.shape[0]} {vectors.shape[1]}\n".encode())
        for start in range(0, len(names), ROWS_AT_ONCE):  # not as CSV: an id may hold a quotation mark
            block = slice(start, start + ROWS_AT_ONCE)
            components = [pa.array(np.ascontiguousarray(column)).cast(pa.string()) for column in vectors[block].T]
            lines = pc.binary_join_element_wise(names[block], *components, " ")
            file.write(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer())
            file.write(b"\n")
