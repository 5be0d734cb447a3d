"""The mixture that a fit ends with: members, the weights between them, and what the groups tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from contrastive_fuse.calibration import logistic
from contrastive_fuse.latent.members import TABLES, Members
from contrastive_fuse.latent.readout import Readout
from contrastive_fuse.pairs import PairRows
from contrastive_fuse.types import AnyArray, DoubleArray, FloatArray, IntArray

LEAST_SHARE = 0.005  # of the nodes, for a group to be counted
LEAST_NOISE = 0.005  # no list of pairs is taken to be without error when single pairs are judged


@dataclass(frozen=True)
class Mixture:
    """Judges pairs by rows and stage two together.

    Attributes
    ----------
    members : Members
    readout : Readout
    groups : (n, K) float32, posterior of the latent groups
    homophily : float, share of the edges within groups
    node_rate : float, ROC-AUC on held-out pairs of what the two nodes' shares of alike pairs tell by themselves
    """

    members: Members
    readout: Readout
    groups: FloatArray
    homophily: float
    node_rate: float

    def log_odds(self, rows: FloatArray, first: AnyArray, second: AnyArray, n_jobs: int | None = None) -> DoubleArray:
        """Log-odds that pairs are alike, (n_pairs,)."""
        return self.readout.log_odds(*self.members.columns(rows, first, second, n_jobs))

    def wrong(self, rows: FloatArray, pairs: PairRows, n_jobs: int | None = None) -> DoubleArray:
        """Probability that each training pair is wrong, judged without what it has told the groups, (n_pairs,)."""
        alike = logistic(self.readout.log_odds(*self.members.columns_without(rows, pairs, n_jobs)))
        right = np.where(pairs.y > 0, alike, 1 - alike)
        noise = max(self.readout.noise.value, LEAST_NOISE)
        return np.asarray(noise * (1 - right) / (noise * (1 - right) + (1 - noise) * right))

    @property
    def n_groups(self) -> int:
        """Groups with at least one node in two hundred."""
        sizes = np.bincount(self.groups.argmax(axis=1), minlength=self.groups.shape[1])
        return int(np.sum(sizes >= LEAST_SHARE * len(self.groups)))

    def reordered(self, place: IntArray | None) -> Mixture:
        """The same for nodes in another order."""
        if place is None:
            return self
        tables = {name: table[place] for name, table in self.members.tables.items()}
        members = Members(tables, self.members.starts, self.members.evidence[place])
        return Mixture(members, self.readout, self.groups[place], self.homophily, self.node_rate)

    def arrays(self) -> dict[str, AnyArray]:
        """What a file must hold besides `facts`."""
        return {**self.members.tables, "evidence": self.members.evidence, "posterior": self.groups}

    def facts(self) -> dict[str, Any]:
        """Plain values for JSON."""
        starts = {kind: [list(start) for start in starts] for kind, starts in self.members.starts.items()}
        return {"readout": self.readout.to_dict(), "homophily": self.homophily, "node_rate": self.node_rate,
                "starts": starts}  # fmt: skip

    @classmethod
    def restore(cls, facts: dict[str, Any], arrays: dict[str, AnyArray]) -> Mixture:
        """From what `arrays` and `facts` gave."""
        starts = {
            kind: [(int(width), float(noise)) for width, noise in found] for kind, found in facts["starts"].items()
        }
        members = Members({name: arrays[name] for name in TABLES}, starts, arrays["evidence"])
        return cls(
            members, Readout.from_dict(facts["readout"]), arrays["posterior"], facts["homophily"], facts["node_rate"]
        )


ARRAYS = (*TABLES, "evidence", "posterior")
