"""Lines of an author's Chialisp: the definition of a function, and an expression inside it.

The compiler's symbols name functions, but no lines. A function is found by its definition in the
sources. An expression of the disassembled program is found in it if the source has it in the same
words, at one place only; numbers and hashes may be constants with a name there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.chialisp import Token, tokens

_DEFINING = frozenset(("defun", "defun-inline"))
_PROGRAM = frozenset(("mod", "export"))
_DIVISION = ["(", "f", "(", "divmod"]
_LITERAL = re.compile(r"-?\d+|0x[0-9a-f…]*")


def find_line(
    files: Mapping[Path, str], function: str, expression: str = ""
) -> tuple[Path, int] | None:
    """The file and line, from 1, of an expression of a function; else of the function.

    `files` are the texts of one program, its own source first; `function` is `MAIN` for the
    program itself. None for a function that no file defines.

    >>> texts = {Path("a.clsp"): "(mod (X)\\n  (defun two (a)\\n    (* 2 a))\\n  (two X))"}
    >>> [find_line(texts, name, text) for name, text in (("two", "(* 2 a)"), ("three", ""))]
    [(PosixPath('a.clsp'), 3), None]
    """
    expected = _as_written([token.text for token in tokens(expression)])
    for path, text in files.items():
        if function != MAIN and function not in text:
            continue
        words = _words(text)
        for start, word in enumerate(words):
            if not _defines(words, start, function):
                continue
            at = word.at
            if len(expected) > 1:
                inside = words[start : _end(words, start)]
                places = [word.at for n, word in enumerate(inside) if _reads(inside, n, expected)]
                at = places[0] if len(places) == 1 else at
            return path, text.count("\n", 0, at) + 1
    return None


def find_mention(files: Mapping[Path, str], word: str) -> tuple[Path, int] | None:
    """The only line that has this word, such as a rule's id in a comment; None for several.

    >>> find_mention({Path("a.clsp"): "(mod (X)\\n  X ; END-1\\n)"}, "END-1")
    (PosixPath('a.clsp'), 2)
    """
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    mentions = {
        (path, text.count("\n", 0, mention.start()) + 1)
        for path, text in files.items()
        for mention in pattern.finditer(text)
    }
    return mentions.pop() if len(mentions) == 1 else None


ABOVE = 3
"""The lines above an expression in which the rule that it is about may be named."""


def rule_near(text: str, line: int, rules: Collection[str]) -> str:
    """The only rule that this line of a source, from 1, mentions, or else the nearest above it that
    mentions one; "" for none.

    >>> source = "(not  ; END-3\n  (> A B)\n)"
    >>> rule_near(source, 2, {"END-3", "END-4"}), rule_near(source, 2, {"END-4"})
    ('END-3', '')
    """
    lines = text.splitlines()[max(0, line - 1 - ABOVE) : line]
    for words in reversed(lines):
        mentioned = {rule for rule in re.findall(r"[\w-]+", words) if rule in rules}
        if mentioned:
            return mentioned.pop() if len(mentioned) == 1 else ""
    return ""


def _as_written(words: list[str]) -> tuple[str, ...]:
    """The words of an expression with `/` where the compiler made `(f (divmod …))` of it.

    >>> " ".join(_as_written("( + ( f ( divmod ( + a b ) 2 ) ) 1 )".split()))
    '( + ( / ( + a b ) 2 ) 1 )'
    """
    written: list[str] = []
    divisions: list[int] = []  # the depths of the parentheses of `f` that are open
    depth = at = 0
    while at < len(words):
        if words[at : at + len(_DIVISION)] == _DIVISION:
            written += ("(", "/")
            divisions.append(depth + 1)
            depth, at = depth + 2, at + len(_DIVISION)
            continue
        depth += {"(": 1, ")": -1}.get(words[at], 0)
        if words[at] == ")" and divisions[-1:] == [depth + 1]:
            divisions.pop()  # the end of `f`, in place of which stands that of `divmod`
        else:
            written.append(words[at])
        at += 1
    return tuple(written)


@lru_cache(maxsize=8)
def _words(text: str) -> list[Token]:
    return list(tokens(text))


def _defines(words: Sequence[Token], at: int, function: str) -> bool:
    """True if the form that begins here defines the function."""
    head = [word.text for word in words[at : at + 3]]
    if head[:1] != ["("] or len(head) < 3:
        return False
    if function == MAIN:
        return head[1] in _PROGRAM
    return head[1] in _DEFINING and head[2] == function


def _end(words: Sequence[Token], start: int) -> int:
    """The index behind the end of the form that begins here."""
    depth = 0
    for at in range(start, len(words)):
        if words[at].kind == "paren":
            depth += 1 if words[at].text == "(" else -1
            if not depth:
                return at + 1
    return len(words)


def _reads(words: Sequence[Token], at: int, expected: Sequence[str]) -> bool:
    """True if the source has these words from here on; a literal may be a name there."""
    if at + len(expected) > len(words):
        return False
    return all(
        have.text == want or (have.kind != "paren" and _LITERAL.fullmatch(want) is not None)
        for have, want in zip(words[at : at + len(expected)], expected, strict=True)
    )
