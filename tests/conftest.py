"""Fixtures that several test files share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from contrastive_fuse import Graph, SignedPairs, sample_pairs, split_pairs
from contrastive_fuse.datasets import planted

SEEDS = (0, 1, 2)


@pytest.fixture(params=SEEDS)
def seed(request):
    """A few seeds: what is tested must hold for any."""
    return request.param


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data, named by CFUSE_DATA."""
    named = os.environ.get("CFUSE_DATA")
    if not named:
        pytest.skip("needs real data: set CFUSE_DATA to the folder that holds cora.npz and the other sets")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"needs real data: CFUSE_DATA names {named}, which is not a folder")
    return folder


@pytest.fixture(scope="session")
def real_set(data_folder):
    """Load graph and labels of a real set by name."""
    from contrastive_fuse import read_graph

    def load(name):
        path = data_folder / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"needs real data: {path} is missing")
        with np.load(path) as stored:
            return read_graph(path), stored["labels"]

    return load


@pytest.fixture(scope="session")
def community_graph():
    """600 nodes in 3 classes of 2 communities, 3,000 edges."""
    return planted(600, 3000, 3, 2, random_state=7)


@pytest.fixture(scope="session")
def community_pairs(community_graph):
    """Training and test pairs of the community graph."""
    return split_pairs(sample_pairs(community_graph.labels, 4000, 3), 0.25, 4)


@pytest.fixture
def tiny():
    """A path of four nodes, a triangle and an isolated node, with pairs: (graph, pairs)."""
    graph = Graph.from_edges([0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 4], nodes=8)
    return graph, SignedPairs([(0, 3), (0, 4), (7, 4), (3, 6)], [1, -1, 1, -1])


class Ended(NamedTuple):
    """How the command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_cfuse(monkeypatch, capsys):
    """Run the command in this process."""
    from contrastive_fuse.cli import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cfuse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """No data but what comes with dependencies: an empty cache, returned, and no CFUSE_DATA."""
    monkeypatch.delenv("CFUSE_DATA", raising=False)
    monkeypatch.setenv("CFUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
