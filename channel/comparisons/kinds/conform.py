"""Conformance: the results of its checks, and their failures."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.findings.finding import Finding

_CASE = re.compile(r"\. In the case shown ")
"""What follows is about the money in one case."""


class CheckOutcome(msgspec.Struct, frozen=True):
    """The result of one check."""

    check: str
    result: Literal["passed", "failed", "not checked"]
    failures: list[Finding]


class ConformDocument(msgspec.Struct, frozen=True):
    """What is compared of `conform --json`."""

    target: str
    interrupted: bool
    checks: list[CheckOutcome]


def compare(before: ConformDocument, after: ConformDocument, tolerance: float) -> list[Change]:
    """Failures that are new or mended, and checks that are no longer made."""
    return [
        *new_and_mended(_failures(before), _failures(after)),
        *lost_and_added(_made(before), _made(after)),
    ]


def _failures(document: ConformDocument) -> dict[str, str]:
    """The failures, by their words without the case in which they were seen."""
    return {
        f"{one.check}: {_CASE.split(failure.line, maxsplit=1)[0]}": f"{one.check}: {failure.line}"
        for one in document.checks
        for failure in one.failures
    }


def _made(document: ConformDocument) -> list[str]:
    return [f"check of {one.check}" for one in document.checks if one.result != "not checked"]


KIND = DocumentKind("conform", frozenset(("target", "checks", "failed")), ConformDocument, compare)
