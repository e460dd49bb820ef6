"""Values of options and arguments: read and bounded in one place, whichever command takes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from channel.errors import UsageError
from channel.report.plain import printable

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_REAL = re.compile(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(e[+-]?[0-9]{1,3})?", re.I)

LONGEST = 60
"""Longer values are cut where a message shows them."""


def whole(least: int, most: int, help: str) -> Any:
    """An option that takes a whole number within these bounds."""
    return typer.Option(parser=whole_number(least, most), metavar="N", help=help)


def real(least: float, most: float, help: str) -> Any:
    """An option that takes a number, perhaps with a fraction, within these bounds."""
    return typer.Option(parser=real_number(least, most), metavar="N", help=help)


def seed_text(help: str) -> Any:
    """An option that takes a seed: any text."""
    return typer.Option(parser=_text, metavar="TEXT", help=help)


def file_option(help: str, *names: str) -> Any:
    """An option that names a file or a folder."""
    return typer.Option(*names, parser=_path, metavar="PATH", help=help)


def file_argument(help: str) -> Any:
    """An argument that names a file."""
    return typer.Argument(parser=_path, help=help)


def _path(value: Any) -> Path:
    """An empty name, as of a shell variable that is not set, would be the current folder."""
    if not str(value):
        raise typer.BadParameter("'': no name of a file")
    return Path(value)


def _text(value: Any) -> str:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        raise typer.BadParameter(f"{_shown(value)}: not text in this terminal's encoding") from None
    return str(value)


def whole_number(least: int, most: int) -> Callable[[Any], int]:
    """A reader of whole numbers within these bounds.

    >>> whole_number(1, 256)("12")
    12
    >>> whole_number(1, 256)("abc")
    Traceback (most recent call last):
    typer._click.exceptions.BadParameter: abc: a whole number from 1 to 256
    """

    def read(value: Any) -> int:
        text = str(value)
        if _WHOLE.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        raise typer.BadParameter(f"{_shown(text)}: a whole number from {least} to {most}")

    return read


def real_number(least: float, most: float) -> Callable[[Any], float]:
    """A reader of finite numbers within these bounds.

    >>> real_number(0.1, 60)("2.5")
    2.5
    >>> real_number(0.1, 60)("inf")
    Traceback (most recent call last):
    typer._click.exceptions.BadParameter: inf: a number from 0.1 to 60
    """

    def read(value: Any) -> float:
        text = str(value)
        if _REAL.fullmatch(text) and least <= float(text) <= most:
            return float(text)
        raise typer.BadParameter(f"{_shown(text)}: a number from {least:.12g} to {most:.12g}")

    return read


def _shown(text: str) -> str:
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return cut or "''"


def json_wanted(json: bool, text: bool) -> bool:
    """Whether a command whose text is for a terminal prints JSON: in a pipe, unless told."""
    if json and text:
        raise UsageError("--text and --json: one or the other")
    return json or not (text or sys.stdout.isatty())


def complain(text: str) -> None:
    """Print one line on stderr, without what could move a terminal's cursor."""
    print(f"channelsim: {printable(' '.join(text.split()))}", file=sys.stderr)


def all_tried(what: str, programs: Iterable[str], tried: Container[str], hint: str) -> bool:
    """Whether every one of these programs was tried; those that were not are named on stderr."""
    left = [name for name in programs if name not in tried]
    if left:
        complain(f"{what}: never tried: {', '.join(left)}; {hint}")
    return not left


def refuse(reason: str, **given: object) -> None:
    """Raise `UsageError` for the first of these options that was given, with the reason."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise UsageError(f"--{name.replace('_', '-')}: {reason}")


def in_one_line(error: TyperException) -> str:
    """What is wrong with a command line: the option or argument, its value, and where to look."""
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
    return f"{text} (see `{command} --help`)"
