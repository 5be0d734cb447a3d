"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from contrastive_fuse.errors import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary neighbour of ``path`` that takes its place when the block ends without an error."""
    with whole_files([Path(path)]) as (partial,):
        yield partial


@contextmanager
def whole_files(paths: list[Path]) -> Iterator[list[Path]]:
    """Several files of one folder, all written before the first takes its place."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path} is a folder; expected a file name")
    with _scratch(paths[0]) as folder:
        partial = [folder / path.name for path in paths]
        yield partial
        for source, target in zip(partial, paths, strict=True):
            source.replace(target)


@contextmanager
def whole_folder(path: str | Path, marker: str) -> Iterator[Path]:
    """A temporary folder that takes the place of ``path`` when the block ends without an error.

    A folder that is already there is replaced only if it is empty or holds the file ``marker``.
    """
    path = Path(path)
    check_replaceable(path, marker)
    with _scratch(path) as folder:
        partial = folder / "new"
        partial.mkdir()
        yield partial
        if path.exists():
            path.replace(folder / "old")
        partial.replace(path)


def check_replaceable(path: Path, marker: str) -> None:
    """Refuse a folder whose content `whole_folder` would not replace."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; expected a folder, or a name that is not taken")
    if path.is_dir() and any(path.iterdir()) and not (path / marker).exists():
        raise InputError(f"{path} is a folder with other content (no {marker} in it); it is not replaced")


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise InputError(f"cannot write to {path.parent}: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
