import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, InputError
from contrastive_fuse.checkpoint import Checkpoint
from contrastive_fuse.objective import balanced
from contrastive_fuse.rows import random_rows
from contrastive_fuse.solver import solve


def interrupt_at(iteration, stage=None):
    def callback(step):
        if step.iteration == iteration and stage in (None, step.stage):
            raise KeyboardInterrupt

    return callback


def test_goes_on_with_the_same_bits(tmp_path, community_graph):
    operator = balanced(community_graph.graph)
    whole = solve(operator, random_rows(600, 16, 0), max_iter=20, tol=0)
    path = tmp_path / "state.npz"
    with pytest.raises(KeyboardInterrupt):
        solve(operator, random_rows(600, 16, 0), tol=0, callback=interrupt_at(7), checkpoint=Checkpoint(path))
    checkpoint = Checkpoint(path)
    rest = solve(operator, random_rows(600, 16, 0), max_iter=20, tol=0, checkpoint=checkpoint)
    assert checkpoint.resumed_at == 7
    assert rest.rows.tobytes() == whole.rows.tobytes()
    assert rest.change == whole.change


@pytest.mark.parametrize("changed", ["graph", "start"])
def test_another_problem_starts_anew(tmp_path, community_graph, changed):
    path = tmp_path / "state.npz"
    operator = balanced(community_graph.graph)
    with pytest.raises(KeyboardInterrupt):
        solve(operator, random_rows(600, 16, 0), callback=interrupt_at(3), checkpoint=Checkpoint(path))
    other = balanced(community_graph.graph, shift=0.7) if changed == "graph" else operator
    checkpoint = Checkpoint(path)
    solve(other, random_rows(600, 16, 1 if changed == "start" else 0), max_iter=4, checkpoint=checkpoint)
    assert checkpoint.resumed_at == 0


def test_writes_now_and_then(tmp_path, community_graph):
    path = tmp_path / "state.npz"
    written = []
    solve(
        balanced(community_graph.graph), random_rows(600, 16, 0), max_iter=3, tol=0,
        checkpoint=Checkpoint(path, every=0), callback=lambda step: written.append(path.exists()),
    )  # fmt: skip
    assert written == [True, True, True]


@pytest.mark.parametrize(
    ("readout", "stage"),
    [("cosine", "calibration"), ("cosine", "embedding"), ("mixture", "calibration 2"), ("mixture", "embedding")],
)
def test_interrupted_fit_goes_on(tmp_path, community_graph, community_pairs, readout, stage):
    def fit(**options):
        model = ContrastiveFUSE(
            16, readout=readout, random_state=0, tol=0, max_iter=24
        )  # 24 without the held-out pairs, then 6 with all
        return model.fit(community_graph.graph, community_pairs[0], **options)

    whole = fit()
    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        fit(checkpoint=path, callback=interrupt_at(5, stage))
    assert (tmp_path / f"run.{stage.replace(' ', '-')}.npz").exists()
    heard = []
    rest = fit(checkpoint=path, callback=heard.append)
    assert min(step.iteration for step in heard if step.stage == stage) == 6
    assert rest.resumed_at_[stage] == 5
    assert all(step == 24 for name, step in rest.resumed_at_.items() if name != stage), "finished stages stay finished"
    np.testing.assert_array_equal(rest.pair_score(community_pairs[1]), whole.pair_score(community_pairs[1]))
    assert rest.embedding_.tobytes() == whole.embedding_.tobytes()
    assert rest.history_ == whole.history_
    assert rest.threshold_ == whole.threshold_
    assert list(tmp_path.iterdir()) == [], "nothing is left once the work is done"


def test_a_damaged_file_is_said(tmp_path, community_graph):
    (tmp_path / "state.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a readable checkpoint; delete it to start anew"):
        solve(balanced(community_graph.graph), random_rows(600, 4, 0), checkpoint=Checkpoint(tmp_path / "state.npz"))


def test_makes_its_folder(tmp_path, community_graph):
    path = tmp_path / "new" / "state.npz"
    solve(balanced(community_graph.graph), random_rows(600, 4, 0), max_iter=1, checkpoint=Checkpoint(path, every=0))
    assert path.exists()


def test_holds_nothing_pickled(tmp_path, community_graph):
    path = tmp_path / "state.npz"
    solve(balanced(community_graph.graph), random_rows(600, 4, 0), max_iter=1, checkpoint=Checkpoint(path, every=0))
    with np.load(path, allow_pickle=False) as stored:
        assert all(stored[name].dtype != object for name in stored.files)
