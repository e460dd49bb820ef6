"""Commands that go to another stop of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from channelsim.channel.lab.debug.session import Answer, Session
from channelsim.channel.lab.debug.shown import stop_lines
from channelsim.channel.lab.debug.stops import Kind, Stop


def _to(session: Session, at: int, note: str = "") -> Answer:
    """Go to a stop, and show it."""
    after = replace(session, at=at)
    return after, [*([note] if note else []), *stop_lines(after)]


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


def step(session: Session, rest: str) -> Answer:
    """Go to the next step."""
    return _search(session, True, lambda at, stop: True, "")


def back(session: Session, rest: str) -> Answer:
    """Go back one step."""
    return _search(session, False, lambda at, stop: True, "")


def next_stop(session: Session, rest: str) -> Answer:
    """Go to the next step, past calls."""
    return _search(session, True, _beside(session, Kind.RETURN), "")


def previous(session: Session, rest: str) -> Answer:
    """Go back one step, past calls."""
    return _search(session, False, _beside(session, Kind.CALL), "")


def _beside(session: Session, far_end: Kind) -> Callable[[int, Stop], bool]:
    """Finds stops that are not inside of a call made here; of such a call only its far end."""
    here = session.run.stops[session.at]
    depth = here.depth - (here.kind in (Kind.CALL, Kind.RETURN))

    def beside(at: int, stop: Stop) -> bool:
        """True for a stop in this function, in one that called it, or at the far end of a call."""
        return stop.depth <= depth or (stop.kind is far_end and stop.depth == depth + 1)

    return beside


def out(session: Session, rest: str) -> Answer:
    """Go to where this function has returned."""
    here = session.run.stops[session.at]
    depth = here.depth - (here.kind is Kind.RETURN)
    return _search(
        session,
        True,
        lambda at, stop: stop.depth < depth or (stop.depth, stop.kind) == (depth, Kind.RETURN),
        "",
    )


def test(session: Session, rest: str) -> Answer:
    """Go to the next test."""
    none = "there is no test ahead"
    return _search(session, True, lambda at, stop: stop.kind is Kind.TEST, none)


def test_back(session: Session, rest: str) -> Answer:
    """Go back to the test before."""
    none = "there is no test before it"
    return _search(session, False, lambda at, stop: stop.kind is Kind.TEST, none)


def go_on(session: Session, rest: str) -> Answer:
    """Go to the next breakpoint."""
    return _search(session, True, lambda at, _: _breaks(session, at), "no breakpoint ahead")


def go_back_on(session: Session, rest: str) -> Answer:
    """Go back to the breakpoint before."""
    return _search(session, False, lambda at, _: _breaks(session, at), "no breakpoint before it")


def _breaks(session: Session, at: int) -> bool:
    """True for the first stop at the line of a breakpoint, and for a call of its function."""
    stops = session.run.stops
    stop, source = stops[at], stops.source(at)
    if stop.kind is Kind.CALL and stop.frame.function in session.breakpoints:
        return True
    return source in session.breakpoints and (at == 1 or stops.source(at - 1) != source)


def decision(session: Session, rest: str) -> Answer:
    """Go to what decides, with the rule that it is about."""
    after, lines = _to(session, session.run.stops.decision)
    return after, [*lines, *session.run.ended]


def start(session: Session, rest: str) -> Answer:
    """Go to the beginning."""
    return _to(session, 0)


def end(session: Session, rest: str) -> Answer:
    """Go to the end."""
    return _to(session, len(session.run.stops) - 1)
