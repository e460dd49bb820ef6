"""Disputes with every adversary: broken promises, exceptions, and who no longer deviates."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended_findings
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.disputes import DisputesDocument


def compare(before: DisputesDocument, after: DisputesDocument, tolerance: float) -> list[Change]:
    """Promises that an adversary breaks, and parts of a session in which none deviates any more."""
    return [
        *new_and_mended_findings(before.findings, after.findings),
        *lost_and_added(_deviations(before), _deviations(after)),
    ]


def _deviations(document: DisputesDocument) -> list[str]:
    return [
        f"deviations of {adversary} in {part}"
        for adversary, row in document.matrix.items()
        for part in row
    ]


KIND = DocumentKind(DisputesDocument, compare, lambda document: (document.runs, "runs"))
