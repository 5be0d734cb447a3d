import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrastive_fuse import InputError
from contrastive_fuse.ids import Column, NodeIds, factorize

SAME_OUT_AS_IN = {
    "count": list(range(4)),
    "whole numbers": [10, -3, 7, 2**62],
    "64-bit hashes": [2**64 - 1, 2**63, 5],
    "huge integers": [10**30, -(10**25)],
    "leading zeros": ["007", "7", "07"],
    "words that mean missing elsewhere": ["NA", "nan", "null", "None", ""],
    "unicode": ["日本", "é", "a b"],
    "tuples": [(0, 1), (1, (2, "x"))],
    "mixed": ["a", 1, (2, 3), None, 2.5, frozenset({4})],
    "floats": [0.5, 1.5],
    "booleans": [True, False],
    "bytes": [b"a", b"b"],
}


@pytest.mark.parametrize("values", SAME_OUT_AS_IN.values(), ids=SAME_OUT_AS_IN.keys())
def test_ids_come_out_as_they_went_in(values):
    out = list(NodeIds(values))
    assert out == values
    assert [type(value) for value in out] == [type(value) for value in values]


@pytest.mark.parametrize("values", SAME_OUT_AS_IN.values(), ids=SAME_OUT_AS_IN.keys())
def test_every_id_finds_its_own_row(values):
    np.testing.assert_array_equal(NodeIds(values).rows(values), np.arange(len(values)))


@pytest.mark.parametrize("values", SAME_OUT_AS_IN.values(), ids=SAME_OUT_AS_IN.keys())
def test_rows_give_their_id(values):
    ids = NodeIds(values)
    assert [ids[row] for row in range(len(ids))] == values
    assert ids[-1] == values[-1]


@pytest.mark.parametrize(
    "column",
    [
        np.array(["x", "y"]),
        np.array(["x", "y"], dtype=object),
        pd.Series(["x", "y"], index=[5, 2]),
        pd.Series(["x", "y"]).astype("category"),
        pl.Series(["x", "y"]),
        pl.Series(["x", "y"], dtype=pl.Categorical),
        pa.array(["x", "y"]),
        pa.array(["x", "y"], type=pa.large_string()),
        pa.chunked_array([["x"], ["y"]]),
        ("x", "y"),
        (name for name in "xy"),
    ],
    ids=lambda column: type(column).__module__ + "." + type(column).__name__,
)
def test_text_columns_of_every_library(column):
    assert list(NodeIds(column)) == ["x", "y"]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_of_every_width(dtype):
    ids = NodeIds(np.array([9, 4, 6], dtype=dtype))
    assert list(ids) == [9, 4, 6]
    np.testing.assert_array_equal(ids.rows(np.array([6, 5, 9], dtype=dtype)), [2, -1, 0])


def test_tuples_of_a_pandas_column_stay_tuples():
    assert list(NodeIds(pd.Series([(0, 1), (1, 2)]))) == [(0, 1), (1, 2)]


def test_a_permutation_of_the_range_is_not_taken_for_the_range():
    assert NodeIds([0, 1, 2]).is_range
    assert not NodeIds([1, 0, 2]).is_range


@pytest.mark.parametrize(
    ("ids", "names", "rows"),
    [
        ([12, 15], ["12", "15", "13"], [0, 1, -1]),
        ([12, 15], ["012", "+12", " 12", "12.0", "", "x"], [-1] * 6),
        (["12", "012"], [12, 13], [0, -1]),
        (3, ["0", "2", "3", "-1", "02", "99999999999999999999"], [0, 2, -1, -1, -1, -1]),
        ([1234567890123456789, 3], ["1234567890123456789"], [0]),
        ([2**64 - 1, 3], ["18446744073709551615", "3", "03"], [0, 1, -1]),
        (["18446744073709551615"], np.array([2**64 - 1], dtype=np.uint64), [0]),
        ([-(2**63), 4], ["4", "x", "-9223372036854775808"], [1, -1, 0]),
        ([(1, 2), "a", 3], ["3", "a", (1, 2), [1, 2]], [2, 1, 0, -1]),
        ([5, 6], np.array([6.0, 5.5]), [1, -1]),
        ([1, "1"], ["1", 1], [1, 0]),
    ],
)
def test_numbers_and_the_text_that_spells_them_find_each_other(ids, names, rows):
    np.testing.assert_array_equal(NodeIds(ids).rows(names), rows)


@pytest.mark.parametrize("values", [["a", "b", "a"], [1, 1], [(1,), (1,)], [True, 1]])
def test_repeated_ids_are_refused(values):
    with pytest.raises(InputError, match=r"must differ; 1 of"):
        NodeIds(values)


@pytest.mark.parametrize("values", [["a", None], pd.array([5, None], dtype="Int64"), pl.Series([1, None])])
def test_a_missing_id_is_refused_with_its_row(values):
    with pytest.raises(InputError, match="row 1 has no node id"):
        NodeIds(values)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}]])
def test_unhashable_ids_are_refused(values):
    with pytest.raises(InputError, match="must be hashable"):
        NodeIds(values)


@pytest.mark.parametrize("values", [np.zeros((2, 2), dtype=int), np.array(3), 3.0, None])
def test_what_is_no_column_is_refused(values):
    with pytest.raises(InputError, match="one column or sequence"):
        NodeIds(values)


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_outside_is_an_index_error(row):
    with pytest.raises(IndexError):
        NodeIds(3)[row]


def test_equality_compares_the_ids():
    assert NodeIds(3) == NodeIds([0, 1, 2])
    assert NodeIds(3) != NodeIds(["0", "1", "2"])
    assert NodeIds(3) != NodeIds(2)


def test_to_numpy_keeps_tuples_whole():
    array = NodeIds([(0, 1), (2, 3)]).to_numpy()
    assert array.shape == (2,)
    assert array[1] == (2, 3)


@pytest.mark.parametrize("values", [[1, 2, 3], ["a", "b", "c"], [(1,), "b", 3]])
def test_take_keeps_kind_and_values(values):
    column = Column.of(values)
    taken = column.take(np.array([2, 0, 2]))
    assert taken.kind == column.kind
    assert taken.to_list() == [values[2], values[0], values[2]]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([30, 10], [20, 10], [10, 20, 30]),
        (["10", "2"], ["2", "1"], ["1", "2", "10"]),
        (["10", "007"], ["2", "1"], ["10", "007", "2", "1"]),
        (["b", "a"], ["a", "c"], ["b", "a", "c"]),
        ([1, 2], ["2", "x"], [1, 2, "2", "x"]),
        (np.array([3, 1], np.int32), np.array([2, 3], np.uint64), [1, 2, 3]),
        (np.array([1], np.int64), np.array([2**63 + 5], np.uint64), [1, 2**63 + 5]),
        ([], [], []),
    ],
)
def test_factorize_order(left, right, expected):
    assert list(factorize(left, right)[0]) == expected


hashables = st.one_of(
    st.integers(),
    st.text(max_size=4),
    st.tuples(st.integers(0, 3), st.text(max_size=2)),
)


@settings(deadline=None)
@given(st.lists(st.tuples(hashables, hashables), max_size=30))
def test_factorize_codes_lead_back_to_the_values(pairs):
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    ids, (first, second) = factorize(left, right)
    assert [ids[row] for row in first] == left
    assert [ids[row] for row in second] == right
    assert len(set(ids)) == len(ids) == len({*left, *right})


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**64 - 1), unique=True, max_size=20), st.integers(-(2**63), 2**64 - 1))
def test_numbers_are_found_as_numbers_and_as_text(values, other):
    expected = [*range(len(values)), values.index(other) if other in values else -1]
    asked = [*values, other]
    assert NodeIds(values).rows(asked).tolist() == expected
    assert NodeIds(values).rows([str(value) for value in asked]).tolist() == expected
    assert NodeIds([str(value) for value in values]).rows(asked).tolist() == expected
