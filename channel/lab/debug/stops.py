"""The stops of a recorded run: calls, tests, operators and results, in the order of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from channelsim.channel.lab.trace.steps import (
    SHUFFLING,
    call_text,
    choice_text,
    deciding,
    operator_text,
)
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.analysis.code import LET, MAIN
from channelsim.clsp.analysis.recording import RunRecord, TraceStep, chosen, tested
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.values import Value

ROOM = 100
"""Characters of a stop's text."""


class Kind(Enum):
    """The kinds of stops."""

    START = "start"
    TEST = "test"
    CALL = "call"
    RETURN = "return"
    OPERATOR = "operator"
    END = "end"


@dataclass(frozen=True, slots=True)
class Frame:
    """An open call: its function, its values by name, and the frame that it was made from."""

    function: str
    values: tuple[tuple[str, Value], ...]
    above: Frame | None = None

    @property
    def path(self) -> tuple[Frame, ...]:
        """The open calls, the outermost first."""
        return (*(self.above.path if self.above else ()), self)


@dataclass(frozen=True, slots=True)
class Stop:
    """A place of a run at which one can stop; `step` is what the run does there, if anything."""

    kind: Kind
    frame: Frame
    depth: int
    step: TraceStep | None = None


class Stops(Sequence[Stop]):
    """All stops of a run. The first is before it begins, the last one after its end.

    `line_of` finds the `file:line` of an expression of a function, or of the function for "".
    """

    def __init__(self, record: RunRecord, name: str, line_of: Callable[[str, str], str]) -> None:
        self.record, self._name, self._line_of = record, name, line_of
        outermost = Frame(name, tuple(record.given()))
        self._stops = [Stop(Kind.START, outermost, 0)]
        if record.root is not None:
            with deep():
                self._stops += _walk(record, record.root, outermost, 0)
        self._stops.append(Stop(Kind.END, outermost, 0))
        self._sources: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._stops)

    def __getitem__(self, index: int) -> Stop:  # type: ignore[override]
        return self._stops[index]

    def text(self, index: int) -> str:
        """The event of a stop in words."""
        stop, step = self._stops[index], self._stops[index].step
        if step is None:
            return f"{stop.frame.function} {'begins' if stop.kind is Kind.START else 'has ended'}"
        match stop.kind:
            case Kind.TEST:
                return choice_text(self.record, step, ROOM - 30)
            case Kind.CALL:
                return call_text(self.record, step)
            case Kind.RETURN if step.function is not None:
                result = value_text(step.value, 60, self.record.known)
                ended = f"= {result}" if step.ended else "does not return"
                return f"{step.function.name} {ended}"
            case _:
                return operator_text(self.record, step, ROOM)

    def source(self, index: int) -> str:
        """The `file:line` of a stop; that of the last one before it in its function that has any,
        where its own is unknown."""
        if index not in self._sources:
            self._sources[index] = self._own_source(index) or self._source_before(index)
        return self._sources[index]

    def _own_source(self, index: int) -> str:
        stop = self._stops[index]
        step = stop.step
        if step is None:
            return self._line_of(self._name, "")
        if stop.kind in (Kind.CALL, Kind.RETURN) and step.function is not None:
            return self._line_of(step.function.name, "")
        owner = self.record.owner(step) or ""
        node = tested(step)[0] if stop.kind is Kind.TEST else step.node
        return self._line_of(
            self._name if owner == MAIN else owner, self.record.expression(node, step)
        )

    def _source_before(self, index: int) -> str:
        stop = self._stops[index]
        for earlier in range(index - 1, -1, -1):
            other = self._stops[earlier]
            if other.frame.function == stop.frame.function and other.depth == stop.depth:
                return self.source(earlier)
            if other.depth < stop.depth:
                return self.source(earlier) if other.kind is Kind.CALL else ""
        return ""

    @property
    def decision(self) -> int:
        """The stop that decides how the run ends: the operator, or the last test before it."""
        step = deciding(self.record)
        for number in range(len(self) - 1, -1, -1):
            if step is not None and self._stops[number].step is step:
                return number
        tests = [n for n, stop in enumerate(self._stops) if stop.kind is Kind.TEST]
        return tests[-1] if tests else len(self) - 1


def _walk(record: RunRecord, step: TraceStep, frame: Frame, depth: int) -> Iterator[Stop]:
    """The stops of a step: its operands, its choice, what it applies, and its own result."""
    for inner in step.inner:
        if inner is not step.body:
            yield from _walk(record, inner, frame, depth)
    choice = chosen(step)
    if choice is not None and choice.ended:
        yield Stop(Kind.TEST, frame, depth, choice)
    function = step.function
    if function is not None and function.name != LET:
        inside = Frame(function.name, tuple(record.arguments(step)), frame)
        yield Stop(Kind.CALL, inside, depth + 1, step)
        if step.body is not None:
            yield from _walk(record, step.body, inside, depth + 1)
        yield Stop(Kind.RETURN, inside, depth + 1, step)
        return
    if function is not None:
        named = {**dict(frame.values), **dict(record.arguments(step))}
        frame = Frame(frame.function, tuple(named.items()), frame.above)
    if step.body is not None:
        yield from _walk(record, step.body, frame, depth)
    if step.operator not in SHUFFLING:
        yield Stop(Kind.OPERATOR, frame, depth, step)
