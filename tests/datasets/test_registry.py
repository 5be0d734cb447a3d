"""What every data set must be, the day it is entered in the registry."""

import numpy as np
import pytest

from contrastive_fuse import InputError, load_dataset
from contrastive_fuse.datasets import DATASETS, Dataset, find, places

every_set = pytest.mark.parametrize("name", DATASETS)


def here(name):
    """The set, if it is built in or found without downloading."""
    source = DATASETS[name]
    if source.files is not None and find(source) is None:
        pytest.skip(f"needs real data: {name} is in none of the folders that CFUSE_DATA names")
    return load_dataset(name, download=False)


@every_set
def test_is_described(name):
    source = DATASETS[name]
    assert source.name == name
    assert source.description
    assert source.licence
    assert (source.make is None) != (source.files is None)


@every_set
def test_downloads_are_whole(name):
    files = DATASETS[name].files
    if files is None:
        assert DATASETS[name].megabytes == 0
        return
    assert DATASETS[name].megabytes > 0
    assert DATASETS[name].homepage.startswith("https://")
    for one in files.downloads:
        assert one.url.startswith("https://")
        assert one.sha256 is None or len(bytes.fromhex(one.sha256)) == 32
    plain = {one.path for one in files.downloads if one.inside is None}
    assert plain == set(files.needed) or any(one.inside for one in files.downloads)


@every_set
def test_what_is_loaded_is_what_is_known(name):
    data, facts = here(name), DATASETS[name].facts
    assert isinstance(data, Dataset)
    assert data.name == name
    assert (data.graph.n_nodes, data.graph.n_edges) == (
        facts.nodes,
        pytest.approx(facts.edges, rel=0.03 if name == "planted" else 0),
    )
    assert data.n_classes == (facts.classes or 0)
    assert data.labels.shape == (facts.nodes,)
    assert data.labels.dtype == np.int32
    assert len(data.graph.ids) == facts.nodes
    if data.features is not None:
        assert data.features.shape == (facts.nodes, facts.features)
    if data.pairs is not None:
        data.pairs.rows_in(data.graph.ids)  # every pair names nodes of the graph
    for rows in data.splits.values():
        assert 0 <= rows.min() <= rows.max() < facts.nodes
    assert data.info["description"]
    assert data.info["licence"]
    assert name in repr(data)


def test_unknown_name():
    with pytest.raises(InputError, match=r"data set must be one of 'cora', .*'planted'; got 'corra'"):
        load_dataset("corra")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("karate", {"size": 3}, "karate does not take these parameters: .*'size'"),
        ("planted", {"nodes": 3}, "planted does not take these parameters: .*'nodes'"),
    ],
)
def test_unknown_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        load_dataset(name, **parameters)


def test_places_in_order(monkeypatch, tmp_path):
    import os

    monkeypatch.setenv("CFUSE_DATA", os.pathsep.join(["one", "two"]))
    monkeypatch.setenv("CFUSE_CACHE", str(tmp_path))
    named = [(str(place.folder), place.named_by) for place in places(tmp_path)]
    assert named == [
        (str(tmp_path), "data_dir"),
        ("one", "CFUSE_DATA"),
        ("two", "CFUSE_DATA"),
        (str(tmp_path), "cache"),
    ]
    with pytest.raises(InputError, match="data_dir must name a folder; there is none at nowhere"):
        places("nowhere")
