"""Make the page of a finding: who loses what, the case beside honest play, and the run."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import command_line
from channelsim.channel.findings.sentence import lost
from channelsim.channel.lab.cases.explanation import (
    VERDICT,
    accepts,
    broken_rule,
    compared,
    deciding,
)
from channelsim.channel.lab.cases.runs import VALID
from channelsim.channel.lab.trace.finding_targets import line_here
from channelsim.channel.lab.trace.steps import CALLS, OPERATORS
from channelsim.channel.lab.trace.trace_text import TraceRequest, of_finding, traced
from channelsim.channel.report.html.page import render

MOST_STEPS = 400
"""Lines of a run with all its operators; of a longer run only the calls are shown."""

MOST_LINES = 400
"""Lines of a source that is shown as a whole."""

AROUND = 12
"""Lines that are shown before and after one that the run reached, of a longer source."""


class Segment(msgspec.Struct, frozen=True):
    """A piece of a field's text; `changed` if it is not as in honest play."""

    text: str
    changed: bool


class FieldPair(msgspec.Struct, frozen=True):
    """A field of the call, in honest play and in the case."""

    name: str
    honest: tuple[Segment, ...]
    case: tuple[Segment, ...]

    @property
    def changed(self) -> bool:
        """True if the case differs from honest play in it."""
        return any(segment.changed for segment in (*self.honest, *self.case))


class PageStep(msgspec.Struct, frozen=True):
    """A line of the run; `anchor` is the id of its line of source, or ""."""

    text: str
    source: str
    anchor: str


class SourceLine(msgspec.Struct, frozen=True):
    """A line of the author's source. `reached`: a step of the run names it.

    `decides` marks the line that decides the finding. A `number` of 0 is a gap.
    """

    number: int
    text: str
    anchor: str
    reached: bool
    decides: bool


class SourceFile(msgspec.Struct, frozen=True):
    """A file of sources, or those parts of a long one that the run reached."""

    name: str
    lines: tuple[SourceLine, ...]


class ShownRun(msgspec.Struct, frozen=True):
    """A run step by step, and the sources of its steps.

    `missing` says why there is no run, where there is none.
    """

    given: tuple[str, ...] = ()
    steps: tuple[PageStep, ...] = ()
    ended: tuple[str, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    missing: str = ""


class FindingPage(msgspec.Struct, frozen=True):
    """The whole page, which may be a section of another one: `key` makes its ids unique."""

    key: str
    finding: Finding
    facts: tuple[tuple[str, str], ...]
    fields: tuple[FieldPair, ...]
    run: ShownRun
    commands: tuple[str, ...]

    @property
    def title(self) -> str:
        """The severity, and where that is."""
        finding = self.finding
        return f"{finding.severity}: {finding.place}" if finding.place else finding.severity

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
        tuple(_fields(finding.probe)),
        _run(request, finding.place, key, decisive),
        _commands(path, finding) if commands is None else commands,
    )


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    """What is known of a finding, by name; the case itself where there is nothing beside it."""
    before, after = finding.fields
    facts = {
        "target": finding.target,
        "place": finding.place,
        "rule": finding.rule,
        "cause": finding.cause,
        "outcome": finding.outcome,
        "reach": finding.reach,
        "lost in this case": lost(finding),
        "source": finding.source_line or finding.missing_check,
        "follows from": finding.follows,
        "fields that differ": f"{before}, {after} after shrinking" if finding.probe else "",
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


def _run(request: TraceRequest | str, validator: str, key: str, decisive: str) -> ShownRun:
    """The run of a finding; `decisive` is the `file:line` that decides it."""
    if isinstance(request, str):
        return ShownRun(missing=request)
    try:
        run = traced(request, OPERATORS)
        if len(run.steps) > MOST_STEPS:
            run = traced(request, CALLS)
    except UsageError as error:
        return ShownRun(missing=str(error))
    texts = _texts(request, validator)
    reached = _reached([*(step.source for step in run.steps), decisive], texts)
    anchors = {
        f"{file}:{line}": f"{key}-source{number}-{line}"
        for number, file in enumerate(reached)
        for line in range(1, texts[file].count("\n") + 2)
    }
    return ShownRun(
        run.given,
        tuple(PageStep(line.text, line.source, anchors.get(line.source, "")) for line in run.steps),
        run.ended,
        tuple(
            _source(file, texts[file], lines, anchors, decisive) for file, lines in reached.items()
        ),
    )


def finding_html(page: FindingPage) -> str:
    """The HTML of the page."""
    return render("finding", page=page)


def _commands(path: Path, finding: Finding) -> tuple[str, ...]:
    """The commands for a finding that is alone in its file."""
    commands = (command_line("replay", path),) if finding.probe else ()
    if finding.replay:
        commands = (finding.replay,)
    return commands if finding.scenario is not None else (*commands, command_line("trace -v", path))


# --- the case beside honest play ----------------------------------------------------------------


def _fields(probe: Mapping[str, Any]) -> Iterator[FieldPair]:
    """The fields of a stored probe; none for a recorded case, which has no probe."""
    move, honest = (probe.get(name) for name in ("move", "honest_move"))
    if not isinstance(move, str) or not isinstance(honest, str):
        return
    yield FieldPair("move", *_marked(honest, move))
    share, honest_share = (str(probe.get(name)) for name in ("share", "honest_share"))
    yield FieldPair("opponent's share", *_whole(honest_share, share))
    candidates = probe.get("held")
    candidates = candidates if isinstance(candidates, list) else []
    evidence = probe.get("evidence")
    usual = evidence if evidence in candidates else next(iter(candidates), None)
    yield FieldPair("evidence", *_whole(_text(usual), _text(evidence)))
    for name in ("amount", "max_move_size", "state"):
        # Both are made in the same place of a hand.
        text = _text(probe.get(name))
        yield FieldPair(name.replace("_", " "), *_whole(text, text))


def _marked(honest: str, case: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Two texts of hex, each in pieces of bytes that are the same in both, or are not."""
    first, second = (re.findall("..?", text) for text in (honest, case))
    common = min(len(first), len(second))

    def pieces(mine: list[str], others: list[str]) -> tuple[Segment, ...]:
        """One text in pieces."""
        marked = ((byte, at >= common or byte != others[at]) for at, byte in enumerate(mine))
        return tuple(
            Segment("".join(byte for byte, _ in run), changed)
            for changed, run in groupby(marked, key=itemgetter(1))
        )

    return pieces(first, second), pieces(second, first)


def _whole(honest: str, case: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    changed = honest != case
    return (Segment(honest, changed),), (Segment(case, changed),)


def _text(value: Any) -> str:
    """A value of a stored probe: atoms in hex, lists and pairs as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return "()" if text == "0x" else text


# --- the run and its sources --------------------------------------------------------------------


def _texts(request: TraceRequest | None, validator: str) -> dict[str, str]:
    """The texts of all sources of the run's target, those of the validator first."""
    if request is None or request.target is None:
        return {}
    target = request.target
    texts: dict[str, str] = {}
    for name in dict.fromkeys((request.name, validator, *target.with_referee)):
        texts.update((file, text) for file, text in target.source_files(name).items())
    return texts


def _reached(sources: list[str], texts: Mapping[str, str]) -> dict[str, set[int]]:
    """The lines that these `file:line` name, by file, where its text is known."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for source in sources:
        file, _, line = source.rpartition(":")
        if file in texts and re.fullmatch("[0-9]{1,9}", line):
            lines[file].add(int(line))
    return {file: lines[file] for file in texts if file in lines}


def _source(
    file: str, text: str, reached: set[int], anchors: Mapping[str, str], decides: str
) -> SourceFile:
    texts = text.splitlines()
    shown = set(range(1, len(texts) + 1))
    if len(texts) > MOST_LINES:
        shown &= {near for at in reached for near in range(at - AROUND, at + AROUND + 1)}
    lines: list[SourceLine] = []
    for number in sorted(shown):
        if number - 1 not in shown and number > 1:
            lines.append(SourceLine(0, "…", "", False, False))
        where = f"{file}:{number}"
        anchor = anchors.get(where, "") if number in reached else ""
        line = texts[number - 1]
        lines.append(SourceLine(number, line, anchor, number in reached, where == decides))
    return SourceFile(file, tuple(lines))
