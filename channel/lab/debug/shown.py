"""Text of a stop: its case, the source around it, and the values there."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug.session import Answer, Session
from channelsim.channel.lab.debug.stops import Frame, Kind
from channelsim.channel.lab.trace.trace_text import UNREAD, TraceRequest
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.values import NotAList, Value, atom_to_int, from_list
from channelsim.games.names import nearest_or_all

AROUND = 2
"""Lines of source before and after the one of a stop."""

WIDE = 10
"""Those of `list`."""

SHORT = 8
"""Bytes of an atom that is also printed as a number."""


def name_of(request: TraceRequest) -> str:
    """The id of a case, or the program of a bare run."""
    return request.name if request.asked is None else request.asked[1].id


def title_lines(session: Session) -> list[str]:
    """The target, the case, and the arguments that rules look at."""
    request, stops = session.run.request, session.run.stops
    case = "" if request.asked is None else f": {name_of(request)}"
    if request.asked is not None and not request.cause:  # a finding's tag is the law that it breaks
        case += f" ({request.asked[1].tag})"
    name = request.name if request.target is None else f"{request.target.name}, {request.name}"
    changed = f", {len(session.before)} changed" if session.before else ""
    given = [
        f"  {name} = {value_text(value, 60, request.known)}"
        for name, value in stops.record.given()
        if request.asked is None or name not in UNREAD
    ]
    return [f"{name}{case}{changed}", *given]


def stop_lines(session: Session) -> list[str]:
    """A stop: its number, the open calls, the source, and what the run does."""
    stops, at = session.run.stops, session.at
    stop = stops[at]
    path = " > ".join(frame.function for frame in stop.frame.path)
    source = stops.source(at)
    head = f"[{at} of {len(stops) - 1}] {path}{f'  ; {source}' if source else ''}"
    lines = [head, *source_lines(session, AROUND), f"  {stops.text(at)}"]
    return [*lines, *session.run.ended] if stop.kind is Kind.END else lines


def source_lines(session: Session, around: int) -> list[str]:
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


# --- commands ------------------------------------------------------------------------------------


def show(session: Session, rest: str) -> Answer:
    """Show this step again."""
    return session, stop_lines(session)


def values(session: Session, rest: str) -> Answer:
    """Show the values here; `values all` shows every one."""
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


def print_value(session: Session, rest: str) -> Answer:
    """Show one value as a whole."""
    if not rest:
        return values(session, rest)
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


def open_calls(session: Session, rest: str) -> Answer:
    """Show the open calls."""
    frames = session.run.stops[session.at].frame.path
    return session, [f"  {_called(frame, session.run.request.known)}" for frame in frames]


def _called(frame: Frame, known: Mapping[bytes, str]) -> str:
    """An open call, with its values; the program itself without them."""
    values = [f"{name}={value_text(value, 20, known)}" for name, value in frame.values]
    return frame.function if frame.above is None else f"{frame.function}({', '.join(values)})"


def list_source(session: Session, rest: str) -> Answer:
    """Show more of the source."""
    lines = source_lines(session, WIDE)
    return session, lines or ["no source is known here"]


def info(session: Session, rest: str) -> Answer:
    """Show the case."""
    return session, title_lines(session)
