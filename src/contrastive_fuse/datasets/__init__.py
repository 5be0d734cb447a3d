"""Data sets by name.

To add one, write a file with a tuple ``SOURCES`` of `Source` and enter it in ``FAMILIES``: the command, the table of
data sets and the contract tests find it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from contrastive_fuse.datasets import amazon, embedded, generated, ogb, planetoid, synlethdb, wikics
from contrastive_fuse.datasets.base import Dataset, Source
from contrastive_fuse.datasets.download import PATIENCE, Patience, Progress, Transfer, fetch
from contrastive_fuse.datasets.draw import draw_pairs
from contrastive_fuse.datasets.embedded import digits, karate
from contrastive_fuse.datasets.generated import planted
from contrastive_fuse.datasets.npz import read_npz, save_dataset
from contrastive_fuse.datasets.places import find, places
from contrastive_fuse.errors import InputError, check_choice

__all__ = [
    "DATASETS",
    "Dataset",
    "Patience",
    "Source",
    "Transfer",
    "availability",
    "digits",
    "draw_pairs",
    "find",
    "karate",
    "load_dataset",
    "places",
    "planted",
    "save_dataset",
]

FAMILIES = (planetoid, amazon, wikics, ogb, synlethdb, embedded, generated)
DATASETS: dict[str, Source] = {source.name: source for family in FAMILIES for source in family.SOURCES}


def load_dataset(
    name: str | Path,
    *,
    data_dir: str | Path | None = None,
    download: bool = True,
    progress: Progress | None = None,
    patience: Patience = PATIENCE,
    **parameters: Any,
) -> Dataset:
    """Load a data set by its name, or from a file or folder in our npz layout (docs/data.md).

    Files are looked for in ``data_dir``, then in the folders that CFUSE_DATA names, then in the cache; what is found
    nowhere is downloaded from its official home into the cache.

    Parameters
    ----------
    name : str or Path
        One of `DATASETS`, or a path.
    data_dir : path, optional
        Folder to look in first.
    download : bool
        Whether files may be fetched; else their absence is an error.
    progress : callable, optional
        Called with a `Transfer` while a file arrives.
    patience : Patience
        Timeout and number of attempts.
    parameters : of the set: those of `planted`, or ``subset`` of synlethdb
    """
    if _is_path(name):
        if not Path(name).exists():
            raise InputError(f"there is no data set at {name}")
        _no_parameters(str(name), parameters)
        return read_npz(Path(name))
    source = DATASETS[check_choice("data set", str(name), DATASETS)]
    try:
        if source.make is not None:
            return source.complete(source.make(**parameters))
        assert source.files is not None
        found = find(source, data_dir)
        if found is None and not download:
            folders = ", ".join(str(place.folder) for place in places(data_dir))
            raise InputError(f"{source.name} is in none of {folders}, and downloading is not allowed")
        if found is not None and found.is_npz:
            return source.complete((source.files.read_npz or read_npz)(found.path, **parameters))
        folder = fetch(source, progress, patience) if found is None else found.path
        return source.complete(source.files.read(folder, **parameters))
    except TypeError as error:
        if parameters and "argument" in str(error):
            raise InputError(f"{source.name} does not take these parameters: {error}") from None
        raise


def availability(source: Source, data_dir: str | Path | None = None) -> str:
    """Where a set is found, in a word or two."""
    if source.make is not None:
        return "built in"
    found = find(source, data_dir)
    return "no" if found is None else found.place.named_by


def _is_path(name: str | Path) -> bool:
    """Names of sets have no separator and no ending."""
    if isinstance(name, Path):
        return True
    separators = {os.sep, os.altsep or os.sep}
    return name not in DATASETS and (name.endswith(".npz") or any(sign in name for sign in separators))


def _no_parameters(name: str, parameters: dict[str, Any]) -> None:
    if parameters:
        raise InputError(f"{name} takes no parameters; got {', '.join(parameters)}")
