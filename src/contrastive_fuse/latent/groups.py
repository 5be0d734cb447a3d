"""Latent groups: which nodes are of one kind, inferred from pairs and edges together by mean field (docs/method.md).

Every node has one group. A pair within a group is given as alike with probability 1 - e, a pair across groups with
probability e; an edge speaks for one group by ``log L``, against what the null model expects of it. With posterior
rows q the bound on the evidence is

    F(Q)  =  1/2 tr Q' (log L (G - u v') + J Y) Q  +  sum q (log pi - log q)  +  what depends on e alone

with ``G = gamma D^-1/4 A D^-1/4``, Y the signed pairs and ``J = log((1 - e) / e)``. Its fixed-point iteration

    Q  <-  softmax( G (log L Q) + Y (J Q) - u (v' log L Q) + log pi ),   damped

is the operator of stage one with two stacked tables and simplex rows instead of unit rows; pi and e are set to their
optima before every step. A step that lowers F halves the damping.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

from contrastive_fuse.graph import Graph
from contrastive_fuse.kernels import get_combine
from contrastive_fuse.kernels.contract import weighted_sum
from contrastive_fuse.latent.cells import find_cells
from contrastive_fuse.latent.diffusion import edges_of, inverse_root, plain_operator
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.parallel import even_chunks, map_chunks, thread_count
from contrastive_fuse.progress import Callback, Progress
from contrastive_fuse.projection import Projection
from contrastive_fuse.rows import aligned_copy, aligned_rows, row_dots
from contrastive_fuse.solver import solve
from contrastive_fuse.sparse import Links, SparseRows, stack_scaled
from contrastive_fuse.types import DoubleArray, FloatArray, IntArray, LongArray

CELLS = 60
EDGE_WEIGHT = 1.2  # gamma: edges are many and speak of one another, so each counts for less than its likelihood
HOMOPHILY = 0.8  # share of edges that is taken to lie within groups
CELLS_A_GROUP = 3  # about so many cells make a group: sets log L before there are groups
LEAST_LIFT = float(np.log(1.5))
FIRST_NOISE = 0.1
NOISE_RANGE = (1e-3, 0.49)
FIRST_CERTAINTY = 0.9
DAMPING = 0.5
ROUNDS, ITERATIONS_A_ROUND, TOLERANCE = 8, 8, 2e-3
SETTLED_WITHIN = 2
ROWS_AT_ONCE = 4096
SMALLEST = 0.5  # nodes; a group of less than that is gone


@dataclass
class Groups:
    """What an inference found.

    Attributes
    ----------
    posterior : (n, K) float32, rows sum to 1, largest groups first
    noise : float, share of pairs that contradict the groups
    homophily : float, share of the edges (by weight) within groups
    objective : list of float, F before each iteration
    converged : bool
    """

    posterior: FloatArray
    noise: float
    homophily: float = 0.0
    objective: list[float] = field(default_factory=list)
    converged: bool = False


def infer_groups(
    graph: Graph,
    pairs: PairRows,
    rows: FloatArray,
    rng: np.random.Generator,
    *,
    kernel: str = "numba",
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Groups:
    """Cells of rows, merged into groups, then posteriors by mean field."""
    evidence = Evidence.of(graph, pairs, kernel, n_jobs)
    cell = find_cells(rows, CELLS, rng, n_jobs)
    group = merge_cells(evidence, pairs, cell)
    return MeanField(evidence, pairs, group, kernel, n_jobs).run(callback)


@dataclass(frozen=True)
class Evidence:
    """Edges and pairs as one operator over two stacked tables, ``[G | Y]``, and the null term of the edges.

    Attributes
    ----------
    operator : Operator with ``u v'`` of the null term
    edge_counts : (n,) how many entries of each row are edges
    """

    operator: Operator
    edge_counts: IntArray

    @classmethod
    def of(cls, graph: Graph, pairs: PairRows, kernel: str, n_jobs: int | None) -> Evidence:
        n = graph.n_nodes
        scale = np.sqrt(EDGE_WEIGHT) * inverse_root(graph.degrees, 0.25)
        links = Links(pairs.first, pairs.second, pairs.signed_weight)
        rows = stack_scaled(edges_of(graph), scale, links, np.ones(n))
        counts = np.diff(graph.indptr).astype(np.int32)
        assert rows.values is not None
        is_pair = _places(rows.indptr) >= np.repeat(counts, np.diff(rows.indptr))
        indices = np.where(is_pair, rows.indices + np.int32(n), rows.indices).astype(np.int32)
        strength = _row_sums(stack_scaled(edges_of(graph), scale), kernel, n_jobs)
        total = max(float(strength.sum()), 1e-12)
        operator = Operator(
            rows.indptr, indices, rows.values, u=(strength / total).astype(np.float32),
            v=np.concatenate([strength, np.zeros(n)]).astype(np.float32), shift=0.0,
        )  # fmt: skip
        return cls(operator, counts)

    def between(self, cell: IntArray, n_cells: int) -> DoubleArray:
        """Weight of edges between cells beyond what the null model expects, (n_cells, n_cells)."""
        operator, n = self.operator, len(cell)
        edges = operator.indices < n
        row = np.repeat(np.arange(n), np.diff(operator.indptr))[edges]
        key = cell[row].astype(np.int64) * n_cells + cell[operator.indices[edges]]
        weight = np.bincount(key, operator.values[edges], n_cells * n_cells).reshape(n_cells, n_cells)
        u, v = (np.bincount(cell, side[:n], n_cells) for side in (operator.u, operator.v))
        return np.asarray(weight - np.outer(u, v))


def merge_cells(evidence: Evidence, pairs: PairRows, cell: IntArray) -> IntArray:
    """Join the two cells whose union the evidence favours most, as long as it favours one; the group of every node."""
    n_cells = int(cell.max()) + 1
    lift = log_lift(CELLS_A_GROUP * float(np.sum((np.bincount(cell) / len(cell)) ** 2)))
    signed = np.bincount(cell[pairs.first].astype(np.int64) * n_cells + cell[pairs.second],
                         pairs.signed_weight.astype(np.float64), n_cells * n_cells)  # fmt: skip
    signed = signed.reshape(n_cells, n_cells)
    gain = lift * evidence.between(cell, n_cells) + log_odds(FIRST_NOISE) * (signed + signed.T)
    gain = (gain + gain.T) / 2
    np.fill_diagonal(gain, -np.inf)
    group = np.arange(n_cells)
    while True:
        one, two = divmod(int(np.argmax(gain)), n_cells)
        if not gain[one, two] > 0:
            break
        gain[one] += gain[two]
        gain[:, one] = gain[one]
        gain[one, one] = -np.inf
        gain[two] = gain[:, two] = -np.inf
        group[group == two] = one
    return np.unique(group[cell], return_inverse=True)[1].astype(np.int32)


class MeanField:
    """The iteration: how tables are made of a state, and how rows are brought back to the simplex."""

    def __init__(self, evidence: Evidence, pairs: PairRows, group: IntArray, kernel: str, n_jobs: int | None) -> None:
        self.evidence, self.pairs, self.kernel, self.n_jobs = evidence, pairs, kernel, n_jobs
        self.n, self.n_groups = len(group), int(group.max()) + 1
        self.lift = log_lift(float(np.sum((np.bincount(group) / self.n) ** 2)))
        self.signed = pairs.signed_weight.astype(np.float64)
        self.positive, self.total = float(self.signed[self.signed > 0].sum()), float(np.abs(self.signed).sum())
        self.noise, self.damping = FIRST_NOISE, DAMPING
        self.objective: list[float] = []
        self.entropy = self.constant = 0.0
        self.state = aligned_rows(self.n, self.n_groups)
        self.state[:, : self.n_groups] = (1 - FIRST_CERTAINTY) / max(1, self.n_groups - 1)
        self.state[np.arange(self.n), group] = FIRST_CERTAINTY if self.n_groups > 1 else 1.0
        self.tables = np.empty((2 * self.n, self.state.shape[1]), dtype=np.float32)
        self.ones = np.ones(self.n, dtype=np.float32)
        self.log_share = np.full(self.state.shape[1], -np.inf, dtype=np.float32)

    def run(self, callback: Callback | None = None) -> Groups:
        """Rounds of the iteration until the rows come to rest, each with the lift that the sizes of groups call for."""
        state, converged = self.state, self.n_groups == 1
        for _ in range(0 if converged else ROUNDS):
            share = weighted_sum(self.ones, state)[: self.n_groups] / self.n
            self.lift = log_lift(float(np.sum(share**2)))
            result = solve(
                self.evidence.operator, state, projection=Projection("simplex", self.to_simplex), expand=self.expand,
                max_iter=ITERATIONS_A_ROUND, tol=TOLERANCE, kernel=self.kernel, n_jobs=self.n_jobs, overwrite_init=True,
                callback=lambda progress: self.watch(progress, callback), stage="groups",
            )  # fmt: skip
            state, converged = aligned_copy(result.rows), result.converged and result.n_iter <= SETTLED_WITHIN
            if converged:
                break
            self.objective.append(np.nan)
        posterior = state[:, : self.n_groups]
        size = posterior.sum(axis=0, dtype=np.float64)
        largest = np.argsort(-size, kind="stable")
        posterior = posterior[:, largest[size[largest] > SMALLEST]]
        posterior = np.ascontiguousarray(posterior / posterior.sum(axis=1, keepdims=True), dtype=np.float32)
        return Groups(posterior, self.noise, objective=self.objective, converged=converged)

    def expand(self, state: FloatArray) -> FloatArray:
        """Set sizes of groups and noise to their optima for this state, and make the tables of the next step."""
        together = float(self.signed @ row_dots(state, self.pairs.first, self.pairs.second, self.n_jobs))
        self.noise = float(np.clip((1 + self.positive - together) / (2 + self.total), *NOISE_RANGE))
        share = weighted_sum(self.ones, state)[: self.n_groups] / self.n
        self.log_share[: self.n_groups] = np.log(share + 1e-9)
        against = self.total - self.positive
        self.constant = (self.positive + 1) * np.log(self.noise) + (against + 1) * np.log1p(-self.noise)
        np.multiply(state, np.float32(self.lift), out=self.tables[: self.n])
        np.multiply(state, np.float32(log_odds(self.noise)), out=self.tables[self.n :])
        return self.tables

    def to_simplex(self, candidate: FloatArray, previous: FloatArray) -> FloatArray:
        """Softmax of field and sizes, moved to from the rows before as far as the damping lets."""
        bounds = even_chunks(self.n, ROWS_AT_ONCE)
        move = np.float32(1 - self.damping)

        def work(chunk: int) -> float:
            spread: float = _simplex(
                candidate, previous, self.log_share, move, self.n_groups, bounds[chunk], bounds[chunk + 1]
            )
            return spread

        self.entropy = float(np.sum(map_chunks(work, len(bounds) - 1, thread_count(self.n_jobs))))
        return candidate

    def watch(self, progress: Progress, callback: Callback | None) -> None:
        """Keep the objective of the state the step started from; slow down where it fell."""
        value = progress.gain / 2 + self.entropy + self.constant
        if self.objective and value < self.objective[-1]:
            self.damping = (1 + self.damping) / 2
        self.objective.append(value)
        if callback is not None:
            callback(progress._replace(gain=value))


@njit(nogil=True, cache=True, error_model="numpy")
def _simplex(candidate, previous, log_share, move, n_groups, start, stop):  # type: ignore[no-untyped-def]
    """Bring rows to the simplex in place; returns the sum of ``q (log pi - log q)`` over the rows before."""
    total = 0.0
    for row in range(start, stop):
        field, before = candidate[row], previous[row]
        highest = np.float32(-np.inf)
        for group in range(n_groups):
            field[group] += log_share[group]
            highest = max(highest, field[group])
        mass = np.float32(0)
        for group in range(n_groups):
            field[group] = np.exp(field[group] - highest)
            mass += field[group]
        for group in range(n_groups):
            old = before[group]
            if old > 1e-30:
                total += old * (log_share[group] - np.log(old))
            field[group] = old + move * (field[group] / mass - old)
        for group in range(n_groups, len(field)):
            field[group] = 0
    return total


def log_lift(same: float) -> float:
    """``log L``: how much an edge speaks for one group where two nodes are of one with probability ``same``."""
    same = min(max(same, 1e-9), 0.95)
    return max(float(np.log(HOMOPHILY * (1 - same) / ((1 - HOMOPHILY) * same))), LEAST_LIFT)


def log_odds(noise: float) -> float:
    """What a pair says for or against one group where so many pairs are wrong."""
    return float(np.log((1 - noise) / noise))


def homophily_of(graph: Graph, posterior: FloatArray, n_jobs: int | None = None) -> float:
    """Share of the edges, by weight, that lie within groups."""
    first = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    if not len(first):
        return 0.0
    same = row_dots(posterior, first, graph.indices, n_jobs)
    return float(np.average(same, weights=graph.weights))


def _places(indptr: LongArray) -> LongArray:
    """The place of every entry in its row."""
    return np.asarray(np.arange(indptr[-1]) - np.repeat(indptr[:-1], np.diff(indptr)))


def _row_sums(rows: SparseRows, kernel: str, n_jobs: int | None) -> DoubleArray:
    ones = aligned_rows(len(rows.indptr) - 1, 1)
    ones[:] = 1
    out = np.empty_like(ones)
    get_combine(kernel)(plain_operator(rows, 0.0), ones, ones, out, n_jobs=n_jobs)
    return np.asarray(out[:, 0], dtype=np.float64)
