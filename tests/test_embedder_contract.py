"""What every embedding method must do, the day it is entered in the registry."""

import numpy as np
import pytest
from sklearn.base import clone

from contrastive_fuse import Graph, InputError, SignedPairs, sample_pairs, split_pairs
from contrastive_fuse.baselines import base
from contrastive_fuse.datasets import planted
from contrastive_fuse.registry import EMBEDDERS

every_embedder = pytest.mark.parametrize("name", EMBEDDERS)
OURS = ("fuse", "fuse-rows", "fuse-paper")
QUICK = {"vgae": 5, "dgi": 5, "grace": 3, "cca-ssg": 3, "mvgrl": 3, "sgcl": 3, "sgcl-linear": 3}  # epochs


def make(name, n_components=16, n_nodes=None, labels=None, settings=None, **params):
    """A method with all it needs, and not more epochs than a test wants."""
    entry, settings = EMBEDDERS[name], dict(settings or {})
    if name in QUICK:
        settings.setdefault("epochs", QUICK[name])
    if entry.needs == "features":
        settings["features"] = np.random.default_rng(0).standard_normal((n_nodes, 30))
    if entry.needs == "labels":
        settings["labels"] = np.arange(n_nodes) % 3 if labels is None else labels
    if name not in OURS:
        params["settings"] = settings
    return entry(n_components=n_components, random_state=0, **params)


@every_embedder
@pytest.mark.parametrize("n_components", [1, 5, 16, 20])
def test_one_finite_vector_for_every_node(name, n_components, community_graph, community_pairs):
    """Of the length that was asked for, whatever width suits the machine."""
    model = make(name, n_components, 600).fit(community_graph.graph, community_pairs[0])
    assert model.embedding_.shape == (600, n_components)
    assert model.embedding_.dtype == np.float32
    assert model.embedding_.flags.c_contiguous
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.pair_score(community_pairs[1])).all()


@every_embedder
def test_works_without_pairs(name, community_graph):
    model = make(name, n_nodes=600)
    if EMBEDDERS[name].needs_pairs:
        with pytest.raises(InputError, match="learns from signed pairs; none were given"):
            model.fit(community_graph.graph)
    else:
        assert np.isfinite(model.fit(community_graph.graph).embedding_).all()


@every_embedder
def test_same_seed_same_bits_for_any_number_of_threads(name, community_graph, community_pairs):
    runs = [
        make(name, n_nodes=600, n_jobs=n_jobs).fit(community_graph.graph, community_pairs[0]) for n_jobs in (1, 2, None)
    ]
    assert len({run.embedding_.tobytes() for run in runs}) == 1


@every_embedder
def test_isolated_nodes_and_many_components_are_normal(name):
    graph = Graph.from_edges([1, 3], [2, 4], nodes=7)
    pairs = SignedPairs([(1, 5), (1, 3), (2, 6), (5, 6)], [1, -1, 1, 1])
    model = make(name, n_nodes=7).fit(graph, pairs)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.pair_score([(0, 1), (5, 6)])).all()


@every_embedder
def test_a_graph_without_edges(name):
    pairs = SignedPairs([(1, 5), (1, 3), (2, 6), (5, 6)], [1, -1, 1, 1])
    model = make(name, n_nodes=7).fit(Graph.from_edges([], [], nodes=7), pairs)
    assert np.isfinite(model.embedding_).all()


LEAST = {
    "fuse": 0.9, "fuse-rows": 0.9, "fuse-paper": 0.9, "deepwalk": 0.75, "node2vec": 0.75,
    "union-find": 0.99, "signed-spectral": 0.99,
    "signed-laplacian": 0.99, "label-propagation-oracle": 0.99, "coles": 0.55, "vgae": 0.8, "sgcl": 0.8,
}  # fmt: skip


@pytest.mark.parametrize("name", LEAST)
def test_tells_alike_from_unlike(name):
    """With as many pairs as the printed algorithm needs: it fails below 20,000."""
    data = planted(2000, 12_000, 3, 2, random_state=7)
    train, test = split_pairs(sample_pairs(data.labels, 50_000, 3), 0.2, 4)
    settings = {"epochs": 200} if name == "vgae" else {"epochs": 60} if name == "sgcl" else None
    assert make(name, 16, 2000, data.labels, settings=settings).fit(data.graph, train).score(test) > LEAST[name]


@every_embedder
def test_order_of_the_pairs_does_not_matter(name, community_graph, community_pairs):
    train = community_pairs[0]
    shuffled = np.random.default_rng(0).permutation(len(train))
    turned = SignedPairs(train.pairs[shuffled][:, ::-1], train.y[shuffled])
    one, two = (make(name, n_nodes=600).fit(community_graph.graph, pairs) for pairs in (train, turned))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@every_embedder
def test_ids_come_back_with_their_vectors(name, community_graph, community_pairs):
    """Named nodes get the vectors that numbered ones get."""
    numbered = make(name, n_nodes=600).fit(community_graph.graph, community_pairs[0])
    names = [f"n{i:03d}" for i in range(600)]
    train = community_pairs[0]
    named_pairs = SignedPairs([(names[a], names[b]) for a, b in train.pairs], train.y)
    named = make(name, n_nodes=600).fit(community_graph.graph.with_ids(names), named_pairs)
    assert list(named.ids_) == names
    np.testing.assert_array_equal(named.embedding_, numbered.embedding_)


@every_embedder
def test_is_a_scikit_learn_estimator(name):
    model = make(name, n_nodes=3)
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert type(model).__name__ in repr(model)
    assert copy.set_params(n_components=3).n_components == 3


@pytest.mark.parametrize("name", [name for name in EMBEDDERS if name not in OURS])
class TestBaselines:
    def test_what_does_not_fit_is_refused_with_the_number(self, name, community_graph, community_pairs, monkeypatch):
        model = make(name, n_nodes=600)
        needed = model.memory_estimate(community_graph.graph)
        assert needed > 0
        monkeypatch.setattr(base, "available_memory", lambda: needed - 1)
        with pytest.raises(InputError, match=r"needs an estimated 0.0 GB of memory; 0.0 GB are available"):
            model.fit(community_graph.graph, community_pairs[0])

    def test_unknown_settings_are_named(self, name, community_graph, community_pairs):
        with pytest.raises(InputError, match="has no setting 'speed'; there are"):
            make(name, n_nodes=600, settings={"speed": 9}).fit(community_graph.graph, community_pairs[0])

    def test_bad_input_is_named(self, name):
        with pytest.raises(InputError, match="the graph has no nodes"):
            make(name, n_nodes=0).fit(Graph.from_edges([], [], nodes=0), SignedPairs([], []))
        with pytest.raises(InputError, match="1 pair with 1 node not in the graph: 9"):
            make(name, n_nodes=3).fit(Graph.from_edges([0, 1], [1, 2]), [(0, 1), (0, 9)], [1, -1])
        with pytest.raises(InputError, match="n_components must be"):
            make(name, 0, 3).fit(Graph.from_edges([0, 1], [1, 2]), [(0, 1)], [1])
