"""The work of `channelsim debug`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.debug.cases import position, requests_of_file, requests_of_target
from channelsim.channel.lab.debug.debugger import answered, started
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.trace.trace_text import TraceRequest
from channelsim.channel.report.plain import printable
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, say
from channelsim.games import registry

PROMPT = "(debug) "


def debug(file: str, target: str | None, case: str | None) -> int:
    """Step through one case, forward and back, with the author's source beside each step."""
    with progress("debug"):
        requests = _requests(file, target)
        first = 0 if case is None else position(requests, case)
        session, lines = started(requests, first)
    _print(lines)
    for line in _typed() if sys.stdin.isatty() else _piped(sys.stdin):
        session, lines = answered(session, line)
        _print(lines)
        if session.over:
            break
    return 0


def _requests(file: str, target: str | None) -> list[TraceRequest]:
    """The cases of a file or of a target. Raises `UsageError`."""
    if file in registry.names() or file.endswith(".toml") or not file.strip():
        if target is not None:
            raise UsageError("--target goes with a file of cases or a finding")
        return requests_of_target(load(file, partial=True))
    return requests_of_file(Path(file), target)


def _typed() -> Iterator[str]:
    """The lines that a person types."""
    while True:
        try:
            yield input(PROMPT)
        except EOFError:
            print()
            return


def _piped(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a pipe or a file, each printed behind a prompt, as if it were typed."""
    for line in lines:
        if line.strip():
            print(f"{PROMPT}{printable(line.strip())}")
            yield line


def _print(lines: Iterable[str]) -> None:
    out = console()
    for line in lines:
        say(out, line.expandtabs(4))
    sys.stdout.flush()
