"""What every head must do, the day it is entered in the registry."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs, make_head
from contrastive_fuse.heads import HEADS, PRESETS, head_class
from contrastive_fuse.heads.representation import REPRESENTATIONS

every_head = pytest.mark.parametrize("name", HEADS)
every_preset = pytest.mark.parametrize("preset", PRESETS)
FAST = {"epochs": 15}


@pytest.fixture(scope="module")
def made(community_graph, community_pairs):
    """Vectors, graph, training and test pairs."""
    train, test = community_pairs
    vectors = ContrastiveFUSE(16, random_state=0).fit(community_graph.graph, train).embedding_
    return vectors, community_graph.graph, train, test


def fit(name, made, preset="strong", settings=FAST, **parameters):
    vectors, graph, train, _ = made
    return make_head(name, preset, settings=settings, random_state=0, **parameters).fit(vectors, graph, train)


@every_head
def test_tells_alike_from_unlike(name, made):
    head, test = fit(name, made), made[3]
    assert head.score(test) > 0.9
    assert np.mean(head.predict(test) == test.y) > 0.85


@every_head
@every_preset
def test_scores_probabilities_and_predictions_agree(name, preset, made):
    head, test = fit(name, made, preset, settings={"epochs": 3}), made[3]
    scores, likely = head.decision_function(test), head.predict_proba(test)
    assert scores.shape == (len(test),)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(likely.sum(axis=1), 1)
    np.testing.assert_array_equal(head.predict(test) == 1, likely[:, 1] >= 0.5)
    assert (np.argsort(scores, kind="stable") == np.argsort(likely[:, 1], kind="stable")).mean() > 0.99
    np.testing.assert_array_equal(head.pair_score(test.pairs), scores)


@every_head
def test_strong_probabilities_are_calibrated(name, made):
    head, test = fit(name, made, settings=None), made[3]
    likely = head.predict_proba(test)[:, 1]
    assert head.calibration_.method == "platt"
    assert abs(likely.mean() - np.mean(test.y > 0)) < 0.05


@every_head
@every_preset
def test_same_seed_same_bits(name, preset, made):
    torch.manual_seed(1)
    one = fit(name, made, preset, settings={"epochs": 3}).pair_score(made[3])
    torch.manual_seed(2)
    before = torch.get_rng_state()
    two = fit(name, made, preset, settings={"epochs": 3}).pair_score(made[3])
    np.testing.assert_array_equal(one, two)
    assert torch.equal(torch.get_rng_state(), before)  # nobody else's randomness is touched


@every_head
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_order_of_a_pair(name, representation, made):
    """With a symmetric representation the answer does not depend on the order of the pair."""
    head = fit(name, made, settings={"epochs": 2}, representation=representation)
    pairs = made[3].pairs.astype(int)
    one, two = head.pair_score(pairs), head.pair_score(pairs[:, ::-1])
    if REPRESENTATIONS[representation].symmetric or name == "cosine":
        np.testing.assert_allclose(one, two, atol=1e-5)
    else:
        assert not np.allclose(one, two, atol=1e-3)


@every_head
def test_vectors_of_strangers(name, made, seed):
    """Any numbers, any scale, any names; rows find their nodes by name."""
    _, graph, train, test = made
    rng = np.random.default_rng(seed)
    vectors = 100 * rng.standard_normal((600, 5)) + 3
    names = [f"n{i}" for i in range(600)]
    shuffled = rng.permutation(600)
    named = SignedPairs([(names[a], names[b]) for a, b in train.pairs], train.y)
    settings = {"epochs": 2}
    plain = make_head(name, settings=settings, random_state=0).fit(vectors.tolist(), graph, train)
    moved = make_head(name, settings=settings, random_state=0).fit(
        vectors[shuffled], graph.with_ids(names), named, ids=[names[i] for i in shuffled]
    )
    asked = [(names[a], names[b]) for a, b in test.pairs]
    np.testing.assert_allclose(plain.pair_score(test), moved.pair_score(asked), rtol=1e-4, atol=1e-4)


@every_head
def test_without_a_graph(name, made):
    vectors, _, train, test = made
    head = make_head(name, settings=FAST, random_state=0)
    if head.needs_graph:
        with pytest.raises(InputError, match="refines vectors over the edges of a graph; none was given"):
            head.fit(vectors, None, train)
    else:
        assert head.fit(vectors, pairs=train).score(test) > 0.9


@every_head
def test_weights_of_pairs_count(name, made):
    """A few wrong pairs do little harm if they weigh little, and much if they weigh much."""
    vectors, graph, train, test = made
    y, wrong = train.y.copy(), np.arange(len(train)) < 1200
    y[wrong] = -y[wrong]
    scores = {}
    for weight in (0.01, 1.0):
        weighed = SignedPairs(train.pairs, y, np.where(wrong, weight, 1.0))
        scores[weight] = make_head(name, "paper", settings={"epochs": 60}, random_state=0).fit(vectors, graph, weighed)
    test_scores = {
        weight: np.mean((head.predict_proba(test)[:, 1] - (test.y > 0)) ** 2) for weight, head in scores.items()
    }
    if name != "cosine":
        assert test_scores[0.01] < test_scores[1.0]


@every_head
def test_follows_scikit_learn(name):
    head = make_head(name, "paper", random_state=3)
    copy = clone(head)
    assert copy.get_params() == head.get_params()
    assert "preset='paper'" in repr(head)


@every_head
def test_isolated_nodes_and_zero_vectors_are_normal(name):
    graph = Graph.from_edges([1, 3], [2, 4], nodes=8)
    pairs = SignedPairs([(1, 5), (1, 3), (2, 6), (5, 7), (0, 1), (2, 7)], [1, -1, 1, -1, 1, -1])
    head = make_head(name, settings={"epochs": 2}, random_state=0).fit(np.zeros((8, 3)), graph, pairs)
    assert np.isfinite(head.predict_proba(pairs)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3),), r"an embedding must have shape \(n_nodes, n_components\); got \(3,\)"),
        ((np.full((600, 2), np.nan),), "the embedding must hold finite numbers only"),
        ((np.zeros((5, 2)),), "there must be one vector for each of the 600 nodes; got 5"),
    ],
)
@every_head
def test_bad_vectors_are_named(name, arguments, message, made):
    with pytest.raises(InputError, match=message):
        make_head(name).fit(*arguments, made[1], made[2])


@pytest.mark.parametrize(
    ("pairs", "y", "message"),
    [
        (None, None, "a head learns from signed pairs; none were given"),
        ([(0, 1), (1, 2)], [1, 1], "a head needs pairs of both signs"),
        ([(0, 1), (1, 999)], [1, -1], "1 pair with 1 node not in the graph: 999"),
        ([(0, 1), (1, 2)], [1, 0], "y must hold -1"),
    ],
)
@every_head
def test_bad_pairs_are_named(name, pairs, y, message, made):
    with pytest.raises(InputError, match=message):
        make_head(name).fit(made[0], made[1], pairs, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": "weak"}, "preset must be one of 'paper', 'strong'; got 'weak'"),
        ({"representation": "sum"}, "representation must be one of 'concat', .*; got 'sum'"),
        ({"settings": {"width": 3}}, "there is no setting 'width'; there are batch_pairs, "),
        ({"settings": {"epochs": 0}}, "epochs must be a finite number of at least 1; got 0"),
        ({"settings": {"dropout": 1}}, "dropout is a share, from 0 to below 1; got 1"),
        ({"settings": {"learning_rate": 0}}, "learning_rate must be a finite number above 0; got 0"),
    ],
)
@every_head
def test_bad_parameters_are_named(name, parameters, message, made):
    with pytest.raises(InputError, match=message):
        head_class(name)(**parameters).fit(*made[:3])


def test_unknown_head():
    with pytest.raises(InputError, match=r"head must be one of 'cosine', .*; got 'svm'"):
        make_head("svm")


def test_ids_must_fit(made):
    vectors, graph, train, _ = made
    with pytest.raises(InputError, match="3 ids were given for 600 vectors"):
        make_head("cosine").fit(vectors, pairs=train, ids=["a", "b", "c"])
    with pytest.raises(InputError, match="600 nodes of the graph have no vector: NodeIds"):
        make_head("cosine").fit(vectors, graph, train, ids=[f"x{i}" for i in range(600)])


@pytest.mark.parametrize("name", ["logistic", "mlp", "gcn", "gat", "sage"])
def test_a_leak_would_show(name, community_graph):
    """Vectors and signs are noise: what is told of test pairs is chance, unless a head has seen them."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((600, 64)).astype(np.float32)
    pairs = SignedPairs(rng.permutation(600)[:600].reshape(-1, 2), rng.choice([-1, 1], 300))
    train, test = pairs.subset(np.arange(200)), pairs.subset(np.arange(200, 300))
    settings = {"hidden": 64, "decoder": 256, "dropout": 0.0, "epochs": 150, "patience": None, "batch_pairs": None,
                "calibrate": False, "keep_input": True, "weight_decay": 0.0, "penalties": (100.0,)}  # fmt: skip
    honest, leaking = (
        make_head(name, settings=settings, random_state=0).fit(vectors, community_graph.graph, learned)
        for learned in (train, pairs)
    )
    assert 0.3 < honest.score(test) < 0.7
    assert leaking.score(test) > 0.9
