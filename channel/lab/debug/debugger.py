"""The debugger as a state machine: a command comes in, and text goes out.

A session is a value. `answered` takes it and a line, and returns the next session and what to
print; it reads and prints nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug import breakpoints, moving, shown
from channelsim.channel.lab.debug.edits import edited, expecting, names_of_fields
from channelsim.channel.lab.debug.session import Answer, Session, debug_run
from channelsim.channel.lab.trace.trace_text import TraceRequest, of_case
from channelsim.games.names import nearest_or_all
from channelsim.games.vectors import BadCase


def started(cases: Sequence[TraceRequest], first: int = 0) -> Answer:
    """Begin with one of these cases. Raises `UsageError` if it cannot be traced."""
    session = Session(debug_run(cases[first]), tuple(cases))
    lines = [*shown.title_lines(session), *shown.stop_lines(session)]
    return session, [*lines, "`help` lists the commands"]


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


def _help(session: Session, rest: str) -> Answer:
    """List the commands."""
    short = {name: letter for letter, name in _SHORT.items()}
    widest = max(len(command.usage or name) for name, command in _COMMANDS.items())
    return session, [
        f"  {short.get(name, ''):2} {command.usage or name:{widest}}  {command.about}"
        for name, command in _COMMANDS.items()
    ]


def _quit(session: Session, rest: str) -> Answer:
    """End."""
    return replace(session, over=True), []


# --- other cases ------------------------------------------------------------------------------


def _cases(session: Session, rest: str) -> Answer:
    """List the cases."""
    return session, [
        f"{'>' if request is session.run.request else ' '} {number} {shown.name_of(request)}"
        for number, request in enumerate(session.cases, 1)
    ]


def _case(session: Session, rest: str) -> Answer:
    """Run another case."""
    names = {shown.name_of(request): request for request in reversed(session.cases)}
    if rest.isdigit() and 0 < int(rest) <= len(session.cases):
        request = session.cases[int(rest) - 1]
    elif rest in names:
        request = names[rest]
    else:
        raise UsageError(f"case {rest[:60]}: a number from 1 to {len(session.cases)}, or an id")
    return _begun(session, request, ())


def _set(session: Session, rest: str) -> Answer:
    """Change the case, and run it again."""
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
    """Take back the last change."""
    if not session.before:
        raise UsageError("nothing was set")
    return _begun(session, session.before[-1], session.before[:-1])


def _begun(session: Session, request: TraceRequest, before: tuple[TraceRequest, ...]) -> Answer:
    """Run a case from its beginning, with the same breakpoints."""
    run = debug_run(request)
    after = replace(session, run=run, at=0, before=before)
    return after, [*shown.title_lines(after), *run.ended]


# --- the table --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A command; its help is the docstring. `moves`: an empty line repeats it."""

    do: Callable[[Session, str], Answer] = field(repr=False)
    moves: bool = False
    usage: str = ""

    @property
    def about(self) -> str:
        """The help of the command, as the list of all has it."""
        text = (self.do.__doc__ or "").rstrip(".")
        return text[:1].lower() + text[1:]


_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "step": Command(moving.step, moves=True),
        "back": Command(moving.back, moves=True),
        "next": Command(moving.next_stop, moves=True),
        "previous": Command(moving.previous, moves=True),
        "out": Command(moving.out, moves=True),
        "test": Command(moving.test, moves=True),
        "untest": Command(moving.test_back, moves=True),
        "decision": Command(moving.decision),
        "continue": Command(moving.go_on, moves=True),
        "reverse": Command(moving.go_back_on, moves=True),
        "start": Command(moving.start),
        "end": Command(moving.end),
        "break": Command(breakpoints.set_breakpoint, usage="break [FUNCTION|FILE:LINE]"),
        "delete": Command(breakpoints.delete_breakpoint, usage="delete [N]"),
        "show": Command(shown.show),
        "list": Command(shown.list_source),
        "values": Command(shown.values),
        "print": Command(shown.print_value, usage="print NAME"),
        "where": Command(shown.open_calls),
        "info": Command(shown.info),
        "set": Command(_set, usage="set FIELD VALUE"),
        "undo": Command(_undo),
        "cases": Command(_cases),
        "case": Command(_case, usage="case N"),
        "help": Command(_help),
        "quit": Command(_quit),
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
