"""Documents of `conform`, and the results of its checks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum
from typing import NamedTuple

import msgspec

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding
from channelsim.channel.lab.fuzz.findings import root


class Status(Enum):
    """The result of one check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


class CheckResult(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"unchecked": "why"}
):
    """The result of a check: what was tried, and what is wrong.

    `unchecked` (`why` in files) is the reason why nothing could be tried; it is empty otherwise.
    """

    check: str
    tried: str = ""
    failures: tuple[Finding, ...] = ()
    unchecked: str = ""
    result: Status = Status.PASSED

    def __post_init__(self) -> None:
        """Derive the result, whatever a file says."""
        status = Status.NOT_CHECKED if self.unchecked else Status.PASSED
        msgspec.structs.force_setattr(self, "result", Status.FAILED if self.failures else status)


class Mistake(NamedTuple):
    """A finding, the checks that show the same mistake, and how many other findings do."""

    checks: tuple[str, ...]
    finding: Finding
    others: int


def mistakes(results: Iterable[CheckResult]) -> list[Mistake]:
    """Each mistake once, by its worst finding; of equally bad ones, by that of the fuzzer.

    Those are alike by `mistake_key`.
    """
    groups: dict[Hashable, list[tuple[str, Finding]]] = {}
    for result in results:
        for finding in result.failures:
            groups.setdefault(mistake_key(finding), []).append((result.check, finding))
    return [
        Mistake(
            tuple(dict.fromkeys(check for check, _ in group)),
            min((finding for _, finding in group), key=_worst_first),
            len(group) - 1,
        )
        for group in groups.values()
    ]


def mistake_key(finding: Finding) -> Hashable:
    """Find what the findings of one mistake have in common: it breaks one rule at one validator.

    Findings that name no cause are mistakes of their own.
    """
    return root(finding) if finding.cause else finding.line


def _worst_first(finding: Finding) -> tuple[int, bool]:
    return finding.rank, not finding.mistake


class ConformDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document conform 1"
):
    """The checks of a game's conformance, and how many failed."""

    command = "conform"

    failed: Figure
    checks: tuple[CheckResult, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The failures of all checks, each mistake once."""
        return tuple(mistake.finding for mistake in mistakes(self.checks))
