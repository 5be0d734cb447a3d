"""Pickles of strangers: what is needed is read, nothing else is, and nothing of theirs runs."""

import collections
import io
import os
import pickle
import pickletools
import struct

import numpy as np
import pytest
import scipy.sparse as sp

from contrastive_fuse import InputError
from contrastive_fuse.datasets.unpickle import read_pickle


def written(path, value, protocol=2):
    path.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i4", "|u1", "|b1"])
def test_arrays(tmp_path, dtype, protocol):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    for given in (array, np.asfortranarray(array)):
        np.testing.assert_array_equal(read_pickle(written(tmp_path / "x", given, protocol)).value, array)


def test_sparse_matrices(tmp_path):
    matrix = sp.csr_matrix(np.diag([1.0, 2.0, 3.0]).astype(np.float32))
    parts = read_pickle(written(tmp_path / "x", matrix)).parts
    assert parts["shape"].tolist() == [3, 3]
    again = sp.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())


def test_dicts_of_lists(tmp_path):
    neighbours = collections.defaultdict(list, {0: [1, 2], 1: [0], 2: [0, 0]})
    assert read_pickle(written(tmp_path / "x", neighbours)) == dict(neighbours)


class Runs:
    """Runs a command when it is unpickled the usual way."""

    def __init__(self, function, *arguments):
        self.what = function, arguments

    def __reduce__(self):
        return self.what


def test_a_hostile_pickle_runs_nothing(tmp_path):
    witness = tmp_path / "witness"
    for hostile in (
        Runs(os.system, f"touch {witness}"),
        Runs(eval, f"open({str(witness)!r}, 'w').close()"),
        Runs(exec, f"open({str(witness)!r}, 'w').close()"),
        Runs(getattr, "text", "upper"),
        Runs(np.load, str(witness)),
        {0: [1, Runs(os.mkdir, str(witness))]},
    ):
        for protocol in (0, 2, 4):
            path = written(tmp_path / "x", hostile, protocol)
            with pytest.raises(InputError, match="which is not among the names that are read; nothing was run"):
                read_pickle(path)
            assert not witness.exists()
    path = written(tmp_path / "x", Runs(os.mkdir, str(witness)))
    pickle.loads(path.read_bytes())
    assert witness.exists()  # the pickles above are live


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "EOFError"),
        (b"garbage", "UnpicklingError|InputError|not a readable pickle"),
        (pickle.dumps(np.arange(100))[:80], "not a readable pickle"),
        (b"\x80\x02\x82\x01.", "registered extension"),
        (b"Pthere\n.", "objects outside"),
        (pickle.dumps(np.array([{}], dtype=object), 2), "kind 'O8'; only numbers are read"),
        (pickle.dumps(np.zeros(1, dtype=[("a", "<i4")]), 2), "only numbers are read"),
        (pickle.dumps(np.array(["text"]), 2), "only numbers are read"),
    ],
)
def test_what_is_no_such_pickle_is_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_pickle(written(tmp_path / "x", content))


def test_absurd_sizes_allocate_nothing(tmp_path):
    """A memo index of four billion, a string of eight exabytes, an array of a petabyte."""
    for content in (
        b"\x80\x02]" + b"r" + struct.pack("<I", 2**32 - 1) + b".",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b".",
        b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b".",
    ):
        path = written(tmp_path / "x", content)
        try:
            read_pickle(path)
        except InputError:
            continue
        assert content[2:4] == b"]r"  # an absurd memo index is legal, and costs nothing here

    buffer = io.BytesIO()
    pickle._Pickler(buffer, 2).dump(np.zeros(3))
    shape = buffer.getvalue().replace(b"K\x03\x85", b"\x8a\x08" + struct.pack("<q", 10**15) + b"\x85")
    assert any(argument == 10**15 for _, argument, _ in pickletools.genops(shape))
    with pytest.raises(InputError, match="cannot reshape"):
        read_pickle(written(tmp_path / "x", shape))


def test_an_absurd_file_is_not_even_opened(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(InputError, match="1,073,741,824 bytes; such a file is not expected to exceed"):
        read_pickle(path)
