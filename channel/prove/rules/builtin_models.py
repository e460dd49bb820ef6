"""Builtins and library functions that know stand-ins, under the names that rules use.

A class such as `bytes` is replaced by a class of the same name: `isinstance` and patterns ask it,
annotations take it, and a call of it makes a plain value where all is known.
"""

from __future__ import annotations

import builtins
import enum
import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import reduce, wraps
from types import ModuleType, SimpleNamespace
from typing import Any

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.models import byte_models
from channelsim.channel.prove.models.table import MODELS
from channelsim.channel.prove.rules import known_calls
from channelsim.channel.prove.rules.calls import OURS, is_unchangeable
from channelsim.channel.prove.rules.choices import (
    all_lazy,
    any_lazy,
    attribute_of,
    chosen_by_if,
    identical,
    is_instance,
    opposite,
    settable,
)
from channelsim.channel.prove.rules.real import is_model, real_of, stands_for
from channelsim.channel.prove.rules.running import (
    before_a_change,
    current,
    is_judging,
    is_running,
)
from channelsim.channel.prove.rules.sets import SymbolicSet, set_of
from channelsim.channel.prove.rules.standins.base import StandIn, Text
from channelsim.channel.prove.rules.standins.data import Data, data_of, symbol_of_bytes
from channelsim.channel.prove.rules.standins.ints import (
    Int,
    all_of,
    any_of,
    bool_of,
    condition_of,
    number_of,
    symbol_of_number,
)
from channelsim.channel.prove.rules.standins.unseen import Unseen
from channelsim.channel.prove.symbols import Number, Truth, Undecided, as_number, minimal
from channelsim.channel.prove.undecided_lengths import undecided_length
from channelsim.clsp import values

# --- classes ---------------------------------------------------------------------------------


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


# --- functions -------------------------------------------------------------------------------


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
    """What rules get by the name of a builtin."""
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


# --- libraries -------------------------------------------------------------------------------


class Digest:
    """A hash that is being computed: SHA-256 of bytes, and of stand-ins for them."""

    def __init__(self, data: Any = b"", **_: Any) -> None:
        self._data = data

    def update(self, data: Any) -> None:
        """As of `hashlib`."""
        before_a_change()
        self._data = self._data + data

    def digest(self) -> Any:
        """As of `hashlib`: an unknown function of what is not known."""
        symbol = symbol_of_bytes(self._data)
        if symbol is None:
            raise TypeError("sha256 of what is not bytes")
        return data_of(byte_models.hash_of(current(), symbol)) if is_running() else _plain(symbol)

    def __getattr__(self, name: str) -> Any:
        raise Undecided(f"no model of sha256(…).{name}")

    def hexdigest(self) -> Any:
        """As of `hashlib`."""
        digest = self.digest()
        if type(digest) is Data:
            raise Undecided("the hex digits of a hash that is not known")
        return digest.hex()


def _plain(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


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


def _uncached(*arguments: Any, **options: Any) -> Any:
    """`cache` and `lru_cache`: the function itself, since stand-ins cannot be keys.

    Of one that may do something else, or return what can change, the second call would differ;
    ours return what nothing changes.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        function = arguments[0]
        is_ours = str(getattr(function, "__module__", "")).startswith(OURS)

        def call(*given: Any, **named: Any) -> Any:
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
    "functools": {"cache": _uncached, "lru_cache": _uncached, "cached_property": property},
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
"""What rules get instead of parts of these modules."""


def library(name: str, module: ModuleType) -> Any:
    """A module as rules import it."""
    if name == "builtins":
        return SimpleNamespace(**BUILTINS)
    return SimpleNamespace(**{**vars(module), **LIBRARIES[name]})
