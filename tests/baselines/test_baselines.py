"""Each baseline against its own definition."""

import builtins
import sys

import numpy as np
import pytest
import torch

from contrastive_fuse import ContrastiveFUSE, Graph, InputError, SignedPairs
from contrastive_fuse.baselines.constraints import LabelPropagationOracle, NodeRate, UnionFind
from contrastive_fuse.baselines.infonce import info_nce
from contrastive_fuse.errors import MissingExtraError
from contrastive_fuse.registry import EMBEDDERS, make_embedder

PATH = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], nodes=8)


def test_union_find_closes_must_links_and_spreads_cannot_links():
    pairs = SignedPairs([(0, 1), (1, 2), (3, 4), (2, 3), (5, 6)], [1, 1, 1, -1, -1])
    model = UnionFind(random_state=0).fit(PATH, pairs)
    asked = [(0, 2), (3, 4), (0, 4), (1, 3), (5, 6), (0, 5), (7, 0), (4, 6)]
    assert model.pair_score(asked).tolist() == [1, 1, -1, -1, -1, 0, 0, 0]


def test_node_rate_by_hand():
    pairs = SignedPairs([(0, 1), (0, 2), (0, 3), (1, 2)], [1, 1, -1, -1])
    model = NodeRate(4, settings={"prior": 0}).fit(PATH, pairs)
    np.testing.assert_allclose(model.rate_, [2 / 3, 1 / 2, 1 / 2, 0, 1 / 2, 1 / 2, 1 / 2, 1 / 2])
    assert model.pair_score([(0, 1)])[0] == pytest.approx(1 / 3)
    drawn = NodeRate(4, settings={"prior": 2}).fit(PATH, pairs)
    assert drawn.rate_[0] == pytest.approx((2 + 2 * 0.5) / (3 + 2))


def test_the_oracle_sees_the_classes_of_training_nodes_alone():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    pairs = SignedPairs([(0, 6)], [-1])
    one = LabelPropagationOracle(settings={"labels": labels}).fit(PATH, pairs)
    hidden = np.where(np.isin(np.arange(8), [0, 6]), labels, 7)
    two = LabelPropagationOracle(settings={"labels": hidden}).fit(PATH, pairs)
    np.testing.assert_array_equal(one.rows_, two.rows_)
    assert one.rows_.argmax(axis=1)[:7].tolist() == [0, 0, 0, one.rows_[3].argmax(), 1, 1, 1]
    np.testing.assert_allclose(one.rows_[7], 0.5)  # nothing reaches it: the share of the classes
    assert EMBEDDERS["label-propagation-oracle"].oracle


@pytest.mark.parametrize("within", [True, False])
def test_info_nce_in_blocks_is_info_nce(within, monkeypatch):
    from contrastive_fuse.baselines import infonce

    torch.manual_seed(0)
    one, two = (torch.randn(23, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    a, b = (torch.nn.functional.normalize(x) for x in (one, two))
    total = 0.0
    for left, right in ((a, b), (b, a)):
        for i in range(23):
            across = torch.exp(right @ left[i] / 0.5)
            beside = torch.exp(left @ left[i] / 0.5).sum() - torch.exp(left[i] @ left[i] / 0.5)
            total = total - torch.log(across[i] / (across.sum() + (beside if within else 0)))
    expected = total / 46
    expected_grad = torch.autograd.grad(expected, one)[0]
    monkeypatch.setattr(infonce, "ROWS_AT_ONCE", 7)
    found = info_nce(one, two, 0.5, within=within)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, one)[0], expected_grad)


def test_info_nce_of_some_nodes_at_a_time():
    torch.manual_seed(0)
    one, two = (torch.randn(200, 5, dtype=torch.float64) for _ in range(2))
    torch.testing.assert_close(info_nce(one, two, 0.5, contrasted=200), info_nce(one, two, 0.5))
    drawn = torch.stack([info_nce(one, two, 0.5, contrasted=50) for _ in range(200)])
    assert drawn.std() > 0  # other nodes each time
    fewer = info_nce(one, two, 0.5).item() - np.log(399 / 99)  # a quarter of the candidates
    assert abs(drawn.mean().item() - fewer) < 0.05
    with pytest.raises(InputError, match="contrasted must be a finite number of at least 2"):
        info_nce(one, two, 0.5, contrasted=1)


def test_coles_is_the_optimum_of_its_objective(community_graph):
    """No orthonormal directions do better on the smoothed inputs than those that are found."""
    model = make_embedder("coles", 4, settings={"inputs": 20}, random_state=0).fit(community_graph.graph)
    adjacency = community_graph.graph.adjacency.toarray().astype(float)
    degrees = adjacency.sum(axis=1)
    scale = 1 / np.sqrt(np.maximum(degrees, 1))
    near = np.eye(600) - scale[:, None] * adjacency * scale
    rows = model.embedding_.astype(float)
    inside = np.trace(rows.T @ near @ rows)
    assert inside < np.trace(rows.T @ rows)  # edges join rows that are closer than those of any two nodes


def test_the_diffusion_of_mvgrl_by_solving_and_by_pushing(community_graph, monkeypatch):
    """Sparse and approximate beyond a size; what is kept of it is what solving gives."""
    from contrastive_fuse.baselines import mvgrl

    exact = mvgrl.diffusion(community_graph.graph, 0.2)
    adjacency = community_graph.graph.adjacency.toarray() + np.eye(600)
    root = 1 / np.sqrt(adjacency.sum(axis=1))
    np.testing.assert_allclose(
        exact @ (np.eye(600) - 0.8 * root[:, None] * adjacency * root), 0.2 * np.eye(600), atol=1e-6
    )
    monkeypatch.setattr(mvgrl, "DENSE_BELOW", 100)
    monkeypatch.setattr(mvgrl, "NODES_AT_ONCE", 130)
    pushed = mvgrl.diffusion(community_graph.graph, 0.2)
    assert np.diff(pushed.indptr).tolist() == [mvgrl.KEPT_A_NODE] * 600
    kept = pushed.toarray()
    assert np.abs(kept - np.where(kept > 0, exact, 0)).max() < 0.01
    left_out = np.where(kept > 0, 0, exact).max(axis=1)
    assert (left_out <= np.where(kept > 0, kept, np.inf).min(axis=1) + 0.01).all()


def test_given_shortens_and_fills_up(community_graph):
    features = np.random.default_rng(0).standard_normal((600, 10)).astype(np.float32)
    longer = make_embedder("given", 12, settings={"features": features}).fit(community_graph.graph)
    np.testing.assert_array_equal(longer.embedding_[:, :10], features)
    assert not longer.embedding_[:, 10:].any()
    with pytest.raises(InputError, match="this method needs the features of the nodes"):
        make_embedder("given", 12).fit(community_graph.graph)


@pytest.mark.parametrize("name", ["vgae", "dgi", "grace", "cca-ssg", "mvgrl", "sgcl", "sgcl-linear", "coles"])
def test_features_are_used_where_they_are_given(name, community_graph):
    features = np.eye(3)[community_graph.labels] + 0.1
    settings = {"features": features} | ({} if name == "coles" else {"epochs": 3})
    model = make_embedder(name, 4, settings=settings, random_state=0).fit(community_graph.graph)
    assert np.isfinite(model.embedding_).all()
    with pytest.raises(InputError, match="features must have 600 rows; got 5"):
        make_embedder(name, 4, settings={"features": features[:5]}).fit(community_graph.graph)


def test_progress_is_reported(community_graph):
    for name, stages in (("dgi", ["training"] * 3), ("deepwalk", ["walks", "skip-gram"])):
        steps = []
        settings = {"epochs": 3} if name == "dgi" else {"length": 5}
        make_embedder(name, 4, settings=settings, random_state=0).fit(community_graph.graph, callback=steps.append)
        assert [step.stage for step in steps] == stages


@pytest.mark.parametrize(
    ("name", "package", "extra", "settings"),
    [("dgi", "torch", "torch", {}), ("deepwalk", "gensim", "baselines", {"gensim": True})],
)
def test_without_an_extra_it_is_named(name, package, extra, settings, community_graph, monkeypatch):
    real_import = builtins.__import__

    def without(module, *arguments, **keywords):
        if module.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real_import(module, *arguments, **keywords)

    for module in list(sys.modules):
        if module.startswith("contrastive_fuse.baselines.") or module.partition(".")[0] == package == "gensim":
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=rf'pip install "contrastive-fuse\[{extra}\]"'):
        make_embedder(name, 4, settings=settings).fit(community_graph.graph)


def test_unknown_method():
    with pytest.raises(InputError, match=r"method must be one of 'fuse', .*; got 'magic'"):
        make_embedder("magic")
    assert isinstance(make_embedder("fuse"), ContrastiveFUSE)


class TestCommand:
    def test_vectors_of_another_method(self, run_cfuse, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run_cfuse("data", "get", "karate", "-o", "karate.npz", "-q").code == 0
        assert run_cfuse("data", "pairs", "karate", "-n", 100, "-o", "pairs", "-q").code == 0
        for method in ("random", "union-find", "label-propagation-oracle", "signed-laplacian"):
            ended = run_cfuse(
                "embed", "karate.npz", "--pairs", "pairs/train.csv", "--method", method, "-o", "v.csv", "-k", 4
            )
            assert ended.code == 0, ended.err
            assert run_cfuse("evaluate", "v.csv", "--pairs", "pairs/train.csv", "--test", "pairs/test.csv").code == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--method", "magic", "-o", "v.csv"), "method must be one of 'fuse'"),
            (("--method", "random", "-o", "model"), "the method random writes vectors: say -o NAME with .parquet"),
            (
                ("--method", "given", "-o", "v.csv"),
                "the method given needs features: give the edges as an .npz data set",
            ),
            (
                ("--method", "random", "--param", "speed=2", "-o", "v.csv"),
                "Random has no setting 'speed'; there are none",
            ),
            (("--method", "union-find", "-o", "v.csv"), "UnionFind learns from signed pairs; none were given"),
        ],
    )
    def test_bad_input_ends_in_one_sentence(self, run_cfuse, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "edges.csv").write_text("a,b\n1,2\n2,3\n")
        ended = run_cfuse("embed", "edges.csv", "-q", *arguments)
        assert (ended.code, ended.out) == (1, "")
        (line,) = ended.err.splitlines()
        assert line.startswith("cfuse: ")
        assert message in line
        assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_dropping_edges_leaves_the_graph_as_it_was():
    from contrastive_fuse.baselines.torch_baseline import links_of

    rng = np.random.default_rng(0)
    for weights in (None, rng.random(200) + 0.1):
        graph = Graph.from_edges(*rng.integers(0, 50, (2, 200)), weights, nodes=50)
        before = (graph.indptr.copy(), graph.indices.copy(), graph.adjacency.toarray())
        whole = links_of(graph, "cpu").to_dense()
        damaged = links_of(graph, "cpu", 0.5, rng).to_dense()
        np.testing.assert_array_equal(graph.indptr, before[0])
        np.testing.assert_array_equal(graph.indices, before[1])
        np.testing.assert_array_equal(graph.adjacency.toarray(), before[2])
        kept = (damaged != 0).sum().item() - 50
        assert 0.35 < kept / ((whole != 0).sum().item() - 50) < 0.65
        assert (whole[damaged != 0] != 0).all()
