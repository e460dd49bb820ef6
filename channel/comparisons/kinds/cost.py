"""Costs of validators and of whole spends: snapshots, and documents of `cost --json`."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, Effect
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.cost import CostDocument
from channelsim.channel.lab.costs import snapshot


def compare(before: CostDocument, after: CostDocument, tolerance: float) -> list[Change]:
    """Figures that rose, fell, are gone or new."""
    changes = snapshot.compare(before.costs, after.costs, tolerance)
    return [
        *(Change(Effect.DEARER, change.figure, change.was, change.now) for change in changes.risen),
        *(
            Change(Effect.CHEAPER, change.figure, change.was, change.now)
            for change in changes.fallen
        ),
        *(Change(Effect.LOST, f"cost of {name}") for name in changes.gone),
        *(Change(Effect.ADDED, f"cost of {name}") for name in changes.new),
    ]


KIND = DocumentKind(CostDocument, compare, lambda document: (document.costs.cases, "cases"))
