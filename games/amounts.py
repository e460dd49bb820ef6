"""Amounts as people read and write them: in units where that is short, and always in mojos."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from channelsim.games.errors import IllegalAction
from channelsim.games.names import quoted

MAX_AMOUNT = 2**63 - 1
"""The highest amount of a game, in mojos."""

LONGEST = 60
"""The greatest number of digits that is read."""

_NUMBER = re.compile(r"(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]*)?|\.[0-9]+")


def counted(count: int, noun: str) -> str:
    """A count, its digits in groups of three, with its noun in the singular or plural.

    >>> counted(1, "mojo"), counted(2500, "case"), counted(0, "adversary")
    ('1 mojo', '2,500 cases', '0 adversaries')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a noun that `counted` knows.

    >>> plural("case"), plural("adversary"), plural("branch")
    ('cases', 'adversaries', 'branches')
    """
    if noun.endswith("ch"):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def in_units(mojos: int, unit: int) -> str:
    """An amount in units as a decimal number, rounded to three places (marked by `~`).

    >>> in_units(200, 100), in_units(250, 100), in_units(1, 7), in_units(10_000, 1)
    ('2', '2.5', '~0.143', '10,000')
    """
    exact = Fraction(1000 * mojos, unit)
    rounded = round(exact)
    text = f"{rounded // 1000:,}.{rounded % 1000:03}".rstrip("0").rstrip(".")
    return text if rounded == exact else f"~{text}"


@lru_cache(maxsize=4096)
def amount_text(mojos: int, unit: int) -> str:
    """An amount for a sentence: units and mojos, or mojos alone where units are no short number.

    >>> amount_text(2000, 100), amount_text(100, 100), amount_text(1, 7), amount_text(3, 1)
    ('20 units (2,000 mojos)', '1 unit (100 mojos)', '1 mojo', '3 mojos')
    """
    plain = counted(mojos, "mojo")
    units = in_units(mojos, unit)
    if unit == 1 or units.startswith("~"):
        return plain
    return f"{units} unit{'' if mojos == unit else 's'} ({plain})"


def short_number(number: int) -> str:
    """A number for a message: a stranger's may have thousands of digits.

    >>> short_number(-3), short_number(10**5000)
    ('-3', 'absurd size')
    """
    return str(number) if abs(number) <= MAX_AMOUNT else "absurd size"


def read_amount(text: str, unit: int) -> int:
    """Read an amount as people write it: `2` or `2.5` in units, `250m` or `1,250m` in mojos.

    Raises `IllegalAction` for a text that is not a number, no whole number of mojos, or too long.

    >>> read_amount("2.5", 100), read_amount("250m", 100), read_amount("1,250m", 100)
    (250, 250, 1250)
    """
    digits = text.removesuffix("m")
    scale = unit if digits == text else 1
    if not _NUMBER.fullmatch(digits):
        raise IllegalAction(
            f"{quoted(text)} is not an amount: write units (2, 2.5) or mojos (250m)"
        )
    if len(digits) > LONGEST:
        raise IllegalAction(f"{quoted(text)} is out of bounds: no amount has so many digits")
    amount = Fraction(digits.replace(",", "")) * scale
    if amount.denominator != 1:
        raise IllegalAction(f"{text!r} is not a whole number of mojos; a unit is {unit:,}")
    return int(amount)
