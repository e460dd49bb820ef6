"""Classes that stand for builtin ones, under the names that rules use.

`isinstance` and patterns ask such a class, annotations take it, and a call of it makes a plain
value where all is known.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from channelsim.channel.prove.models import byte_models
from channelsim.channel.prove.rules.running import (
    current,
)
from channelsim.channel.prove.rules.sets import SymbolicSet, set_of
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.rules.standins.data import Data, symbol_of_bytes
from channelsim.channel.prove.rules.standins.ints import (
    Int,
    bool_of,
    condition_of,
    number_of,
)
from channelsim.channel.prove.rules.standins.unseen import Unseen
from channelsim.channel.prove.symbols import Undecided, as_number


class _Class(type):
    """The class of classes that stand for a builtin class, `plain`."""

    plain: type[Any]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.plain)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(getattr(subclass, "plain", subclass), cls.plain)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.plain

    def __hash__(cls) -> builtins.int:
        return hash(cls.plain)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.plain, name)


class Bytes(metaclass=_Class):
    """Stands for `bytes`."""

    plain = builtins.bytes

    def __new__(cls, source: Any = b"", *more: Any) -> Any:
        """As `bytes(…)`."""
        if more:
            refuse_inputs("bytes", source, *more)
            return builtins.bytes(source, *more)
        if type(source) is Unseen:
            source = source.seen()
        if type(source) is Data:
            return source
        if type(source) is Int:
            return builtins.bytes(source.__index__())
        if isinstance(source, builtins.bytes | str | builtins.int):
            return builtins.bytes(source)  # type: ignore[arg-type]
        items = list(source)
        if not any(type(item) is Int for item in items):
            return builtins.bytes(items)
        result: Any = b""
        for item in items:
            if not (item >= 0 and item < 256):
                raise ValueError("bytes must be in range(0, 256)")
            result = result + (item.to_bytes(1) if type(item) is Int else builtins.bytes((item,)))
        return result

    @staticmethod
    def join(separator: Any, parts: Any) -> Any:
        """As `bytes.join`."""
        return Data.join(separator, parts)


class Integer(metaclass=_Class):
    """Stands for `int`."""

    plain = builtins.int

    def __new__(cls, source: Any = 0, *more: Any) -> Any:
        """As `int(…)`."""
        if type(source) is Unseen:
            source = source.seen()
        if type(source) is Data:
            raise Undecided("no model of int of bytes")
        if more:
            refuse_inputs("int", source, *more)
        return source + 0 if type(source) is Int else builtins.int(source, *more)

    @staticmethod
    def from_bytes(data: Any, byteorder: str = "big", *, signed: builtins.bool = False) -> Any:
        """As of an `int`."""
        _check_order(byteorder)
        symbol = symbol_of_bytes(data)
        if symbol is None:
            data = Bytes(data)
            symbol = symbol_of_bytes(data)
        if isinstance(symbol, builtins.bytes):
            return builtins.int.from_bytes(symbol, byteorder, signed=signed)  # type: ignore[arg-type]
        if byteorder != "big":
            return Integer.from_bytes(data[::-1], signed=signed)
        if signed:
            return number_of(as_number(symbol))
        # After a zero byte, the signed number is the unsigned one.
        return number_of(as_number(byte_models.concat(current(), b"\x00", symbol)))


def refuse_inputs(name: str, *values: Any) -> None:
    """Refuse stand-ins among the arguments of a call."""
    if any(issubclass(type(value), StandIn) for value in values):
        raise Undecided(f"no model of {name} of an input with more arguments")


class Boolean(metaclass=_Class):
    """Stands for `bool`."""

    plain = builtins.bool

    def __new__(cls, source: Any = False) -> Any:
        """As `bool(…)`, not decided yet."""
        if type(source) is SymbolicSet:
            return bool_of(source.condition)
        if issubclass(type(source), StandIn):
            return bool_of(condition_of(source))
        return builtins.bool(source)


class Set(metaclass=_Class):
    """Stands for `set`."""

    plain = builtins.set

    def __new__(cls, items: Iterable[Any] = ()) -> Any:
        """As `set(…)`."""
        return set_of(items)


class FrozenSet(metaclass=_Class):
    """Stands for `frozenset`."""

    plain = builtins.frozenset

    def __new__(cls, items: Iterable[Any] = ()) -> Any:
        """As `frozenset(…)`."""
        return set_of(items, builtins.frozenset)


def _check_order(byteorder: Any) -> None:
    if byteorder not in ("big", "little"):
        raise Undecided("an order of bytes that is neither big nor little")
