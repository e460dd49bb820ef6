"""The record of a run, step by step: which expression was evaluated inside which, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from channelsim.clsp.analysis.arguments import arguments_of, bound, pattern
from channelsim.clsp.analysis.closures import path
from channelsim.clsp.analysis.code import LET, Code, Function
from channelsim.clsp.analysis.disassembly import WIDE, Disassembly
from channelsim.clsp.analysis.shapes import is_choice, operands, quoted
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.analysis.tracer import End, Tracer
from channelsim.clsp.operators import APPLY, IF, RAISE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value

STEPS = 100_000
"""A recorded run may apply this many pieces of code."""


@dataclass(slots=True)
class TraceStep:
    """An expression that was evaluated; `ended` is False if it never returned a value.

    `inner` are the steps inside, in their order: the operands, the last one first, then what the
    expression applied. `body` is the latter; `function` is set where that is a function.
    """

    node: Value
    environment: Value
    inner: list[TraceStep] = field(default_factory=list)
    code: Value | None = None
    given: Value = NIL
    body: TraceStep | None = None
    function: Function | None = None
    value: Value = NIL
    ended: bool = False

    @property
    def operator(self) -> Value:
        """The atom of the operator; NIL for a path or a constant."""
        head = self.node[0] if isinstance(self.node, tuple) else NIL
        return head if isinstance(head, bytes) else NIL


class RunRecord:
    """One run of a program. `symbols` may be those of several programs; the tree hash of a whole
    program names it, as that of a function names the function. `known` are atoms with a name.

    Raises `BadValue` when the arguments are no serialized value.
    """

    def __init__(
        self,
        program: Program,
        symbols: Mapping[str, str],
        arguments: bytes,
        known: Mapping[bytes, str],
        steps: int = STEPS,
    ) -> None:
        self._symbols = symbols
        self.known = known
        self._open: list[TraceStep] = []
        self.root: TraceStep | None = None
        tracer = Tracer(program, symbols, self)
        self._texts = [Disassembly(tracer.code, known)]
        self.main = tracer.code.functions[0]
        self.end: End = tracer.run(arguments, steps)

    def text_of(self, node: Value) -> Disassembly:
        """The code that a step's expression is written in."""
        return next((text for text in self._texts if text.code.holds(node)), self._texts[0])

    def owner(self, step: TraceStep) -> str | None:
        """The function of the source that a step's expression counts for.

        None for code that the run itself made.
        """
        code = self.text_of(step.node).code
        number = code.id_of(step.node)
        return None if number is None else code.owners[number]

    def expression(self, node: Value, step: TraceStep, room: int = WIDE) -> str:
        """An expression, or an operand of a step's, as text of about this many characters."""
        if isinstance(node, tuple) and quoted(node) is None:
            return self.text_of(node).text(node, room)
        text = self.text_of(step.node)
        place = text.code.place_of(step.node)
        return value_text(node, room) if place is None else text.operand(node, place, room)

    def arguments(self, step: TraceStep) -> list[tuple[str, Value]]:
        """The arguments of a step that calls a function, by name."""
        if step.function is None:
            return []
        value = step.given
        if self._arguments_at(step.function.body) == 3:
            value = value[1] if isinstance(value, tuple) else NIL
        if step.function.name == LET and isinstance(value, tuple):
            value = value[1]
        return list(bound(arguments_of(step.function), value))

    def is_program(self, body: Value) -> bool:
        """True if the body of a function is a whole program with its own functions."""
        return self._arguments_at(body) == 1

    def _arguments_at(self, body: Value) -> int:
        """The path of the arguments of a body; 0 if unknown."""
        place = self.text_of(body).code.place_of(body)
        return 0 if place is None else place.arguments

    def given(self) -> list[tuple[str, Value]]:
        """The arguments of the program itself, by name."""
        if self.root is None:
            return []
        return list(bound(pattern(self.main.arguments), self.root.environment))

    def decided(self) -> tuple[TraceStep | None, TraceStep | None]:
        """The step that decided how the run ended, and the last choice on the way to it.

        If the run raised or was stopped, this is the innermost step without a value; otherwise
        the operator that made the result, or None if the result is a constant or an argument.
        """
        step, choice = self.root, None
        while step is not None:
            if step.body is not None or step.code is not None:
                choice = chosen(step) or choice
            if step.ended:
                if step.operator != APPLY:
                    break
                step = step.body
            elif step.inner and not step.inner[-1].ended:
                if step.inner[-1] is not step.body:
                    choice = None
                step = step.inner[-1]
            else:
                break
        return step, choice

    def decision(self) -> tuple[Value, TraceStep] | None:
        """The expression that decided how the run ended, and the step that it belongs to.

        Of a bare `(x)` or a constant that is the test before it; None if there is none.
        """
        step, choice = self.decided()
        if choice is not None and (step is None or step.operator in (RAISE, IF)):
            return tested(choice)[0], choice
        return None if step is None else (step.node, step)

    # --- calls of the tracer ------------------------------------------------------------------

    def begins(self, node: Value, environment: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""
        step = TraceStep(node, environment)
        if self._open:
            above = self._open[-1]
            above.inner.append(step)
            if above.code is not None:
                above.body = step
        else:
            self.root = step
        self._open.append(step)

    def applies(self, code: Value, environment: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""
        step = self._open[-1]
        step.code, step.given = code, environment
        if not isinstance(code, tuple):
            return
        if not any(text.code.holds(code) for text in self._texts):
            self._texts.append(
                Disassembly(Code(code, self._symbols, "code from outside"), self.known)
            )
        step.function = self.text_of(code).code.function_of(code)

    def ends(self, value: Value) -> None:
        """See `channelsim.clsp.analysis.closures.Watcher`."""
        step = self._open.pop()
        step.value, step.ended = value, True


def chosen(step: TraceStep) -> TraceStep | None:
    """The choice of a step that is an `if`; None for other steps."""
    for inner in step.inner:
        if inner is not step.body and is_choice(inner.node):
            return inner
    return None


def tested(choice: TraceStep) -> tuple[Value, Value]:
    """The test of a choice, and its value there."""
    test = next(operands(choice.node))
    if isinstance(test, bytes):
        return test, path(test)(choice.environment)
    return test, next((inner.value for inner in choice.inner if inner.node is test), NIL)


def named(programs: Mapping[str, Program]) -> dict[str, str]:
    """The symbols of several programs as one table that also names each program."""
    table: dict[str, str] = {}
    for name, program in programs.items():
        own = dict(program.symbols)
        arguments = own.pop("__chia__main_arguments", "")
        table |= own
        table[program.hash.hex()] = name
        table[f"{program.hash.hex()}_arguments"] = arguments
    return table
