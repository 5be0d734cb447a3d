"""Node ids: any hashable goes in, the same comes out.

Ids are kept in one of three forms, chosen by what was given: whole numbers (NumPy int64, or just a count when they are
0..n-1), text (an Arrow string array), or arbitrary hashables (a Python list). The first two never meet a Python loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contrastive_fuse.errors import InputError, first_few
from contrastive_fuse.types import AnyArray, LongArray

Kind = Literal["number", "text", "object"]

# A whole number as Python prints it: no leading zero, no plus sign, at most 18 digits (surely fits int64).
CANONICAL_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"


class Column:
    """One column of node ids, brought into the simplest of the three forms."""

    def __init__(self, kind: Kind, values: Any) -> None:
        self.kind = kind
        self.values = values

    @classmethod
    def of(cls, values: Any) -> Column:
        """Classify a NumPy / pandas / Polars / Arrow column or any sequence of hashables."""
        if isinstance(values, Column):
            return values
        if not isinstance(values, Iterable) or getattr(values, "ndim", 1) != 1:
            raise InputError(f"node ids must be one column or sequence; got {getattr(values, 'shape', values)!r}")
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return cls._numbers(values)
        if isinstance(values, np.ndarray) and values.dtype.kind == "U":
            return cls("text", pa.array(values.astype(object), type=pa.string()))
        if not _is_arrow_like(values):
            values = list(values)
            if any(isinstance(value, bool | np.bool_) for value in values):
                return cls("object", values)  # Arrow would keep them apart from the numbers they equal
        try:
            array = _to_arrow(values)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, OverflowError):
            return cls("object", [_plain(value) for value in values])
        if array.null_count:
            row = int(np.flatnonzero(pc.is_null(array).to_numpy(zero_copy_only=False))[0])
            raise InputError(f"row {row} has no node id; every row needs one")
        if pa.types.is_integer(array.type):
            return cls._numbers(array.to_numpy(zero_copy_only=False))
        if pa.types.is_string(array.type):
            return cls("text", array)
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return cls("object", array.to_pylist())
        return cls("object", [_plain(value) for value in values])

    @classmethod
    def _numbers(cls, values: AnyArray) -> Column:
        if values.dtype == np.uint64 and values.max(initial=0) > np.iinfo(np.int64).max:
            return cls("object", values.tolist())  # 64-bit hashes as ids: too large for int64
        return cls("number", values)

    def __len__(self) -> int:
        return len(self.values)

    def to_list(self) -> list[Hashable]:
        if self.kind == "number":
            return cast("list[Hashable]", self.values.tolist())
        return cast("list[Hashable]", self.values.to_pylist() if self.kind == "text" else self.values)

    def take(self, rows: AnyArray) -> Column:
        if self.kind == "object":
            return Column("object", [self.values[row] for row in rows])
        if self.kind == "text":
            return Column("text", self.values.take(pa.array(rows)))
        return Column("number", self.values[rows])


def _is_arrow_like(values: object) -> bool:
    return (
        hasattr(values, "__arrow_array__")
        or hasattr(values, "__arrow_c_stream__")
        or isinstance(values, pa.Array | pa.ChunkedArray)
    )


def _to_arrow(values: Any) -> pa.Array:
    """One contiguous Arrow array; dictionary and large-string types are unfolded."""
    if hasattr(values, "__arrow_c_stream__") and not isinstance(values, pa.ChunkedArray):
        values = pa.chunked_array(values)  # Polars, pandas 3
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class NodeIds:
    """The nodes' ids in row order, and the way back from an id to its row.

    Parameters
    ----------
    values : int or sequence of hashables
        A count stands for the ids 0..n-1. Ids must differ from each other.
    """

    def __init__(self, values: Any) -> None:
        self._column: Column | None = None
        self.kind: Kind = "number"
        if isinstance(values, int | np.integer):
            self._size = int(values)
            return
        column = Column.of(values)
        self._size, self.kind = len(column), column.kind
        if self.kind == "number":
            column = Column("number", np.ascontiguousarray(column.values, dtype=np.int64))
            if np.array_equal(column.values, np.arange(self._size)):
                return  # the count says it all
        self._column = column
        self._refuse_repeats()

    @property
    def is_range(self) -> bool:
        """Whether the ids are just 0..n-1."""
        return self._column is None

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: int) -> Hashable:
        if not -self._size <= row < self._size:
            raise IndexError(row)
        row = int(row) % self._size
        if self._column is None:
            return row
        value = self._column.values[row]
        return cast(Hashable, value.as_py() if self.kind == "text" else _plain(value))

    def __iter__(self) -> Iterator[Hashable]:
        return iter(range(self._size)) if self._column is None else iter(self._column.to_list())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeIds) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NodeIds({first_few(self, len(self), show=3)})"

    def column(self) -> Column:
        """The ids as a `Column` (0..n-1 written out)."""
        return Column("number", np.arange(self._size)) if self._column is None else self._column

    def take(self, rows: AnyArray) -> NodeIds:
        """The ids of the given rows, none of them twice."""
        taken = NodeIds.__new__(NodeIds)
        taken._column, taken._size, taken.kind = self.column().take(rows), len(rows), self.kind
        return taken

    def to_numpy(self) -> AnyArray:
        """The ids as an array: int64, or object (text and other hashables)."""
        column = self.column()
        if column.kind == "number":
            return cast(AnyArray, column.values)
        array = np.empty(len(self), dtype=object)
        array[:] = column.to_list()
        return array

    def rows(self, names: Any) -> LongArray:
        """Row of each name, -1 where there is no such node.

        Text that spells a whole number finds the node with that number and the other way round, because files of
        different formats often disagree on the type of the same id.
        """
        column = Column.of(names)
        if self.kind == "object" or column.kind == "object":
            look_up = self._by_value
            return np.fromiter((_get(look_up, x) for x in column.to_list()), np.int64, len(column))
        if self._column is None:
            numbers = _parse_integers(column.values) if column.kind == "text" else np.asarray(column.values)
            inside = (numbers >= 0) & (numbers < self._size)
            return np.where(inside, numbers, -1).astype(np.int64)
        wanted, there = pa.array(column.values), pa.array(self._column.values)
        if column.kind != self.kind:
            wanted, there = wanted.cast(pa.string()), there.cast(pa.string())
        found = pc.index_in(wanted, value_set=there).fill_null(-1)
        return cast(LongArray, found.to_numpy(zero_copy_only=False).astype(np.int64))

    @cached_property
    def _by_value(self) -> dict[Hashable, int]:
        return {value: row for row, value in enumerate(self)}

    def _refuse_repeats(self) -> None:
        assert self._column is not None
        if self.kind == "object":
            unhashable = [x for x in self._column.values if not _hashable(x)]
            if unhashable:
                raise InputError(f"node ids must be hashable; got {first_few(unhashable, len(unhashable))}")
            distinct = len(set(self._column.values))
        else:
            distinct = len(pa.array(self._column.values).unique())
        if distinct != self._size:
            raise InputError(f"node ids must differ; {self._size - distinct:,} of {self._size:,} are repeats")


def _get(look_up: dict[Hashable, int], name: Any) -> int:
    if not _hashable(name):
        return -1
    row = look_up.get(name, -1)
    if row < 0 and isinstance(name, str) and name.removeprefix("-").isdecimal() and str(int(name)) == name:
        return look_up.get(int(name), -1)
    if row < 0 and isinstance(name, int) and not isinstance(name, bool):
        return look_up.get(str(name), -1)
    return row


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _parse_integers(text: pa.Array) -> LongArray:
    """The numbers that texts spell, -1 where they spell none."""
    is_integer = pc.match_substring_regex(text, CANONICAL_INTEGER)
    numbers = pc.if_else(is_integer, text, "-1").cast(pa.int64())
    return cast(LongArray, numbers.to_numpy(zero_copy_only=False))


def factorize(*columns: Any) -> tuple[NodeIds, list[LongArray]]:
    """Number the distinct ids of several columns together.

    Whole numbers (and text that spells nothing else) come in increasing order, other ids in order of first
    appearance.

    Returns
    -------
    ids : NodeIds
    codes : one int64 array a column, each entry the row of its id in ``ids``
    """
    parts = [Column.of(column) for column in columns]
    lengths = [len(part) for part in parts]
    if any(part.kind == "object" for part in parts) or len({part.kind for part in parts}) > 1:
        ids, codes = _factorize_objects([part.to_list() for part in parts])
    else:
        ids, codes = _factorize_arrow(parts)
    return ids, np.split(codes, np.cumsum(lengths)[:-1])


def _factorize_objects(parts: list[list[Hashable]]) -> tuple[NodeIds, LongArray]:
    rows: dict[Hashable, int] = {}
    try:
        codes = [rows.setdefault(value, len(rows)) for part in parts for value in part]
    except TypeError as error:
        raise InputError(f"node ids must be hashable: {error}") from None
    return NodeIds(list(rows)), np.array(codes, dtype=np.int64)


def _factorize_arrow(parts: list[Column]) -> tuple[NodeIds, LongArray]:
    arrays = [pa.array(part.values) for part in parts]
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.int64()) for array in arrays]
    encoded = pa.chunked_array(arrays).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # an empty input has no chunk to combine
        encoded = pa.concat_arrays(encoded.chunks)
    encoded = encoded.dictionary_encode()
    distinct = encoded.dictionary
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    numbers = None
    if pa.types.is_integer(distinct.type):
        numbers = distinct.to_numpy(zero_copy_only=False)
    elif pc.all(pc.match_substring_regex(distinct, CANONICAL_INTEGER)).as_py():
        numbers = distinct.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if numbers is None:
        return NodeIds(distinct), codes.astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return NodeIds(distinct.take(pa.array(order))), position[codes]
