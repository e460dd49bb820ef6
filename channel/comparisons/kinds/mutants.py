"""Hunts of mutants: those that survive without a reason."""

from __future__ import annotations

from collections import Counter

import msgspec

from channelsim.channel.comparisons.changes import Change, Effect, Number, lost_and_added
from channelsim.channel.comparisons.documents import DocumentKind


class SurvivingMutant(msgspec.Struct, frozen=True):
    """What identifies a survivor also in a program whose expressions have other numbers."""

    validator: str
    function: str
    kind: str
    old: str
    new: str
    within: str
    reason: str | None


class MutantsDocument(msgspec.Struct, frozen=True):
    """What is compared of `mutants --json`."""

    target: str
    seed: str
    seconds: float
    interrupted: bool
    made: Number
    validators: dict[str, object]
    survivors: list[SurvivingMutant]
    lost: list[object] = []


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


KIND = DocumentKind(
    "mutants", frozenset(("made", "killed", "survivors")), MutantsDocument, compare, "seconds"
)
