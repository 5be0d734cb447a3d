"""Where data sets lie: folders that the caller names, those in CFUSE_DATA, and our own cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from contrastive_fuse.datasets.base import Files, Source
from contrastive_fuse.errors import InputError


class Place(NamedTuple):
    """A folder that is looked in, and who named it."""

    folder: Path
    named_by: str


class Found(NamedTuple):
    """Where a set was found: ``NAME.npz`` in our layout, or the folder of its official files."""

    path: Path
    place: Place

    @property
    def is_npz(self) -> bool:
        return self.path.suffix == ".npz"


def places(data_dir: str | Path | None = None) -> list[Place]:
    """The folders that are looked in, in order."""
    found = []
    if data_dir is not None:
        if not Path(data_dir).is_dir():
            raise InputError(f"data_dir must name a folder; there is none at {data_dir}")
        found.append(Place(Path(data_dir), "data_dir"))
    named = os.environ.get("CFUSE_DATA", "")
    found += [Place(Path(folder).expanduser(), "CFUSE_DATA") for folder in named.split(os.pathsep) if folder]
    return [*found, Place(cache_folder(), "cache")]


def cache_folder() -> Path:
    """Where downloads are kept: CFUSE_CACHE, or the folder that the system has for such things."""
    if named := os.environ.get("CFUSE_CACHE"):
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "contrastive-fuse"


def find(source: Source, data_dir: str | Path | None = None) -> Found | None:
    """Where the files of a set lie, or None."""
    if source.files is None:
        return None
    for place in places(data_dir):
        npz = place.folder / f"{source.name}.npz"
        if npz.is_file():
            return Found(npz, place)
        for name in source.files.folders:
            for folder in (place.folder / "raw" / name, place.folder / name):
                if is_complete(folder, source.files):
                    return Found(folder, place)
    return None


def is_complete(folder: Path, files: Files) -> bool:
    """Whether a folder holds all files that the set needs."""
    return all((folder / name).is_file() for name in files.needed)


def official_folder(source: Source) -> Path:
    """Where our cache keeps the official files of a set."""
    assert source.files is not None
    return cache_folder() / "raw" / source.files.folders[0]
