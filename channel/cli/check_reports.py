"""Reports of checking commands for continuous integration: `--junit` and `--sarif`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from channelsim.channel.cli.findings import details
from channelsim.channel.cli.option_groups import ReportFiles
from channelsim.channel.findings.finding import FAILED_CHECK, Finding
from channelsim.channel.report.junit import JUnitCase, JUnitFailure, junit
from channelsim.channel.report.sarif import sarif
from channelsim.channel.report.terminal import json_line
from channelsim.channel.system.output import opened


class Checked(NamedTuple):
    """One check of a command, with its findings, or the reason why it was skipped.

    `about` describes it in a sentence.
    """

    name: str
    findings: Sequence[Finding] = ()
    skipped: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The result of a checking command on a target; `source` is the target's game or file.

    `summary` counts the findings. `mistakes` are those that SARIF shows, each with the name of a
    check that finds it: all of the checks', unless several checks find the same. `incomplete` says
    why not everything was tried: an interrupt, work that crashed, a validator that no case reached.
    """

    command: str
    target: str
    source: str
    checks: Sequence[Checked]
    summary: str
    mistakes: Sequence[tuple[str, Finding]] | None = None
    seconds: float | None = None
    incomplete: str = ""


WriteReport: TypeAlias = Callable[[CheckReport], None]


@contextmanager
def report_files(files: ReportFiles) -> Iterator[WriteReport]:
    """Yield the function that writes the report to these files.

    Raises `UsageError` at once if one cannot be written; unless a report is written, a file stays
    as it was.
    """
    with opened("--junit", files.junit) as suite, opened("--sarif", files.sarif) as log:

        def write(report: CheckReport) -> None:
            """Write the report to the files that were asked for."""
            suite.write(_junit(report))
            log.write(_sarif(report))
            suite.finish()
            log.finish()

        yield write


def by_rule(names: Sequence[str], findings: Sequence[Finding]) -> list[Checked]:
    """A check for each of these names, and for any other rule that a finding breaks."""
    rules = dict.fromkeys((*names, *(finding.rule for finding in findings)))
    return [
        Checked(rule, [finding for finding in findings if finding.rule == rule]) for rule in rules
    ]


def _junit(report: CheckReport) -> bytes:
    cases = [
        JUnitCase(check.name, [_failure(finding) for finding in check.findings], check.skipped)
        for check in report.checks
    ]
    return junit(
        report.command, report.target, cases, report.summary, report.seconds, report.incomplete
    )


def _sarif(report: CheckReport) -> bytes:
    mistakes = report.mistakes
    if mistakes is None:
        mistakes = [(check.name, finding) for check in report.checks for finding in check.findings]
    abouts = {check.name: check.about or check.name for check in report.checks}
    return sarif(report.source, mistakes, abouts, report.incomplete)


def _failure(finding: Finding) -> JUnitFailure:
    lines = [finding.line]
    if finding.severity != FAILED_CHECK:
        lines += [*details(finding), finding.replay]
    elif finding.source_line:
        lines.append(f"source: {finding.source_line}")
    if finding.vector is not None:
        lines.append(json_line(finding.vector))
    text = "\n".join(filter(None, (*lines, finding.pytest)))
    return JUnitFailure(finding.line, text, finding.severity)
