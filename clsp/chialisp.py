"""The text of Chialisp sources, before a compiler sees it: its words, its forms, its references.

The compiler accepts prose as a program (a constant, its first word), and crashes on deep nesting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
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
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "string":
            yield Token(kind, match[0][1:-1], match.start())
        elif kind is not None:
            yield Token(kind, match[0], match.start())


def words(text: str) -> Iterator[Token]:
    """The tokens that may name a file: words and strings."""
    return (token for token in tokens(text) if token.kind != "paren")


class Link(Enum):
    """A way in which a source may refer to another file."""

    INCLUDE = auto()
    IMPORT = auto()
    COMPILE = auto()
    DATA = auto()


class Reference(NamedTuple):
    """A word of a source that may name a file."""

    link: Link
    token: Token


def references(text: str) -> Iterator[Reference]:
    """The words of a source that may name files, in order.

    Any word with a dot or a slash may name one, whatever form it stands in.

    >>> [(link.name, token.text) for link, token in references(
    ...     "(import qualified a.b as c) (include lib.clinc) (embed-file K bin image) x.y (f x)")]
    [('IMPORT', 'a.b'), ('INCLUDE', 'lib.clinc'), ('DATA', 'image'), ('DATA', 'x.y')]
    """
    forms: list[list[str]] = []
    for token in tokens(text):
        if token.kind == "paren":
            if token.text == "(":
                forms.append([])
            elif forms:
                forms.pop()
            continue
        before = forms[-1] if forms else []
        link = _link(before)
        if before == ["import"] and token.text == "qualified":
            link = None
        if link is not None or "." in token.text or "/" in token.text:
            yield Reference(link or Link.DATA, token)
        before.append(token.text)


def _link(before: list[str]) -> Link | None:
    """The link that the next word of a form makes, by the words before it; None for none."""
    match before:
        case ["include"]:
            return Link.INCLUDE
        case ["import"] | ["import", "qualified"]:
            return Link.IMPORT
        case ["compile-file", _]:
            return Link.COMPILE
        case ["embed-file", _, _]:
            return Link.DATA
        case _:
            return None


def is_module(text: str) -> bool:
    """True for a source in the form of a module: no `(mod …)`, and no list of definitions.

    >>> is_module("(include *standard-cl-23*) (export (x) x)"), is_module("(mod (x) x)")
    (True, False)
    """
    words_in_order = tokens(text)
    start, head = next(words_in_order, None), next(words_in_order, None)
    return start is not None and head is not None and head.kind != "paren" and head.text != "mod"


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
    match = _TOKEN.match(text, at)
    return match is None or len(match[0]) < 2 or not match[0].endswith(text[at])


def place(text: str, at: int) -> str:
    """The line and column, from 1, of an index in a text.

    >>> place("one\\ntwo", 5)
    'line 2, column 2'
    """
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
