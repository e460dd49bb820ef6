"""Conformance as tests of an author's own suite, for pytest.

from channelsim.channel.kit.testing import Conformance

class TestMyGame(Conformance):
    target = "mygame"
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import pytest

from channelsim.channel.documents.conform import Status
from channelsim.channel.errors import UsageError
from channelsim.channel.kit.checks import CHECKS
from channelsim.channel.kit.conformance import Effort, Subject
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.report.terminal import json_line

SHOWN = 5
"""Failures of a check that are shown; the rest are counted."""


class Conformance:
    """One test for each check, of a `target` by `effort`; inherit from it.

    `target` is an installed game, or the path of a TOML file that names programs. A test is
    skipped, with the reason, where the target lacks what it needs.
    """

    target: ClassVar[str]
    effort: ClassVar[Effort] = Effort(cases=2000, seconds=5.0)

    @pytest.mark.parametrize("check", CHECKS)
    def test_conformance(self, check: str) -> None:
        """Make one check."""
        __tracebackhide__ = True
        try:
            result = CHECKS[check](_subject(self.target, self.effort))
        except UsageError as error:
            pytest.fail(str(error), pytrace=False)
        if result.result is Status.NOT_CHECKED:
            pytest.skip(result.unchecked)
        lines = []
        for failure in result.failures[:SHOWN]:
            lines.append(failure.line)
            lines += [] if failure.vector is None else [json_line(failure.vector)]
        if len(result.failures) > SHOWN:
            lines.append(f"and {len(result.failures) - SHOWN} more")
        if lines:
            pytest.fail("\n".join(lines), pytrace=False)


@cache
def _subject(target: str, effort: Effort) -> Subject:
    """The subject of all tests of one class, which share its runs."""
    return Subject(load(target, partial=True), effort)
