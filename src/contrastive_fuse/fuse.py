"""ContrastiveFUSE, the estimator: a thin shell over objective, solver and calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from contrastive_fuse.arrangement import Arrangement
from contrastive_fuse.calibration import METHODS, Calibration, Method
from contrastive_fuse.checkpoint import Checkpoint
from contrastive_fuse.errors import InputError, check_choice, check_integer, check_number
from contrastive_fuse.graph import Graph, GraphReport
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.convert import as_graph, as_pairs
from contrastive_fuse.io.model import read_model, write_model
from contrastive_fuse.kernels import KERNELS
from contrastive_fuse.objective import OBJECTIVES, Objective
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairReport, PairRows, Unknown
from contrastive_fuse.parallel import thread_count
from contrastive_fuse.parameters import Parameterized
from contrastive_fuse.progress import Callback, SolveResult
from contrastive_fuse.protocol import hold_out
from contrastive_fuse.rows import aligned_copy, random_rows
from contrastive_fuse.scoring import PairScorer, row_cosines
from contrastive_fuse.solver import solve
from contrastive_fuse.types import AnyArray, FloatArray

Result = TypeVar("Result")

GOING_ON = 0.25  # share of the iterations for the rows to take in the pairs that were held out


class ContrastiveFUSE(PairScorer, Parameterized):
    """Embed the nodes of a graph from its edges and signed pairs of nodes.

    Parameters
    ----------
    n_components : int
        Length of a node's vector.
    objective : {"balanced", "paper"} or callable
        What is raised. A callable takes ``(graph, pairs, **objective_params)`` and returns an `Operator`.
    objective_params : dict, optional
        Parameters of the objective, such as ``{"lambda_scaled": 0}``; see `contrastive_fuse.objective`.
    max_iter, tol : optional
        The iteration ends after ``max_iter`` steps, or when the root mean square move of a row is below ``tol``. Where
        pairs are held out for calibration, at most a quarter of ``max_iter`` is added to take them in.
        Defaults depend on the objective: 100 and 1e-2 (balanced), 200 and 1e-3 (paper).
    calibration : {"auto", "platt", "isotonic"} or None
        How scores become probabilities. With None no pair is held out and there is no probability, until `calibrate`
        is called. "auto" is isotonic from 1,000 held-out pairs, Platt below.
    unknown : {"error", "drop"}
        What to do with pairs that name a node outside the graph.
    kernel : {"numba", "reference"}
    n_jobs : int, optional
        Threads; by default all. The result does not depend on it.
    random_state : int, Generator or None

    Attributes
    ----------
    embedding_ : (n_nodes, n_components) float32, rows of unit length, in the order of ``ids_``
    ids_ : NodeIds
    calibration_ : Calibration or None
    threshold_ : float, the score from which `predict` says alike
    history_ : dict of lists ``change`` and ``gain``, one entry an iteration of the final solve
    n_iter_ : int
    converged_ : bool
    timings_ : dict of seconds spent in each part of `fit`
    resumed_at_ : dict, the iteration at which a stage went on from a checkpoint
    graph_report_, pair_report_ : what was read and what was done to it
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        objective: str | Callable[..., Operator] = "balanced",
        objective_params: Mapping[str, Any] | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        calibration: Method | None = "auto",
        unknown: Unknown = "error",
        kernel: str = "numba",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.objective = objective
        self.objective_params = objective_params
        self.max_iter = max_iter
        self.tol = tol
        self.calibration = calibration
        self.unknown = unknown
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        graph: Any,
        pairs: Any = None,
        y: Any = None,
        *,
        init: FloatArray | None = None,
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
    ) -> ContrastiveFUSE:
        """Learn the vectors.

        Where probabilities are wanted, the rows are first learned without a tenth of the pairs, scores are calibrated
        on that tenth, and the rows then go on from there with all pairs, for at most a quarter of the iterations.

        Parameters
        ----------
        graph : Graph, or anything that `contrastive_fuse.as_graph` takes
        pairs : SignedPairs, (n, 2) array of node ids or table, optional
            Without pairs the embedding is by structure alone.
        y : (n,) of -1 and +1, unless ``pairs`` brings it
        init : (n_nodes, n_components) array, optional
            Start from these vectors instead of random ones.
        callback : callable, optional
            Called with a `contrastive_fuse.solver.Progress` after every iteration.
        checkpoint : path, optional
            Where an interrupted fit keeps its state. The same call goes on from it; it is deleted at the end.
        """
        started = perf_counter()
        objective = self.check_parameters()
        graph = as_graph(graph)
        if not graph.n_nodes:
            raise InputError("the graph has no nodes; there is nothing to embed")
        signed = as_pairs(pairs, y)
        rows: PairRows | None = None
        self.pair_report_: PairReport | None = None
        if signed is not None:
            rows, self.pair_report_ = signed.rows_in(graph.ids, self.unknown)
        rng = np.random.default_rng(self.random_state)
        self.timings_ = {"input": perf_counter() - started, "order": 0.0, "init": 0.0, "operator": 0.0,
                         "iterations": 0.0, "calibration": 0.0}  # fmt: skip
        self.resumed_at_: dict[str, int] = {}
        ids = graph.ids
        self.graph_report_: GraphReport = graph.report
        working = self._timed("order", lambda: Arrangement.for_graph(graph, self.n_components, self.n_jobs))
        graph, rows = self._timed("order", lambda: (working.graph(graph), working.pairs(rows)))
        state = self._timed("init", lambda: working.inward(self._start(graph.n_nodes, init, rng)))

        max_iter = objective.max_iter if self.max_iter is None else int(self.max_iter)
        self.calibration_: Calibration | None = None
        kept = None if self.calibration is None else hold_out(rows, rng)
        if rows is not None and kept is not None:
            operator = self._operator(objective, graph, rows.subset(kept))
            state = self._solve(objective, operator, state, max_iter, "calibration", callback, checkpoint).rows
            held_out = rows.subset(~kept)
            self._timed("calibration", lambda: self._calibrate(state, held_out))
            max_iter = ceil(max_iter * GOING_ON)
            del operator, held_out  # before the next is built
        operator = self._operator(objective, graph, rows)
        result = self._solve(objective, operator, state, max_iter, "embedding", callback, checkpoint)
        state = result.rows
        del operator  # before another table is made
        for stage in ("calibration", "embedding"):
            if checkpoint is not None:
                _stage_checkpoint(checkpoint, stage).remove()

        self.embedding_: FloatArray = self._timed("order", lambda: working.outward(state[:, : self.n_components]))
        self.ids_: NodeIds = ids
        self.threshold_ = 0.0 if self.calibration_ is None else self.calibration_.threshold
        self.history_ = {"change": result.change, "gain": result.gain}
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.timings_["total"] = perf_counter() - started
        return self

    def fit_transform(self, graph: Any, pairs: Any = None, y: Any = None, **fit_params: Any) -> FloatArray:
        """Learn the vectors and return them."""
        return self.fit(graph, pairs, y, **fit_params).embedding_

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a folder (docs/model-format.md); it appears whole or not at all."""
        self._check_fitted()
        write_model(
            path,
            ids=self.ids_,
            embedding=self.embedding_,
            threshold=self.threshold_,
            calibration=self.calibration_,
            parameters=self.get_params(deep=False),
            facts={
                "n_iter": self.n_iter_,
                "converged": self.converged_,
                "history": self.history_,
                "seconds": self.timings_,
                "graph": self.graph_report_.to_dict(),
                "pairs": None if self.pair_report_ is None else self.pair_report_.to_dict(),
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> ContrastiveFUSE:
        """Read a model that `save` wrote. Scores come out with the same bits; nothing is unpickled.

        Parameters that JSON cannot hold (a callable objective, a generator) come back as their descriptions.
        """
        header, ids, embedding = read_model(path)
        try:
            return cls._restore(header, ids, embedding)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is damaged: its header lacks or misnames {error}") from None

    @classmethod
    def _restore(cls, header: dict[str, Any], ids: NodeIds, embedding: FloatArray) -> ContrastiveFUSE:
        known = {name: value for name, value in header["parameters"].items() if name in cls._get_param_names()}
        facts = header["facts"]
        model = cls(**known)
        model.embedding_, model.ids_ = embedding, ids
        model.threshold_ = header["threshold"]
        stored = header["calibration"]
        model.calibration_ = None if stored is None else Calibration.from_dict(stored)
        model.n_iter_, model.converged_, model.resumed_at_ = facts["n_iter"], facts["converged"], {}
        model.history_, model.timings_ = facts["history"], facts["seconds"]
        model.graph_report_ = GraphReport.from_dict(facts["graph"])
        model.pair_report_ = None if facts["pairs"] is None else PairReport.from_dict(facts["pairs"])
        return model

    def check_parameters(self) -> Objective:
        """Raise `InputError` if a parameter cannot be used; `fit` does so too. Returns the objective."""
        check_integer("n_components", self.n_components, at_least=1)
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("unknown", self.unknown, ("error", "drop"))
        thread_count(self.n_jobs)
        if self.calibration is not None:
            check_choice("calibration", self.calibration, METHODS)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter, at_least=0)
        if self.tol is not None:
            check_number("tol", self.tol, at_least=0)
        if callable(self.objective):
            objective = Objective(self.objective, OBJECTIVES["balanced"].max_iter, OBJECTIVES["balanced"].tol)
        else:
            objective = OBJECTIVES[check_choice("objective", self.objective, OBJECTIVES)]
        try:
            signature(objective.build).bind(None, None, **(self.objective_params or {}))
        except TypeError as error:
            raise InputError(f"objective_params do not fit the objective {self.objective!r}: {error}") from None
        return objective

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Cosine of the two vectors of each pair, (n,)."""
        return row_cosines(self.embedding_, first, second)

    def _start(self, n_nodes: int, init: FloatArray | None, rng: np.random.Generator) -> FloatArray:
        if init is None:
            return random_rows(n_nodes, self.n_components, rng, self.n_jobs)
        given = np.asarray(init, dtype=np.float32)
        if given.shape != (n_nodes, self.n_components):
            raise InputError(f"init must have shape {(n_nodes, self.n_components)}; got {given.shape}")
        if not np.isfinite(given).all():
            raise InputError("init must hold finite numbers only")
        return aligned_copy(given)

    def _operator(self, objective: Objective, graph: Graph, pairs: PairRows | None) -> Operator:
        params = dict(self.objective_params or {})
        return self._timed("operator", lambda: objective.build(graph, pairs, **params))

    def _solve(
        self,
        objective: Objective,
        operator: Operator,
        state: FloatArray,
        max_iter: int,
        stage: str,
        callback: Callback | None,
        checkpoint: str | Path | None,
    ) -> SolveResult:
        keeper = None if checkpoint is None else _stage_checkpoint(checkpoint, stage)
        result = self._timed(
            "iterations",
            lambda: solve(
                operator,
                state,
                max_iter=max_iter,
                tol=objective.tol if self.tol is None else self.tol,
                kernel=self.kernel,
                n_jobs=self.n_jobs,
                overwrite_init=True,
                callback=callback,
                stage=stage,
                checkpoint=keeper,
            ),
        )
        if keeper is not None and keeper.resumed_at:
            self.resumed_at_[stage] = keeper.resumed_at
        return result

    def _calibrate(self, state: FloatArray, held_out: PairRows) -> None:
        scores = row_cosines(state, held_out.first, held_out.second)
        assert self.calibration is not None
        self.calibration_ = Calibration.learn(scores, held_out.y, self.calibration)

    def _timed(self, part: str, work: Callable[[], Result]) -> Result:
        started = perf_counter()
        try:
            return work()
        finally:
            self.timings_[part] += perf_counter() - started


def _stage_checkpoint(path: str | Path, stage: str) -> Checkpoint:
    path = Path(path)
    return Checkpoint(path.with_name(f"{path.name}.{stage}.npz"))
