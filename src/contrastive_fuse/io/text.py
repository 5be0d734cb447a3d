"""Text tables: CSV, TSV and white-space separated, read by Arrow with every column as text.

Nothing is dropped in silence: rows of the wrong length are an error that names their lines. Lines that start with #
or % are comments, except in files called .csv, where an id may start so. White space around an id is no part of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from contrastive_fuse.errors import InputError
from contrastive_fuse.io.tables import KNOWN_NAMES, Where, by_row

COMMENT = re.compile(rb"(?m)^[ \t]*[#%].*(?:\r?\n|\Z)")
RAGGED_SPACE = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)|[ \t]{2,}|\t")

Lines = Callable[[], Iterator[tuple[int, list[str]]]]


@dataclass(frozen=True)
class TextTable:
    """A table, and how messages name the place of a row."""

    table: pa.Table
    has_header: bool
    where: Where = by_row


def read_text(path: Path, header: str = "auto", min_columns: int = 2) -> TextTable:
    """Read a delimited text file; columns are text and named by the header line, or f0, f1, ... where there is none."""
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            data = stream.read()
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"cannot be read: {error}") from None
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    comments = ".csv" not in path.suffixes
    kept = COMMENT.sub(b"", data) if comments and re.search(rb"(?m)^[ \t]*[#%]", data) else data
    first_line = next((line for line in kept[:1_000_000].splitlines() if line.strip()), b"")
    if not first_line:
        raise InputError("the file is empty")
    delimiter = _delimiter(first_line, path)
    if delimiter == " ":
        kept = RAGGED_SPACE.sub(_single_space, kept) if RAGGED_SPACE.search(kept) else kept
        first_line = b" ".join(first_line.split())
    lines = partial(_data_lines, data, delimiter, comments)
    table = _parse(kept, delimiter, _split(first_line, delimiter), lines, min_columns)
    del data, kept

    has_header = _has_header(table, header)
    if has_header:
        names = [str(column[0].as_py()).strip() or f"f{i}" for i, column in enumerate(table.columns)]
        if len(set(names)) < len(names):
            raise InputError(f"the header line names a column twice: {names}")
        table = table.slice(1).rename_columns(names)
    where = partial(_where, lines, int(has_header))
    for position, name in enumerate(table.column_names[:min_columns]):
        trimmed = pc.utf8_trim_whitespace(table.column(name))
        table = table.set_column(position, name, trimmed)
        blank = pc.equal(trimmed, "")
        if pc.any(blank).as_py():
            raise InputError(f"column {name!r} has no node id in {where(pc.index(blank, True).as_py())}")
    return TextTable(table, has_header, where)


def _single_space(match: re.Match[bytes]) -> bytes:
    inside = match.start() > 0 and match.string[match.start() - 1 : match.start()] != b"\n"
    ends = match.end() == len(match.string) or match.string[match.end() : match.end() + 1] in (b"\n", b"\r")
    return b" " if inside and not ends else b""


def _delimiter(line: bytes, path: Path) -> str:
    preferred = {".csv": b",;\t", ".tsv": b"\t,;"}
    order = next((preferred[suffix] for suffix in path.suffixes if suffix in preferred), b"\t,;")
    return next((chr(sign) for sign in order if sign in line), " ")


def _split(line: bytes, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.decode()], delimiter=delimiter))
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8 text") from None


def _parse(data: bytes, delimiter: str, first: list[str], lines: Lines, min_columns: int) -> pa.Table:
    if len(first) < min_columns:
        raise InputError(
            f"line 1 has {len(first)} column(s); at least {min_columns} are expected, separated by {delimiter!r}"
        )
    names = [f"f{i}" for i in range(len(first))]
    wrong: list[int] = []

    def skip(row: pacsv.InvalidRow) -> str:
        wrong.append(1)
        return "skip"

    try:
        table = pacsv.read_csv(
            pa.py_buffer(data),
            read_options=pacsv.ReadOptions(column_names=names, block_size=1 << 24),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, invalid_row_handler=skip),
            convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error) or "UTF-8" in str(error):
            raise InputError("the file is not UTF-8 text") from None
        raise InputError(f"cannot be read as a table separated by {delimiter!r}: {error}") from None
    if wrong:
        bad = [(number, len(row)) for number, row in lines() if len(row) != len(first)]
        shown = ", ".join(f"line {number} has {count}" for number, count in bad[:3])
        more = f" and {len(bad) - 3:,} more" if len(bad) > 3 else ""
        raise InputError(f"every row must have {len(first)} columns as the first has; {shown}{more}")
    return table


def _has_header(table: pa.Table, header: str) -> bool:
    """Whether the first row names the columns, told from the names, then from the values below."""
    if header in ("yes", "no"):
        return header == "yes"
    first = [str(column[0].as_py()).strip() for column in table.columns]
    rest = table.slice(1)
    for value, column in zip(first, rest.columns, strict=True):
        numeric = [_is_number(x.as_py()) for x in column.slice(0, 1000)]
        if numeric and all(numeric):  # a column of numbers under something that is none
            return not _is_number(value)
    if any(map(_is_number, first)):
        return False
    named = any(value.lower() in KNOWN_NAMES for value in first)
    again = any(pc.any(pc.equal(column, value)).as_py() for column in rest.columns[:2] for value in first[:2])
    if named != again:  # either a well-known name, or an id that occurs again
        return named
    raise InputError(
        f'cannot tell whether the first line ({", ".join(first)}) names the columns or is data; say header="yes" or'
        ' header="no" (--header yes or --header no)'
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "infinity")


def _data_lines(data: bytes, delimiter: str, comments: bool) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every row: the slow way, for messages only."""
    number = 0

    def uncommented() -> Iterator[str]:
        nonlocal number
        for line in io.StringIO(data.decode(errors="replace"), newline=None):
            number += 1
            bare = line.strip()
            if bare and not (comments and bare[0] in "#%"):
                yield " ".join(bare.split()) if delimiter == " " else line

    for row in csv.reader(uncommented(), delimiter=delimiter):  # quoted fields may run over several lines
        yield number, row


def _where(lines: Lines, header_lines: int, row: int) -> str:
    for position, (number, _) in enumerate(lines()):
        if position == row + header_lines:
            return f"line {number}"
    return f"row {row}"
