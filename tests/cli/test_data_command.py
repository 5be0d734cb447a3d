import json

import numpy as np
import pytest

from contrastive_fuse import load_dataset, read_pairs
from contrastive_fuse.datasets import DATASETS


@pytest.fixture
def cfuse(run_cfuse, no_data, tmp_path, monkeypatch):
    """Run the command in an empty folder, with an empty cache."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "200")
    return run_cfuse


def test_list_shows_every_set(cfuse):
    ended = cfuse("data", "list")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].split() == ["name", "nodes", "edges", "classes", "features", "MB", "licence", "here"]
    assert [line.split()[0] for line in lines[1:]] == list(DATASETS)
    assert "2,449,029" in ended.out
    cora, digits = (next(line for line in lines if line.startswith(name)) for name in ("cora", "digits"))
    assert cora.split()[-1] == "no"
    assert digits.rstrip().endswith("built in")


def test_list_tells_what_is_here(cfuse, data_folder):
    rows = {row["name"]: row for row in json.loads(cfuse("data", "list", "--data-dir", data_folder, "--json").out)}
    assert rows["cora"]["here"] == "data_dir"
    assert rows["ogbn-products"]["here"] == "no"
    assert rows["cora"]["nodes"] == 2708


def test_list_fits_a_narrow_terminal(cfuse, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ended = cfuse("data", "list")
    assert "ogbn-products" in ended.out
    assert "61,859,140" in ended.out
    assert max(len(line) for line in ended.out.splitlines()) <= 80


def test_info_of_a_built_in_set(cfuse):
    ended = cfuse("data", "info", "karate")
    assert (ended.code, ended.err) == (0, "")
    assert "public domain" in ended.out
    assert json.loads(cfuse("data", "info", "karate", "--json").out)["set"]["edges"] == 78


def test_info_of_a_set_that_is_not_here(cfuse):
    ended = cfuse("data", "info", "ogbn-products")
    assert ended.code == 0
    assert "61,859,140" in ended.out
    assert "cfuse data get ogbn-products downloads it (1,480 MB)" in ended.err


def test_info_beside_the_paper(cfuse, data_folder):
    out = cfuse("data", "info", "amazon-photo", "--data-dir", data_folder).out
    assert "the largest connected component: 7,487 nodes, 119,043 edges" in out
    assert out.count("119,081") == 4  # the set, the paper's other table twice, and the first table
    tables = json.loads(cfuse("data", "info", "wikics", "--data-dir", data_folder, "--json").out)
    bound = {row["what"]: (row["paper"], row["here"]) for row in tables["the paper's table of edge bounds"]}
    assert bound["edges needed, m_min"] == ("30.9", "30.9")


def test_get_names_the_place(cfuse, data_folder):
    ended = cfuse("data", "get", "cora", "citeseer", "--data-dir", data_folder)
    assert ended.code == 0
    assert f"cora     2,708 nodes, 5,278 edges\n         {data_folder / 'cora.npz'}" in ended.err
    assert "3,327 nodes" in ended.err


def test_get_writes_what_embed_reads(cfuse):
    assert cfuse("data", "get", "karate", "-o", "karate.npz", "-q").code == 0
    assert cfuse("data", "pairs", "karate.npz", "-n", 100, "-o", "pairs", "-q").code == 0
    ended = cfuse("embed", "karate.npz", "--pairs", "pairs/train.csv", "-o", "model", "-k", 4)
    assert ended.code == 0
    assert "34 nodes, 78 weighted edges" in ended.err
    assert cfuse("score", "model", "pairs/test.csv", "-o", "scored.csv").code == 0
    assert load_dataset("karate.npz").labels.tolist() == load_dataset("karate").labels.tolist()


def test_where(cfuse, data_folder, no_data, monkeypatch):
    monkeypatch.setenv("CFUSE_DATA", str(data_folder))
    rows = json.loads(cfuse("data", "where", "--json").out)
    assert [row["named by"] for row in rows] == ["CFUSE_DATA", "cache"]
    assert rows[1] == {"folder": str(no_data), "named by": "cache", "sets": "none"}
    assert "cora" in rows[0]["sets"]
    assert "CFUSE_DATA" in cfuse("data", "where").out


@pytest.mark.parametrize("split", ["pairs", "nodes"])
def test_pairs(cfuse, split):
    ended = cfuse("data", "pairs", "digits", "-n", 1000, "--split", split, "-o", "out", "--seed", 3)
    assert ended.code == 0
    assert "out/train.csv (800 pairs)" in ended.err
    train, test = read_pairs("out/train.csv"), read_pairs("out/test.csv")
    assert (len(train), len(test)) == (800, 200)
    labels = load_dataset("digits").labels
    first, second = labels[train.pairs.astype(int)].T
    np.testing.assert_array_equal(train.y, np.where(first == second, 1, -1))
    assert bool(set(train.pairs.ravel()) & set(test.pairs.ravel())) == (split == "pairs")


def test_flipped_pairs(cfuse):
    cfuse("data", "pairs", "digits", "-n", 1000, "-o", "out", "--flip", 0.3)
    labels = load_dataset("digits").labels
    wrong = {}
    for part in ("train", "test"):
        pairs = read_pairs(f"out/{part}.csv")
        first, second = labels[pairs.pairs.astype(int)].T
        wrong[part] = np.mean((first == second) != (pairs.y > 0))
    assert wrong == {"train": pytest.approx(0.3), "test": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "corra"), "data set must be one of 'cora'"),
        (("info", "corra.npz"), "there is no data set at corra.npz"),
        (("get", "corra"), "data set must be one of 'cora'"),
        (("get", "karate", "digits", "-o", "x.npz"), "--output takes a file name that ends in .npz, and one data set"),
        (("get", "karate", "-o", "x.csv"), "--output takes a file name that ends in .npz"),
        (("list", "--data-dir", "nowhere"), "data_dir must name a folder; there is none at nowhere"),
        (("pairs", "karate", "-o", "taken"), "taken is a file; expected a folder"),
        (("pairs", "karate", "-o", "out", "--flip", 2), "fraction is a share of the pairs, from 0 to 1; got 2.0"),
        (("pairs", "karate", "-o", "out", "--test-size", 1), "test_size is a share, between 0 and 1; got 1.0"),
        (("pairs", "karate", "-o", "out", "-n", 0), "n_pairs must be"),
    ],
)
def test_bad_input_ends_in_one_sentence(cfuse, tmp_path, arguments, message):
    (tmp_path / "here" / "taken").touch()
    ended = cfuse("data", *arguments)
    assert (ended.code, ended.out) == (1, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("cfuse: ")
    assert message in line
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["taken"]
