"""Replace characters that the output cannot show by plain ones, mostly of the same width.

Games and reports write suits, box lines and dashes in Unicode. Where the encoding of the output
lacks one of them, the closest plain character replaces it as it is printed. A character without a
replacement, such as a letter in a file name, is escaped.
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
    r"""The text in characters that the encoding has.

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
    """The text with `?` for each character that a terminal cannot show.

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
