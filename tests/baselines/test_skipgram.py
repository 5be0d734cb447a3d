import numpy as np
import pytest

from contrastive_fuse.baselines import skipgram
from contrastive_fuse.baselines.skipgram import train_skip_gram
from contrastive_fuse.baselines.walks import draw, random_walks
from contrastive_fuse.registry import EMBEDDERS, make_embedder

PUBLISHED = [(name, key) for name, entry in EMBEDDERS.items() for key in getattr(entry.load(), "PUBLISHED", {})]


def slowly(walks, n_nodes, k, *, window, epochs, negative, seed):
    """Readable skip-gram with negatives shared by the contexts of a centre, one centre after the other."""
    rng = np.random.default_rng(seed)
    sums = np.cumsum(np.bincount(walks[walks >= 0], minlength=n_nodes) ** 0.75)
    vectors = (rng.random((n_nodes, k), dtype=np.float32) - 0.5) / np.float32(k)
    vectors, targets = vectors.astype(float), np.zeros((n_nodes, k))
    state = np.uint64(rng.integers(1 << 63))
    for epoch in range(epochs):
        for row, padded in enumerate(walks):
            done = (epoch + row / len(walks)) / epochs
            rate = 0.025 + (0.0001 - 0.025) * done
            walk = padded[padded >= 0]
            for place, centre in enumerate(walk):
                state, number = draw(np.uint64(state))
                reach = 1 + int(number * window)
                near = np.concatenate([walk[max(0, place - reach) : place], walk[place + 1 : place + reach + 1]])
                drawn = []
                for _ in range(negative):
                    state, number = draw(np.uint64(state))
                    drawn.append(int(np.searchsorted(sums, number * sums[-1], side="right")))
                move = np.zeros((len(near), k))
                for node, truth in [(centre, 1.0)] + [(node, 0.0) for node in drawn if node != centre]:
                    step = rate * (truth - 1 / (1 + np.exp(-vectors[near] @ targets[node])))
                    move += np.outer(step, targets[node])
                    targets[node] = targets[node] + step @ vectors[near]
                for context, change in zip(near, move, strict=True):
                    vectors[context] += change
    return vectors


def test_compiled_is_the_readable_one(community_graph):
    walks = random_walks(community_graph.graph, 1, 12, 3)
    walks[::3, 7:] = -1
    settings = {"window": 3, "epochs": 2, "negative": 4, "seed": 5}
    np.testing.assert_allclose(train_skip_gram(walks, 600, 6, **settings), slowly(walks, 600, 6, **settings), atol=2e-5)


def test_rates_fall_over_blocks_as_over_one(community_graph, monkeypatch):
    walks = random_walks(community_graph.graph, 1, 12, 3)
    whole = train_skip_gram(walks, 600, 6, window=3, epochs=1, negative=2, seed=5)
    monkeypatch.setattr(skipgram, "WALKS_AT_ONCE", 100)
    np.testing.assert_allclose(train_skip_gram(walks, 600, 6, window=3, epochs=1, negative=2, seed=5), whole, atol=1e-6)


def test_negatives_are_drawn_by_their_counts():
    sums = np.cumsum(np.array([0.0, 3.0, 1.0, 0.0, 4.0]))
    guide = np.searchsorted(sums, np.arange(6) / 5 * sums[-1]).astype(np.int32)
    drawn = np.bincount([skipgram._node(sums, guide, x) for x in (np.arange(8000) + 0.5) / 8000], minlength=5)
    assert drawn.tolist() == [0, 3000, 1000, 0, 4000]


@pytest.mark.parametrize("settings", [{}, {"gensim": True}, {"negative": 0}])
def test_nodes_of_a_community_get_similar_vectors(community_graph, settings):
    model = make_embedder("deepwalk", 16, settings={"length": 20, **settings}, random_state=0)
    model.fit(community_graph.graph)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 600, (4000, 2))
    alike = np.where(community_graph.labels[pairs[:, 0]] == community_graph.labels[pairs[:, 1]], 1, -1)
    assert model.score(pairs, alike) > 0.8


@pytest.mark.parametrize(("name", "published"), PUBLISHED)
def test_published_settings_are_settings(name, published):
    method = EMBEDDERS[name].load()
    method(8, settings=method.PUBLISHED[published]).check_parameters()
