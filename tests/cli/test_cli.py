import json
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from contrastive_fuse import ContrastiveFUSE, __version__

N_NODES = 60
SCRIPT = Path(sys.executable).with_name("cfuse")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two communities as edges.csv, signed pairs as pairs.csv, candidates.csv, and a model of them."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, N_NODES, (2, 600))
    kept = (first % 2 == second % 2) | (rng.random(600) < 0.1)
    names = np.array([f"n{i}" for i in range(N_NODES)])
    pd.DataFrame({"source": names[first[kept]], "target": names[second[kept]]}).to_csv(
        folder / "edges.csv", index=False
    )
    first, second = rng.integers(0, N_NODES, (2, 200))
    y = np.where(first % 2 == second % 2, 1, -1)
    pairs = pd.DataFrame({"a": names[first], "b": names[second], "y": y})
    pairs.to_csv(folder / "pairs.csv", index=False)
    candidates = pd.DataFrame({"left": names[:5], "right": names[1:6], "note": ["x, y", "", 'say "hi"', "007", "NA"]})
    candidates.to_csv(folder / "candidates.csv", index=False)
    model = ContrastiveFUSE(8, random_state=0).fit(folder / "edges.csv", folder / "pairs.csv")
    model.save(folder / "model")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A fresh working folder with a copy of what was made."""
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cfuse(here, run_cfuse):
    """Run the command in that folder."""
    return run_cfuse


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestEmbed:
    def test_a_model_folder(self, cfuse, here):
        assert cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4).code == 0
        model = ContrastiveFUSE.load(here / "new")
        assert model.embedding_.shape == (N_NODES, 4)
        assert model.calibration_ is not None

    def test_same_seed_same_bytes(self, cfuse, here):
        for name, seed in (("one", 3), ("two", 3), ("other", 4)):
            cfuse("embed", "edges.csv", "-o", f"{name}.npy", "-k", 4, "--seed", seed, "--max-iter", 3)
        one, two, other = ((here / f"{name}.npy").read_bytes() for name in ("one", "two", "other"))
        assert one == two != other

    @pytest.mark.parametrize("name", ["v.parquet", "v.csv", "v.tsv", "v.npy", "v.txt"])
    def test_vectors_alone(self, cfuse, here, name):
        assert cfuse("embed", "edges.csv", "-o", name, "-k", 4, "-q").code == 0
        path = here / name
        if name == "v.npy":
            vectors = np.load(path)
            assert len(pd.read_csv(here / "v.ids.csv")) == N_NODES
        elif name == "v.txt":
            vectors = np.array([line.split()[1:] for line in path.read_text().splitlines()[1:]], dtype=float)
        else:
            frame = (
                pq.read_table(path).to_pandas() if name == "v.parquet" else pd.read_csv(path, sep=None, engine="python")
            )
            vectors = frame.drop(columns="node").to_numpy()
        assert vectors.shape == (N_NODES, 4)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)

    def test_an_old_model_is_replaced(self, cfuse, here):
        assert cfuse("embed", "edges.csv", "-o", "model", "-k", 5).code == 0
        assert ContrastiveFUSE.load(here / "model").n_components == 5

    def test_reports_go_to_standard_error(self, cfuse):
        ended = cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4)
        assert ended.out == ""
        assert [line.split()[0] for line in ended.err.splitlines() if line[0] != " "] == [
            "graph",
            "pairs",
            "fit",
            "wrote",
        ]
        assert f"{N_NODES} nodes" in ended.err

    def test_quiet_prints_nothing(self, cfuse):
        assert cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4, "--quiet") == (0, "", "")

    def test_json_summary(self, cfuse):
        ended = cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4, "--json")
        facts = json.loads(ended.out)
        assert facts["n_nodes"] == N_NODES
        assert facts["n_components"] == 4
        assert facts["graph"]["n_nodes"] == N_NODES
        assert facts["pairs"]["n_alike"] > 0
        assert 0 <= facts["held_out_roc_auc"] <= 1

    def test_json_summary_without_pairs(self, cfuse):
        facts = json.loads(cfuse("embed", "edges.csv", "-o", "new", "-k", 4, "--json").out)
        assert (facts["pairs"], facts["held_out_pairs"], facts["held_out_roc_auc"]) == (None, 0, None)

    def test_nodes_without_an_edge(self, cfuse, here):
        (here / "nodes.csv").write_text("node\n" + "".join(f"n{i}\n" for i in range(N_NODES)) + "hermit\n")
        assert cfuse("embed", "edges.csv", "--nodes", "nodes.csv", "-o", "new", "-k", 4).code == 0
        assert list(ContrastiveFUSE.load(here / "new").ids_)[-1] == "hermit"

    def test_unknown_nodes_dropped(self, cfuse, here):
        with (here / "pairs.csv").open("a") as file:
            file.write("n0,stranger,1\n")
        ended = cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4, "--unknown", "drop")
        assert ended.code == 0
        assert "1 pair with a node outside the graph dropped" in ended.err

    def test_contradictions_are_counted(self, cfuse, here):
        (here / "pairs.csv").write_text("a,b,y\nn0,n2,1\nn2,n0,-1\nn0,n4,1\nn0,n1,-1\n")
        ended = cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4)
        assert "1 pair given with both signs: the majority by weight was taken, 1 tie dropped" in ended.err

    @pytest.mark.parametrize(
        ("given", "stored"),
        [
            (["--param", "shift=0.5"], {"shift": 0.5}),
            (["--objective", "paper", "--param", "gradient=exact", "--param", "lambda_scaled=0"],
             {"gradient": "exact", "lambda_scaled": 0}),
        ],
    )  # fmt: skip
    def test_parameters_of_the_objective(self, cfuse, here, given, stored):
        assert cfuse("embed", "edges.csv", "-o", "new", "-k", 4, "--max-iter", 2, *given).code == 0
        assert ContrastiveFUSE.load(here / "new").objective_params == stored

    def test_no_calibration(self, cfuse, here):
        cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "new", "-k", 4, "--calibration", "none")
        assert ContrastiveFUSE.load(here / "new").calibration_ is None

    def test_no_checkpoint_stays(self, cfuse, here):
        before = set(content(here))
        cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "-o", "v.npy", "-k", 4)
        assert {path.name for path in set(content(here)) - before} == {"v.npy", "v.ids.csv"}


class TestScore:
    def test_standard_output_keeps_the_columns(self, cfuse, here):
        ended = cfuse("score", "model", "candidates.csv")
        (here / "out.csv").write_text(ended.out)
        scored = pd.read_csv(here / "out.csv", keep_default_na=False)
        given = pd.read_csv(here / "candidates.csv", keep_default_na=False)
        assert (ended.code, ended.err) == (0, "")
        pd.testing.assert_frame_equal(scored[["left", "right", "note"]], given)
        assert list(scored.columns[3:]) == ["score", "probability", "predicted"]

    @pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.parquet"])
    def test_files_hold_what_the_model_says(self, cfuse, here, name):
        ended = cfuse("score", "model", "candidates.csv", "-o", name)
        assert (ended.code, ended.out) == (0, "")
        assert f"{name} (5 pairs)" in ended.err
        scored = (
            pq.read_table(name).to_pandas() if name == "s.parquet" else pd.read_csv(name, sep=None, engine="python")
        )
        model = ContrastiveFUSE.load(here / "model")
        pairs = scored[["left", "right"]]
        np.testing.assert_allclose(scored["score"], model.pair_score(pairs), rtol=1e-6)
        np.testing.assert_allclose(scored["probability"], model.predict_proba(pairs)[:, 1])
        np.testing.assert_array_equal(scored["predicted"], model.predict(pairs))

    def test_without_a_header(self, cfuse, here):
        (here / "bare.txt").write_text("n0 n1 5\nn2 n3 6\n")
        assert cfuse("score", "model", "bare.txt").out.startswith(
            "node_1,node_2,column_3,score,probability,predicted\nn0,n1,5,"
        )

    @pytest.mark.parametrize("dtype", ["string", "category"])
    def test_parquet_text_of_any_type(self, cfuse, here, dtype):
        frame = pd.read_csv(here / "candidates.csv", keep_default_na=False).astype(dtype)
        frame.to_parquet(here / "c.parquet")
        assert cfuse("score", "model", "c.parquet").out == cfuse("score", "model", "candidates.csv").out

    def test_unknown_nodes_dropped(self, cfuse, here):
        (here / "c.csv").write_text("a,b\nn0,n1\nn0,stranger\n")
        ended = cfuse("score", "model", "c.csv", "--unknown", "drop")
        assert len(ended.out.splitlines()) == 2
        assert "1 pair with a node outside the graph dropped" in ended.err

    def test_quiet_prints_only_the_table(self, cfuse, here):
        (here / "c.csv").write_text("a,b\nn0,n1\nn0,stranger\n")
        ended = cfuse("score", "model", "c.csv", "--unknown", "drop", "-q")
        assert (ended.out.count("\n"), ended.err) == (2, "")

    def test_a_model_without_probabilities(self, cfuse):
        cfuse("embed", "edges.csv", "-o", "plain", "-k", 4)
        ended = cfuse("score", "plain", "candidates.csv")
        assert ended.out.splitlines()[0] == "left,right,note,score"
        assert "no probabilities" in ended.err


class TestDiagnose:
    def test_table(self, cfuse):
        ended = cfuse("diagnose", "edges.csv", "--pairs", "pairs.csv")
        assert ended.code == 0
        assert ended.err.split()[:3] == ["graph", str(N_NODES), "nodes,"]
        for fact in ("connected components", "isolated nodes", "edges needed", "nodes touched share"):
            assert fact in ended.out

    def test_json(self, cfuse, here):
        (here / "g.csv").write_text("1,2\n2,3\n5,6\n")
        facts = json.loads(cfuse("diagnose", "g.csv", "--json").out)
        assert facts["structure"]["nodes"] == 5
        assert facts["structure"]["connected_components"] == 2
        assert facts["structure"]["nodes_in_the_largest"] == 3
        assert set(facts) == {"structure", "theory"}

    def test_pairs_and_isolated_nodes(self, cfuse, here):
        (here / "g.csv").write_text("1,2\n2,3\n")
        (here / "n.csv").write_text("1\n2\n3\n4\n")
        (here / "p.csv").write_text("1,3,1\n1,4,-1\n")
        facts = json.loads(cfuse("diagnose", "g.csv", "--nodes", "n.csv", "--pairs", "p.csv", "--json").out)
        assert facts["structure"]["isolated_nodes"] == 1
        assert (facts["pairs"]["alike"], facts["pairs"]["unlike"], facts["pairs"]["nodes_touched"]) == (1, 1, 3)


EMBED = ("embed", "edges.csv", "-k", 4, "-q", "-o", "new")
REFUSED = {
    "missing file": (("embed", "none.csv", "-o", "new"), "there is no file none.csv"),
    "folder instead of a file": (("embed", "model", "-o", "new"), "model is a folder; expected a file"),
    "empty file": (("embed", "empty.csv", "-o", "new"), "empty.csv: the file is empty"),
    "missing pairs": ((*EMBED, "--pairs", "none.csv"), "there is no file none.csv"),
    "missing nodes": ((*EMBED, "--nodes", "none.csv"), "there is no file none.csv"),
    "unknown nodes in pairs": ((*EMBED, "--pairs", "strange.csv"), "1 pair with 1 node not in the graph"),
    "ambiguous header": (("embed", "ambiguous.csv", "-o", "new"), "--header yes or --header no"),
    "unknown suffix": (("embed", "edges.csv", "-o", "new.h5"), "cannot tell what to write to 'new.h5'"),
    "folder with other content": (("embed", "edges.csv", "-o", "foreign"), "it is not replaced"),
    "this folder": (("embed", "edges.csv", "-o", "."), "it is not replaced"),
    "file in the place of a folder": (("embed", "edges.csv", "-o", "plain"), "plain is a file; expected a folder"),
    "folder in the place of a file": ((*EMBED, "-o", "taken.csv"), "taken.csv is a folder; expected a file name"),
    "no NAME=VALUE": ((*EMBED, "--param", "shift"), "--param takes NAME=VALUE; got 'shift'"),
    "unknown parameter": ((*EMBED, "--param", "shape=1"), "got an unexpected keyword argument 'shape'"),
    "parameter out of range": ((*EMBED, "--param", "shift=-1"), "shift must be a finite number of at least 0"),
    "parameter of another type": ((*EMBED, "--param", "shift=much"), "shift must be a number; got 'much'"),
    "no dimensions": ((*EMBED, "-k", 0), "n_components must be"),
    "no threads": ((*EMBED, "--threads", 0), "n_jobs must be"),
    "no such weight": ((*EMBED, "--weight", "mass"), "there is no column 'mass'"),
    "not a model": (("score", "foreign", "candidates.csv"), "foreign is not a model folder"),
    "file instead of a model": (("score", "edges.csv", "candidates.csv"), "edges.csv is not a model folder"),
    "no candidates": (("score", "model", "none.csv"), "there is no file none.csv"),
    "unknown candidates": (("score", "model", "strange.csv"), "1 pair with 1 node"),
    "scores in an unknown format": (("score", "model", "candidates.csv", "-o", "new.h5"), "got 'new.h5'"),
    "candidates scored before": (("score", "model", "scored.csv"), "already have a column 'score'"),
    "diagnose nothing": (("diagnose", "empty.csv"), "the file is empty"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_input_ends_in_one_sentence(cfuse, here, arguments, message):
    (here / "empty.csv").touch()
    (here / "plain").touch()
    (here / "taken.csv").mkdir()
    (here / "ambiguous.csv").write_text("foo,bar\nx,y\n")
    (here / "strange.csv").write_text("a,b,y\nn0,stranger,1\nn0,n1,-1\n")
    (here / "scored.csv").write_text("a,b,score\nn0,n1,1\n")
    (here / "foreign").mkdir()
    (here / "foreign" / "thesis.tex").write_text("dear")
    before = content(here)
    ended = cfuse(*arguments)
    assert (ended.code, ended.out) == (1, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("cfuse: ")
    assert message in line
    assert content(here) == before


def lacking(name):
    def damage(model):
        header = json.loads((model / "model.json").read_text())
        del header[name]
        (model / "model.json").write_text(json.dumps(header))

    return damage


def changed(name, value):
    def damage(model):
        header = json.loads((model / "model.json").read_text())
        (model / "model.json").write_text(json.dumps({**header, name: value}))

    return damage


DAMAGES = {
    "cut header": lambda model: (model / "model.json").write_text('{"format":'),
    "header of something else": lambda model: (model / "model.json").write_text("{}"),
    "header that is a list": lambda model: (model / "model.json").write_text("[1]"),
    "newer format": changed("format_version", 99),
    "other size": changed("n_nodes", N_NODES + 1),
    "no size": lacking("n_nodes"),
    "no threshold": lacking("threshold"),
    "no facts": lacking("facts"),
    "cut vectors": lambda model: (model / "embedding.npy").write_bytes((model / "embedding.npy").read_bytes()[:100]),
    "no vectors": lambda model: (model / "embedding.npy").unlink(),
    "no ids": lambda model: (model / "nodes.parquet").unlink(),
    "nonsense for ids": lambda model: (model / "nodes.parquet").write_bytes(b"nonsense"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_model_is_refused(cfuse, here, damage):
    damage(here / "model")
    ended = cfuse("score", "model", "candidates.csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("cfuse: model")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [("embed", "edges.csv"), (*EMBED, "-k", "x"), (*EMBED, "--seed", -1), (*EMBED, "--objective", "other"), ("fly",)],
)
def test_usage_errors_end_in_2(cfuse, here, arguments):
    before = content(here)
    ended = cfuse(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage: " in ended.err
    assert content(here) == before


def test_a_failing_write_leaves_no_output(cfuse, here, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("disk full")

    before = content(here)
    monkeypatch.setattr("contrastive_fuse.io.vectors.write_csv", fail)
    ended = cfuse("embed", "edges.csv", "-k", 4, "-o", "v.csv", "-q")
    assert ended == (1, "", "cfuse: disk full\n")
    assert content(here) == before


def test_an_interrupt_ends_in_130(cfuse, here, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("contrastive_fuse.fitting.solve", interrupt)
    ended = cfuse("embed", "edges.csv", "-o", "new")
    assert ended.code == 130
    assert "the same command goes on from new.checkpoint" in ended.err
    assert not (here / "new").exists()


def test_version(cfuse):
    assert cfuse("--version").out == f"{__version__}\n"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the package's script is not installed beside this Python")
class TestScript:
    def test_runs(self, made):
        command = [SCRIPT, "score", "model", "candidates.csv"]
        ended = subprocess.run(command, cwd=made, capture_output=True, text=True, check=True)
        assert len(ended.stdout.splitlines()) == 6

    def test_help_is_quick(self):
        seconds = []
        for _ in range(3):
            started = perf_counter()
            subprocess.run([SCRIPT, "--help"], capture_output=True, check=True)
            seconds.append(perf_counter() - started)
        assert min(seconds) < 0.5

    def test_a_reader_that_stops_is_no_error(self, made, tmp_path):
        (tmp_path / "many.csv").write_text("a,b\n" + "n0,n1\n" * 100_000)
        command = [SCRIPT, "score", made / "model", tmp_path / "many.csv"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""


def test_a_warning_is_a_sentence(cfuse, tmp_path, community_graph):
    rng = np.random.default_rng(0)
    first, second = community_graph.graph.edges()
    pd.DataFrame({"a": first, "b": second}).to_csv(tmp_path / "edges.csv", index=False)
    pairs = rng.integers(0, 600, (4000, 2))
    keen = rng.random(600) < 0.5
    y = np.where(keen[pairs].sum(axis=1) + rng.normal(0, 0.3, len(pairs)) > 0.9, 1, -1)
    pd.DataFrame({"a": pairs[:, 0], "b": pairs[:, 1], "y": y}).to_csv(tmp_path / "pairs.csv", index=False)
    ended = cfuse("embed", tmp_path / "edges.csv", "--pairs", tmp_path / "pairs.csv", "-k", 8,
                  "--unknown", "drop", "-o", tmp_path / "model")  # fmt: skip
    assert ended.code == 0
    assert "warning  on held-out pairs the two nodes' shares of alike pairs tell as much by themselves" in ended.err
    assert "UserWarning" not in ended.err


@pytest.mark.parametrize(
    ("method", "parameters"), [("fuse-rows", {"readout": "cosine"}), ("fuse-paper", {"objective": "paper"})]
)
def test_a_variant_of_our_own_is_a_model(cfuse, here, method, parameters):
    assert cfuse("embed", "edges.csv", "--pairs", "pairs.csv", "--method", method, "-k", 4, "-o", "variant").code == 0
    model = ContrastiveFUSE.load(here / "variant")
    assert {name: model.get_params()[name] for name in parameters} == parameters


@pytest.mark.parametrize(
    ("method", "options", "named"),
    [
        ("deepwalk", ("--readout", "cosine", "--max-iter", 3), "--max-iter, --readout"),
        ("fuse-paper", ("--objective", "paper"), "--objective"),
    ],
)
def test_options_that_a_method_does_not_take_are_named(cfuse, here, method, options, named):
    ended = cfuse("embed", "edges.csv", "--method", method, *options, "-o", "new.csv")
    assert ended.code == 1
    assert f"the method {method} does not take {named};" in ended.err
    assert not (here / "new.csv").exists()


def test_contradictions_are_told_for_every_method(cfuse, here):
    (here / "contra.csv").write_text("a,b,y\nx,y,1\ny,x,-1\nx,z,-1\n")
    (here / "path.csv").write_text("a,b\nx,y\ny,z\n")
    ended = cfuse("embed", "path.csv", "--pairs", "contra.csv", "--method", "union-find", "-o", "new.csv")
    assert ended.code == 0
    assert "1 pair given with both signs" in ended.err
    (here / "contra.csv").write_text("a,b,y\nx,y,1\nx,nobody,-1\n")
    dropping = cfuse(
        "embed", "path.csv", "--pairs", "contra.csv", "--method", "union-find", "--unknown", "drop", "-o", "n.csv"
    )
    assert "1 pair" in dropping.err
    assert "nobody" not in (here / "n.csv").read_text()
