"""Run of a finding step by step, beside the author's sources."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.fuzz.case_records import read
from channelsim.channel.lab.trace.steps import CALLS, OPERATORS
from channelsim.channel.lab.trace.trace_text import TraceRequest, traced
from channelsim.channel.report.html.run_folding import PageStep, RunPart, folded

MOST_STEPS = 400
"""Lines of a run with all its operators; of a longer run only the calls are shown."""

MOST_LINES = 400
"""Lines of a source that is shown as a whole."""

AROUND = 12
"""Lines that are shown before and after one that the run reached, of a longer source."""

_ZEROS = re.compile(r"(?<![\w.])(0|\(\))(?:(?:, ?| )\1(?![\w.])){3,}")

_ARGUMENT = re.compile(r", (?=\w+ = )")
_ALL_ZERO = "0x0000…0000"


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


def shown_run(request: TraceRequest | str, finding: Finding, key: str, decisive: str) -> ShownRun:
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
            dataclasses.replace(line, text=zeros_folded(line.text)), anchors.get(line.source, "")
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
