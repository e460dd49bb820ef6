"""State of the debugger: a run taken apart, and the stop in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from channelsim.channel.lab.debug.stops import Stops
from channelsim.channel.lab.trace.trace_text import TraceRequest, recorded_run


@dataclass(frozen=True)
class DebugRun:
    """One run: what was asked for, its stops, and the lines on how it ended."""

    request: TraceRequest
    stops: Stops
    ended: tuple[str, ...]
    sources: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Session:
    """The state of the debugger: the run, the stop in it, breakpoints, and the cases before edits.

    A breakpoint is a function, or a `file:line`. `over` is set by the command that ends it.
    """

    run: DebugRun
    cases: tuple[TraceRequest, ...]
    at: int = 0
    breakpoints: tuple[str, ...] = ()
    before: tuple[TraceRequest, ...] = ()
    last: str = "step"
    over: bool = False


Answer = tuple[Session, list[str]]


def debug_run(request: TraceRequest) -> DebugRun:
    """Run a request, and take it apart. Raises `UsageError` if it cannot be traced."""
    record, ended = recorded_run(request)
    target = request.target
    names = {} if target is None else dict.fromkeys((request.name, *target.with_referee))

    @cache
    def line_of(function: str, expression: str) -> str:
        """The `file:line` of an expression, or of a function for ""; "" where that is unknown."""
        if target is None:
            return ""
        if not expression:
            return request.line_of(function)
        places = (target.expression_place(name, function, expression) for name in names)
        return target.shown_line(next(filter(None, places), None))

    sources: dict[str, Sequence[str]] = {}
    for name in names if target is not None else ():
        for file, text in target.source_files(name).items() if target is not None else ():
            sources.setdefault(file, text.splitlines())
    return DebugRun(request, Stops(record, request.name, line_of), tuple(ended), sources)
