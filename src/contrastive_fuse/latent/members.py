"""What is known of every node after stage two, as tables from which any pair of nodes can be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contrastive_fuse.graph import Graph
from contrastive_fuse.latent.diffusion import diffused_rows, evidence_of, settle, smooth_rows
from contrastive_fuse.latent.groups import Groups, homophily_of, infer_groups, log_odds
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.progress import Callback
from contrastive_fuse.rows import row_dots
from contrastive_fuse.types import AnyArray, DoubleArray, FloatArray

SEEDS = ("rows", "diffused")  # what the cells of a start are made of
TABLES = ("diffused", "groups_rows", "groups_diffused", "settled_rows", "settled_diffused")
COLUMNS = ("rows", *TABLES)
N_COSINES = 2  # the first columns; the others are posteriors
SUREST = 0.002  # posteriors are never read as surer than this
STARTS, STARTS_OF_MANY, MANY_NODES = 5, 3, 50_000  # from each kind of cells; fewer where there are many nodes


@dataclass(frozen=True)
class Members:
    """The tables behind a score.

    Attributes
    ----------
    tables : "diffused" (n, 32), unit rows of pairs spread over the graph; "groups_..." and "settled_..." (n, sum of K),
        posteriors of all starts of one kind beside each other, scaled so that inner products are means over the starts
    starts : for each kind of cells the number of groups and the noise of its starts, in the order of the columns
    evidence : (n,) float32, how much the pairs tell of each node
    """

    tables: Mapping[str, FloatArray]
    starts: Mapping[str, Sequence[tuple[int, float]]]
    evidence: FloatArray

    def columns(
        self, rows: FloatArray, first: AnyArray, second: AnyArray, n_jobs: int | None = None
    ) -> tuple[DoubleArray, DoubleArray]:
        """What rows and each table say of pairs, (n_pairs, 6), and the evidence on them, (n_pairs,)."""
        first, second = np.asarray(first, dtype=np.int32), np.asarray(second, dtype=np.int32)
        found = np.empty((len(first), len(COLUMNS)))
        for place, name in enumerate(COLUMNS):
            table = rows if name == "rows" else self.tables[name]
            found[:, place] = row_dots(table, first, second, n_jobs)
        found[:, N_COSINES:] = _log_odds(found[:, N_COSINES:])
        return found, (self.evidence[first].astype(np.float64) + self.evidence[second]) / 2

    def columns_without(
        self, rows: FloatArray, pairs: PairRows, n_jobs: int | None = None
    ) -> tuple[DoubleArray, DoubleArray]:
        """As `columns`, for training pairs, what each pair itself has told the groups taken away (the cavity)."""
        found, evidence = self.columns(rows, pairs.first, pairs.second, n_jobs)
        for kind in SEEDS:
            same = self._same_without(kind, pairs)
            found[:, COLUMNS.index(f"groups_{kind}")] = _log_odds(same)
        return found, evidence

    def _same_without(self, kind: str, pairs: PairRows) -> DoubleArray:
        """Chance of one group, mean over the starts of a kind, had the pair itself not been given."""
        table, total, start = self.tables[f"groups_{kind}"], np.zeros(len(pairs.y)), 0
        for width, noise in self.starts[kind]:
            part = table[:, start : start + width] * np.float32(np.sqrt(len(self.starts[kind])))
            told = np.float32(log_odds(noise)) * pairs.signed_weight[:, None].astype(np.float32)
            one, two = part[pairs.first], part[pairs.second]
            without = [a * np.exp(-told * b) for a, b in ((one, two), (two, one))]
            one, two = (rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-30) for rows in without)
            total += np.einsum("ij,ij->i", one, two)
            start += width
        return total / max(1, len(self.starts[kind]))


def _log_odds(same: DoubleArray) -> DoubleArray:
    same = np.clip(same, SUREST, 1 - SUREST)
    return np.asarray(np.log(same / (1 - same)))


def learn_members(
    graph: Graph,
    pairs: PairRows,
    rows: FloatArray,
    rng: np.random.Generator,
    *,
    starts: int | None = None,
    kernel: str = "numba",
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> tuple[Members, Groups]:
    """Everything that stage two makes of rows, graph and pairs, and the groups that fewest pairs contradict.

    Cells are made of the smoothed rows for some starts, of the diffused rows for others: where pairs are few the latter
    lead to better groups, where many are wrong the former. The readout learns which to trust.
    """
    if starts is None:
        starts = STARTS if graph.n_nodes < MANY_NODES else STARTS_OF_MANY
    diffused = diffused_rows(graph, pairs, rng, kernel, n_jobs, callback)
    seeds = {"rows": smooth_rows(graph, rows, kernel, n_jobs), "diffused": diffused}
    evidence, scale = evidence_of(pairs, graph.n_nodes), np.float32(1 / np.sqrt(starts))
    numbers: dict[str, list[tuple[int, float]]] = {}
    tables, found = {"diffused": smooth_rows(graph, diffused, kernel, n_jobs)}, []
    for name in SEEDS:
        made = [
            infer_groups(graph, pairs, seeds[name], rng, kernel=kernel, n_jobs=n_jobs, callback=callback)
            for _ in range(starts)
        ]
        settled = [settle(graph, groups.posterior, evidence, kernel, n_jobs) for groups in made]
        tables[f"groups_{name}"] = scale * np.concatenate([groups.posterior for groups in made], axis=1)
        tables[f"settled_{name}"] = scale * np.concatenate(settled, axis=1)
        numbers[name] = [(groups.posterior.shape[1], groups.noise) for groups in made]
        found += made
    best = min(found, key=lambda groups: groups.noise)
    best.homophily = homophily_of(graph, best.posterior, n_jobs)
    return Members(tables, numbers, evidence.astype(np.float32)), best
