"""What every kernel must do, the day it is entered in the registry."""

import numpy as np
import pytest

from contrastive_fuse.kernels import KERNELS, get_combine, get_kernel
from contrastive_fuse.kernels.contract import null_sum, padded_width
from contrastive_fuse.operator import Operator
from contrastive_fuse.projection import UNIT_ROWS, Projection
from contrastive_fuse.rows import aligned_copy, aligned_rows

WIDTHS = (1, 2, 3, 4, 7, 8, 16, 20, 48, 64, 100, 128, 200, 256)
every_kernel = pytest.mark.parametrize("name", KERNELS)


def random_operator(n, tables, rng, density=0.05):
    """A random sparse operator with empty rows, repeated columns and a hub."""
    counts = rng.poisson(density * n, n)
    counts[::7] = 0
    counts[3] = 5 * n
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = rng.integers(0, n * tables, indptr[-1]).astype(np.int32)
    values = rng.standard_normal(indptr[-1]).astype(np.float32)
    u, v = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n * tables).astype(np.float32)
    return Operator(indptr, indices, values, u / 10, v / 10, 0.3)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def expected_step(operator, state, tables=None):
    """Dense, in double precision."""
    stacked = (state if tables is None else tables).astype(np.float64)
    matrix = operator.matrix.toarray().astype(np.float64)
    return matrix @ stacked - np.outer(operator.u, operator.v.astype(np.float64) @ stacked)


@every_kernel
@pytest.mark.parametrize("width", WIDTHS)
def test_step_is_the_formula(name, width, seed):
    rng = np.random.default_rng(seed)
    operator = random_operator(203, 1, rng)
    rows = unit(rng.standard_normal((203, width)))
    state, out = aligned_copy(rows), aligned_rows(203, width)
    done = get_kernel(name)(operator, state, out, null_sum(operator, state), projection=UNIT_ROWS)

    gradient = expected_step(operator, rows)
    candidate = gradient + 0.3 * rows
    expected = candidate / np.linalg.norm(candidate, axis=1, keepdims=True)
    np.testing.assert_allclose(out[:, :width], expected, atol=3e-4)
    assert not out[:, width:].any()
    assert done.gain == pytest.approx(np.sum(gradient * rows), rel=1e-3, abs=1e-2)
    assert done.change == pytest.approx(np.sqrt(np.mean(np.sum((expected - rows) ** 2, axis=1))), rel=1e-3)
    np.testing.assert_allclose(done.null_sum[:width], operator.v @ out[:, :width], rtol=1e-3, atol=1e-4)


@every_kernel
def test_same_bits_for_any_number_of_threads(name, seed):
    rng = np.random.default_rng(seed)
    operator = random_operator(3001, 1, rng, density=0.01)
    state = aligned_copy(unit(rng.standard_normal((3001, 64))))
    null = null_sum(operator, state)
    results = []
    for n_jobs in (1, 2, 5):
        out = aligned_rows(3001, 64)
        done = get_kernel(name)(operator, state, out, null, projection=UNIT_ROWS, n_jobs=n_jobs)
        results.append((out.tobytes(), done.change, done.gain, done.null_sum.tobytes()))
    assert results[0] == results[1] == results[2]


@every_kernel
def test_a_row_brought_to_zero_stays(name):
    empty = np.zeros(0, dtype=np.float32)
    nothing = np.zeros(4, dtype=np.float32)
    operator = Operator(np.zeros(5, np.int64), empty.astype(np.int32), empty, nothing, nothing, 0.0)
    state = aligned_copy(unit(np.random.default_rng(0).standard_normal((4, 8))))
    out = aligned_rows(4, 8)
    done = get_kernel(name)(operator, state, out, null_sum(operator, state), projection=UNIT_ROWS)
    np.testing.assert_array_equal(out, state)
    assert done.change == 0


@every_kernel
def test_change_resolves_tiny_moves(name):
    """Convergence is judged by it, so it must not drown in rounding."""
    n = 50
    rows = unit(np.random.default_rng(0).standard_normal((n, 16)))
    diagonal = Operator(
        np.arange(n + 1), np.arange(n, dtype=np.int32), np.ones(n, np.float32), np.zeros(n, np.float32),
        np.zeros(n, np.float32), 1e-3,
    )  # fmt: skip
    state, out = aligned_copy(rows), aligned_rows(n, 16)
    done = get_kernel(name)(diagonal, state, out, null_sum(diagonal, state), projection=UNIT_ROWS)
    assert done.change < 3e-7


@every_kernel
def test_other_projection_and_stacked_tables(name, seed):
    """Stage two: three tables of one state, one product, rows brought back to a simplex."""
    rng = np.random.default_rng(seed)
    operator = random_operator(101, 3, rng)
    state = aligned_copy(rng.dirichlet(np.ones(16), 101).astype(np.float32))
    tables = np.concatenate([state, np.log1p(state), state**2])
    out = aligned_rows(101, 16)

    def softmax(candidate, previous):
        grown = np.exp(candidate - candidate.max(axis=1, keepdims=True))
        return 0.5 * previous + 0.5 * grown / grown.sum(axis=1, keepdims=True)

    get_kernel(name)(
        operator, state, out, null_sum(operator, tables), projection=Projection("simplex", softmax), tables=tables
    )
    expected = softmax(expected_step(operator, state, tables) + 0.3 * state, state)
    np.testing.assert_allclose(out, expected, atol=2e-4)


@pytest.mark.parametrize(("columns", "width"), [(1, 1), (3, 4), (5, 8), (9, 16), (16, 16), (17, 32), (150, 160)])
def test_padded_width(columns, width):
    assert padded_width(columns) == width


@every_kernel
@pytest.mark.parametrize("width", [1, 3, 16, 20])
def test_combine_is_the_step_without_null_term_and_projection(name, width, seed):
    rng = np.random.default_rng(seed)
    operator = random_operator(203, 2, rng)
    rows, tables = rng.standard_normal((203, width)), rng.standard_normal((406, width))
    state, out = aligned_copy(rows.astype(np.float32)), aligned_rows(203, width)
    get_combine(name)(operator, state, aligned_copy(tables.astype(np.float32)), out)
    expected = operator.matrix.toarray().astype(np.float64) @ tables + 0.3 * rows
    np.testing.assert_allclose(out[:, :width], expected, rtol=1e-4, atol=2e-4)
    assert not out[:, width:].any()


@every_kernel
def test_unit_rows_of_several_tables(name, seed):
    """The projection that the fast kernel fuses, with tables that are not the state."""
    rng = np.random.default_rng(seed)
    operator = random_operator(203, 2, rng)
    rows, tables = unit(rng.standard_normal((203, 16))), rng.standard_normal((406, 16)).astype(np.float32)
    state, out = aligned_copy(rows), aligned_rows(203, 16)
    null = null_sum(operator, tables)
    done = get_kernel(name)(operator, state, out, null, projection=UNIT_ROWS, tables=aligned_copy(tables))
    candidate = expected_step(operator, rows, tables) + 0.3 * rows
    expected = candidate / np.linalg.norm(candidate, axis=1, keepdims=True)
    np.testing.assert_allclose(out, expected, atol=3e-4)
    assert done.change == pytest.approx(np.sqrt(np.mean(np.sum((expected - rows) ** 2, axis=1))), rel=1e-3)
    assert len(done.null_sum) == 0
