"""The kinds of mutation, and all mutants of a program.

A kind looks at one expression and says what may stand there instead. To add one, decorate it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from channelsim.channel.lab.mutants.equivalence import Equivalence
from channelsim.channel.lab.mutants.expressions import Expression, Module, path, spans, steps
from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.operators import CODES, CONS, FIRST, IF, QUOTE, RAISE, REST
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, atom_to_int, int_to_atom, serialize, to_list

Kind: TypeAlias = Callable[[Expression], Iterator[Value]]

KINDS: dict[str, Kind] = {}
"""The kinds by name, in the order of the tables."""

DROPPED_CHECK = "check dropped"
"""The kind that drops a test: it always passes, or never."""

NUMBER = 9
"""The most bytes of a constant that counts as a number; a longer one is a hash, or other bytes."""

TRUE: Value = (QUOTE, b"\x01")

RELATIVES = {
    CODES[name]: tuple(CODES[other] for other in others.split())
    for name, others in {
        "=": "> >s",
        ">": "= >s",
        ">s": "= >",
        "+": "- *",
        "-": "+ *",
        "*": "+ /",
        "/": "* divmod",
        "divmod": "/ c",
        "%": "/ *",
        "logand": "logior logxor",
        "logior": "logand logxor",
        "logxor": "logand logior",
        "ash": "lsh",
        "lsh": "ash",
        "any": "all",
        "all": "any",
        "sha256": "concat",
        "concat": "sha256",
    }.items()
}
"""The operators that replace each operator."""

DROPPED = {CODES[name] for name in ("f", "r", "l", "not", "lognot", "strlen", "sha256")}
"""Unary operators that a mutation removes."""

_ORDERED = {CODES[name] for name in (">", ">s", "-", "/", "%", "divmod", "c", "ash", "lsh")}
_ORDERED |= {CODES[name] for name in ("substr", "concat", "sha256")}


ROOM = 72
"""The text of an expression is cut after this many characters, unless a change is beyond them."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one place changed: `old` became `new`, in the expression `number` of
    `function`; `within` is the expression around it. All three are disassembled text."""

    validator: str
    function: str
    number: int
    kind: str
    old: str
    new: str
    within: str
    program: bytes
    nth: int = 1
    """Counts the changes of one function that read alike."""

    @property
    def change(self) -> str:
        """The change in the words of the source, as stored reasons name it."""
        within = f" in {self.within}" if self.within else ""
        nth = f", number {self.nth}" if self.nth > 1 else ""
        return f"{self.old} -> {self.new}{within}{nth}"

    def __str__(self) -> str:
        where = f"{self.validator}, {self.function}, expression {self.number}"
        return f"{where}: {self.change} ({self.kind})"


def mutants(
    validator: str,
    program: Program,
    symbols: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = KINDS,
) -> list[Mutant]:
    """Every mutant of a program of some kinds, each program once, function by function."""
    root = program.value
    module = Module(root, symbols)
    text = Disassembly(module.code)
    equivalent = Equivalence(module)
    expressions = module.expressions()
    by_way = {expression.at: expression for expression in expressions}
    original, places = program.serialized, spans(root)
    seen = {original}
    distinct: list[Mutant] = []
    alike: Counter[tuple[str, ...]] = Counter()
    for expression in expressions:
        start, end = places[expression.at]
        around = _around(expression, by_way)
        within = text.operand(around.value, around.place, ROOM) if around else ""
        for kind, change in kinds.items():
            for new in change(expression):
                if equivalent(expression, new):
                    continue
                blob = original[:start] + serialize(new) + original[end:]
                if blob in seen:
                    continue
                seen.add(blob)
                old, changed = _difference(text, expression, new)
                alike[expression.function, old, changed, within] += 1
                distinct.append(
                    Mutant(
                        *(validator, expression.function, expression.number, kind),
                        *(old, changed, within, blob),
                        alike[expression.function, old, changed, within],
                    )
                )
    return distinct


def _around(inner: Expression, by_way: Mapping[str, Expression]) -> Expression | None:
    """The nearest expression around this one, in the same function."""
    for end in range(len(inner.at) - 1, -1, -1):
        outer = by_way.get(inner.at[:end])
        if outer is None or outer.start != inner.start or outer.value == inner.value:
            continue
        if not isinstance(outer.value, tuple) or outer.value[0] != QUOTE:
            return outer
    return None


def _difference(text: Disassembly, expression: Expression, new: Value) -> tuple[str, str]:
    """The text of an expression and of what replaces it, long enough that they differ."""
    for room in (ROOM, 200, 1000, 10**9):
        texts = tuple(
            text.operand(value, expression.place, room) for value in (expression.value, new)
        )
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def _kind(name: str) -> Callable[[Kind], Kind]:
    def add(change: Kind) -> Kind:
        KINDS[name] = change
        return change

    return add


@_kind("operator")
def _operator(place: Expression) -> Iterator[Value]:
    """Replace a comparison or arithmetic operator by a similar one."""
    match place.value:
        case (bytes(head), rest) if place.operands:
            for other in RELATIVES.get(head, ()):
                yield (other, rest)


@_kind("operator dropped")
def _dropped(place: Expression) -> Iterator[Value]:
    """Leave out an operator of one operand."""
    match place.value:
        case (bytes(head), (operand, b"")) if head in DROPPED:
            yield operand


@_kind("f for r")
def _sides(place: Expression) -> Iterator[Value]:
    """Take the other side of a pair."""
    match place.value:
        case (bytes(head), rest) if head in (FIRST, REST):
            yield (REST if head == FIRST else FIRST, rest)


@_kind("constant")
def _constant(place: Expression) -> Iterator[Value]:
    """Change a number by one; a longer atom in its last or first bit, or its length."""
    if place.value == NIL:
        yield TRUE
        yield (QUOTE, b"\xff")
    if place.role == "code" or not isinstance(place.value, tuple) or place.value[0] != QUOTE:
        return
    for data in _near(place.value[1]):
        yield (QUOTE, data)


def _near(data: Value) -> Iterator[Value]:
    """Change one atom of a quoted value."""
    if isinstance(data, tuple):
        yield from ((left, data[1]) for left in _near(data[0]))
        yield from ((data[0], right) for right in _near(data[1]))
        return
    if len(data) <= NUMBER:
        number = atom_to_int(data)
        yield int_to_atom(number + 1)
        yield int_to_atom(number - 1)
        return
    yield data[:-1] + bytes([data[-1] ^ 1])
    yield bytes([data[0] ^ 0x80]) + data[1:]
    yield data[:-1]
    yield data + b"\x00"


@_kind(DROPPED_CHECK)
def _check(place: Expression) -> Iterator[Value]:
    """Make a condition always true, or never."""
    if place.role == "condition":
        yield TRUE
        yield NIL


@_kind("branches swapped")
def _branches(place: Expression) -> Iterator[Value]:
    """Swap the two sides of an `i`."""
    if isinstance(place.value, tuple) and place.value[0] == IF and len(place.operands) == 3:
        test, then, other = place.operands
        yield (IF, to_list((test, other, then)))


@_kind("field")
def _field(place: Expression) -> Iterator[Value]:
    """A path into the environment: the other side of its last pair, the next item of the list,
    the one before."""
    if not isinstance(place.value, bytes) or place.value == NIL:
        return
    way = steps(place.value)
    if not way:
        return
    yield path(way[:-1] + ("f" if way[-1] == "r" else "r"))
    if way[-1] == "f":
        yield path(way[:-1] + "rf")
        if way[-2:-1] == "r":
            yield path(way[:-2] + "f")


@_kind("operands swapped")
def _swapped(place: Expression) -> Iterator[Value]:
    """Swap two neighbours: operands whose order matters, or items of a list that is built."""
    match place.value:
        case (bytes(head), _) if head in _ORDERED:
            items = list(place.operands)
            for at in range(len(items) - 1):
                other = items.copy()
                other[at], other[at + 1] = items[at + 1], items[at]
                yield (head, to_list(other))
    match place.value:
        case (b"\x04", (one, ((b"\x04", (other_item, (rest, b""))), b""))):
            yield to_list((CONS, other_item, to_list((CONS, one, rest))))


@_kind("raise dropped")
def _raise(place: Expression) -> Iterator[Value]:
    """Return `()`, which slashes, or another value instead of `(x)`."""
    if isinstance(place.value, tuple) and place.value[0] == RAISE:
        yield NIL
        yield TRUE
