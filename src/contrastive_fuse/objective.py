"""Objectives: pure functions from a graph and pairs to the `Operator` of their iteration.

To add one, write such a function and enter it in `OBJECTIVES`; the contract tests pick it up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from contrastive_fuse.errors import check_choice, check_number
from contrastive_fuse.graph import Graph
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.sparse import Links, SparseRows, link_strength, stack_scaled
from contrastive_fuse.types import DoubleArray

if TYPE_CHECKING:
    import scipy.sparse as sp

Gradient = Literal["approximate", "exact"]
Scaling = Literal["both", "structure", "none"]


@dataclass(frozen=True)
class PaperScaling:
    """The adaptive step size and contrastive weight of the paper's experimental setup."""

    pair_factor: float
    density_factor: float
    eta: float
    lam: float


def paper_scaling(
    n_pairs: int, mean_degree: float, eta_scaled: float = 1e5, lambda_scaled: float = 0.75
) -> PaperScaling:
    """p*, d*, eta and lambda from the number of pairs and the mean degree.

    Without pairs p* is 0.25, its value for every n_pairs of 20,000 and more, and lambda is 0. A graph without edges has
    d* = 1.
    """
    pair_factor = max(0.25, 5000 / n_pairs) if n_pairs else 0.25
    density_factor = 1 / np.sqrt(mean_degree) if mean_degree > 0 else 1.0
    return PaperScaling(
        pair_factor=pair_factor,
        density_factor=float(density_factor),
        eta=float(eta_scaled * pair_factor * density_factor),
        lam=float(lambda_scaled * pair_factor / density_factor) if n_pairs else 0.0,
    )


def paper(
    graph: Graph,
    pairs: PairRows | None = None,
    *,
    eta_scaled: float = 1e5,
    lambda_scaled: float = 0.75,
    gradient: Gradient = "approximate",
    scaling: Scaling = "both",
) -> Operator:
    """Algorithm 1 of the paper: one step of projected gradient ascent on modularity minus signed Laplacian.

    Parameters
    ----------
    eta_scaled, lambda_scaled : float
        Step size and weight of the pairs before adaptive scaling (`paper_scaling`). ``lambda_scaled=0`` is the paper's
        ablation, structure alone.
    gradient : {"approximate", "exact"}
        Null term ``d (1' S)`` or ``d (d' S)``, each over 2m. Both cost the same here.
    scaling : {"both", "structure", "none"}
        Where the factor 1/(2m) of the gradient goes. The paper's gradient equation has it on the structural term and
        its Algorithm 1 nowhere; on both terms it reproduces the paper's results.
    """
    check_choice("gradient", gradient, ("approximate", "exact"))
    check_choice("scaling", scaling, ("both", "structure", "none"))
    check_number("eta_scaled", eta_scaled, above=0)
    check_number("lambda_scaled", lambda_scaled, at_least=0)
    degrees = graph.degrees
    two_m = max(float(degrees.sum()), 1.0)
    n_pairs = 0 if pairs is None else len(pairs.y)
    mean_degree = float(degrees.mean()) if graph.n_nodes else 0.0
    step = paper_scaling(n_pairs, mean_degree, eta_scaled, lambda_scaled)
    structure = step.eta if scaling == "none" else step.eta / two_m
    contrast = step.lam * (step.eta / two_m if scaling == "both" else step.eta)
    if contrast == 0:
        pairs = None
    null_weight = degrees if gradient == "exact" else np.ones(graph.n_nodes)
    return _operator(
        graph,
        pairs,
        edge_scale=np.full(graph.n_nodes, np.sqrt(structure)),
        pair_strength=contrast,
        u=structure * degrees / two_m,
        v=null_weight,
        shift=1 - contrast,
    )


def balanced(
    graph: Graph,
    pairs: PairRows | None = None,
    *,
    pair_strength: float | None = None,
    shift: float = 0.2,
) -> Operator:
    """Degree-normalised structure plus normalised pairs: both terms have spectral norm at most 1, whatever the graph.

    Parameters
    ----------
    pair_strength : float, optional
        Weight of the pairs against the edges; by default `default_pair_strength`.
    shift : float
        How much of itself each row keeps in a step; above 0 it damps oscillation.
    """
    if pair_strength is None:
        pair_strength = default_pair_strength(0 if pairs is None else len(pairs.y), graph.n_nodes)
    check_number("pair_strength", pair_strength, at_least=0)
    check_number("shift", shift, at_least=0)
    degrees = graph.degrees
    root = np.sqrt(degrees)
    return _operator(
        graph,
        pairs if pair_strength > 0 else None,
        edge_scale=_inverse(root),
        pair_strength=pair_strength,
        u=root / max(float(degrees.sum()), 1.0),
        v=root,
        shift=shift,
    )


def default_pair_strength(n_pairs: int, n_nodes: int) -> float:
    """Grows from 0.6 with the pairs that touch a node on average, up to 2.

    The pair term is normalised to spectral norm 1 however many pairs there are; this puts the amount of evidence back.
    Few pairs with a large weight drown the graph, and wrong pairs cap what many pairs may weigh.
    """
    return min(2.0, 0.6 + 0.15 * 2 * n_pairs / max(1, n_nodes))


def _operator(
    graph: Graph,
    pairs: PairRows | None,
    *,
    edge_scale: DoubleArray,
    pair_strength: float,
    u: DoubleArray,
    v: DoubleArray,
    shift: float,
) -> Operator:
    """Merge ``s_i A_ij s_j`` and ``strength N_ij`` into one operator, N the normalised signed pair matrix.

    A node without a pair has an empty row in N, as its contrastive degree is zero.
    """
    edges = SparseRows(graph.indptr, graph.indices, graph.weights)
    if pairs is not None and len(pairs.y):
        links = Links(pairs.first, pairs.second, pairs.signed_weight)
        merged = stack_scaled(edges, edge_scale, links, np.sqrt(pair_strength) * pair_scale(graph.n_nodes, pairs))
    else:
        merged = stack_scaled(edges, edge_scale)
    assert merged.values is not None
    return Operator(
        merged.indptr, merged.indices, merged.values, u=u.astype(np.float32), v=v.astype(np.float32), shift=shift
    )


def pair_scale(n_nodes: int, pairs: PairRows) -> DoubleArray:
    """The diagonal of ``Dc^-1/2``."""
    return _inverse(np.sqrt(link_strength(pairs.first, pairs.second, pairs.weight, n_nodes)))


def normalised_pairs(n_nodes: int, pairs: PairRows) -> sp.csr_array:
    """``N = Dc^-1/2 Y Dc^-1/2`` as a SciPy CSR array; the paper's signed Laplacian is ``I - N``."""
    import scipy.sparse as sp

    scale = pair_scale(n_nodes, pairs)
    values = scale[pairs.first] * pairs.signed_weight * scale[pairs.second]
    upper = sp.coo_array((values, (pairs.first, pairs.second)), shape=(n_nodes, n_nodes))
    return sp.csr_array(upper + upper.T)


def _inverse(values: DoubleArray) -> DoubleArray:
    """1 / x, and 0 where x is 0: nodes without edges or pairs."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


@dataclass(frozen=True)
class Objective:
    """An objective as the registry knows it: how to build its operator, and when it stops unless told."""

    build: Callable[..., Operator]
    max_iter: int
    tol: float


OBJECTIVES: dict[str, Objective] = {
    "balanced": Objective(balanced, max_iter=100, tol=1e-2),
    "paper": Objective(paper, max_iter=200, tol=1e-3),
}
