"""The text of `channelsim trace`: one run of a case or of a finding, and why it ended so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import parsed
from channelsim.channel.lab.cases.explanation import (
    accepts,
    broken_rule,
    compared,
    recorded,
    side_by_side,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.channel.lab.trace.finding_targets import has, missing_source, target_of
from channelsim.channel.lab.trace.steps import WIDTH, TraceLine, filled, trace_lines
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, format_of
from channelsim.clsp.analysis.recording import RunRecord, TraceStep, named, tested
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.analysis.tracer import Returned, Stopped, TooDeep
from channelsim.clsp.operators import IF, RAISE
from channelsim.clsp.programs import Program
from channelsim.clsp.run import (
    Outcome,
    Raised,
    outcome_word,
    run_serialized,
)
from channelsim.clsp.values import NIL, BadValue, NotAList, Value, deserialize, from_list
from channelsim.games import registry
from channelsim.games import vectors as cases
from channelsim.games.contract import Raise
from channelsim.games.contract import Slash as RuleSlash
from channelsim.games.contract import Valid as ByRules
from channelsim.games.errors import UnknownGame
from channelsim.games.evidence import met
from channelsim.games.judge import program_conditions, result_value
from channelsim.games.names import nearest_or_all, quoted
from channelsim.games.vectors import BadCase, Case

ROOM = 32
"""Arguments are shown in this many characters each."""

UNREAD = frozenset(
    (
        *("PROGRAM_HASH", "MOVER_PUBKEY", "WAITER_PUBKEY", "TIMEOUT", "MOD_HASH", "NONCE"),
        *("MAX_MOVE_SIZE", "INFOHASH_B", "INFOHASH_A", "PROGRAM"),
    )
)
"""Arguments that a validator's rules do not look at; shown with -v."""


@dataclass(frozen=True)
class TraceRequest:
    """One run to trace: a program and its serialized environment.

    `asked` is the case that it was made from, with the target whose validator it calls; None for
    a bare run. `target` has the sources of the programs, where it is known; `problem` says why it
    is not. `cause` is that of its finding.
    """

    name: str
    program: Program
    arguments: bytes
    symbols: Mapping[str, str]
    known: Mapping[bytes, str]
    asked: tuple[Target, Case] | None = None
    target: Target | None = None
    problem: str = ""
    cause: str = ""

    def line_of(self, function: str, expression: str = "") -> str:
        """The `file:line` of a function of any of the target's programs, or of an expression of
        it; "" where that is not known."""
        if self.target is None:
            return ""
        names = dict.fromkeys((self.name, *self.target.with_referee))
        lines = (self.target.source_line(name, function, expression) for name in names)
        return next(filter(None, lines), "")


class _Bare(msgspec.Struct, frozen=True):
    """A program and an environment in hex, as `brun` takes them."""

    program: str
    environment: str


def read(path: Path, target: str | None = None, case: str | None = None) -> TraceRequest:
    """The run that a file asks for: a conformance case of a `.jsonl`, or a finding.

    Raises `UsageError`, naming the file and what is wrong with it.
    """
    text = input_files.read(path, input_files.LINES)
    chosen = load(target) if target is not None else None
    if format_of(text) is not None:
        if case is not None:
            raise UsageError(f"{path}: a finding holds one case; --case is for files of cases")
        return of_finding(path, parsed(path, text), chosen)
    return of_case(path, _pick(path, text, case), chosen)


def _pick(path: Path, text: bytes, case_id: str | None) -> Case:
    if not text.strip():
        raise UsageError(f"{path}: has no cases")
    ids = []
    try:
        for case in cases.read(input_files.lines_of(text)):
            if case_id in (None, case.id):
                return case
            ids.append(case.id)
    except BadCase as error:
        check_kind(path, text, Kind.CASES, Kind.FINDING)
        raise UsageError(f"{path}: {error}") from None
    raise UsageError(f"{path}: has no case {case_id}{nearest_or_all(case_id or '', ids)}")


def of_finding(path: Path, finding: Finding, target: Target | None = None) -> TraceRequest:
    """The case of a finding in the file `path`, or its deciding run.

    The case is what shows the mistake, unless the programs that it was found in are not at hand,
    or they decide the case as they should: then it is a spend that went wrong. Raises
    `UsageError`.
    """
    run = _bare(path, finding)
    case = _vector(path, finding)
    problem = ""
    if target is None:
        from_finding = target_of(path, finding, run)
        target, problem = from_finding.target, from_finding.problem
    if case is not None:
        try:
            request = of_case(path, case, target)
        except UsageError as error:
            if run is None:
                raise UsageError(f"{path}: {problem}") if problem else error from None
        else:
            if run is None or _shows(request, run):
                return replace(request, problem=problem, cause=finding.cause)
    if run is None:
        raise UsageError(f"{path}: holds neither a case nor a run that could be traced")
    table: dict[str, str] = {}
    known: dict[bytes, str] = {}
    for near in [target] if target else map(of_game, registry.usable()):
        table |= named(near.with_referee)
        known |= near.hash_names
    return TraceRequest("the run", Program(run[0]), run[1], table, known, None, target, problem)


def _bare(path: Path, finding: Finding) -> tuple[bytes, bytes] | None:
    """The program and the environment of a finding's run; None for a finding without any."""
    if not finding.brun:
        return None
    try:
        written = msgspec.convert(finding.brun, _Bare)
        run = _bytes("program", written.program), _bytes("environment", written.environment)
        for blob in run:
            deserialize(blob)
    except (msgspec.ValidationError, BadValue) as error:
        raise UsageError(f"{path}: key `brun`: {error}") from None
    return run


def _bytes(name: str, text: str) -> bytes:
    """The bytes of a field in hexadecimal. Raises `BadValue`."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadValue(f"{name}: not hexadecimal: {quoted(text)}") from None


def _vector(path: Path, finding: Finding) -> Case | None:
    """The case of a finding; None for a finding without any."""
    if finding.vector is None:
        return None
    try:
        (case,) = cases.read([msgspec.json.encode(finding.vector)])
    except BadCase as error:
        reason = str(error).removeprefix("line 1: ")
        raise UsageError(f"{path}: key `vector`: {reason}") from None
    return case


def _shows(request: TraceRequest, run: tuple[bytes, bytes]) -> bool:
    """True if a finding's case, rather than its run, shows what went wrong."""
    if request.asked is None or not has(run, request.program):
        return False
    if run[0] == request.program.serialized:
        return True
    target, case = request.asked
    return bool(cases.check_program(case, target.name, target.programs))


def of_case(path: Path, case: Case, target: Target | None) -> TraceRequest:
    """The call of a case of the file `path`, on a target's programs. Raises `UsageError`."""
    try:
        target = target or of_game(registry.get(case.game))
    except UnknownGame as error:
        raise UsageError(f"{path}: {case.id}: {error}") from None
    if case.validator in target.missing:
        raise UsageError(f"{path}: {case.id}: {target.name} has no program of {case.validator}")
    if case.validator not in target.programs:
        raise UsageError(f"{path}: {case.id}: {target.name} has no validator {case.validator!r}")
    try:
        arguments = cases.arguments(case, target.name, target.programs)
    except BadCase as error:
        raise UsageError(f"{path}: {case.id}: {error}") from None
    program = target.programs[case.validator]
    symbols, known = named(target.with_referee), target.hash_names
    return TraceRequest(case.validator, program, arguments, symbols, known, (target, case), target)


# --- the text ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TracedRun:
    """A run as text: what it was given, its steps, and how and where it was decided.

    The paragraphs of `ended` are not broken into lines.
    """

    given: tuple[str, ...]
    steps: tuple[TraceLine, ...]
    ended: tuple[str, ...]


def traced(request: TraceRequest, verbosity: int, width: int = WIDTH) -> TracedRun:
    """Trace a run, in lines of this width. Raises `UsageError` where that cannot be done."""
    record, ended = recorded_run(request)
    steps = trace_lines(record, verbosity, cache(request.line_of), width)
    given = tuple(_head(request, record, bool(verbosity), width))
    return TracedRun(given, tuple(steps), tuple(ended))


def recorded_run(request: TraceRequest) -> tuple[RunRecord, list[str]]:
    """Run a request: its record, and the paragraphs on how and where it was decided.

    Raises `UsageError` for a program that cannot be traced.
    """
    outcome = run_serialized(request.program.serialized, request.arguments)
    try:
        record = RunRecord(request.program, request.symbols, request.arguments, request.known)
    except TooDeep as error:
        raise UsageError(f"{request.name}: {error}") from None
    return record, _how_it_ended(request, record, outcome)


def _how_it_ended(request: TraceRequest, record: RunRecord, outcome: Outcome) -> list[str]:
    """The paragraphs on how a run ended, what decided where, and what was expected."""
    ended = [_sentence(request, record, outcome)]
    if request.asked is not None:
        target, case = request.asked
        parts = compared(target, case)
        rule = broken_rule(target, case, request.cause)
        source = str(recorded(target, case.validator, record, accepts(parts), rule))
        if source:
            ended.append(f"source: {source}")
        ended += side_by_side(parts)
    problem = request.problem or missing_source(request.target, request.name)
    if problem:
        ended.append(f"no lines of the source: {problem}")
    return ended


def trace_text(request: TraceRequest, verbosity: int, width: int = WIDTH) -> Iterator[str]:
    """The run, in lines of this width: what it was given, its steps, and how it ended.

    Raises `UsageError` for a program that cannot be traced.
    """
    run = traced(request, verbosity, width)
    yield from run.given
    yield ""
    yield from (line.text for line in run.steps)
    yield ""
    for paragraph in run.ended:
        yield from [paragraph] if len(paragraph) <= width else filled(paragraph, width=width)


def _head(request: TraceRequest, record: RunRecord, everything: bool, width: int) -> Iterator[str]:
    if request.asked is None:
        yield request.name
    else:
        target, case = request.asked
        # The tag of a finding's case is the law that it breaks, which would read as its opposite.
        tag = "" if request.cause else f" ({case.tag})"
        yield f"{target.name}, {case.validator}: {case.id}{tag}"
    shown = ", ".join(
        f"{name} = {value_text(value, ROOM, request.known)}"
        for name, value in record.given()
        if everything or request.asked is None or name not in UNREAD
    )
    yield from filled(shown, "  ", "  ", width)


def _sentence(request: TraceRequest, record: RunRecord, outcome: Outcome) -> str:
    word = outcome_word(outcome)
    parts = [_ended(request, record, word), _rules(request, record, word)]
    if request.asked is not None and request.asked[1].expect != word:
        parts.append(f"The case expects {request.asked[1].expect}.")
    return " ".join(filter(None, parts))


_MEANS = {
    "valid": "the move is legal",
    "slash": "the move is illegal",
    "raise": "the slash fails",
    "cost exceeded": "no block takes it",
}


def _ended(request: TraceRequest, record: RunRecord, word: str) -> str:
    start = f"{word}: {_MEANS[word]}" if request.asked is not None else word
    if isinstance(record.end, Stopped):
        return f"{start}. Its steps are not all here: {record.end.reason}."
    step, choice = record.decided()
    why = ""
    if choice is not None:
        test, value = tested(choice)
        holds = "does not hold" if value == NIL else "holds"
        why = f", since {record.expression(test, choice, 70)} {holds}"
        if step is None or _where(record, step) != _where(record, choice):
            why += f" in {_where(record, choice)}"
    if isinstance(record.end, Raised):
        if step is None:
            return f"{start}: {record.end.error}."
        said = f"{record.expression(step.node, step, 60)} in {_where(record, step)}"
        if step.operator == RAISE:
            return f"{start}: {said}{why}."
        return f"{start}: {said} raises ({record.end.error})."
    result = value_text(record.end.value, 70, request.known)
    if word == "valid":
        return f"{start}{_unless(request, record.end.value)}; {request.name} returns {result}."
    if step is not None and step.operator != IF:
        said = f"{record.expression(step.node, step, 70)} in {_where(record, step)}"
        return f"{start}: {said} is {result}."
    return f"{start}{why}."


def _unless(request: TraceRequest, result: Value) -> str:
    """The words that qualify a legal move by the extra conditions in the result."""
    if request.asked is None or not (conditions := program_conditions(result)):
        return ""
    if met(conditions, bytes.fromhex(request.asked[1].signature)):
        return " unless its extra conditions are met, and the case's signature meets them"
    return " unless a slash meets its extra conditions"


def _where(record: RunRecord, step: TraceStep) -> str:
    return record.owner(step) or "code that the run made"


def _leads_to(record: RunRecord, legal: ByRules, target: Target) -> bool:
    if not isinstance(record.end, Returned):
        return True  # a run that was stopped: nothing is known of its result
    expected = from_list(result_value(legal.next, target.hashes, legal.conditions))
    try:
        actual = from_list(record.end.value)
    except NotAList:
        return False
    return actual + [NIL] * (len(expected) - len(actual)) == expected


def _rules(request: TraceRequest, record: RunRecord, word: str) -> str:
    """The rules' verdict on a case, with the rule that decides."""
    if request.asked is None or request.asked[0].rules is None:
        return ""
    target, case = request.asked
    game = target.game
    verdict = cases.verdict(case, game, target.hashes)
    match verdict:
        case RuleSlash(rule):
            said = "slash"
        case Raise(rule):
            said = "raise"
        case ByRules():
            said, rule = "valid", ""
            if word == said and not _leads_to(record, verdict, target):
                return "To the rules the move is legal too, but leads elsewhere."
        case None:
            return "The rules have no such state."
    why = f", by {rule} ({game.rules.get(rule, '').rstrip('.')})" if rule else ""
    return f"The rules say {'so too' if said == word else said}{why}."
