"""Contrast between two views, a block of rows at a time so that memory does not grow with the square of the nodes."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.utils.checkpoint import checkpoint

from contrastive_fuse.errors import check_integer

ROWS_AT_ONCE = 2048
CONTRASTED = 4096  # nodes in one step's contrast unless told otherwise: its cost grows with their square


def info_nce(
    one: Tensor, two: Tensor, temperature: float, *, within: bool = True, contrasted: int | None = None
) -> Tensor:
    """Mean over nodes of minus the log share of a node's own counterpart among all candidates, both ways.

    Parameters
    ----------
    one, two : (n, k) rows of the same nodes in two views
    within : bool
        Whether the other nodes of a node's own view are candidates too (as in GRACE), or those of the other view alone.
    contrasted : int, optional
        Of a larger graph, only so many nodes, drawn anew each time, stand against each other.
    """
    if contrasted is not None and len(one) > check_integer("contrasted", contrasted, at_least=2):
        drawn = torch.randperm(len(one), device=one.device)[:contrasted]
        one, two = one[drawn], two[drawn]
    one, two = normalize(one), normalize(two)
    total = torch.zeros((), device=one.device)
    for left, right in ((one, two), (two, one)):
        for start in range(0, len(left), ROWS_AT_ONCE):
            total = total + checkpoint(_block, left, right, start, temperature, within, use_reentrant=False)
    return total / (2 * len(one))


def _block(left: Tensor, right: Tensor, start: int, temperature: float, within: bool) -> Tensor:
    rows = left[start : start + ROWS_AT_ONCE]
    across = rows @ right.T / temperature
    own = torch.arange(len(rows), device=rows.device)
    counterpart = across[own, own + start]
    if within:
        beside = rows @ left.T / temperature
        beside = beside.index_put((own, own + start), rows.new_tensor(float("-inf")))
        across = torch.cat([across, beside], dim=1)
    return (torch.logsumexp(across, dim=1) - counterpart).sum()
