"""Disputes with every adversary: broken promises, exceptions, and who no longer deviates."""

from __future__ import annotations

import msgspec

from channelsim.channel.comparisons.changes import Change, Number, lost_and_added, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.findings.finding import Finding


class DisputeDocument(msgspec.Struct, frozen=True):
    """What is compared of `dispute run --all --json`."""

    runs: Number
    interrupted: bool
    matrix: dict[str, dict[str, object]]
    findings: list[Finding]
    lost: list[object] = []


def compare(before: DisputeDocument, after: DisputeDocument, tolerance: float) -> list[Change]:
    """Promises that an adversary breaks, and parts of a session in which none deviates any more."""
    return [
        *new_and_mended(_broken(before), _broken(after)),
        *lost_and_added(_deviations(before), _deviations(after)),
    ]


def _broken(document: DisputeDocument) -> dict[str, str]:
    return {one.mistake: f"{one.place}: {one.rule}" for one in document.findings}


def _deviations(document: DisputeDocument) -> list[str]:
    return [
        f"deviations of {adversary} in {part}"
        for adversary, row in document.matrix.items()
        for part in row
    ]


KIND = DocumentKind(
    "dispute run --all", frozenset(("matrix", "broken_promises")), DisputeDocument, compare, "runs"
)
