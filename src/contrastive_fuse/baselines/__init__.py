"""Methods to compare with, one file each, all with `fit(graph, pairs=None)` and `embedding_`."""
