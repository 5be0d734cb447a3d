"""Named arrays from files that a stranger could have written: nothing is unpickled, no absurd size is allocated."""

from __future__ import annotations

from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy

from contrastive_fuse.errors import InputError
from contrastive_fuse.memory import total_memory
from contrastive_fuse.types import AnyArray


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """The arrays of an ``.npz`` file, or of a folder of ``.npy`` files, by name.

    What each header announces is held against the size of its content before anything is allocated.
    """
    try:
        if path.is_dir():
            return _from_folder(path)
        with ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            _check_total(sum(info.file_size for info in members.values()))
            arrays = {}
            for name, info in members.items():
                with archive.open(info) as file:
                    arrays[name] = _read(file, name, info.file_size)
            return arrays
    except InputError:
        raise
    except (ValueError, OSError, BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"not a readable .npz file without pickled objects: {error}") from None


def read_array(path: Path) -> AnyArray:
    """The array of one ``.npy`` file."""
    with path.open("rb") as file:
        return _read(file, path.stem, path.stat().st_size)


def _from_folder(folder: Path) -> dict[str, AnyArray]:
    files = sorted(folder.glob("*.npy"))
    _check_total(sum(file.stat().st_size for file in files))
    return {path.stem: read_array(path) for path in files}


def _read(file: IO[bytes], name: str, size: int) -> AnyArray:
    """One array in NumPy's format, whose header must announce what the file holds."""
    major = npy.read_magic(file)[0]
    read_header = {1: npy.read_array_header_1_0, 2: npy.read_array_header_2_0}.get(major)
    if read_header is None:
        raise InputError(f"array {name!r} is in version {major} of NumPy's format; versions 1 and 2 are read")
    shape, fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise InputError(f"array {name!r} holds pickled objects, which are not read")
    announced = dtype.itemsize * int(np.prod([int(length) for length in shape], dtype=object))
    held = size - file.tell()
    if min(shape, default=0) < 0 or announced != held:
        raise InputError(f"array {name!r} announces shape {shape} of {dtype}, but the file holds {held:,} bytes of it")
    content = bytearray(announced)
    view, filled = memoryview(content), 0
    while filled < announced:
        part = file.read(min(announced - filled, 1 << 24))
        if not part:
            raise InputError(f"array {name!r} is cut short")
        view[filled : filled + len(part)] = part
        filled += len(part)
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _check_total(size: int) -> None:
    memory = total_memory()
    if size > memory:
        raise InputError(f"the file announces {size / 1e9:,.1f} GB of arrays; this machine has {memory / 1e9:,.1f} GB")
