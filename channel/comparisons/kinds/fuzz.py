"""Campaigns of the fuzzer: its findings, and the code that it reached."""

from __future__ import annotations

from channelsim.channel.comparisons.changes import Change, Effect, coverage_changes, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.fuzz import FuzzDocument
from channelsim.channel.findings.finding import Finding


def compare(before: FuzzDocument, after: FuzzDocument, tolerance: float) -> list[Change]:
    """New and mended findings, other severities, and coverage."""
    old = {finding.mistake: finding for finding in before.findings}
    new = {finding.mistake: finding for finding in after.findings}
    changes = new_and_mended(
        *({key: _in_short(finding) for key, finding in side.items()} for side in (old, new))
    )
    for key in old.keys() & new.keys():
        was, now = old[key], new[key]
        if was.rank != now.rank:
            effect = Effect.SEVERER if now.rank < was.rank else Effect.MILDER
            what = f"{now.place}: {now.cause}"
            changes.append(Change(effect, what, was.severity, now.severity))
    return changes + coverage_changes(before.coverage, after.coverage)


def _in_short(finding: Finding) -> str:
    return f"{finding.severity}: {finding.place}: {finding.cause}"


KIND = DocumentKind(FuzzDocument, compare, lambda document: (document.runs, "runs"))
