"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Edges = Annotated[
    Path, typer.Argument(help="Edges: .csv .tsv .txt (also .gz), .parquet, .npz or .mtx.", metavar="EDGES")
]
Header = Annotated[
    Literal["auto", "yes", "no"], typer.Option(help="Whether the first line of a text file names the columns.")
]
Nodes = Annotated[Path | None, typer.Option(help="All node ids, one a row, for graphs with nodes that have no edge.")]
Weight = Annotated[str, typer.Option(help="Column of edge weights; 'auto' finds one called weight, 'none' takes none.")]
Repeats = Annotated[Literal["max", "sum"], typer.Option(help="Weight of an edge that several rows name.")]
Unknown = Annotated[Literal["error", "drop"], typer.Option(help="What to do with pairs that name unknown nodes.")]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same bits.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and what was asked for.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the facts as JSON on standard output.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder to look in first, before CFUSE_DATA and the cache.")]
