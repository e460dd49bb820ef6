"""Make the page of a finding: who loses what, the case beside honest play, and the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from channelsim.channel.attack.campaign import is_script
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.exploration import is_path
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import command_line
from channelsim.channel.findings.sentence import headline, lost, title
from channelsim.channel.lab.cases.explanation import (
    VERDICT,
    accepts,
    broken_rule,
    compared,
    deciding,
)
from channelsim.channel.lab.cases.runs import VALID
from channelsim.channel.lab.trace.finding_targets import line_here
from channelsim.channel.lab.trace.trace_text import TraceRequest, of_finding
from channelsim.channel.report.html.case_fields import FieldPair, case_fields
from channelsim.channel.report.html.page import Glance, render
from channelsim.channel.report.html.shown_run import ShownRun, shown_run


class FindingPage(msgspec.Struct, frozen=True):
    """The whole page, which may be a section of another one: `key` makes its ids unique.

    `decisive` is the `file:line` that decides the finding, "" where none is known.
    """

    key: str
    finding: Finding
    facts: tuple[tuple[str, str], ...]
    fields: tuple[FieldPair, ...]
    run: ShownRun
    commands: tuple[str, ...]
    decisive: str = ""

    @property
    def title(self) -> str:
        """The finding as a short sentence."""
        return title(self.finding)

    @property
    def glance(self) -> Glance:
        """The verdict, the loss, and what to do now."""
        if self.finding.missing_check:
            fix = "add the check that is missing"
        elif self.decisive:
            fix = "correct the line that matters"
        else:
            fix = "correct what is described here"
        retry = ", then try it again:" if self.commands else ""
        title = headline(self.finding)
        return Glance(False, title, lost(self.finding), fix + retry, self.commands[:1])

    @property
    def details(self) -> str:
        """What else is known of the case shown, in sentences."""
        return self.finding.text.partition(". ")[2]

    @property
    def mark(self) -> str:
        """The verb beside the marked line of the source.

        Where a program accepts what it should refuse, no expression decides: a check is missing or
        wrong, and the line is the rule's, or the beginning of the function.
        """
        verdicts = [part.actual for part in self.finding.compared if part.part == VERDICT]
        return "accepts" if verdicts == [VALID] else "decides"


def finding_page(
    path: Path, finding: Finding, key: str = "finding", commands: tuple[str, ...] | None = None
) -> FindingPage:
    """The page of a finding in this file.

    `commands` try it again, those for the file by default. A target that cannot be loaded leaves
    out the run. The results of a case and the line that decides it are found here if the finding
    does not have them.
    """
    request = _request(path, finding)
    parts, decisive = finding.compared, finding.source_line
    if isinstance(request, TraceRequest) and request.target is not None:
        decisive = line_here(decisive, finding, request.target)
    if isinstance(request, TraceRequest) and request.asked is not None:
        target, case = request.asked
        parts = parts or compared(target, case)
        if not decisive and not finding.missing_check:
            found_accepts = accepts(parts)
            rule = broken_rule(target, case, finding.cause)
            source = deciding(target, case.validator, request.arguments, found_accepts, rule)
            decisive, finding = source.line, replace(finding, missing_check=source.missing)
    return FindingPage(
        key,
        replace(finding, compared=parts),
        tuple(_facts(finding)),
        tuple(case_fields(finding.probe, request)),
        shown_run(request, finding, key, decisive),
        _commands(path, finding) if commands is None else commands,
        decisive,
    )


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    """What is known of a finding, by name; the case itself where there is nothing beside it."""
    facts = {
        "target": finding.target,
        "place": finding.place,
        "broken law": finding.rule,
        "cause": finding.cause,
        "outcome": finding.outcome,
        "reach": finding.reach,
        "source": finding.source_line,
        "follows from": finding.follows,
        "from the same mistake": "; ".join(finding.also),
        "times found": f"{finding.times:,}",
    }
    yield from ((name, value) for name, value in facts.items() if value)
    if not finding.probe:
        case = finding.vector or finding.scenario or {}
        for name, value in case.items():
            yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _request(path: Path, finding: Finding) -> TraceRequest | str:
    """The run of a finding in this file, or why it cannot be traced."""
    try:
        return of_finding(path, finding)
    except UsageError as error:
        return str(error)


def finding_html(page: FindingPage) -> str:
    """The HTML of the page."""
    return render("finding", "run.js" if page.run.parts else "", page=page)


def _commands(path: Path, finding: Finding) -> tuple[str, ...]:
    """The commands for a finding that is alone in its file."""
    tries = finding.probe or is_script(finding.scenario) or is_path(finding.scenario)
    commands = (command_line("replay", path),) if tries else ()
    if finding.replay:
        commands = (finding.replay,)
    if finding.scenario is not None:
        return commands
    return *commands, command_line("trace -v", path), command_line("debug", path)
