"""Messages about unknown names: the nearest known one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

DEFAULT = "spacepoker"
"""The game of commands and examples that name none."""

LONGEST = 60
"""Longer names are cut before comparison and display."""

_MOST_SHOWN = 20
_MOST_QUOTED = 300
_MOST_COMPARED = 10_000


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name nearest to a wrong one, as a question in parentheses; empty if none is near.

    >>> nearest("agressive", ["caller", "aggressive"]), nearest("Caller", ["caller"])
    (' (did you mean aggressive?)', ' (did you mean caller?)')
    >>> nearest("zzz", ["caller", "aggressive"])
    ''
    """
    plain = {right.lower(): right for right in known}
    near = get_close_matches(name[:LONGEST].lower(), list(plain), 1, 0.6)
    return f" (did you mean {plain[near[0]]}?)" if near else ""


def quoted(name: str) -> str:
    """A name for a message: in quotes, and cut if it is too long.

    >>> quoted("chess"), quoted("x" * 99) == repr("x" * 60 + "…")
    ("'chess'", True)
    """
    return repr(name if len(name) <= LONGEST else name[:LONGEST] + "…")


def nearest_or_all(name: str, known: Iterable[str]) -> str:
    """A hint after a wrong name: the nearest right one, or all if none is near.

    >>> nearest_or_all("nmae", ["name", "rules"]), nearest_or_all("x", ["name", "rules"])
    ('; did you mean `name`?', '; there are `name`, `rules`')
    """
    names = list(islice(known, _MOST_COMPARED))
    near = get_close_matches(name, names, 1)
    if near:
        return f"; did you mean `{printable(near[0])}`?"
    if not 0 < len(names) <= _MOST_SHOWN:
        return ""
    return f"; there are {', '.join(f'`{printable(right)}`' for right in names)}"


def printable(text: str) -> str:
    """A text of any origin as one line that is safe to print on a terminal.

    >>> printable("a\\x1b[2Jb\\nc")
    'a\\ufffd[2Jb\\ufffdc'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= _MOST_QUOTED else shown[:_MOST_QUOTED] + "…"
