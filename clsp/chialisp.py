"""The text of Chialisp sources, before a compiler sees it: its words, its forms, and its includes.

The compiler accepts prose as a program (a constant, its first word), and crashes on deep nesting.

Every word of a source that is a file's name counts as a file that it may read, whatever form
includes it. One too many only costs a compilation; one too few would bring back a cached program
that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple, TypeAlias

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
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "string":
            yield Token(kind, match[0][1:-1], match.start())
        elif kind is not None:
            yield Token(kind, match[0], match.start())


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
    match = _TOKEN.match(text, at)
    return match is None or len(match[0]) < 2 or not match[0].endswith(text[at])


_SUFFIXES = ("", ".clinc", ".clsp", ".clib")


class IncludeCycle(ValueError):
    """Sources include each other; the message names them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The place where a file is named: the index of its name in the text of `file`."""

    file: Path
    text: str
    at: int
    includes: bool


Read: TypeAlias = Callable[[Path, bool, Mention | None], bytes]
"""Reads a file, given whether it is Chialisp, and who names it (None for the source itself)."""


@dataclass
class Reached:
    """The files that a source may read, by path, and the includes of which there is no file."""

    files: dict[Path, bytes] = field(default_factory=dict)
    missing: dict[str, Mention] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """A file's text."""
        return self.files[path].decode("utf-8", "replace")


def reached(source: Path, search: Sequence[Path], read: Read) -> Reached:
    """The source and all files that it may read, the includes from the first folder that has them.

    Raises `IncludeCycle`, and what `read` does.
    """
    seen = Reached()
    includes: dict[Path, list[Path]] = {}
    waiting: list[tuple[Path, bool, Mention | None]] = [(source, True, None)]
    while waiting:
        file, is_source, mention = waiting.pop()
        if file in seen.files and (file in includes or not is_source):
            continue
        seen.files[file] = read(file, is_source, mention)
        text = seen.text(file)
        if is_source:
            includes[file] = []
            for token in included(text):
                near = _find(token.text, search, _SUFFIXES)
                mention = Mention(file, text, token.at, includes=True)
                if near is None:
                    seen.missing.setdefault(token.text, mention)
                else:
                    includes[file].append(near)
                    waiting.append((near, True, mention))
        for token in words(text):
            if "." in token.text or "/" in token.text:
                near = _find(token.text, search)
                if near is not None:
                    mention = Mention(file, text, token.at, includes=False)
                    waiting.insert(0, (near, False, mention))
    try:
        TopologicalSorter(includes).prepare()
    except CycleError as error:
        ring = " includes ".join(file.name for file in reversed(error.args[1]))
        raise IncludeCycle(f"a cycle: {ring}") from None
    return seen


def _find(word: str, search: Sequence[Path], suffixes: Sequence[str] = ("",)) -> Path | None:
    """The file that a word names, in the first folder that has it; None if none has it."""
    if "\0" in word:
        return None
    names = [word + suffix for suffix in suffixes]
    names += [word.replace(".", "/") + suffix for suffix in suffixes[1:]]
    for folder in search:
        for name in names:
            near = folder / name
            try:
                if near.exists() and not near.is_dir():
                    return near.resolve()
            except OSError:  # too long for a name, or not ours to look at
                continue
    return None
