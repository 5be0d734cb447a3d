"""Signed pairs written as text, the way `read_pairs` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from contrastive_fuse.errors import InputError
from contrastive_fuse.io.atomic import whole_files
from contrastive_fuse.io.csv import write_csv
from contrastive_fuse.io.vectors import ids_to_arrow
from contrastive_fuse.pairs import SignedPairs


def write_pairs(folder: str | Path, parts: Mapping[str, SignedPairs]) -> list[Path]:
    """Write each part to ``folder/NAME.csv``: columns ``node_1``, ``node_2``, ``y``, and ``weight`` if there is one."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; expected a folder, or a name that is not taken")
    paths = [folder / f"{name}.csv" for name in parts]
    with whole_files(paths) as partial:
        for pairs, path in zip(parts.values(), partial, strict=True):
            names = ids_to_arrow(pairs.ids)
            columns = {"node_1": names.take(pa.array(pairs.first)), "node_2": names.take(pa.array(pairs.second)),
                       "y": pa.array(pairs.y)}  # fmt: skip
            if pairs.weight is not None:
                columns["weight"] = pa.array(pairs.weight)
            write_csv(pa.table(columns), path)
    return paths
