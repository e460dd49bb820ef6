"""Messages on stderr: one line each."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from typer.exceptions import TyperException

from channelsim.channel.report.plain import printable
from channelsim.games.amounts import counted

_ELSEWHERE = {"no such command 'bench'": "`scripts/bench` in the repository measures it"}
"""Where to go, by the error."""


def complain(text: str) -> None:
    """Print one line on stderr, without anything that could move a terminal's cursor.

    Where stderr cannot be written, the exit code has to do.
    """
    try:
        print(f"channelsim: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what a stream that cannot be written still holds, or Python would try at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def all_tried(what: str, programs: Iterable[str], tried: Container[str], hint: str) -> bool:
    """True if every one of these programs was tried; name the others on stderr."""
    left = untried(programs, tried, hint)
    if left:
        complain(f"{what}: {left}")
    return not left


def untried(programs: Iterable[str], tried: Container[str], hint: str) -> str:
    """The programs that were not tried, with a hint what to do; "" for none.

    >>> untried(["bet", "end"], {"bet"}, "try --cases 100")
    'never tried: end; try --cases 100'
    """
    left = never_tried(programs, tried)
    return f"{left}; {hint}" if left else ""


def never_tried(programs: Iterable[str], tried: Container[str]) -> str:
    """The programs that were not tried, in words; "" for none."""
    left = [name for name in programs if name not in tried]
    return f"never tried: {', '.join(left)}" if left else ""


def not_checked(laws: Mapping[str, str]) -> list[str]:
    """The laws that are not checked, a line for each reason.

    >>> not_checked({"cost": "no program of a", "shares": "no program of a"})
    ['no program of a: not checked there: cost, shares']
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in laws.items():
        by_reason.setdefault(reason, []).append(name)
    return [
        f"{reason}: not checked there: {', '.join(names)}" for reason, names in by_reason.items()
    ]


def withheld(unreached: int) -> str:
    """The differences of which no finding is made, in words.

    >>> withheld(0)
    'withheld: 0 cases, in states that no play is known to reach'
    """
    return f"withheld: {counted(unreached, 'case')}, in states that no play is known to reach"


def unfinished_output(path: Path) -> str:
    """The state of the output file of an interrupted command."""
    return f"{path} is left as it was" if os.path.lexists(path) else f"{path} is not written"


def resuming_command() -> str:
    """The command that resumes the campaign of this one, for a shell."""
    given = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return shlex.join(("channelsim", *given, "--resume"))


def wrong_arguments(error: TyperException) -> str:
    """The error in a command line: the option or argument, its value, and the help to read."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = context.command_path if context else "channelsim"
    text = error.message.rstrip(".")
    if parameter is None:
        text = text[:1].lower() + text[1:]
    else:
        option = max(parameter.opts, key=len)
        name = option if option.startswith("-") else option.upper()
        text = f"{name} {text}" if text else f"{name} is missing"
    near = getattr(error, "possibilities", None)
    if near:
        text += f" (did you mean {' or '.join(near)}?)"
    return f"{text} ({_ELSEWHERE.get(text, f'see `{command} --help`')})"
