"""The helpers that rewritten rules call (`syntax`): choices, comparisons, patterns, changes."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, NoneType
from typing import Any

from z3 import Z3Exception

from channelsim.channel.prove.rules import calls, running
from channelsim.channel.prove.rules.attributes import (
    attribute,
    attribute_of,
    base,
    is_instance,
    settable,
)
from channelsim.channel.prove.rules.calls import call, iterated
from channelsim.channel.prove.rules.real import real_of
from channelsim.channel.prove.rules.running import before_a_change, chosen
from channelsim.channel.prove.rules.sets import SymbolicSet, compared_keys, set_of
from channelsim.channel.prove.rules.standins.base import StandIn, Text, is_unknown
from channelsim.channel.prove.rules.standins.data import Data, merged
from channelsim.channel.prove.rules.standins.ints import Int, any_of, bool_of, condition_of, negated
from channelsim.channel.prove.rules.standins.unseen import Unseen
from channelsim.channel.prove.symbols import Raises, Undecided

__all__ = [
    "CONTROL",
    "attribute",
    "base",
    "before_a_change",
    "call",
    "iterated",
    "set_of",
    "settable",
]

CONTROL = (*running.CONTROL, Raises)
"""Exceptions that no handler of the rules may catch."""

Part = Callable[[], Any]

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}


# --- choices ---------------------------------------------------------------------------------


def chosen_by_if(test: Any, then: Part, otherwise: Part) -> Any:
    """`then() if test else otherwise()`."""
    condition = _test(test)
    if isinstance(condition, bool):
        return then() if condition else otherwise()
    return chosen(condition, then, otherwise, merged)


def chosen_by_and(*operands: Part) -> Any:
    """`a and b and …`."""
    value = operands[0]()
    if len(operands) == 1:
        return value
    return chosen_by_if(value, lambda: chosen_by_and(*operands[1:]), lambda: value)


def chosen_by_or(*operands: Part) -> Any:
    """`a or b or …`."""
    value = operands[0]()
    if len(operands) == 1:
        return value
    return chosen_by_if(value, lambda: value, lambda: chosen_by_or(*operands[1:]))


def opposite(value: Any) -> Any:
    """`not value`."""
    condition = _test(value)
    return not condition if isinstance(condition, bool) else bool_of(negated(condition))


def is_model(given: Any) -> bool:
    """True for our `all` and `any`, not for functions of the rules by these names."""
    return bool(getattr(given, "of_stand_ins", False))


def all_lazy(items: Iterable[Any], test: Callable[[Any], Any]) -> Any:
    """`all(test(item) for item in items)`."""
    if not calls.is_plain_collection(items):
        return _first(items, lambda item: opposite(test(item)), False)
    tests = [partial(test, item) for item in _each(items)]
    return _test_value(chosen_by_and(lambda: True, *tests))


def any_lazy(items: Iterable[Any], test: Callable[[Any], Any]) -> Any:
    """`any(test(item) for item in items)`."""
    if not calls.is_plain_collection(items):
        return _first(items, test, True)
    tests = [partial(test, item) for item in _each(items)]
    return _test_value(chosen_by_or(lambda: False, *tests))


def _each(items: Iterable[Any]) -> list[Any]:
    """All items, in an order that does not matter."""
    return items.elements() if type(items) is SymbolicSet else list(items)


def _first(items: Iterable[Any], test: Callable[[Any], Any], found: bool) -> bool:
    """Go through an iterator as Python does, which stops at the first item that decides."""
    for item in items:
        turned()
        if test(item):
            return found
    return not found


def fresh(function: Any, *arguments: Any, **named: Any) -> Any:
    """`zip(…)` and its like as a list, where nobody sees that it is gone through."""
    if function in (zip, enumerate, reversed) and all(map(calls.is_plain_collection, arguments)):
        try:
            return list(function(*arguments, **named))
        except Exception:  # it may be raised after the item that decides
            return function(*arguments, **named)
    return call(function, *arguments, **named)


def unpacked(items: Iterable[Any]) -> Iterable[Any]:
    """The items of a loop that unpacks each of them."""
    return map(iterated, items) if running.is_speculating() else items


def _test(value: Any) -> Any:
    """Where a value is true; a plain bool for all but stand-ins."""
    if type(value) is SymbolicSet:
        return value.condition
    return condition_of(value)


def _test_value(value: Any) -> Any:
    condition = _test(value)
    return condition if isinstance(condition, bool) else bool_of(condition)


# --- comparisons -----------------------------------------------------------------------------


def compared(left: Any, *pairs: Any) -> Any:
    """`a < b < c`, with the operators by name and the operands after the first one."""
    name, right, *rest = pairs
    value = right()
    result = _compared(name, left, value)
    if not rest:
        return result
    return chosen_by_if(result, lambda: compared(value, *rest), lambda: result)


def _compared(name: str, left: Any, right: Any) -> Any:
    match name:
        case "In":
            return has(right, left)
        case "NotIn":
            return opposite(has(right, left))
        case "Is":
            return identical(left, right)
        case "IsNot":
            return opposite(identical(left, right))
    return COMPARISONS[name](left, right)


def identical(left: Any, right: Any) -> Any:
    """`left is right`: of truth values that they are equal, of other inputs only what is sure.

    Equal values may be one object in Python where a choice between them made another one here.
    """
    left, right = real_of(left), real_of(right)
    for value, other in ((left, right), (right, left)):
        if value is other or not issubclass(type(value), StandIn):
            continue
        if other is None or isinstance(other, type):
            return False
        if value.__class__ is bool and other.__class__ is bool:
            return value == other
        if value.__class__ is other.__class__ or {value.__class__, other.__class__} == {bool, int}:
            raise Undecided("`is` of an input")
        return False
    if type(left) is not type(right) or type(left) not in MERGED:
        return left is right
    if is_unknown(left) or is_unknown(right):
        raise Undecided("`is` of an input")
    equal = left == right
    if equal and not _is_single(left):
        raise Undecided("`is` of equal values")
    return equal


def _is_single(value: Any) -> bool:
    """True for a value of which Python has one object."""
    return (
        -5 <= value <= 256
        if type(value) is int
        else not value or (type(value) is bytes and len(value) == 1)
    )


MERGED = (int, bytes, str, tuple, float)
"""Classes of which two values become one value of a choice."""


def has(container: Any, item: Any) -> Any:
    """`item in container`."""
    container = container.seen() if type(container) is Unseen else container
    container = iterated(container, in_turn=False)
    if type(container) is SymbolicSet:
        return container.has(item)
    if type(container) is Data:
        return container.has(item)
    if type(item) is Unseen and isinstance(container, bytes | AbstractSet | Mapping | range):
        item = item.seen()
    if isinstance(container, bytes):
        return Data.has(container, item) if is_unknown(item) else item in container  # type: ignore[arg-type]
    if isinstance(container, range) and is_unknown(item):
        return _in_range(container, item)
    if isinstance(container, list | tuple):
        if all(map(_is_simple, container)):
            return any_of([same(item, each) for each in container])
        return chosen_by_or(lambda: False, *(partial(same, each, item) for each in container))
    if isinstance(container, AbstractSet | Mapping) and is_unknown(item):
        return any_of([same(item, each) for each in compared_keys(container)])
    return item in container


def _is_simple(value: Any) -> bool:
    """True for values whose comparison does nothing else."""
    if type(value) is tuple:
        return all(map(_is_simple, value))
    return type(value) in (int, bool, bytes, str, NoneType) or issubclass(type(value), StandIn)


def same(left: Any, right: Any) -> Any:
    """`left == right` of values that may be tuples, as one truth value."""
    if left is right:
        return True
    if type(left) is tuple and type(right) is tuple:
        if len(left) != len(right):
            return False
        return chosen_by_and(
            lambda: True,
            *(lambda a=a, b=b: same(a, b) for a, b in zip(left, right, strict=True)),
        )
    return left == right


def _in_range(numbers: range, item: Any) -> Any:
    if not len(numbers) or type(item) is not Int:
        return False
    low, high = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])
    inside = chosen_by_and(lambda: low <= item, lambda: item <= high)
    step = abs(numbers.step)
    if step == 1:
        return inside
    return chosen_by_and(lambda: inside, lambda: (item - low) % step == 0)


# --- dictionaries ----------------------------------------------------------------------------


def item(container: Any, key: Any) -> Any:
    """`container[key]`."""

    def missing() -> Any:
        raise KeyError(key)

    if _is_asked(container, key):
        return _found(container, key, missing)
    calls.missing(container)
    return container[key]


def _is_asked(container: Any, key: Any) -> bool:
    """True for a dictionary and a key that is not known; others may add a missing key."""
    return type(container) in (dict, MappingProxyType) and is_unknown(key)


def _found(container: Mapping[Any, Any], key: Any, missing: Part) -> Any:
    """The value of the key that is equal."""
    if type(key) is Unseen:
        key = key.seen()
    keys = compared_keys(container)

    def look(at: int) -> Any:
        if at == len(keys):
            return missing()
        test = same(keys[at], key)
        return chosen_by_if(test, lambda: container[keys[at]], lambda: look(at + 1))

    return look(0)


# --- patterns --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """The parts of a value that fits a pattern: true, also without parts."""

    parts: list[Any]


def sequence_parts(value: Any, count: int, star: int) -> Box | None:
    """The parts of a sequence, with the rest at the place of a star; None for another value."""
    if type(value) is Unseen:
        kind: Any = value.__class__
        if kind is not tuple:
            return None  # the length of an atom stays undecided
        value = value.seen()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return None
    if not isinstance(value, list | tuple | range | deque):
        raise Undecided(f"no model of a pattern for {type(value).__name__}")
    items = list(value)
    if star < 0:
        return Box(items) if len(items) == count else None
    if len(items) < count - 1:
        return None
    after = count - 1 - star
    rest = items[star : len(items) - after]
    return Box([*items[:star], rest, *items[len(items) - after :]])


SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def class_parts(value: Any, kind: Any, count: int, names: list[str]) -> Box | None:
    """The parts of an object of a class by position and by name; None for another object."""
    kind = real_of(kind)
    if not is_instance(value, kind):
        return None
    if kind in SELF_MATCHING:
        return Box([value]) if count else Box([])
    places = list(getattr(kind, "__match_args__", ()))[:count]
    if len(places) < count:
        raise TypeError(f"{kind.__name__} has no {count} places for a pattern")
    absent = object()
    parts = [attribute_of(value, name, absent) for name in (*places, *names)]
    return None if any(part is absent for part in parts) else Box(parts)


def bound(value: Any) -> bool:
    """True: a name in a pattern takes any value."""
    return True


def no_model_of_match() -> bool:
    """A pattern that is not followed."""
    raise Undecided("no model of a pattern with keys")


# --- errors ----------------------------------------------------------------------------------


def raised(error: Any) -> Any:
    """An error that rules raise by themselves."""
    made = error() if isinstance(error, type) else error
    if isinstance(made, BaseException):
        made.__prove_raised__ = True  # type: ignore[attr-defined]
    return made


def caught() -> None:
    """Called where rules handle an error: a stand-in may have raised it, and its value not."""
    error = sys.exc_info()[1]
    before: BaseException | None = error
    while before is not None:  # a `finally` may raise while what the prover raised passes it
        if isinstance(before, CONTROL):
            raise before
        before = before.__context__
    if isinstance(error, RecursionError | MemoryError | Z3Exception):
        raise Undecided(f"rules catch a {type(error).__name__}")
    if isinstance(error, TypeError | AttributeError) and not hasattr(error, "__prove_raised__"):
        raise Undecided(f"rules catch a {type(error).__name__}")


def error_text(text: Part) -> Any:
    """The text of an error, which may have inputs in it; it is then not looked at."""
    try:
        return text()
    except Undecided:
        return Text()


def no_model_of(construct: str) -> None:
    """A construct that could hide what the prover raises."""
    raise Undecided(f"no model of {construct}")


# --- time ------------------------------------------------------------------------------------


def turned() -> None:
    """Called in each round of a loop. Raises `Undecided` after the deadline."""
    if running.is_running():
        running.current().check_time()


# --- changes ---------------------------------------------------------------------------------


def changed(value: Any, method: str = "") -> Any:
    """The object, before a method of it that changes it."""
    before_a_change()
    if method == "pop" and calls.has_any_order(value):
        raise Undecided("the order of the items of a set")
    return value


def may_change(value: Any) -> None:
    """Called before `value += …`, which changes a list but not a number."""
    if not isinstance(value, (StandIn, *calls.PLAIN, tuple, frozenset)):
        before_a_change()


def _got(of: Any, *given: Any, **named: Any) -> Any:
    if 1 <= len(given) <= 2 and not named and _is_asked(of, given[0]):
        return _found(of, given[0], lambda: given[1] if len(given) == 2 else None)
    return of.get(*given, **named)


def method(of: Any, name: str) -> Any:
    """A method of bytes, or `get` of a dictionary, that may get stand-ins."""
    if name == "get":
        return partial(_got, of)
    if type(of) is not bytes:
        return attribute(of, name)

    def call(*arguments: Any) -> Any:
        plain = [list(part) if name == "join" else part for part in arguments]
        if not any(map(is_unknown, plain[0] if name == "join" else plain)):
            return getattr(of, name)(*plain)
        return getattr(Data, name)(of, *plain)

    return call
