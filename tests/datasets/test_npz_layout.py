"""Our own layout: what is written is read, and what does not fit together is named."""

import numpy as np
import pytest
import scipy.sparse as sp

from contrastive_fuse import Graph, InputError, SignedPairs, load_dataset, save_dataset
from contrastive_fuse.datasets import Dataset

GOOD = {"edge_index": np.array([[0, 1, 2], [1, 2, 3]]), "num_nodes": 5, "labels": np.array([0, 0, 1, 1, -1])}


def dense(value):
    return value.toarray() if hasattr(value, "toarray") else value


@pytest.mark.parametrize(
    "features", [None, np.arange(8.0).reshape(4, 2), sp.csr_array(np.eye(4, 3, dtype=np.float32))], ids=str
)
@pytest.mark.parametrize("ids", [None, ["a", "b b", "ç", "007"], [10, 20, 30, 7]], ids=["range", "text", "numbers"])
@pytest.mark.parametrize("weights", [None, [1.5, 2.0, 0.25]], ids=["plain", "weighted"])
def test_what_is_written_is_read(tmp_path, ids, weights, features):
    graph = Graph.from_edges([0, 1, 0], [1, 2, 3], weights, nodes=4)
    graph = graph if ids is None else graph.with_ids(ids)
    pairs = SignedPairs.of_rows(graph.ids, np.array([0, 1]), np.array([2, 3]), np.array([1, -1]), weights and [1, 2])
    splits = {"train": np.array([0, 1], np.int32), "test": np.array([3], np.int32)}
    labels = np.array([0, 1, -1, 1], np.int32)
    read_features = None if features is None else lambda: features
    given = Dataset("mine", graph, labels, read_features, pairs, splits, {"description": "small", "licence": "mine"})
    path = save_dataset(given, tmp_path / "mine.npz")
    with np.load(path) as stored:
        np.savez(tmp_path / "again.npz", **stored)  # plain NumPy reads it
    (tmp_path / "folder").mkdir()
    with np.load(path) as stored:
        for name in stored.files:
            np.save(tmp_path / "folder" / f"{name}.npy", stored[name])
    (tmp_path / "around").mkdir()
    path.rename(tmp_path / "around" / "mine.npz")

    for place in (
        tmp_path / "around" / "mine.npz",
        str(tmp_path / "again.npz"),
        tmp_path / "folder",
        tmp_path / "around",
    ):
        data = load_dataset(place)
        assert list(data.graph.ids) == list(graph.ids)
        np.testing.assert_array_equal(data.graph.adjacency.toarray(), graph.adjacency.toarray())
        np.testing.assert_array_equal(data.labels, given.labels)
        if features is None:
            assert data.features is None
        else:
            np.testing.assert_array_equal(dense(data.features), dense(features))
        assert data.pairs.pairs.tolist() == pairs.pairs.tolist()
        assert data.pairs.y.tolist() == [1, -1]
        assert (data.pairs.weight is None) == (weights is None)
        assert {name: rows.tolist() for name, rows in data.splits.items()} == {"train": [0, 1], "test": [3]}
        assert (data.info["description"], data.info["licence"]) == ("small", "mine")
        assert not data.info["arrays"]


def test_only_edges_are_needed(tmp_path):
    np.savez(tmp_path / "x.npz", edge_index=np.array([[0, 1], [1, 2]]), year=np.array([1999, 2000, 2001]))
    data = load_dataset(tmp_path / "x.npz")
    assert (data.name, data.graph.n_nodes, data.labels.tolist(), data.features, data.pairs) == (
        "x",
        3,
        [-1] * 3,
        None,
        None,
    )
    assert data.info["arrays"]["year"].tolist() == [1999, 2000, 2001]
    assert data.n_classes == 0


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edge_index": None}, "a data set needs an array 'edge_index'"),
        ({"edge_index": np.array([[0.0], [1.0]])}, "'edge_index' must hold whole numbers"),
        ({"edge_index": np.array([[0, 9], [1, 2]])}, "the edges name 1 node not among the given nodes: 9"),
        ({"edge_index": np.array([[0, -1], [1, 2]])}, "not among the given nodes: -1"),
        ({"num_nodes": 10**12}, "1,000,000,000,000 nodes are announced for 3 edges; that cannot be meant"),
        ({"num_nodes": np.array([1.5])}, "'num_nodes' must be one whole number"),
        ({"labels": np.array([0, 1])}, "'labels' must hold a whole number for each of the 5 nodes"),
        ({"labels": np.array([0, 1, 2, 3, -7])}, "they range over -7 to 3"),
        ({"labels": np.zeros(5)}, "'labels' must hold a whole number"),
        ({"features": np.zeros((3, 2))}, "'features' must have 5 rows"),
        (
            {"feat_data": np.zeros(2)},
            "sparse features need the arrays .*; feat_indices, feat_indptr, feat_shape missing",
        ),
        ({"pairs": np.array([[0, 1]])}, "come with 'y'"),
        ({"pairs": np.array([[0, 9]]), "y": np.array([1])}, "'pairs' names 1 row beyond the 5 nodes"),
        ({"pairs": np.array([[0, 1]]), "y": np.array([0])}, "y must hold -1"),
        ({"train_index": np.array([7])}, "'train_index' names 1 row beyond the 5 nodes"),
        ({"node_ids": np.array(["a", "b"])}, "2 ids were given for a graph of 5 nodes"),
        ({"node_ids": np.array(["a", "b", "a", "c", "d"])}, "node ids must differ"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, arrays, message):
    merged = {name: value for name, value in (GOOD | arrays).items() if value is not None}
    np.savez(tmp_path / "bad.npz", **merged)
    with pytest.raises(InputError, match=message) as refused:
        load_dataset(tmp_path / "bad.npz")
    assert "bad.npz" in str(refused.value)


def test_sparse_features_that_do_not_fit_are_named_when_they_are_read(tmp_path):
    np.savez(tmp_path / "bad.npz", **GOOD, feat_data=np.ones(1), feat_indices=np.array([9]),
             feat_indptr=np.array([0, 1, 1, 1, 1, 1]), feat_shape=np.array([5, 3]))  # fmt: skip
    data = load_dataset(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="the parts of the sparse features do not fit together"):
        _ = data.features


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.npz", "there is no data set at none.npz"), ("no/such", "there is no data set at no/such")],
)
def test_no_such_path(name, message):
    with pytest.raises(InputError, match=message):
        load_dataset(name)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match=r"expected a folder with one .npz file, or with edge_index.npy"):
        load_dataset(tmp_path)


def test_what_cannot_be_written_is_refused(tmp_path):
    graph = Graph.from_edges([("a", 1)], [("b", 2)])
    data = Dataset("x", graph, np.zeros(2, np.int32))
    with pytest.raises(InputError, match="neither numbers nor text"):
        save_dataset(data, tmp_path / "x.npz")
    with pytest.raises(InputError, match=r"ends in .npz; got 'x.csv'"):
        save_dataset(data, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []
