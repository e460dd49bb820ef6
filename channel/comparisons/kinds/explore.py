"""Explored states: the promises that they break, and the kinds of choices that are missing."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended_findings
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.explore import ExploreDocument


def compare(before: ExploreDocument, after: ExploreDocument, tolerance: float) -> list[Change]:
    """Promises that states break, and choices that none has any more."""
    return [
        *new_and_mended_findings(before.findings, after.findings),
        *lost_and_added(_choices(before), _choices(after)),
    ]


def _choices(document: ExploreDocument) -> list[str]:
    return [f"states with the choice: {name}" for name, count in document.choices.items() if count]


KIND = DocumentKind(ExploreDocument, compare, lambda document: (document.states, "states"))
