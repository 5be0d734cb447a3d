"""Judging vectors from anywhere by a classifier of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from contrastive_fuse.cli.options import AsJson, Header, Quiet, Seed, Unknown
from contrastive_fuse.errors import InputError, counted

if TYPE_CHECKING:
    from contrastive_fuse.pairs import SignedPairs


def evaluate(
    vectors: Annotated[
        Path, typer.Argument(help="Vectors: .parquet .csv .tsv .npy .txt, or a model folder.", metavar="VECTORS")
    ],
    pairs: Annotated[Path, typer.Option(help="Signed pairs to learn from, and to test on unless --test is given.")],
    test: Annotated[Path | None, typer.Option(help="Signed pairs to test on.")] = None,
    test_size: Annotated[float, typer.Option(help="Share of the pairs to test on where there is no --test.")] = 0.2,
    graph: Annotated[Path | None, typer.Option(help="Edges; needed by gcn, gat and sage.")] = None,
    head: Annotated[
        Literal["cosine", "logistic", "mlp", "gcn", "gat", "sage"], typer.Option(help="The classifier.")
    ] = "cosine",
    preset: Annotated[
        Literal["strong", "paper"], typer.Option(help="As it works best, or as the paper has it.")
    ] = "strong",
    representation: Annotated[
        Literal["concat", "product", "absdiff", "symmetric"] | None,
        typer.Option(help="How two vectors become one. [default: the preset's]"),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    batching: Annotated[
        Literal["auto", "whole", "sampled"],
        typer.Option(help="Train graph layers on the whole graph or on samples of it."),
    ] = "auto",
    seed: Seed = 0,
    header: Header = "auto",
    unknown: Unknown = "error",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge vectors, ours or anybody's, by a classifier of pairs."""
    from contrastive_fuse import metrics, read_graph, read_pairs, read_vectors, split_pairs, terminal
    from contrastive_fuse.heads import head_class
    from contrastive_fuse.io.files import existing

    for path in (pairs, test, graph):
        if path is not None:
            existing(path)
    made = head_class(head)(preset, representation=representation, device=device, batching=batching, random_state=seed)
    made.check_parameters()
    if made.needs_graph and graph is None:
        raise InputError(f"the head {head} refines vectors over the edges of a graph: say --graph EDGES")
    ids, rows = read_vectors(vectors)
    links = None if graph is None else read_graph(graph, nodes=ids, header=header)
    train, judged = read_pairs(pairs, header=header), None
    if test is None:
        train, judged = split_pairs(train, test_size, seed)
    else:
        judged = read_pairs(test, header=header)
    train, judged = (_known(part, ids, unknown, quiet) for part in (train, judged))
    repeated = train.in_common(judged)
    if repeated:
        raise InputError(f"{counted(repeated, 'test pair')} also among the training pairs; take them out")
    terminal.report("vectors", [f"{counted(len(ids), 'node')}, {counted(rows.shape[1], 'component')}"], quiet)
    terminal.report("pairs", [f"{len(train):,} to learn from, {len(judged):,} to test on"], quiet)
    edges = 0 if links is None else links.n_edges
    needed = made.memory_estimate(len(ids), rows.shape[1], edges, len(train))
    terminal.report("memory", [f"about {needed / 1e9:.2g} GB to train on the whole graph"], quiet or links is None)
    with terminal.epochs(quiet) as callback:
        made.fit(rows, links, train, ids=None if links is not None else ids, callback=callback)
    values = metrics.evaluate(judged.y, made.pair_score(judged), made.predict(judged), made.predict_proba(judged)[:, 1])
    if as_json:
        facts: dict[str, Any] = {"head": head, "preset": preset, "seed": seed, "train": len(train), "test": len(judged)}
        terminal.print_json(facts | values)
    else:
        terminal.facts({f"{head}, {preset}": values})


def _known(pairs: SignedPairs, ids: Any, unknown: Any, quiet: bool) -> SignedPairs:
    """The pairs whose nodes have vectors."""
    from contrastive_fuse import SignedPairs, terminal
    from contrastive_fuse.pairs import dropped_line

    rows, report = pairs.rows_in(ids, unknown)
    if report.unknown_dropped:
        terminal.report("pairs", [dropped_line(report.unknown_dropped)], quiet)
    return SignedPairs.of_rows(ids, rows.first, rows.second, rows.y, rows.weight)
