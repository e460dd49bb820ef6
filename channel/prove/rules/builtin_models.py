"""Builtin functions that know stand-ins, and what rules get by the name of each builtin."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from channelsim.channel.prove.rules import known_calls
from channelsim.channel.prove.rules.attributes import attribute_of, is_instance, settable
from channelsim.channel.prove.rules.builtin_classes import Boolean, Bytes, FrozenSet, Integer, Set
from channelsim.channel.prove.rules.choices import (
    all_lazy,
    any_lazy,
    chosen_by_if,
)
from channelsim.channel.prove.rules.real import is_model, real_of, stands_for
from channelsim.channel.prove.rules.running import (
    before_a_change,
    current,
    is_judging,
    is_running,
)
from channelsim.channel.prove.rules.sets import SymbolicSet
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.rules.standins.data import Data
from channelsim.channel.prove.rules.standins.ints import (
    Int,
    all_of,
    any_of,
    number_of,
)
from channelsim.channel.prove.rules.standins.unseen import Unseen
from channelsim.channel.prove.symbols import Undecided
from channelsim.channel.prove.undecided_lengths import undecided_length


def length(value: Any) -> Any:
    """`len`: of sets and bytes of which it is not known, a number that is not known."""
    if type(value) is Unseen and value.items is None:
        path = current()
        undecided = undecided_length(path, path.shape(value.symbol))
        if undecided is not None:
            return number_of(undecided)
    return value.count() if type(value) is SymbolicSet else len(value)


def every(items: Iterable[Any]) -> Any:
    """`all`, as one truth value where nobody sees that the items are gone through."""
    if type(items) in (list, tuple) and all(map(_is_value, items)):
        return all_of(list(items))
    return all_lazy(items, lambda item: item)


def some(items: Iterable[Any]) -> Any:
    """`any`, as one truth value where nobody sees that the items are gone through."""
    if type(items) in (list, tuple) and all(map(_is_value, items)):
        return any_of(list(items))
    return any_lazy(items, lambda item: item)


def _is_value(item: Any) -> builtins.bool:
    return type(item) in (Int, Data, builtins.int, builtins.bool, builtins.bytes)


every.of_stand_ins = some.of_stand_ins = True  # type: ignore[attr-defined]


def is_subclass(kind: Any, kinds: Any) -> Any:
    """`issubclass`, of real classes."""
    if type(kinds) is tuple:
        return any(is_subclass(kind, each) for each in kinds)
    return issubclass(real_of(kind), real_of(kinds))


def _any_order(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    def ordered(items: Any, *more: Any, **options: Any) -> Any:
        """Take the items of a set in any order, if the result does not depend on it."""
        if type(items) is SymbolicSet and not options and not more:
            items = items.elements()
            if name == "sum" and not all(isinstance(item, builtins.int) for item in items):
                raise Undecided("the order of the items of a set")
        return plain(items, *more, **options)

    return ordered


def _extreme(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*items: Any, **options: Any) -> Any:
        """The largest or the smallest item, as one value where these merge."""
        if len(items) == 1 and type(items[0]) is SymbolicSet and not options:
            items = (items[0].elements(),)
        listed = list(items[0]) if len(items) == 1 else list(items)
        if not listed or options or not any(type(item) in (Int, Data) for item in listed):
            return plain(listed, **options)

        def pair(best: Any, item: Any) -> Any:
            after = item > best if name == "max" else item < best
            return chosen_by_if(after, lambda: item, lambda: best)

        return reduce(pair, listed)

    return extreme


def absolute(value: Any) -> Any:
    """`abs`, as one number."""
    if type(value) is not Int:
        return abs(value)
    return chosen_by_if(value < 0, lambda: -value, lambda: value + 0)


def hash_of(value: Any) -> builtins.int:
    """`hash` of a number: that of text and bytes is another one in each process."""
    if is_running() and not isinstance(value, builtins.int):
        raise Undecided("no model of hash")
    return hash(value)


def set_attribute(of: Any, name: str, value: Any) -> None:
    """`setattr`, of what is no input."""
    before_a_change()
    setattr(settable(of, name), name, value)


def delete_attribute(of: Any, name: str) -> None:
    """`delattr`, of what is no input."""
    before_a_change()
    delattr(settable(of, name), name)


def has_attribute(value: Any, name: str) -> builtins.bool:
    """`hasattr`, without what stand-ins alone have."""
    absent = object()
    return attribute_of(value, name, absent) is not absent


def is_callable(value: Any) -> builtins.bool:
    """`callable`."""
    return callable(real_of(value)) and not issubclass(type(value), StandIn)


def following(iterator: Any, *default: Any) -> Any:
    """`next`, which changes its iterator."""
    before_a_change()
    return next(iterator, *default)


def code_point(character: Any) -> Any:
    """`ord`."""
    if type(character) is not Data:
        return ord(character)
    if len(character) != 1:
        raise TypeError("ord() expected a character")
    return character[0]


def type_of(value: Any, *more: Any) -> Any:
    """`type` of one value: that of what a stand-in stands for."""
    if more:
        return type(value, *more)
    _check_no_model(value)
    kind = value.__class__ if issubclass(type(value), StandIn) else type(value)
    return next((known for known in _CLASSES if known.plain is kind), kind)


def _check_no_model(value: Any) -> None:
    if is_running() and is_model(value):
        raise Undecided("the class of a builtin function")


_CLASSES = (Bytes, Integer, Boolean, Set, FrozenSet)
for _known in _CLASSES:
    _known.__name__ = _known.__qualname__ = _known.plain.__name__


def _no_text(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    def text(*values: Any) -> Any:
        """Refuse to write an input as text."""
        if is_running() and any(issubclass(type(value), StandIn) for value in values):
            raise Undecided(f"{name} of an input")
        return plain(*values)

    return text


def _refused(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name, None)

    def refuse(*values: Any, **named: Any) -> Any:
        """Refuse what stand-ins would answer otherwise; before a run the real function works."""
        if is_judging() or plain is None or (is_running() and name in _OF_THE_FRAME):
            raise Undecided(f"no model of {name}")
        return plain(*values, **named)

    return refuse


_OF_THE_FRAME = ("id", "dir", "eval", "exec", "compile", "globals", "locals", "vars")

_MODELS: Mapping[str, Any] = {
    "bytes": Bytes,
    "int": Integer,
    "bool": Boolean,
    "set": Set,
    "frozenset": FrozenSet,
    "len": length,
    "all": every,
    "any": some,
    "max": _extreme("max", max),
    "min": _extreme("min", min),
    "abs": absolute,
    "sorted": _any_order("sorted"),
    "sum": _any_order("sum"),
    "next": following,
    "ord": code_point,
    "type": type_of,
    "hash": hash_of,
    "isinstance": is_instance,
    "issubclass": is_subclass,
    "getattr": attribute_of,
    "hasattr": has_attribute,
    "setattr": set_attribute,
    "delattr": delete_attribute,
    "callable": is_callable,
    **{name: _no_text(name) for name in ("hex", "oct", "bin", "repr", "ascii", "format")},
}


def _builtin(name: str, real: Any) -> Any:
    """The values that rules get by the names of builtins."""
    if isinstance(real, type) and issubclass(real, BaseException):
        return real
    row = known_calls.BUILTINS.get(name)
    if row == known_calls.MODEL:
        return _MODELS[name]
    if row == known_calls.FOLLOWED or not callable(real):
        return real
    return _refused(name)


BUILTINS: Mapping[str, Any] = {name: _builtin(name, real) for name, real in vars(builtins).items()}
"""The builtins of the rules' modules, without `__import__`."""

for _name, _model in BUILTINS.items():
    if _model is not vars(builtins)[_name]:
        stands_for(_model, vars(builtins)[_name])
