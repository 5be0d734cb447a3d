"""The one contract of all baselines: `fit(graph, pairs)` gives `embedding_`, within the memory there is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from contrastive_fuse.calibration import Calibration
from contrastive_fuse.errors import InputError, check_choice, check_integer
from contrastive_fuse.graph import Graph
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.convert import as_graph, as_pairs
from contrastive_fuse.memory import available_memory, check_memory
from contrastive_fuse.pairs import PairReport, PairRows, Unknown
from contrastive_fuse.parallel import thread_count
from contrastive_fuse.parameters import Parameterized
from contrastive_fuse.scoring import PairScorer, row_cosines
from contrastive_fuse.types import AnyArray, FloatArray, Seed


class Step(NamedTuple):
    """What a callback is told now and then: how much of a stage is done, and the loss where there is one."""

    stage: str
    done: int
    total: int
    loss: float | None = None


Callback = Callable[[Step], object]


class Task(NamedTuple):
    """What a method is given to work on.

    Attributes
    ----------
    graph : Graph
    pairs : rows of the signed pairs, or None
    settings : every setting of the method, with its value
    rng : the only source of randomness
    callback : told of each `Step`, or None
    """

    graph: Graph
    pairs: PairRows | None
    settings: dict[str, Any]
    rng: np.random.Generator
    callback: Callback | None


class Baseline(PairScorer, Parameterized):
    """A method that embeds a graph.

    Parameters
    ----------
    n_components : int
    settings : dict, optional
        Changes to the method's published settings, which its class names in ``SETTINGS``.
    unknown : {"error", "drop"}
        What to do with pairs that name a node outside the graph.
    n_jobs : int, optional
        Threads; by default all. The result does not depend on it.
    random_state : int, Generator or None

    Attributes
    ----------
    embedding_ : (n_nodes, n_components) float32
    ids_ : NodeIds
    pair_report_ : PairReport or None, what was read and what was done to it
    """

    SETTINGS: ClassVar[Mapping[str, Any]] = {}
    needs_pairs = False

    def __init__(
        self,
        n_components: int = 128,
        *,
        settings: Mapping[str, Any] | None = None,
        unknown: Unknown = "error",
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.settings = settings
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, graph: Any, pairs: Any = None, y: Any = None, *, callback: Callback | None = None) -> Baseline:
        """Embed a graph; pairs are looked at by the methods that know what to do with them."""
        settings = self.check_parameters()
        given = as_graph(graph)
        if not given.n_nodes:
            raise InputError("the graph has no nodes; there is nothing to embed")
        signed = as_pairs(pairs, y)
        if signed is None and self.needs_pairs:
            raise InputError(f"{type(self).__name__} learns from signed pairs; none were given")
        rows: PairRows | None = None
        self.pair_report_: PairReport | None = None
        if signed is not None:
            rows, self.pair_report_ = signed.rows_in(given.ids, self.unknown)
        check_memory(type(self).__name__, self.memory_estimate(given), available_memory())
        rng = np.random.default_rng(self.random_state)
        made = self.embed(Task(given, rows, settings, rng, callback))
        self.embedding_: FloatArray = np.ascontiguousarray(made, dtype=np.float32)
        self.calibration_: Calibration | None = None
        self.threshold_ = 0.0
        self.ids_: NodeIds = given.ids
        return self

    @abstractmethod
    def embed(self, task: Task) -> AnyArray:
        """The vectors, (n_nodes, n_components)."""

    def memory_estimate(self, graph: Graph) -> int:
        """Bytes that a fit takes beyond the graph, about."""
        return 3 * 4 * graph.n_nodes * int(self.n_components)

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Cosine of the two vectors of each pair, (n,)."""
        return row_cosines(unit_rows(self.embedding_), first, second)

    def check_parameters(self) -> dict[str, Any]:
        """Raise `InputError` if a parameter cannot be used; `fit` does so too. Returns the settings."""
        check_integer("n_components", self.n_components, at_least=1)
        check_choice("unknown", self.unknown, ("error", "drop"))
        thread_count(self.n_jobs)
        defaults = self.defaults()
        for name in self.settings or {}:
            if name not in defaults:
                known = ", ".join(defaults) or "none"
                raise InputError(f"{type(self).__name__} has no setting {name!r}; there are {known}")
        return {**defaults, **(self.settings or {})}

    def defaults(self) -> Mapping[str, Any]:
        """The method's published settings."""
        return self.SETTINGS


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows of length one; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(rows / lengths, dtype=np.float32)


def to_width(columns: AnyArray, width: int) -> FloatArray:
    """The first columns, or as many columns of zeros added as are missing."""
    found = np.zeros((len(columns), width), dtype=np.float32)
    kept = min(width, columns.shape[1])
    found[:, :kept] = columns[:, :kept]
    return found
