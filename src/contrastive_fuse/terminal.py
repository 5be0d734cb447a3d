"""What the command shows on standard error: reports, progress, tables."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contrastive_fuse.errors import counted

if TYPE_CHECKING:
    from contrastive_fuse.baselines.base import Step as Stage
    from contrastive_fuse.datasets import Transfer
    from contrastive_fuse.fuse import ContrastiveFUSE
    from contrastive_fuse.heads import Epoch
    from contrastive_fuse.progress import Callback
    from contrastive_fuse.progress import Progress as Step


def report(topic: str, lines: list[str], quiet: bool) -> None:
    """Print sentences under a topic."""
    if not quiet:
        for number, line in enumerate(lines):
            print(f"{topic if number == 0 else '':<8} {line}", file=sys.stderr)  # noqa: T201


@contextmanager
def warnings_told() -> Iterator[None]:
    """Warnings of the library as plain sentences, said once the work is done; never silenced."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in told:
        report("warning", [str(warning.message)], quiet=False)


@contextmanager
def _bars(quiet: bool, note: str = "") -> Iterator[Callable[..., None] | None]:
    """A bar a stage, moved by ``(stage, done, total, **fields of the note)``; None where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description:<13}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, TextColumn(note), console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int, **fields: Any) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total, **fields)
            bar.update(tasks[stage], completed=done, total=total, **fields)

        yield show


@contextmanager
def progress(quiet: bool) -> Iterator[Callback | None]:
    """A bar a stage that follows the iterations of a fit."""

    def follow(step: Step) -> None:
        if show is not None:
            show(step.stage, step.iteration, step.max_iter, change=step.change)

    with _bars(quiet, "rows move {task.fields[change]:.1e}") as show:
        yield None if show is None else follow


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[Stage], None] | None]:
    """A bar a stage of a method to compare with."""

    def follow(step: Stage) -> None:
        if show is not None:
            show(step.stage, step.done, step.total)

    with _bars(quiet) as show:
        yield None if show is None else follow


@contextmanager
def epochs(quiet: bool) -> Iterator[Callable[[Epoch], None] | None]:
    """A bar that follows the epochs of training."""

    def follow(step: Epoch) -> None:
        if show is not None:
            show("training", step.epoch, step.epochs, loss=step.loss)

    with _bars(quiet, "loss {task.fields[loss]:.3f}") as show:
        yield None if show is None else follow


@contextmanager
def download(quiet: bool) -> Iterator[Callable[[Transfer], None] | None]:
    """A bar that follows files as they arrive; none where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def follow(step: Transfer) -> None:
            if step.file not in tasks:
                tasks[step.file] = bar.add_task(step.file, total=step.total)
            bar.update(tasks[step.file], completed=step.received, total=step.total)

        yield follow


@contextmanager
def resumable(checkpoint: Path, quiet: bool) -> Iterator[None]:
    """Say how to go on if the user interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        report(
            "stopped", [f"the same command goes on from {checkpoint}.*.npz; delete these files to start anew"], quiet
        )
        raise


def fit_facts(model: ContrastiveFUSE) -> dict[str, Any]:
    """The facts of a fit as plain values."""
    calibration = model.calibration_
    return {
        "n_nodes": model.embedding_.shape[0],
        "n_components": model.embedding_.shape[1],
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "held_out_pairs": 0 if calibration is None else calibration.n_pairs,
        "held_out_roc_auc": None if calibration is None else calibration.roc_auc,
        "threshold": model.threshold_,
        "n_groups": model.n_groups_,
        "homophily": model.homophily_,
        "node_rate_roc_auc": None if model.mixture_ is None else model.mixture_.node_rate,
        "pair_noise": None if model.pair_noise_ is None else asdict(model.pair_noise_),
        "seconds": model.timings_,
        "graph": model.graph_report_.to_dict(),
        "pairs": None if model.pair_report_ is None else model.pair_report_.to_dict(),
    }


def fit_lines(model: ContrastiveFUSE) -> list[str]:
    """The facts of a fit as sentences."""
    ended = "converged" if model.converged_ else "stopped at the limit"
    lines = [f"{model.embedding_.shape[1]} components, {ended} after {model.n_iter_} iterations,"
             f" {model.timings_['total']:.2f} s"]  # fmt: skip
    for stage, iteration in model.resumed_at_.items():
        lines.append(f"went on from iteration {iteration} of the {stage}")
    noise = model.pair_noise_
    if noise is not None and model.calibration_ is not None:
        lines.append(
            f"ROC-AUC {model.calibration_.roc_auc:.3f} against the given signs of pairs held out in turn"
            f" ({model.calibration_.n_pairs:,} judgements)"
        )
        lines.append(
            f"{counted(model.n_groups_ or 0, 'latent group')}; {model.homophily_:.0%} of the edges lie within groups;"
            f" {noise.value:.1%} of the pairs look wrong ({noise.low:.1%} to {noise.high:.1%})"
        )
    elif model.calibration_ is not None:
        lines.append(
            f"ROC-AUC {model.calibration_.roc_auc:.3f} on {model.calibration_.n_pairs:,} held-out pairs; probabilities"
            f" calibrated on them ({model.calibration_.method})"
        )
    return lines


def facts(values: dict[str, Any]) -> None:
    """Print nested facts as one table on standard output."""
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    for section, entries in values.items():
        table.add_row(f"[bold]{section}[/bold]", "")
        for name, value in entries.items():
            table.add_row(f"  {name.replace('_', ' ')}", _format(value))
    Console().print(table)


def table(rows: Sequence[dict[str, Any]], numbers: tuple[str, ...] = (), title: str | None = None) -> None:
    """Print rows that share their keys as one table on standard output."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), header_style="bold")
    cells = [{name: "" if row[name] in (None, 0.0) else _format(row[name]) for name in row} for row in rows]
    names = [name for name in rows[0] if any(row[name] for row in cells)]
    for name in names:
        shown.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in cells:
        shown.add_row(*(row[name] for name in names))
    Console().print(shown)


def print_json(facts: Any) -> None:
    """Print facts for a program, on standard output."""
    print(json.dumps(facts, indent=2))  # noqa: T201


def _format(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return escape(str(value))
