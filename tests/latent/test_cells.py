import numpy as np

from contrastive_fuse.latent.cells import find_cells


def bunches(n, k, spread, seed):
    """Unit rows around k directions, and the direction of each."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, k, n)
    rows = np.eye(k, 24)[which] + spread * rng.standard_normal((n, 24))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), which


def test_bunches_are_found(seed):
    rows, which = bunches(2000, 7, 0.1, seed)
    cell = find_cells(rows, 7, np.random.default_rng(seed))
    assert len({(a, b) for a, b in zip(cell.tolist(), which.tolist(), strict=True)}) == 7


def test_same_cells_for_any_number_of_threads():
    rows, _ = bunches(9000, 12, 0.4, 0)
    one, two, five = (find_cells(rows, 20, np.random.default_rng(3), n_jobs) for n_jobs in (1, 2, 5))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, five)


def test_many_rows_are_assigned_to_cells_learned_from_some(monkeypatch):
    monkeypatch.setattr("contrastive_fuse.latent.cells.LEARNED_FROM", 500)
    rows, which = bunches(5000, 5, 0.1, 0)
    cell = find_cells(rows, 5, np.random.default_rng(0))
    assert len({(a, b) for a, b in zip(cell.tolist(), which.tolist(), strict=True)}) == 5


def test_fewer_rows_than_cells():
    rows, _ = bunches(3, 3, 0.1, 0)
    assert sorted(find_cells(rows, 60, np.random.default_rng(0)).tolist()) == [0, 1, 2]
    same = np.tile(rows[:1], (50, 1))
    assert find_cells(same, 8, np.random.default_rng(0)).max() < 8
