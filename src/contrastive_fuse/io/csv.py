"""Delimited text as people like to read it: quotes only in files that need them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from contrastive_fuse.errors import InputError


def write_csv(table: pa.Table, target: Path | BinaryIO, delimiter: str = ",") -> None:
    """Write a table; Arrow left to itself puts every text value in quotes."""
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_csv(table, file, delimiter)
        return
    table = _plain_columns(table)
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    target.write(line.getvalue().encode())
    special = rf'["\r\n{delimiter}]'
    text = [column for column in table.columns if pa.types.is_string(column.type)]
    quoted = any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in text)
    style = "needed" if quoted else "none"
    pacsv.write_csv(table, target, pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style))


def _plain_columns(table: pa.Table) -> pa.Table:
    """The table with every kind of text as plain strings; lists and the like are refused."""
    for position, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            raise InputError(f"column {field.name!r} of type {field.type} cannot be written as text; use .parquet")
        values = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        plain = pa.string() if pa.types.is_large_string(values) or pa.types.is_string_view(values) else values
        if plain != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(plain))
    return table
