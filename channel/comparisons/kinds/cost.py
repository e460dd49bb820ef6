"""Costs of validators and of whole spends: snapshots, and documents of `cost --json`."""

from __future__ import annotations

import msgspec

from channelsim.channel.comparisons.changes import Change, Effect, Number
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.lab.costs import snapshot
from channelsim.channel.lab.costs.bundles import BundleCost
from channelsim.channel.lab.costs.costs import Figures
from channelsim.channel.lab.costs.snapshot import Snapshot


class CostDocument(msgspec.Struct, frozen=True):
    """What is compared of `cost --json`: the figures of a snapshot."""

    target: str
    cases: Number
    seed: str
    interrupted: bool
    validators: dict[str, dict[str, Figures]]
    bundles: dict[str, BundleCost]


def compare(
    before: CostDocument | Snapshot, after: CostDocument | Snapshot, tolerance: float
) -> list[Change]:
    """Figures that rose, fell, are gone or new."""
    found = snapshot.compare(_snapshot(before), _snapshot(after), tolerance)
    return [
        *(Change(Effect.DEARER, one.figure, one.was, one.now) for one in found.risen),
        *(Change(Effect.CHEAPER, one.figure, one.was, one.now) for one in found.fallen),
        *(Change(Effect.LOST, f"cost of {name}") for name in found.gone),
        *(Change(Effect.ADDED, f"cost of {name}") for name in found.new),
    ]


def _snapshot(document: CostDocument | Snapshot) -> Snapshot:
    if isinstance(document, Snapshot):
        return document
    one = document
    return Snapshot(one.target, one.cases, one.seed, one.validators, one.bundles)


KIND = DocumentKind(
    "cost", frozenset(("validators", "bundles", "block")), CostDocument, compare, "cases"
)
