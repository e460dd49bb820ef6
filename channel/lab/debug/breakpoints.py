"""Commands that set and delete breakpoints: a function, or a line of a source."""

from __future__ import annotations

from dataclasses import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug.session import Answer, Session
from channelsim.channel.lab.debug.stops import Kind
from channelsim.games.amounts import counted
from channelsim.games.names import nearest_or_all


def set_breakpoint(session: Session, rest: str) -> Answer:
    """Stop at a function or line."""
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


def delete_breakpoint(session: Session, rest: str) -> Answer:
    """Delete a breakpoint, or all."""
    if not rest:
        return replace(session, breakpoints=()), ["no breakpoints"]
    if not rest.isdigit() or not 0 < int(rest) <= len(session.breakpoints):
        raise UsageError(f"delete {rest[:60]}: the number of a breakpoint, or nothing for all")
    gone = int(rest) - 1
    left = tuple(place for at, place in enumerate(session.breakpoints) if at != gone)
    return replace(session, breakpoints=left), [f"deleted {session.breakpoints[gone]}"]
