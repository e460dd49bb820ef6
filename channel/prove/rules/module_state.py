"""The contents of modules of rules, and whether a judgement has changed them."""

from __future__ import annotations

import re
from collections import ChainMap, deque
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, TypeAlias

from channelsim.channel.prove.rules import calls
from channelsim.channel.prove.rules.calls import OURS, REWRITTEN, is_unchangeable
from channelsim.channel.prove.rules.overlays import NoModel, Overlay
from channelsim.channel.prove.rules.real import is_model
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.rules.standins.digest import Digest


@dataclass(frozen=True)
class Reached:
    """Which objects can be reached from one, in order, by their identities.

    They are kept, so that no other object gets the identity of one.
    """

    identities: tuple[int, ...]
    kept: tuple[object, ...] = field(compare=False, repr=False)


Globals: TypeAlias = dict[tuple[str, str], Reached]
"""By module and name, which object it is, and which objects can be reached from it."""


def changed(before: Globals, after: Globals) -> str:
    """The first name that is bound, or filled, otherwise than before; empty for none."""
    return next((".".join(name) for name, held in before.items() if after.get(name) != held), "")


_PLAIN = (int, bool, bytes, str, float, complex, NoneType, range)

_OF_CLASSES = frozenset({"__dict__", "__weakref__", "__doc__"})


def reached(value: object) -> Reached:
    """Which objects can be reached from one, and in which order.

    An iterator is never the same again, nor an object of a class that nothing is known of: nothing
    tells whether it was changed.
    """
    found: list[int] = []
    kept: list[object] = []
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        found.append(id(part))
        kept.append(part)
        if type(part) in _PLAIN or id(part) in seen or _is_fixed(part):
            continue
        seen.add(id(part))
        if isinstance(part, bytearray):
            found.append(hash(bytes(part)))
        parts = None if hasattr(type(part), "__next__") else _parts(part)
        if parts is None:
            found.append(next(_uses))
        else:
            waiting.extend(parts)
    return Reached(tuple(found), tuple(kept))


_uses = count(-1, -1)

_fixed: dict[int, object] = {}
"""Tuples and frozen sets of plain values that were looked at, by identity, so that they last."""


def _is_fixed(value: object) -> bool:
    """True for a tuple or a frozen set of plain values: it stays as it is."""
    if type(value) not in (tuple, frozenset):
        return False
    if id(value) in _fixed:
        return True
    items: Any = value
    if all(type(item) in _PLAIN or _is_fixed(item) for item in items):
        if len(_fixed) < _MOST_FIXED:
            _fixed[id(value)] = value
        return True
    return False


_MOST_FIXED = 100_000


def _parts(value: Any) -> Iterable[object] | None:
    """The contents of an object that rules hold; None for one of an unknown class."""
    match value:
        case dict() | MappingProxyType():
            return [part for item in value.items() for part in item]
        case list() | tuple() | set() | frozenset() | deque():
            return list(value)
        case partial():
            return [value.func, value.args, value.keywords]
        case MethodType():
            return [value.__func__, value.__self__]
        case FunctionType() if str(value.__globals__.get("__name__")).endswith(REWRITTEN):
            cells = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
            return [value.__defaults__, value.__kwdefaults__, *cells, *vars(value).values()]
        case type() if value.__module__.endswith(REWRITTEN):
            return [part for name, part in vars(value).items() if name not in _OF_CLASSES]
        case Digest():
            return [value.data]
        case property():
            return [value.fget, value.fset]
        case staticmethod() | classmethod():
            return [value.__func__]
        case ChainMap():
            return list(value.maps)
        case SimpleNamespace():
            return list(vars(value).values())
        case BaseException():
            return [value.args, *vars(value).values()]
    if type(value).__module__.endswith(REWRITTEN) or type(value).__module__.startswith(OURS):
        slots = [slot for kind in type(value).__mro__ for slot in getattr(kind, "__slots__", ())]
        fields = [getattr(value, name, None) for name in slots if isinstance(name, str)]
        return [*fields, *getattr(value, "__dict__", {}).values()]
    if type(value).__module__ in _UNCHANGEABLE_OF:
        return ()
    if isinstance(value, _UNCHANGEABLE) or is_model(value):
        return ()
    if is_unchangeable(value):
        names: Any = getattr(value, "__struct_fields__", getattr(value, "__dataclass_fields__", ()))
        return [getattr(value, name, None) for name in names]
    return () if callable(value) and calls.is_followed(value) else None


_UNCHANGEABLE_OF = ("typing", "dataclasses", "__future__", "_abc")
"""Modules of which no object is changed."""

_UNCHANGEABLE = (
    *(type, ModuleType, FunctionType, BuiltinFunctionType, StandIn, Enum, re.Pattern, Fraction),
    *(Decimal, PurePath, slice, Overlay, NoModel, GenericAlias, UnionType, ContextVar),
    *(MemberDescriptorType, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType),
    type(lru_cache(len)),
)
"""Classes of objects that rules cannot change, or of which they may change nothing."""


def _is_full(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
