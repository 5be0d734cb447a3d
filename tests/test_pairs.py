import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrastive_fuse import InputError, SignedPairs
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.pairs import PairReport


def as_dict(pairs):
    """Pairs as {frozenset of ids: (sign, weight)}."""
    weights = [None] * len(pairs) if pairs.weight is None else pairs.weight.tolist()
    names = pairs.pairs.tolist()
    return {frozenset(pair): (sign, w) for pair, sign, w in zip(names, pairs.y.tolist(), weights, strict=True)}


class TestFolding:
    def test_order_within_a_pair_is_dropped(self):
        pairs = SignedPairs([("a", "b"), ("b", "a"), ("b", "c")], [1, 1, -1])
        assert as_dict(pairs) == {frozenset("ab"): (1, None), frozenset("bc"): (-1, None)}

    def test_the_majority_of_contradicting_rows_wins(self):
        pairs = SignedPairs([(1, 2), (2, 1), (1, 2)], [1, -1, -1])
        assert as_dict(pairs) == {frozenset((1, 2)): (-1, None)}

    def test_majority_is_by_weight_not_by_number(self):
        pairs = SignedPairs([(1, 2), (2, 1), (1, 2)], [1, -1, -1], [5, 1, 1])
        assert as_dict(pairs) == {frozenset((1, 2)): (1, 3)}

    def test_weights_of_the_same_sign_add_up(self):
        assert as_dict(SignedPairs([(1, 2), (2, 1)], [-1, -1], [0.5, 2])) == {frozenset((1, 2)): (-1, 2.5)}

    @pytest.mark.parametrize("weight", [None, [2.0, 2.0, 1.0]])
    def test_ties_are_dropped(self, weight):
        pairs = SignedPairs([(1, 2), (2, 1), (3, 4)], [1, -1, 1], weight)
        assert set(as_dict(pairs)) == {frozenset((3, 4))}

    def test_self_pairs_are_left_out(self):
        assert len(SignedPairs([("a", "a"), ("a", "b")], [-1, 1])) == 1

    def test_everything_is_counted(self):
        rows = [(1, 2), (2, 1), (3, 4), (4, 3), (4, 3), (5, 5), (6, 7), (8, 9)]
        pairs = SignedPairs(rows, [1, -1, 1, 1, -1, 1, -1, 1])
        assert pairs.report == PairReport(
            rows_read=8,
            n_alike=2,
            n_unlike=1,
            self_pairs_left_out=1,
            repeats_folded=3,
            contradictions=2,
            ties_dropped=1,
        )

    def test_lines_name_what_was_done(self):
        report = SignedPairs([(1, 2), (2, 1), (3, 3), (4, 5)], [1, -1, 1, 1]).report
        text = " ".join(report.lines())
        assert "1 alike and 0 unlike pairs" in text
        assert "1 row repeated" in text
        assert "1 pair given with both signs" in text
        assert "1 tie dropped" in text
        assert "1 pair of a node with itself" in text

    def test_report_survives_a_dict(self):
        report = SignedPairs([(1, 2)], [1]).report
        assert PairReport.from_dict(report.to_dict()) == report

    def test_conflicts_may_be_an_error(self):
        with pytest.raises(InputError, match=r"1 pair given with both signs: \('a', 'b'\)"):
            SignedPairs([("a", "b"), ("b", "a")], [1, -1], conflicts="error")

    def test_agreeing_repeats_are_no_conflict(self):
        assert len(SignedPairs([("a", "b"), ("b", "a")], [1, 1], conflicts="error")) == 1

    def test_from_columns_is_the_same(self):
        pairs = SignedPairs.from_columns(["a", "b", "b"], ["b", "a", "c"], [1, 1, -1], [1, 2, 3])
        assert as_dict(pairs) == {frozenset("ab"): (1, 3), frozenset("bc"): (-1, 3)}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([-1, 1]), st.integers(1, 4)), max_size=40)
)
def test_folding_equals_plain_counting(rows):
    net = {}
    for a, b, sign, weight in rows:
        if a != b:
            net[frozenset((a, b))] = net.get(frozenset((a, b)), 0) + sign * weight
    expected = {pair: (1 if total > 0 else -1, abs(total)) for pair, total in net.items() if total}
    pairs = SignedPairs([row[:2] for row in rows], [row[2] for row in rows], [row[3] for row in rows])
    assert as_dict(pairs) == expected
    report = pairs.report
    assert report.rows_read == len(pairs) + report.self_pairs_left_out + report.repeats_folded + report.ties_dropped


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "b"), ("b", "c")],
        (["a", "b"], ["b", "c"]),
        np.array([["a", "b"], ["b", "c"]]),
        np.array([["a", "b"], ["b", "c"]], dtype=object),
        pd.DataFrame({"one": ["a", "b"], "two": ["b", "c"]}, index=[4, 9]),
        pl.DataFrame({"one": ["a", "b"], "two": ["b", "c"]}),
        pa.table({"one": ["a", "b"], "two": ["b", "c"]}),
    ],
    ids=["list", "tuple of lists", "text array", "object array", "pandas", "Polars", "Arrow"],
)
def test_every_container_of_pairs(pairs):
    assert as_dict(SignedPairs(pairs, [1, -1])) == {frozenset("ab"): (1, None), frozenset("bc"): (-1, None)}


def test_pandas_frames_of_tuples():
    frame = pd.DataFrame({"one": [(0, 1), "x"], "two": [(1, 1), 5]})
    assert list(as_dict(SignedPairs(frame, [1, 1]))) == [frozenset({(0, 1), (1, 1)}), frozenset({"x", 5})]


@pytest.mark.parametrize("y", [np.array([1], np.uint8), pd.Series([1.0]), pl.Series([1]), pa.array([1]), [1]])
def test_every_container_of_signs(y):
    assert SignedPairs([("a", "b")], y).y.tolist() == [1]


class TestRefusals:
    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (None, "pairs need y"),
            ([1], r"one sign for each of the 2 pairs; got shape \(1,\)"),
            ([0, 1], "0 and 1 are not read as unlike and alike: use 2"),
            ([1, 2], "1 entries are neither, the first 2 in row 1$"),
            ([np.nan, 1], "the first nan in row 0"),
            (["1", "-1"], "numbers -1"),
            ([True, False], "got bool values"),
        ],
    )
    def test_signs(self, y, message):
        with pytest.raises(InputError, match=message):
            SignedPairs([("a", "b"), ("c", "d")], y)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, 0], r"above 0; 1 are not, the first in row 1 \(0\)"),
            ([-1, 1], r"row 0 \(-1\)"),
            ([np.nan, 1], r"row 0 \(nan\)"),
            ([1], "one weight for each of the 2 pairs"),
            (["x", "y"], "must be numbers"),
        ],
    )
    def test_weights(self, weight, message):
        with pytest.raises(InputError, match=message):
            SignedPairs([("a", "b"), ("c", "d")], [1, 1], weight)

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            (["ab", "cd"], "row 0 is 'ab'"),
            ([("a", "b"), ("c",)], "row 1 is"),
            (np.zeros((2, 3)), r"shape \(n, 2\); got \(2, 3\)"),
            (pa.table({"a": [1]}), "two columns"),
            (pd.DataFrame({"a": [1]}), "two columns"),
        ],
    )
    def test_shapes(self, pairs, message):
        with pytest.raises(InputError, match=message):
            SignedPairs(pairs, [1, 1])

    def test_unknown_word_for_conflicts(self):
        with pytest.raises(InputError, match="conflicts must be one of"):
            SignedPairs([("a", "b")], [1], conflicts="newest")


class TestRowsIn:
    def test_rows_follow_the_graph(self):
        rows, _ = SignedPairs([("c", "a"), ("b", "c")], [1, -1], [2, 3]).rows_in(NodeIds(list("abc")))
        found = zip(rows.first.tolist(), rows.second.tolist(), rows.y.tolist(), rows.weight.tolist(), strict=True)
        assert {(frozenset((a, b)), sign, w) for a, b, sign, w in found} == {
            (frozenset((0, 2)), 1, 2),
            (frozenset((1, 2)), -1, 3),
        }

    def test_the_first_few_unknown_nodes_are_named_and_counted(self):
        pairs = SignedPairs([("a", f"x{i}") for i in range(8)], [1] * 8)
        with pytest.raises(InputError, match=r"8 pairs with 8 nodes .*: 'x0', .* 'x4' and 3 more\..*--unknown drop"):
            pairs.rows_in(NodeIds(["a", "b"]))

    def test_a_pair_of_two_unknown_nodes_counts_once(self):
        with pytest.raises(InputError, match="1 pair with 2 nodes"):
            SignedPairs([("x", "y")], [1]).rows_in(NodeIds(["a"]))

    def test_drop_keeps_the_rest_and_counts(self):
        pairs = SignedPairs([("a", "b"), ("a", "x"), ("b", "x")], [1, -1, -1])
        rows, report = pairs.rows_in(NodeIds(["a", "b"]), unknown="drop")
        assert rows.y.tolist() == [1]
        assert (report.n_alike, report.n_unlike, report.unknown_dropped) == (1, 0, 2)

    def test_unknown_word(self):
        with pytest.raises(InputError, match="unknown must be one of"):
            SignedPairs([("a", "b")], [1]).rows_in(NodeIds(["a", "b"]), unknown="ignore")

    @pytest.mark.parametrize(("names", "ids"), [(("12", "7"), [7, 12]), ((12, 7), ["7", "12"])])
    def test_numbers_find_their_text(self, names, ids):
        rows, _ = SignedPairs([names], [1]).rows_in(NodeIds(ids))
        assert {int(rows.first[0]), int(rows.second[0])} == {0, 1}

    def test_leading_zeros_are_other_nodes(self):
        with pytest.raises(InputError, match="'012'"):
            SignedPairs([("012", "7")], [1]).rows_in(NodeIds([7, 12]))


@pytest.mark.parametrize("chosen", [[0, 2], [True, False, True]], ids=["positions", "mask"])
def test_subset(chosen):
    pairs = SignedPairs([("a", "b"), ("c", "d"), ("e", "f")], [1, -1, 1], [1, 2, 3])
    assert as_dict(pairs.subset(np.array(chosen))) == {frozenset("ab"): (1, 1), frozenset("ef"): (1, 3)}


def test_no_pairs_at_all():
    assert len(SignedPairs([], [])) == 0


def test_repr_tells_the_signs():
    assert repr(SignedPairs([("a", "b"), ("b", "c")], [1, -1])) == "SignedPairs(1 alike, 1 unlike)"
