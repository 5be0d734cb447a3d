import json

import numpy as np
import pytest

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs
from contrastive_fuse.io.model import MARKER

IDS = {
    "count": [0, 1, 2, 3, 4, 5],
    "numbers": [10, 7, -3, 2**60, 5, 0],
    "text": ["007", "7", "NA", "é", "a,b", 'say "x"'],
    "mixed": [1, "1", ("a", 2), None, 2.5, ("a", ("b", 3))],
    "large": [2**64 - 1, 2, 3, 4, 5, 6],
}


def fit(ids, calibration="auto"):
    graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5], nodes=6).with_ids(ids)
    pairs = SignedPairs([(ids[0], ids[2]), (ids[3], ids[5]), (ids[0], ids[3]), (ids[2], ids[5])], [1, 1, -1, -1])
    return ContrastiveFUSE(5, calibration=calibration, random_state=0).fit(graph, pairs)


@pytest.mark.parametrize("kind", IDS)
def test_same_bits_and_same_ids_after_loading(tmp_path, kind):
    model = fit(IDS[kind])
    model.save(tmp_path / "model")
    again = ContrastiveFUSE.load(tmp_path / "model")
    assert again.embedding_.tobytes() == model.embedding_.tobytes()
    assert list(again.ids_) == IDS[kind]
    pairs = [(IDS[kind][0], IDS[kind][1]), (IDS[kind][5], IDS[kind][2])]
    assert again.predict_proba(pairs).tobytes() == model.predict_proba(pairs).tobytes()
    assert again.predict(pairs).tolist() == model.predict(pairs).tolist()


def test_everything_learned_comes_back(tmp_path):
    model = fit(IDS["text"])
    model.save(tmp_path / "model")
    again = ContrastiveFUSE.load(tmp_path / "model")
    for name in ("threshold_", "calibration_", "history_", "n_iter_", "converged_", "graph_report_", "pair_report_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.get_params() == model.get_params()
    again.save(tmp_path / "twice")
    assert (tmp_path / "twice" / "embedding.npy").read_bytes() == (tmp_path / "model" / "embedding.npy").read_bytes()


def test_without_calibration(tmp_path):
    fit(IDS["count"], calibration=None).save(tmp_path / "model")
    assert ContrastiveFUSE.load(tmp_path / "model").calibration_ is None


def test_an_older_model_is_replaced_and_foreign_content_is_not(tmp_path):
    fit(IDS["count"]).save(tmp_path / "model")
    fit(IDS["text"]).save(tmp_path / "model")
    assert list(ContrastiveFUSE.load(tmp_path / "model").ids_) == IDS["text"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="other content"):
        fit(IDS["count"]).save(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "model"]


def test_ids_that_no_file_can_hold(tmp_path):
    with pytest.raises(InputError, match="node ids of type frozenset cannot be stored"):
        fit([frozenset([i]) for i in range(6)]).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_only_plain_formats(tmp_path):
    fit(IDS["mixed"]).save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "embedding.npy",
        "model.json",
        "nodes.parquet",
    ]


def damage_header(folder):
    (folder / MARKER).write_text("{")


def damage_vectors(folder):
    (folder / "embedding.npy").write_bytes((folder / "embedding.npy").read_bytes()[:-8])


def pickle_vectors(folder):
    np.save(folder / "embedding.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)


def shorten_vectors(folder):
    np.save(folder / "embedding.npy", np.zeros((2, 5), dtype=np.float32))


def remove_ids(folder):
    (folder / "nodes.parquet").unlink()


def from_the_future(folder):
    header = json.loads((folder / MARKER).read_text())
    (folder / MARKER).write_text(json.dumps(header | {"format_version": 99}))


def incomplete_facts(folder):
    header = json.loads((folder / MARKER).read_text())
    (folder / MARKER).write_text(json.dumps(header | {"facts": {}}))


def incomplete_calibration(folder):
    header = json.loads((folder / MARKER).read_text())
    (folder / MARKER).write_text(json.dumps(header | {"calibration": {"method": "platt"}}))


def another_format(folder):
    (folder / MARKER).write_text(json.dumps({"format": "recipe"}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_header, "is damaged"),
        (damage_vectors, "is damaged"),
        (pickle_vectors, "is damaged.*pickle"),
        (shorten_vectors, "expected 6 nodes with 5 float32 components"),
        (remove_ids, "is damaged"),
        (from_the_future, "format version 99; this release reads up to 2"),
        (incomplete_facts, "is damaged: its header lacks"),
        (incomplete_calibration, "is damaged: its header lacks"),
        (another_format, "not the header of a model"),
    ],
)
def test_damage_is_said(tmp_path, damage, message):
    fit(IDS["count"]).save(tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(InputError, match=message):
        ContrastiveFUSE.load(tmp_path / "model")


def test_not_a_model(tmp_path):
    with pytest.raises(InputError, match=r"not a model folder: there is no model\.json"):
        ContrastiveFUSE.load(tmp_path)
