"""The main jobs from the shell: embed, score, diagnose, demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from contrastive_fuse.cli.options import AsJson, Edges, Header, Nodes, Quiet, Repeats, Seed, Unknown, Weight
from contrastive_fuse.errors import InputError, counted

if TYPE_CHECKING:
    from contrastive_fuse.graph import Graph
    from contrastive_fuse.pairs import SignedPairs


def embed(
    edges: Edges,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="A folder for the whole model, or vectors alone: .parquet .csv .tsv .npy .txt."
        ),
    ],
    pairs: Annotated[Path | None, typer.Option(help="Signed pairs: id, id, +1 or -1, and a weight if wanted.")] = None,
    dim: Annotated[int, typer.Option("--dim", "-k", help="Length of a node's vector.")] = 128,
    method: Annotated[
        str, typer.Option(help="fuse, or another method to compare with: random, deepwalk, dgi, union-find, ...")
    ] = "fuse",
    objective: Annotated[Literal["balanced", "paper"], typer.Option(help="What is raised.")] = "balanced",
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of objective or method; may be repeated."),
    ] = None,
    max_iter: Annotated[int | None, typer.Option(help="Most iterations. [default: the objective's]")] = None,
    tol: Annotated[
        float | None, typer.Option(help="Stop when rows move less than this. [default: the objective's]")
    ] = None,
    readout: Annotated[
        Literal["auto", "mixture", "cosine"],
        typer.Option(help="How pairs are judged: by rows and latent groups together, or by the cosine of rows."),
    ] = "auto",
    calibration: Annotated[
        Literal["auto", "platt", "isotonic", "none"], typer.Option(help="How scores become probabilities.")
    ] = "auto",
    seed: Seed = 0,
    threads: Annotated[
        int | None, typer.Option(help="Threads; the result does not depend on it. [default: all]")
    ] = None,
    nodes: Nodes = None,
    weight: Weight = "auto",
    repeats: Repeats = "max",
    header: Header = "auto",
    unknown: Unknown = "error",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Embed a graph: the main job."""
    from contrastive_fuse import ContrastiveFUSE, terminal, write_vectors
    from contrastive_fuse.io.atomic import check_replaceable
    from contrastive_fuse.io.files import existing
    from contrastive_fuse.io.model import MARKER
    from contrastive_fuse.io.vectors import VECTOR_SUFFIXES, check_vector_ids

    output = output if output.name else output.resolve()  # "." has no name
    as_vectors = output.suffix in VECTOR_SUFFIXES
    if output.suffix and not as_vectors:
        raise InputError(
            f"cannot tell what to write to {output.name!r}: use a folder name without a dot for a model, or a file name"
            f" in {', '.join(VECTOR_SUFFIXES)} for the vectors"
        )
    if not as_vectors:
        check_replaceable(output, MARKER)
    ours = {"objective": objective, "max_iter": max_iter, "tol": tol, "readout": readout, "calibration": calibration}
    variant = _variant(method, {name: value for name, value in ours.items() if value not in (None, "auto", "balanced")})
    if variant is None:
        if not as_vectors:
            raise InputError(f"the method {method} writes vectors: say -o NAME with {', '.join(VECTOR_SUFFIXES)}")
        made = _method(method, dim, param, edges, unknown=unknown, n_jobs=threads, random_state=seed)
        graph = _read_graph(edges, nodes, weight, repeats, header)
        terminal.report("graph", graph.report.lines(), quiet)
        check_vector_ids(output, graph.ids)
        with terminal.stages(quiet) as steps:
            made.fit(graph, _read_pairs(pairs, header), callback=steps)
        if made.pair_report_ is not None:
            terminal.report("pairs", made.pair_report_.lines(), quiet)
        terminal.report("wrote", [str(path) for path in write_vectors(output, made.ids_, made.embedding_)], quiet)
        return
    ours["calibration"] = None if calibration == "none" else calibration
    model = ContrastiveFUSE(
        dim,
        objective_params=_parameters(param),
        unknown=unknown,
        n_jobs=threads,
        random_state=seed,
        **{**ours, **variant},
    )
    model.check_parameters()
    if pairs is not None:
        existing(pairs)  # before a large graph is read
    graph = _read_graph(edges, nodes, weight, repeats, header)
    terminal.report("graph", graph.report.lines(), quiet)
    if as_vectors:
        check_vector_ids(output, graph.ids)
    signed = _read_pairs(pairs, header)
    checkpoint = output.with_name(f"{output.name}.checkpoint")
    with terminal.warnings_told(), terminal.progress(quiet) as callback, terminal.resumable(checkpoint, quiet):
        model.fit(graph, signed, callback=callback, checkpoint=checkpoint)
    if model.pair_report_ is not None:
        terminal.report("pairs", model.pair_report_.lines(), quiet)
    terminal.report("fit", terminal.fit_lines(model), quiet)
    if as_vectors:
        written = write_vectors(output, model.ids_, model.embedding_)
    else:
        model.save(output)
        written = [output]
    terminal.report("wrote", [str(path) for path in written], quiet)
    if as_json:
        terminal.print_json(terminal.fit_facts(model))


def score(
    model: Annotated[Path, typer.Argument(help="A model folder that embed wrote.", metavar="MODEL")],
    candidates: Annotated[Path, typer.Argument(help="Pairs to score: two columns of node ids.", metavar="PAIRS")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv, .tsv or .parquet file. [default: CSV to standard output]"),
    ] = None,
    base_rate: Annotated[
        float | None,
        typer.Option(help="Share of alike pairs among these. [default: that of the pairs the model learned from]"),
    ] = None,
    header: Header = "auto",
    unknown: Unknown = "error",
    quiet: Quiet = False,
) -> None:
    """Tell how alike pairs of nodes are: the input's columns, then score, probability and predicted sign."""
    from contrastive_fuse import ContrastiveFUSE, terminal
    from contrastive_fuse.io.files import read_table
    from contrastive_fuse.io.scored import check_table_name, score_table, write_table
    from contrastive_fuse.pairs import dropped_line

    check_table_name(output)
    fitted = ContrastiveFUSE.load(model)
    scored, dropped = score_table(fitted, read_table(candidates, header), unknown, base_rate)
    if dropped:
        terminal.report("pairs", [dropped_line(dropped)], quiet)
    if fitted.calibration_ is None:
        terminal.report("pairs", ["no probabilities: the model was fitted without pairs to calibrate on"], quiet)
    write_table(scored, output)
    if output is not None:
        terminal.report("wrote", [f"{output} ({counted(scored.num_rows, 'pair')})"], quiet)


def diagnose(
    edges: Edges,
    pairs: Annotated[Path | None, typer.Option(help="Signed pairs, to describe how they lie on the graph.")] = None,
    nodes: Nodes = None,
    weight: Weight = "auto",
    repeats: Repeats = "max",
    header: Header = "auto",
    unknown: Unknown = "error",
    as_json: AsJson = False,
) -> None:
    """Describe a graph: components, degrees, isolated nodes, the constants of the theory."""
    from contrastive_fuse import terminal
    from contrastive_fuse.diagnosis import diagnose as describe

    graph = _read_graph(edges, nodes, weight, repeats, header)
    signed = _read_pairs(pairs, header)
    facts = describe(graph, None if signed is None else signed.rows_in(graph.ids, unknown)[0])
    if as_json:
        terminal.print_json(facts)
    else:
        terminal.report("graph", graph.report.lines(), quiet=False)
        terminal.facts(facts)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for vectors and picture.")] = Path("demo"),
    n_pairs: Annotated[int, typer.Option("--pairs", help="Training pairs.")] = 2000,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Embed handwritten digits from 2,000 pairs and show what graph and pairs each contribute."""
    from contrastive_fuse.demo import run

    run(output, n_pairs, seed, quiet)


def _read_graph(path: Path, nodes: Path | None, weight: str, repeats: Any, header: Any) -> Graph:
    from contrastive_fuse.io.files import read_graph, read_ids

    names = None if nodes is None else read_ids(nodes, header)
    return read_graph(path, nodes=names, weight=None if weight == "none" else weight, repeats=repeats, header=header)


def _read_pairs(path: Path | None, header: Any) -> SignedPairs | None:
    from contrastive_fuse.io.files import read_pairs

    return None if path is None else read_pairs(path, header=header)


def _variant(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """What makes a method one of our own; None for those to compare with, which do not know our options."""
    from contrastive_fuse.errors import check_choice
    from contrastive_fuse.registry import EMBEDDERS

    entry = EMBEDDERS[check_choice("method", method, EMBEDDERS)]
    options = ", ".join("--" + name.replace("_", "-") for name in given if entry.foreign or name in entry.parameters)
    if options:
        raise InputError(f"the method {method} does not take {options}; its own settings are --param NAME=VALUE")
    return None if entry.foreign else dict(entry.parameters)


def _method(name: str, dim: int, param: list[str] | None, edges: Path, **parameters: Any) -> Any:
    """A method to compare with; features or classes that it needs come from the file of the edges."""
    from contrastive_fuse.registry import EMBEDDERS

    entry = EMBEDDERS[name]
    settings = _parameters(param) or {}
    if entry.needs is not None and edges.suffix != ".npz":
        raise InputError(f"the method {name} needs {entry.needs}: give the edges as an .npz data set (docs/data.md)")
    if entry.needs is not None:
        from contrastive_fuse import load_dataset

        settings[entry.needs] = getattr(load_dataset(edges), entry.needs)
    made = entry(dim, settings=settings or None, **parameters)
    made.check_parameters()
    return made


def _parameters(given: list[str] | None) -> dict[str, Any] | None:
    """NAME=VALUE settings; a value is read as JSON where it is, else as text."""
    parameters: dict[str, Any] = {}
    for setting in given or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--param takes NAME=VALUE; got {setting!r}")
        try:
            parameters[name] = json.loads(value)
        except json.JSONDecodeError:
            parameters[name] = value
    return parameters or None
