"""Small data sets that come with a dependency: nothing is downloaded."""

from __future__ import annotations

from functools import partial

import numpy as np

from contrastive_fuse.datasets.base import Dataset, Facts, Source
from contrastive_fuse.errors import MissingExtraError, check_integer
from contrastive_fuse.graph import Graph
from contrastive_fuse.io.convert import as_graph


def digits(n_neighbors: int = 10) -> Dataset:
    """Scikit-learn's 1,797 handwritten digits; an edge joins images that are among each other's nearest neighbours."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    check_integer("n_neighbors", n_neighbors, at_least=1)
    images, classes = load_digits(return_X_y=True)
    nearest = kneighbors_graph(images, n_neighbors, mode="connectivity")
    return Dataset(
        "digits",
        Graph.from_adjacency(nearest.minimum(nearest.T)),
        classes.astype(np.int32),
        partial(np.asarray, images.astype(np.float32)),
        info={
            "description": f"handwritten digits, mutual {n_neighbors}-nearest-neighbour graph, classes are the digits"
        },
    )


def karate() -> Dataset:
    """Zachary's karate club; the classes are the two clubs it split into."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("the karate club comes with NetworkX and", "networkx") from None
    club = nx.karate_club_graph()
    factions = [club.nodes[node]["club"] for node in club]
    return Dataset(
        "karate",
        as_graph(club),
        np.array([faction != factions[0] for faction in factions], dtype=np.int32),
    )


SOURCES = (
    Source(
        "digits",
        "handwritten digits, mutual nearest-neighbour graph",
        "CC BY 4.0",
        "https://archive.ics.uci.edu/dataset/80",
        facts=Facts(nodes=1797, edges=5630, classes=10, features=64),
        make=digits,
    ),
    Source(
        "karate",
        "Zachary's karate club, edges weighted by contexts",
        "public domain",
        "https://doi.org/10.1086/jar.33.4.3629752",
        facts=Facts(nodes=34, edges=78, classes=2),
        make=karate,
    ),
)
