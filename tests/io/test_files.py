import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from contrastive_fuse import InputError, read_graph, read_pairs
from contrastive_fuse.io.files import file_kind, read_ids, read_table

SOURCE, TARGET, WEIGHT = [0, 1, 2, 4], [1, 2, 0, 0], [0.5, 2.0, 1.0, 3.25]  # node 3 is isolated
FRAME = pd.DataFrame({"source": SOURCE, "target": TARGET, "weight": WEIGHT})
DENSE = np.zeros((5, 5))
DENSE[SOURCE, TARGET] = DENSE[TARGET, SOURCE] = WEIGHT


def write_npz(path):
    np.savez(path, edge_index=np.array([SOURCE, TARGET]), num_nodes=5, edge_weight=np.array(WEIGHT))


def write_mtx_gz(path):
    plain = path.with_name("plain.mtx")
    scipy.io.mmwrite(plain, sp.coo_array(DENSE))
    path.write_bytes(gzip.compress(plain.read_bytes()))


WRITERS = {
    "edges.csv": lambda path: FRAME.to_csv(path, index=False),
    "edges.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "edges.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "edges.txt": lambda path: path.write_text("# s t w\n" + FRAME.to_string(header=False, index=False)),
    "integers.parquet": FRAME.to_parquet,
    "text.parquet": lambda path: FRAME.astype({"source": str, "target": str}).to_parquet(path),
    "columns.parquet": FRAME[["weight", "target", "source"]].to_parquet,
    "matrix.npz": lambda path: sp.save_npz(path, sp.csr_array(DENSE)),
    "triangle.npz": lambda path: sp.save_npz(path, sp.coo_array(np.triu(DENSE))),
    "index.npz": write_npz,
    "matrix.mtx": lambda path: scipy.io.mmwrite(path, sp.coo_array(DENSE)),
    "matrix.mtx.gz": write_mtx_gz,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_graph_from_every_format(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    as_text = name.startswith(("edges", "text"))
    nodes = [str(node) for node in range(5)] if as_text else 5
    graph = read_graph(path, nodes=nodes)
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)
    assert list(graph.ids) == (nodes if as_text else list(range(5)))


@pytest.mark.parametrize("name", ["edges.csv", "integers.parquet"])
def test_ids_in_the_order_of_their_numbers(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    assert [str(node) for node in read_graph(path).ids] == ["0", "1", "2", "4"]


@pytest.mark.parametrize("ids", [["007", "7", "NA"], [2**62, -5, 3], ["a b", "é", ""]])
def test_parquet_keeps_ids_as_they_are(tmp_path, ids):
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"source": ids, "target": ids[1:] + ids[:1]}).to_parquet(path)
    assert set(read_graph(path).ids) == set(ids)


def test_64_bit_hashes_in_parquet(tmp_path):
    path = tmp_path / "edges.parquet"
    ids = np.array([2**64 - 1, 5, 2**63], dtype=np.uint64)
    pd.DataFrame({"source": ids, "target": np.roll(ids, 1)}).to_parquet(path)
    assert set(read_graph(path).ids) == {2**64 - 1, 5, 2**63}


class TestColumns:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_text("time,source,target,weight,other\n9,a,b,2,4\n9,b,c,3,5\n")
        return path

    def test_names_decide(self, path):
        graph = read_graph(path)
        assert list(graph.ids) == ["a", "b", "c"]
        assert set(graph.weights) == {2, 3}

    def test_what_was_taken_is_reported(self, path):
        (note,) = read_graph(path).report.notes
        assert note == "ids from 'source' and 'target', weights from 'weight', ignored 'time', 'other'"

    def test_another_weight(self, path):
        assert set(read_graph(path, weight="other").weights) == {4, 5}

    def test_no_weight(self, path):
        assert read_graph(path, weight=None).weights is None

    def test_a_weight_that_is_not_there(self, path):
        with pytest.raises(InputError, match=r"edges\.csv: there is no column 'mass'; the columns are \['time'"):
            read_graph(path, weight="mass")

    def test_without_names_the_third_is_the_weight(self, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_text("1,2,0.5\n2,3,1.5\n")
        assert set(read_graph(path).weights) == {0.5, 1.5}


@pytest.mark.parametrize(("repeats", "weight"), [("max", 3), ("sum", 5)])
def test_repeats_reach_the_graph(tmp_path, repeats, weight):
    path = tmp_path / "edges.csv"
    path.write_text("1,2,2\n2,1,3\n")
    assert set(read_graph(path, repeats=repeats).weights) == {weight}


class TestPairs:
    @pytest.mark.parametrize("name", ["named.csv", "bare.csv", "bare.txt", "moved.csv", "pairs.parquet", "pairs.npz"])
    def test_every_format(self, tmp_path, name):
        path = tmp_path / name
        if name == "pairs.npz":
            np.savez(path, pairs=np.array([["a", "b"], ["b", "c"]]), y=[1, -1], weight=[2, 0.5])
        elif name == "pairs.parquet":
            pd.DataFrame({"a": ["a", "b"], "b": ["b", "c"], "y": [1, -1], "weight": [2, 0.5]}).to_parquet(path)
        else:
            path.write_text(
                {
                    "named.csv": "left,right,sign,confidence\na,b,+1,2\nb,c,-1,0.5\n",
                    "bare.csv": "a,b,1,2\nb,c,-1,0.5\n",
                    "bare.txt": "a b 1 2\nb  c -1 0.5\n",
                    "moved.csv": "weight,y,node1,node2\n2,1,a,b\n0.5,-1,b,c\n",
                }[name]
            )
        pairs = read_pairs(path)
        found = zip(pairs.pairs.tolist(), pairs.y.tolist(), pairs.weight.tolist(), strict=True)
        assert {frozenset(pair): (sign, weight) for pair, sign, weight in found} == {
            frozenset("ab"): (1, 2.0),
            frozenset("bc"): (-1, 0.5),
        }

    def test_a_named_sign_column(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_text("one,two,extra,verdict\na,b,5,1\n")
        assert read_pairs(path, sign="verdict").y.tolist() == [1]

    def test_no_sign_column(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_text("source,target\na,b\n")
        with pytest.raises(InputError, match="pairs need a column y"):
            read_pairs(path)

    def test_nothing_usable(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_text("source,target,y\na,a,1\n")
        with pytest.raises(InputError, match="the file holds no usable pairs"):
            read_pairs(path)

    def test_npz_without_the_arrays(self, tmp_path):
        path = tmp_path / "pairs.npz"
        np.savez(path, pairs=[[1, 2]])
        with pytest.raises(InputError, match="expected arrays 'pairs' and 'y'"):
            read_pairs(path)

    def test_matrix_market_holds_no_pairs(self, tmp_path):
        path = tmp_path / "pairs.mtx"
        WRITERS["matrix.mtx"](path)
        with pytest.raises(InputError, match="not from Matrix Market"):
            read_pairs(path)


@pytest.mark.parametrize("reader", [read_graph, read_pairs, read_table, read_ids])
class TestNoFile:
    def test_missing(self, tmp_path, reader):
        with pytest.raises(InputError, match="there is no file"):
            reader(tmp_path / "none.csv")

    def test_folder(self, tmp_path, reader):
        with pytest.raises(InputError, match="is a folder; expected a file"):
            reader(tmp_path)


@pytest.mark.parametrize("data", [b"", b"nonsense"])
@pytest.mark.parametrize("name", ["x.parquet", "x.npz", "x.mtx"])
def test_damaged_files_are_named(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"{name}: not a readable"):
        read_graph(path)


def test_pickled_objects_are_not_loaded(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, edge_index=np.array([[{}], [{}]], dtype=object))
    with pytest.raises(InputError, match="holds pickled objects, which are not read"):
        read_graph(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edges": [[0], [1]]}, "expected a SciPy sparse matrix or an array 'edge_index'"),
        ({"edge_index": [0, 1]}, "shape"),
    ],
)
def test_npz_of_another_layout(tmp_path, arrays, message):
    path = tmp_path / "x.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=message):
        read_graph(path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "text"), ("a", "text"), ("a.edges", "text"), ("a.CSV.GZ", "text"), ("a.parquet", "parquet"),
        ("a.pq", "parquet"), ("a.NPZ", "npz"), ("a.mtx", "mtx"), ("a.mtx.gz", "mtx"), ("v1.2.csv", "text"),
    ],
)  # fmt: skip
def test_the_name_tells_the_format(tmp_path, name, kind):
    assert file_kind(tmp_path / name) == kind


@pytest.mark.parametrize("name", ["nodes.csv", "nodes.parquet"])
def test_ids_are_the_first_column(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame({"node": ["x", "y"], "age": [1, 2]})
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    assert read_ids(path).to_pylist() == ["x", "y"]
