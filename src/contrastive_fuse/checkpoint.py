"""Checkpoints: a long fit that is interrupted goes on where it stopped, with the same bits as if it never had been.

A checkpoint is one ``.npz`` file without pickled content. It carries a fingerprint of the problem, so that a changed
graph, changed pairs or changed parameters start afresh instead of continuing something else.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from time import monotonic
from zipfile import BadZipFile

import numpy as np

from contrastive_fuse.errors import InputError
from contrastive_fuse.operator import Operator
from contrastive_fuse.progress import SolveResult
from contrastive_fuse.types import FloatArray


class Checkpoint:
    """A file that holds the state of one solve.

    Parameters
    ----------
    path : str or Path
    every : float
        Seconds between two writes; an interrupt writes at once.
    """

    def __init__(self, path: str | Path, every: float = 60.0) -> None:
        self.path = Path(path)
        self.every = every
        self.resumed_at = 0
        self._last = monotonic()
        self._problem = ""

    def resume(self, operator: Operator, state: FloatArray, null: FloatArray, result: SolveResult) -> FloatArray:
        """Fill ``state`` and ``result`` from the file if it belongs to this problem; return the null sum."""
        self._problem = _fingerprint(operator, state)
        if not self.path.exists():
            return null
        try:
            with np.load(self.path, allow_pickle=False) as stored:
                header = json.loads(str(stored["header"]))
                if header["problem"] != self._problem:
                    return null
                state[:], null = stored["state"], stored["null_sum"]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise InputError(f"{self.path} is not a readable checkpoint; delete it to start anew") from None
        result.change[:], result.gain[:] = header["change"], header["gain"]
        result.converged = header["converged"]
        self.resumed_at = len(result.change)
        return null

    def keep(
        self, operator: Operator, state: FloatArray, null: FloatArray, result: SolveResult, *, now: bool = False
    ) -> None:
        """Write the state if the last write is long enough ago."""
        if not now and monotonic() - self._last < self.every:
            return
        header = {
            "problem": self._problem,
            "change": result.change,
            "gain": result.gain,
            "converged": result.converged,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(self.path.name + ".partial")
        with partial.open("wb") as file:
            np.savez(file, header=np.array(json.dumps(header)), state=state, null_sum=null)
        partial.replace(self.path)
        self._last = monotonic()

    def remove(self) -> None:
        """Delete the file: the work it protects is done."""
        self.path.unlink(missing_ok=True)


def _fingerprint(operator: Operator, start: FloatArray) -> str:
    digest = hashlib.blake2b(f"{start.shape} {operator.shift!r}".encode(), digest_size=16)
    for part in (operator.indptr, operator.indices, operator.values, operator.u, operator.v, start):
        digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
