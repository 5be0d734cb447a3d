import numpy as np
import pytest

from contrastive_fuse import Graph, InputError, SignedPairs
from contrastive_fuse.objective import (
    OBJECTIVES,
    balanced,
    default_pair_strength,
    normalised_pairs,
    paper,
    paper_scaling,
)
from contrastive_fuse.rows import random_rows
from contrastive_fuse.solver import solve


@pytest.fixture(params=["plain", "weighted"])
def problem(request, seed):
    """Graph and pairs, with and without weights, an isolated node and nodes without a pair among them."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, 39, (2, 120))
    weight = rng.uniform(0.5, 3, 120) if request.param == "weighted" else None
    graph = Graph.from_edges(source, target, weight, nodes=40)
    strength = rng.uniform(0.5, 3, 60) if request.param == "weighted" else None
    pairs = SignedPairs(rng.integers(0, 30, (60, 2)), rng.choice([-1, 1], 60), strength)
    return graph, pairs.rows_in(graph.ids)[0]


def dense_pairs(pairs, n):
    """N = Dc^-1/2 Y Dc^-1/2, and Y, as the paper writes them."""
    signed = np.zeros((n, n))
    signed[pairs.first, pairs.second] = pairs.signed_weight
    signed += signed.T
    degree = np.abs(signed).sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    return scale[:, None] * signed * scale


def one_step(operator, rows):
    return solve(operator, rows, max_iter=1, tol=0).rows


@pytest.mark.parametrize("gradient", ["approximate", "exact"])
@pytest.mark.parametrize("scaling", ["both", "structure", "none"])
@pytest.mark.parametrize("lambda_scaled", [0.0, 0.75])
def test_paper_is_algorithm_1(problem, gradient, scaling, lambda_scaled):
    """Written out with dense matrices, line by line."""
    graph, pairs = problem
    n, adjacency, degrees = graph.n_nodes, graph.adjacency.toarray().astype(float), graph.degrees
    two_m = degrees.sum()
    p = max(0.25, 5000 / len(pairs.y))
    d = 1 / np.sqrt(degrees.mean())
    eta, lam = 1e3 * p * d, lambda_scaled * p / d
    null = np.outer(degrees, degrees if gradient == "exact" else np.ones(n)) / two_m
    laplacian = np.eye(n) - dense_pairs(pairs, n)
    rows = random_rows(n, 8, 0)
    structural = (adjacency - null) @ rows / (two_m if scaling != "none" else 1)
    contrastive = -laplacian @ rows / (two_m if scaling == "both" else 1)
    moved = rows + eta * (structural + lam * contrastive)
    expected = moved / np.linalg.norm(moved, axis=1, keepdims=True)

    operator = paper(graph, pairs, eta_scaled=1e3, lambda_scaled=lambda_scaled, gradient=gradient, scaling=scaling)
    np.testing.assert_allclose(one_step(operator, rows), expected, atol=2e-4)


def test_balanced_is_its_row_of_the_design(problem):
    graph, pairs = problem
    n, degrees = graph.n_nodes, graph.degrees
    scale = np.divide(1, np.sqrt(degrees), out=np.zeros(n), where=degrees > 0)
    matrix = scale[:, None] * graph.adjacency.toarray() * scale + 1.5 * dense_pairs(pairs, n)
    root = np.sqrt(degrees)
    rows = random_rows(n, 8, 0)
    moved = (matrix - np.outer(root, root) / degrees.sum()) @ rows + 0.2 * rows
    expected = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    np.testing.assert_allclose(one_step(balanced(graph, pairs, pair_strength=1.5), rows), expected, atol=1e-4)


def test_normalised_pairs(problem):
    pairs = problem[1]
    np.testing.assert_allclose(normalised_pairs(40, pairs).toarray(), dense_pairs(pairs, 40), atol=1e-6)


def test_lambda_zero_is_structure_alone(problem):
    graph, pairs = problem
    rows = random_rows(40, 8, 0)
    p_star = max(0.25, 5000 / len(pairs.y))
    without = paper(graph, None, eta_scaled=1e5 * p_star / 0.25)
    np.testing.assert_allclose(one_step(paper(graph, pairs, lambda_scaled=0), rows), one_step(without, rows), atol=1e-5)


@pytest.mark.parametrize("n_pairs", [0, 100, 20_000, 500_000])
def test_adaptive_scaling(n_pairs):
    scaling = paper_scaling(n_pairs, mean_degree=4.0)
    p = {0: 0.25, 100: 50.0, 20_000: 0.25, 500_000: 0.25}[n_pairs]
    assert (scaling.pair_factor, scaling.density_factor) == (p, 0.5)
    assert scaling.eta == pytest.approx(1e5 * p * 0.5)
    assert scaling.lam == pytest.approx(0.75 * p / 0.5 if n_pairs else 0)


def test_default_pair_strength_follows_the_evidence():
    assert default_pair_strength(0, 100) == pytest.approx(0.6)
    assert default_pair_strength(100, 100) == pytest.approx(0.9)
    assert default_pair_strength(10_000, 100) == 2


@pytest.mark.parametrize("name", OBJECTIVES)
def test_rows_stay_unit_and_finite(name, problem):
    graph, pairs = problem
    rows = solve(OBJECTIVES[name].build(graph, pairs), random_rows(40, 8, 0), max_iter=30, tol=0).rows
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_indices_are_narrow_and_pointers_wide(name, problem):
    operator = OBJECTIVES[name].build(*problem)
    assert operator.indptr.dtype == np.int64
    assert operator.indices.dtype == np.int32
    assert operator.values.dtype == operator.u.dtype == operator.v.dtype == np.float32


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_graph_without_edges_is_pairs_alone(name):
    graph = Graph.from_edges([], [], nodes=4)
    pairs = SignedPairs([(0, 1), (2, 3), (0, 2)], [1, 1, -1]).rows_in(graph.ids)[0]
    rows = solve(OBJECTIVES[name].build(graph, pairs), random_rows(4, 4, 0), max_iter=200).rows
    assert np.isfinite(rows).all()
    if name == "balanced":
        assert rows[0] @ rows[1] > 0.9 > -0.9 > rows[0] @ rows[2]


@pytest.mark.parametrize(
    ("build", "params", "message"),
    [
        (paper, {"gradient": "newton"}, "gradient must be one of 'approximate', 'exact'; got 'newton'"),
        (paper, {"scaling": "all"}, "scaling must be one of"),
        (paper, {"eta_scaled": 0}, "eta_scaled must be a finite number above 0; got 0"),
        (paper, {"lambda_scaled": -1}, "lambda_scaled must be a finite number of at least 0; got -1"),
        (balanced, {"pair_strength": float("nan")}, "pair_strength must be a finite number"),
        (balanced, {"shift": "much"}, "shift must be a number; got 'much'"),
    ],
)
def test_bad_parameters(tiny, build, params, message):
    with pytest.raises(InputError, match=message):
        build(tiny[0], None, **params)
