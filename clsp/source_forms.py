"""Sources as forms, and the expressions that a compiler makes of them.

A compiled expression, as `clsp.analysis` prints it, is a form of the source in other words: a
constant stands as its value, `0` as `()`, a call of an inline function or of a macro as its body
with the arguments in place, and `/` as `(f (divmod …))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from channelsim.clsp.chialisp import Token, tokens

_FUNCTIONS = frozenset(("defun", "defun-inline"))
_INLINE = frozenset(("defun-inline", "defmac", "defmacro"))
_DEFINITIONS = _FUNCTIONS | _INLINE | {"defconstant", "defconst", "include", "import", "embed-file"}
_LETS = frozenset(("let", "let*", "lambda"))
_ASSIGNS = frozenset(("assign", "assign-inline", "assign-lambda"))
_LITERAL = re.compile(r"-?\d+|0x[0-9a-fA-F…]*")
_UNNAMED = re.compile(r"@\d+")
_SHARED = "cse"
"""The compiler's name for a value that several expressions share."""

_DEEPEST_FORMS = 200

_DEEPEST = 12
"""Calls of inline functions inside one another that are followed."""

_MOST_FORMS = 20_000
"""The forms of a function, with those of its inline calls, that are looked at."""


@dataclass(eq=False, slots=True)
class Form:
    """A word, or a list of forms; `at` is its index in the text of `file`.

    `open`: the text ends inside, so that it may have more items.
    """

    file: Path
    at: int
    word: str = ""
    items: list[Form] | None = None
    open: bool = False

    @property
    def head(self) -> str:
        """The first word of a list; "" for none."""
        return self.items[0].word if self.items else ""


Scope: TypeAlias = "dict[str, tuple[Form, Scope] | None]"
"""The arguments of inline calls, by parameter; None for a name that may stand for any value."""


@dataclass(frozen=True, slots=True)
class Place:
    """A form that reads like an expression; `call` is the inline call that it is inside."""

    form: Form
    call: Form | None


@dataclass(slots=True)
class SourceForms:
    """The definitions of a program's sources by name, and the form of the program itself."""

    definitions: dict[str, Form] = field(default_factory=dict)
    main: Form | None = None

    def definition(self, function: str) -> Form | None:
        """The form that defines a function; a name of a library may have its namespace."""
        form = self.definitions.get(function) or self.definitions.get(function.rpartition(".")[2])
        return form if form is not None and form.head in _FUNCTIONS else None

    def places(self, form: Form, expression: str) -> list[Place]:
        """The forms inside a definition, and inside its inline calls, that read like this."""
        forms = parsed(Path(), tokens(expression))
        if not forms or forms[0].items is None:
            return []
        expected = _as_written(forms[0])
        scope: Scope = dict.fromkeys(_bound(form))
        found: list[Place] = []
        for number, (inner, inside, call) in enumerate(self._walk(form, scope, None, 0)):
            if number == _MOST_FORMS:
                break
            if inner.items is not None and self._reads(inner, inside, expected, 0):
                found.append(Place(inner, call))
        return found

    def _walk(
        self, form: Form, scope: Scope, call: Form | None, depth: int
    ) -> Iterator[tuple[Form, Scope, Form | None]]:
        """Every list of a definition but other definitions; then those of its inline calls."""
        for item in form.items or ():
            if item.items is None or item.head in _DEFINITIONS:
                continue
            yield item, scope, call
            yield from self._walk(item, scope, call, depth)
            inlined = self._inlined(item, scope)
            if inlined is not None and depth < _DEEPEST:
                body, inner = inlined
                wrapped = Form(body.file, body.at, "", [body])
                yield from self._walk(wrapped, inner, call or item, depth + 1)

    def _inlined(self, form: Form, scope: Scope) -> tuple[Form, Scope] | None:
        """The body of an inline function or macro that a form calls, with its arguments."""
        definition = self.definitions.get(form.head)
        if definition is None or definition.head not in _INLINE or form.items is None:
            return None
        parts = definition.items or []
        if len(parts) < 4 or parts[2].items is None:
            return None
        body = parts[-1]
        if definition.head != "defun-inline":
            if body.head != "qq" or body.items is None or len(body.items) != 2:
                return None
            body = body.items[1]
        inner: Scope = dict.fromkeys(_bound(definition))
        for parameter, argument in zip(parts[2].items, form.items[1:], strict=False):
            if parameter.word == ".":
                break
            if parameter.word:
                inner[parameter.word] = argument, scope
        return body, inner

    def _reads(self, form: Form, scope: Scope, expected: Form, depth: int) -> bool:
        """True if the compiler may make this expression of the form."""
        if depth > _DEEPEST_FORMS:
            return False
        if expected.word == _SHARED:
            return True
        if form.items is None:
            return self._word_reads(form, scope, expected, depth)
        if form.head == "unquote" and len(form.items) == 2:
            return self._reads(form.items[1], scope, expected, depth + 1)
        inlined = self._inlined(form, scope)
        if inlined is not None and self._reads(*inlined, expected, depth + 1):
            return True
        if expected.items is None:
            return not form.items and _is_zero(expected.word)
        have, want = form.items, expected.items
        if len(have) != len(want) and not (expected.open and len(want) <= len(have)):
            return False
        return all(
            self._reads(mine, scope, other, depth + 1)
            for mine, other in zip(have, want, strict=False)
        )

    def _word_reads(self, form: Form, scope: Scope, expected: Form, depth: int) -> bool:
        word = form.word
        bound = scope.get(word)
        if bound is not None:
            return self._reads(*bound, expected, depth + 1)
        if word in scope and expected.items is not None:
            return True  # a variable, which the compiler may have replaced by its value
        if expected.items is not None:
            if not expected.items and not expected.open:
                return _is_zero(word) or _is_name(word)
            return _is_name(word) and _is_part(expected)
        if word == expected.word:
            return True
        if _LITERAL.fullmatch(expected.word):
            return _is_name(word) or _same_number(word, expected.word)
        return _UNNAMED.fullmatch(expected.word) is not None and _is_name(word)


@lru_cache(maxsize=8)
def source_forms(files: tuple[tuple[Path, str], ...]) -> SourceForms:
    """The definitions in the texts of one program, its own source first."""
    forms = SourceForms()
    for number, (path, text) in enumerate(files):
        for top in parsed(path, tokens(text)):
            for form in _lists(top):
                parts = form.items or []
                if form.head in _FUNCTIONS | _INLINE and len(parts) > 2 and parts[1].word:
                    forms.definitions.setdefault(parts[1].word, form)
                if number == 0 and form.head in ("mod", "export") and forms.main is None:
                    forms.main = form
    main = forms.main
    if main is not None and main.items is not None and len(main.items) > 1:
        # A module may export a function as its program.
        forms.main = forms.definition(main.items[1].word) or main
    return forms


def parsed(path: Path, words: Iterable[Token]) -> list[Form]:
    """The forms at top level of a text, of which the last ones may be open."""
    top: list[Form] = []
    above: list[Form] = []
    for token in words:
        if token.kind == "paren" and token.text == ")":
            if above:
                above.pop()
            continue
        is_list = token.kind == "paren"
        form = Form(path, token.at, "" if is_list else token.text, [] if is_list else None)
        siblings = above[-1].items if above else top
        if siblings is not None:
            siblings.append(form)
        if is_list:
            above.append(form)
    for form in above:
        form.open = True
    return top


def _lists(form: Form) -> Iterator[Form]:
    """A form and all lists inside it."""
    if form.items is not None:
        yield form
        for item in form.items:
            yield from _lists(item)


def _bound(definition: Form) -> Iterator[str]:
    """The names that `let` and its like bind inside a definition."""
    for form in _lists(definition):
        parts = form.items or []
        if form.head in _ASSIGNS:
            for pattern in parts[1:-1:2]:
                yield from _names(pattern)
        elif form.head in _LETS and len(parts) > 1:
            for binding in parts[1].items or []:
                yield from _names(binding.items[0] if binding.items else binding)


def _names(form: Form) -> Iterator[str]:
    if form.items is None:
        if _is_name(form.word):
            yield form.word
        return
    for item in form.items:
        yield from _names(item)


def _is_name(word: str) -> bool:
    return bool(word) and not _LITERAL.fullmatch(word) and word != "."


def _is_zero(word: str) -> bool:
    """True for the words of a source that are the empty atom."""
    return word in ("0", "0x", "()", "nil", "")


def _same_number(word: str, literal: str) -> bool:
    """True if two literals are one number; a shortened one may be any."""
    if "…" in literal:
        return word.startswith(literal.partition("…")[0])
    return _LITERAL.fullmatch(word) is not None and _number(word) == _number(literal)


def _number(word: str) -> int:
    if not word.startswith("0x"):
        return int(word)
    data = bytes.fromhex("0" * (len(word) % 2) + word[2:])
    return int.from_bytes(data, "big", signed=True)


def _is_part(expected: Form) -> bool:
    """True for a part of an argument, such as `(f (r state))`, which has a name in the source."""
    while expected.items is not None:
        if expected.head not in ("f", "r") or len(expected.items) != 2:
            return False
        expected = expected.items[1]
    return True


def _as_written(form: Form) -> Form:
    """An expression with `/` where the compiler made `(f (divmod …))` of it."""
    if form.items is None:
        return form
    items = form.items
    if form.head == "f" and len(items) == 2 and items[1].head == "divmod":
        inner = items[1].items or []
        items = [Form(form.file, form.at, "/"), *inner[1:]]
        form = Form(form.file, form.at, "", items, items[1:] == [] or form.items[1].open)
    return Form(form.file, form.at, "", [_as_written(item) for item in items], form.open)
