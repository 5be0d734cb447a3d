import builtins

import numpy as np
import pyarrow.parquet as pq
import pytest

from contrastive_fuse import ContrastiveFUSE, demo
from contrastive_fuse.datasets import digits


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, demo.run(folder, quiet=True)


def test_graph_and_pairs_beat_either_alone(outcome):
    _, models = outcome
    test = demo.demo_pairs(digits(), 2000, 0)[1]
    graph, pairs, both = (
        models[name].score(test) for name in ("graph, no pairs", "pairs, no graph", "graph and pairs")
    )
    assert both > 0.99
    assert both > graph + 0.02 > pairs
    assert np.mean(models["graph and pairs"].predict(test) == test.y) > 0.96


def test_training_and_test_pairs_are_apart():
    train, test = demo.demo_pairs(digits(), 2000, 0)
    assert (len(train), len(test)) == (2000, 20_000)
    assert not {tuple(sorted(pair)) for pair in train.pairs.tolist()} & {tuple(sorted(p)) for p in test.pairs.tolist()}


def test_writes_vectors_model_and_picture(outcome):
    folder, models = outcome
    table = pq.read_table(folder / "digits.parquet")
    assert table.num_rows == 1797
    assert table.column_names[:2] == ["node", "v0"]
    assert ContrastiveFUSE.load(folder / "model").n_iter_ == models["graph and pairs"].n_iter_
    assert (folder / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "digits.png").stat().st_size > 100_000


def test_says_what_the_picture_needs(tmp_path, monkeypatch, capsys):
    real_import = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    demo.run(tmp_path)
    assert 'pip install "contrastive-fuse[plot]"' in capsys.readouterr().err
    assert (tmp_path / "digits.parquet").exists()
