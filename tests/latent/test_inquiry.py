"""What a fitted model with latent groups can be asked besides scores."""

import numpy as np
import pandas as pd
import pytest

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs, flip_pairs


@pytest.fixture(scope="module")
def noisy(community_graph, community_pairs):
    """A model of named nodes with a fifth of its pairs flipped, and which pairs these are."""
    names = [f"n{i:03d}" for i in range(600)]
    train = community_pairs[0]
    flipped = flip_pairs(train, 0.2, 0)
    wrong = {frozenset(pair) for pair, was in zip(train.pairs.tolist(), train.y != flipped.y, strict=True) if was}
    named = SignedPairs([(names[a], names[b]) for a, b in flipped.pairs.tolist()], flipped.y)
    model = ContrastiveFUSE(16, random_state=0).fit(community_graph.graph.with_ids(names), named)
    return model, {frozenset(names[node] for node in pair) for pair in wrong}


def test_wrong_pairs_come_first(noisy):
    model, wrong = noisy
    table = pd.DataFrame(model.audit_pairs())
    assert len(table) == 3000
    assert table["wrong"].is_monotonic_decreasing
    suspected = [frozenset(pair) in wrong for pair in zip(table["node_1"], table["node_2"], strict=True)]
    assert np.mean(suspected[: len(wrong)]) > 0.9
    for low, high in ((0.0, 0.1), (0.1, 0.9), (0.9, 1.0)):
        inside = table["wrong"].between(low, high)
        if inside.sum() > 100:
            assert abs(table["wrong"][inside].mean() - np.array(suspected)[inside].mean()) < 0.08
    assert len(model.audit_pairs(7)["y"]) == 7


def test_a_pair_is_judged_without_itself():
    """Two cliques without an edge between them: the one pair that calls them alike is not believed."""
    first, second = np.triu_indices(15, 1)
    graph = Graph.from_edges(np.concatenate([first, first + 15]), np.concatenate([second, second + 15]), nodes=30)
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 30, (150, 2)).tolist() if pair[0] != pair[1]} - {(3, 20)}
    pairs = np.array([*sorted(pairs), (3, 20)])
    y = np.where((pairs[:, 0] < 15) == (pairs[:, 1] < 15), 1, -1)
    y[-1] = 1
    model = ContrastiveFUSE(8, random_state=0).fit(graph, SignedPairs(pairs, y))
    suspect = model.audit_pairs(1)
    assert {suspect["node_1"][0], suspect["node_2"][0]} == {3, 20}
    assert suspect["wrong"][0] > 0.5


def test_neighbours_are_those_with_the_highest_score(noisy):
    model, _ = noisy
    ids, probability = model.most_similar("n005", 12)
    everyone = [(f"n{i:03d}", "n005") for i in range(600) if i != 5]
    scores = model.pair_score(everyone)
    best = np.sort(scores)[::-1][:12]
    np.testing.assert_allclose(np.sort(model.pair_score([(node, "n005") for node in ids]))[::-1], best, atol=1e-6)
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-best)), atol=1e-6)
    assert "n005" not in ids
    with pytest.raises(InputError, match="the node 'nobody' is not in the model"):
        model.most_similar("nobody")


def test_without_groups_it_says_so(community_graph, community_pairs):
    model = ContrastiveFUSE(8, readout="cosine", random_state=0).fit(community_graph.graph, community_pairs[0])
    with pytest.raises(InputError, match='this needs latent groups: fit with readout="mixture"'):
        model.audit_pairs()
    assert len(model.most_similar(0, 3)[0]) == 3


def test_the_same_after_saving(noisy, tmp_path):
    model, _ = noisy
    model.save(tmp_path / "model")
    again = ContrastiveFUSE.load(tmp_path / "model")
    one, two = model.audit_pairs(), again.audit_pairs()
    assert one["node_1"] == two["node_1"]
    np.testing.assert_array_equal(one["wrong"], two["wrong"])


class TestCommand:
    @pytest.fixture
    def folder(self, noisy, tmp_path):
        noisy[0].save(tmp_path / "model")
        return tmp_path

    def test_groups(self, noisy, folder, run_cfuse):
        ended = run_cfuse("groups", folder / "model", "-o", folder / "groups.csv")
        assert ended.code == 0
        assert "3 groups of 600 nodes" in ended.err
        table = pd.read_csv(folder / "groups.csv")
        assert table["node"].tolist() == [f"n{i:03d}" for i in range(600)]
        assert table.columns.tolist() == ["node", "group", "probability", "second", "second_probability"]
        assert (table["probability"] >= table["second_probability"]).all()
        np.testing.assert_array_equal(table["group"], noisy[0].groups_.argmax(axis=1))

    def test_audit(self, noisy, folder, run_cfuse):
        ended = run_cfuse("audit", folder / "model", "-n", 5)
        assert ended.code == 0
        assert "of the pairs look wrong" in ended.err
        lines = ended.out.splitlines()
        assert lines[0] == "node_1,node_2,y,wrong"
        assert len(lines) == 6
        assert lines[1].split(",")[0] == noisy[0].audit_pairs(1)["node_1"][0]

    def test_bad_input(self, folder, run_cfuse, community_graph):
        assert "scores are written to" in run_cfuse("groups", folder / "model", "-o", folder / "groups.txt").err
        ContrastiveFUSE(4, random_state=0).fit(community_graph.graph).save(folder / "plain")
        for command in ("groups", "audit"):
            ended = run_cfuse(command, folder / "plain")
            assert ended.code == 1
            assert "this needs latent groups" in ended.err
