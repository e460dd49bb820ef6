"""Campaigns of the fuzzer: its findings, and the code that it reached."""

from __future__ import annotations

import msgspec

from channelsim.channel.comparisons.changes import Change, Effect, Number, new_and_mended
from channelsim.channel.comparisons.coverage_changes import Covered, coverage_changes
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.lab.cases.trial import SEVERITIES
from channelsim.channel.lab.fuzz.findings import root_of


class FuzzFinding(msgspec.Struct, frozen=True):
    """What identifies a finding, and how bad it is."""

    validator: str
    cause: str
    severity: str
    order_only: bool = False

    @property
    def root(self) -> tuple[str, str, bool]:
        """The key of one mistake, as in the names of its files."""
        return *root_of(self.validator, self.cause), self.order_only

    @property
    def text(self) -> str:
        """The finding in a few words."""
        return f"{self.severity}: {self.validator}: {self.cause}"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        known = self.severity in SEVERITIES
        return SEVERITIES.index(self.severity) if known else len(SEVERITIES)


class FuzzDocument(msgspec.Struct, frozen=True):
    """What is compared of `fuzz --json`."""

    target: str
    seed: str
    interrupted: bool
    runs: Number
    coverage: dict[str, Covered]
    findings: list[FuzzFinding]
    lost: list[object] = []


def compare(before: FuzzDocument, after: FuzzDocument, tolerance: float) -> list[Change]:
    """New and mended findings, other severities, and coverage."""
    old = {one.root: one for one in before.findings}
    new = {one.root: one for one in after.findings}
    changes = new_and_mended(
        {key: one.text for key, one in old.items()}, {key: one.text for key, one in new.items()}
    )
    for key in old.keys() & new.keys():
        was, now = old[key], new[key]
        if was.rank != now.rank:
            effect = Effect.SEVERER if now.rank < was.rank else Effect.MILDER
            what = f"{now.validator}: {now.cause}"
            changes.append(Change(effect, what, was.severity, now.severity))
    return changes + coverage_changes(before.coverage, after.coverage)


KIND = DocumentKind(
    "fuzz", frozenset(("runs", "coverage", "findings", "mended")), FuzzDocument, compare, "runs"
)
