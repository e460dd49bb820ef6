"""Calls of rules while both sides of a choice are tried: those that may change something must wait
until the path has taken a side.

What the rules define was rewritten, and looks after itself. Of all else only those calls are made
that get nothing which can change, and those that are known to change nothing.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import itertools
import math
import operator
from collections import ChainMap, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from inspect import GEN_CREATED, getgeneratorstate
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any

import msgspec

from channelsim.channel.prove.path import CannotMerge
from channelsim.channel.prove.rules.running import before_a_change, is_speculating
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.symbols import Undecided

REWRITTEN = " on stand-ins"
"""The end of the names of modules whose functions were rewritten."""

OURS = "channelsim."
"""The beginning of the names of modules whose functions have no memory that a run can see."""

PLAIN = (int, bool, bytes, str, float, complex, NoneType, range, slice, type, Enum, ModuleType)
"""Values that nothing changes."""

_CHANGING = {"setattr", "delattr", "next", "exec", "eval", "input", "open", "print", "__import__"}

PURE: frozenset[Any] = frozenset(
    (
        *(f for name, f in vars(builtins).items() if callable(f) and name not in _CHANGING),
        *(f for name, f in vars(math).items() if callable(f)),
        *(f for f in vars(itertools).values() if isinstance(f, type)),
        *(
            f
            for name, f in vars(operator).items()
            if callable(f) and not name.startswith(("i", "set", "del", "_"))
        ),
        *(operator.is_, operator.is_not, operator.index, operator.inv, operator.invert),
        *(operator.indexOf, operator.itemgetter),
        *(functools.reduce, functools.partial, dataclasses.replace, msgspec.structs.replace),
        *(deque, defaultdict, OrderedDict, ChainMap, MappingProxyType),
    )
)
"""Functions and classes that change nothing that they get, but for iterators."""

READING = frozenset(
    (
        *("index", "count", "copy", "get", "keys", "values", "items", "__len__", "__contains__"),
        *("union", "intersection", "difference", "symmetric_difference"),
        *("issubset", "issuperset", "isdisjoint"),
    )
)
"""Methods of collections that change nothing."""

COLLECTIONS = (list, dict, set, deque, OrderedDict, bytearray)


DEEPEST = 1000
"""The most calls of rules inside each other, as Python allows them."""

_depth = [0]


def call(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """`function(…)`. Raises `Undecided` if such calls are nested too deep."""
    if is_speculating() and not _changes_nothing(function, (*arguments, *named.values())):
        before_a_change()
    if _depth[0] == DEEPEST:
        raise Undecided(f"{DEEPEST:,} calls inside each other")
    _depth[0] += 1
    try:
        return function(*arguments, **named)
    finally:
        _depth[0] -= 1


def iterated(value: Any, is_new: bool = False) -> Any:
    """The value that a loop goes through: not an iterator that it would use up for others.

    One that a call has just made may be gone through if nobody has begun to.
    """
    if is_speculating() and hasattr(type(value), "__next__"):
        is_fresh = isinstance(value, GeneratorType) and getgeneratorstate(value) == GEN_CREATED
        if not (is_new and is_fresh):
            raise CannotMerge
    return value


def _changes_nothing(function: Any, arguments: Sequence[Any]) -> bool:
    """True if a call may be made for a side of a choice that is not taken then."""
    if isinstance(function, functools.partial):
        given = (*function.args, *arguments, *function.keywords.values())
        return _changes_nothing(function.func, given)
    module = _module_of(function)
    if module.endswith(REWRITTEN):
        return True
    if isinstance(function, MethodType):
        return _changes_nothing(function.__func__, (function.__self__, *arguments))
    if module.startswith(OURS) or _is_in(function, PURE):
        return all(map(_is_harmless, arguments))
    if isinstance(function, BuiltinFunctionType) and type(function.__self__) in COLLECTIONS:
        return _only_reads(function) and all(map(_is_harmless, arguments))
    of = getattr(function, "__self__", None)
    return all(map(_is_unchangeable, (of, *arguments)))


def _module_of(function: Any) -> str:
    """The module of a function or a class, or of the class of another object that is called."""
    if isinstance(function, MethodType):
        function = function.__func__
    named = function if isinstance(function, FunctionType | type) else type(function)
    return str(getattr(named, "__module__", None) or "")


def _is_harmless(value: Any) -> bool:
    """True for what a function cannot change that only reads: no iterator, no object of ours with a
    state (such as `Chance`), and no function that may change what it is called with."""
    if isinstance(value, type):
        return True
    if _has_state(value):
        return False
    if isinstance(value, functools.partial):
        given = (*value.args, *value.keywords.values())
        return _only_reads(value.func) and all(map(_is_harmless, given))
    return not hasattr(value, "__next__") and (not callable(value) or _only_reads(value))


def _only_reads(function: Any) -> bool:
    """True for a function that changes nothing, whatever it gets."""
    if isinstance(function, MethodType) and _has_state(function.__self__):
        return False
    if _module_of(function).endswith(REWRITTEN) or _module_of(function).startswith(OURS):
        return True
    if isinstance(function, BuiltinFunctionType) and type(function.__self__) in COLLECTIONS:
        return function.__name__ in READING
    return _is_in(function, PURE)


def _is_unchangeable(value: Any) -> bool:
    """True for a value that no function changes."""
    if issubclass(type(value), StandIn) or isinstance(value, PLAIN):
        return True
    if type(value) in (tuple, frozenset):
        return all(map(_is_unchangeable, value))
    if isinstance(value, FunctionType | MethodType | BuiltinFunctionType):
        return _changes_nothing(value, ())
    return _is_frozen(type(value))


def _has_state(value: Any) -> bool:
    """True for an object of ours that may be another one after a call."""
    kind = type(value)
    known = issubclass(kind, StandIn | Exception) or isinstance(value, PLAIN)
    ours = kind.__module__.startswith(OURS) and not kind.__module__.endswith(REWRITTEN)
    return ours and not known and not _is_frozen(kind)


def _is_frozen(kind: type) -> bool:
    config = getattr(kind, "__struct_config__", getattr(kind, "__dataclass_params__", None))
    return bool(config is not None and config.frozen)


def _is_in(function: Any, known: frozenset[Any]) -> bool:
    try:
        return function in known
    except TypeError:  # it has no hash
        return False


def missing(container: Mapping[Any, Any]) -> None:
    """Called before a dictionary is asked that may add the key."""
    kind = type(container)
    if hasattr(kind, "__missing__") and not kind.__module__.endswith(REWRITTEN):
        before_a_change()
