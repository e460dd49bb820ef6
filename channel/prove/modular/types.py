"""Sets of CLVM values: atoms with bounds, and pairs of such sets, lists of any length among them.

Equal sets are one object: they are compared by `is`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from channelsim.clsp.values import NIL, atom_to_int, int_to_atom, is_minimal

MOST_VALUES = 8
"""The most atoms that are named one by one."""

DEEPEST = 40
"""The most pairs inside each other; what is deeper may be anything."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """Atoms: the bounds of their lengths and of the signed numbers that they are read as; None is
    no bound. `minimal`: all are numbers in the fewest bytes. `values`: all of them, if few."""

    shortest: int
    longest: int | None
    least: int | None
    most: int | None
    minimal: bool
    values: frozenset[bytes] | None = None

    def __contains__(self, atom: bytes) -> bool:
        if self.values is not None:
            return atom in self.values
        if len(atom) < self.shortest or (self.longest is not None and len(atom) > self.longest):
            return False
        number = atom_to_int(atom)
        if (self.least is not None and number < self.least) or (
            self.most is not None and number > self.most
        ):
            return False
        return is_minimal(atom) or not self.minimal

    @property
    def only(self) -> bytes | None:
        """The only atom; None if there are others."""
        if self.values is None or len(self.values) != 1:
            return None
        (value,) = self.values
        return value


ANY_ATOM = Atoms(0, None, None, None, False)
EMPTY = Atoms(0, 0, 0, 0, True, frozenset((NIL,)))


def known(values: frozenset[bytes]) -> Atoms | None:
    """These atoms; None for none."""
    if not values:
        return None
    numbers = [atom_to_int(value) for value in values]
    lengths = [len(value) for value in values]
    return Atoms(
        min(lengths),
        max(lengths),
        min(numbers),
        max(numbers),
        all(map(is_minimal, values)),
        values if len(values) <= MOST_VALUES else None,
    )


def atoms(
    shortest: int = 0,
    longest: int | None = None,
    least: int | None = None,
    most: int | None = None,
    minimal: bool = False,
) -> Atoms | None:
    """The atoms within all of these bounds, as tight as they are; None for none."""
    if longest is not None:
        half = 1 << (8 * longest - 1) if longest else 0
        least = -half if least is None else max(least, -half)
        top = half - 1 if longest else 0
        most = top if most is None else min(most, top)
    if least is not None and most is not None and least > most:
        return None
    if minimal and least is not None and most is not None:
        ends = len(int_to_atom(least)), len(int_to_atom(most))
        longest = max(ends) if longest is None else min(longest, max(ends))
    if (least is not None and least > 0) or (most is not None and most < 0):
        shortest = max(shortest, 1)
        if minimal:
            nearest = least if least is not None and least > 0 else most
            assert nearest is not None
            shortest = max(shortest, len(int_to_atom(nearest)))
    if longest is not None and shortest > longest:
        return None
    if longest == 0:
        return EMPTY
    if minimal and shortest > 0 and least == 0:
        return atoms(shortest, longest, 1, most, True)
    if minimal and shortest > 0 and most == 0:
        return atoms(shortest, longest, least, -1, True)
    if minimal and least is not None and most is not None and most - least < MOST_VALUES:
        every = (int_to_atom(number) for number in range(least, most + 1))
        return known(frozenset(value for value in every if len(value) >= shortest))
    return Atoms(shortest, longest, least, most, minimal)


def number(least: int | None, most: int | None) -> Atoms | None:
    """The numbers within bounds, in the fewest bytes."""
    return atoms(least=least, most=most, minimal=True)


def both(left: Atoms | None, right: Atoms | None) -> Atoms | None:
    """The atoms that are in both."""
    if left is None or right is None:
        return None
    if left.values is not None or right.values is not None:
        few, others = (left, right) if left.values is not None else (right, left)
        assert few.values is not None
        return known(frozenset(value for value in few.values if value in others))
    return atoms(
        max(left.shortest, right.shortest),
        _least(left.longest, right.longest),
        _most(left.least, right.least),
        _least(left.most, right.most),
        left.minimal or right.minimal,
    )


def _least(left: int | None, right: int | None) -> int | None:
    return min((bound for bound in (left, right) if bound is not None), default=None)


def _most(left: int | None, right: int | None) -> int | None:
    return max((bound for bound in (left, right) if bound is not None), default=None)


def either(left: Atoms | None, right: Atoms | None) -> Atoms | None:
    """At least the atoms that are in one of both."""
    if left is None or right is None:
        return right if left is None else left
    if left.values is not None and right.values is not None:
        values = left.values | right.values
        if len(values) <= MOST_VALUES:
            return known(values)
    return Atoms(
        min(left.shortest, right.shortest),
        _bound(max, left.longest, right.longest),
        _bound(min, left.least, right.least),
        _bound(max, left.most, right.most),
        left.minimal and right.minimal,
    )


def _bound(choose: Callable[[int, int], int], left: int | None, right: int | None) -> int | None:
    """The bound of both; None where one has none."""
    return None if left is None or right is None else choose(left, right)


def without(held: Atoms | None, atom: bytes) -> Atoms | None:
    """The atoms but one, if the set can say so."""
    if held is None or atom not in held:
        return held
    if held.values is not None:
        return known(held.values - {atom})
    if atom == NIL and held.shortest == 0:
        return atoms(1, held.longest, held.least, held.most, held.minimal)
    if held.minimal and is_minimal(atom):
        gone = atom_to_int(atom)
        if gone == held.least:
            return atoms(held.shortest, held.longest, gone + 1, held.most, True)
        if gone == held.most:
            return atoms(held.shortest, held.longest, held.least, gone - 1, True)
    return held


class Type:
    """A set of values: `atoms`, and pairs of a `first` and a `rest`, if it has any.

    `again`: the rest of a pair is of this same set. `any`: every value. `differs`: values that may
    not be the same in a program and its original.
    """

    __slots__ = ("again", "any", "atoms", "differs", "first", "rest")

    def __init__(
        self,
        held: Atoms | None,
        first: Type | None,
        rest: Type | None,
        again: bool,
        any_value: bool,
        differs: bool,
    ) -> None:
        self.atoms, self.first, self.again = held, first, again
        self.rest: Type | None = self if again else rest
        self.any, self.differs = any_value, differs

    @property
    def has_pairs(self) -> bool:
        """True if a value may be a pair."""
        return self.first is not None

    @property
    def only(self) -> bytes | None:
        """The only value, if that is an atom; None for others."""
        return None if self.has_pairs or self.atoms is None else self.atoms.only


_types: dict[Any, Type] = {}


def _one(held: Atoms | None, first: Type | None, rest: Type | None, again: bool) -> Type:
    key = held, id(first), id(rest), again
    found = _types.get(key)
    if found is None:
        found = _types[key] = Type(held, first, rest, again, False, False)
    return found


def _any() -> Type:
    anything = Type(ANY_ATOM, None, None, False, True, False)
    anything.first = anything.rest = anything
    return anything


ANY: Final = _any()
"""Every value."""

DIFFERS: Final = Type(ANY_ATOM, None, None, False, False, True)
"""Values of which nothing may be looked at."""

NONE: Final = _one(None, None, None, False)
"""No value."""

NIL_TYPE: Final = _one(EMPTY, None, None, False)


def of_atoms(held: Atoms | None) -> Type:
    """Atoms only."""
    return _one(held, None, None, False)


def of_atom(atom: bytes) -> Type:
    """One atom."""
    return of_atoms(known(frozenset((atom,))))


def exactly(held: Atoms | None, first: Type, rest: Type) -> Type:
    """Atoms and pairs, even if lists of any length would say it, too."""
    return _one(held, first, rest, False)


def of_pair(first: Type, rest: Type, held: Atoms | None = None) -> Type:
    """Pairs, and atoms besides; no pair where a part has no value."""
    if NONE in (first, rest):
        return of_atoms(held)
    if held == EMPTY and rest.atoms == EMPTY and rest.has_pairs and not rest.any:
        assert rest.first is not None
        assert rest.rest is not None
        if (rest.again or rest.rest is NIL_TYPE) and _pairs_in(first) == _pairs_in(rest.first):
            return list_of(union(first, rest.first))
    return _one(held, first, rest, False)


def _pairs_in(held: Type) -> int:
    """The pairs of a list of known length; items of one list are alike."""
    count = 0
    while held.first is not None and held.rest is not None:
        if held.again or held.any:
            return -1
        count, held = count + 1, held.rest
    return count


def list_of(first: Type, held: Atoms | None = EMPTY) -> Type:
    """Lists of any length."""
    return of_atoms(held) if first is NONE else _one(held, first, None, True)


_unions: dict[tuple[int, int], Type] = {}


def union(left: Type, right: Type, depth: int = 0) -> Type:
    """At least the values that are in one of both."""
    if left is right or right is NONE:
        return left
    if left is NONE:
        return right
    if left.differs or right.differs:
        return DIFFERS
    if left.any or right.any or depth > DEEPEST:
        return DIFFERS if may_differ(left) or may_differ(right) else ANY
    key = id(left), id(right)
    found = _unions.get(key)
    if found is None:
        found = _unions[key] = _union(left, right, depth)
    return found


def _union(left: Type, right: Type, depth: int) -> Type:
    held = either(left.atoms, right.atoms)
    if left.first is None or right.first is None:
        pairs = left if right.first is None else right
        if pairs.first is None:
            return of_atoms(held)
        assert pairs.rest is not None
        if pairs.again:
            return list_of(pairs.first, held)
        return of_pair(pairs.first, pairs.rest, held)
    if left.again or right.again:
        return _list_union(left, right, held, depth)
    assert left.rest is not None
    assert right.rest is not None
    first = union(left.first, right.first, depth + 1)
    return of_pair(first, union(left.rest, right.rest, depth + 1), held)


def _list_union(left: Type, right: Type, held: Atoms | None, depth: int) -> Type:
    """The union where one is a list of any length."""
    first = NONE
    for part in (left, right):
        while part.first is not None:
            if part.any or part.differs:
                return DIFFERS if may_differ(left) or may_differ(right) else ANY
            first = union(first, part.first, depth + 1)
            held = either(held, part.atoms)
            if part.again:
                break
            assert part.rest is not None
            part = part.rest
        if part.differs:
            return DIFFERS
        held = either(held, part.atoms)
    return list_of(first, held)


def may_differ(held: Type) -> bool:
    """True if some part may differ."""
    waiting, seen = [held], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if part.differs:
            return True
        waiting += [inner for inner in (part.first, part.rest) if inner is not None]
    return False


def meet(left: Type, right: Type, depth: int = 0) -> Type:
    """The values that are in both, or more of them."""
    if left is right or right.any or left.differs or depth > DEEPEST:
        return left
    if left.any or right.differs:
        return right
    held = both(left.atoms, right.atoms)
    if left.first is None or right.first is None:
        return of_atoms(held)
    first = meet(left.first, right.first, depth + 1)
    if left.again and right.again:
        return list_of(first, held)
    assert left.rest is not None
    assert right.rest is not None
    return of_pair(first, meet(left.rest, right.rest, depth + 1), held)


def widened(old: Type, new: Type) -> Type:
    """At least both, with no bound where a bound of atoms gave way: a chain of these ends."""
    return _widened(old, union(old, new), 0)


def _widened(old: Type, whole: Type, depth: int) -> Type:
    if old is whole or whole.any or whole.differs or old.any or depth > DEEPEST:
        return whole
    held = _wide(old.atoms, whole.atoms)
    if whole.first is None:
        return of_atoms(held)
    first = whole.first if old.first is None else _widened(old.first, whole.first, depth + 1)
    if whole.again:
        return list_of(first, held)
    assert whole.rest is not None
    rest = whole.rest if old.rest is None else _widened(old.rest, whole.rest, depth + 1)
    return of_pair(first, rest, held)


def _wide(old: Atoms | None, new: Atoms | None) -> Atoms | None:
    if old is None or new is None or old == new or new.values is not None:
        return new
    least, most = new.least, new.most
    if least is not None and old.least is not None and least < old.least:
        least = 0 if least >= 0 else None
    if most is not None and old.most is not None and most > old.most:
        most = None
    shortest = new.shortest if new.shortest == old.shortest else 0
    longest = new.longest if new.longest == old.longest else None
    return atoms(shortest, longest, least, most, new.minimal)
