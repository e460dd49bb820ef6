"""Parts of libraries, and of ours, that know stand-ins, under the names that rules use."""

from __future__ import annotations

import builtins
import enum
import functools
from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType, SimpleNamespace
from typing import Any

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.models.table import MODELS
from channelsim.channel.prove.rules.builtin_models import BUILTINS
from channelsim.channel.prove.rules.calls import OURS, is_unchangeable
from channelsim.channel.prove.rules.choices import (
    identical,
    opposite,
)
from channelsim.channel.prove.rules.running import (
    before_a_change,
    current,
    is_judging,
)
from channelsim.channel.prove.rules.standins.base import StandIn, Text
from channelsim.channel.prove.rules.standins.data import Data, data_of, symbol_of_bytes
from channelsim.channel.prove.rules.standins.digest import Digest
from channelsim.channel.prove.rules.standins.ints import (
    Int,
    bool_of,
    number_of,
    symbol_of_number,
)
from channelsim.channel.prove.rules.standins.unseen import Unseen
from channelsim.channel.prove.symbols import Number, Truth, Undecided, as_number, minimal
from channelsim.clsp import values


def _with_models(**known: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Functions that use a model if an argument is a stand-in, and the real function else."""

    def either(model: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def call(*arguments: Any) -> Any:
            if any(_is_unknown(argument) for argument in arguments):
                return model(*arguments)
            return plain(*arguments)

        return call

    plain = vars(values)
    return {name: either(model, plain[name]) for name, model in known.items()}


def _is_unknown(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_is_unknown, value))
    return issubclass(type(value), StandIn)


def _int_to_atom(number: Any) -> Any:
    symbol = symbol_of_number(number)
    if symbol is None:
        raise TypeError("int_to_atom of what is no number")
    return data_of(symbol)


def _atom_to_int(atom: Any) -> Any:
    if type(atom) is Unseen and current().is_long(atom.symbol):
        return number_of(current().number(atom.symbol))
    return number_of(as_number(_bytes(atom)))


def _is_minimal(atom: Any) -> Any:
    if type(atom) is Unseen and current().is_long(atom.symbol):
        symbol: Any = atom.symbol
        if long_atoms.has_number(symbol):
            return bool_of(long_atoms.is_minimal(symbol))
    symbol = _bytes(atom)
    if isinstance(symbol, builtins.bytes | Number | Truth):
        return values.is_minimal(symbol) if isinstance(symbol, builtins.bytes) else True
    return bool_of(minimal(symbol))


def _logxor(left: Any, right: Any) -> Any:
    return data_of(MODELS["logxor"](current(), _bytes(left), _bytes(right)))


def _bytes(value: Any) -> Any:
    symbol = symbol_of_bytes(value)
    if symbol is None:
        raise TypeError("what is no bytes where bytes are wanted")
    return symbol


def _tree_hash(value: Any) -> Any:
    if type(value) is Unseen:
        value = value.seen()
    if type(value) is tuple:
        left, right = map(_tree_hash, value)
        return Digest(b"\x02" + left + right).digest()
    return Digest(b"\x01" + value).digest()


def _tree_hash_pair(left: Any, right: Any) -> Any:
    return Digest(b"\x02" + left + right).digest()


def _tree_hash_list(hashes: Any) -> Any:
    result: Any = _tree_hash(b"")
    for item in reversed(list(hashes)):
        result = _tree_hash_pair(item, result)
    return result


def _serialize(value: Any) -> Any:
    raise Undecided("no model of serialize")


class _EnumType(enum.EnumMeta):
    """The class of enumerations, whose members are found by inputs too: a fork for each."""

    def __call__(cls, value: Any, *more: Any, **options: Any) -> Any:
        """The member with this value."""
        if type(value) is Unseen:
            value = value.seen()
        if more or options or type(value) not in (Int, Data):
            return super().__call__(value, *more, **options)
        members: list[Any] = list(cls)
        for member in members:
            if value == member.value:
                return member
        raise ValueError(Text())


class Enum(enum.Enum, metaclass=_EnumType):
    """As of `enum`."""


class IntEnum(enum.IntEnum, metaclass=_EnumType):
    """As of `enum`."""


class StrEnum(enum.StrEnum, metaclass=_EnumType):
    """As of `enum`."""


def _is_key(value: Any) -> bool:
    """True for an argument that equals none of another class."""
    if type(value) is tuple:
        return all(map(_is_key, value))
    return type(value) in (int, bytes, str, Data, Unseen, type(None)) or (
        type(value) is Int and value.__class__ is int
    )


class CachedProperty(functools.cached_property[Any]):
    """As of `functools`: the first look at it changes the object."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As of `functools`."""
        if instance is not None and self.attrname not in vars(instance):
            before_a_change()
        return super().__get__(instance, owner)


def _uncached(*arguments: Any, **options: Any) -> Any:
    """`cache` and `lru_cache`: the function itself, since stand-ins cannot be keys.

    Of one that may do something else, or return what can change, the second call would differ;
    ours return what nothing changes.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        function = arguments[0]
        is_ours = str(getattr(function, "__module__", "")).startswith(OURS)

        def call(*given: Any, **named: Any) -> Any:
            if is_judging() and not is_ours and not all(map(_is_key, (*given, *named.values()))):
                raise Undecided("an argument of a cached function that equals one of another class")
            result = function(*given, **named)
            cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
            kept = [cell for cell in cells if not callable(cell)]
            if is_judging() and not is_ours and not all(map(is_unchangeable, [*kept, result])):
                raise Undecided("no model of a cached function with what can change")
            return result

        with_methods = wraps(function)(call)
        with_methods.cache_clear = lambda: None  # type: ignore[attr-defined]
        return with_methods
    return _uncached


LIBRARIES: Mapping[str, Mapping[str, Any]] = {
    "operator": {"is_": identical, "is_not": lambda a, b: opposite(identical(a, b))},
    "hashlib": {"sha256": Digest},
    "enum": {"Enum": Enum, "IntEnum": IntEnum, "StrEnum": StrEnum},
    "builtins": {},
    "functools": {"cache": _uncached, "lru_cache": _uncached, "cached_property": CachedProperty},
    "channelsim.clsp.values": _with_models(
        int_to_atom=_int_to_atom,
        atom_to_int=_atom_to_int,
        is_minimal=_is_minimal,
        logxor=_logxor,
        tree_hash=_tree_hash,
        tree_hash_atom=_tree_hash,
        tree_hash_pair=_tree_hash_pair,
        tree_hash_list=_tree_hash_list,
        serialize=_serialize,
        serialize_atom=_serialize,
    ),
}
"""The parts of these modules that rules get others for."""


def library(name: str, module: ModuleType) -> Any:
    """A module as rules import it."""
    if name == "builtins":
        return SimpleNamespace(**BUILTINS)
    return SimpleNamespace(**{**vars(module), **LIBRARIES[name]})
