"""A case that ends otherwise than expected: both results side by side, and the deciding line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from channelsim.channel.findings.finding import ComparedPart, Finding
from channelsim.channel.lab.cases.runs import EXCEEDED, VALID
from channelsim.channel.lab.sites.site import Call
from channelsim.channel.lab.targets.other_builds import other_build
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.arguments import bound, pattern
from channelsim.clsp.analysis.recording import STEPS, RunRecord, TraceStep, named, tested
from channelsim.clsp.analysis.text import HASH, value_text
from channelsim.clsp.analysis.tracer import TooDeep
from channelsim.clsp.run import CostExceeded, ProgramSlash, Raised, is_cut_off, run_serialized
from channelsim.clsp.values import NIL, NotAList, Value, from_list
from channelsim.games.contract import Raise, Rank, Record, Slash, State
from channelsim.games.vectors import Case, arguments, resolve_case, verdict

ROOM = 48
"""A value is shown in about this many characters."""

VERDICT = "verdict"
"""The part that differs where the program and the rules give two verdicts."""

FEW_STEPS = 5_000
"""The steps that are recorded of a run without an end."""

_TEST = 70
"""A test is shown in about this many characters."""

_RECORD = 3
"""The items of a result before its extra conditions."""

_STATE = 2
"""The place of the state among the arguments of a validator."""


def compared(target: Target, case: Case, cut_off: bool = False) -> tuple[ComparedPart, ...]:
    """Compare the result of a target's program with the one that a case expects, part by part.

    `cut_off`: the run is known to be cut off, which would take seconds once more.

    Of two legal results the next validator and the size are always among the parts, of the state
    what differs. Empty for equal results, and where there is no program. Raises `BadCase` for a
    case that names other programs.
    """
    if case.validator in target.missing:
        return ()
    if cut_off:
        return (ComparedPart(VERDICT, case.expect, EXCEEDED),)
    program = target.programs[case.validator]
    expected = resolve_case(case, target.name, target.hashes).result
    outcome = run_serialized(program.serialized, arguments(case, target.name, target.programs))
    match outcome:
        case ProgramSlash():
            word = "slash"
        case Raised():
            word = "raise"
        case CostExceeded():
            word = EXCEEDED
        case _:
            word = "valid"
            if case.expect == word:
                return tuple(_records(target, expected, outcome.value))
    if case.expect == word:
        return ()
    return (ComparedPart(VERDICT, case.expect, word),)


def side_by_side(parts: Sequence[ComparedPart]) -> Iterator[str]:
    """The parts as a table of lines, in one line for a single one; no line for none.

    >>> list(side_by_side([ComparedPart("verdict", "slash", "valid")]))
    ['verdict: expected slash, actual valid']
    """
    if len(parts) < 2:
        yield from (f"{row.part}: expected {row.expected}, actual {row.actual}" for row in parts)
        return
    rows = [("", "expected", "actual"), *((row.part, row.expected, row.actual) for row in parts)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for part, expected, actual in rows:
        yield f"{part:{widths[0]}}  {expected:{widths[1]}}  {actual}"


def _records(target: Target, expected: Value, actual: Value) -> Iterator[ComparedPart]:
    """Compare two next records."""
    due = from_list(expected)
    try:
        got = from_list(actual)
    except NotAList:
        got = [actual]
    got += [NIL] * (_RECORD - len(got))
    if got == due:
        return
    yield _part(target, "next validator", due[0], got[0])
    yield from _states(target, _name(target, due[0]), due[1], got[1])
    yield _part(target, "size limit", due[2], got[2])
    if got[_RECORD:] != due[_RECORD:]:
        conditions = [
            " ".join(_shown(target, item) for item in items[_RECORD:]) or "none"
            for items in (due, got)
        ]
        yield ComparedPart("extra conditions", *conditions)


def _states(
    target: Target, validator: str | None, expected: Value, actual: Value
) -> Iterator[ComparedPart]:
    """Compare two states by the names that the next validator's source has for their items."""
    if expected == actual:
        return
    due, got = (state_fields(target, validator or "", value) for value in (expected, actual))
    differing = [name for name in due if name in got and due[name] != got[name]]
    if not differing or due.keys() != got.keys():
        yield _part(target, "state", expected, actual)
        return
    for name in differing:
        yield _part(target, f"state: {name}", due[name], got[name])


def state_fields(target: Target, validator: str, state: Value) -> dict[str, Value]:
    """The fields of a validator's state by name, in their order; empty for no list of fields.

    The form of the state names them, else the arguments of the validator's source, else they are
    numbered.
    """
    items = _items_of(state)
    game = None if target.rules is None else target.game
    form = game.validators[validator].form if game and validator in game.validators else None
    if isinstance(form, Record):
        names = [name for name, _ in form.fields]
        if len(names) == 1:
            return {names[0]: state}
        if items is not None and len(items) == len(names):
            return dict(zip(names, items, strict=True))
    shape = pattern(target.symbols.get(validator, {}).get("__chia__main_arguments", ""))
    for _ in range(_STATE):
        shape = shape[1] if isinstance(shape, tuple) else ""
    if isinstance(shape, tuple) and isinstance(shape[0], tuple):
        return dict(bound(shape[0], state))
    return {f"item {number}": item for number, item in enumerate(items or (), 1)}


def _items_of(value: Value) -> list[Value] | None:
    try:
        return from_list(value)
    except NotAList:
        return None


def _part(target: Target, name: str, expected: Value, actual: Value) -> ComparedPart:
    """A part as text; an unknown hash in the place of a program's with what it is the hash of."""
    texts = [_shown(target, value, name) for value in (expected, actual)]
    names = _name(target, expected), _name(target, actual)
    for number, value in enumerate((expected, actual)):
        other = names[1 - number]
        if other is not None and names[number] is None and _is_hash(value):
            texts[number] += f" ({other_build(target, other, value)})"
    return ComparedPart(name, *texts)


def _shown(target: Target, value: Value, part: str = "") -> str:
    if part == "next validator":
        return _name(target, value) or ("none" if value == NIL else value_text(value, ROOM))
    text = value_text(value, ROOM, target.hash_names)
    return "0" if part == "size limit" and value == NIL else text


def _name(target: Target, value: Value) -> str | None:
    """The program whose hash a value is."""
    return next((name for name, known in target.hashes.items() if known == value), None)


def _is_hash(value: Value) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and len(value) == HASH


@dataclass(frozen=True, slots=True)
class Deciding:
    """The `file:line` that decides a case, or why there is none: the check is missing.

    `last_test` is then the line of the last test that passed. All are "" where nothing is known of
    the source.
    """

    line: str = ""
    missing: str = ""
    last_test: str = ""

    def of(self, finding: Finding) -> Finding:
        """The finding with this as what its source says."""
        return msgspec.structs.replace(
            finding,
            source_line=self.line,
            missing_check=self.missing,
            last_test=self.last_test,
        )

    def __str__(self) -> str:
        return self.line or self.missing


def deciding(
    target: Target,
    validator: str,
    environment: bytes,
    accepts: bool,
    rule: str = "",
    cut_off: bool = False,
) -> Deciding:
    """The deciding expression's line, of its function where the expression is not found.

    Few steps are recorded of a run that is `cut_off`.

    Where the program accepts what it should refuse (`accepts`), no expression decides: it is the
    one line that names the rule, or else a check is missing. Empty for a program without sources,
    and for one that is missing or cannot be traced.
    """
    if target.sources is None or validator in target.missing:
        return Deciding()
    symbols, program = named(target.with_referee), target.programs[validator]
    cut_off = cut_off or is_cut_off(run_serialized(program.serialized, environment))
    try:
        steps = FEW_STEPS if cut_off else STEPS
        record = RunRecord(program, symbols, environment, {}, steps)
    except TooDeep:
        return Deciding()
    return recorded(target, validator, record, accepts, rule)


def recorded(
    target: Target, name: str, record: RunRecord, accepts: bool, rule: str = ""
) -> Deciding:
    """As `deciding`, of a recorded run of the program with this name."""
    if not target.source_texts(name):
        return Deciding()
    if not accepts:
        decision = record.decision()
        if decision is None:
            return Deciding(target.source_line(name, name))
        return Deciding(_line(target, name, record, *decision))
    lines = target.rule_lines(name, rule) if rule else []
    if len(lines) == 1:
        return Deciding(lines[0])
    if lines:
        missing = f"none of the lines that name {rule} refuses this ({', '.join(lines)})"
    else:
        missing = f"no line checks {rule if target.sentence(rule) else 'this'}"
    _, choice = record.decided()
    if choice is None:
        return Deciding(missing=f"{missing}, and no test comes before the result")
    test, _ = tested(choice)
    line = _line(target, name, record, test, choice)
    at = f", at {line}" if line else ""
    shown = record.expression(test, choice, _TEST)
    return Deciding("", f"{missing}; the last test that passed is {shown}{at}", line)


def hands_met(target: Target, state: State | None, calls: Iterable[Call]) -> str:
    """A sentence on the hands that a call compares, and which of them is better by the rules.

    Of the first of these calls that compares any; "" where none does.

    >>> ranks = ((3, 2), (9, 4)), ((3, 1, 1), (9, 8, 2))
    >>> _ranked_text(ranks[0])
    'class 3 2, then 9 4'
    """
    game = None if target.rules is None else target.game
    if game is None or game.showdown is None or state is None:
        return ""
    for move, _, evidence in calls:
        ranks = game.showdown(state, move, evidence)
        if ranks is None:
            continue
        shown = None if game.hands_shown is None else game.hands_shown(state, move, evidence)
        mine, theirs = shown or tuple(map(_ranked_text, ranks))
        if ranks[0] == ranks[1]:
            better = "the hands are equal"
        else:
            better = f"the {'mover' if ranks[0] > ranks[1] else 'waiter'}'s hand is better"
        by = "" if evidence == NIL else ", by the evidence,"
        return f"The mover has {mine}; the waiter{by} has {theirs}. By the rules {better}."
    return ""


def _ranked_text(rank: Rank) -> str:
    kind, kickers = (" ".join(map(str, numbers)) for numbers in rank)
    return f"class {kind}, then {kickers}"


def _line(target: Target, name: str, record: RunRecord, node: Value, step: TraceStep) -> str:
    return target.source_line(name, record.owner(step) or name, record.expression(node, step))


def accepts(parts: Sequence[ComparedPart]) -> bool:
    """True if a program accepts what is illegal, by the comparison of a case."""
    return any(part.part == VERDICT and part.actual == VALID for part in parts)


_ON_ILLEGAL = {
    "valid": "the program accepts a move that {} forbids",
    "raise": "a move that {} forbids makes the program raise, so its slash fails",
    EXCEEDED: "a move that {} forbids costs the program more than a block, so it cannot be slashed",
}
_ON_LEGAL = {
    "slash": "the program slashes a legal move",
    "raise": "the program raises on a legal move, so its opponent cannot go on",
    EXCEEDED: "a legal move costs the program more than a block, so its opponent cannot go on",
}
_ON_REFUSED = {
    "valid": "the program accepts evidence that {} refuses",
    "slash": "the program slashes by evidence that {} refuses",
    EXCEEDED: "evidence that {} refuses costs the program more than a block",
}


def happens(target: Target, case: Case) -> str:
    """A sentence on the verdict of the program where a case expects another one; "" where the
    verdict is as expected, or the rule that decides is not known."""
    parts = compared(target, case)
    if not parts or parts[0].part != VERDICT:
        return ""
    due, got = parts[0].expected, parts[0].actual
    texts = {"slash": _ON_ILLEGAL, "valid": _ON_LEGAL, "raise": _ON_REFUSED}.get(due, {})
    rule = broken_rule(target, case)
    if not rule and texts is not _ON_LEGAL:
        return ""
    sentence = target.sentence(rule)
    return texts.get(got, "").format(f"{rule} ({sentence})" if sentence else rule)


def broken_rule(target: Target, case: Case, cause: str = "") -> str:
    """The rule that a case breaks: the cause of its finding, if that is one, or what the rules of
    the target's game say. "" where neither is known."""
    if cause and target.sentence(cause):
        return cause
    if target.rules is None:
        return ""
    match verdict(case, target.game, target.hashes):
        case Slash(rule) | Raise(rule):
            return rule
        case _:
            return ""


def with_source(target: Target, finding: Finding) -> Finding:
    """A finding with the line that decides its case, or the missing check, if it has a case."""
    if finding.vector is None:
        return finding
    case = msgspec.convert(finding.vector, Case)
    environment = arguments(case, target.name, target.programs)
    endless = is_endless(finding)
    accepted = accepts(compared(target, case, endless))
    rule = broken_rule(target, case, finding.cause)
    decision = deciding(target, case.validator, environment, accepted, rule, endless)
    return decision.of(finding)


def is_endless(finding: Finding) -> bool:
    """True for a finding that the program's run is cut off."""
    return finding.cause.partition(": ")[2].startswith(EXCEEDED)


def explanation(target: Target, case: Case, cause: str = "") -> Iterator[str]:
    """Both results side by side, and the line of the author's source that decides.

    `cause` is that of the case's finding, if it has one. No line for a case that ends as expected.
    Raises `BadCase`.
    """
    parts = compared(target, case)
    if not parts:
        return
    yield from side_by_side(parts)
    environment = arguments(case, target.name, target.programs)
    rule = broken_rule(target, case, cause)
    source = str(deciding(target, case.validator, environment, accepts(parts), rule))
    if source:
        yield f"source: {source}"
