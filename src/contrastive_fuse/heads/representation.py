"""How the two vectors of a pair become one, for NumPy arrays and torch tensors alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Representation(NamedTuple):
    """Columns that are made of the vectors of a pair.

    Attributes
    ----------
    parts : gives the columns, to be laid side by side
    factor : how many times as wide as a vector they are together
    symmetric : whether the order of the pair makes no difference
    """

    parts: Callable[[Any, Any], tuple[Any, ...]]
    factor: int
    symmetric: bool


REPRESENTATIONS = {
    "concat": Representation(lambda a, b: (a, b), 2, symmetric=False),
    "product": Representation(lambda a, b: (a * b,), 1, symmetric=True),
    "absdiff": Representation(lambda a, b: (abs(a - b),), 1, symmetric=True),
    "symmetric": Representation(lambda a, b: (a * b, abs(a - b)), 2, symmetric=True),
}
