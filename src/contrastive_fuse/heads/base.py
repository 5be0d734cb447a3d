"""The one contract of all heads: learn from pairs what the vectors of two nodes say about the pair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from contrastive_fuse.calibration import Calibration
from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.heads.presets import Settings, settings_of
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.convert import as_graph, as_pairs
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.parameters import Parameterized
from contrastive_fuse.protocol import hold_out
from contrastive_fuse.scoring import PairScorer
from contrastive_fuse.types import FloatArray, LongArray, Seed

PAIRS_AT_ONCE = 1 << 15


class Epoch(NamedTuple):
    """What a callback is told after every epoch."""

    epoch: int
    epochs: int
    loss: float
    held_out_loss: float | None


Callback = Callable[[Epoch], object]


class Problem(NamedTuple):
    """What a head learns from.

    Attributes
    ----------
    vectors : (n, k) float32
    graph : Graph or None
    train : PairRows
    held_out : PairRows or None, to end training by and to calibrate on
    """

    vectors: FloatArray
    graph: Graph | None
    train: PairRows
    held_out: PairRows | None


class PairHead(PairScorer, Parameterized):
    """A classifier of pairs on top of any embedding.

    Parameters
    ----------
    preset : {"strong", "paper"}
        How it is trained, see `contrastive_fuse.heads.presets`.
    representation : {"concat", "product", "absdiff", "symmetric"}, optional
        How the vectors of a pair become one; by default the preset's.
    settings : dict, optional
        Changes to the preset.
    device : str
        "auto" (CUDA where there is one), "cpu", "cuda". Heads without a network do not look at it.
    batching : {"auto", "whole", "sampled"}
        Whether graph layers see the whole graph in every step, or a sample of the neighbours of the pairs at hand.
        "auto" is whole where it fits into memory; the paper's preset is never sampled unless asked for.
    random_state : int, Generator or None

    Attributes
    ----------
    ids_ : NodeIds, in the order of the vectors
    calibration_ : Calibration
    threshold_ : float, the score from which `predict` says alike
    losses_ : list of float, training loss of every epoch, where there are epochs
    """

    needs_graph = False
    trains = True  # whether more is learned than how a score becomes a probability

    def __init__(
        self,
        preset: str = "strong",
        *,
        representation: str | None = None,
        settings: Mapping[str, Any] | None = None,
        device: str = "auto",
        batching: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.preset = preset
        self.representation = representation
        self.settings = settings
        self.device = device
        self.batching = batching
        self.random_state = random_state

    def fit(
        self,
        embedding: Any,
        graph: Any = None,
        pairs: Any = None,
        y: Any = None,
        *,
        ids: Any = None,
        callback: Callback | None = None,
    ) -> PairHead:
        """Learn from signed pairs.

        Parameters
        ----------
        embedding : (n, k) array, one row a node; any method's
        graph : Graph or anything that becomes one, optional
            Needed by graph networks; its ids name the rows.
        pairs : SignedPairs, (n, 2) array of node ids or table
        y : (n,) of -1 and +1, unless ``pairs`` brings it
        ids : sequence of node ids, optional
            Names of the rows where no graph is given; by default 0..n-1. With a graph, the rows are brought into its
            order by their names.
        callback : callable, optional
            Called with an `Epoch` after every epoch.
        """
        settings = self.check_parameters()
        signed = as_pairs(pairs, y)
        if signed is None:
            raise InputError("a head learns from signed pairs; none were given")
        vectors, given, names = _aligned(embedding, graph, ids)
        if given is None and self.needs_graph:
            raise InputError(f"{type(self).__name__} refines vectors over the edges of a graph; none was given")
        rows, _ = signed.rows_in(names)
        if (rows.y > 0).all() or (rows.y < 0).all():
            raise InputError("a head needs pairs of both signs")
        rng = np.random.default_rng(self.random_state)
        kept = hold_out(rows, rng) if settings.holds_out and self.trains else None
        train, held_out = (rows, None) if kept is None else (rows.subset(kept), rows.subset(~kept))
        self.losses_: list[float] = []
        self.learn(Problem(vectors, given, train, held_out), settings, rng, callback)
        self.calibration_ = Calibration("platt", 0, float("nan"), slope=1.0)  # the score is log odds
        if settings.calibrate and held_out is not None:
            scores = self.score_rows(held_out.first, held_out.second)
            self.calibration_ = Calibration.learn(scores, held_out.y, "platt")
        self.threshold_ = self.calibration_.threshold
        self.ids_: NodeIds = names
        return self

    @abstractmethod
    def learn(self, problem: Problem, settings: Settings, rng: np.random.Generator, callback: Callback | None) -> None:
        """Learn whatever `score_rows` needs."""

    def memory_estimate(self, n_nodes: int, n_components: int, n_edges: int, n_pairs: int) -> int:
        """Bytes that training takes beyond the inputs, about."""
        return 4 * min(n_pairs, PAIRS_AT_ONCE) * 4 * n_components

    def check_parameters(self) -> Settings:
        """Raise `InputError` if a parameter cannot be used; `fit` does so too."""
        return settings_of(self.preset, self.representation, self.settings)


def _aligned(embedding: Any, graph: Any, ids: Any) -> tuple[FloatArray, Graph | None, NodeIds]:
    """Vectors in the order of the graph's nodes, the graph, and the names of the rows."""
    vectors = np.ascontiguousarray(np.asarray(embedding), dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise InputError(f"an embedding must have shape (n_nodes, n_components); got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise InputError("the embedding must hold finite numbers only")
    names = None if ids is None else ids if isinstance(ids, NodeIds) else NodeIds(ids)
    if names is not None and len(names) != len(vectors):
        raise InputError(f"{len(names):,} ids were given for {len(vectors):,} vectors")
    if graph is None:
        return vectors, None, NodeIds(len(vectors)) if names is None else names
    given = as_graph(graph)
    if names is not None:
        order = names.rows(given.ids.column())
        if (order < 0).any():
            missing = given.ids.take(np.flatnonzero(order < 0)[:5])
            raise InputError(f"{np.count_nonzero(order < 0):,} nodes of the graph have no vector: {missing!r}")
        vectors = vectors[order]
    if len(vectors) != given.n_nodes:
        raise InputError(f"there must be one vector for each of the {given.n_nodes:,} nodes; got {len(vectors):,}")
    return vectors, given, given.ids


def in_blocks(score: Callable[[LongArray, LongArray], FloatArray], first: Any, second: Any) -> FloatArray:
    """Scores of many pairs, a block at a time so that memory stays small."""
    scores = np.empty(len(first), dtype=np.float32)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        block = slice(start, start + PAIRS_AT_ONCE)
        scores[block] = score(first[block], second[block])
    return scores
