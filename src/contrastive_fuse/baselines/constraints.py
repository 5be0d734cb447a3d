"""Methods that take the pairs at their word: what can be had from constraints with little or no graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from contrastive_fuse.baselines.base import Baseline, Task, to_width, unit_rows
from contrastive_fuse.errors import InputError, check_integer, check_number
from contrastive_fuse.objective import normalised_pairs
from contrastive_fuse.types import AnyArray, FloatArray, IntArray, LongArray

LOOKED_AT = 32  # eigenvectors among which the widest gap is looked for, unless their number is given


class UnionFind(Baseline):
    """Must-links closed transitively; cannot-links hold between whole components.

    A pair scores 1 within a component, -1 across two that a cannot-link divides, and 0 where nothing follows. The
    vectors are one random direction a component.
    """

    needs_pairs = True

    def embed(self, task: Task) -> AnyArray:
        graph, pairs, rng = task.graph, task.pairs, task.rng
        import scipy.sparse as sp
        from scipy.sparse.csgraph import connected_components

        assert pairs is not None
        alike = pairs.y > 0
        n = graph.n_nodes
        links = sp.coo_array((np.ones(int(alike.sum())), (pairs.first[alike], pairs.second[alike])), shape=(n, n))
        count, component = connected_components(links, directed=False)
        self.component_: IntArray = component.astype(np.int32)
        self.divided_: LongArray = np.unique(self._keys(pairs.first[~alike], pairs.second[~alike]))
        directions = unit_rows(rng.standard_normal((count, int(self.n_components)), dtype=np.float32))
        return np.asarray(directions[component])

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """1 for pairs that must be alike, -1 for pairs that cannot be, 0 for others, (n,)."""
        same = self.component_[first] == self.component_[second]
        apart = np.isin(self._keys(first, second), self.divided_)
        return np.where(same, 1, np.where(apart, -1, 0)).astype(np.float32)

    def _keys(self, first: AnyArray, second: AnyArray) -> LongArray:
        one, two = self.component_[first].astype(np.int64), self.component_[second].astype(np.int64)
        return np.asarray(np.minimum(one, two) * len(self.component_) + np.maximum(one, two))


class NodeRate(Baseline):
    """The product of the two nodes' shares of alike training pairs: what a pair's nodes tell, each for itself.

    Shares are drawn towards the overall one by ``prior`` imagined pairs. Where this does well, a result on random pairs
    says little about alike-ness.
    """

    needs_pairs = True
    SETTINGS: ClassVar[Mapping[str, Any]] = {"prior": 1.0}

    def embed(self, task: Task) -> AnyArray:
        graph, pairs, settings = task.graph, task.pairs, task.settings
        assert pairs is not None
        prior = check_number("prior", settings["prior"], at_least=0)
        self.rate_: FloatArray = pairs.alike_shares(graph.n_nodes, prior).astype(np.float32)
        return to_width(self.rate_[:, None], int(self.n_components))

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """Product of the rates of the two nodes, (n,)."""
        return np.asarray(self.rate_[first] * self.rate_[second])


class SignedSpectral(Baseline):
    """Leading eigenvectors of the normalised signed pair matrix, scaled by the root of their eigenvalues; no graph."""

    needs_pairs = True
    SETTINGS: ClassVar[Mapping[str, Any]] = {"vectors": None}

    def embed(self, task: Task) -> AnyArray:
        graph, pairs, settings, rng = task.graph, task.pairs, task.settings, task.rng
        import scipy.sparse.linalg as spla

        assert pairs is not None
        matrix = normalised_pairs(graph.n_nodes, pairs).astype(np.float64)
        wanted = _vectors(settings, self.n_components, graph.n_nodes)
        values, vectors = spla.eigsh(matrix, wanted, which="LA", v0=rng.standard_normal(graph.n_nodes), tol=1e-4)
        order = np.argsort(-values)[: _before_the_gap(-values, settings)]
        return to_width(vectors[:, order] * np.sqrt(np.maximum(values[order], 0)), int(self.n_components))


class SignedLaplacian(Baseline):
    """Graph and constraints together as a generalised eigenproblem (SPONGE, Cucuringu et al. 2019).

    Edges and must-links attract, cannot-links repel: the smallest generalised eigenvalues of ``L+ + tau D-`` against
    ``L- + tau D+``, by LOBPCG.
    """

    needs_pairs = True
    SETTINGS: ClassVar[Mapping[str, Any]] = {"vectors": None, "tau": 1.0, "pair_weight": 1.0, "max_iter": 200}

    def embed(self, task: Task) -> AnyArray:
        graph, pairs, settings, rng = task.graph, task.pairs, task.settings, task.rng
        import warnings

        import scipy.sparse as sp
        import scipy.sparse.linalg as spla

        assert pairs is not None
        n, tau = graph.n_nodes, check_number("tau", settings["tau"], above=0)
        strength = check_number("pair_weight", settings["pair_weight"], above=0)
        weight = np.full(len(pairs.y), strength) if pairs.weight is None else strength * pairs.weight
        parts = []
        for sign in (1, -1):
            chosen = pairs.y == sign
            half = sp.coo_array((weight[chosen], (pairs.first[chosen], pairs.second[chosen])), shape=(n, n))
            parts.append(sp.csr_array(half + half.T))
        attract, repel = sp.csr_array(parts[0] + graph.adjacency.astype(np.float64)), parts[1]
        plus, minus = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (attract, repel))
        small = 1e-6 * (1 + plus.mean())  # nodes that nothing holds
        left = sp.csr_array(sp.diags_array(plus + tau * minus + small) - attract)
        right = sp.csr_array(sp.diags_array(minus + tau * plus + small) - repel)
        start = rng.standard_normal((n, _vectors(settings, self.n_components, n)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the tolerance was not reached; vectors are near enough
            values, vectors = spla.lobpcg(
                left, start, B=right, M=sp.diags_array(1 / left.diagonal()), largest=False, tol=1e-4,
                maxiter=check_integer("max_iter", settings["max_iter"], at_least=1),
            )  # fmt: skip
        order = np.argsort(values)[: _before_the_gap(values, settings)]
        return to_width(vectors[:, order], int(self.n_components))


class LabelPropagationOracle(Baseline):
    """An oracle, not a method: it is told the TRUE class of every node in a training pair, and spreads these.

    Settings
    --------
    labels : (n_nodes,) integers, below 0 where a node has no class; classes of nodes in no training pair are not used
    damping, rounds : of ``F <- damping D^-1/2 A D^-1/2 F``, known nodes kept
    prior : share of the classes that is added to every row
    """

    needs_pairs = True
    SETTINGS: ClassVar[Mapping[str, Any]] = {"labels": None, "damping": 0.9, "rounds": 50, "prior": 0.02}

    def embed(self, task: Task) -> AnyArray:
        graph, pairs, settings = task.graph, task.pairs, task.settings
        import scipy.sparse as sp

        assert pairs is not None
        if settings["labels"] is None:
            raise InputError('the oracle is told the true classes: settings={"labels": ...}')
        labels = np.asarray(settings["labels"])
        if labels.shape != (graph.n_nodes,):
            raise InputError(f"labels must have one entry for each of the {graph.n_nodes:,} nodes; got {labels.shape}")
        seen = np.zeros(graph.n_nodes, dtype=bool)
        seen[pairs.first] = seen[pairs.second] = True
        seen &= labels >= 0
        classes, place = np.unique(labels[seen], return_inverse=True)
        told = np.zeros((graph.n_nodes, len(classes)))
        told[seen, place] = 1
        root = np.sqrt(graph.degrees)
        scale = sp.diags_array(np.divide(1, root, out=np.zeros_like(root), where=root > 0))
        spread = sp.csr_array(scale @ graph.adjacency @ scale)
        rows = told.copy()
        for _ in range(check_integer("rounds", settings["rounds"], at_least=1)):
            rows = float(settings["damping"]) * (spread @ rows)
            rows[seen] = told[seen]
        rows += float(settings["prior"]) * told.sum(axis=0) / told.sum()
        self.rows_: FloatArray = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
        return to_width(self.rows_, int(self.n_components))

    def score_rows(self, first: AnyArray, second: AnyArray) -> FloatArray:
        """How likely both nodes are of one class, (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.rows_[first], self.rows_[second]))


def _vectors(settings: dict[str, Any], n_components: int, n_nodes: int) -> int:
    """How many eigenvectors to compute."""
    given = settings["vectors"]
    wanted = LOOKED_AT if given is None else check_integer("vectors", given, at_least=1)
    return max(1, min(wanted, int(n_components), n_nodes - 2))


def _before_the_gap(values: AnyArray, settings: dict[str, Any]) -> int:
    """How many of the best to keep, smallest values first: those before the widest gap, at least two."""
    if settings["vectors"] is not None or len(values) < 3:
        return len(values)
    return 2 + int(np.argmax(np.diff(np.sort(values))[1:]))
