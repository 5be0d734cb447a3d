"""Doors in and out: other libraries' graphs and tables, files of edges and pairs, vectors and models on disk."""
