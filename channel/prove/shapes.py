"""The shapes of a validator's states, which proofs of a game with structural numbers take by turns.

A shape has the length of each list, which optional atoms there are, and the structural numbers
(`Integer`). Shapes are those of states that are played. Where a legal move leads to another one,
the claim `holds` is undecided, and names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import z3

from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Condition, Symbolic, conjunction, equal
from channelsim.clsp.values import NIL, Value, atom_to_int, from_list
from channelsim.games.amounts import counted
from channelsim.games.forms import Form, Integer, ListOf, Optional, Pair, Record, parts

QUIET, MOST_HANDS = 300, 3000
"""Hands without a new shape after which no more are played, and the most hands."""

Measures: TypeAlias = tuple[tuple[str, int], ...]
"""The lengths of lists, the presence of optional atoms, and structural numbers, by their places."""


@dataclass(frozen=True)
class Shape:
    """A shape of a validator's states, and the moves that play has in such states.

    `example` is a state of this shape. `longest` is the longest move in bytes that play allows,
    `played` are the sizes of moves. `name` says how it differs from the validator's other shapes.
    """

    example: Value
    longest: int
    played: tuple[int, ...]
    name: str = field(default="", compare=False)

    def fits(self, path: Path, form: Form, state: Symbolic) -> Condition:
        """True where a state of this form has this shape."""
        return _alike(path, form, self.example, state)


def has_shapes(form: Form) -> bool:
    """True if some number of a state is structural."""
    return any(isinstance(part, Integer) and part.structural for part in parts(form))


def shapes_of(target: Target, validator: str) -> tuple[Shape, ...]:
    """The shapes of a validator's states in play, in the order of their names.

    Empty where no number of the state is structural, or no rules are known.
    """
    return () if target.rules is None else _shapes(target).get(validator, ())


def _shapes(target: Target) -> Mapping[str, tuple[Shape, ...]]:
    if not _last or _last[0][0] is not target:
        _last[:] = [(target, _played(target))]
    return _last[0][1]


_last: list[tuple[Target, Mapping[str, tuple[Shape, ...]]]] = []
"""The last target's, since playing hands takes a while."""


@dataclass
class _Seen:
    """What was seen in states of a shape: the first one, size limits, and sizes of moves."""

    example: Value
    limits: set[int] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)


def _played(target: Target) -> dict[str, tuple[Shape, ...]]:
    forms = {
        name: validator.form
        for name, validator in target.game.validators.items()
        if has_shapes(validator.form)
    }
    seen: dict[str, dict[Measures, _Seen]] = {name: {} for name in forms}
    last_new = 0
    played = hands(target, b"shapes") if forms else iter(())
    for number, hand in zip(range(MOST_HANDS), played, strict=False):
        for turn in hand:
            before = turn.before
            name = before.validator
            if name not in forms or before.state is None:
                continue
            state = before.state.value()
            key = measures(forms[name], state)
            if key not in seen[name]:
                last_new = number
            there = seen[name].setdefault(key, _Seen(state))
            there.limits.add(before.max_move_size)
            there.sizes.add(len(turn.play.move))
        if number - last_new >= QUIET:
            break
    return {name: _named(shapes) for name, shapes in seen.items()}


def _named(seen: Mapping[Measures, _Seen]) -> tuple[Shape, ...]:
    """The shapes with names that tell them apart."""
    telling = _telling([dict(key) for key in sorted(seen)])
    shapes = []
    for number, (key, there) in enumerate(sorted(seen.items()), 1):
        name = _said(dict(key), telling) or f"shape {number}"
        shapes.append(Shape(there.example, max(there.limits), tuple(sorted(there.sizes)), name))
    return tuple(shapes)


def _said(shape: Mapping[str, int], telling: Iterable[str]) -> str:
    """The measures of a shape at these places, as text."""
    return ", ".join(f"{place} {shape[place]}" for place in telling if place in shape)


def _telling(shapes: Sequence[Mapping[str, int]]) -> list[str]:
    """A few places by which shapes can be told apart, those that all shapes have first,
    then those that are no item of a list."""
    places = list(dict.fromkeys(place for shape in shapes for place in shape))
    places.sort(
        key=lambda place: (
            sum(place not in shape for shape in shapes),
            any(part.isdigit() for part in place.split(".")),
        )
    )
    chosen: list[str] = []

    def kinds(among: Sequence[str]) -> int:
        return len({tuple(shape.get(place) for place in among) for shape in shapes})

    while kinds(chosen) < len(shapes):
        chosen.append(max(places, key=lambda place: kinds([*chosen, place])))
    return sorted(chosen, key=places.index)


def measures(form: Form, value: Symbolic, path: Path | None = None) -> Measures:
    """What makes up the shape of a value of a form, in order.

    Of a value with symbols, as far as the path says it.
    """
    return tuple(_measured(form, value, "", path))


def _measured(form: Form, value: Any, name: str, path: Path | None) -> Iterator[tuple[str, int]]:
    match form:
        case Integer() if form.structural:
            atom = value if path is None else path.atom(value)
            if isinstance(atom, bytes):
                yield name, atom_to_int(atom)
        case Pair(first, second):
            both: Any = value if path is None else path.shape(value)
            yield from _measured(first, both[0], _inside(name, "first"), path)
            yield from _measured(second, both[1], _inside(name, "second"), path)
        case Optional():
            yield name, int((value if path is None else path.shape(value)) != NIL)
        case ListOf(inner):
            items = from_list(value) if path is None else _items(path, value)
            yield name, len(items)
            for number, item in enumerate(items, 1):
                yield from _measured(inner, item, _inside(name, str(number)), path)
        case Record(_, fields):
            if len(fields) == 1:
                values = [value]
            else:
                values = from_list(value) if path is None else _items(path, value)
            for (field_name, inner), item in zip(fields, values, strict=True):
                yield from _measured(inner, item, _inside(name, field_name), path)


def _inside(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def _alike(path: Path, form: Form, example: Any, value: Symbolic) -> Condition:
    """True where a value of a form has the shape of an example."""
    match form:
        case Integer():
            return equal(path.atom(value), example) if form.structural else True
        case Pair(first, second):
            both: Any = path.shape(value)
            left = _alike(path, first, example[0], both[0])
            return conjunction(left, _alike(path, second, example[1], both[1]))
        case Optional():
            return (path.shape(value) == NIL) == (example == NIL)
        case ListOf(inner):
            examples, items = from_list(example), _items(path, value)
            if len(examples) != len(items):
                return False
            pairs = zip(examples, items, strict=True)
            return conjunction(*(_alike(path, inner, like, item) for like, item in pairs))
        case Record(_, fields):
            single = len(fields) == 1
            examples = [example] if single else from_list(example)
            items = [value] if single else _items(path, value)
            every_field = zip(fields, examples, items, strict=True)
            return conjunction(
                *(_alike(path, inner, like, item) for (_, inner), like, item in every_field)
            )
    return True


def _items(path: Path, value: Symbolic) -> list[Symbolic]:
    items, rest = [], path.shape(value)
    while isinstance(rest, tuple):
        items.append(rest[0])
        rest = path.shape(rest[1])
    return items


@dataclass(frozen=True)
class KnownShapes:
    """The shapes of all validators of a target that have any."""

    target: Target
    shapes: Mapping[str, tuple[Shape, ...]]

    def has(self, path: Path, validator: str, state: Symbolic, size: int) -> Condition:
        """True where a state, and the size limit of the move in it, are those of a known shape."""
        form = self._form(validator)
        conditions = [
            shape.fits(path, form, state)
            for shape in self.shapes[validator]
            if size <= shape.longest
        ]
        if any(condition is True for condition in conditions):
            return True
        terms = [condition for condition in conditions if condition is not False]
        return z3.Or(*terms) if terms else False

    def described(self, path: Path, validator: str, state: Symbolic, size: int) -> str:
        """The shape of a state, and the size limit, as far as they tell it from the known ones."""
        form = self._form(validator)
        known = [dict(measures(form, shape.example)) for shape in self.shapes[validator]]
        own = dict(measures(form, state, path))
        said = _said(own, _telling([*known, own]))
        return f"{said or 'like others'}, and moves of {counted(size, 'byte')} at most"

    def _form(self, validator: str) -> Form:
        return self.target.game.validators[validator].form


def known_shapes(target: Target) -> KnownShapes:
    """The shapes of all validators of a target with rules."""
    return KnownShapes(target, _shapes(target))
