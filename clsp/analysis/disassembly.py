"""Show code as text close to its source, with the names of functions and arguments.

`(a (i T (q . A) (q . B)) 1)` is written as `(if T A B)`, a call as `(draw number 2 board)`,
a path as the name of its argument, or as `@5` without a name. Quoted numbers are written as
they are, other quoted lists as `'(1 2)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from channelsim.clsp.analysis.arguments import arguments_of, part, paths, pattern, pattern_text
from channelsim.clsp.analysis.code import LET, Code, Place
from channelsim.clsp.analysis.shapes import is_choice, is_list, operands, quoted
from channelsim.clsp.analysis.text import atom_text, value_text
from channelsim.clsp.analysis.tracer import Coverage
from channelsim.clsp.operators import APPLY, CONS, NAMES, QUOTE
from channelsim.clsp.values import NIL, Value

NUMERIC = frozenset(bytes([code]) for code in (12, *range(16, 28)))
"""Operators of numbers: `()` among their operands, or as their result, is shown as 0."""

DEEPEST = 100
"""Code that is nested deeper is left out, because it would be unreadable."""

WIDE = 1000
"""A value is written in at most about this many characters."""

_NONE: Mapping[bytes, str] = {}


@dataclass(frozen=True, slots=True)
class Form:
    """Text with brackets around it when `items` are inside: `(words item item)`.

    `node` is the id of the expression that this is, `side` the branch by which it is run.
    """

    words: str
    items: tuple[Form, ...] | None = None
    node: int | None = None
    side: int | None = None

    def text(self, depth: int = 10**6) -> str:
        """The form in one line; deeper parts are shown as `…`."""
        if self.items is None:
            return self.words
        if depth <= 0:
            return "…"
        parts = [self.words] if self.words else []
        return f"({' '.join([*parts, *(item.text(depth - 1) for item in self.items)])})"


class Disassembly:
    """One program's code as text; `known` are atoms with a name, such as hashes of programs."""

    def __init__(self, code: Code, known: Mapping[bytes, str] = _NONE) -> None:
        self.code = code
        self.known = known
        self._names: dict[tuple[int, int], dict[int, str]] = {}
        self._depth = 0

    def text(self, node: Value, room: int = 10**6) -> str:
        """An expression in one line; inner parts are shown as `…`
        when it is longer than `room`."""
        place = self.code.place_of(node)
        if place is None:
            return value_text(node, min(room, WIDE), self.known)
        form = self.form(node, place)
        for depth in (99, 5, 4, 3, 2):
            text = form.text(depth)
            if len(text) <= room:
                return text
        return text[: room - 1] + "…"

    def operand(self, node: Value, place: Place, room: int = 40) -> str:
        """An operand of an expression at this place: a path, a quote or another expression."""
        text = self.form(node, place).text()
        return text if len(text) <= room else text[: room - 1] + "…"

    def name(self, path: int, place: Place) -> str:
        """The name of the value at a path of this place's environment: an argument, a part
        of one or a function; `@path` where that has no name."""
        if not path:
            return "()"
        if place.arguments:
            key = (id(place.function), place.arguments)
            if key not in self._names:
                shape = pattern(place.function.arguments)
                self._names[key] = dict(paths(shape, place.arguments))
            names, steps, above = self._names[key], "", path
            while above > 1:
                if above in names:
                    return part(names[above], steps)
                # The step before the leading bit is the last one.
                top = 1 << above.bit_length() - 2
                steps += "r" if above & top else "f"
                above = above & ~(top << 1) | top
        function = self.code.function_at(path, place)
        return f"@{path}" if function is None else function.name

    def form(self, node: Value, place: Place, side: int | None = None) -> Form:
        """An expression, or an operand, at this place; `side` is the branch that leads there.

        Parts nested deeper than `DEEPEST` are shown as `…`.
        """
        if self._depth >= DEEPEST:
            return Form("…", side=side)
        self._depth += 1
        try:
            form = self._form(node, self.code.place_of(node) or place)
        finally:
            self._depth -= 1
        number = self.code.id_of(node) if form.node is None else form.node
        return Form(form.words, form.items, number, side)

    def _form(self, node: Value, place: Place) -> Form:
        if isinstance(node, bytes):
            return Form(self.name(int.from_bytes(node, "big"), place))
        body = quoted(node)
        if body is not None:
            code = self.code.id_of(body) is not None
            text = self.form(body, place).text() if code else value_text(body, known=self.known)
            return Form(text if isinstance(body, bytes) else f"'{text}")
        if not isinstance(node[0], bytes) or not is_list(node[1]):
            return Form(value_text(node, known=self.known))
        given = list(operands(node))
        if node[0] == CONS:
            listed, end = list_items(node)
            if end in _ENDS:
                return Form("list", tuple(self.form(item, place) for item in listed))
        if node[0] == APPLY and len(given) == 2:
            special = self._applied(node, place)
            if special is not None:
                return special
        items = tuple(self.form(operand, place) for operand in given)
        if node[0] in NUMERIC:
            items = tuple(Form("0") if item == Form("()") else item for item in items)
        return Form(NAMES.get(node[0], atom_text(node[0])), items)

    def _applied(self, node: Value, place: Place) -> Form | None:
        """An `if`, a `let`, or a call of a function; None for any other piece of code that runs."""
        program, inner = operands(node)
        if inner == b"\x01" and is_choice(program):
            test, *sides = operands(program)
            choice = self.code.choice_of(program)
            forms = [self.form(test, place)]
            for way, side in enumerate(sides):
                taken = None if choice is None else 2 * choice + way
                forms.append(self.form(quoted(side) or NIL, place, taken))
            return Form("if", tuple(forms))
        body = quoted(program)
        if body is not None and node is self.code.root:
            # What surrounds a program: its functions put beside its arguments.
            return self.form(body, place)
        given, end = list_items(inner)
        if not isinstance(program, bytes) or given[:1] != [b"\x02"]:
            return None
        function = self.code.function_at(int.from_bytes(program, "big"), place)
        if function is None or not (isinstance(end, bytes) or end in _ENDS):
            return None
        if function.name != LET:
            return Form(function.name, tuple(self.form(value, place) for value in given[1:]))
        shape = arguments_of(function)
        bindings = []
        for value in given[2:]:
            if not isinstance(shape, tuple):
                return None
            bindings.append(Form(pattern_text(shape[0]), (self.form(value, place),)))
            shape = shape[1]
        return Form("let", (Form("", tuple(bindings)), self.form(function.body, place)))


_ENDS: tuple[Value, ...] = (NIL, (QUOTE, NIL))
"""The expressions for the end of a list."""


def list_items(node: Value) -> tuple[list[Value], Value]:
    """The items of `(c ONE (c TWO END))`, and the end.

    >>> list_items((b"\\x04", (b"\\x02", (b"\\x05", b""))))
    ([b'\\x02'], b'\\x05')
    """
    items: list[Value] = []
    while True:
        match node:
            case (b"\x04", (item, (tail, b""))):
                items.append(item)
                node = tail
            case _:
                return items, node


class Span(NamedTuple):
    """A piece of text, and whether it was reached."""

    text: str
    reached: bool


class Line(NamedTuple):
    """One line: how many steps it is indented, and its pieces."""

    depth: int
    pieces: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The line without what was reached of it."""
        return "  " * self.depth + "".join(piece.text for piece in self.pieces)


def layout(form: Form, covered: Coverage, width: int) -> list[Line]:
    """Lay out a form in lines, marked with what was reached."""
    return _Layout(covered, width).lines(form, 0, True)


def missing(form: Form, covered: Coverage) -> list[str]:
    """The parts of a form that were not reached, as text; a constant side of an `if`
    comes with its `if`."""
    reached = _Layout(covered, 0).reached
    if not reached(form, True):
        return [form.text()]
    parts = []
    for item in form.items or ():
        if item.node is None and not reached(item, True):
            parts.append(f"{item.text()} of {form.text(3)}")
        else:
            parts += missing(item, covered)
    return parts


class _Layout:
    def __init__(self, covered: Coverage, width: int) -> None:
        self.covered = covered
        self.width = width

    def reached(self, form: Form, above: bool) -> bool:
        """True if a form was reached, given whether the form around it was."""
        if form.side is not None and form.side not in self.covered.branches:
            return False
        return form.node in self.covered.nodes if form.node is not None else above

    def pieces(self, form: Form, above: bool) -> list[Span]:
        """A form in one line."""
        here = self.reached(form, above)
        if form.items is None:
            return [Span(form.words, here)]
        spans = [Span(f"({form.words}", here)]
        for number, item in enumerate(form.items):
            if number or form.words:
                spans.append(Span(" ", here))
            spans += self.pieces(item, here)
        return _merged([*spans, Span(")", here)])

    def lines(self, form: Form, depth: int, above: bool) -> list[Line]:
        """A form from this depth on; its items stand below it where it does not fit into one
        line, or where only a part of it was reached."""
        here = self.reached(form, above)
        pieces = self.pieces(form, above)
        if form.items is None or (len(pieces) == 1 and self._fits(pieces, 2 * depth)):
            return [Line(depth, tuple(pieces))]
        items = list(form.items)
        head = [Span(f"({form.words}", here)]
        # What a form is about stays beside its name: the test of an `if`, the items of a `let`.
        if items and form.words:
            first = self.pieces(items[0], here)
            if len(first) == 1 and self._fits(first, 2 * depth + len(form.words) + 2):
                head += [Span(" ", here), *first]
                del items[0]
        lines = [Line(depth, tuple(_merged(head)))]
        for item in items:
            lines += self.lines(item, depth + 1, here)
        last = lines[-1]
        lines[-1] = Line(last.depth, tuple(_merged([*last.pieces, Span(")", here)])))
        return lines

    def _fits(self, pieces: list[Span], used: int) -> bool:
        return used + sum(len(piece.text) for piece in pieces) <= self.width


def _merged(pieces: list[Span]) -> list[Span]:
    """Merge neighbouring pieces of one kind."""
    merged: list[Span] = []
    for piece in pieces:
        if merged and merged[-1].reached == piece.reached:
            merged[-1] = Span(merged[-1].text + piece.text, piece.reached)
        else:
            merged.append(piece)
    return merged
