"""DeepWalk and Node2Vec: nodes that occur close together on random walks get similar vectors.

DeepWalk (Perozzi et al. 2014): walks without memory. Node2Vec (Grover and Leskovec 2016): walks that prefer to stay
near (q) or to return (p). Skip-gram has negative samples, as the paper has it for both, and is compiled here;
DeepWalk's first form, with hierarchical softmax (`DeepWalk.PUBLISHED`), and gensim's trainer can be asked for. Gensim
works with one worker, because with more its result depends on which comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from contrastive_fuse.baselines.base import Baseline, Step, Task
from contrastive_fuse.baselines.skipgram import train_skip_gram
from contrastive_fuse.baselines.walks import random_walks
from contrastive_fuse.errors import MissingExtraError, check_integer, check_number
from contrastive_fuse.graph import Graph
from contrastive_fuse.types import AnyArray, FloatArray, IntArray

ROWS_AT_ONCE = 1 << 12


class DeepWalk(Baseline):
    """Skip-gram on walks without memory.

    Settings
    --------
    negative : nodes drawn against each node of a walk; with 0 gensim's hierarchical softmax
    gensim : whether gensim trains in any case
    """

    SETTINGS: ClassVar[Mapping[str, Any]] = {
        "walks": 10,
        "length": 80,
        "window": 5,
        "epochs": 1,
        "negative": 5,
        "p": 1.0,
        "q": 1.0,
        "gensim": False,
    }
    PUBLISHED: ClassVar[Mapping[str, Mapping[str, Any]]] = {"2014": {"length": 40, "negative": 0}}

    def embed(self, task: Task) -> AnyArray:
        graph, settings, rng, callback = task.graph, task.settings, task.rng, task.callback
        for name in ("walks", "length", "window", "epochs"):
            check_integer(name, settings[name], at_least=1)
        for name in ("p", "q"):
            check_number(name, settings[name], above=0)
        seed = int(rng.integers(1 << 31))
        walks = random_walks(
            graph, settings["walks"], settings["length"], seed, p=settings["p"], q=settings["q"], n_jobs=self.n_jobs
        )
        if callback is not None:
            callback(Step("walks", 1, 1))
        report = None if callback is None else lambda done, total: callback(Step("skip-gram", done, total))
        train = gensim_skip_gram if settings["gensim"] or not settings["negative"] else train_skip_gram
        vectors = train(
            walks, graph.n_nodes, int(self.n_components), window=settings["window"], epochs=settings["epochs"],
            negative=check_integer("negative", settings["negative"], at_least=0), seed=seed, report=report,
        )  # fmt: skip
        alone = np.diff(graph.indptr) == 0
        vectors[alone] = rng.standard_normal((int(alone.sum()), vectors.shape[1]))  # no walk tells anything of them
        return vectors

    def memory_estimate(self, graph: Graph) -> int:
        settings = self.check_parameters()
        walks = 4 * graph.n_nodes * settings["walks"] * settings["length"]
        return int(2 * walks + 4 * 4 * graph.n_nodes * int(self.n_components) + 400 * graph.n_nodes)


class Node2Vec(DeepWalk):
    """Skip-gram on walks that remember where they came from."""

    SETTINGS: ClassVar[Mapping[str, Any]] = {
        "walks": 10,
        "length": 80,
        "window": 10,
        "epochs": 1,
        "negative": 5,
        "p": 0.5,
        "q": 2.0,
        "gensim": False,
    }
    PUBLISHED: ClassVar[Mapping[str, Mapping[str, Any]]] = {}


def gensim_skip_gram(
    walks: IntArray,
    n_nodes: int,
    n_components: int,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
    report: Callable[[int, int], object] | None = None,
) -> FloatArray:
    """Gensim's skip-gram on walks, with hierarchical softmax where ``negative`` is 0."""
    try:
        from gensim.models import Word2Vec
        from gensim.models.callbacks import CallbackAny2Vec
    except ImportError:
        raise MissingExtraError("skip-gram", "baselines") from None

    class Report(CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            if report is not None:
                report(self.done, epochs)

    counts = np.bincount(walks[walks >= 0], minlength=n_nodes)
    model = Word2Vec(
        vector_size=n_components, window=window, min_count=1, sg=1, hs=int(negative == 0), negative=negative,
        workers=1, seed=seed, sample=0, epochs=epochs,
    )  # fmt: skip
    model.build_vocab_from_freq({str(node): int(count) for node, count in enumerate(counts)})
    model.train(
        _Sentences(walks), total_examples=len(walks), total_words=int(counts.sum()), epochs=epochs, callbacks=[Report()]
    )
    place = np.array([model.wv.key_to_index[str(node)] for node in range(n_nodes)])
    return np.asarray(model.wv.vectors[place], dtype=np.float32)


class _Sentences:
    """Walks as lists of words. Gensim would read a file faster, but not twice with the same result."""

    def __init__(self, walks: IntArray) -> None:
        self.walks = walks
        self.words = [str(node) for node in range(int(walks.max(initial=-1)) + 1)]

    def __iter__(self) -> Iterator[list[str]]:
        words = self.words
        for start in range(0, len(self.walks), ROWS_AT_ONCE):
            block = self.walks[start : start + ROWS_AT_ONCE]
            for walk in block.tolist():
                yield [words[node] for node in walk if node >= 0]
