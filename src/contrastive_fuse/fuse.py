"""ContrastiveFUSE, the estimator: a thin shell over objective, solver and calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from contrastive_fuse.arrangement import Arrangement
from contrastive_fuse.calibration import METHODS, Calibration, Method
from contrastive_fuse.errors import InputError, check_choice, check_integer, check_number
from contrastive_fuse.fitting import Fitting
from contrastive_fuse.graph import GraphReport
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.convert import as_graph, as_pairs
from contrastive_fuse.io.model import read_model, write_model
from contrastive_fuse.kernels import KERNELS
from contrastive_fuse.latent.mixture import Mixture
from contrastive_fuse.latent.readout import Noise
from contrastive_fuse.objective import OBJECTIVES, Objective
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairReport, PairRows, Unknown
from contrastive_fuse.parallel import thread_count
from contrastive_fuse.parameters import Parameterized
from contrastive_fuse.progress import Callback
from contrastive_fuse.protocol import hold_out
from contrastive_fuse.rows import aligned_copy, random_rows
from contrastive_fuse.scoring import PairScorer, row_cosines
from contrastive_fuse.types import AnyArray, FloatArray

PARTS = ("order", "init", "operator", "iterations", "groups", "calibration")
READOUTS = ("auto", "mixture", "cosine")
LEAST_PAIRS = 20  # of either sign, for a mixture to be learned


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
    readout : {"auto", "mixture", "cosine"}
        How pairs are judged: by a mixture of rows and latent groups, or by the cosine of the rows alone. "auto" is the
        mixture for objective="balanced" and at least 20 pairs of either sign, else the cosine.
    calibration : {"auto", "platt", "isotonic"} or None
        How cosines become probabilities; a mixture tells log-odds by itself. With None no pair is held out and there
        is no probability, until `calibrate` is called. "auto" is isotonic from 1,000 held-out pairs, Platt below.
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
    mixture_ : Mixture or None, what `readout="mixture"` judges by
    groups_ : (n_nodes, n_groups) float32, posterior of the latent groups, largest first, None without a mixture
    n_groups_ : int, groups with at least one node in two hundred
    pair_noise_ : Noise, estimated share of wrong pairs with bounds
    homophily_ : float, share of edges within groups
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
        readout: str = "auto",
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
        self.readout = readout
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
        self.timings_ = {"input": perf_counter() - started, **dict.fromkeys(PARTS, 0.0)}
        work = Fitting(
            objective,
            self.objective_params or {},
            max_iter=objective.max_iter if self.max_iter is None else int(self.max_iter),
            tol=objective.tol if self.tol is None else self.tol,
            kernel=self.kernel,
            n_jobs=self.n_jobs,
            callback=callback,
            checkpoint=checkpoint,
            timings=self.timings_,
        )
        ids, given = graph.ids, rows
        self.graph_report_: GraphReport = graph.report
        working = work.timed("order", lambda: Arrangement.for_graph(graph, self.n_components, self.n_jobs))
        graph, rows = work.timed("order", lambda: (working.graph(graph), working.pairs(rows)))
        state = work.timed("init", lambda: working.inward(self._start(graph.n_nodes, init, rng)))

        self.mixture_: Mixture | None = None
        self.pairs_: PairRows | None = None
        self.calibration_: Calibration | None = None
        if rows is not None and self._mixes(rows):
            result, mixture, self.calibration_ = work.mixture(graph, rows, state, rng)
            self.mixture_ = work.timed("order", lambda: mixture.reordered(working.place))
            self.pairs_ = given
        else:
            kept = None if self.calibration is None else hold_out(rows, rng)
            result, self.calibration_ = work.cosine(graph, rows, state, kept, self.calibration or "auto")
        work.done()
        self.resumed_at_: dict[str, int] = work.resumed_at
        self.embedding_: FloatArray = work.timed("order", lambda: working.outward(result.rows[:, : self.n_components]))
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
            mixture=None if self.mixture_ is None else self.mixture_.facts(),
            arrays={}
            if self.mixture_ is None
            else self.mixture_.arrays() | ({} if self.pairs_ is None else self.pairs_.arrays()),
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
        header, ids, embedding, arrays = read_model(path)
        try:
            return cls._restore(header, ids, embedding, arrays)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is damaged: its header lacks or misnames {error}") from None

    @classmethod
    def _restore(
        cls, header: dict[str, Any], ids: NodeIds, embedding: FloatArray, arrays: dict[str, AnyArray]
    ) -> ContrastiveFUSE:
        known = {name: value for name, value in header["parameters"].items() if name in cls._get_param_names()}
        facts = header["facts"]
        model = cls(**known)
        model.embedding_, model.ids_ = embedding, ids
        model.threshold_ = header["threshold"]
        stored = header["calibration"]
        model.calibration_ = None if stored is None else Calibration.from_dict(stored)
        mixture = header.get("mixture")
        model.mixture_ = None if mixture is None else Mixture.restore(mixture, arrays)
        model.pairs_ = None if mixture is None else PairRows.from_arrays(arrays)
        model.n_iter_, model.converged_, model.resumed_at_ = facts["n_iter"], facts["converged"], {}
        model.history_, model.timings_ = facts["history"], facts["seconds"]
        model.graph_report_ = GraphReport.from_dict(facts["graph"])
        model.pair_report_ = None if facts["pairs"] is None else PairReport.from_dict(facts["pairs"])
        return model

    def audit_pairs(self, n: int | None = None) -> dict[str, Any]:
        """The pairs that `fit` was given, those first that are most likely wrong.

        Every pair is judged without what it has told the groups itself.

        Parameters
        ----------
        n : int, optional
            So many of them; by default all.

        Returns
        -------
        columns : dict of "node_1", "node_2" (ids), "y" (as given) and "wrong" (the probability that the sign is wrong)
        """
        mixture = self.mixture()
        assert self.pairs_ is not None
        wrong = mixture.wrong(self.embedding_, self.pairs_, self.n_jobs)
        order = np.argsort(-wrong, kind="stable")[: None if n is None else check_integer("n", n, at_least=1)]
        nodes = self.ids_.column()
        return {
            "node_1": nodes.take(self.pairs_.first[order]).to_list(),
            "node_2": nodes.take(self.pairs_.second[order]).to_list(),
            "y": self.pairs_.y[order],
            "wrong": wrong[order],
        }

    def mixture(self) -> Mixture:
        """What pairs are judged by; raises `InputError` where that is the cosine alone."""
        self._check_fitted()
        if self.mixture_ is None:
            raise InputError(
                'this needs latent groups: fit with readout="mixture" and at least 20 pairs of either sign'
            )
        return self.mixture_

    def check_parameters(self) -> Objective:
        """Raise `InputError` if a parameter cannot be used; `fit` does so too. Returns the objective."""
        check_integer("n_components", self.n_components, at_least=1)
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("unknown", self.unknown, ("error", "drop"))
        check_choice("readout", self.readout, READOUTS)
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

    def score_rows(self, first: AnyArray, second: AnyArray) -> AnyArray:
        """Log-odds that pairs are alike, or the cosine of their vectors where there is no mixture, (n,)."""
        if self.mixture_ is None:
            return row_cosines(self.embedding_, first, second)
        return self.mixture_.log_odds(self.embedding_, first, second, self.n_jobs)

    @property
    def groups_(self) -> FloatArray | None:
        """Posterior of the latent groups, (n_nodes, K)."""
        return None if self.mixture_ is None else self.mixture_.groups

    @property
    def n_groups_(self) -> int | None:
        """Groups with at least one node in two hundred."""
        return None if self.mixture_ is None else self.mixture_.n_groups

    @property
    def pair_noise_(self) -> Noise | None:
        """Estimated share of wrong pairs, with bounds."""
        return None if self.mixture_ is None else self.mixture_.readout.noise

    @property
    def homophily_(self) -> float | None:
        """Share of the edges within groups."""
        return None if self.mixture_ is None else self.mixture_.homophily

    def _mixes(self, rows: PairRows) -> bool:
        """Whether pairs are judged by the mixture."""
        both = min(int(np.sum(rows.y > 0)), int(np.sum(rows.y < 0))) >= LEAST_PAIRS
        if self.readout == "mixture" and not both:
            raise InputError(
                f'readout="mixture" needs at least {LEAST_PAIRS} pairs of either sign; there are'
                f" {int(np.sum(rows.y > 0)):,} alike and {int(np.sum(rows.y < 0)):,} unlike"
            )
        wanted = self.readout == "mixture" or (
            self.readout == "auto" and self.objective == "balanced" and self.calibration is not None
        )
        return wanted and both

    def _start(self, n_nodes: int, init: FloatArray | None, rng: np.random.Generator) -> FloatArray:
        if init is None:
            return random_rows(n_nodes, self.n_components, rng, self.n_jobs)
        given = np.asarray(init, dtype=np.float32)
        if given.shape != (n_nodes, self.n_components):
            raise InputError(f"init must have shape {(n_nodes, self.n_components)}; got {given.shape}")
        if not np.isfinite(given).all():
            raise InputError("init must hold finite numbers only")
        return aligned_copy(given)
