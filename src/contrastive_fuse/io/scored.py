"""Tables of candidate pairs, returned with their scores."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contrastive_fuse.errors import InputError
from contrastive_fuse.io.atomic import whole_file
from contrastive_fuse.io.csv import write_csv
from contrastive_fuse.io.tables import id_columns
from contrastive_fuse.io.text import TextTable
from contrastive_fuse.pairs import Unknown
from contrastive_fuse.scoring import PairScorer

NEW_COLUMNS = ("score", "probability", "predicted")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


def score_table(
    model: PairScorer, candidates: TextTable, unknown: Unknown = "error", base_rate: float | None = None
) -> tuple[pa.Table, int]:
    """Every column of the candidates, then score, probability (where the model is calibrated) and predicted sign.

    With a base rate, probabilities refer to it, and a pair is predicted alike where that is the likelier.

    Returns
    -------
    table : pyarrow.Table
    dropped : int, pairs left out because they name unknown nodes (``unknown="drop"``)
    """
    table = candidates.table
    if not candidates.has_header:
        names = ["node_1", "node_2", *(f"column_{i + 1}" for i in range(2, table.num_columns))]
        table = table.rename_columns(names)
    taken = [name for name in NEW_COLUMNS if name in table.column_names]
    if taken:
        raise InputError(f"the candidates already have a column {taken[0]!r}; rename it")
    first, second = id_columns(table)
    dropped = 0
    if unknown == "drop":
        known = (model.ids_.rows(table.column(first)) >= 0) & (model.ids_.rows(table.column(second)) >= 0)
        dropped = int(np.count_nonzero(~known))
        table = table.filter(pa.array(known))
    pairs = table.select([first, second])
    table = table.append_column("score", pa.array(model.pair_score(pairs)))
    if model.calibration_ is not None:
        alike = model.predict_proba(pairs, base_rate)[:, 1]
        predicted = model.predict(pairs) if base_rate is None else np.where(alike >= 0.5, 1, -1).astype(np.int8)
        table = table.append_column("probability", pa.array(alike)).append_column("predicted", pa.array(predicted))
    elif base_rate is not None:
        raise InputError("the model has no probabilities that could refer to a base rate")
    return table, dropped


def check_table_name(path: Path | None) -> None:
    """Refuse a file name that says no format."""
    if path is not None and path.suffix not in TABLE_SUFFIXES:
        raise InputError(f"scores are written to {', '.join(TABLE_SUFFIXES)}; got {path.name!r}")


def write_table(table: pa.Table, path: Path | None) -> None:
    """Write CSV, TSV or Parquet by the file's name, or CSV to standard output."""
    if path is None:
        write_csv(table, sys.stdout.buffer)
        return
    check_table_name(path)
    with whole_file(path) as partial:
        if path.suffix == ".parquet":
            pq.write_table(table, partial)
        else:
            write_csv(table, partial, "\t" if path.suffix == ".tsv" else ",")
