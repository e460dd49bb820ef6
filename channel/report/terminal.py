"""Consoles, wrapped text and JSON, adapted to the terminal and to the user's settings.

- `NO_COLOR` (not empty): no colours or other styles, even at a terminal.
- `FORCE_COLOR` (not empty): colours in a pipe as well. `NO_COLOR` takes precedence.
- The locale `C`, or an output that is not UTF-8: plain letters (see `channel.report.plain`).
- `COLUMNS` sets the width. By default it is the terminal's own, and unlimited in a pipe, so that
  each row of a table is one line.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Literal

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from channelsim.channel.report.plain import fitted, printable

UNLIMITED = 10_000
"""Columns of an output that is not a screen."""

NARROWEST = 20
"""A smaller value of `COLUMNS` is ignored."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the error to the command line; rich would exit with 1."""
        raise


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error; every command uses this one."""
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream.isatty()
    return _Console(
        stderr=stderr,
        highlight=False,
        force_terminal=terminal,
        color_system=_colours(terminal),
        width=_width(terminal),
        # rich would accept any number of columns or lines.
        _environ={key: os.environ[key] for key in os.environ if key not in ("COLUMNS", "LINES")},
    )


def _colours(terminal: bool) -> Literal["auto", "standard"] | None:
    if os.environ.get("NO_COLOR"):
        return None
    if terminal and os.environ.get("TERM") not in ("dumb", "unknown"):
        return "auto"
    return "standard" if os.environ.get("FORCE_COLOR") else None


def _width(terminal: bool) -> int | None:
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and NARROWEST <= int(columns[:6]) <= UNLIMITED:
        return int(columns)
    return None if terminal else UNLIMITED


def say(console: Console, text: str | Text = "", style: str = "") -> None:
    """Print a line of text, wrapped between words; a word longer than the line is not broken."""
    if isinstance(text, str):
        lines = (printable(line) for line in text.split("\n"))
        text = Text(fitted("\n".join(lines), console.encoding), style=style)
    for line in wrapped(text, console.width):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


def wrapped(text: Text, width: int) -> list[Text]:
    """The lines of a text, broken only at spaces, so that a long word may exceed the width.

    >>> [line.plain for line in wrapped(Text("  pays 1,000 mojos to Bob"), 12)]
    ['  pays 1,000', 'mojos to Bob']
    """
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        plain, start, breaks = line.plain, 0, []
        words = re.finditer(r"\S+", plain) if line.cell_len > width else ()
        for word in words:
            if plain[start : word.start()].strip() and cell_len(plain[start : word.end()]) > width:
                start = word.start()
                breaks.append(start)
        lines += line.divide(breaks)
    for line in lines:
        line.rstrip()
    return lines


def print_json(data: Any) -> None:
    """Print one JSON document on standard output, in ASCII where the output is not UTF-8."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(msgspec.to_builtins(data), indent=2, ensure_ascii=not unicode))


def json_line(data: Any) -> str:
    """JSON on one line, in ASCII, so that it can be copied from any terminal."""
    return json.dumps(msgspec.to_builtins(data), separators=(",", ":"))
