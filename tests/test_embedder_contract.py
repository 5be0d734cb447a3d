"""What every embedding method must do, the day it is entered in the registry."""

import numpy as np
import pytest
from sklearn.base import clone

from contrastive_fuse import Graph, SignedPairs, sample_pairs, split_pairs
from contrastive_fuse.datasets import planted
from contrastive_fuse.registry import EMBEDDERS

every_embedder = pytest.mark.parametrize("name", EMBEDDERS)


def make(name, n_components=16, **params):
    return EMBEDDERS[name](n_components=n_components, random_state=0, **params)


@every_embedder
@pytest.mark.parametrize("n_components", [1, 5, 16, 20])
def test_one_finite_vector_for_every_node(name, n_components, community_graph, community_pairs):
    """Of the length that was asked for, whatever width suits the machine."""
    model = make(name, n_components).fit(community_graph.graph, community_pairs[0])
    assert model.embedding_.shape == (600, n_components)
    assert model.embedding_.dtype == np.float32
    assert model.embedding_.flags.c_contiguous
    assert np.isfinite(model.embedding_).all()


@every_embedder
def test_works_without_pairs(name, community_graph):
    assert np.isfinite(make(name).fit(community_graph.graph).embedding_).all()


@every_embedder
def test_same_seed_same_bits_for_any_number_of_threads(name, community_graph, community_pairs):
    runs = [make(name, n_jobs=n_jobs).fit(community_graph.graph, community_pairs[0]) for n_jobs in (1, 2, None)]
    assert len({run.embedding_.tobytes() for run in runs}) == 1


@every_embedder
def test_isolated_nodes_and_many_components_are_normal(name):
    graph = Graph.from_edges([1, 3], [2, 4], nodes=7)
    pairs = SignedPairs([(1, 5), (1, 3), (2, 6), (5, 6)], [1, -1, 1, 1])
    assert np.isfinite(make(name).fit(graph, pairs).embedding_).all()


@every_embedder
def test_tells_alike_from_unlike(name):
    """With as many pairs as the printed algorithm needs: it fails below 20,000."""
    data = planted(2000, 12_000, 3, 2, random_state=7)
    train, test = split_pairs(sample_pairs(data.labels, 50_000, 3), 0.2, 4)
    assert make(name).fit(data.graph, train).score(test) > 0.9


@every_embedder
def test_order_of_the_pairs_does_not_matter(name, community_graph, community_pairs):
    train = community_pairs[0]
    shuffled = np.random.default_rng(0).permutation(len(train))
    turned = SignedPairs(train.pairs[shuffled][:, ::-1], train.y[shuffled])
    one, two = (make(name).fit(community_graph.graph, pairs) for pairs in (train, turned))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@every_embedder
def test_ids_come_back_with_their_vectors(name, community_graph, community_pairs):
    """Named nodes get the vectors that numbered ones get."""
    numbered = make(name).fit(community_graph.graph, community_pairs[0])
    names = [f"n{i:03d}" for i in range(600)]
    train = community_pairs[0]
    named_pairs = SignedPairs([(names[a], names[b]) for a, b in train.pairs], train.y)
    named = make(name).fit(community_graph.graph.with_ids(names), named_pairs)
    assert list(named.ids_) == names
    np.testing.assert_array_equal(named.embedding_, numbered.embedding_)


@every_embedder
def test_is_a_scikit_learn_estimator(name):
    model = make(name)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert type(model).__name__ in repr(model)
    assert copy.set_params(n_components=3).n_components == 3
