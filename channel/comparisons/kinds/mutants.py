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
            *(
                [f"mutants of {name}" for name in document.validators]
                for document in (before, after)
            )
        ),
    ]


def _open(document: MutantsDocument) -> Counter[str]:
    """How many mutants of each description survive without a reason."""
    return Counter(
        f"survives: {survivor.validator}, {survivor.function}: {survivor.old} -> {survivor.new}"
        + (f" in {survivor.within}" if survivor.within else "")
        + f" ({survivor.kind})"
        for survivor in document.survivors
        if survivor.is_open
    )


KIND = DocumentKind(MutantsDocument, compare, lambda document: (document.seconds, "seconds"))
