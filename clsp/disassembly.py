"""Code as text, near to what was written: functions and arguments by their names.

``(a (i T (q . A) (q . B)) 1)`` is written as ``(if T A B)``, a call as ``(draw number 2 board)``,
a path as the argument that is there; where no name is known, as ``@5``. Quoted numbers stand for
themselves, other quoted lists as ``'(1 2)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from clsp.code import LET, Code, Function, Place, is_choice, is_list, operands, quoted
from clsp.integers import atom_to_int, is_minimal
from clsp.operators import APPLY, CONS, NAMES
from clsp.values import NIL, Value

Pattern: TypeAlias = str | tuple["Pattern", "Pattern"]
"""The arguments of a function: a name, or a pair of patterns; "" stands for ()."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
NUMERIC = frozenset(bytes([code]) for code in (12, *range(16, 28)))
"""Operators of numbers: `()` among their operands, or as their result, is shown as 0."""

SHORT, LONG, HASH = 4, 12, 32
"""Atoms of at most so many bytes are shown as numbers, if they are written as such; in full; and
are taken for hashes."""

_NONE: Mapping[bytes, str] = {}


def atom_text(atom: bytes, known: Mapping[bytes, str] = _NONE) -> str:
    """An atom as a reader wants it: a number, or hex, shortened in the middle; with its length
    unless that is a hash's. `known` are atoms with a name.

    >>> [atom_text(a) for a in (b"", b"\\x05", b"\\x00\\x80", b"\\x00", bytes(16), bytes(32))]
    ['()', '5', '128', '0x00', '0x0000…0000 (16 bytes)', '0x0000…0000']
    """
    if not atom:
        return "()"
    if atom in known:
        return known[atom]
    if len(atom) <= SHORT and is_minimal(atom):
        return str(atom_to_int(atom))
    if len(atom) <= LONG:
        return f"0x{atom.hex()}"
    length = "" if len(atom) == HASH else f" ({len(atom)} bytes)"
    return f"0x{atom[:2].hex()}…{atom[-2:].hex()}{length}"


def value_text(value: Value, room: int = 40, known: Mapping[bytes, str] = _NONE) -> str:
    """A value in about so many characters; what does not fit is left out.

    >>> value_text((b"\\x01", (b"\\x02", b""))), value_text((b"\\x01", b"\\x02"))
    ('(1 2)', '(1 . 2)')
    """
    if isinstance(value, bytes):
        return atom_text(value, known)
    parts: list[str] = []
    left = room
    while isinstance(value, tuple):
        if left <= 0:
            return f"({' '.join(parts)} …)"
        text = value_text(value[0], left - 2, known)
        parts.append(text)
        left -= len(text) + 1
        value = value[1]
    if value != NIL:
        parts.append(f". {atom_text(value, known)}")
    return f"({' '.join(parts)})"


def pattern(text: str) -> Pattern:
    """Read a list of arguments, as the compiler's symbols have it. Of what is none, "".

    >>> pattern("(a (b c) . rest)")
    ('a', (('b', ('c', '')), 'rest'))
    """
    tokens = _TOKEN.findall(text)
    try:
        return _pattern(tokens)
    except (IndexError, ValueError):
        return ""


def _pattern(tokens: list[str]) -> Pattern:
    token = tokens.pop(0)
    if token != "(":
        return token
    if tokens[0] == "@" and tokens[2] == "(":
        # (@ NAME (…)): the parts are what the code reads.
        del tokens[:2]
        inner = _pattern(tokens)
        tokens.pop(0)
        return inner
    items: list[Pattern] = []
    last: Pattern = ""
    while tokens[0] != ")":
        if tokens[0] == ".":
            tokens.pop(0)
            last = _pattern(tokens)
        else:
            items.append(_pattern(tokens))
    tokens.pop(0)
    for item in reversed(items):
        last = (item, last)
    return last


def arguments_of(function: Function) -> Pattern:
    """What a function is given: of the body of a `let`, only what the `let` names."""
    whole = pattern(function.arguments)
    if function.name == LET and isinstance(whole, tuple):
        return whole[1]
    return whole


def bound(shape: Pattern, value: Value) -> Iterator[tuple[str, Value]]:
    """The arguments by name, as far as the value has them.

    >>> list(bound(pattern("(a (b . c))"), (b"1", ((b"2", b"3"), b""))))
    [('a', b'1'), ('b', b'2'), ('c', b'3')]
    """
    if isinstance(shape, str):
        if shape:
            yield shape, value
    elif isinstance(value, tuple):
        yield from bound(shape[0], value[0])
        yield from bound(shape[1], value[1])


class Disassembly:
    """One program's code as text; `known` are atoms with a name, such as hashes of programs."""

    def __init__(self, code: Code, known: Mapping[bytes, str] = _NONE) -> None:
        self.code = code
        self.known = known
        self._names: dict[tuple[int, int], dict[int, str]] = {}

    def text(self, node: Value, room: int = 10**6) -> str:
        """An expression in one line, as a reader wants it; inner parts are left out as ``…``
        when it is longer than `room`."""
        number = self.code.id_of(node)
        if number is None:
            return value_text(node, room, self.known)
        place = self.code.places[number]
        for depth in (99, 5, 4, 3, 2):
            text = self._text(node, place, depth)
            if len(text) <= room:
                return text
        return text if len(text) <= room else text[: room - 1] + "…"

    def operand(self, node: Value, place: Place, room: int = 40) -> str:
        """An operand of an expression at this place: a path, a quote or another expression."""
        text = self._text(node, place, 99)
        return text if len(text) <= room else text[: room - 1] + "…"

    def name(self, path: int, place: Place) -> str:
        """What stands at a path of the environment at this place: an argument or a part of one;
        ``@path`` where that has no name."""
        if not path:
            return "()"
        if place.arguments:
            key = (id(place.function), place.arguments)
            if key not in self._names:
                shape = pattern(place.function.arguments)
                self._names[key] = dict(_paths(shape, place.arguments))
            names, steps, above = self._names[key], "", path
            while above > 1:
                if above in names:
                    return _part(names[above], steps)
                # The step before the leading bit is the last one.
                top = 1 << above.bit_length() - 2
                steps += "r" if above & top else "f"
                above = above & ~(top << 1) | top
        return f"@{path}"

    def _text(self, node: Value, place: Place, depth: int) -> str:
        if isinstance(node, bytes):
            return self.name(int.from_bytes(node, "big"), place)
        body = quoted(node)
        if body is not None:
            if self.code.id_of(body) is not None:
                return f"'{self._text(body, place, depth - 1)}"
            text = value_text(body, known=self.known)
            return text if isinstance(body, bytes) else f"'{text}"
        number = self.code.id_of(node)
        if number is not None:
            place = self.code.places[number]
        if not isinstance(node[0], bytes) or not is_list(node[1]):
            return value_text(node, known=self.known)
        if depth <= 0:
            return "…"
        given = list(operands(node))
        if node[0] == CONS and (items := _list_items(node)) is not None:
            return f"(list {' '.join(self._text(item, place, depth - 1) for item in items)})"
        if node[0] == APPLY and len(given) == 2:
            special = self._applied(node, place, depth)
            if special is not None:
                return special
        parts = [self._text(operand, place, depth - 1) for operand in given]
        if node[0] in NUMERIC:
            parts = ["0" if part == "()" else part for part in parts]
        return f"({' '.join([NAMES.get(node[0], atom_text(node[0])), *parts])})"

    def _applied(self, node: Value, place: Place, depth: int) -> str | None:
        """An `if`, or a call of a function."""
        program, inner = operands(node)
        if inner == b"\x01" and is_choice(program):
            test, one, other = operands(program)
            parts = [self._text(test, place, depth - 1)]
            sides = [quoted(side) or NIL for side in (one, other)]
            parts += [self._text(side, place, depth - 1) for side in sides]
            return f"(if {' '.join(parts)})"
        body = quoted(program)
        if body is not None and node is self.code.root:
            # What surrounds a program: its functions put beside its arguments.
            return self._text(body, place, depth)
        if not isinstance(program, bytes):
            return None
        function = self.code.function_at(int.from_bytes(program, "big"), place)
        given = call_arguments(inner)
        if function is None or given is None:
            return None
        if function.name == LET:
            shape = arguments_of(function)
            bindings = []
            for value in given[1:]:
                if not isinstance(shape, tuple):
                    return None
                bindings.append(f"{pattern_text(shape[0])} {self._text(value, place, depth - 1)}")
                shape = shape[1]
            inside = self._text(function.body, place, depth - 1)
            return f"(let ({', '.join(bindings)}) {inside})"
        parts = [function.name, *(self._text(value, place, depth - 1) for value in given)]
        return f"({' '.join(parts)})"


def pattern_text(shape: Pattern) -> str:
    """A pattern as the source has it.

    >>> pattern_text(pattern("(a (b . c))"))
    '(a (b . c))'
    """
    if isinstance(shape, str):
        return shape or "()"
    parts = []
    rest: Pattern = shape
    while isinstance(rest, tuple):
        parts.append(pattern_text(rest[0]))
        rest = rest[1]
    if rest:
        parts += [".", rest]
    return f"({' '.join(parts)})"


def _part(name: str, steps: str) -> str:
    """A part of an argument; the last letter is the first step.

    >>> _part("items", "fr")
    '(f (r items))'
    """
    for step in reversed(steps):
        name = f"({step} {name})"
    return name


def _list_items(node: Value) -> list[Value] | None:
    """The items of ``(c ONE (c TWO ()))``."""
    items: list[Value] = []
    while True:
        match node:
            case (b"\x04", (item, (tail, b""))):
                items.append(item)
                node = tail
            case b"" | (b"\x01", b""):
                return items
            case _:
                return None


def call_arguments(environment: Value) -> list[Value] | None:
    """The argument expressions of ``(c 2 (c ONE (c TWO ())))``, the environment of a call."""
    items: list[Value] = []
    rest = environment
    while isinstance(rest, tuple):
        match rest:
            case (b"\x04", (item, (tail, b""))):
                items.append(item)
                rest = tail
            case (b"\x01", b""):
                break
            case _:
                return None
    if not items or items[0] != b"\x02":
        return None
    return items[1:]


def _paths(shape: Pattern, at: int) -> Iterator[tuple[int, str]]:
    """The path of each named argument, in an environment that has the whole at this path."""
    if isinstance(shape, str):
        if shape:
            yield at, shape
        return
    top = 1 << at.bit_length() - 1
    # A step more: the leading bit moves up, and its place says left or right.
    yield from _paths(shape[0], at + top)
    yield from _paths(shape[1], at + 2 * top)
