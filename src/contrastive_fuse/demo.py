"""The demo: handwritten digits, and what the graph and 2,000 signed pairs each contribute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from contrastive_fuse.datasets import Dataset, digits
from contrastive_fuse.errors import MissingExtraError
from contrastive_fuse.fuse import ContrastiveFUSE
from contrastive_fuse.graph import Graph
from contrastive_fuse.io.vectors import write_vectors
from contrastive_fuse.pairs import SignedPairs
from contrastive_fuse.protocol import split_pairs
from contrastive_fuse.sampling import sample_pairs
from contrastive_fuse.terminal import report

if TYPE_CHECKING:
    from contrastive_fuse.types import FloatArray

TEST_PAIRS = 20_000


def run(output: Path, n_pairs: int = 2000, seed: int = 0, quiet: bool = False) -> dict[str, ContrastiveFUSE]:
    """Fit three times, print the table, write vectors, model and picture; return the fitted models."""
    data = digits()
    train, test = demo_pairs(data, n_pairs, seed)
    report("data", [str(data.info["description"]), *data.graph.report.lines()], quiet)
    report("pairs", [f"{len(train):,} to learn from, {len(test):,} others to test on"], quiet)
    no_edges = Graph.from_edges([], [], nodes=data.graph.n_nodes)
    ContrastiveFUSE(max_iter=1, random_state=seed).fit(data.graph, train)  # compile, so that seconds are of the work
    models = {
        "graph, no pairs": ContrastiveFUSE(random_state=seed).fit(data.graph).calibrate(train),
        "pairs, no graph": ContrastiveFUSE(random_state=seed).fit(no_edges, train),
        "graph and pairs": ContrastiveFUSE(random_state=seed).fit(data.graph, train),
    }
    if not quiet:
        Console().print(_table(models, test))
    both = models["graph and pairs"]
    written = write_vectors(output / "digits.parquet", both.ids_, both.embedding_)
    both.save(output / "model")
    written.append(output / "model")
    picture = output / "digits.png"
    try:
        _draw(picture, data, models, len(train), test)
        written.append(picture)
    except MissingExtraError as error:
        report("picture", [str(error)], quiet)
    report("wrote", [str(path) for path in written], quiet)
    return models


def demo_pairs(data: Dataset, n_pairs: int, seed: int) -> tuple[SignedPairs, SignedPairs]:
    """Training and test pairs that have no pair in common."""
    everything = sample_pairs(data.labels, n_pairs + TEST_PAIRS, seed)
    return split_pairs(everything, TEST_PAIRS / len(everything), seed)


def _table(models: dict[str, ContrastiveFUSE], test: SignedPairs) -> Table:
    table = Table(title=f"Are two digits the same? {len(test):,} test pairs", title_justify="left")
    table.add_column("learned from")
    for name in ("ROC-AUC", "accuracy", "seconds"):
        table.add_column(name, justify="right")
    for name, model in models.items():
        accuracy = np.mean(model.predict(test) == test.y)
        table.add_row(name, f"{model.score(test):.3f}", f"{accuracy:.3f}", f"{model.timings_['total']:.2f}")
    return table


def _draw(path: Path, data: Dataset, models: dict[str, ContrastiveFUSE], n_pairs: int, test: SignedPairs) -> None:
    """Two maps of the vectors, without and with pairs, and how far apart they hold alike and unlike pairs."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("the picture", "plot") from None

    figure = Figure(figsize=(15, 9), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, height_ratios=[3.2, 1])
    shown = {"graph, no pairs": "The graph alone", "graph and pairs": f"The graph and {n_pairs:,} signed pairs"}
    for column, (name, title) in enumerate(shown.items()):
        model = models[name]
        _draw_map(figure.add_subplot(grid[0, column]), data, model.embedding_, title)
        axes = figure.add_subplot(grid[1, column])
        probability = model.predict_proba(test)[:, 1]
        bins = np.linspace(0, 1, 51).tolist()
        for sign, label, colour in ((1, "same digit", "#2a6f97"), (-1, "different digits", "#e07a5f")):
            axes.hist(probability[test.y == sign], bins=bins, color=colour, alpha=0.75, label=label)
        axes.axvline(0.5, color="#333333", linewidth=1, linestyle="--")
        axes.set_xlabel(f"probability of the same digit, {len(test):,} pairs the model has not seen")
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.legend(
            frameon=False, loc="upper center", bbox_to_anchor=(0.27, 1), title=f"ROC-AUC {model.score(test):.3f}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _draw_map(axes: object, data: Dataset, vectors: FloatArray, title: str) -> None:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage
    from sklearn.manifold import TSNE

    assert isinstance(axes, Axes)
    places = TSNE(metric="cosine", init="random", perplexity=30, random_state=0).fit_transform(vectors)
    colours = colormaps["tab10"](data.labels)
    first, second = data.graph.edges()
    ends = np.stack([places[first], places[second]], axis=1)
    axes.add_collection(LineCollection(ends, colors="#999999", linewidths=0.3, alpha=0.25, zorder=1))  # type: ignore[arg-type]
    for image, place, colour in zip(data.features.reshape(-1, 8, 8), places, colours, strict=True):
        tinted = np.concatenate([np.broadcast_to(colour[:3], (8, 8, 3)), image[..., None] / 16], axis=2)
        thumbnail = OffsetImage(tinted, zoom=1.1, interpolation="bilinear")
        axes.add_artist(AnnotationBbox(thumbnail, place, frameon=False, pad=0))
    margin = 0.03 * np.ptp(places, axis=0)
    axes.set_xlim(places[:, 0].min() - margin[0], places[:, 0].max() + margin[0])
    axes.set_ylim(places[:, 1].min() - margin[1], places[:, 1].max() + margin[1])
    axes.set_title(title, fontsize=15)
    axes.axis("off")
