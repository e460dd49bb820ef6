"""Sessions under faults: what they break, and the kinds of faults and ends that are missing."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended_findings
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.attack import AttackDocument


def compare(before: AttackDocument, after: AttackDocument, tolerance: float) -> list[Change]:
    """Monitors that sessions break, and faults and ends that no session reaches any more."""
    return [
        *new_and_mended_findings(before.findings, after.findings),
        *lost_and_added(_reached(before), _reached(after)),
    ]


def _reached(document: AttackDocument) -> list[str]:
    counts = {**document.actions, **document.goals}
    return [f"sessions with: {name}" for name, count in counts.items() if count]


KIND = DocumentKind(AttackDocument, compare, lambda document: (document.sessions, "sessions"))
