import builtins

import numpy as np
import pytest

from contrastive_fuse import InputError, load_dataset
from contrastive_fuse.datasets import planted
from contrastive_fuse.errors import MissingExtraError


def test_digits_edges_are_mutual_neighbours():
    data = load_dataset("digits")
    assert data.graph.n_nodes == 1797
    assert np.diff(data.graph.indptr).max() <= 10
    first, second = data.graph.edges()
    assert np.mean(data.labels[first] == data.labels[second]) > 0.97
    images = data.features.reshape(1797, -1)
    far = np.linalg.norm(images[first] - images[second], axis=1)
    rng = np.random.default_rng(0)
    anywhere = np.linalg.norm(images[rng.permutation(1797)] - images, axis=1)
    assert far.max() < np.median(anywhere)


def test_karate():
    data = load_dataset("karate")
    assert (data.graph.n_nodes, data.graph.n_edges, data.graph.is_weighted) == (34, 78, True)
    assert np.bincount(data.labels).tolist() == [17, 17]


def test_karate_without_networkx(monkeypatch):
    real_import = builtins.__import__

    def no_networkx(name, *args, **kwargs):
        if name == "networkx":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_networkx)
    with pytest.raises(MissingExtraError, match=r'pip install "contrastive-fuse\[networkx\]"'):
        load_dataset("karate")


@pytest.fixture(scope="module")
def sample():
    return planted(20_000, 200_000, 5, 6, random_state=1)


def test_planted_meets_its_sizes(sample):
    assert sample.graph.n_nodes == 20_000
    assert sample.graph.n_edges == pytest.approx(200_000, rel=0.03)
    assert np.unique(sample.labels).tolist() == [0, 1, 2, 3, 4]
    assert len(np.unique(sample.info["communities"])) == 30
    np.testing.assert_array_equal(sample.info["communities"] // 6, sample.labels)


def test_planted_shares_of_edges(sample):
    first, second = sample.graph.edges()
    community, label = sample.info["communities"], sample.labels
    same_community = np.mean(community[first] == community[second])
    same_class = np.mean(label[first] == label[second])
    assert 0.58 < same_community < 0.72  # 0.6 on purpose, a little by chance
    assert 0.80 < same_class < 0.90


def test_planted_degrees_are_uneven(sample):
    degrees = np.sort(sample.graph.degrees)
    assert degrees[-1] > 10 * np.median(degrees)
    assert np.median(degrees) > 5


def test_planted_is_the_same_for_a_seed_and_any_number_of_threads():
    one, two, other = (planted(3000, 20_000, random_state=s, n_jobs=j) for s, j in ((5, 1), (5, 3), (6, 1)))
    np.testing.assert_array_equal(one.graph.indices, two.graph.indices)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.graph.n_edges != other.graph.n_edges or not np.array_equal(one.graph.indices, other.graph.indices)


def test_planted_in_order_of_communities():
    data = planted(3000, 20_000, shuffle=False)
    assert np.all(np.diff(data.info["communities"]) >= 0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_nodes": 1}, "n_nodes must be"),
        ({"within_community": 0.8, "within_class": 0.3}, "together they exceed 1"),
        ({"n_nodes": 50}, "80 communities need as many nodes; got 50"),
        ({"degree_exponent": 2}, "degree_exponent must be a finite number above 2"),
    ],
)
def test_planted_refuses(params, message):
    with pytest.raises(InputError, match=message):
        planted(**params)
