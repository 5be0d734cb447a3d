"""Random vectors, and the features that a data set brings: what every method must beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from contrastive_fuse.baselines.base import Baseline, Task, to_width
from contrastive_fuse.errors import InputError
from contrastive_fuse.types import AnyArray


class Random(Baseline):
    """Normally distributed numbers."""

    def embed(self, task: Task) -> AnyArray:
        graph, rng = task.graph, task.rng
        return rng.standard_normal((graph.n_nodes, int(self.n_components)), dtype=np.float32)


class Given(Baseline):
    """The features of the nodes, as they are; where there are more than ``n_components``, their leading directions.

    Settings
    --------
    features : (n_nodes, d) array or SciPy sparse array, such as ``load_dataset(...).features``
    """

    SETTINGS: ClassVar[Mapping[str, Any]] = {"features": None}

    def embed(self, task: Task) -> AnyArray:
        graph, settings, rng = task.graph, task.settings, task.rng
        features = settings["features"]
        if features is None:
            raise InputError('this method needs the features of the nodes: settings={"features": ...}')
        if features.shape[0] != graph.n_nodes:
            raise InputError(f"features must have {graph.n_nodes:,} rows; got {features.shape[0]:,}")
        width = int(self.n_components)
        if features.shape[1] > width:
            from sklearn.decomposition import TruncatedSVD

            svd = TruncatedSVD(width, random_state=int(rng.integers(1 << 31)))
            return np.asarray(svd.fit_transform(features))
        dense = features.toarray() if hasattr(features, "toarray") else np.asarray(features)
        return to_width(dense, width)
