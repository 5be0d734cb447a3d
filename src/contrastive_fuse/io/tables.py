"""Which column of a table means what, and the graph or the pairs it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrastive_fuse.errors import InputError, counted
from contrastive_fuse.graph import Graph, Repeats
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.types import AnyArray, DoubleArray

ID_NAMES = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("node1", "node2"), ("node_1", "node_2"),
    ("id1", "id2"), ("left", "right"), ("head", "tail"), ("a", "b"), ("i", "j"), ("gene1", "gene2"),
)  # fmt: skip
WEIGHT_NAMES = ("weight", "w", "weights", "edge_weight", "confidence")
SIGN_NAMES = ("y", "sign", "label", "alike", "similar", "same", "match")
NODE_NAMES = ("node", "node_id", "id", "name")
KNOWN_NAMES = {name for pair in ID_NAMES for name in pair} | {*WEIGHT_NAMES, *SIGN_NAMES, *NODE_NAMES}

Where = Callable[[int], str]


def by_row(row: int) -> str:
    """How messages name a row of a table that is not a text file."""
    return f"row {row}"


def graph_from_table(
    table: pa.Table,
    *,
    weight: str | None = "auto",
    nodes: Any = None,
    repeats: Repeats = "max",
    named: bool = True,
    where: Where = by_row,
) -> Graph:
    """The graph whose edges are the rows of a table.

    Parameters
    ----------
    weight : str or None
        Column of the weights, or None. "auto": the one called weight, or the third where columns have no names.
    named : bool
        Whether the column names are real ones.
    where : callable
        Words the place of a row in messages.
    """
    first, second = id_columns(table)
    third = table.column_names[2] if not named and table.num_columns > 2 else None
    column = (_named(table, WEIGHT_NAMES) or third) if weight == "auto" else weight
    weights = None
    if column is not None:
        _check_column(table, column)
        weights = numbers(table, column, where)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(bad):
            raise InputError(
                f"column {column!r} holds {len(bad):,} weights that are not finite and not negative, the first in"
                f" {where(int(bad[0]))} ({weights[bad[0]]:g}); unlike pairs belong into the pairs, not into the edges"
            )
    graph = Graph.from_edges(table.column(first), table.column(second), weights, nodes=nodes, repeats=repeats)
    graph.report = replace(graph.report, notes=_notes(table, named, [first, second], weights=column))
    return graph


def pairs_from_table(
    table: pa.Table,
    *,
    sign: str | None = None,
    weight: str | None = "auto",
    named: bool = True,
    where: Where = by_row,
) -> SignedPairs:
    """The signed pairs that are the rows of a table.

    Parameters
    ----------
    sign : str, optional
        Column of the signs; by default the one called y, sign or label, else the third.
    weight : str or None
        Column of the weights, or None. "auto": the one called weight, or the fourth where columns have no names.
    """
    first, second = id_columns(table)
    others = [name for name in table.column_names if name not in (first, second)]
    sign = sign or _named(table, SIGN_NAMES) or next((n for n in others if n.lower() not in WEIGHT_NAMES), None)
    if sign is None:
        raise InputError(f"pairs need a column y of -1 and +1; the columns are {table.column_names}")
    _check_column(table, sign)
    y = numbers(table, sign, where)
    bad = np.flatnonzero((y != 1) & (y != -1))
    if len(bad):
        hint = "; 0 is not read as unlike, use -1" if not y[bad].any() else ""
        raise InputError(
            f"column {sign!r} must hold -1 (unlike) and +1 (alike); {counted(len(bad), 'row')} with neither, the first"
            f" in {where(int(bad[0]))} ({y[bad[0]]:g}){hint}"
        )
    fourth = table.column_names[3] if not named and table.num_columns > 3 else None
    column = (_named(table, WEIGHT_NAMES) or fourth) if weight == "auto" else weight
    weights = None
    if column is not None:
        _check_column(table, column)
        weights = numbers(table, column, where)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
        if len(bad):
            raise InputError(
                f"column {column!r} must hold pair weights above 0; {len(bad):,} are not, the first in"
                f" {where(int(bad[0]))} ({weights[bad[0]]:g})"
            )
    pairs = SignedPairs.from_columns(table.column(first), table.column(second), y, weights)
    pairs.report = replace(pairs.report, notes=_notes(table, named, [first, second], signs=sign, weights=column))
    return pairs


def id_columns(table: pa.Table) -> tuple[str, str]:
    """Names of the two columns with node ids: a well-known couple of names, else the first two."""
    lower = {name.lower(): name for name in table.column_names}
    for one, two in ID_NAMES:
        if one in lower and two in lower:
            return lower[one], lower[two]
    if table.num_columns < 2:
        raise InputError(f"two columns of node ids are needed; the columns are {table.column_names}")
    return table.column_names[0], table.column_names[1]


def numbers(table: pa.Table, name: str, where: Where = by_row) -> DoubleArray:
    """A column as float64; text is parsed, and what is no number is named with its place."""
    column = table.column(name)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"^\+", "")
    try:
        values: AnyArray = column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row = next(i for i, value in enumerate(column.to_pylist()) if not _is_number(value))
        raise InputError(f"column {name!r} must hold numbers; {where(row)} holds {column[row].as_py()!r}") from None
    return values.astype(np.float64)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str) or (bool(value.strip()) and "_" not in value)


def _named(table: pa.Table, names: tuple[str, ...]) -> str | None:
    lower = {name.lower(): name for name in table.column_names}
    return next((lower[name] for name in names if name in lower), None)


def _check_column(table: pa.Table, name: str) -> None:
    if name not in table.column_names:
        raise InputError(f"there is no column {name!r}; the columns are {table.column_names}")


def _notes(table: pa.Table, named: bool, ids: list[str], **roles: str | None) -> tuple[str, ...]:
    """What each column was taken for, where that was a choice."""
    if not named:
        return ("no header line",)
    parts = [f"ids from {ids[0]!r} and {ids[1]!r}"]
    parts += [f"{role} from {column!r}" for role, column in roles.items() if column]
    used = {*ids, *roles.values()}
    ignored = [repr(name) for name in table.column_names if name not in used]
    if ignored:
        parts.append(f"ignored {', '.join(ignored)}")
    return (", ".join(parts),)
