"""Data sets from the shell: which there are, what is known of them, fetching them, drawing pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from contrastive_fuse.cli.options import AsJson, DataDir, Quiet, Seed
from contrastive_fuse.errors import InputError, counted

if TYPE_CHECKING:
    from contrastive_fuse.datasets import Dataset

app = typer.Typer(help="Data sets: list them, describe one, fetch one, draw pairs.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A name that 'cfuse data list' shows, or the path of an .npz file.")]


@app.command("list")
def list_sets(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Every data set by name: size, licence, and whether it is here."""
    from contrastive_fuse import terminal
    from contrastive_fuse.datasets import DATASETS, availability

    rows = [
        {"name": name, **source.facts._asdict(), "MB": source.megabytes, "licence": source.licence,
         "here": availability(source, data_dir)}
        for name, source in DATASETS.items()
    ]  # fmt: skip
    if as_json:
        terminal.print_json(rows)
    else:
        terminal.table(rows, numbers=("nodes", "edges", "classes", "features", "MB"))


@app.command()
def info(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """What is known of a data set, beside what the paper prints of it."""
    from contrastive_fuse import terminal
    from contrastive_fuse.datasets import DATASETS, find, load_dataset, paper

    source = DATASETS.get(name)
    if source is not None and source.files is not None and find(source, data_dir) is None:
        known = {"name": name, "description": source.description, "licence": source.licence,
                 "homepage": source.homepage, **source.facts._asdict(), "megabytes": source.megabytes}  # fmt: skip
        facts = {"set": {key: value for key, value in known.items() if value is not None}}
        compared = paper.compare(name)
        terminal.report("not here", [f"cfuse data get {name} downloads it ({source.megabytes:,g} MB)"], quiet=False)
    else:
        data = load_dataset(name, data_dir=data_dir, download=False)
        facts = {"set": _facts(data)}
        compared = paper.compare(data.name, data)
    if as_json:
        terminal.print_json(facts | {title: [row._asdict() for row in rows] for title, rows in compared.items()})
        return
    terminal.facts(facts)
    for title, rows in compared.items():
        terminal.table([row._asdict() for row in rows], numbers=("paper", "here"), title=title)


@app.command()
def get(
    names: Annotated[list[str], typer.Argument(help="Names that 'cfuse data list' shows.", metavar="NAME...")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write the set to one .npz file, as cfuse embed reads it."),
    ] = None,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Download data sets that are not here yet; what was received of an interrupted download is kept."""
    from contrastive_fuse import terminal
    from contrastive_fuse.datasets import DATASETS, availability, find, load_dataset, save_dataset
    from contrastive_fuse.errors import check_choice

    if output is not None and (len(names) > 1 or output.suffix != ".npz"):
        raise InputError("--output takes a file name that ends in .npz, and one data set")
    for name in names:
        check_choice("data set", name, DATASETS)
    for name in names:
        with terminal.download(quiet) as progress:
            data = load_dataset(name, data_dir=data_dir, progress=progress)
        found = find(DATASETS[name], data_dir)
        place = str(found.path) if found is not None else availability(DATASETS[name])
        terminal.report(name, [*data.graph.report.lines()[:1], place], quiet)
        if output is not None:
            terminal.report("wrote", [str(save_dataset(data, output))], quiet)


@app.command()
def where(as_json: AsJson = False) -> None:
    """The folders that are looked in for data sets, in order."""
    from contrastive_fuse import terminal
    from contrastive_fuse.datasets import DATASETS, find, places

    found = [(source.name, find(source)) for source in DATASETS.values()]
    rows = [
        {
            "folder": str(place.folder),
            "named by": place.named_by,
            "sets": ", ".join(name for name, at in found if at is not None and at.place == place) or "none",
        }
        for place in places()
    ]
    if as_json:
        terminal.print_json(rows)
    else:
        terminal.table(rows)


@app.command()
def pairs(
    name: Name,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for train.csv and test.csv.")],
    n_pairs: Annotated[
        int, typer.Option("--number", "-n", help="Pairs to draw, of sets that bring none of their own.")
    ] = 50_000,
    split: Annotated[
        Literal["pairs", "nodes", "few"],
        typer.Option(
            help="Test on other pairs, on pairs of nodes that no training pair touches, or learn from few pairs and"
            " test on 20,000 that stay the same."
        ),
    ] = "pairs",
    test_size: Annotated[float, typer.Option(help="Share of the pairs to test on.")] = 0.2,
    flip: Annotated[float, typer.Option(help="Share of the training pairs to give the wrong sign.")] = 0.0,
    seed: Seed = 0,
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Draw signed pairs from the classes of a data set (or take its own) and divide them into training and test."""
    from contrastive_fuse import terminal
    from contrastive_fuse.datasets import draw_pairs, load_dataset
    from contrastive_fuse.io.pairs import write_pairs

    with terminal.download(quiet) as progress:
        data = load_dataset(name, data_dir=data_dir, progress=progress)
    parts = draw_pairs(data, n_pairs, split=split, test_size=test_size, flip=flip, random_state=seed)
    written = write_pairs(output, dict(zip(("train", "test"), parts, strict=True)))
    for path, part in zip(written, parts, strict=True):
        terminal.report("wrote", [f"{path} ({counted(len(part), 'pair')})"], quiet)


def _facts(data: Dataset) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": data.name}
    facts |= {key: value for key, value in data.info.items() if isinstance(value, str)}
    facts |= {
        "nodes": data.graph.n_nodes,
        "edges": data.graph.n_edges,
        "isolated_nodes": data.graph.report.isolated_nodes,
        "classes": data.n_classes,
        "nodes_without_a_class": int((data.labels < 0).sum()),
    }
    if data.features is not None:
        facts["features"] = int(data.features.shape[1])
    if data.pairs is not None:
        facts |= {"alike_pairs": data.pairs.report.n_alike, "unlike_pairs": data.pairs.report.n_unlike}
    if data.splits:
        facts["splits"] = ", ".join(f"{name} {len(rows):,}" for name, rows in data.splits.items())
    return facts
