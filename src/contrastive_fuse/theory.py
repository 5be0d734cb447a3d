"""What the paper's theory says of a graph: constants, bounds and values of the objective. No n x n matrix anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg as spla

from contrastive_fuse.errors import InputError
from contrastive_fuse.graph import Graph
from contrastive_fuse.objective import normalised_pairs
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.types import DoubleArray, FloatArray, IntArray, Seed


@dataclass(frozen=True)
class EdgeBound:
    """How many edges suffice for the approximate gradient to keep its direction.

    Attributes
    ----------
    n_nodes, n_edges : int
    degree_norm : float, Euclidean norm of the degrees
    zagreb : float, the second Zagreb index: sum of d_i d_j over edges
    zagreb_constant : float, c(G) = zagreb * m / degree_norm**4
    m_min : float, (1 + n / degree_norm)**2 / c(G)
    """

    n_nodes: int
    n_edges: int
    degree_norm: float
    zagreb: float
    zagreb_constant: float
    m_min: float

    @property
    def holds(self) -> bool:
        """Whether the graph has that many edges."""
        return self.n_edges >= self.m_min


def edge_bound(graph: Graph, loops: IntArray | None = None) -> EdgeBound:
    """The Zagreb constant of a graph and the edges it needs (weights enter through degrees and edge weights).

    Parameters
    ----------
    graph : Graph
    loops : (n_loops,) rows of nodes, optional
        Self-loops, which a `Graph` has none of, each counted as one edge of weight 1 that adds 1 to its node's degree.
        The paper counts them so on WikiCS.
    """
    if not graph.n_edges:
        raise InputError("the edge bound needs at least one edge")
    looped = np.zeros(graph.n_nodes)
    if loops is not None:
        looped[loops] = 1
    degrees = graph.degrees + looped
    norm = float(np.linalg.norm(degrees))
    zagreb = float(degrees @ (graph.adjacency @ degrees)) / 2 + float(degrees @ (looped * degrees))
    m = float(graph.degrees.sum()) / 2 + float(looped.sum())
    constant = zagreb * m / norm**4
    n_edges = graph.n_edges + int(looped.sum())
    return EdgeBound(graph.n_nodes, n_edges, norm, zagreb, constant, (1 + graph.n_nodes / norm) ** 2 / constant)


def structure_gradient(graph: Graph, rows: FloatArray, *, exact: bool) -> DoubleArray:
    """``A S - d (v' S) / 2m``, in the direction of the paper's gradients.

    v is the vector of degrees in the exact gradient and all ones in the approximate one.
    """
    degrees = graph.degrees
    rows64 = rows.astype(np.float64)
    aggregate = (degrees if exact else np.ones(graph.n_nodes)) @ rows64
    return np.asarray(graph.adjacency @ rows64 - np.outer(degrees, aggregate) / max(degrees.sum(), 1.0))


def gradient_cosine(graph: Graph, rows: FloatArray) -> float:
    """Cosine between the exact and the approximate modularity gradient at the given rows."""
    exact, approximate = (structure_gradient(graph, rows, exact=kind) for kind in (True, False))
    norms = np.linalg.norm(exact) * np.linalg.norm(approximate)
    return float(np.sum(exact * approximate) / norms) if norms > 0 else 1.0


def modularity(graph: Graph, rows: FloatArray) -> float:
    """``Q(S) = tr(S' (A - d d'/2m) S) / 2m``; for one-hot rows this is Newman's modularity."""
    total = max(float(graph.degrees.sum()), 1.0)
    return float(np.sum(structure_gradient(graph, rows, exact=True) * rows)) / total


def objective_value(graph: Graph, pairs: PairRows | None, rows: FloatArray, lam: float) -> float:
    """The paper's ``J(S) = tr(S' (A - d 1'/2m) S) - lam tr(S' L_c S)``."""
    value = float(np.sum(structure_gradient(graph, rows, exact=False) * rows))
    if pairs is None or lam == 0:
        return value
    rows64 = rows.astype(np.float64)
    contrast = np.sum(rows64**2) - np.sum(rows64 * (normalised_pairs(graph.n_nodes, pairs) @ rows64))
    return value - lam * float(contrast)


def lipschitz_constant(graph: Graph, pairs: PairRows | None = None, lam: float = 0.0, random_state: Seed = 0) -> float:
    """Lipschitz constant of the gradient of the paper's objective, ``2 ||B - lam L_c||`` (spectral norm).

    ``B = A - d 1'/2m`` is not symmetric; the quadratic form and its gradient see its symmetric part only, and that is
    what the norm is taken of.
    """
    degrees, n = graph.degrees, graph.n_nodes
    total = max(float(degrees.sum()), 1.0)
    adjacency = graph.adjacency.astype(np.float64)
    contrast = normalised_pairs(n, pairs) if pairs is not None and lam else None

    def apply(vector: DoubleArray) -> DoubleArray:
        x = np.asarray(vector).reshape(-1)
        result = adjacency @ x - (degrees * x.sum() + np.full(n, degrees @ x)) / (2 * total)
        if contrast is not None:
            result = result - lam * (x - contrast @ x)
        return np.asarray(result)

    if n <= 2:
        return 2 * float(np.linalg.norm(np.stack([apply(unit) for unit in np.eye(n)]), 2))
    start = np.random.default_rng(random_state).standard_normal(n)
    operator = spla.LinearOperator((n, n), matvec=apply, dtype=np.float64)
    largest = spla.eigsh(operator, k=1, which="LM", v0=start, return_eigenvectors=False, tol=1e-6)
    return 2 * float(abs(largest[0]))
