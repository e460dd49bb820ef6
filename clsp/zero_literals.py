"""Literals of zero bytes that the compiler turns into `()`.

In a `(mod …)` with `*standard-cl-23*` the compiler evaluates the arguments of a macro as numbers,
and `if` and `list` are macros there: `(if (= x 0x00) …)` compares with `()`, so it refuses the byte
0. In `*standard-cl-21*` and `*standard-cl-22*` it does so for a `defmac`, and for `if` inside a
function. Classic sources, modules and the later dialects keep the byte, and so does a constant:
`(defconstant ZERO 0x00)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

from channelsim.clsp.chialisp import is_module, tokens, words

_ZEROS = re.compile(r"0x0+")
_OLD = ("*standard-cl-21*", "*standard-cl-22*")
_NEW = "*standard-cl-23*"


def lost_zeros(files: Mapping[Path, str]) -> Iterator[tuple[Path, int]]:
    """The file and line, from 1, of each such literal of a program.

    `files` are the texts of its source and of what that includes, its own first.

    >>> text = "(mod (x) (include *standard-cl-23*)\\n (c 0x00\\n (if (= x 0x00) 1 (x))))"
    >>> list(lost_zeros({Path("a.clsp"): text}))
    [(PosixPath('a.clsp'), 3)]
    """
    own = next(iter(files.values()), "")
    dialect = next((word.text for word in words(own) if word.text in (*_OLD, _NEW)), None)
    if dialect is None or is_module(own):
        return
    macros = {"defmac"} if dialect in _OLD else {"defmac", "defmacro", "if", "list"}
    for text in files.values():
        macros.update(_macros(text, dialect))
    for path, text in files.items():
        if "0x0" not in text:
            continue
        heads: list[str] = []
        before = ""
        for token in tokens(text):
            if token.kind == "paren":
                if token.text == "(":
                    heads.append("")
                elif heads:
                    heads.pop()
            elif before == "(":
                heads[-1] = token.text
            elif token.kind == "word" and _ZEROS.fullmatch(token.text) and _loses(heads, macros):
                yield path, text.count("\n", 0, token.at) + 1
            before = token.text


def _loses(heads: Sequence[str], macros: Set[str]) -> bool:
    """True inside forms that lose zero bytes, of which these are the first words."""
    in_function = "defun" in heads or "lambda" in heads
    return not macros.isdisjoint(heads) or (in_function and "if" in heads)


def _macros(text: str, dialect: str) -> Iterator[str]:
    """The names of the macros that a text defines, and that lose zero bytes in this dialect."""
    defining = ("defmac",) if dialect in _OLD else ("defmac", "defmacro")
    before = ["", ""]
    for token in tokens(text):
        if before[0] == "(" and before[1] in defining:
            yield token.text
        before = [before[1], token.text]
