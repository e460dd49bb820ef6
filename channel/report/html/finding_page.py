"""Make the page of a finding: who loses what, the case beside honest play, and the run."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import command_line
from channelsim.channel.findings.sentence import headline, lost, title
from channelsim.channel.lab.cases.explanation import (
    VERDICT,
    accepts,
    broken_rule,
    compared,
    deciding,
    state_fields,
)
from channelsim.channel.lab.cases.runs import VALID
from channelsim.channel.lab.fuzz.case_records import read, read_value
from channelsim.channel.lab.trace.finding_targets import line_here
from channelsim.channel.lab.trace.steps import CALLS, OPERATORS
from channelsim.channel.lab.trace.trace_text import TraceRequest, of_finding, traced
from channelsim.channel.report.html.page import Glance, render
from channelsim.channel.report.html.run_folding import PageStep, RunPart, folded
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.values import Value
from channelsim.games.amounts import counted
from channelsim.games.vectors import BadCase

MOST_STEPS = 400
"""Lines of a run with all its operators; of a longer run only the calls are shown."""

MOST_LINES = 400
"""Lines of a source that is shown as a whole."""

ROOM = 200
"""A field is shown in about this many characters."""

AROUND = 12
"""Lines that are shown before and after one that the run reached, of a longer source."""


_ZEROS = re.compile(r"(?<![\w.])(0|\(\))(?:(?:, ?| )\1(?![\w.])){3,}")


_ARGUMENT = re.compile(r", (?=\w+ = )")
_ALL_ZERO = "0x0000…0000"


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
    parts: tuple[RunPart, ...] = ()
    ended: tuple[str, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    missing: str = ""

    @property
    def all_same(self) -> bool:
        """True if every step is as in honest play."""
        return bool(self.parts) and all(part.same for part in self.parts)


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
        tuple(_fields(finding.probe, request)),
        _run(request, finding, key, decisive),
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


def _run(request: TraceRequest | str, finding: Finding, key: str, decisive: str) -> ShownRun:
    """The run of a finding; `decisive` is the `file:line` that decides it."""
    if isinstance(request, str):
        return ShownRun(missing=request)
    verbosity = OPERATORS
    try:
        run = traced(request, verbosity)
        if len(run.steps) > MOST_STEPS:
            verbosity = CALLS
            run = traced(request, verbosity)
    except UsageError as error:
        return ShownRun(missing=str(error))
    texts = _texts(request, finding.place)
    reached = _reached([*(step.source for step in run.steps), decisive], texts)
    anchors = {
        f"{file}:{line}": f"{key}-source{number}-{line}"
        for number, file in enumerate(reached)
        for line in range(1, texts[file].count("\n") + 2)
    }
    steps = [
        PageStep(
            zeros_folded(line.text),
            line.source,
            anchors.get(line.source, ""),
            line.kind,
            line.decides,
        )
        for line in run.steps
    ]
    return ShownRun(
        tuple(given_folded(run.given)),
        tuple(folded(steps, _honest_steps(request, finding, verbosity))),
        tuple(map(zeros_folded, run.ended)),
        tuple(
            _source(file, texts[file], lines, anchors, decisive) for file, lines in reached.items()
        ),
    )


def _honest_steps(request: TraceRequest, finding: Finding, verbosity: int) -> list[str] | None:
    """The lines of the run of honest play at the same place; None where that is not known."""
    if request.asked is None or request.target is None or not finding.probe:
        return None
    try:
        site = read(request.target, finding.probe).site
        arguments = site.environment(site.play.move, site.play.share, site.play.evidence)
        if arguments == request.arguments:
            return None  # the case is honest play
        run = traced(dataclasses.replace(request, arguments=arguments), verbosity)
    except UsageError:
        return None
    return [zeros_folded(line.text) for line in run.steps[: 2 * MOST_STEPS]]


def given_folded(given: Sequence[str]) -> Iterator[str]:
    """What a run was given, with the arguments that are zeros, as curried in, in one line.

    >>> list(given_folded(["e:", "  A = 0x0000…0000 (48 bytes), B = 7,", "  C = 0x0000…0000"]))
    ['e:', '  B = 7', '  all zeros: A, C']
    """
    yield from given[:1]
    zeros: list[str] = []
    for item in _ARGUMENT.split(" ".join(line.strip() for line in given[1:])):
        name, _, value = item.rstrip(",").partition(" = ")
        if value.startswith(_ALL_ZERO):
            zeros.append(name)
        elif item:
            yield f"  {zeros_folded(item.rstrip(','))}"
    if zeros:
        yield f"  all zeros: {', '.join(zeros)}"


def zeros_folded(text: str) -> str:
    """A text with its rows of zeros, as curried into a program, counted.

    >>> zeros_folded("(7 0 0 0 0 0) and [1,0,0,0,0]"), zeros_folded("(0 0 1)")
    ('(7 0 × 5) and [1,0 × 4]', '(0 0 1)')
    """
    return _ZEROS.sub(lambda row: f"{row[1]} × {len(re.split(', ?| ', row[0]))}", text)


def finding_html(page: FindingPage) -> str:
    """The HTML of the page."""
    return render("finding", "run.js" if page.run.parts else "", page=page)


def _commands(path: Path, finding: Finding) -> tuple[str, ...]:
    """The commands for a finding that is alone in its file."""
    commands = (command_line("replay", path),) if finding.probe else ()
    if finding.replay:
        commands = (finding.replay,)
    if finding.scenario is not None:
        return commands
    return *commands, command_line("trace -v", path), command_line("debug", path)


# --- the case beside honest play ----------------------------------------------------------------


def _fields(probe: Mapping[str, Any], request: TraceRequest | str) -> Iterator[FieldPair]:
    """The fields of a stored probe; none for a recorded case, which has no probe.

    A state has a field for each of its own, where the target is known.
    """
    move, honest = (probe.get(name) for name in ("move", "honest_move"))
    if not isinstance(move, str) or not isinstance(honest, str):
        return
    yield FieldPair("move", *_marked(honest, move))
    share, honest_share = (_mojos(probe.get(name)) for name in ("share", "honest_share"))
    yield FieldPair("opponent's share", *_whole(honest_share, share))
    candidates = probe.get("held")
    candidates = candidates if isinstance(candidates, list) else []
    evidence = probe.get("evidence")
    usual = evidence if evidence in candidates else next(iter(candidates), None)
    yield FieldPair("evidence", *_whole(_text(usual), _text(evidence)))
    # Both are made in the same place of a hand.
    for name, text in (
        ("amount", _mojos(probe.get("amount"))),
        ("most bytes of the move", _text(probe.get("max_move_size"))),
        *_state(probe, request),
    ):
        yield FieldPair(name, *_whole(text, text))


def _mojos(amount: Any) -> str:
    return counted(amount, "mojo") if isinstance(amount, int) else _text(amount)


def _state(probe: Mapping[str, Any], request: TraceRequest | str) -> Iterator[tuple[str, str]]:
    """The fields of the state by their names; the state as a whole where they have none."""
    target = None if isinstance(request, str) else request.target
    fields: dict[str, Value] = {}
    if target is not None:
        with suppress(BadCase, RecursionError):
            state = read_value(probe.get("state"), target)
            fields = state_fields(target, str(probe.get("validator")), state)
    if target is None or not fields:
        yield "state", zeros_folded(_text(probe.get("state")))
    for name, value in fields.items():
        known = {} if target is None else target.hash_names
        yield f"state: {name}", zeros_folded(value_text(value, ROOM, known))


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
