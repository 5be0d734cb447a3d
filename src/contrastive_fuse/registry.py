"""Every method that embeds a graph, by name: what ``--method`` offers and what the contract tests run over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from contrastive_fuse.errors import MissingExtraError, check_choice

EXTRAS = {"torch": "torch", "torch_geometric": "torch", "gensim": "baselines"}


@dataclass(frozen=True)
class Method:
    """A method as the registry knows it.

    Attributes
    ----------
    path : module and class, imported when first asked for
    parameters : what makes it this method
    needs_pairs : whether it learns nothing without signed pairs
    needs : a setting that must be given: "features" or "labels"
    oracle : whether it is told what no method may know
    """

    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs_pairs: bool = False
    needs: str | None = None
    oracle: bool = False

    def __call__(self, *arguments: Any, **parameters: Any) -> Any:
        """An estimator that is not fitted yet."""
        return self.load()(*arguments, **{**self.parameters, **parameters})

    @property
    def foreign(self) -> bool:
        """Whether it is one to compare with rather than a variant of our own."""
        return self.path.startswith("baselines.")

    def load(self) -> Any:
        """The class of the method."""
        module, _, name = self.path.partition(":")
        try:
            return getattr(import_module(f"contrastive_fuse.{module}"), name)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            raise MissingExtraError(f"the method {name}", extra) from None


EMBEDDERS: dict[str, Method] = {
    "fuse": Method("fuse:ContrastiveFUSE"),
    "fuse-rows": Method("fuse:ContrastiveFUSE", {"readout": "cosine"}),
    "fuse-paper": Method("fuse:ContrastiveFUSE", {"objective": "paper"}),
    "random": Method("baselines.simple:Random"),
    "given": Method("baselines.simple:Given", needs="features"),
    "deepwalk": Method("baselines.deepwalk:DeepWalk"),
    "node2vec": Method("baselines.deepwalk:Node2Vec"),
    "vgae": Method("baselines.vgae:Vgae"),
    "dgi": Method("baselines.dgi:Dgi"),
    "grace": Method("baselines.grace:Grace"),
    "cca-ssg": Method("baselines.cca_ssg:CcaSsg"),
    "mvgrl": Method("baselines.mvgrl:Mvgrl"),
    "sgcl": Method("baselines.sgcl:Sgcl"),
    "sgcl-linear": Method("baselines.sgcl:SgclLinear"),
    "coles": Method("baselines.coles:Coles"),
    "union-find": Method("baselines.constraints:UnionFind", needs_pairs=True),
    "node-rate": Method("baselines.constraints:NodeRate", needs_pairs=True),
    "signed-spectral": Method("baselines.constraints:SignedSpectral", needs_pairs=True),
    "signed-laplacian": Method("baselines.constraints:SignedLaplacian", needs_pairs=True),
    "label-propagation-oracle": Method(
        "baselines.constraints:LabelPropagationOracle", needs_pairs=True, needs="labels", oracle=True
    ),
}


def make_embedder(name: str, n_components: int = 128, **parameters: Any) -> Any:
    """A method by its name."""
    check_choice("method", name, EMBEDDERS)
    return EMBEDDERS[name](n_components, **parameters)
