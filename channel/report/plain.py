"""What a terminal without Unicode is shown: the same text in plain letters, just as wide.

Games and reports write real suits, lines and dashes; where the output's encoding lacks one of
them, it is replaced here, at the last moment, by what comes closest. What has no such form, as a
letter in somebody's file name, is escaped.
"""

from __future__ import annotations

import codecs

HANDLER = "channelsim.plain"
"""The error handler, for streams and for `str.encode`."""

_PLAIN = {
    **dict(zip("♣♦♥♠┌┐└┘─│", "cdhs++++-|", strict=True)),
    "–": "-",
    "—": "-",
    "−": "-",
    "·": ".",
    "×": "x",
    "≤": "<=",
    "→": "->",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}


def fitted(text: str, encoding: str) -> str:
    r"""The text with only such signs as the encoding has.

    >>> fitted("│10♥│ …", "ascii"), fitted("│10♥│", "utf-8"), fitted("♠ é", "latin-1")
    ('|10h| ...', '│10♥│', 's é')
    >>> fitted("Zoë → 3", "ascii")
    'Zo\\xeb -> 3'
    """
    try:
        return text.encode(encoding, HANDLER).decode(encoding)
    except LookupError:
        return fitted(text, "ascii")


def printable(text: str) -> str:
    """The text without what a terminal could not show.

    >>> printable("a\\udcffb")
    'a?b'
    """
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign) or _escaped(sign) for sign in signs), error.end


def _escaped(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(HANDLER, _replace)
