"""How a head is trained: every choice in one place, those that the paper leaves open among them.

The paper says: a graph network refines the embedding, the vectors of a pair are concatenated and classified by an MLP;
binary cross-entropy, Adam with learning rate 0.001, 100 epochs, full batch. It does not say how wide or deep the
networks are, whether they drop anything out, or how the logistic regression is regularised. Two layers of 64, an MLP
with one hidden layer of 64 and a dropout of one half, as the methods' own papers have it, come close to what it prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from contrastive_fuse.errors import InputError, check_choice, check_integer, check_number
from contrastive_fuse.heads.representation import REPRESENTATIONS


@dataclass(frozen=True)
class Settings:
    """Settings of a head; each head looks at those that concern it.

    Attributes
    ----------
    representation : how the vectors of a pair become one, see `contrastive_fuse.heads.representation`
    hidden : width of every graph layer
    layers : number of graph layers
    keep_input : whether the vectors themselves go into the pair beside what the graph layers make of them
    decoder : width of the hidden layer of the MLP that classifies the pair
    dropout : share of the inputs of every layer that is dropped in training
    rescale : whether inputs are brought to a mean square of 1
    epochs, learning_rate, weight_decay : of Adam
    batch_pairs : pairs in a step, None for all
    patience : epochs without a lower loss on held-out pairs after which training ends; None never ends early
    penalties : inverse strengths of the logistic regression's L2 penalty; of several the best on held-out pairs
    calibrate : whether probabilities are calibrated on held-out pairs, or taken as the network gives them
    """

    representation: str
    hidden: int = 64
    layers: int = 2
    keep_input: bool = False
    decoder: int = 64
    dropout: float = 0.5
    rescale: bool = False
    epochs: int = 100
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    batch_pairs: int | None = None
    patience: int | None = None
    penalties: tuple[float, ...] = (1.0,)
    calibrate: bool = False

    @property
    def holds_out(self) -> bool:
        """Whether some training pairs are kept back."""
        return self.calibrate or self.patience is not None


PRESETS = {
    "paper": Settings(representation="concat"),
    "strong": Settings(
        representation="symmetric",
        hidden=128,
        keep_input=True,
        decoder=128,
        dropout=0.2,
        rescale=True,
        epochs=200,
        learning_rate=2e-3,
        weight_decay=1e-4,
        batch_pairs=8192,
        patience=10,
        penalties=(0.01, 0.1, 1.0),
        calibrate=True,
    ),
}


def settings_of(preset: str, representation: str | None, changes: Mapping[str, Any] | None) -> Settings:
    """The settings of a preset, with changes."""
    settings = PRESETS[check_choice("preset", preset, PRESETS)]
    known = {field.name for field in fields(Settings)}
    for name in changes or {}:
        if name not in known:
            raise InputError(f"there is no setting {name!r}; there are {', '.join(sorted(known))}")
    settings = replace(settings, **(changes or {}))
    if representation is not None:
        settings = replace(settings, representation=representation)
    check_choice("representation", settings.representation, REPRESENTATIONS)
    for name in ("hidden", "layers", "decoder", "epochs"):
        check_integer(name, getattr(settings, name), at_least=1)
    for name in ("batch_pairs", "patience"):
        if getattr(settings, name) is not None:
            check_integer(name, getattr(settings, name), at_least=1)
    check_number("learning_rate", settings.learning_rate, above=0)
    check_number("weight_decay", settings.weight_decay, at_least=0)
    if not 0 <= check_number("dropout", settings.dropout, at_least=0) < 1:
        raise InputError(f"dropout is a share, from 0 to below 1; got {settings.dropout!r}")
    return settings
