"""Delimited text as people like to read it: quotes only in files that need them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv


def write_csv(table: pa.Table, target: Path | BinaryIO, delimiter: str = ",", *, header: bool = True) -> None:
    """Write a table; Arrow left to itself puts every text value in quotes."""
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_csv(table, file, delimiter, header=header)
        return
    if header:
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
        target.write(line.getvalue().encode())
    special = rf'["\r\n{delimiter}]'
    text = [column for column in table.columns if pa.types.is_string(column.type)]
    quoted = any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in text)
    style = "needed" if quoted else "none"
    pacsv.write_csv(table, target, pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style))
