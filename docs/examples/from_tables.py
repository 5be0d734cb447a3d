"""Tables in, a table out: the way of a data team that matches records."""

import pandas as pd

from contrastive_fuse import ContrastiveFUSE
from contrastive_fuse.ids import NodeIds

edges = pd.DataFrame(
    {
        "source": ["a-1", "a-2", "a-1", "b-1", "b-2", "b-1", "a-3"],
        "target": ["a-2", "a-3", "a-3", "b-2", "b-3", "b-3", "b-1"],
        "weight": [0.9, 0.8, 0.7, 0.9, 0.6, 0.8, 0.1],
    }
)
judged = pd.DataFrame(
    {
        "left": ["a-1", "b-1", "a-2", "a-3"],
        "right": ["a-2", "b-3", "b-2", "b-3"],
        "y": [1, 1, -1, -1],
    }
)
model = ContrastiveFUSE(8, random_state=0).fit(edges, judged)
ids: NodeIds = model.ids_
print(pd.DataFrame(model.embedding_, index=list(ids)).round(2))

candidates = pd.DataFrame({"left": ["a-1", "a-1"], "right": ["a-3", "b-2"]})
candidates["probability"] = model.predict_proba(candidates)[:, 1].round(2)
print(candidates)
