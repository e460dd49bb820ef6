"""The text of Chialisp sources, before a compiler sees it: its words, and whether it is a form.

The compiler accepts prose as a program (a constant, its first word), and crashes on deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 500
"""Deeper forms the compiler takes long over, or crashes on."""

_TOKEN = re.compile(
    r""";[^\n]*                      # a comment
    | (?P<paren>[()])
    | (?P<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)
    | (?P<word>[^\s()]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDES = ("include", "import")


class Token(NamedTuple):
    """A parenthesis, a word, or what a string says; `at` is its index in the text."""

    kind: str
    text: str
    at: int


class BadForm(ValueError):
    """A text is no Chialisp, from the index `at` on."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, without comments.

    >>> [token.text for token in tokens('(c "a;b" x) ; y')]
    ['(', 'c', 'a;b', 'x', ')']
    """
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "string":
            yield Token(kind, found[0][1:-1], found.start())
        elif kind is not None:
            yield Token(kind, found[0], found.start())


def words(text: str) -> Iterator[Token]:
    """The tokens that may name a file: words and strings."""
    return (token for token in tokens(text) if token.kind != "paren")


def included(text: str) -> Iterator[Token]:
    """The names behind `(include` and `(import`."""
    before = [""] * 2
    for token in tokens(text):
        if token.kind != "paren" and before[0] == "(" and before[1] in _INCLUDES:
            yield token
        before = [before[1], token.text]


def check(text: str) -> None:
    """Check that a text is made of whole forms, not nested too deep. Raises `BadForm`.

    >>> check("hello")
    Traceback (most recent call last):
    channelsim.clsp.chialisp.BadForm: not Chialisp: a form begins with `(`, not ...
    """
    opened: list[int] = []
    first = ""
    some = False
    for kind, token, at in tokens(text):
        if kind == "string" and _is_open(text, at):
            raise BadForm("this string has no end", at)
        if not opened:
            if token == ")" and kind == "paren":
                raise BadForm("this `)` closes nothing", at)
            if some and first == "mod":
                raise BadForm("this stands behind the end of `(mod …)`", at)
            if kind != "paren":
                raise BadForm(f"not Chialisp: a form begins with `(`, not with {token[:40]!r}", at)
            first = ""
        if kind == "paren" and token == "(":
            opened.append(at)
            if len(opened) > DEEPEST:
                raise BadForm(f"nested deeper than {DEEPEST}", at)
        elif kind == "paren":
            opened.pop()
        elif not first:
            first = token
        some = True
    if opened:
        raise BadForm("this `(` is never closed", opened[-1])
    if not some:
        raise BadForm("not Chialisp: it has no form", len(text))


def _is_open(text: str, at: int) -> bool:
    found = _TOKEN.match(text, at)
    return found is None or len(found[0]) < 2 or not found[0].endswith(text[at])
