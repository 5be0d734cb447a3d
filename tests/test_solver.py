import numpy as np
import pytest

from contrastive_fuse import InputError
from contrastive_fuse.kernels import KERNELS
from contrastive_fuse.objective import balanced
from contrastive_fuse.operator import Operator
from contrastive_fuse.projection import Projection
from contrastive_fuse.rows import aligned_rows, is_aligned, random_rows
from contrastive_fuse.solver import solve


@pytest.fixture
def operator(community_graph, community_pairs):
    return balanced(community_graph.graph, community_pairs[0].rows_in(community_graph.graph.ids)[0])


def test_random_rows_are_unit_and_do_not_depend_on_threads(seed):
    one, three = (random_rows(70_000, 10, seed, n_jobs) for n_jobs in (1, 3))
    np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, rtol=1e-5)
    assert one.tobytes() == three.tobytes()
    assert is_aligned(one)
    assert not np.array_equal(one, random_rows(70_000, 10, seed + 1))


def test_stops_when_rows_come_to_rest(operator):
    result = solve(operator, random_rows(600, 16, 0), max_iter=2000, tol=1e-4)
    assert result.converged
    assert result.change[-1] < 1e-4 <= result.change[-2]
    assert len(result.change) == len(result.gain) == result.n_iter < 2000
    again = solve(operator, result.rows, max_iter=5, tol=1e-4)
    assert again.n_iter == 1, "a fixed point is where it ends"


def test_gain_rises_once_the_shift_makes_the_operator_positive(community_graph):
    operator = balanced(community_graph.graph, shift=1.0)
    gain = solve(operator, random_rows(600, 16, 0), max_iter=60, tol=0).gain
    assert np.all(np.diff(gain) > -1e-3 * abs(gain[-1]))
    assert gain[-1] > gain[0] + 10


def test_ends_at_the_limit(operator):
    result = solve(operator, random_rows(600, 16, 0), max_iter=3, tol=0)
    assert (result.n_iter, result.converged) == (3, False)


def test_zero_iterations_give_the_start_back(operator):
    start = random_rows(600, 16, 0)
    np.testing.assert_array_equal(solve(operator, start, max_iter=0).rows, start)


def test_start_is_left_alone_unless_allowed(operator):
    start = random_rows(600, 16, 0)
    before = start.copy()
    solve(operator, start, max_iter=3)
    np.testing.assert_array_equal(start, before)
    result = solve(operator, start, max_iter=2, overwrite_init=True)
    assert np.shares_memory(result.rows, start)


@pytest.mark.parametrize("kernel", KERNELS)
def test_any_number_of_columns(operator, kernel):
    rows = random_rows(600, 5, 0)[:, :5]
    assert solve(operator, rows, max_iter=4, kernel=kernel).rows.shape == (600, 5)


def test_kernels_agree(operator):
    fast, slow = (solve(operator, random_rows(600, 20, 0), max_iter=10, tol=0, kernel=name) for name in KERNELS)
    np.testing.assert_allclose(fast.rows, slow.rows, atol=1e-4)
    np.testing.assert_allclose(fast.gain, slow.gain, rtol=1e-4)


def test_callback_hears_of_every_iteration(operator):
    heard = []
    result = solve(operator, random_rows(600, 8, 0), max_iter=5, tol=0, callback=heard.append, stage="x")
    assert [step.iteration for step in heard] == [1, 2, 3, 4, 5]
    assert [step.change for step in heard] == result.change
    assert {(step.stage, step.max_iter) for step in heard} == {("x", 5)}


def test_wrong_shape_of_start(operator):
    with pytest.raises(InputError, match="one row for each of the 600 nodes"):
        solve(operator, aligned_rows(3, 4))


@pytest.mark.parametrize("kernel", KERNELS)
def test_latent_groups_need_no_second_loop(community_graph, kernel):
    """Another projection and three stacked tables: a mean-field inference over groups runs in the same loop.

    Messages from friends pull towards a node's own group, a rank-one term holds the groups apart.
    """
    graph, n_groups = community_graph.graph, 3
    n = graph.n_nodes
    zero = np.zeros(n, dtype=np.float32)
    root = np.sqrt(graph.degrees).astype(np.float32)
    values = np.repeat(3 / np.sqrt(np.maximum(graph.degrees, 1)), np.diff(graph.indptr)).astype(np.float32)
    operator = Operator(
        graph.indptr, graph.indices, values, 3 * root / root.sum(), np.concatenate([root, zero, zero]), 0.0
    )

    def tables(groups):
        return np.concatenate([np.log1p(8 * groups), groups, groups])  # two of the three are without weight here

    def softmax(candidate, previous):
        padding = np.arange(candidate.shape[1]) >= n_groups
        grown = np.exp(candidate - candidate.max(axis=1, keepdims=True)) * ~padding
        return (0.5 * previous + 0.5 * grown / grown.sum(axis=1, keepdims=True)).astype(np.float32)

    start = np.full((n, n_groups), 0.1, dtype=np.float32)
    start[np.arange(n), community_graph.labels] = 0.8
    noisy = np.random.default_rng(0).permutation(n)[: n // 5]
    start[noisy] = 1 / n_groups
    result = solve(
        operator, start, projection=Projection("simplex", softmax), expand=tables, max_iter=50, tol=1e-4, kernel=kernel
    )
    np.testing.assert_allclose(result.rows.sum(axis=1), 1, rtol=1e-4)
    found = result.rows.argmax(axis=1)
    assert np.mean(found[noisy] == community_graph.labels[noisy]) > 0.75
