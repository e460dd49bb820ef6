"""Sets with items that are not known: of each item, where it is in the set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import z3

from channelsim.channel.prove.rules.standins.base import StandIn, no_model
from channelsim.channel.prove.rules.standins.ints import (
    all_of,
    any_of,
    bool_of,
    condition_of,
    negated,
)
from channelsim.channel.prove.symbols import Condition, Undecided

MOST_ITEMS = 64
"""The most items of such a set."""

COMPARED = (int, bool, bytes, str, float, type(None))
"""Types of which two values have the same hash if, and only if, they are equal."""


class SymbolicSet(StandIn):
    """A set of items, some of which may be equal; each is in it where its condition holds."""

    __slots__ = ("items", "kind")

    def __init__(self, items: Iterable[tuple[Any, Condition]], kind: type = set) -> None:
        self.items, self.kind = tuple(items), kind
        if len(self.items) > MOST_ITEMS:
            raise Undecided(f"a set of more than {MOST_ITEMS} items that are not known")
        compared_keys(item for item, _ in self.items)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind

    @property
    def condition(self) -> Condition:
        """Where the set has an item."""
        conditions = [condition for _, condition in self.items]
        if any(condition is True for condition in conditions):
            return True
        return z3.Or(*conditions) if conditions else False

    def __bool__(self) -> bool:
        return bool(bool_of(self.condition))

    __hash__ = StandIn.__hash__

    def has(self, item: Any) -> Any:
        """Where an item is in the set."""
        return any_of([all_of([bool_of(there), item == each]) for each, there in self.items])

    def __contains__(self, item: Any) -> bool:
        return bool(self.has(item))

    def count(self) -> Any:
        """The number of different items."""
        return sum(there + 0 for _, there in self._firsts())

    def __len__(self) -> int:
        return self.count().__index__()  # type: ignore[no-any-return]

    def _firsts(self) -> Iterator[tuple[Any, Any]]:
        """Each item, and where it is in the set and equal to none before it."""
        for at, (item, there) in enumerate(self.items):
            before = [
                all_of([bool_of(earlier), item == other]) for other, earlier in self.items[:at]
            ]
            yield item, all_of([bool_of(there), bool_of(negated(condition_of(any_of(before))))])

    def __iter__(self) -> Iterator[Any]:
        """The only item, if there is one: of several, their hashes decide on the order."""
        items = self.elements()
        if len(items) > 1:
            raise Undecided("the order of the items of a set")
        return iter(items)

    def elements(self) -> list[Any]:
        """The different items, in an order that nothing may depend on: a fork for each."""
        return [item for item, there in self._firsts() if there]

    def _filtered(self, keep: Callable[[Any], Any]) -> SymbolicSet:
        return SymbolicSet(
            (
                (item, condition_of(all_of([bool_of(there), keep(item)])))
                for item, there in self.items
            ),
            self.kind,
        )

    def __sub__(self, other: Any) -> Any:
        theirs = _of_set(other)
        if theirs is None:
            return NotImplemented
        return self._filtered(lambda item: bool_of(negated(condition_of(theirs.has(item)))))

    def __rsub__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else theirs - self

    def __and__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else self._filtered(theirs.has)

    def __rand__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else theirs & self

    def __or__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return (
            NotImplemented if theirs is None else SymbolicSet(self.items + theirs.items, self.kind)
        )

    def __ror__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else theirs | self

    __ior__ = __iand__ = __isub__ = __ixor__ = no_model("a change of a set")

    def __le__(self, other: Any) -> Any:
        theirs = _of_set(other)
        if theirs is None:
            return NotImplemented
        return bool_of(negated((self - theirs).condition))

    def __ge__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else theirs <= self

    def __lt__(self, other: Any) -> Any:
        theirs = _of_set(other)
        if theirs is None:
            return NotImplemented
        return all_of([self <= theirs, bool_of((theirs - self).condition)])

    def __gt__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else theirs < self

    def __eq__(self, other: Any) -> Any:
        theirs = _of_set(other)
        return NotImplemented if theirs is None else all_of([self <= theirs, theirs <= self])

    def __ne__(self, other: Any) -> Any:
        equal = self == other
        return NotImplemented if equal is NotImplemented else bool_of(negated(condition_of(equal)))

    def isdisjoint(self, other: Any) -> Any:
        """As of a set."""
        return bool_of(negated((self & as_symbolic(other)).condition))

    def issubset(self, other: Any) -> Any:
        """As of a set."""
        return self <= as_symbolic(other)

    def issuperset(self, other: Any) -> Any:
        """As of a set."""
        return self >= as_symbolic(other)

    def difference(self, other: Any) -> Any:
        """As of a set."""
        return self - as_symbolic(other)

    def union(self, other: Any) -> Any:
        """As of a set."""
        return self | as_symbolic(other)

    def intersection(self, other: Any) -> Any:
        """As of a set."""
        return self & as_symbolic(other)


def _of_set(other: Any) -> SymbolicSet | None:
    """A set as a symbolic one; None for other collections, which operators of sets do not take."""
    return as_symbolic(other) if isinstance(other, AbstractSet) else None


def as_symbolic(items: Any) -> SymbolicSet | None:
    """Any collection as such a set; None for what is none."""
    if type(items) is SymbolicSet:
        return items
    if not isinstance(items, Iterable):
        return None
    kind = frozenset if isinstance(items, frozenset) else set
    return SymbolicSet(((item, True) for item in items), kind)


def set_of(items: Iterable[Any], kind: type[set[Any]] | type[frozenset[Any]] = set) -> Any:
    """A set of these items: a plain one if all are known."""
    if type(items) is SymbolicSet:
        return SymbolicSet(items.items, kind)
    listed = list(items)
    if any(issubclass(type(item), StandIn) or _has_stand_in(item) for item in listed):
        return SymbolicSet(((item, True) for item in listed), kind)
    return kind(listed)


def compared_keys(container: Iterable[Any]) -> list[Any]:
    """The items of a set, or keys of a dictionary, which are found by comparing each with an input.

    Raises `Undecided` for one that may equal an input that has another hash.
    """
    keys = list(container)
    for key in keys:
        _check_key(key)
    return keys


def _check_key(key: Any) -> None:
    if type(key) is tuple:
        for part in key:
            _check_key(part)
    elif not (
        issubclass(type(key), StandIn) or any(_is_like(type(key), kind) for kind in COMPARED)
    ):
        raise Undecided(f"an input among items or keys that are of the class {type(key).__name__}")


def _is_like(kind: type, base: type) -> bool:
    """True for a class whose values are compared as those of a base of it."""
    same = (getattr(kind, name) is getattr(base, name) for name in ("__eq__", "__hash__"))
    return issubclass(kind, base) and all(same)


def _has_stand_in(item: Any) -> bool:
    return type(item) is tuple and any(
        issubclass(type(part), StandIn) or _has_stand_in(part) for part in item
    )
