"""The command line: parses, calls the library, prints. Results go to files or stdout, everything else to stderr."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from contrastive_fuse.cli import core, data, groups
from contrastive_fuse.cli.evaluate import evaluate
from contrastive_fuse.errors import InputError

app = typer.Typer(
    help="Learn node vectors from a graph's edges and signed pairs, and tell which other pairs are alike.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(core.embed)
app.command()(core.score)
app.command()(groups.groups)
app.command()(groups.audit)
app.command()(core.diagnose)
app.command()(evaluate)
app.add_typer(data.app, name="data")
app.command()(core.demo)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Learn node vectors from a graph's edges and signed pairs, and tell which other pairs are alike."""
    if version:
        from contrastive_fuse import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command; bad input and a full disk end in one sentence and exit code 1, an interrupt in 130."""
    from contrastive_fuse.errors import MissingExtraError

    try:
        app()  # which ends an interrupt with 130, and quietly where nobody reads our output any more
    except (InputError, MissingExtraError, OSError) as error:
        typer.echo(f"cfuse: {error}", err=True)
        sys.exit(1)
