import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs
from contrastive_fuse.operator import Operator
from contrastive_fuse.rows import random_rows


@pytest.fixture(scope="module")
def fitted(community_graph, community_pairs):
    return ContrastiveFUSE(16, readout="cosine", random_state=0).fit(community_graph.graph, community_pairs[0])


def test_learns(fitted, community_pairs):
    test = community_pairs[1]
    assert fitted.score(test) > 0.95
    assert np.mean(fitted.predict(test) == test.y) > 0.9


def test_scores_are_cosines_of_the_vectors(fitted, community_pairs):
    pairs = community_pairs[1].pairs[:50]
    expected = [fitted.embedding_[a] @ fitted.embedding_[b] for a, b in pairs]
    np.testing.assert_allclose(fitted.pair_score(pairs), expected, atol=1e-5)
    np.testing.assert_array_equal(fitted.decision_function(pairs), fitted.pair_score(pairs))
    np.testing.assert_array_equal(fitted.pair_score(pairs), fitted.pair_score(pairs[:, ::-1]))


def test_predict_score_and_probabilities_agree(fitted, community_pairs):
    test = community_pairs[1]
    likely = fitted.predict_proba(test)
    np.testing.assert_allclose(likely.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(test) == 1, likely[:, 1] >= 0.5)
    assert list(fitted.classes_) == [-1, 1]
    assert fitted.score(test) == pytest.approx(roc_auc_score(test.y, fitted.pair_score(test)))
    assert fitted.score(test.pairs, test.y) == fitted.score(test)


def test_probabilities_mean_what_they_say(fitted, community_pairs):
    test = community_pairs[1]
    likely = fitted.predict_proba(test)[:, 1]
    for low, high in [(0, 0.1), (0.1, 0.9), (0.9, 1)]:
        inside = (likely >= low) & (likely <= high)
        if inside.sum() > 50:
            assert abs(likely[inside].mean() - np.mean(test.y[inside] > 0)) < 0.12


def test_pairs_in_any_form_give_the_same_fit(community_graph, community_pairs):
    train = community_pairs[0]
    forms = [
        (train, None),
        (train.pairs, train.y),
        ([tuple(pair) for pair in train.pairs.tolist()], train.y.tolist()),
        (pd.DataFrame({"a": train.pairs[:, 0], "b": train.pairs[:, 1], "y": train.y}), None),
        (pd.DataFrame(train.pairs), train.y),
    ]
    bits = {
        ContrastiveFUSE(4, random_state=0).fit(community_graph.graph, pairs, y).embedding_.tobytes()
        for pairs, y in forms
    }
    assert len(bits) == 1


def test_facts_of_the_fit(fitted):
    assert fitted.n_iter_ == len(fitted.history_["change"]) == len(fitted.history_["gain"])
    assert fitted.converged_
    assert fitted.timings_["total"] >= fitted.timings_["iterations"] > 0
    assert fitted.graph_report_.n_nodes == 600
    assert fitted.pair_report_.n_alike + fitted.pair_report_.n_unlike == 3000
    assert fitted.calibration_.n_pairs == 300


def test_pickles(fitted, community_pairs):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(community_pairs[1]), fitted.predict(community_pairs[1]))


def test_without_calibration_every_pair_is_learned_from(community_graph, community_pairs):
    model = ContrastiveFUSE(8, calibration=None, random_state=0).fit(community_graph.graph, community_pairs[0])
    assert model.calibration_ is None
    assert model.threshold_ == 0
    with pytest.raises(InputError, match=r"call calibrate\(pairs, y\)"):
        model.predict_proba(community_pairs[1])
    model.calibrate(community_pairs[1])
    assert model.predict_proba(community_pairs[1]).shape == (1000, 2)


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 4, 8])
def test_a_handful_of_pairs_is_enough(community_graph, n_pairs):
    pairs = SignedPairs([(i, 599 - i) for i in range(n_pairs)], [(-1) ** i for i in range(n_pairs)])
    model = ContrastiveFUSE(8, random_state=0).fit(community_graph.graph, pairs)
    assert np.isfinite(model.embedding_).all()
    assert (model.calibration_ is None) == (n_pairs < 4)


def test_threshold_can_be_chosen(community_graph, community_pairs):
    train, test = community_pairs
    model = ContrastiveFUSE(8, readout="cosine", random_state=0).fit(community_graph.graph, train)
    assert model.set_threshold(2.0).predict(test).max() == -1
    assert model.set_threshold(-2.0).predict(test).min() == 1
    model.calibrate_threshold(test, strategy="accuracy")
    best = np.mean(model.predict(test) == test.y)
    assert all(np.mean(np.where(model.pair_score(test) >= t, 1, -1) == test.y) <= best for t in np.linspace(-1, 1, 99))


def test_warm_start(community_graph, community_pairs):
    cold = ContrastiveFUSE(8, calibration=None, tol=1e-4, max_iter=2000, random_state=0)
    cold.fit(community_graph.graph, community_pairs[0])
    warm = ContrastiveFUSE(8, calibration=None, tol=1e-4, random_state=1)
    start = cold.embedding_.copy()
    warm.fit(community_graph.graph, community_pairs[0], init=start)
    assert warm.n_iter_ <= 2 < cold.n_iter_
    np.testing.assert_array_equal(start, cold.embedding_)
    np.testing.assert_allclose(warm.embedding_, cold.embedding_, atol=0.01)


def test_an_objective_of_ones_own(community_graph):
    def adjacency(graph, pairs, strength=1.0):
        nothing = np.zeros(graph.n_nodes, np.float32)
        values = np.full(len(graph.indices), strength, np.float32)
        return Operator(graph.indptr, graph.indices, values, nothing, nothing, 1.0)

    model = ContrastiveFUSE(4, objective=adjacency, objective_params={"strength": 2.0}, random_state=0)
    assert np.isfinite(model.fit(community_graph.graph).embedding_).all()


def test_kernels_agree(community_graph, community_pairs):
    one, two = (
        ContrastiveFUSE(8, kernel=kernel, max_iter=10, random_state=0).fit(community_graph.graph, community_pairs[0])
        for kernel in ("numba", "reference")
    )
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components must be a finite number of at least 1; got 0"),
        ({"n_components": 2.5}, "n_components must be a whole number; got 2.5"),
        ({"n_components": "many"}, "n_components must be a number; got 'many'"),
        ({"objective": "fast"}, "objective must be one of 'balanced', 'paper'; got 'fast'"),
        ({"objective_params": {"lam": 1}}, "objective_params do not fit the objective 'balanced'.*'lam'"),
        ({"max_iter": -1}, "max_iter must be a finite number of at least 0; got -1"),
        ({"tol": -0.1}, "tol must be a finite number of at least 0; got -0.1"),
        ({"calibration": "sigmoid"}, "calibration must be one of 'auto', 'platt', 'isotonic'; got 'sigmoid'"),
        ({"unknown": "ignore"}, "unknown must be one of 'error', 'drop'; got 'ignore'"),
        ({"kernel": "cuda"}, "kernel must be one of"),
        ({"n_jobs": 0}, "n_jobs must be a finite number of at least 1; got 0"),
    ],
)
def test_bad_parameters_are_named(params, message, community_graph):
    with pytest.raises(InputError, match=message):
        ContrastiveFUSE(**params).fit(community_graph.graph)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-file.csv",), "there is no file no-such-file.csv"),
        ((object(),), "cannot read a graph from object"),
        ((Graph.from_edges([], [], nodes=0),), "the graph has no nodes"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), None, [1]), "y was given without pairs"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), [(0, 1)]), "pairs need y"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), [(0, 9)], [1]), "1 pair with 1 node not in the graph: 9"),
        ((np.array([[0, 1], [1, 2], [2, 0]]), SignedPairs([(0, 1)], [1]), [1]), "y was given twice"),
    ],
)
def test_bad_input_is_one_clear_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        ContrastiveFUSE(4).fit(*arguments)


@pytest.mark.parametrize(
    ("init", "message"),
    [(np.zeros((3, 4)), r"init must have shape \(600, 4\)"), (np.full((600, 4), np.nan), "finite numbers only")],
)
def test_bad_start(init, message, community_graph):
    with pytest.raises(InputError, match=message):
        ContrastiveFUSE(4).fit(community_graph.graph, init=init)


def test_unknown_nodes_can_be_dropped(tiny):
    graph, _ = tiny
    model = ContrastiveFUSE(4, unknown="drop", random_state=0).fit(graph, [(0, 1), (0, 99), (98, 99)], [1, -1, 1])
    assert model.pair_report_.unknown_dropped == 2
    with pytest.raises(InputError, match="not in the graph: 99"):
        model.pair_score([(0, 99)])


def test_not_fitted_yet():
    with pytest.raises(NotFittedError, match="call fit"):
        ContrastiveFUSE().pair_score([(0, 1)])


def test_score_needs_both_signs(fitted):
    with pytest.raises(InputError, match="both signs"):
        fitted.score([(0, 1)], [1])


@st.composite
def graphs_with_pairs(draw):
    n = draw(st.integers(2, 30))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=60))
    weights = draw(st.none() | st.lists(st.floats(0.01, 100), min_size=len(edges), max_size=len(edges)))
    pairs = draw(st.lists(st.tuples(node, node, st.sampled_from([-1, 1])), max_size=30))
    source, target = [a for a, _ in edges], [b for _, b in edges]
    graph = Graph.from_edges(source, target, weights, nodes=n)
    return graph, SignedPairs([(a, b) for a, b, _ in pairs], [y for *_, y in pairs])


@given(graphs_with_pairs(), st.sampled_from(["balanced", "paper"]), st.integers(1, 20))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rows_have_unit_norm_whatever_the_input(problem, objective, n_components):
    graph, pairs = problem
    model = ContrastiveFUSE(n_components, objective=objective, max_iter=20, random_state=0).fit(graph, pairs)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1, rtol=1e-4)
    if model.calibration_ is not None:
        assert np.isfinite(model.predict_proba(pairs)).all()


@given(graphs_with_pairs(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_relabelling_nodes_permutes_the_result(problem, random):
    graph, pairs = problem
    n = graph.n_nodes
    place = list(range(n))
    random.shuffle(place)
    place = np.array(place)
    first, second = graph.edges()
    weights = None if graph.weights is None else graph.adjacency.toarray()[first, second]
    moved_graph = Graph.from_edges(place[first], place[second], weights, nodes=n)
    moved_pairs = SignedPairs(place[pairs.pairs.astype(int).reshape(-1, 2)], pairs.y)
    start = random_rows(n, 16, 0)
    moved_start = np.empty_like(start)
    moved_start[place] = start
    options = {"n_components": 16, "max_iter": 5, "tol": 0.0, "calibration": None}
    straight = ContrastiveFUSE(**options).fit(graph, pairs, init=start)
    moved = ContrastiveFUSE(**options).fit(moved_graph, moved_pairs, init=moved_start)
    np.testing.assert_allclose(moved.embedding_[place], straight.embedding_, atol=5e-3)


def test_no_matrix_of_all_pairs_of_nodes(community_graph):
    """A ring of 40,000 nodes: n x n float32 would be 6.4 GB."""
    n = 40_000
    ring = Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    pairs = SignedPairs(np.random.default_rng(0).integers(0, n, (2000, 2)), np.tile([1, -1], 1000))
    ContrastiveFUSE(8, max_iter=1, random_state=0).fit(community_graph.graph)
    tracemalloc.start()
    for gradient in ("exact", "approximate"):
        model = ContrastiveFUSE(8, objective="paper", objective_params={"gradient": gradient}, max_iter=3)
        model.fit(ring, pairs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
