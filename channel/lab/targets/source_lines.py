"""Lines of an author's Chialisp: the definition of a function, and an expression inside it.

The compiler's symbols name functions, but no lines. A function is found by its definition in the
sources. An expression of the disassembled program is found in it if one form alone reads like it
(`channelsim.clsp.source_forms`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.source_forms import Form, source_forms


def find_line(
    files: Mapping[Path, str], function: str, expression: str = ""
) -> tuple[Path, int] | None:
    """The file and line, from 1, of an expression of a function; else of the function.

    An expression of an inline function is on its line there; the call's line stands for several.
    `files` are the texts of one program, its own source first; `function` is `MAIN` for the
    program itself. None for a function that no file defines, and for an expression of the program
    itself that no form reads like: its beginning says nothing.

    >>> texts = {Path("a.clsp"): "(mod (X)\\n  (defun two (a)\\n    (* 2 a))\\n  (two X))"}
    >>> [find_line(texts, name, text) for name, text in (("two", "(* 2 a)"), ("three", ""))]
    [(PosixPath('a.clsp'), 3), None]
    """
    form = _definition(files, function)
    if form is None:
        return None
    if not expression.startswith("("):
        return _line(files, form)
    exact = find_expression(files, function, expression)
    return exact or (None if function == MAIN else _line(files, form))


def find_expression(
    files: Mapping[Path, str], function: str, expression: str
) -> tuple[Path, int] | None:
    """The file and line of an expression of a function, if one place alone reads like it."""
    form = _definition(files, function)
    if form is None:
        return None
    places = source_forms(tuple(files.items())).places(form, expression)
    direct = {_line(files, place.form) for place in places if place.call is None}
    inside = {_line(files, place.form) for place in places}
    calls = {_line(files, place.call) for place in places if place.call is not None}
    for lines in (direct, inside, calls) if not len(direct) > 1 else ():
        if len(lines) == 1:
            return lines.pop()
    return None


def _definition(files: Mapping[Path, str], function: str) -> Form | None:
    forms = source_forms(tuple(files.items()))
    return forms.main if function == MAIN else forms.definition(function)


def _line(files: Mapping[Path, str], form: Form) -> tuple[Path, int]:
    return form.file, files[form.file].count("\n", 0, form.at) + 1


def find_mentions(files: Mapping[Path, str], word: str) -> list[tuple[Path, int]]:
    """The files and lines that have this word, such as a rule's id in a comment.

    >>> find_mentions({Path("a.clsp"): "(mod (X)\\n  X ; END-1\\n)"}, "END-1")
    [(PosixPath('a.clsp'), 2)]
    """
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    mentions = (
        (path, text.count("\n", 0, mention.start()) + 1)
        for path, text in files.items()
        for mention in pattern.finditer(text)
    )
    return list(dict.fromkeys(mentions))


ABOVE = 3
"""The lines above an expression in which the rule that it is about may be named."""


def rule_near(text: str, line: int, rules: Collection[str]) -> str:
    """The only rule that this line of a source, from 1, mentions, or else the nearest above it that
    mentions one; "" for none.

    >>> source = "(not  ; END-3\\n  (> A B)\\n)"
    >>> rule_near(source, 2, {"END-3", "END-4"}), rule_near(source, 2, {"END-4"})
    ('END-3', '')
    """
    lines = text.splitlines()[max(0, line - 1 - ABOVE) : line]
    for words in reversed(lines):
        mentioned = {rule for rule in re.findall(r"[\w-]+", words) if rule in rules}
        if mentioned:
            return mentioned.pop() if len(mentioned) == 1 else ""
    return ""
