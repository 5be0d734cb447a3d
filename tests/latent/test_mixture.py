"""The estimator with its default readout."""

import pickle
import warnings

import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs, flip_pairs
from contrastive_fuse.io.model import MARKER
from contrastive_fuse.metrics import calibration_error


@pytest.fixture(scope="module")
def fitted(community_graph, community_pairs):
    return ContrastiveFUSE(16, random_state=0).fit(community_graph.graph, community_pairs[0])


def test_better_than_cosines(fitted, community_graph, community_pairs):
    train, test = community_pairs
    rows = ContrastiveFUSE(16, readout="cosine", random_state=0).fit(community_graph.graph, train)
    assert fitted.score(test) > rows.score(test)
    assert np.mean(fitted.predict(test) == test.y) > 0.97


def test_scores_are_log_odds(fitted, community_pairs):
    pairs = community_pairs[1].pairs
    score, likely = fitted.pair_score(pairs), fitted.predict_proba(pairs)[:, 1]
    np.testing.assert_allclose(np.log(likely / (1 - likely)), score, atol=1e-6)
    np.testing.assert_array_equal(score, fitted.pair_score(pairs[:, ::-1]))
    np.testing.assert_array_equal(fitted.predict(pairs) == 1, likely >= 0.5)
    assert fitted.threshold_ == 0


def test_what_the_groups_tell(fitted, community_graph):
    assert fitted.n_groups_ == 3
    assert fitted.groups_.shape[0] == 600
    np.testing.assert_allclose(fitted.groups_.sum(axis=1), 1, atol=1e-5)
    assert fitted.pair_noise_.low <= fitted.pair_noise_.value <= fitted.pair_noise_.high < 0.05
    inside = np.equal(*community_graph.labels[np.stack(community_graph.graph.edges())])
    assert fitted.homophily_ == pytest.approx(inside.mean(), abs=0.03)


def test_probabilities_are_of_the_truth_where_pairs_are_wrong(community_graph, community_pairs):
    train, test = community_pairs
    model = ContrastiveFUSE(16, random_state=0).fit(community_graph.graph, flip_pairs(train, 0.25, 0))
    assert model.pair_noise_.low < 0.25 < model.pair_noise_.high
    assert calibration_error(test.y, model.predict_proba(test)[:, 1]) < 0.06


@pytest.mark.parametrize("n_pairs", [60, 200, 1000])
def test_few_pairs_do_no_harm(community_graph, community_pairs, n_pairs):
    train, test = community_pairs
    train = train.subset(np.arange(n_pairs))
    mixture, rows = (
        ContrastiveFUSE(16, readout=readout, random_state=0).fit(community_graph.graph, train)
        for readout in ("mixture", "cosine")
    )
    assert mixture.score(test) > rows.score(test) - 0.02


def test_same_bits_for_any_number_of_threads(community_graph, community_pairs):
    train, test = community_pairs
    bits = set()
    for n_jobs in (1, 2, 3):
        model = ContrastiveFUSE(8, n_jobs=n_jobs, random_state=0).fit(community_graph.graph, train)
        bits.add((model.embedding_.tobytes(), model.groups_.tobytes(), model.pair_score(test).tobytes()))
    assert len(bits) == 1


def test_saved_and_loaded_with_the_same_bits(fitted, community_pairs, tmp_path):
    fitted.save(tmp_path / "model")
    again = ContrastiveFUSE.load(tmp_path / "model")
    for model in (again, pickle.loads(pickle.dumps(fitted))):
        assert model.pair_score(community_pairs[1]).tobytes() == fitted.pair_score(community_pairs[1]).tobytes()
        assert model.groups_.tobytes() == fitted.groups_.tobytes()
        assert model.n_groups_ == fitted.n_groups_
        assert model.pair_noise_ == fitted.pair_noise_
        assert model.homophily_ == fitted.homophily_


def test_damaged_arrays_are_said(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    np.save(tmp_path / "model" / "diffused.npy", np.zeros((3, 2), np.float32))
    with pytest.raises(InputError, match=r"diffused.npy should hold 600 float32 rows, found \(3, 2\)"):
        ContrastiveFUSE.load(tmp_path / "model")
    (tmp_path / "model" / "diffused.npy").unlink()
    with pytest.raises(InputError, match="is damaged"):
        ContrastiveFUSE.load(tmp_path / "model")
    header = tmp_path / "model" / MARKER
    header.write_text(header.read_text().replace('"diffused"', '"../diffused"'))
    with pytest.raises(InputError, match="names arrays that cannot be"):
        ContrastiveFUSE.load(tmp_path / "model")


def test_weights_and_nodes_without_edges():
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    pairs = rng.integers(0, 90, (900, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = np.where(labels[pairs[:, 0]] == labels[pairs[:, 1]], 1, -1)
    nothing = Graph.from_edges([], [], nodes=90)
    model = ContrastiveFUSE(8, random_state=0).fit(
        nothing, SignedPairs(pairs, alike, rng.uniform(0.5, 2, len(pairs)).astype(np.float32))
    )
    assert model.score(pairs, alike) > 0.99
    assert model.homophily_ == 0


def test_which_readout_is_used(community_graph, community_pairs):
    graph, train = community_graph.graph, community_pairs[0]
    assert ContrastiveFUSE(4, objective="paper", random_state=0).fit(graph, train).mixture_ is None
    assert ContrastiveFUSE(4, random_state=0).fit(graph).mixture_ is None
    assert ContrastiveFUSE(4, calibration=None, random_state=0).fit(graph, train).mixture_ is None
    few = train.subset(np.concatenate([np.flatnonzero(train.y > 0)[:19], np.flatnonzero(train.y < 0)]))
    assert ContrastiveFUSE(4, random_state=0).fit(graph, few).mixture_ is None
    with pytest.raises(
        InputError, match=r'readout="mixture" needs at least 20 pairs of either sign; there are 19 alike'
    ):
        ContrastiveFUSE(4, readout="mixture").fit(graph, few)
    with pytest.raises(InputError, match="readout must be one of"):
        ContrastiveFUSE(readout="magic").fit(graph)
    assert ContrastiveFUSE(4, objective="paper", readout="mixture", random_state=0).fit(graph, train).n_groups_ == 3


def test_it_warns_where_nodes_alone_explain_the_pairs(community_graph, community_pairs):
    """Some nodes are in alike pairs, others in unlike ones, whatever their group."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 600, (4000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    keen = rng.random(600) < 0.5
    y = np.where(keen[pairs].sum(axis=1) + rng.normal(0, 0.3, len(pairs)) > 0.9, 1, -1)
    with pytest.warns(UserWarning, match="the two nodes' shares of alike pairs tell as much"):
        model = ContrastiveFUSE(8, random_state=0).fit(community_graph.graph, SignedPairs(pairs, y))
    assert model.mixture_.node_rate > 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ContrastiveFUSE(8, random_state=0).fit(community_graph.graph, community_pairs[0])
    assert model.mixture_.node_rate < 0.65


def test_it_warns_of_synthetic_lethality(data_folder):
    from contrastive_fuse import load_dataset

    data = load_dataset("synlethdb")
    with pytest.warns(UserWarning, match="the two nodes' shares of alike pairs tell as much"):
        model = ContrastiveFUSE(32, random_state=0).fit(data.graph, data.pairs)
    assert model.mixture_.node_rate > 0.85


def test_progress_tells_the_stages(community_graph, community_pairs):
    seen = []
    ContrastiveFUSE(4, random_state=0).fit(
        community_graph.graph, community_pairs[0], callback=lambda step: seen.append(step.stage)
    )
    calibrations = {f"calibration {number}" for number in range(1, 5)}
    assert set(seen) == calibrations | {"diffusion", "groups", "embedding"}


@pytest.mark.parametrize("readout", ["mixture", "cosine"])
@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_a_base_rate_can_be_stated(community_graph, community_pairs, readout, wrong):
    """Learned from balanced pairs, asked about pairs of which a tenth are alike."""
    train, test = community_pairs
    model = ContrastiveFUSE(16, readout=readout, random_state=0)
    model.fit(community_graph.graph, flip_pairs(train, wrong, 0) if readout == "mixture" else train)
    alike, unlike = np.flatnonzero(test.y > 0), np.flatnonzero(test.y < 0)
    asked = test.subset(np.concatenate([alike[: len(unlike) // 9], unlike]))
    told, moved = (model.predict_proba(asked, rate)[:, 1] for rate in (None, 0.1))
    assert abs(moved.mean() - 0.1) < abs(told.mean() - 0.1) or abs(told.mean() - 0.1) < 0.02
    assert abs(moved.mean() - 0.1) < 0.03
    np.testing.assert_allclose(model.predict_proba(asked, model.calibration_.base_rate)[:, 1], told, atol=1e-9)
    assert model.calibration_.base_rate == pytest.approx(0.5, abs=0.06)
    with pytest.raises(InputError, match="base_rate is a share, between 0 and 1; got 2"):
        model.predict_proba(asked, 2)
