"""The arguments of a validator as symbols: the domain of a proof, with its bounds in words.

A move has a known length. The fields of the state follow from its form. Evidence, and a state
without a form, are any value within bounds, whose shape is decided when a program looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, cast

import z3

from channelsim.channel.prove.long_atoms import long_atom
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Hidden,
    Lazy,
    Number,
    Symbolic,
    Term,
    Truth,
    width,
)
from channelsim.clsp.values import NIL, Value, from_list, int_to_atom, to_list
from channelsim.games.amounts import MAX_AMOUNT, counted
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
)

PAIRS, ATOM = 4, 33
"""The bounds of values of any shape: pairs inside each other, and bytes of an atom."""

KEY = 48
MOST_SIZE = (1 << 15) - 1
"""The largest size limit that the referee takes."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An input: a signed number of so many bits, within bounds, or `among` a few unsigned ones."""

    name: str
    bits: int
    least: int
    most: int
    among: tuple[int, ...] = ()


Variables: TypeAlias = Callable[[Variable], Term]
"""Makes the term of an input."""

Part: TypeAlias = tuple[Symbolic, tuple[Condition, ...]]
"""A value, and the conditions that it fulfils."""


def free(variable: Variable) -> Term:
    """A term that can be anything."""
    return z3.BitVec(variable.name, variable.bits)


@dataclass(frozen=True)
class Domain:
    """The inputs on which programs are compared.

    `hashes` are those that each program of the game may have, by validator; `own` those of the
    programs themselves. `form` is that of the state, None for a state of any shape. `longest` is
    the longest move in bytes; values of any shape have at most `pairs` pairs inside each other,
    and atoms of at most `atom` bytes. `program` stands for the argument with the program's code.
    """

    own: tuple[bytes, ...]
    form: Form | None
    longest: int
    hashes: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    pairs: int = PAIRS
    atom: int = ATOM
    program: Value = NIL
    by_hand: bool = False
    """Take any value within the bounds for a form that is written by hand: its reader, in Python,
    can say which of them it refuses."""
    like: Value | None = None
    """A state of the only shape; None for every shape of the form (`shapes`)."""
    last: int | None = None
    """The longest move of a range of sizes; None for moves of one size only."""
    state: Value | None = None
    amount: int | None = None
    """The only state and the only amount, for a place of play; None for all."""

    @property
    def bounds(self) -> tuple[str, ...]:
        """The symbolic inputs, in words."""
        shape = self._shape()
        opaque = "".join(
            f"; {name} {self._shape(_most_bytes(form)) if self.by_hand else 'only passed on'}"
            for name, form in (_opaque("state", self.form) if self.form is not None else ())
        )
        return (
            f"move: every value of 0 to {counted(self.longest, 'byte')}",
            f"amount: 0 to {MAX_AMOUNT:,}, share: 0 to the amount",
            f"state: {'every value of its form' if self.form is not None else shape}"
            f"{', of the shape that is named' if self.like is not None else ''}{opaque}",
            f"evidence: {shape}",
            "hashes of programs: those of either side",
            f"timeout, nonce: 0 to {MAX_AMOUNT:,}, limit of the next move: 0 to {MOST_SIZE:,}",
            f"keys: {counted(KEY, 'byte')}; the referee's hash: 32 bytes; hashes of records: 32"
            " bytes, that of the next one or () and that of this one or 0x78",
        )

    def _shape(self, longest: int = 0) -> str:
        return (
            f"any value of at most {counted(self.pairs, 'pair')} inside each other,"
            f" with atoms of at most {counted(max(self.atom, longest), 'byte')}"
        )

    def environment(self, size: int, variables: Variables = free) -> Inputs:
        """The arguments with a move of this size."""
        return Inputs(self, size, variables)


def _most_bytes(form: Opaque) -> int:
    """The bytes of the longest atom that a field of this form is given: one more than in play."""
    return max((_longest(form.write(each)) for each in form.examples), default=0) + 1


def _opaque(name: str, form: Form) -> Iterable[tuple[str, Opaque]]:
    match form:
        case Opaque():
            yield name, form
        case Pair(first, second):
            yield from _opaque(f"{name}.first", first)
            yield from _opaque(f"{name}.second", second)
        case Optional(inner) | ListOf(inner):
            yield from _opaque(f"{name} item", inner)
        case Record(_, fields):
            for field_name, inner in fields:
                yield from _opaque(f"{name}.{field_name}", inner)


class Inputs:
    """Symbolic arguments: `environment`, and the `conditions` that all of them fulfil."""

    def __init__(self, domain: Domain, size: int, variables: Variables) -> None:
        self._domain = domain
        self._variables = variables
        self._parts: dict[str, Part] = {}
        conditions: list[Condition] = []

        def take(part: Part) -> Symbolic:
            conditions.extend(part[1])
            return part[0]

        def integer(name: str, most: int) -> Number:
            number, bounds = self._integer(name, 0, most)
            conditions.extend(bounds)
            return number

        amount, share = integer("amount", MAX_AMOUNT), integer("share", MAX_AMOUNT)
        if domain.amount is not None:
            conditions.append(amount.term == domain.amount)
        conditions.append(share.term <= amount.term)
        coin: tuple[Symbolic, ...] = (
            self._bytes("mover_key", KEY),
            self._bytes("waiter_key", KEY),
            integer("timeout", MAX_AMOUNT),
            amount,
            self._bytes("mod_hash", 32),
            integer("nonce", MAX_AMOUNT),
            take(self._move(size)),
            integer("max_move_size", MOST_SIZE),
            self._lazy("infohash_b", (lambda: (NIL, ()), lambda: (self._bytes("next", 32), ()))),
            share,
            self._lazy(
                "infohash_a", (lambda: (b"x", ()), lambda: (self._bytes("judging", 32), ()))
            ),
        )
        form = domain.form
        state: Symbolic
        if domain.state is not None:
            state = domain.state
        elif form is None:
            state = self._any("state", domain.pairs)
        else:
            state = take(self._of("state", form, domain.like))
        self.environment: Symbolic = _listed(
            (
                take(self._hash("program_hash", domain.own)),
                _listed(coin),
                state,
                Hidden("its own program", domain.program),
                self._any("evidence", domain.pairs),
                self._lazy("address", (lambda: (NIL, ()), lambda: (self._bytes("payee", 32), ()))),
            )
        )
        self.conditions = tuple(conditions)

    def with_more(self, values: Sequence[Symbolic], conditions: Iterable[Condition] = ()) -> Inputs:
        """These inputs, and more of them behind the arguments, with what these fulfil."""
        more = copy(self)
        arguments: list[Any] = from_list(cast(Any, self.environment))
        more.environment = _listed((*arguments, *values))
        more.conditions = (*self.conditions, *conditions)
        return more

    def instead(self, environment: Symbolic, conditions: Iterable[Condition] = ()) -> Inputs:
        """Other inputs, made of parts of these."""
        others = copy(self)
        others.environment, others.conditions = environment, tuple(conditions)
        return others

    def any_value(self, name: str) -> Symbolic:
        """A value of any shape, within the bounds."""
        return self._any(name, self._domain.pairs)

    def any_bytes(self, name: str, longest: int) -> Symbolic:
        """Any atom of at most so many bytes."""
        sizes = range(longest + 1)
        return self.choice(name, [self.any_of_size(f"{name} of {size}", size) for size in sizes])

    def any_of_size(self, name: str, size: int) -> Part:
        """Any atom of so many bytes."""
        return self._bytes(name, size), ()

    def number(self, name: str, least: int, most: int) -> tuple[Number, tuple[Condition, ...]]:
        """A number, and that it is within these bounds."""
        return self._integer(name, least, most)

    def choice(self, name: str, parts: Sequence[Part]) -> Symbolic:
        """Any one of a few values, each with what it fulfils."""

        def made(part: Part) -> Callable[[], Part]:
            return lambda: part

        return self._lazy(name, tuple(map(made, parts)))

    def _move(self, size: int) -> Part:
        """A move of this size, or of any from it to the last one of a range."""
        last = self._domain.last
        if last is None:
            return self._bytes("move", size), ()

        def variables(name: str, bits: int) -> Term:
            half = 1 << (bits - 1)
            return self._variables(Variable(name, bits, -half, half - 1))

        length, bounds = self._integer("move length", 0, last - size)
        if z3.is_bv_value(length.term):  # a draw
            return self._bytes("move", size + int(length.term.as_long())), ()
        return long_atom("move", size, last, length.term, variables), bounds

    # --- parts ---------------------------------------------------------------------------------

    def _integer(self, name: str, least: int, most: int) -> tuple[Number, tuple[Condition, ...]]:
        """A number, and that it is within its bounds: its term may have room for others."""
        term = self._variables(Variable(name, width(least, most), least, most))
        return Number(term, least, most), (term >= least, term <= most)

    def _bytes(self, name: str, size: int) -> bytes | Bytes:
        if not size:
            return NIL
        half = 1 << (8 * size - 1)
        return Bytes(self._variables(Variable(name, 8 * size, -half, half - 1)), size)

    def _among(self, name: str, size: int, values: Iterable[int]) -> Part:
        """Bytes that are one of a few."""
        among, half = tuple(values), 1 << (8 * size - 1)
        term = self._variables(Variable(name, 8 * size, -half, half - 1, among))
        if z3.is_bv_value(term):  # a draw
            return Bytes(term, size), (term.as_long() in among,)
        return Bytes(term, size), (z3.Or(*[term == value for value in among]),)

    def _hash(self, name: str, known: Sequence[bytes]) -> Part:
        if len(set(known)) == 1:
            return known[0], ()
        return self._among(name, 32, (int.from_bytes(each, "big") for each in known))

    def _lazy(
        self,
        name: str,
        alternatives: tuple[Callable[[], Part], ...],
        longer: bool = False,
        bounded: bool = False,
    ) -> Lazy:
        """A part whose alternatives are built once."""

        def built(number: int) -> Callable[[], Part]:
            def build() -> Part:
                key = f"{name}#{number}"
                if key not in self._parts:
                    self._parts[key] = alternatives[number]()
                return self._parts[key]

            return build

        last = len(alternatives) - 1
        selector = self._variables(Variable(f"{name}?", width(0, last), 0, last))
        built_once = tuple(map(built, range(len(alternatives))))
        return Lazy(name, selector, built_once, longer, bounded)

    def _any(self, name: str, pairs: int, longest: int = 0) -> Lazy:
        """A value of any shape, within the bounds; atoms of at least `longest` bytes are."""
        sizes = range(1, max(self._domain.atom, longest) + 1)
        alternatives: list[Callable[[], Part]] = [
            lambda: (NIL, ()),
            lambda: (
                self._lazy(
                    f"{name} atom",
                    tuple(partial(self._atom_of, name, size) for size in sizes),
                    longer=True,
                    bounded=True,
                ),
                (),
            ),
        ]
        if pairs:
            alternatives.append(
                lambda: (
                    (
                        self._any(f"{name}.first", pairs - 1, longest),
                        self._any(f"{name}.rest", pairs - 1, longest),
                    ),
                    (),
                )
            )
        return self._lazy(name, tuple(alternatives), bounded=not pairs)

    def _of(self, name: str, form: Form, like: Value | None = None) -> Part:
        """A value of a form; of the shape of the value `like`, if there is one."""
        match form:
            case Atom(size):
                return self._bytes(name, size), ()
            case Integer(least, most):
                if isinstance(like, bytes) and form.structural:
                    return like, ()
                if least == most:
                    return int_to_atom(least), ()
                return self._integer(name, least, most)
            case ByteIn(values):
                return self._among(name, 1, sorted(values))
            case HashOf(validator):
                return self._hash(name, self._domain.hashes[validator])
            case Pair(first, second):
                parts = like if isinstance(like, tuple) else (None, None)
                left, conditions = self._of(f"{name}.first", first, parts[0])
                right, more = self._of(f"{name}.second", second, parts[1])
                return (left, right), conditions + more
            case Optional(atom):
                if like is not None:
                    return (NIL, ()) if like == NIL else self._of(name, atom)
                return self._lazy(name, (lambda: (NIL, ()), lambda: self._of(name, atom))), ()
            case ListOf() as items:
                if like is not None:
                    return self._items(name, items, from_list(like))
                lengths = range(items.least, items.most + 1)
                return self._lazy(
                    f"{name} length",
                    tuple(partial(self._items, name, items, [None] * count) for count in lengths),
                ), ()
            case Record(_, fields):
                if len(fields) == 1:
                    ((field_name, inner),) = fields
                    return self._of(f"{name}.{field_name}", inner, like)
                return self._fields(name, fields, like)
            case Opaque(write, examples=examples):
                if self._domain.by_hand:
                    return self._any(name, self._domain.pairs, _most_bytes(form)), ()
                return Hidden(name, write(examples[0]) if examples else NIL), ()
        raise TypeError(f"{form!r:.80} is no form")

    def _atom_of(self, name: str, size: int) -> Part:
        return self._bytes(f"{name} of {size}", size), ()

    def _items(self, name: str, form: ListOf, likes: Sequence[Value | None]) -> Part:
        """A list of so many items, each of the shape of a value; numbers that have to ascend do."""
        parts = [self._of(f"{name}.{number}", form.form, like) for number, like in enumerate(likes)]
        conditions = [condition for part in parts for condition in part[1]]
        if form.ascending:
            if all(isinstance(part[0], Number) and z3.is_bv_value(part[0].term) for part in parts):
                parts.sort(key=_drawn_number)  # draws would hardly ever be in order
            for (low, _), (high, _) in pairwise(parts):
                if isinstance(low, Number) and isinstance(high, Number):
                    conditions.append(low.term < high.term)
                elif isinstance(low, Bytes) and isinstance(high, Bytes):
                    conditions.append(z3.ULT(low.term, high.term))
        return _listed(part[0] for part in parts), tuple(conditions)

    def _fields(self, name: str, fields: Sequence[tuple[str, Form]], like: Value | None) -> Part:
        likes: Sequence[Value | None] = [None] * len(fields) if like is None else from_list(like)
        parts = [
            self._of(f"{name}.{label}", form, shape)
            for (label, form), shape in zip(fields, likes, strict=True)
        ]
        conditions = tuple(condition for part in parts for condition in part[1])
        return _listed([part[0] for part in parts]), conditions


def _longest(value: Value) -> int:
    """The bytes of the longest atom of a value."""
    if isinstance(value, tuple):
        return max(map(_longest, value))
    return len(value)


def _drawn_number(part: Part) -> int:
    number = part[0]
    assert isinstance(number, Number)
    return int(number.term.as_signed_long())


def _listed(items: Iterable[Any]) -> Any:
    return to_list(list(items))


def undecided(value: Symbolic, decided: dict[str, Symbolic]) -> list[Lazy]:
    """The parts of a value whose shape is not decided."""
    lazies = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Lazy):
            if part.name in decided:
                waiting.append(decided[part.name])
            else:
                lazies.append(part)
        elif isinstance(part, tuple):
            waiting += part
    return lazies


def concrete(
    value: Symbolic, decided: dict[str, Symbolic], evaluated: Callable[[Term], Term]
) -> Value:
    """The value where each term is a constant; all of its shapes are decided."""
    match value:
        case bytes():
            return value
        case (left, right):
            return concrete(left, decided, evaluated), concrete(right, decided, evaluated)
        case Number(term):
            return int_to_atom(evaluated(term).as_signed_long())
        case Bytes(term, size):
            return int(evaluated(term).as_long()).to_bytes(size, "big")
        case Truth(term):
            return b"\x01" if z3.is_true(evaluated(term)) else NIL
        case Lazy(name):
            return concrete(decided[name], decided, evaluated)
        case Hidden(_, example):
            plain: Value = example
            return plain
    raise TypeError(f"{value!r:.80} is no value")
