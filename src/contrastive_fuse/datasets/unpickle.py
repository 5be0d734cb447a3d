"""Pickles that a stranger could have written, read without running anything of theirs.

Every name that a pickle asks for is answered by a stand-in of our own that only keeps what it is given; a name that is
not in the list is refused. Arrays are then built from plain bytes, sparse matrices from checked arrays.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from contrastive_fuse.errors import InputError
from contrastive_fuse.types import AnyArray

LARGEST_FILE = 1 << 28  # bytes; the largest that we have a use for takes 8 million
KINDS = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}


def read_pickle(path: Path) -> Any:
    """What a pickle of arrays, sparse matrices, dicts and lists holds.

    Returns
    -------
    numbers, text, lists, dicts, `PickledArray` and `PickledMatrix`
    """
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise InputError(f"{path} has {size:,} bytes; such a file is not expected to exceed {LARGEST_FILE:,}")
    try:
        # The reader written in Python: the compiled one allocates whatever length a hostile file announces.
        return _Reader(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:  # a damaged pickle may end in any error of the reader
        raise InputError(f"{path} is not a readable pickle: {type(error).__name__}: {error}") from None


class PickledArray:
    """Stands in for a NumPy array."""

    def __init__(self) -> None:
        self.value: AnyArray = np.empty(0)

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, content = state
        if not isinstance(kind, PickledKind) or not isinstance(content, str | bytes):
            raise InputError("the pickle holds an array of something else than numbers")
        raw = content.encode("latin1") if isinstance(content, str) else content
        if not all(isinstance(length, int) and length >= 0 for length in shape):
            raise InputError(f"the pickle holds an array of shape {shape!r}")
        self.value = np.frombuffer(raw, kind.dtype).reshape(shape, order="F" if fortran else "C")


class PickledKind:
    """Stands in for a NumPy dtype of plain numbers."""

    def __init__(self, name: Any, *_: Any) -> None:
        if name not in KINDS:
            raise InputError(f"the pickle holds an array of kind {name!r}; only numbers are read")
        self.dtype = np.dtype(name)

    def __setstate__(self, state: Any) -> None:
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])


class PickledMatrix:
    """Stands in for a SciPy CSR matrix: its ``parts`` data, indices, indptr and shape."""

    def __init__(self) -> None:
        self.parts: dict[str, AnyArray] = {}

    def __setstate__(self, state: Any) -> None:
        try:
            self.parts = {name: state[name].value for name in ("data", "indices", "indptr")}
            self.parts["shape"] = np.array(state["_shape"], dtype=np.int64)
        except (KeyError, TypeError, AttributeError):
            raise InputError("the pickle holds a sparse matrix without data, indices, indptr or shape") from None


class PickledDict(dict[Any, Any]):
    """Stands in for a defaultdict; what makes its defaults is dropped."""

    def __init__(self, *_: Any) -> None:
        super().__init__()


def _empty_array(*_: Any) -> PickledArray:
    """Stands in for NumPy's function that makes an array to be filled; a shape announced here is not believed."""
    return PickledArray()


def _latin1(text: Any, encoding: Any = "latin1") -> str:
    """Stands in for the function by which Python 3 writes bytes for old readers."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise InputError(f"the pickle asks for the encoding {encoding!r}; only latin1 is read")
    return text


def _no_default(*_: Any) -> None:
    """Stands in for what makes a dict's defaults."""


NAMES: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): PickledArray,
    ("numpy", "dtype"): PickledKind,
    ("scipy.sparse.csr", "csr_matrix"): PickledMatrix,
    ("scipy.sparse._csr", "csr_matrix"): PickledMatrix,
    ("collections", "defaultdict"): PickledDict,
    ("_codecs", "encode"): _latin1,
    ("__builtin__", "list"): _no_default,
    ("builtins", "list"): _no_default,
}


class _Reader(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return NAMES[module, name]
        except KeyError:
            raise InputError(
                f"the pickle asks for {module}.{name}, which is not among the names that are read; nothing was run"
            ) from None

    def get_extension(self, code: int) -> Any:
        raise InputError("the pickle asks for a registered extension, which is not read")

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("the pickle refers to objects outside of it")
