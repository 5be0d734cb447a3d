"""The stages of a fit: rows, and from them either cosines that are calibrated or a mixture with latent groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from contrastive_fuse.calibration import Calibration, Method
from contrastive_fuse.checkpoint import Checkpoint
from contrastive_fuse.graph import Graph
from contrastive_fuse.latent.members import learn_members
from contrastive_fuse.latent.mixture import Mixture
from contrastive_fuse.latent.readout import Readout
from contrastive_fuse.metrics import roc_auc
from contrastive_fuse.objective import Objective
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.progress import Callback, SolveResult
from contrastive_fuse.protocol import MANY_PAIRS, folds
from contrastive_fuse.rows import aligned_copy, row_dots
from contrastive_fuse.solver import solve
from contrastive_fuse.types import BoolArray, FloatArray

Result = TypeVar("Result")

GOING_ON = 0.25  # share of the iterations for the rows to take in the pairs that were held out
NOISY = 0.25  # share of wrong pairs from which one fold of many pairs is not enough
NODES_TELL, LEAST_LEAD = 0.65, 0.02  # ROC-AUC of node rates, and how far ahead of them a model should be
STARTS_IN_A_FOLD = 2  # of either kind of cells; fewer than in the end


@dataclass
class Fitting:
    """One fit at work: what it is given, what it has used and where it may go on from."""

    objective: Objective
    params: Mapping[str, Any]
    max_iter: int
    tol: float
    kernel: str
    n_jobs: int | None
    callback: Callback | None
    checkpoint: str | Path | None
    timings: dict[str, float]
    resumed_at: dict[str, int] = field(default_factory=dict)
    stages: list[str] = field(default_factory=list)

    def cosine(
        self, graph: Graph, pairs: PairRows | None, state: FloatArray, kept: BoolArray | None, method: Method
    ) -> tuple[SolveResult, Calibration | None]:
        """Rows; where some pairs are kept out of a first run, their cosines are calibrated on these."""
        calibration, max_iter = None, self.max_iter
        if pairs is not None and kept is not None:
            state = self.rows(graph, pairs.subset(kept), state, max_iter, "calibration").rows
            held_out = pairs.subset(~kept)
            scores = row_dots(state, held_out.first, held_out.second, self.n_jobs)
            calibration = self.timed("calibration", partial(Calibration.learn, scores, held_out.y, method))
            max_iter = ceil(max_iter * GOING_ON)
        return self.rows(graph, pairs, state, max_iter, "embedding"), calibration

    def mixture(
        self, graph: Graph, pairs: PairRows, state: FloatArray, rng: np.random.Generator
    ) -> tuple[SolveResult, Mixture, Calibration]:
        """Rows and what stage two makes of them, its weights learned on pairs that were held out in turn."""
        columns, evidence, rates, held_out = [], [], [], []
        begin, nodes = state, len(np.unique(np.concatenate([pairs.first, pairs.second])))
        for number, held in enumerate(folds(pairs, rng), 1):
            known, asked = pairs.subset(~held), pairs.subset(held)
            state = self.rows(graph, known, aligned_copy(begin), self.max_iter, f"calibration {number}").rows
            members, _ = self.timed("groups", partial(self.members, graph, known, state, rng, STARTS_IN_A_FOLD))
            said, evident = members.columns(state, asked.first, asked.second, self.n_jobs)
            columns.append(said)
            evidence.append(evident)
            shares = known.alike_shares(graph.n_nodes)
            rates.append(shares[asked.first] * shares[asked.second])
            held_out.append(asked)
            told = np.concatenate(columns), np.concatenate(evidence)
            y = np.concatenate([part.y for part in held_out])
            weight = None if pairs.weight is None else np.concatenate([part.weight for part in held_out])
            readout = self.timed("calibration", partial(Readout.learn, *told, y, weight, 2 * len(pairs.y) / nodes))
            if len(pairs.y) >= MANY_PAIRS and readout.noise.value < NOISY:
                break  # enough is known
        result = self.rows(graph, pairs, state, ceil(self.max_iter * GOING_ON), "embedding")
        members, groups = self.timed("groups", partial(self.members, graph, pairs, result.rows, rng))
        explained = roc_auc(y > 0, np.concatenate(rates))
        alike, noise = float(np.average(y > 0, weights=weight)), readout.noise.value
        calibration = Calibration(
            "platt", len(y), roc_auc(y > 0, readout.log_odds(*told)), slope=1.0,
            base_rate=float(np.clip((alike - noise) / (1 - 2 * noise), 0.001, 0.999)),
        )  # fmt: skip
        if explained > max(NODES_TELL, calibration.roc_auc - LEAST_LEAD):
            warnings.warn(
                "on held-out pairs the two nodes' shares of alike pairs tell as much by themselves"
                f" (ROC-AUC {explained:.3f}) as everything learned does ({calibration.roc_auc:.3f}): these pairs say"
                " little about alike-ness, and a result on such pairs does not carry over to nodes without pairs",
                UserWarning, stacklevel=3,
            )  # fmt: skip
        return result, Mixture(members, readout, groups.posterior, groups.homophily, explained), calibration

    def members(
        self, graph: Graph, pairs: PairRows, rows: FloatArray, rng: np.random.Generator, starts: int | None = None
    ) -> Any:
        """Stage two."""
        return learn_members(
            graph, pairs, rows, rng, starts=starts, kernel=self.kernel, n_jobs=self.n_jobs, callback=self.callback
        )

    def rows(self, graph: Graph, pairs: PairRows | None, state: FloatArray, max_iter: int, stage: str) -> SolveResult:
        """Stage one, in the memory of ``state``."""
        operator = self.timed("operator", lambda: self.objective.build(graph, pairs, **self.params))
        self.stages.append(stage)
        keeper = None if self.checkpoint is None else stage_checkpoint(self.checkpoint, stage)
        result = self.timed(
            "iterations",
            lambda: solve(
                operator,
                state,
                max_iter=max_iter,
                tol=self.tol,
                kernel=self.kernel,
                n_jobs=self.n_jobs,
                overwrite_init=True,
                callback=self.callback,
                stage=stage,
                checkpoint=keeper,
            ),
        )
        if keeper is not None and keeper.resumed_at:
            self.resumed_at[stage] = keeper.resumed_at
        return result

    def timed(self, part: str, work: Callable[[], Result]) -> Result:
        """The result of some work, its seconds added to a part of the fit."""
        started = perf_counter()
        try:
            return work()
        finally:
            self.timings[part] = self.timings.get(part, 0.0) + perf_counter() - started

    def done(self) -> None:
        """Take the checkpoints away."""
        for stage in self.stages:
            if self.checkpoint is not None:
                stage_checkpoint(self.checkpoint, stage).remove()


def stage_checkpoint(path: str | Path, stage: str) -> Checkpoint:
    """Where a stage keeps its state."""
    path = Path(path)
    return Checkpoint(path.with_name(f"{path.name}.{stage.replace(' ', '-')}.npz"))
