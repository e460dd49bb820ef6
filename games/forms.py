"""Forms: the CLVM shapes of fields and states, as data.

A form says which values a field may have: sizes and bounds can be read from it. The strict reader
and the writer of a value follow from its form; so do the lab's changes of states, the Hypothesis
strategies and the pages about states. Every reader raises `BadState` with the name of the wrong
field.

A shape that no form here has can be written by hand, as an `Opaque` form: that can be read and
written, but nobody can say what its bounds are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    int_to_atom,
    is_minimal,
    is_value,
    to_list,
)
from channelsim.games.amounts import counted
from channelsim.games.errors import BadState
from channelsim.plugins import called

# --- readers of lists and atoms -----------------------------------------------------------------


def read_list(value: Value, length: int, what: str) -> list[Value]:
    """The elements of a proper list of exactly `length`.

    >>> read_list((b"a", (b"b", b"")), 2, "pair of names")
    [b'a', b'b']
    """
    elements: list[Value] = []
    rest = value
    while isinstance(rest, tuple) and len(elements) < length:
        first, rest = rest
        elements.append(first)
    if rest != b"" or len(elements) != length:
        raise BadState(f"{what}: not a list of {length} elements")
    return elements


def read_int(value: Value, what: str, least: int, most: int) -> int:
    """An integer from `least` to `most`, in the fewest bytes.

    >>> read_int(bytes([0, 128]), "amount", 0, 1000)
    128
    >>> read_int(bytes([0, 1]), "amount", 0, 1000)
    Traceback (most recent call last):
    channelsim.games.errors.BadState: amount: not an integer in the fewest bytes
    """
    if not isinstance(value, bytes) or not is_minimal(value):
        raise BadState(f"{what}: not an integer in the fewest bytes")
    number = atom_to_int(value)
    if not least <= number <= most:
        raise BadState(f"{what}: not from {least} to {most}")
    return number


def read_bytes(value: Value, what: str, size: int) -> bytes:
    """An atom of exactly `size` bytes.

    >>> read_bytes(b"abc", "salt", 4)
    Traceback (most recent call last):
    channelsim.games.errors.BadState: salt: not an atom of 4 bytes
    """
    if not isinstance(value, bytes) or len(value) != size:
        raise BadState(f"{what}: not an atom of {counted(size, 'byte')}")
    return value


# --- forms --------------------------------------------------------------------------------------


Hashes: TypeAlias = Mapping[str, bytes]
"""The tree hash of each validator's program, by the validator's name."""

Reader: TypeAlias = Callable[[Value, str, Hashes], Any]
"""Reads a CLVM value, with the name of the field and the hashes of the game's programs.

It raises `BadState` for a value of another form.
"""

Writer: TypeAlias = Callable[[Any], Value]


@dataclass(frozen=True, slots=True)
class Atom:
    """Bytes: an atom of exactly `size` bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer from `least` to `most`: an atom in the fewest bytes.

    A `structural` one belongs to the shape of a state, as the lengths of its lists do: a place in a
    schedule, or whose turn it is. Proofs take each of its values by itself.
    """

    least: int
    most: int
    structural: bool = dataclasses.field(default=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ByteIn:
    """A number that is one of `values`: an atom of one byte. `noun` says what these are."""

    values: frozenset[int] | range
    noun: str


@dataclass(frozen=True, slots=True)
class HashOf:
    """The tree hash of the program of one of the game's validators."""

    validator: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A tuple of two: a pair."""

    first: Form
    second: Form


@dataclass(frozen=True, slots=True)
class Optional:
    """Bytes that may be missing: `b""` in Python, and `()` in CLVM."""

    form: Atom


@dataclass(frozen=True, slots=True)
class ListOf:
    """A tuple of `least` to `most` items: a proper list, `ascending` or in any order."""

    form: Form
    most: int
    least: int = 0
    ascending: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """An object of `kind`: `()` without a field, the field itself if it is one, a list of more.

    `checked`: the object's `check_fields` refuses fields that do not fit each other.
    """

    kind: type[Any]
    fields: tuple[tuple[str, Form], ...]
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A form written by hand.

    `write` takes the field and returns its CLVM value. `read` takes the CLVM value and the name of
    the field, and raises `BadState` for any other shape. `text` says in a few words what the field
    is. Strategies draw it from `examples`.
    """

    write: Callable[[Any], Value]
    read: Callable[[Value, str], Any]
    text: str = "anything that its own reader takes"
    examples: tuple[Any, ...] = ()


Form: TypeAlias = Atom | Integer | ByteIn | HashOf | Pair | Optional | ListOf | Record | Opaque
"""Any form."""


def parts(form: Form) -> Iterator[Form]:
    """The form and all forms inside of it.

    >>> [type(part).__name__ for part in parts(ListOf(Pair(Integer(0, 51), Atom(32)), 52))]
    ['ListOf', 'Pair', 'Integer', 'Atom']
    """
    yield form
    match form:
        case Pair(first, second):
            yield from parts(first)
            yield from parts(second)
        case Optional(inner) | ListOf(inner):
            yield from parts(inner)
        case Record(_, fields):
            for _, inner in fields:
                yield from parts(inner)


# --- readers and writers -------------------------------------------------------------------------


def reader(form: Form) -> Reader:
    """Make the strict reader of a form. Raises TypeError for an object that is no form."""
    match form:
        case Atom(size):
            return lambda value, name, hashes: read_bytes(value, name, size)
        case Integer(least, most):
            return lambda value, name, hashes: read_int(value, name, least, most)
        case ByteIn(values, noun):
            return _byte_reader(values, noun)
        case HashOf(validator):
            return _hash_reader(validator)
        case Pair(first, second):
            return _pair_reader(reader(first), reader(second))
        case Optional(inner):
            read = reader(inner)
            return lambda value, name, hashes: b"" if value == NIL else read(value, name, hashes)
        case ListOf(inner):
            return _list_reader(form, reader(inner))
        case Record():
            return _record_reader(form)
        case Opaque(_, read_value):
            read_checked = called(read_value, "a form", partial(_field_problem, form))
            return lambda value, name, hashes: read_checked(value, name)
    raise TypeError(f"{form!r:.80} is no form; one is `Atom(2)`, or `Guessing.form` of a state")


def writer(form: Form) -> Writer:
    """Make the writer of a form. Raises TypeError for an object that is no form."""
    match form:
        case Atom() | HashOf():
            return bytes
        case Integer():
            return int_to_atom
        case ByteIn():
            return lambda number: bytes((number,))
        case Pair(first, second):
            left, right = writer(first), writer(second)
            return lambda both: (left(both[0]), right(both[1]))
        case Optional(inner):
            write = writer(inner)
            return lambda data: NIL if data == b"" else write(data)
        case ListOf(inner):
            write_item = writer(inner)
            return lambda items: to_list(map(write_item, items))
        case Record(_, fields):
            return _record_writer(fields)
        case Opaque(write_value):
            return write_value
    raise TypeError(f"{form!r:.80} is no form; one is `Atom(2)`, or `Guessing.form` of a state")


def _field_problem(form: Opaque, field: object) -> str:
    """What is wrong with a field that a reader written by hand returns; empty for a right one."""
    if not is_hashable(field):
        return "a field of a state has to be hashable: a tuple is"
    return "" if is_value(form.write(field)) else "it is not written as a CLVM value"


def is_hashable(data: object) -> bool:
    """True if this can be part of a state."""
    try:
        hash(data)
    except TypeError:
        return False
    return True


def _byte_reader(values: frozenset[int] | range, noun: str) -> Reader:
    def read(value: Value, name: str, _hashes: Hashes) -> int:
        if not isinstance(value, bytes) or len(value) != 1 or value[0] not in values:
            raise BadState(f"{name}: not {noun}")
        return value[0]

    return read


def _hash_reader(validator: str) -> Reader:
    def read(value: Value, name: str, hashes: Hashes) -> bytes:
        if validator not in hashes:
            raise ValueError(f"{name}: it cannot be read without the hash of {validator}")
        if value != hashes[validator]:
            raise BadState(f"{name}: not the hash of the program {validator}")
        return hashes[validator]

    return read


def _pair_reader(read_first: Reader, read_second: Reader) -> Reader:
    def read(value: Value, name: str, hashes: Hashes) -> tuple[Any, Any]:
        if not isinstance(value, tuple):
            raise BadState(f"{name}: not a pair")
        return read_first(value[0], name, hashes), read_second(value[1], name, hashes)

    return read


def length(form: ListOf) -> str:
    """The number of items in words."""
    if form.least == form.most:
        return f"{form.most}"
    return f"{form.least} to {form.most}" if form.least else f"at most {form.most}"


def _list_reader(form: ListOf, read_item: Reader) -> Reader:
    least, most, ascending = form.least, form.most, form.ascending
    noun = "elements" if least == most else "items"

    def read(value: Value, name: str, hashes: Hashes) -> tuple[Any, ...]:
        items: list[Any] = []
        while isinstance(value, tuple) and len(items) < most:
            items.append(read_item(value[0], name, hashes))
            value = value[1]
        if value != NIL or len(items) < least:
            raise BadState(f"{name}: not a list of {length(form)} {noun}")
        if ascending and any(low >= high for low, high in pairwise(items)):
            raise BadState(f"{name}: not ascending")
        return tuple(items)

    return read


def _record_reader(form: Record) -> Reader:
    kind, count, checked = form.kind, len(form.fields), form.checked
    readers = tuple((field, reader(inner)) for field, inner in form.fields)

    def read(value: Value, _name: str, hashes: Hashes) -> Any:
        values = [value] if count == 1 else read_list(value, count, kind.__name__)
        record = kind(
            *[
                read(item, field, hashes)
                for item, (field, read) in zip(values, readers, strict=True)
            ]
        )
        if checked:
            record.check_fields()
        return record

    return read


def _record_writer(fields: tuple[tuple[str, Form], ...]) -> Writer:
    writers = tuple((field, writer(inner)) for field, inner in reversed(fields))
    if len(writers) == 1:
        ((name, write_field),) = writers
        return lambda record: write_field(getattr(record, name))

    def write_fields(record: Any) -> Value:
        value: Value = NIL
        for field, write in writers:
            value = (write(getattr(record, field)), value)
        return value

    return write_fields
