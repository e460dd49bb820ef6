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
import re
import struct
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from inspect import GEN_CREATED, getgeneratorstate
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import Any, NewType

import msgspec

from channelsim.channel.prove.path import CannotMerge
from channelsim.channel.prove.rules.known_calls import (
    ALONE,
    FUNCTIONS,
    METHODS,
)
from channelsim.channel.prove.rules.known_calls import (
    OURS as KNOWN_OF_OURS,
)
from channelsim.channel.prove.rules.real import real_of
from channelsim.channel.prove.rules.running import (
    before_a_change,
    is_judging,
    is_speculating,
)
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.symbols import Undecided

REWRITTEN = " on stand-ins"
"""The end of the names of modules whose functions were rewritten."""

PROVE = "channelsim.channel.prove."
"""The beginning of the names of our modules that know stand-ins."""

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
    """`function(…)`. Raises `Undecided` if such calls are nested too deep, and for functions that
    know no stand-ins, or that answer otherwise each time."""
    if is_judging():
        _check_known(function, arguments, named)
    if is_speculating() and not _changes_nothing(function, (*arguments, *named.values())):
        before_a_change()
    if _depth[0] == DEEPEST:
        raise Undecided(f"{DEEPEST:,} calls inside each other")
    _depth[0] += 1
    try:
        return function(*arguments, **named)
    finally:
        _depth[0] -= 1


def iterated(value: Any, is_new: bool = False, in_turn: bool = True) -> Any:
    """The value that a loop goes through: not an iterator that it would use up for others.

    One that a call has just made may be gone through if nobody has begun to. Raises `Undecided` for
    items `in_turn` of a set in which they have another order in each process.
    """
    if in_turn and has_any_order(value) and is_judging():
        raise Undecided("the order of the items of a set")
    if is_speculating() and hasattr(type(value), "__next__"):
        is_fresh = isinstance(value, GeneratorType) and getgeneratorstate(value) == GEN_CREATED
        if not (is_new and is_fresh):
            raise CannotMerge
    return value


def library_of(function: Any) -> str:
    """The library that a function, a method or a class is of, without underscores before it."""
    if isinstance(function, functools.partial):
        return library_of(function.func)
    if isinstance(function, MethodType):
        function = function.__func__
    name: Any
    if isinstance(function, FunctionType):
        name = function.__globals__.get("__name__")
    elif isinstance(function, type):
        name = function.__module__
    elif isinstance(of := getattr(function, "__self__", None), ModuleType | NoneType):
        name = (of and of.__name__) or getattr(function, "__module__", None)
    else:
        name = (of if isinstance(of, type) else type(of)).__module__
    module = str(name or "builtins")
    return module if module.endswith(REWRITTEN) else module.partition(".")[0].lstrip("_")


def has_any_order(value: Any) -> bool:
    """True for a set whose items are in another order in each process, and for a list of these."""
    if type(value) in (list, tuple):
        return any(type(each) in _SETS and has_any_order(each) for each in value)
    return (
        type(value) in _SETS
        and len(value) > 1
        and not all(type(each) in _IN_ORDER for each in value)
    )


_SETS = (set, frozenset)

_IN_ORDER = (int, bool)
"""Classes of values that have the same hash in each process."""

_OF_ANY_ORDER = frozenset({"len", "all", "any", "bool", "set", "frozenset", "isinstance", "type"})
_OF_ONE_KEY = frozenset({"sorted", "min", "max", "sum"})


def _check_order(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Check that the order of a set does not matter to a function. Raises `Undecided`."""
    if not any(map(has_any_order, (*arguments, *named.values()))):
        return
    of = getattr(function, "__self__", None)
    name = getattr(real_of(function), "__name__", "")
    if real_of(function) is vars(builtins).get(name):
        known = name in _OF_ANY_ORDER or (name in _OF_ONE_KEY and not named and len(arguments) == 1)
    elif isinstance(function, type):
        known = _is_followed_class(function)
    else:
        known = type(of) in _SETS or (type(of) is list and name == "append")
    if not known:
        raise Undecided("the order of the items of a set")


def _check_known(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Check that a function is right about what it gets. Raises `Undecided`."""
    given = (*arguments, *named.values())
    if is_rewritten(function):
        return
    _check_order(function, arguments, named)
    if isinstance(function, functools.partial):
        _check_known(function.func, (*function.args, *arguments), {**function.keywords, **named})
        return
    if is_followed(function):
        if not _asks_for_classes(function):
            _check_functions_among(given)
        return
    library = library_of(function)
    of = getattr(function, "__self__", None)
    known = library in ALONE and (isinstance(of, ModuleType) or is_plain(of))
    if not (known and all(map(is_plain, given))):
        name = getattr(function, "__qualname__", type(function).__name__)
        raise Undecided(f"no model of {library}.{name}")


def _check_functions_among(values: Sequence[Any]) -> None:
    """Check the functions that another function gets, and may call. Raises `Undecided`."""
    for value in values:
        if isinstance(value, functools.partial):
            _check_functions_among((value.func, *value.args, *value.keywords.values()))
        elif isinstance(value, _CALLABLE) and not is_rewritten(value) and not is_followed(value):
            name = getattr(value, "__qualname__", type(value).__name__)
            raise Undecided(f"no model of {library_of(value)}.{name} as an argument")


_CALLABLE = (
    *(FunctionType, MethodType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType),
    *(MethodWrapperType, ClassMethodDescriptorType, operator.attrgetter, operator.methodcaller),
)


def is_rewritten(function: Any) -> bool:
    """True for a function or a class of the rules, and for an object of such a class."""
    if isinstance(function, MethodType):
        function = function.__func__
    return _module_of(function).endswith(REWRITTEN)


def is_followed(function: Any) -> bool:
    """True for a function or a class, not of the rules, that may get stand-ins."""
    if id(function) in FUNCTIONS:
        return True
    if isinstance(function, MethodType):
        return is_followed(function.__func__)
    if isinstance(function, type):
        return _is_followed_class(function)
    if isinstance(function, FunctionType):
        return _is_of_ours(_module_of(function))
    if isinstance(function, BuiltinFunctionType):
        of = function.__self__
        return not isinstance(of, ModuleType) and _has_method(of, function.__name__)
    if isinstance(function, MethodDescriptorType | ClassMethodDescriptorType):
        return function.__name__ in METHODS.get(function.__objclass__, ())
    return type(function) in (operator.itemgetter, NewType)


def _has_method(of: Any, name: str) -> bool:
    kind = of if isinstance(of, type) else type(of)
    return any(name in METHODS.get(each, ()) for each in kind.__mro__)


def _is_followed_class(kind: type) -> bool:
    """True for our models and the contract's classes, errors, and types."""
    return (
        _is_of_ours(kind.__module__)
        or issubclass(kind, BaseException | type)
        or hasattr(kind, "__struct_config__")
        or (kind.__module__.startswith(OURS) and _is_frozen(kind))
    )


def _is_of_ours(module: str) -> bool:
    return module in KNOWN_OF_OURS or module.startswith(PROVE)


def _asks_for_classes(function: Any) -> bool:
    """True for `isinstance` and its like, which call nothing of what they get."""
    return getattr(function, "__name__", "") in ("is_instance", "is_subclass", "type_of")


def is_plain(value: Any) -> bool:
    """True for a value that has no input in it, and calls nothing."""
    if issubclass(type(value), StandIn):
        return False
    if type(value) in (tuple, list, set, frozenset, deque, OrderedDict, Counter):
        return all(map(is_plain, value))
    if type(value) in (dict, defaultdict, MappingProxyType):
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    if isinstance(value, PLAIN) or type(value) in _PLAIN_BESIDES:
        return True
    return _is_frozen_of_ours(value)


_PLAIN_BESIDES: tuple[type, ...] = (
    *(bytearray, memoryview, Fraction, Decimal, re.Pattern, re.Match, struct.Struct),
    *(type({}.keys()), type({}.values()), type({}.items())),
)


def _is_frozen_of_ours(value: Any) -> bool:
    """True for a frozen object of ours, all parts of which are plain."""
    kind = type(value)
    if not kind.__module__.startswith(OURS) or not _is_frozen(kind):
        return False
    names: Any = getattr(kind, "__struct_fields__", getattr(kind, "__dataclass_fields__", ()))
    return all(is_plain(getattr(value, name, None)) for name in names)


def is_plain_collection(items: Any) -> bool:
    """True for a collection that does not change if it is gone through."""
    return issubclass(type(items), StandIn) or type(items) in (
        *(list, tuple, bytes, str, set, frozenset, dict, range, deque, bytearray),
        *(type({}.keys()), type({}.values()), type({}.items()), MappingProxyType),
    )


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
    return all(map(is_unchangeable, (of, *arguments)))


def _module_of(function: Any) -> str:
    """The module of a function or a class, or of the class of another object that is called."""
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, FunctionType):  # `wraps` may have changed its `__module__`
        return str(function.__globals__.get("__name__") or "")
    named = function if isinstance(function, type) else type(function)
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
    if type(value) in (tuple, list):
        return all(map(_is_harmless, value))
    if hasattr(type(value), "__next__"):
        return False
    if callable(value):
        return _only_reads(value)
    kind = str(type(value).__module__)
    return (
        kind.endswith(REWRITTEN)
        or kind.partition(".")[0] in ("builtins", "collections", "types")
        or issubclass(type(value), StandIn | Exception)
        or is_unchangeable(value)
    )


def _only_reads(function: Any) -> bool:
    """True for a function that changes nothing, whatever it gets."""
    if isinstance(function, MethodType) and _has_state(function.__self__):
        return False
    if _module_of(function).endswith(REWRITTEN) or _module_of(function).startswith(OURS):
        return True
    if isinstance(function, BuiltinFunctionType) and type(function.__self__) in COLLECTIONS:
        return function.__name__ in READING
    return _is_in(function, PURE)


def is_unchangeable(value: Any) -> bool:
    """True for a value that no function changes."""
    if issubclass(type(value), StandIn) or isinstance(value, PLAIN):
        return True
    if type(value) in (tuple, frozenset):
        return all(map(is_unchangeable, value))
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
