"""Signed pairs: which nodes are known to be alike (+1) or unlike (-1). The only place where pairs are validated.

The rule for untidy input, counted in `SignedPairs.report`:

- a pair has no order: (a, b) and (b, a) are the same pair, and a pair given several times counts once;
- where a pair is given with both signs, the side with more weight wins, and a tie drops the pair;
- given weights are evidence: those for the winning sign add up, those against are taken off. Without weights every
  pair weighs 1;
- a node paired with itself says nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from contrastive_fuse.errors import InputError, check_choice, counted, first_few
from contrastive_fuse.ids import Column, NodeIds, factorize
from contrastive_fuse.sparse import links_sorted
from contrastive_fuse.types import AnyArray, BoolArray, DoubleArray, FloatArray, IntArray, LongArray, SignArray

Unknown = Literal["error", "drop"]


@dataclass(frozen=True)
class PairReport:
    """What was read, and what was done to it."""

    rows_read: int
    n_alike: int
    n_unlike: int
    self_pairs_left_out: int
    repeats_folded: int
    contradictions: int
    ties_dropped: int
    unknown_dropped: int = 0
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The report as sentences for a person."""
        text = [f"{self.n_alike:,} alike and {counted(self.n_unlike, 'unlike pair')}"]
        if self.repeats_folded:
            text.append(f"{counted(self.repeats_folded, 'row')} repeated a pair; it counts once")
        if self.contradictions:
            text.append(
                f"{counted(self.contradictions, 'pair')} given with both signs: the majority by weight was taken,"
                f" {counted(self.ties_dropped, 'tie')} dropped"
            )
        if self.self_pairs_left_out:
            text.append(f"{counted(self.self_pairs_left_out, 'pair')} of a node with itself left out")
        if self.unknown_dropped:
            text.append(dropped_line(self.unknown_dropped))
        return [*text, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> PairReport:
        return cls(**{**stored, "notes": tuple(stored["notes"])})


class PairRows(NamedTuple):
    """Pairs as rows of a graph: what objectives and heads compute with."""

    first: IntArray
    second: IntArray
    y: SignArray
    weight: FloatArray | None

    def subset(self, chosen: AnyArray) -> PairRows:
        """The pairs at the given positions (or where a mask is true)."""
        weight = None if self.weight is None else self.weight[chosen]
        return PairRows(self.first[chosen], self.second[chosen], self.y[chosen], weight)

    def renumbered(self, position: IntArray) -> PairRows:
        """The same pairs where row r of the graph has become row ``position[r]``."""
        return self._replace(first=position[self.first], second=position[self.second])

    @property
    def signed_weight(self) -> SignArray | FloatArray:
        return self.y if self.weight is None else self.y * self.weight

    def alike_shares(self, n_nodes: int, prior: float = 1.0) -> DoubleArray:
        """Each node's share of alike pairs, drawn to the overall one by so many imagined pairs, (n_nodes,)."""
        weight = np.ones(len(self.y)) if self.weight is None else self.weight.astype(np.float64)
        total, alike = (
            np.bincount(self.first, given, n_nodes) + np.bincount(self.second, given, n_nodes)
            for given in (weight, weight * (self.y > 0))
        )
        overall = alike.sum() / max(total.sum(), 1e-12)
        known = total + prior > 0
        return np.asarray(np.where(known, (alike + prior * overall) / np.where(known, total + prior, 1), overall))

    def arrays(self) -> dict[str, AnyArray]:
        """As a model on disk holds them."""
        ends = np.stack([self.first, self.second], axis=1).astype(np.int32)
        return {"pairs": ends, "signed_weights": self.signed_weight.astype(np.float32)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> PairRows:
        """From what `arrays` gave."""
        signed, weight = arrays["signed_weights"], np.abs(arrays["signed_weights"])
        first, second = (np.ascontiguousarray(column) for column in arrays["pairs"].T)
        return cls(first, second, np.sign(signed).astype(np.int8), None if (weight == 1).all() else weight)


class SignedPairs:
    """Pairs of node ids with a sign and, if given, a weight each.

    Parameters
    ----------
    pairs : (n, 2) array or sequence of pairs of node ids
    y : (n,) of -1 and +1
    weight : (n,) positive numbers, optional
    conflicts : {"majority", "error"}
        What to do with pairs that were given with both signs.

    Attributes
    ----------
    ids : NodeIds of the nodes that occur
    first, second : (n,) int64 rows into ``ids``
    y : (n,) int8
    weight : (n,) float32 or None
    report : PairReport
    """

    def __init__(
        self,
        pairs: Any,
        y: Any,
        weight: Any = None,
        *,
        conflicts: Literal["majority", "error"] = "majority",
    ) -> None:
        left, right = pair_columns(pairs)
        ids, (first, second) = factorize(left, right)
        self._settle(ids, first, second, check_signs(y, len(first)), weight, conflicts)

    @classmethod
    def from_columns(
        cls,
        left: Any,
        right: Any,
        y: Any,
        weight: Any = None,
        *,
        conflicts: Literal["majority", "error"] = "majority",
    ) -> SignedPairs:
        """Build from two columns of node ids instead of one (n, 2) array."""
        one, two = Column.of(left), Column.of(right)
        if len(one) != len(two):
            raise InputError(f"both columns of a pair must be equally long; got {len(one):,} and {len(two):,}")
        ids, (first, second) = factorize(one, two)
        pairs = cls.__new__(cls)
        pairs._settle(ids, first, second, check_signs(y, len(first)), weight, conflicts)
        return pairs

    @classmethod
    def of_rows(cls, ids: NodeIds, first: AnyArray, second: AnyArray, y: AnyArray, weight: Any = None) -> SignedPairs:
        """Build from rows of ``ids`` instead of the ids themselves."""
        pairs = cls.__new__(cls)
        first, second = first.astype(np.int64, copy=False), second.astype(np.int64, copy=False)
        pairs._settle(ids, first, second, check_signs(y, len(first)), weight, "majority")
        return pairs

    def _settle(
        self,
        ids: NodeIds,
        first: LongArray,
        second: LongArray,
        y: SignArray,
        weight: Any,
        conflicts: str,
    ) -> None:
        """Fold repeats, resolve contradictions, and keep count of both."""
        check_choice("conflicts", conflicts, ("majority", "error"))
        given = check_pair_weights(weight, len(first))
        apart = np.flatnonzero(first != second)
        low, high = np.minimum(first, second)[apart], np.maximum(first, second)[apart]
        keys, pair_of_row = np.unique(low * len(ids) + high, return_inverse=True)
        evidence = np.ones(len(apart)) if given is None else given[apart].astype(np.float64)
        signs = y[apart]
        votes = np.zeros((2, len(keys)))
        np.add.at(votes, ((signs < 0).astype(np.int64), pair_of_row), evidence)
        net = votes[0] - votes[1]
        contested = (votes[0] > 0) & (votes[1] > 0)
        if conflicts == "error" and contested.any():
            names = [(ids[key // len(ids)], ids[key % len(ids)]) for key in keys[contested][:5].tolist()]
            total = int(contested.sum())
            raise InputError(f"{counted(total, 'pair')} given with both signs: {first_few(names, total)}")
        kept = net != 0
        self.ids = ids
        self.first, self.second = keys[kept] // max(1, len(ids)), keys[kept] % max(1, len(ids))
        self.y: SignArray = np.sign(net[kept]).astype(np.int8)
        self.weight: FloatArray | None = None
        if given is not None:
            self.weight = np.abs(net[kept]).astype(np.float32)
        n_alike = int(np.count_nonzero(self.y > 0))
        self.report = PairReport(
            rows_read=len(first),
            n_alike=n_alike,
            n_unlike=len(self.y) - n_alike,
            self_pairs_left_out=len(first) - len(apart),
            repeats_folded=len(apart) - len(keys),
            contradictions=int(contested.sum()),
            ties_dropped=int(np.count_nonzero(~kept)),
        )

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"SignedPairs({self.report.n_alike:,} alike, {self.report.n_unlike:,} unlike)"

    @property
    def pairs(self) -> AnyArray:
        """The pairs as an (n, 2) array of node ids."""
        names = self.ids.to_numpy()
        return np.stack([names[self.first], names[self.second]], axis=1)

    def rows_in(self, ids: NodeIds, unknown: Unknown = "error") -> tuple[PairRows, PairReport]:
        """The pairs as rows of a graph with these ids, in the order of those rows.

        What is learned thus depends neither on the order in which pairs were given nor on the names of the nodes.

        Parameters
        ----------
        unknown : {"error", "drop"}
            What to do with pairs that name a node outside ``ids``.

        Returns
        -------
        rows : PairRows
        report : PairReport, with the dropped pairs counted
        """
        check_choice("unknown", unknown, ("error", "drop"))
        place = ids.rows(self.ids.column()).astype(np.int32)
        rows = PairRows(place[self.first], place[self.second], self.y, self.weight)
        turned = rows.first > rows.second
        rows.first[turned], rows.second[turned] = rows.second[turned], rows.first[turned]
        n_dropped = int(np.count_nonzero(rows.first < 0))
        if n_dropped and unknown == "error":
            raise_unknown(self.ids.column(), place < 0, n_dropped)
        if n_dropped or not links_sorted(rows.first, rows.second):
            keys = rows.first.astype(np.int64)
            keys *= max(1, len(ids))
            keys += rows.second  # below zero where a node is not in the graph
            inside = np.argsort(keys)[n_dropped:]
            del keys  # a quarter of the memory that is held here
            rows = rows.subset(inside)
        n_alike = int(np.count_nonzero(rows.y > 0))
        report = replace(self.report, n_alike=n_alike, n_unlike=len(rows.y) - n_alike, unknown_dropped=n_dropped)
        return rows, report

    def in_common(self, other: SignedPairs) -> int:
        """How many pairs are in both, in either order and with any sign; node by node as `NodeIds.rows` finds them."""
        rows, _ = other.rows_in(self.ids, "drop")
        n = max(1, len(self.ids))
        mine = np.minimum(self.first, self.second) * n + np.maximum(self.first, self.second)
        return int(np.isin(rows.first.astype(np.int64) * n + rows.second, mine).sum())

    def subset(self, chosen: AnyArray) -> SignedPairs:
        """The pairs at the given positions (or where a mask is true)."""
        weight = None if self.weight is None else self.weight[chosen]
        return self.of_rows(self.ids, self.first[chosen], self.second[chosen], self.y[chosen], weight)


def dropped_line(n_pairs: int) -> str:
    """How a report says that pairs were dropped for naming unknown nodes."""
    return f"{counted(n_pairs, 'pair')} with a node outside the graph dropped"


def raise_unknown(names: Column, missing: BoolArray, n_pairs: int) -> None:
    """Say which of the names no node has, the first few of them and how many."""
    few, total = names.take(np.flatnonzero(missing)[:5]).to_list(), int(np.count_nonzero(missing))
    raise InputError(
        f"{counted(n_pairs, 'pair')} with {counted(total, 'node')} not in the graph: {first_few(few, total)}."
        ' Add those nodes to the graph, or drop the pairs with unknown="drop" (--unknown drop)'
    )


def pair_columns(pairs: Any) -> tuple[Column, Column]:
    """The two columns of an (n, 2) array, a two-column table or a sequence of pairs."""
    if isinstance(pairs, SignedPairs):
        names = pairs.ids.column()
        return names.take(pairs.first), names.take(pairs.second)
    if hasattr(pairs, "iloc"):  # pandas, whose columns may hold any Python object
        if pairs.ndim != 2 or pairs.shape[1] < 2:
            raise InputError(f"a table of pairs needs two columns of node ids; got shape {pairs.shape}")
        return Column.of(pairs.iloc[:, 0]), Column.of(pairs.iloc[:, 1])
    if hasattr(pairs, "__arrow_c_stream__") or hasattr(pairs, "column_names"):
        import pyarrow as pa

        table = pa.table(pairs)
        if table.num_columns < 2:
            raise InputError(f"a table of pairs needs two columns of node ids; got {table.column_names}")
        return Column.of(table.column(0)), Column.of(table.column(1))
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"pairs must have shape (n, 2); got {pairs.shape}")
        if pairs.dtype.kind in "iu":
            return Column.of(pairs[:, 0]), Column.of(pairs[:, 1])
        return Column.of(pairs[:, 0].tolist()), Column.of(pairs[:, 1].tolist())
    rows = list(pairs)
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
            raise InputError(f"pairs must be a sequence of two node ids each; row {number} is {row!r}")
    return Column.of([row[0] for row in rows]), Column.of([row[1] for row in rows])


def check_signs(y: Any, n_pairs: int) -> SignArray:
    """``y`` as int8, each entry -1 or +1."""
    if y is None:
        raise InputError("pairs need y, one -1 or +1 for each pair")
    values = np.asarray(y)
    if values.shape != (n_pairs,):
        raise InputError(f"y must hold one sign for each of the {n_pairs:,} pairs; got shape {values.shape}")
    if values.dtype.kind not in "iuf":
        raise InputError(f"y must hold the numbers -1 (unlike) and +1 (alike); got {values.dtype} values")
    bad = np.flatnonzero((values != 1) & (values != -1))
    if len(bad):
        hint = " (0 and 1 are not read as unlike and alike: use 2 * y - 1)" if set(values[bad]) == {0} else ""
        raise InputError(
            f"y must hold -1 (unlike) and +1 (alike); {len(bad):,} entries are neither, the first {values[bad[0]]!s}"
            f" in row {bad[0]}{hint}"
        )
    return values.astype(np.int8)


def check_pair_weights(weight: Any, n_pairs: int) -> FloatArray | None:
    """``weight`` as float32, each entry above 0; None stays None."""
    if weight is None:
        return None
    try:
        values = np.asarray(weight, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"pair weights must be numbers: {error}") from None
    if values.shape != (n_pairs,):
        raise InputError(f"there must be one weight for each of the {n_pairs:,} pairs; got shape {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise InputError(
            f"pair weights must be finite and above 0; {len(bad):,} are not, the first in row {bad[0]}"
            f" ({values[bad[0]]:g})"
        )
    return values
