"""Hunts of mutants: those that survive without a reason."""

from __future__ import annotations

from collections import Counter

from channelsim.channel.comparisons.changes import Change, Effect, lost_and_added
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.mutants import MutantsDocument


def compare(before: MutantsDocument, after: MutantsDocument, tolerance: float) -> list[Change]:
    """Mutants that survive without a reason, and did not, or no longer do."""
    old, new = _open(before), _open(after)
    return [
        *(Change(Effect.NEW, text) for text in (new - old).elements()),
        *(Change(Effect.MENDED, text) for text in (old - new).elements()),
        *lost_and_added(
            *([f"mutants of {name}" for name in one.validators] for one in (before, after))
        ),
    ]


def _open(document: MutantsDocument) -> Counter[str]:
    """How many mutants of each description survive without a reason."""
    return Counter(
        f"survives: {one.validator}, {one.function}: {one.old} -> {one.new}"
        + (f" in {one.within}" if one.within else "")
        + f" ({one.kind})"
        for one in document.survivors
        if one.reason is None
    )


KIND = DocumentKind(MutantsDocument, compare, lambda document: (document.seconds, "seconds"))
