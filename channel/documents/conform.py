"""Documents of `conform`, and the results of its checks."""

from __future__ import annotations

from enum import Enum

import msgspec

from channelsim.channel.documents.results import CampaignResults
from channelsim.channel.findings.finding import Figure, Finding


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


class ConformDocument(
    CampaignResults, frozen=True, kw_only=True, tag="channelsim document conform 1"
):
    """The checks of a game's conformance, and how many failed."""

    command = "conform"

    failed: Figure
    checks: tuple[CheckResult, ...]

    def every_finding(self) -> tuple[Finding, ...]:
        """The failures of all checks."""
        return tuple(failure for check in self.checks for failure in check.failures)
