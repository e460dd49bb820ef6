"""The debugger as a state machine: a command comes in, and text goes out.

A session is a value. `answered` takes it and a line, and returns the next session and what to
print; it reads and prints nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug.edits import edited, expecting, names_of_fields
from channelsim.channel.lab.debug.stops import Frame, Kind, Stop, Stops
from channelsim.channel.lab.trace.trace_text import UNREAD, TraceRequest, of_case, recorded_run
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.values import NotAList, Value, from_list
from channelsim.games.amounts import counted
from channelsim.games.names import nearest_or_all
from channelsim.games.vectors import BadCase

AROUND = 2
"""Lines of source before and after the one of a stop."""

WIDE = 10
"""Those of `list`."""

SHORT = 8
"""Bytes of an atom that is also printed as a number."""


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


def started(cases: Sequence[TraceRequest], first: int = 0) -> Answer:
    """Begin with one of these cases. Raises `UsageError` if it cannot be traced."""
    session = Session(debug_run(cases[first]), tuple(cases))
    return session, [*_title(session), *_shown(session), "`help` lists the commands"]


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


def answered(session: Session, line: str) -> Answer:
    """Do a command. An empty line repeats the last one that moved."""
    words = line.strip().split(maxsplit=1)
    if not words:
        words = [session.last]
    name, rest = words[0], words[1].strip() if len(words) > 1 else ""
    command = _COMMANDS.get(_SHORT.get(name, name))
    if command is None:
        known = [*_COMMANDS, *_SHORT]
        return session, [f"{name[:60]}: no such command{nearest_or_all(name, known)}"]
    try:
        after, lines = command.do(session, rest)
    except UsageError as error:
        return session, [str(error)]
    if command.moves and not rest:
        after = replace(after, last=_SHORT.get(name, name))
    return after, lines


# --- moving -----------------------------------------------------------------------------------


def _to(session: Session, at: int, note: str = "") -> Answer:
    """Go to a stop, and show it."""
    after = replace(session, at=at)
    return after, [*([note] if note else []), *_shown(after)]


def _search(
    session: Session, forward: bool, wanted: Callable[[int, Stop], bool], missing: str
) -> Answer:
    """Go to the nearest stop that is wanted, or to the end in that direction, with a note."""
    stops = session.run.stops
    last = len(stops) - 1
    for at in range(session.at + 1, last) if forward else range(session.at - 1, 0, -1):
        if wanted(at, stops[at]):
            return _to(session, at)
    end = last if forward else 0
    if session.at == end:
        return session, [f"this is the {'end' if forward else 'beginning'} of the run"]
    return _to(session, end, missing)


def _step(session: Session, rest: str) -> Answer:
    return _search(session, True, lambda at, stop: True, "")


def _back(session: Session, rest: str) -> Answer:
    return _search(session, False, lambda at, stop: True, "")


def _next(session: Session, rest: str) -> Answer:
    return _search(session, True, _beside(session, Kind.RETURN), "")


def _previous(session: Session, rest: str) -> Answer:
    return _search(session, False, _beside(session, Kind.CALL), "")


def _beside(session: Session, far_end: Kind) -> Callable[[int, Stop], bool]:
    """Finds stops that are not inside of a call made here; of such a call only its far end."""
    here = session.run.stops[session.at]
    depth = here.depth - (here.kind in (Kind.CALL, Kind.RETURN))

    def beside(at: int, stop: Stop) -> bool:
        """True for a stop in this function, in one that called it, or at the far end of a call."""
        return stop.depth <= depth or (stop.kind is far_end and stop.depth == depth + 1)

    return beside


def _out(session: Session, rest: str) -> Answer:
    here = session.run.stops[session.at]
    depth = here.depth - (here.kind is Kind.RETURN)
    return _search(
        session,
        True,
        lambda at, stop: stop.depth < depth or (stop.depth, stop.kind) == (depth, Kind.RETURN),
        "",
    )


def _test(session: Session, rest: str) -> Answer:
    none = "there is no test ahead"
    return _search(session, True, lambda at, stop: stop.kind is Kind.TEST, none)


def _test_back(session: Session, rest: str) -> Answer:
    none = "there is no test before it"
    return _search(session, False, lambda at, stop: stop.kind is Kind.TEST, none)


def _continue(session: Session, rest: str) -> Answer:
    return _search(session, True, lambda at, _: _breaks(session, at), "no breakpoint ahead")


def _continue_back(session: Session, rest: str) -> Answer:
    return _search(session, False, lambda at, _: _breaks(session, at), "no breakpoint before it")


def _breaks(session: Session, at: int) -> bool:
    """True for the first stop at the line of a breakpoint, and for a call of its function."""
    stops = session.run.stops
    stop, source = stops[at], stops.source(at)
    if stop.kind is Kind.CALL and stop.frame.function in session.breakpoints:
        return True
    return source in session.breakpoints and (at == 1 or stops.source(at - 1) != source)


def _decision(session: Session, rest: str) -> Answer:
    after, lines = _to(session, session.run.stops.decision)
    return after, [*lines, *session.run.ended]


def _start(session: Session, rest: str) -> Answer:
    return _to(session, 0)


def _end(session: Session, rest: str) -> Answer:
    return _to(session, len(session.run.stops) - 1)


# --- breakpoints ------------------------------------------------------------------------------


def _break(session: Session, rest: str) -> Answer:
    if not rest:
        lines = [f"{number} {place}" for number, place in enumerate(session.breakpoints, 1)]
        return session, lines or ["no breakpoints; `break FUNCTION` or `break FILE:LINE` sets one"]
    asked = _place(session, rest)
    place = _reached(session, asked)
    if place in session.breakpoints:
        return session, [f"{place} has a breakpoint"]
    after = replace(session, breakpoints=(*session.breakpoints, place))
    note = "" if place == asked else f"; this run does nothing at {asked}"
    return after, [f"breakpoint {len(after.breakpoints)}: {place}{note}"]


def _reached(session: Session, place: str) -> str:
    """The place of a breakpoint: of a line at which the run does nothing, the next line of the file
    at which it does something. Raises `UsageError` if there is none."""
    file, _, number = place.rpartition(":")
    if not file:
        return place
    stops = session.run.stops
    places = (stops.source(at).rpartition(":") for at in range(1, len(stops) - 1))
    lines = {int(line) for name, _, line in places if name == file}
    later = [line for line in lines if line >= int(number)]
    if not later:
        raise UsageError(f"{place}: this run does nothing at this line, nor below")
    return f"{file}:{min(later)}"


def _place(session: Session, text: str) -> str:
    """The breakpoint that a text names: a line of a source, or a function of the run."""
    file, _, number = text.rpartition(":")
    sources = session.run.sources
    if number.isdigit():
        here = session.run.stops.source(session.at).rpartition(":")[0]
        matching = [name for name in sources if name == file or name.endswith(f"/{file}")]
        chosen = (file and matching) or ([here] if not file and here else [])
        if len(chosen) != 1:
            known = ", ".join(sorted(sources)[:6]) or "none is known"
            raise UsageError(f"{text[:60]}: not one source file; they are {known}")
        if not 0 < int(number) <= len(sources[chosen[0]]):
            lines = counted(len(sources[chosen[0]]), "line")
            raise UsageError(f"{text[:60]}: {chosen[0]} has {lines}")
        return f"{chosen[0]}:{int(number)}"
    functions = {stop.frame.function for stop in session.run.stops if stop.kind is Kind.CALL}
    if text not in functions:
        raise UsageError(
            f"{text[:60]}: no function that this run calls{nearest_or_all(text, functions)}"
        )
    return text


def _delete(session: Session, rest: str) -> Answer:
    if not rest:
        return replace(session, breakpoints=()), ["no breakpoints"]
    if not rest.isdigit() or not 0 < int(rest) <= len(session.breakpoints):
        raise UsageError(f"delete {rest[:60]}: the number of a breakpoint, or nothing for all")
    gone = int(rest) - 1
    left = tuple(place for at, place in enumerate(session.breakpoints) if at != gone)
    return replace(session, breakpoints=left), [f"deleted {session.breakpoints[gone]}"]


# --- looking ----------------------------------------------------------------------------------


def _show(session: Session, rest: str) -> Answer:
    return session, _shown(session)


def _values(session: Session, rest: str) -> Answer:
    frame = session.run.stops[session.at].frame
    known = session.run.request.known
    shown = [
        f"  {name} = {value_text(value, 70, known)}"
        for name, value in frame.values
        if rest or not _is_unread(frame, name)
    ]
    return session, shown or ["no values"]


def _is_unread(frame: Frame, name: str) -> bool:
    """True for an argument of the program itself that no rule looks at."""
    return frame.above is None and name in UNREAD


def _print(session: Session, rest: str) -> Answer:
    if not rest:
        return _values(session, rest)
    frames = reversed(session.run.stops[session.at].frame.path)
    for frame in frames:
        for name, value in frame.values:
            if name == rest:
                return session, [f"{name} = {_whole(value, session.run.request.known)}"]
    names = {name for frame in session.run.stops[session.at].frame.path for name, _ in frame.values}
    raise UsageError(f"{rest[:60]}: no value here{nearest_or_all(rest, names)}")


def _whole(value: Value, known: Mapping[bytes, str]) -> str:
    """A value with all of its bytes; a short atom also as a number, a hash with its name."""
    if isinstance(value, tuple):
        try:
            return f"({' '.join(_whole(item, known) for item in from_list(value))})"
        except NotAList:
            return f"({_whole(value[0], known)} . {_whole(value[1], known)})"
    if not value:
        return "()"
    text = f"0x{value.hex()}"
    if value in known:
        return f"{text} ({known[value]})"
    return f"{text} ({atom_to_int(value)})" if len(value) <= SHORT else text


def _where(session: Session, rest: str) -> Answer:
    frames = session.run.stops[session.at].frame.path
    return session, [f"  {_called(frame, session.run.request.known)}" for frame in frames]


def _called(frame: Frame, known: Mapping[bytes, str]) -> str:
    """An open call, with its values; the program itself without them."""
    values = [f"{name}={value_text(value, 20, known)}" for name, value in frame.values]
    return frame.function if frame.above is None else f"{frame.function}({', '.join(values)})"


def _list(session: Session, rest: str) -> Answer:
    lines = _source_lines(session, WIDE)
    return session, lines or ["no source is known here"]


def _info(session: Session, rest: str) -> Answer:
    return session, _title(session)


def _help(session: Session, rest: str) -> Answer:
    short = {name: letter for letter, name in _SHORT.items()}
    widest = max(len(command.usage or name) for name, command in _COMMANDS.items())
    return session, [
        f"  {short.get(name, ''):2} {command.usage or name:{widest}}  {command.about}"
        for name, command in _COMMANDS.items()
    ]


def _quit(session: Session, rest: str) -> Answer:
    return replace(session, over=True), []


# --- other cases ------------------------------------------------------------------------------


def _cases(session: Session, rest: str) -> Answer:
    return session, [
        f"{'>' if request is session.run.request else ' '} {number} {_name(request)}"
        for number, request in enumerate(session.cases, 1)
    ]


def _case(session: Session, rest: str) -> Answer:
    names = {_name(request): request for request in reversed(session.cases)}
    if rest.isdigit() and 0 < int(rest) <= len(session.cases):
        request = session.cases[int(rest) - 1]
    elif rest in names:
        request = names[rest]
    else:
        raise UsageError(f"case {rest[:60]}: a number from 1 to {len(session.cases)}, or an id")
    return _begun(session, request, ())


def _name(request: TraceRequest) -> str:
    return request.name if request.asked is None else request.asked[1].id


def _set(session: Session, rest: str) -> Answer:
    name, _, text = rest.partition(" ")
    request = session.run.request
    if request.asked is None:
        raise UsageError("this is a bare run, of a program and an environment: it has no fields")
    target, case = request.asked
    record = session.run.stops.record
    if not text.strip():
        fields = ", ".join(names_of_fields(case, record))
        raise UsageError(f"set FIELD VALUE: the fields are {fields}")
    changed = edited(case, record, name, text.strip())
    try:
        rerun = of_case(Path("set"), expecting(target, changed), target)
    except BadCase as error:
        raise UsageError(f"set {name}: {error}") from None
    return _begun(session, rerun, (*session.before, request))


def _undo(session: Session, rest: str) -> Answer:
    if not session.before:
        raise UsageError("nothing was set")
    return _begun(session, session.before[-1], session.before[:-1])


def _begun(session: Session, request: TraceRequest, before: tuple[TraceRequest, ...]) -> Answer:
    """Run a case from its beginning, with the same breakpoints."""
    run = debug_run(request)
    after = replace(session, run=run, at=0, before=before)
    return after, [*_title(after), *run.ended]


# --- text -------------------------------------------------------------------------------------


def _title(session: Session) -> list[str]:
    request, stops = session.run.request, session.run.stops
    case = "" if request.asked is None else f": {_name(request)} ({request.asked[1].tag})"
    name = request.name if request.target is None else f"{request.target.name}, {request.name}"
    changed = f", {len(session.before)} changed" if session.before else ""
    given = [
        f"  {name} = {value_text(value, 60, request.known)}"
        for name, value in stops.record.given()
        if request.asked is None or name not in UNREAD
    ]
    return [f"{name}{case}{changed}", *given]


def _shown(session: Session) -> list[str]:
    """A stop: its number, the open calls, the source, and what the run does."""
    stops, at = session.run.stops, session.at
    stop = stops[at]
    path = " > ".join(frame.function for frame in stop.frame.path)
    source = stops.source(at)
    head = f"[{at} of {len(stops) - 1}] {path}{f'  ; {source}' if source else ''}"
    lines = [head, *_source_lines(session, AROUND), f"  {stops.text(at)}"]
    return [*lines, *session.run.ended] if stop.kind is Kind.END else lines


def _source_lines(session: Session, around: int) -> list[str]:
    """The lines of the source around that of the stop, which is marked."""
    file, _, number = session.run.stops.source(session.at).rpartition(":")
    lines = session.run.sources.get(file, ())
    if not number.isdigit() or not lines:
        return []
    line = int(number)
    first, last = max(1, line - around), min(len(lines), line + around)
    return [
        f"{'>' if shown == line else ' '}{shown:4} | {lines[shown - 1]}"
        for shown in range(first, last + 1)
    ]


# --- the table --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does, its help, and whether an empty line repeats it."""

    do: Callable[[Session, str], Answer] = field(repr=False)
    about: str
    moves: bool = False
    usage: str = ""


_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "step": Command(_step, "go to the next step", True),
        "back": Command(_back, "go back one step", True),
        "next": Command(_next, "go to the next step, past calls", True),
        "previous": Command(_previous, "go back one step, past calls", True),
        "out": Command(_out, "go to where this function has returned", True),
        "test": Command(_test, "go to the next test", True),
        "untest": Command(_test_back, "go back to the test before", True),
        "decision": Command(_decision, "go to what decides, with the rule that it is about"),
        "continue": Command(_continue, "go to the next breakpoint", True),
        "reverse": Command(_continue_back, "go back to the breakpoint before", True),
        "start": Command(_start, "go to the beginning"),
        "end": Command(_end, "go to the end"),
        "break": Command(_break, "stop at a function or line", usage="break [FUNCTION|FILE:LINE]"),
        "delete": Command(_delete, "delete a breakpoint, or all", usage="delete [N]"),
        "show": Command(_show, "show this step again"),
        "list": Command(_list, "show more of the source"),
        "values": Command(_values, "show the values here; `values all` shows every one"),
        "print": Command(_print, "show one value as a whole", usage="print NAME"),
        "where": Command(_where, "show the open calls"),
        "info": Command(_info, "show the case"),
        "set": Command(_set, "change the case, and run it again", usage="set FIELD VALUE"),
        "undo": Command(_undo, "take back the last change"),
        "cases": Command(_cases, "list the cases"),
        "case": Command(_case, "run another case", usage="case N"),
        "help": Command(_help, "list the commands"),
        "quit": Command(_quit, "end"),
    }
)

_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "s": "step",
        "b": "back",
        "n": "next",
        "p": "previous",
        "o": "out",
        "t": "test",
        "u": "untest",
        "d": "decision",
        "c": "continue",
        "r": "reverse",
        "l": "list",
        "v": "values",
        "w": "where",
        "h": "help",
        "?": "help",
        "q": "quit",
    }
)
