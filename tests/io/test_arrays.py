import io
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from contrastive_fuse import InputError, read_graph
from contrastive_fuse.io.arrays import read_array, read_arrays


def announcing(shape, dtype="<f8", content=b""):
    """An array in NumPy's format whose header may say anything."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


@given(
    hnp.arrays(
        st.sampled_from([np.int32, np.int64, np.float32, np.bool_, np.dtype("<U5"), np.dtype(">i2")]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    ),
    st.booleans(),
)
def test_what_numpy_writes_is_read(tmp_path_factory, array, fortran):
    path = tmp_path_factory.mktemp("arrays") / "x.npz"
    np.savez_compressed(path, a=np.asfortranarray(array) if fortran and array.ndim else array, b=np.arange(3))
    found = read_arrays(path)
    np.testing.assert_array_equal(found["a"], array)
    assert found["a"].dtype == array.dtype
    assert found["a"].shape == array.shape
    assert found["b"].tolist() == [0, 1, 2]


def test_a_folder_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(4))
    (tmp_path / "notes.txt").write_text("no array")
    assert read_arrays(tmp_path)["a"].tolist() == [0, 1, 2, 3]
    assert set(read_arrays(tmp_path)) == {"a"}
    assert read_array(tmp_path / "a.npy").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (announcing((10**15,)), r"announces shape \(1000000000000000,\)"),
        (announcing((2**62, 2**62)), "announces shape"),
        (announcing((-1,)), "announces shape"),
        (announcing((4,), content=bytes(8)), "announces shape"),
        (announcing((2,), "|O", bytes(16)), "holds pickled objects"),
        (b"\x93NUMPY\x09\x00", "version 9 of NumPy's format"),
        (b"nonsense", "not a readable .npz"),
    ],
)
def test_absurd_headers_are_refused_before_allocation(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_arrays(archive(tmp_path / "x.npz", edge_index=content))


def test_more_than_the_memory_is_refused_before_allocation(tmp_path):
    """A zip whose directory announces an exabyte."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", allowZip64=True) as file:
        file.writestr("a.npy", announcing((1,), content=bytes(8)))
    data = bytearray(buffer.getvalue())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", 0xFFFFFFFE)
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(InputError):
        read_arrays(tmp_path / "x.npz")


@pytest.mark.parametrize("n_nodes", [2**31, 10**9, 2**62, -1])
def test_absurd_numbers_of_nodes_are_refused_before_allocation(tmp_path, n_nodes):
    np.savez(tmp_path / "x.npz", edge_index=np.array([[0], [1]]), num_nodes=n_nodes)
    with pytest.raises(InputError, match=r"that cannot be meant|nodes must be"):
        read_graph(tmp_path / "x.npz")


def test_absurd_sparse_matrices_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", format=np.array("coo"), shape=np.array([10**12, 10**12]), data=np.ones(1),
             row=np.zeros(1, int), col=np.zeros(1, int))  # fmt: skip
    with pytest.raises(InputError, match="that cannot be meant"):
        read_graph(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", format=np.array("csr"), shape=np.array([2, 2]), data=np.ones(1),
             indices=np.array([7]), indptr=np.array([0, 1, 1]))  # fmt: skip
    with pytest.raises(InputError, match="not a sound sparse matrix"):
        read_graph(tmp_path / "y.npz")
    np.savez(tmp_path / "z.npz", format=np.array("dia"), shape=np.array([2, 2]), data=np.ones((1, 2)))
    with pytest.raises(InputError, match="coo, csr and csc; got 'dia'"):
        read_graph(tmp_path / "z.npz")


def test_absurd_matrix_market_is_refused(tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n1000000000 1000000000 1\n1 2\n")
    with pytest.raises(InputError, match="1,000,000,000 nodes are announced for 1 edge; that cannot be meant"):
        read_graph(path)
