"""The fast kernel: product, rank-one term, projection and all sums in one pass over the rows, on every core.

A row is summed in vector registers: its width is a compile-time constant (one compiled function a width, cached on
disk) and the inner loop is emitted as vector instructions, because left to itself the compiler keeps the running sum in
memory for fear that it overlaps the input. The rows of neighbours to come are prefetched: they lie anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic

from contrastive_fuse.kernels.contract import VECTOR, Step, padded_width
from contrastive_fuse.operator import Operator
from contrastive_fuse.parallel import chunks_by_work, map_chunks, thread_count
from contrastive_fuse.projection import UNIT_ROWS, Projection
from contrastive_fuse.types import FloatArray, LongArray

PREFETCH_BYTES = 16384  # how far ahead neighbours are fetched: a third of a first-level cache
FAST_MATH = {"contract", "reassoc", "nsz", "arcp"}  # sums may be regrouped; infinities and NaN keep their meaning


def row_chunks(operator: Operator, width: int) -> LongArray:
    """Chunks of about a million multiplications, and few enough rows that single-precision sums stay exact."""
    return chunks_by_work(operator.indptr, entries_per_chunk=max(256, (1 << 21) // width), rows_per_chunk=8192)


def step(
    operator: Operator,
    state: FloatArray,
    out: FloatArray,
    null: FloatArray,
    *,
    projection: Projection,
    tables: FloatArray | None = None,
    n_jobs: int | None = None,
) -> Step:
    """One iteration. Rows of ``state``, ``out`` and ``tables`` must be `padded_width` wide and C-contiguous."""
    fused = projection is UNIT_ROWS
    totals, sums = _run(operator, state, out, null, state if tables is None else tables, fused, n_jobs)
    squared_change, gain = totals
    if not fused:
        squared_change, sums = _project(operator, projection, state, out, tables is None)
    new_null = sums if tables is None else np.empty(0, dtype=np.float32)
    return Step(float(np.sqrt(max(squared_change, 0.0) / max(1, len(out)))), gain, new_null)


def combine(
    operator: Operator, state: FloatArray, tables: FloatArray, out: FloatArray, *, n_jobs: int | None = None
) -> None:
    """``M T + c S`` without rank-one term and projection, rows laid out as for `step`."""
    _run(operator, state, out, np.zeros(state.shape[1], dtype=np.float32), tables, False, n_jobs)


def _run(
    operator: Operator,
    state: FloatArray,
    out: FloatArray,
    null: FloatArray,
    tables: FloatArray,
    fused: bool,
    n_jobs: int | None,
) -> tuple[tuple[float, float], FloatArray]:
    """The compiled pass on every core: sums of squared changes and gain, and ``v' T`` of the new rows."""
    width = state.shape[1]
    if width != padded_width(width):
        raise ValueError(f"rows must be padded to {padded_width(width)} columns; got {width}")
    kernel = _compile(width, fused)
    bounds = row_chunks(operator, width)
    sums = np.zeros((len(bounds) - 1, width), dtype=np.float32)

    def work(chunk: int) -> tuple[float, float]:
        totals: tuple[float, float] = kernel(
            operator.indptr, operator.indices, operator.values, operator.u, operator.v[: operator.n_rows],
            np.float32(operator.shift), null, tables, state, out, sums[chunk], bounds[chunk], bounds[chunk + 1],
        )  # fmt: skip
        return totals

    totals = np.array(map_chunks(work, len(bounds) - 1, thread_count(n_jobs))).reshape(-1, 2)
    squared_change, gain = totals.sum(axis=0)
    return (float(squared_change), float(gain)), sums.sum(axis=0, dtype=np.float64).astype(np.float32)


def _project(
    operator: Operator, projection: Projection, state: FloatArray, out: FloatArray, sum_rows: bool
) -> tuple[float, FloatArray]:
    """Any projection but unit rows, in NumPy after the compiled product."""
    out[:] = projection.apply(out, state)
    squared_change = float(np.sum((out - state) ** 2, dtype=np.float64))
    if not sum_rows:
        return squared_change, np.empty(0, dtype=np.float32)
    return squared_change, (operator.v.astype(np.float64) @ out).astype(np.float32)


@cache
def _compile(width: int, fused: bool) -> Callable[..., tuple[float, float]]:
    ahead = int(np.clip(PREFETCH_BYTES // (4 * width), 8, 32))
    lines = -(-width // VECTOR) if width > 1 else 0  # a table of single numbers lies in the cache anyway

    @njit(nogil=True, cache=True, fastmath=FAST_MATH, error_model="numpy")
    def kernel(indptr, indices, values, u, v, shift, null, tables, state, out, row_sum, start, stop):  # type: ignore[no-untyped-def]
        pointer = local_row(width)  # type: ignore[call-arg, var-annotated]
        total = carray(pointer, (width,))
        own_sum = np.zeros(width, np.float32)  # not row_sum: threads would fight for its cache line
        squared_change = 0.0
        gain = 0.0
        last = np.uint64(indptr[stop] - 1)
        far = np.uint64(ahead)
        for i in range(start, stop):
            own = state[i]
            for x in range(width):
                total[x] = -u[i] * null[x]
            for entry in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):  # unsigned: never counted from the end
                coming = indices[min(entry + far, last)]
                for line in range(lines):
                    prefetch(tables, coming, line * VECTOR)
                add_scaled_row(pointer, values[entry], tables, indices[entry], width)
            along = np.float32(0)
            norm = np.float32(0)
            for x in range(width):
                along += total[x] * own[x]
                total[x] += shift * own[x]
                norm += total[x] * total[x]
            gain += along
            if fused:
                scale = np.float32(1) / np.sqrt(norm) if norm > 0 else np.float32(0)
                keep = np.float32(1) if norm == 0 else np.float32(0)
                moved = np.float32(0)
                for x in range(width):
                    total[x] = scale * total[x] + keep * own[x]
                    moved += (total[x] - own[x]) * (total[x] - own[x])
                squared_change += moved
            for x in range(width):
                out[i, x] = total[x]
                own_sum[x] += v[i] * total[x]
        for x in range(width):
            row_sum[x] = own_sum[x]
        return squared_change, gain

    return kernel


# Vector instructions that Numba has no word for. They stay in this file: its change time is what tells Numba that the
# cached kernels are out of date.


@intrinsic(prefer_literal=True)
def local_row(typing_context, width):  # type: ignore[no-untyped-def]
    """A row of floats on the stack, which nothing else can overlap."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with builder.goto_entry_block():
            space = builder.alloca(ir.ArrayType(ir.FloatType(), width.literal_value))
            space.align = 64
        return builder.bitcast(space, ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(width), code


@intrinsic(prefer_literal=True)
def add_scaled_row(typing_context, total, scale, table, row, width):  # type: ignore[no-untyped-def]
    """``total[:] += scale * table[row]`` in vector registers."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = min(VECTOR, width.literal_value)
        vector = ir.VectorType(ir.FloatType(), lanes)
        index = ir.IntType(32)
        undefined = ir.Constant(vector, ir.Undefined)
        source = _element(context, builder, signature.args[2], arguments[2], arguments[3], 0)
        factor = builder.insert_element(undefined, arguments[1], ir.Constant(index, 0))
        factor = builder.shuffle_vector(factor, undefined, ir.Constant(ir.VectorType(index, lanes), [0] * lanes))
        for start in range(0, width.literal_value, lanes):
            offset = ir.Constant(ir.IntType(64), start)
            place = builder.bitcast(builder.gep(arguments[0], [offset]), vector.as_pointer())
            given = builder.bitcast(builder.gep(source, [offset]), vector.as_pointer())
            product = builder.fmul(factor, builder.load(given, align=4), flags=("contract",))
            together = builder.fadd(builder.load(place, align=4), product, flags=("contract",))
            builder.store(together, place, align=4)
        return context.get_dummy_value()

    return types.void(total, scale, table, row, width), code


@intrinsic
def prefetch(typing_context, table, row, column):  # type: ignore[no-untyped-def]
    """Ask for the cache line of ``table[row, column]``, which will be read soon."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = _element(context, builder, signature.args[0], arguments[0], arguments[1], arguments[2])
        function_type = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        read, keep_close, data = (ir.Constant(word, number) for number in (0, 3, 1))
        builder.call(function, [builder.bitcast(place, byte), read, keep_close, data])
        return context.get_dummy_value()

    return types.void(table, row, column), code


def _element(context: Any, builder: Any, array_type: Any, array: Any, row: Any, column: Any) -> Any:
    """Pointer to one element of a two-dimensional array; rows and columns are known not to be negative."""
    wide = ir.IntType(64)
    row = builder.sext(row, wide) if row.type.width < 64 else row
    column = ir.Constant(wide, column) if isinstance(column, int) else column
    fields = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, fields, [row, column], wraparound=False)
