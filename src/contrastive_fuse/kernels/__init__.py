"""Kernels: implementations of one function, `step`, and of `combine`, which is `step` without the projection.

    step(operator, state, out, null_sum, *, projection, tables=None, n_jobs=None) -> Step

    combine(operator, state, tables, out, *, n_jobs=None)

`step` writes one iteration of ``operator`` from ``state`` into ``out``. A new kernel is one file and one line in
`KERNELS`; the contract tests hold it against the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from contrastive_fuse.errors import check_choice
from contrastive_fuse.kernels.contract import Step

__all__ = ["KERNELS", "Step", "get_combine", "get_kernel"]

KERNELS = {
    "numba": "contrastive_fuse.kernels.numba",
    "reference": "contrastive_fuse.kernels.reference",
}


def get_kernel(name: str) -> Callable[..., Step]:
    """The `step` function of the kernel called ``name``, imported when first asked for."""
    check_choice("kernel", name, KERNELS)
    step: Callable[..., Step] = import_module(KERNELS[name]).step
    return step


def get_combine(name: str) -> Callable[..., None]:
    """The `combine` function of the kernel called ``name``."""
    check_choice("kernel", name, KERNELS)
    combine: Callable[..., None] = import_module(KERNELS[name]).combine
    return combine
