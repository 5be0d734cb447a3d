import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from gensim.models import KeyedVectors

from contrastive_fuse import InputError, write_vectors
from contrastive_fuse.ids import NodeIds

AWKWARD = ["007", "a, b", 'say "hi"', "tab\there", "日本", "NA"]
VECTORS = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
VECTORS[0] = [1, -1e-30, 1 / 3]


def read_frame(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pandas()
    separator = "\t" if path.suffix == ".tsv" else ","
    return pd.read_csv(path, sep=separator, dtype={"node": str}, keep_default_na=False)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv"])
class TestTables:
    def test_text_ids_and_values_come_back(self, tmp_path, suffix):
        path = tmp_path / f"v{suffix}"
        assert write_vectors(path, NodeIds(AWKWARD), VECTORS) == [path]
        frame = read_frame(path)
        assert list(frame.columns) == ["node", "v0", "v1", "v2"]
        assert frame["node"].tolist() == AWKWARD
        np.testing.assert_array_equal(frame[["v0", "v1", "v2"]].to_numpy(np.float32), VECTORS)

    def test_other_ids_become_text(self, tmp_path, suffix):
        path = tmp_path / f"v{suffix}"
        write_vectors(path, NodeIds([(0, 1), "x", 3]), VECTORS[:3])
        assert read_frame(path)["node"].tolist() == ["(0, 1)", "x", "3"]


def test_parquet_keeps_whole_numbers(tmp_path):
    write_vectors(tmp_path / "v.parquet", NodeIds([5, 2**62, -1, 0, 9, 8]), VECTORS)
    nodes = pq.read_table(tmp_path / "v.parquet").column("node")
    assert nodes.to_pylist() == [5, 2**62, -1, 0, 9, 8]


def test_csv_without_need_has_no_quotes(tmp_path):
    write_vectors(tmp_path / "v.csv", NodeIds(["a", "b"]), np.array([[0.5, 1], [2, -1]], dtype=np.float32))
    assert (tmp_path / "v.csv").read_text() == "node,v0,v1\na,0.5,1\nb,2,-1\n"


def test_npy_with_its_ids_beside(tmp_path):
    paths = write_vectors(tmp_path / "v.npy", NodeIds(AWKWARD), VECTORS)
    assert paths == [tmp_path / "v.npy", tmp_path / "v.ids.csv"]
    np.testing.assert_array_equal(np.load(paths[0]), VECTORS)
    assert read_frame(paths[1])["node"].tolist() == AWKWARD


@pytest.mark.parametrize(
    "ids", [["007", 'q"x', "日本", "a,b", "'", "NA"], [10, -3, 0, 5, 6, 7]], ids=["text", "numbers"]
)
def test_gensim_reads_the_same_ids_and_values(tmp_path, ids):
    write_vectors(tmp_path / "v.txt", NodeIds(ids), VECTORS)
    read = KeyedVectors.load_word2vec_format(tmp_path / "v.txt")
    assert read.index_to_key == [str(name) for name in ids]
    np.testing.assert_array_equal(read.vectors, VECTORS)


def test_word2vec_text_of_many_rows(tmp_path):
    vectors = np.arange(40_000, dtype=np.float32).reshape(-1, 2)
    write_vectors(tmp_path / "v.txt", NodeIds(20_000), vectors)
    read = np.loadtxt(tmp_path / "v.txt", skiprows=1)
    np.testing.assert_array_equal(read, np.column_stack([np.arange(20_000), vectors]))


@pytest.mark.parametrize("name", ["a b", "a\tb", "", "a\nb"])
def test_word2vec_text_refuses_ids_with_white_space(tmp_path, name):
    with pytest.raises(InputError, match="cannot hold ids with white space: "):
        write_vectors(tmp_path / "v.txt", NodeIds([name, "b"]), VECTORS[:2])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["v.h5", "v", "v.csv.gz"])
def test_unknown_formats_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"vectors are written to \.parquet, "):
        write_vectors(tmp_path / name, NodeIds(6), VECTORS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy", ".txt"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, suffix, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("disk full")

    path = tmp_path / f"v{suffix}"
    path.write_text("old")
    for function in ("pq.write_table", "write_csv", "_write_word2vec"):
        monkeypatch.setattr(f"contrastive_fuse.io.vectors.{function}", fail)
    with pytest.raises(OSError, match="disk full"):
        write_vectors(path, NodeIds(6), VECTORS)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
