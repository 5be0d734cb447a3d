import json

import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, load_dataset, write_vectors
from contrastive_fuse.ids import NodeIds
from contrastive_fuse.io.pairs import write_pairs


@pytest.fixture(scope="module")
def made(tmp_path_factory, community_graph, community_pairs):
    """Vectors of named nodes in every format, their graph, training and test pairs."""
    folder = tmp_path_factory.mktemp("made")
    train, test = community_pairs
    names = [f"n{i}" for i in range(600)]
    graph = community_graph.graph.with_ids(names)
    parts = {
        name: type(part).of_rows(NodeIds(names), part.first, part.second, part.y)
        for name, part in (("train", train), ("test", test))
    }
    write_pairs(folder, parts)
    model = ContrastiveFUSE(8, random_state=0).fit(graph, parts["train"])
    model.save(folder / "model")
    for ending in ("parquet", "csv", "tsv", "npy", "txt"):
        write_vectors(folder / f"vectors.{ending}", model.ids_, model.embedding_)
    first, second = graph.edges()
    lines = [f"n{a},n{b}\n" for a, b in zip(first, second, strict=True)]
    (folder / "edges.csv").write_text("source,target\n" + "".join(lines))
    return folder


@pytest.fixture
def cfuse(run_cfuse, made, monkeypatch):
    monkeypatch.chdir(made)
    return run_cfuse


def judged(ended):
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_vectors_in_any_format_are_judged_alike(cfuse):
    names = ["model", *(f"vectors.{ending}" for ending in ("parquet", "csv", "tsv", "npy", "txt"))]
    found = [
        judged(cfuse("evaluate", name, "--pairs", "train.csv", "--test", "test.csv", "--json", "-q")) for name in names
    ]
    assert found[0]["roc_auc"] > 0.9
    assert (found[0]["train"], found[0]["test"]) == (3000, 1000)
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=1e-3)


@pytest.mark.parametrize("preset", ["paper", "strong"])
@pytest.mark.parametrize("head", ["logistic", "mlp", "gcn"])
def test_heads(cfuse, head, preset):
    arguments = ("evaluate", "vectors.parquet", "--pairs", "train.csv", "--graph", "edges.csv", "--head", head)
    values = judged(cfuse(*arguments, "--preset", preset, "--json", "-q"))
    assert (values["train"], values["test"]) == (2400, 600)
    assert 0.4 < values["accuracy"] <= 1
    assert set(values) >= {"f1", "macro_f1", "roc_auc", "average_precision", "brier", "calibration_error"}


def test_a_table_for_people(cfuse):
    ended = cfuse(
        "evaluate", "model", "--pairs", "train.csv", "--graph", "edges.csv", "--head", "gcn", "--preset", "paper"
    )
    assert ended.out.splitlines()[0].strip() == "gcn, paper"
    assert "roc auc" in ended.out
    assert "vectors  600 nodes, 8 components" in ended.err
    assert "pairs    2,400 to learn from, 600 to test on" in ended.err
    assert "GB to train on the whole graph" in ended.err


def test_vectors_of_another_program(cfuse, tmp_path):
    """Plain numbers without names: rows are the nodes 0, 1, ..."""
    data = load_dataset("karate")
    np.save(tmp_path / "plain.npy", np.eye(2)[data.labels])
    (tmp_path / "pairs.csv").write_text(
        "a,b,y\n"
        + "".join(f"{a},{b},{1 if data.labels[a] == data.labels[b] else -1}\n" for a in range(33) for b in (33,))
    )
    values = judged(cfuse("evaluate", tmp_path / "plain.npy", "--pairs", tmp_path / "pairs.csv", "--json", "-q"))
    assert values["roc_auc"] == 1


def test_unknown_nodes_dropped(cfuse, made, tmp_path):
    (tmp_path / "pairs.csv").write_text((made / "train.csv").read_text() + "stranger,n1,1\n")
    ended = cfuse("evaluate", "model", "--pairs", tmp_path / "pairs.csv", "--unknown", "drop")
    assert ended.code == 0
    assert "1 pair with a node outside the graph dropped" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.parquet", "--pairs", "train.csv"), "there is no file none.parquet"),
        (("model", "--pairs", "none.csv"), "there is no file none.csv"),
        (("model", "--pairs", "train.csv", "--test", "none.csv"), "there is no file none.csv"),
        (
            ("model", "--pairs", "train.csv", "--head", "gcn"),
            "the head gcn refines vectors over the edges of a graph: say --graph EDGES",
        ),
        (("model", "--pairs", "train.csv", "--test", "train.csv"), "3,000 test pairs also among the training pairs"),
        (("edges.csv", "--pairs", "train.csv"), "column 'target' must hold numbers"),
        (("strange.h5", "--pairs", "train.csv"), "vectors are read from a model folder or from .parquet, .csv"),
        (("broken.npy", "--pairs", "train.csv"), "broken.npy: not a readable .npy file"),
        (("short.npy", "--pairs", "train.csv"), "short.ids.csv names 1 nodes, but there are 2 vectors"),
        (("broken.txt", "--pairs", "train.csv"), "the first line must hold the number of nodes and of components"),
        (("cut.txt", "--pairs", "train.csv"), "the first line says 3 nodes, but 1 follow"),
        (("model", "--pairs", "train.csv", "--device", "tpu", "--head", "mlp"), "device must be auto, cpu or cuda"),
        (("model", "--pairs", "strange.csv"), "1 pair with 1 node not in the graph: 'stranger'"),
    ],
)
def test_bad_input_ends_in_one_sentence(cfuse, made, arguments, message):
    (made / "strange.h5").touch()
    (made / "broken.npy").write_bytes(b"nothing")
    np.save(made / "short.npy", np.zeros((2, 2)))
    (made / "short.ids.csv").write_text("node\na\n")
    (made / "broken.txt").write_text("a 1 2\n")
    (made / "cut.txt").write_text("3 2\na 1 2\n")
    (made / "strange.csv").write_text("a,b,y\nn1,n2,1\nn1,stranger,1\nn2,n3,-1\n")
    ended = cfuse("evaluate", *arguments)
    assert (ended.code, ended.out) == (1, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("cfuse: ")
    assert message in line
