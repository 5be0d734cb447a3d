"""Vectors with their node ids: Parquet, CSV, NumPy and word2vec text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from contrastive_fuse.errors import InputError, first_few
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.atomic import whole_file, whole_files
from contrastive_fuse.io.csv import write_csv
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
