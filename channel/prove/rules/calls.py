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
from channelsim.channel.prove.rules.running import (
    before_a_change,
    is_judging,
    is_speculating,
)
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


def iterated(value: Any, is_new: bool = False) -> Any:
    """The value that a loop goes through: not an iterator that it would use up for others.

    One that a call has just made may be gone through if nobody has begun to.
    """
    if is_speculating() and hasattr(type(value), "__next__"):
        is_fresh = isinstance(value, GeneratorType) and getgeneratorstate(value) == GEN_CREATED
        if not (is_new and is_fresh):
            raise CannotMerge
    return value


KNOWN_LIBRARIES = frozenset(
    {
        *("abc", "bisect", "builtins", "collections", "copy", "dataclasses", "decimal", "enum"),
        *("fractions", "functools", "heapq", "hashlib", "itertools", "math", "numbers", "operator"),
        *("types", "typing", "channelsim"),
    }
)
"""Libraries whose functions ask their arguments for nothing that a stand-in answers wrongly."""

CHANGING_LIBRARIES = frozenset(
    {
        *("asyncio", "atexit", "concurrent", "contextlib", "ctypes", "datetime", "gc", "getpass"),
        *("importlib", "inspect", "io", "linecache", "locale", "logging", "multiprocessing", "nt"),
        *("os", "pathlib", "pickle", "platform", "posix", "queue", "random", "secrets", "sched"),
        *("select", "shutil", "signal", "socket", "subprocess", "sys", "tempfile", "thread"),
        *("threading", "time", "traceback", "unittest", "uuid", "warnings", "weakref"),
    }
)
"""Libraries that answer otherwise each time, that hide what is raised, or that see the prover."""


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


def _check_known(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    library = library_of(function)
    if library in KNOWN_LIBRARIES or library.endswith(REWRITTEN):
        return
    if library in CHANGING_LIBRARIES or (
        function not in COPYING and any(map(_has_stand_in, (*arguments, *named.values())))
    ):
        name = getattr(function, "__qualname__", type(function).__name__)
        raise Undecided(f"no model of {library}.{name}")


COPYING = (msgspec.structs.replace, msgspec.structs.asdict, msgspec.structs.astuple)
"""Functions that only copy what they get."""


def _has_stand_in(value: Any) -> bool:
    if type(value) in (tuple, list, set, frozenset, deque):
        return any(map(_has_stand_in, value))
    if type(value) is dict:
        return any(map(_has_stand_in, value.values()))
    return issubclass(type(value), StandIn)


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
