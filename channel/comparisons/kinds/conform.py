"""Conformance: the results of its checks, and their failures."""

from __future__ import annotations

import re

from channelsim.channel.comparisons.changes import Change, lost_and_added, new_and_mended
from channelsim.channel.comparisons.documents import DocumentKind
from channelsim.channel.documents.conform import ConformDocument, Status

_CASE = re.compile(r"\. In the case shown ")
"""The start of the part of a text about the money in one case."""


def compare(before: ConformDocument, after: ConformDocument, tolerance: float) -> list[Change]:
    """Failures that are new or mended, and checks that are no longer made."""
    return [
        *new_and_mended(_failures(before), _failures(after)),
        *lost_and_added(_made(before), _made(after)),
    ]


def _failures(document: ConformDocument) -> dict[str, str]:
    """The failures, by their words without the case in which they were seen."""
    return {
        f"{check.check}: {_CASE.split(line, maxsplit=1)[0]}": f"{check.check}: {line}"
        for check in document.checks
        for line in (failure.line for failure in check.failures)
    }


def _made(document: ConformDocument) -> list[str]:
    return [
        f"check of {check.check}"
        for check in document.checks
        if check.result is not Status.NOT_CHECKED
    ]


KIND = DocumentKind(ConformDocument, compare)
