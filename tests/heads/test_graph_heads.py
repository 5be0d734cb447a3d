"""Graph layers against their formulas, samples of the graph, and what does not fit into memory."""

import builtins
import sys

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from contrastive_fuse import Graph, InputError, make_head
from contrastive_fuse.errors import MissingExtraError
from contrastive_fuse.heads import nodes, torch_head
from contrastive_fuse.heads.gat import GatHead
from contrastive_fuse.heads.gcn import GcnHead
from contrastive_fuse.heads.sage import SageHead
from contrastive_fuse.nets.links import Links

GRAPHS = {"gcn": GcnHead, "gat": GatHead, "sage": SageHead}
every_graph_head = pytest.mark.parametrize("name", GRAPHS)


@pytest.fixture(scope="module")
def weighted():
    """40 nodes, two of them without edges, weights of all sizes."""
    rng = np.random.default_rng(0)
    return Graph.from_edges(*rng.integers(0, 38, (2, 120)), rng.random(120) + 0.1, nodes=40)


def edge_index(graph):
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return torch.from_numpy(np.stack([graph.indices.astype(np.int64), source]))


@every_graph_head
def test_layers_are_those_of_pytorch_geometric(name, weighted):
    """The same weights give the same rows as PyG's layer on plain edges."""
    head, rows = GRAPHS[name], torch.randn(40, 6)
    links = Links.of(weighted, head.weighting).tensor("cpu")
    layer = head.layer(6, 5)
    theirs = {
        "gcn": lambda: GCNConv(6, 5), "gat": lambda: GATConv(6, 5), "sage": lambda: SAGEConv(6, 5, aggr="sum"),
    }[name]()  # fmt: skip
    theirs.load_state_dict(layer.state_dict())
    edges, weight = edge_index(weighted), torch.from_numpy(weighted.weights)
    with torch.no_grad():
        ours = head.apply(layer, rows, rows, links)
        if name == "gcn":
            expected = theirs(rows, edges, weight)
        elif name == "gat":
            expected = theirs(rows, edges)
        else:
            degrees = np.where(weighted.degrees > 0, weighted.degrees, 1)
            mean = torch.from_numpy((weighted.adjacency.toarray() / degrees[:, None]).astype(np.float32)) @ rows
            expected = theirs.lin_l(mean) + theirs.lin_r(rows)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)


@every_graph_head
def test_slabs_give_what_the_whole_gives(name, weighted, monkeypatch):
    head, rows = GRAPHS[name], torch.randn(40, 6)
    links, layer = Links.of(weighted, head.weighting), head.layer(6, 5)
    monkeypatch.setattr(nodes, "EDGES_IN_A_SLAB", 17)
    with torch.no_grad():
        whole = head.apply(layer, rows, rows, links.tensor("cpu"))
        in_slabs = nodes.Whole(None, rows, links, head.apply, None)._in_slabs(layer, rows)
    torch.testing.assert_close(in_slabs, whole, atol=1e-6, rtol=1e-5)


@every_graph_head
def test_a_sample_of_everything_is_everything(name, weighted):
    """With room for all neighbours, sampled rows of the wanted nodes are the exact ones after two layers."""
    head, rows = GRAPHS[name], torch.randn(40, 6)
    links, layers = Links.of(weighted, head.weighting), [head.layer(6, 6), head.layer(6, 6)]
    wanted = np.array([3, 17, 39, 3])
    members, place, sample = links.around(wanted, 2, 1000, np.random.default_rng(0))
    np.testing.assert_array_equal(members[place], wanted)

    def through(rows, links):
        for layer in layers:
            rows = head.apply(layer, rows, rows, links)
        return rows

    with torch.no_grad():
        exact = through(rows, links.tensor("cpu"))[torch.from_numpy(wanted)]
        sampled = through(rows[torch.from_numpy(members)], sample.tensor("cpu"))[torch.from_numpy(place)]
    torch.testing.assert_close(sampled, exact, atol=1e-5, rtol=1e-4)


def test_a_sample_is_right_on_average(weighted):
    links = Links.of(weighted, "symmetric")
    rows = np.random.default_rng(0).standard_normal((40, 3))
    busy = int(np.argmax(np.diff(links.indptr)))
    dense = np.zeros(40)
    np.add.at(dense, links.indices[links.indptr[busy] : links.indptr[busy + 1]],
              links.values[links.indptr[busy] : links.indptr[busy + 1]])  # fmt: skip
    total, rng = np.zeros(3), np.random.default_rng(1)
    for _ in range(3000):
        members, place, sample = links.around(np.array([busy]), 1, 2, rng)
        row = slice(sample.indptr[place[0]], sample.indptr[place[0] + 1])
        assert row.stop - row.start == 2
        total += sample.values[row] @ rows[members][sample.indices[row]]
    np.testing.assert_allclose(total / 3000, dense @ rows, atol=0.06)


@every_graph_head
def test_samples_learn_as_the_whole_does(name, community_graph, community_pairs):
    train, test = community_pairs
    vectors = np.random.default_rng(0).standard_normal((600, 16))
    vectors[:, :3] += 2 * np.eye(3)[community_graph.labels]
    heads = {
        batching: make_head(name, settings={"epochs": 20, "batch_pairs": 500}, batching=batching, random_state=0).fit(
            vectors, community_graph.graph, train
        )
        for batching in ("whole", "sampled")
    }
    assert heads["sampled"].sampled_
    assert not heads["whole"].sampled_
    assert heads["sampled"].score(test) > heads["whole"].score(test) - 0.03 > 0.8


@every_graph_head
def test_what_does_not_fit_is_refused_with_the_number(name, community_graph, community_pairs, monkeypatch):
    monkeypatch.setattr(torch_head, "available_memory", lambda: 100_000)
    vectors, settings = np.zeros((600, 16)), {"epochs": 1}
    message = r"on the whole graph needs an estimated 0.0 GB of memory; 0.0 GB are available. .*--batching sampled"
    for refused in (make_head(name, batching="whole", settings=settings), make_head(name, "paper", settings=settings)):
        with pytest.raises(InputError, match=message):
            refused.fit(vectors, community_graph.graph, community_pairs[0])
    for done in (make_head(name, settings=settings), make_head(name, "paper", settings=settings, batching="sampled")):
        assert done.fit(vectors, community_graph.graph, community_pairs[0]).sampled_


@every_graph_head
def test_memory_grows_with_everything(name):
    head = make_head(name)
    base = (1000, 64, 5000, 2000)
    for position in range(4):
        more = tuple(value * (4 if i == position else 1) for i, value in enumerate(base))
        assert head.memory_estimate(*more) > head.memory_estimate(*base)


def test_epochs_are_reported_and_training_ends_early(community_graph, community_pairs):
    steps = []
    head = make_head("mlp", settings={"patience": 2, "epochs": 500}, random_state=0)
    head.fit(np.random.default_rng(0).standard_normal((600, 4)), None, community_pairs[0], callback=steps.append)
    assert len(steps) == len(head.losses_) < 500
    assert steps[-1].epoch == len(steps)
    held_out = [step.held_out_loss for step in steps]
    assert np.argmin(held_out) == len(held_out) - 3  # two more without a lower loss, then the end


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "tpu!"}, "device must be auto, cpu or cuda; got 'tpu!'"),
        ({"batching": "some"}, "batching must be one of 'auto', 'whole', 'sampled'; got 'some'"),
    ],
)
def test_bad_parameters(parameters, message, community_graph, community_pairs):
    with pytest.raises(InputError, match=message):
        make_head("gcn", **parameters).fit(np.zeros((600, 4)), community_graph.graph, community_pairs[0])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_no_cuda():
    with pytest.raises(InputError, match="device 'cuda' cannot be used: torch finds no CUDA device on this machine"):
        make_head("mlp", device="cuda").fit(np.zeros((3, 2)), None, [(0, 1), (1, 2)], [1, -1])


@pytest.mark.parametrize("name", ["mlp", "gcn", "gat", "sage"])
def test_without_torch_the_extra_is_named(name, monkeypatch):
    real_import = builtins.__import__

    def no_torch(module, *arguments, **keywords):
        if module.partition(".")[0] in ("torch", "torch_geometric"):
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real_import(module, *arguments, **keywords)

    for module in list(sys.modules):
        if module.startswith("contrastive_fuse.heads."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(MissingExtraError, match=r'the head .* needs an extra: pip install "contrastive-fuse\[torch\]"'):
        make_head(name)
    assert make_head("cosine")
    assert make_head("logistic")
