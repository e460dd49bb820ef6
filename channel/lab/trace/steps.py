"""A recorded run as lines to read: calls by name, indented, to the operator that decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import wrap

from channelsim.clsp.analysis.closures import deep, path
from channelsim.clsp.analysis.code import LET, Function
from channelsim.clsp.analysis.disassembly import NUMERIC
from channelsim.clsp.analysis.recording import RunRecord, TraceStep, chosen, tested
from channelsim.clsp.analysis.shapes import operands, quoted
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.operators import APPLY, CONS, IF, RAISE
from channelsim.clsp.values import NIL, Value
from channelsim.games.amounts import counted

WIDTH = 100
"""Columns of a line where there is room for them."""

DEEPEST = 24
"""Lines are indented no further."""

CALLS, OPERATORS, NODES = range(3)
"""Verbosity: calls and the choices of the program itself; every choice and operator; every
node."""

_KEPT = "\u00a0"
_NO_BREAK = re.compile(r"(?<= =) | (?==)| (?=\(\d+ bytes\))| (?=bytes\))")

_EQUAL = b"\x09"
_COMPARING = frozenset((_EQUAL, b"\x0a", b"\x15"))

OPEN = 8
"""The number of open calls that are remembered: enough to distinguish a program from a function."""

SHUFFLING = frozenset((APPLY, IF, CONS, b"\x05", b"\x06", b"\x07"))
"""Operators that only move values about."""


MOST = 3000
"""The most lines; from a longer trace the middle is left out."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A line of a trace, and the `file:line` of the source that it is about ("" if unknown).

    `kind` is "test" for a test and "step" for the first line of any other step; a line that only
    continues one, or says what is left out, has none. `decides` marks the step that decides.
    """

    text: str
    source: str = ""
    kind: str = ""
    decides: bool = False


LineOf = Callable[[str, str], str]
"""Finds the `file:line` of an expression of a function, or of the function itself for ""."""


def trace_lines(
    record: RunRecord, verbosity: int, line_of: LineOf, width: int = WIDTH
) -> list[TraceLine]:
    """The steps of a run, a line of this width each, in the order in which they were done.

    The source of a function also stands in the text, at the first call.
    """
    shown = _Lines(record, verbosity, line_of, deciding(record), width)
    if record.root is not None:
        with deep():
            shown.add(record.root, 0, ())
    left_out = len(shown.lines) - MOST
    if left_out > 0:
        half = MOST // 2
        notice = f"… {counted(left_out, 'line')} are left out …"
        shown.lines[half:-half] = [TraceLine(notice)]
    return shown.lines


def deciding(record: RunRecord) -> TraceStep | None:
    """The step that decides how a run ends: its last operator, or the test before it."""
    step, choice = record.decided()
    return choice if step is None or step.operator in (RAISE, IF) else step


class _Lines:
    def __init__(
        self,
        record: RunRecord,
        verbosity: int,
        line_of: LineOf,
        decides: TraceStep | None,
        width: int,
    ) -> None:
        self.width = width
        self.record = record
        self.decides = decides
        self.verbosity = verbosity
        self.line_of = line_of
        self.called: set[str] = set()
        self.lines: list[TraceLine] = []

    def add(self, step: TraceStep, depth: int, calls: tuple[Value, ...]) -> None:
        """Add the lines of a step; `calls` are the bodies of the last open functions."""
        if self.verbosity == NODES:
            self._node(step, depth)
            return
        for inner in step.inner:
            if inner is not step.body:
                self.add(inner, depth, calls)
        choice = chosen(step)
        # The choices of a whole program are the rules.
        plain = self.verbosity or all(self.record.is_program(body) for body in calls)
        if choice is not None and choice.ended and plain:
            self._choice(choice, depth)
        function = step.function
        let = function is not None and function.name == LET
        recursive = function is not None and calls and calls[-1] is function.body
        if function is not None and not let and (self.verbosity or not recursive):
            self._call(step, depth, function, calls)
            return
        if let:
            self._let(step, depth)
        if step.body is not None:
            self.add(step.body, depth, calls)
        if self.verbosity and step.operator not in SHUFFLING:
            self._operator(step, depth)

    # --- one kind of line each ----------------------------------------------------------------

    def _call(
        self, step: TraceStep, depth: int, function: Function, calls: tuple[Value, ...]
    ) -> None:
        head = call_text(self.record, step)
        result = f"= {self._value(step.value, 60)}" if step.ended else "does not return"
        line = self.line_of(function.name, "")
        source = f"  ;{_KEPT}{line}" if line and function.name not in self.called else ""
        self.called.add(function.name)
        start = len(self.lines)
        if step.body is not None:
            self.add(step.body, depth + 1, (*calls, function.body)[-OPEN:])
        if len(self.lines) == start:
            self.lines += self._indented(f"{head} {result}{source}", depth, line)
        else:
            self.lines[start:start] = self._indented(f"{head}{source}", depth, line)
            self.lines += self._indented(result, depth + 1)

    def _let(self, step: TraceStep, depth: int) -> None:
        given = [
            f"{name} = {self._value(value, 40)}"
            for name, value in self.record.arguments(step)
            if name != "cse" or self.verbosity
        ]
        if given:
            self.lines += self._indented(f"let {', '.join(given)}", depth)

    def _choice(self, choice: TraceStep, depth: int) -> None:
        text = choice_text(self.record, choice, self.width - 30 - 2 * depth)
        whole = self.record.expression(tested(choice)[0], choice)
        source = self.line_of(self.record.owner(choice) or "", whole)
        self._line(text, depth, source, "test", decides=choice is self.decides)

    def _operator(self, step: TraceStep, depth: int) -> None:
        text = operator_text(self.record, step, self.width - 2 * depth)
        self._line(text, depth, decides=step is self.decides)

    def _node(self, step: TraceStep, depth: int) -> None:
        code = self.record.text_of(step.node).code
        number = code.id_of(step.node)
        where = "" if number is None else f"#{number} "
        result = f"= {self._value(step.value, 30)}" if step.ended else "raises"
        head = self._head(step, depth, where + result)
        if step.function is not None and step.function.name != LET:
            head = f"{step.function.name}: {head}"
        self._line(f"{where}{head} {result}", depth)
        for inner in step.inner:
            self.add(inner, depth + 1, ())

    # --- text ---------------------------------------------------------------------------------

    def _line(
        self, text: str, depth: int, source: str = "", kind: str = "step", *, decides: bool = False
    ) -> None:
        """Add one line, cut off where it is too long."""
        line = _indent(depth) + text
        shown = line if len(line) <= self.width else line[: self.width - 1] + "…"
        self.lines.append(TraceLine(shown, source, kind, decides))

    def _indented(self, text: str, depth: int, source: str = "") -> Iterator[TraceLine]:
        start = _indent(depth)
        for number, line in enumerate(filled(text, start, start + "      ", self.width)):
            yield TraceLine(line, source, "" if number else "step")

    def _head(self, step: TraceStep, depth: int, beside: str) -> str:
        """The expression of a step, which fits into a line with this text beside it."""
        room = max(20, self.width - 2 * depth - len(beside) - 1)
        return self.record.expression(step.node, step, room)

    def _value(self, value: Value, room: int) -> str:
        return value_text(value, room, self.record.known)


def call_text(record: RunRecord, step: TraceStep) -> str:
    """A call of a function, with its arguments by name."""
    name = "" if step.function is None else step.function.name
    given = [
        f"{argument}={value_text(value, 30, record.known)}"
        for argument, value in record.arguments(step)
    ]
    return f"{name}({', '.join(given)})"


def choice_text(record: RunRecord, choice: TraceStep, room: int) -> str:
    """A test and its result, with the values that it compares; the test in so many characters."""
    test, value = tested(choice)
    answer = "no" if value == NIL else "yes"
    if value not in (NIL, b"\x01"):
        answer += f" ({value_text(value, 20, record.known)})"
    else:
        answer += _compared(record, test, choice)
    return f"if {record.expression(test, choice, room)}: {answer}"


def operator_text(record: RunRecord, step: TraceStep, room: int) -> str:
    """An operator with its operands and its result, in about so many characters."""
    result = f"= {value_text(step.value, 40, record.known)}" if step.ended else "raises"
    if result == "= ()" and step.operator in NUMERIC and step.operator not in _COMPARING:
        result = "= 0"
    return f"{record.expression(step.node, step, max(20, room - len(result) - 1))} {result}"


def _compared(record: RunRecord, test: Value, choice: TraceStep) -> str:
    """The two values that a test compares, where they are not the same."""
    step = next((inner for inner in choice.inner if inner.node is test), None)
    if step is None or step.operator not in _COMPARING:
        return ""
    values = [value_of(operand, step) for operand in operands(test)]
    words = ["?" if value is None else value_text(value, 30, record.known) for value in values]
    if len(words) != 2 or (words[0] == words[1] and step.value != NIL):
        return ""
    if step.operator != _EQUAL:
        words = ["0" if word == "()" else word for word in words]
    return f" ({words[0]} and {words[1]})"


def value_of(operand: Value, step: TraceStep) -> Value | None:
    """The value that an operand of a step had; None of one that was not evaluated."""
    constant = quoted(operand)
    if constant is not None:
        return constant
    if isinstance(operand, bytes):
        return path(operand)(step.environment)
    return next((inner.value for inner in step.inner if inner.node is operand), None)


def _indent(depth: int) -> str:
    return "  " * min(depth, DEEPEST)


def filled(text: str, first: str = "", other: str = "", width: int = WIDTH) -> list[str]:
    """A text as lines that fit, broken neither in brackets nor behind a name."""
    return [
        line.replace(_KEPT, " ")
        for line in wrap(
            _NO_BREAK.sub(_KEPT, text),
            width,
            initial_indent=first,
            subsequent_indent=other,
            break_on_hyphens=False,
        )
    ]
