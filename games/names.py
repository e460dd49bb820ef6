"""What to say of a name that nobody knows: which of the known ones is nearest."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 60
"""Longer names are cut before they are compared or shown."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name nearest to a wrong one, as a question in parentheses; else nothing.

    >>> nearest("agressive", ["caller", "aggressive"]), nearest("Caller", ["caller"])
    (' (did you mean aggressive?)', ' (did you mean caller?)')
    >>> nearest("zzz", ["caller", "aggressive"])
    ''
    """
    plain = {one.lower(): one for one in known}
    near = get_close_matches(name[:LONGEST].lower(), list(plain), 1, 0.6)
    return f" (did you mean {plain[near[0]]}?)" if near else ""


def quoted(name: str) -> str:
    """A name for a message: in quotes, and cut where it is longer than any name.

    >>> quoted("chess"), quoted("x" * 99) == repr("x" * 60 + "…")
    ("'chess'", True)
    """
    return repr(name if len(name) <= LONGEST else name[:LONGEST] + "…")
