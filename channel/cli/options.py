"""Options and arguments that several commands take, and how their values are read and bounded."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, dataclass_transform

import typer

from channelsim.channel.errors import UsageError

T = TypeVar("T")

_HASH = re.compile(r"(0x)?[0-9a-f]{64}", re.I)
_WHOLE = re.compile(r"[+-]?([0-9]{1,40}|[0-9]{1,3}(,[0-9]{3}){1,12})")
_REAL = re.compile(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(e[+-]?[0-9]{1,3})?", re.I)

LONGEST = 60
"""Longer values are cut where a message shows them."""

MOST_MOJOS = 2_000_000_000_000
"""The most mojos that a wallet of the embedded node holds."""
MOST_CASES = 1_000_000_000
DAY = 86_400.0
"""Seconds."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def option_group(cls: type[T]) -> type[T]:
    """Make a class a group of options: a command that takes it has an option for each field."""
    return dataclass(frozen=True, kw_only=True, slots=True)(cls)


def whole(least: int, most: int, help: str) -> Any:
    """An option that takes a whole number within these bounds."""
    return typer.Option(parser=whole_number(least, most), metavar="N", help=help)


def real(least: float, most: float, help: str) -> Any:
    """An option that takes a finite number within these bounds."""
    return typer.Option(parser=real_number(least, most), metavar="N", help=help)


def text(help: str, metavar: str | None = None, *names: str) -> Any:
    """An option that takes a text."""
    return typer.Option(*names, metavar=metavar, help=help)


def argument(help: str) -> Any:
    """An argument that takes a text."""
    return typer.Argument(help=help)


def flag(help: str, *names: str) -> Any:
    """An option that is given or not; its name is that of the parameter unless it has another."""
    return typer.Option(*names, help=help)


def file_option(help: str, *names: str) -> Any:
    """An option that names a file or a folder."""
    return typer.Option(*names, parser=_path, metavar="PATH", help=help)


def file_argument(help: str) -> Any:
    """An argument that names a file."""
    return typer.Argument(parser=_path, help=help)


def whole_number(least: int, most: int) -> Callable[[Any], int]:
    """A reader of whole numbers within these bounds, also in groups of three digits.

    >>> whole_number(1, 256)("12"), whole_number(1, 5000)("1,234")
    (12, 1234)
    >>> whole_number(1, 256)("abc")
    Traceback (most recent call last):
    typer._click.exceptions.BadParameter: abc: a whole number from 1 to 256
    """

    def read(value: Any) -> int:
        """Read one value. Raises `BadParameter` for any other."""
        text = str(value)
        if _WHOLE.fullmatch(text) and least <= (number := int(text.replace(",", ""))) <= most:
            return number
        raise typer.BadParameter(f"{_shown(text)}: a whole number from {least:,} to {most:,}")

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
        """Read one value. Raises `BadParameter` for any other."""
        text = str(value)
        if _REAL.fullmatch(text) and least <= float(text) <= most:
            return float(text)
        raise typer.BadParameter(f"{_shown(text)}: a number from {least:,.12g} to {most:,.12g}")

    return read


def hash_of(value: Any) -> bytes:
    """A hash from its 64 hex digits.

    >>> hash_of("0x" + 32 * "05") == bytes([5]) * 32
    True
    >>> hash_of("05")
    Traceback (most recent call last):
    typer._click.exceptions.BadParameter: 05: not 64 hex digits
    """
    text = str(value)
    if not _HASH.fullmatch(text):
        raise typer.BadParameter(f"{_shown(text)}: not 64 hex digits")
    return bytes.fromhex(text[-64:])


def _path(value: Any) -> Path:
    # An empty name, as from an unset shell variable, would mean the current folder.
    if not str(value):
        raise typer.BadParameter("'': no name of a file")
    return Path(value)


def _text(value: Any) -> str:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        raise typer.BadParameter(f"{_shown(value)}: not text in this terminal's encoding") from None
    return str(value)


def _shown(text: str) -> str:
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return cut or "''"


_SEED = typer.Option(
    parser=_text, metavar="TEXT", help="Any text; the same seed gives the same results."
)
Seed = Annotated[str, _SEED]
SeedOrNone = Annotated[str | None, _SEED]
Json = Annotated[bool, flag("Print one JSON document.")]
InText = Annotated[
    bool, flag("Print text, even into a pipe (where JSON is the default).", "--text")
]
NoProgress = Annotated[bool, flag("Show no progress.", "--quiet")]
Quiet = Annotated[bool, flag("Print only the result.")]
Mix = Annotated[bool, flag("Let one block in three carry transactions, as on mainnet.", "--mix")]
Watch = Annotated[
    bool,
    flag(
        "Run again whenever a file of the target is saved, and print a line for each"
        " run, until Ctrl-C.",
        "--watch",
    ),
]
Jobs = Annotated[int | None, whole(1, 256, "How many processes (one per core).")]
MaxFee = Annotated[
    int | None,
    whole(
        0,
        MOST_MOJOS,
        "The most that a spend may pay as its fee, in mojos; 0: no fees (1 % of what is at stake"
        " for the spend; the fee is the node's estimate times the spend's cost, and rises while it"
        " is not confirmed).",
    ),
]
MaxFees = Annotated[
    int | None,
    whole(
        0,
        MOST_MOJOS,
        "The most that all fees of the channel may cost, in mojos; 0: no fees (5 % of the"
        " channel's money, or 20 times --max-fee if that is more).",
    ),
]
TargetName = Annotated[str, argument("An installed game, or a TOML file that names programs.")]


def processes(jobs: int | None) -> int:
    """The number of processes to use: as many as asked for, or one per core."""
    return jobs or os.cpu_count() or 1


@option_group
class OutputForm:
    """The options of commands that print text at a terminal, and JSON in a pipe."""

    json: Json = False
    text: InText = False

    @property
    def as_json(self) -> bool:
        """True if JSON is printed: on request, and in a pipe unless text is requested."""
        return self.json or not (self.text or sys.stdout.isatty())


def refuse(reason: str, **given: object) -> None:
    """Raise `UsageError` for the first of these options that was given, with the reason."""
    for name, value in given.items():
        if is_given(value):
            raise UsageError(f"--{name.replace('_', '-')}: {reason}")


def is_given(value: object) -> bool:
    """True unless a value is that of an option which was left out."""
    return value is not None and value is not False and value not in ((), [])


def policy_pair(text: str) -> tuple[str, str]:
    """The policies of both peers from A or A,B. Raises `UsageError`.

    >>> policy_pair("random, caller"), policy_pair("random")
    (('random', 'caller'), ('random', 'random'))
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) > 2 or not all(names):
        raise UsageError(f"--policy {text}: one per player, as in `random,random`")
    return names[0], names[-1]


def game_names(text: str) -> tuple[str, ...]:
    """The games in a list with commas; none for an empty text."""
    return tuple(name.strip() for name in text.split(",")) if text.strip() else ()
