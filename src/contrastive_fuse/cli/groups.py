"""What the latent groups of a model tell, from the shell: groups and audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from contrastive_fuse.cli.options import Quiet
from contrastive_fuse.errors import counted

Model = Annotated[Path, typer.Argument(help="A model folder that embed wrote.", metavar="MODEL")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="A .csv, .tsv or .parquet file. [default: CSV to standard output]")
]


def groups(model: Model, output: Output = None, quiet: Quiet = False) -> None:
    """Each node's latent group, how sure that is, and the second best: clustering under constraints."""
    import numpy as np

    from contrastive_fuse import ContrastiveFUSE, terminal
    from contrastive_fuse.io.scored import check_table_name

    check_table_name(output)
    fitted = ContrastiveFUSE.load(model)
    posterior = fitted.mixture().groups
    order = np.argsort(-posterior, axis=1, kind="stable")[:, :2]
    sure = np.take_along_axis(posterior, order, axis=1)
    columns: dict[str, Any] = {"node": fitted.ids_.column().to_list(), "group": order[:, 0], "probability": sure[:, 0]}
    if posterior.shape[1] > 1:
        columns |= {"second": order[:, 1], "second_probability": sure[:, 1]}
    _write(columns, ("node",), output)
    if output is not None:
        count = counted(fitted.n_groups_ or 0, "group")
        terminal.report("wrote", [f"{output} ({count} of {posterior.shape[0]:,} nodes)"], quiet)


def audit(
    model: Model,
    output: Output = None,
    most: Annotated[
        int | None, typer.Option("-n", help="So many pairs, those most likely wrong. [default: all]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """The pairs that a model was given, those first that are most likely wrong, each with that probability."""
    from contrastive_fuse import ContrastiveFUSE, terminal
    from contrastive_fuse.io.scored import check_table_name

    check_table_name(output)
    fitted = ContrastiveFUSE.load(model)
    columns = fitted.audit_pairs(most)
    noise = fitted.pair_noise_
    assert noise is not None
    terminal.report(
        "pairs", [f"{noise.value:.1%} of the pairs look wrong ({noise.low:.1%} to {noise.high:.1%})"], quiet
    )
    _write(columns, ("node_1", "node_2"), output)
    if output is not None:
        terminal.report("wrote", [f"{output} ({counted(len(columns['y']), 'pair')})"], quiet)


def _write(columns: dict[str, Any], id_names: tuple[str, ...], output: Path | None) -> None:
    import pyarrow as pa

    from contrastive_fuse.io.scored import write_table

    made: dict[str, Any] = {}
    for name, values in columns.items():
        plain = [str(value) for value in values] if name in id_names and _mixed(values) else values
        made[name] = pa.array(plain)
    write_table(pa.table(made), output)


def _mixed(values: list[Any]) -> bool:
    """Whether ids are of several types, which a table does not hold."""
    return len({type(value) for value in values}) > 1 or (bool(values) and not isinstance(values[0], str | int))
