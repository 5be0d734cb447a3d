"""An objective of one's own: a function from graph and pairs to an operator."""

import numpy as np

from contrastive_fuse import ContrastiveFUSE, load_dataset, sample_pairs, split_pairs
from contrastive_fuse.graph import Graph
from contrastive_fuse.objective import balanced
from contrastive_fuse.operator import Operator
from contrastive_fuse.pairs import PairRows


def without_null_model(graph: Graph, pairs: PairRows | None, *, pair_strength: float = 1.0) -> Operator:
    """The balanced objective without its rank-one term."""
    operator = balanced(graph, pairs, pair_strength=pair_strength)
    nothing = np.zeros_like(operator.u)
    return Operator(operator.indptr, operator.indices, operator.values, nothing, nothing, operator.shift)


data = load_dataset("digits")
train, test = split_pairs(sample_pairs(data.labels, 4000, random_state=0), 0.5, random_state=0)
for objective in ("balanced", without_null_model):
    model = ContrastiveFUSE(64, objective=objective, random_state=0).fit(data.graph, train)
    name = objective if isinstance(objective, str) else objective.__name__
    print(f"{name}: ROC-AUC {model.score(test):.3f}")
