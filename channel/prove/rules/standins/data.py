"""Stand-ins for `bytes`, their order, and one value for both sides of a choice."""

from __future__ import annotations

from collections.abc import Iterator
from operator import ge, gt, le, lt
from typing import Any

import z3

from channelsim.channel.prove.models import byte_models
from channelsim.channel.prove.models.truth_models import greater_bytes
from channelsim.channel.prove.rules.running import Merged, current
from channelsim.channel.prove.rules.standins.base import StandIn, no_model, refuse_own_operators
from channelsim.channel.prove.rules.standins.ints import (
    Int,
    any_of,
    bool_of,
    condition_of,
    is_truth,
    negated,
    number_of,
    symbol_of_number,
    term_of,
)
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Number,
    Truth,
    Undecided,
    as_number,
    bits_of,
    equal,
    known_bytes,
    make_number,
    make_truth,
    merge,
    truth_of,
)
from channelsim.clsp.values import int_to_atom
from channelsim.games.amounts import counted


class Data(StandIn):
    """A stand-in for `bytes`. A number in the fewest bytes gets a length when it is looked at."""

    __slots__ = ("symbol",)

    def __init__(self, symbol: Number | Bytes | Truth) -> None:
        self.symbol = symbol

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return bytes

    @property
    def atom(self) -> bytes | Bytes:
        """The bytes with a known length; a fork for each that is possible."""
        return current().bytes(self.symbol)

    def __len__(self) -> int:
        return _size(self.atom)

    def truth(self) -> Condition:
        """Where the bytes are not empty."""
        return truth_of(self.symbol)

    def compared(self) -> Any:
        """The symbol."""
        return self.symbol

    def __bool__(self) -> bool:
        return current().branch(self.truth())

    def __iter__(self) -> Iterator[Any]:
        atom = self.atom
        return iter([_byte(atom, at) for at in range(_size(atom))])

    def __getitem__(self, index: Any) -> Any:
        atom = self.atom
        if isinstance(index, slice):
            return self._slice(atom, index)
        size, path = _size(atom), current()
        if type(index) is not Int:
            at = index.__index__()
            if not -size <= at < size:
                raise IndexError("index out of range")
            return _byte(atom, at % size)
        number = as_number(index.symbol)
        inside = z3.And(*map(term_of, (index >= -size, index < size)))
        if not path.branch(inside):
            raise IndexError("index out of range")
        if size > byte_models.LONGEST_TABLE:
            raise Undecided(f"an index that is not known into {counted(size, 'byte')}")
        low, high = max(number.least, -size), min(number.most, size - 1)
        item: Any = _byte(atom, high % size)
        for at in range(high - 1, low - 1, -1):
            item = merged(term_of(index == at), _byte(atom, at % size), item).value
        return item

    def _slice(self, atom: bytes | Bytes, index: slice) -> Any:
        start, stop, step = index.indices(_size(atom))
        if step == 1:
            return data_of(byte_models.sliced(atom, start, max(start, stop)))
        parts = [byte_models.sliced(atom, at, at + 1) for at in range(start, stop, step)]
        return data_of(byte_models.concat(current(), *parts))

    def __add__(self, other: object) -> Any:
        theirs = symbol_of_bytes(other)
        if theirs is None:
            return NotImplemented
        return data_of(byte_models.concat(current(), self.atom, theirs))

    def __radd__(self, other: object) -> Any:
        theirs = symbol_of_bytes(other)
        if theirs is None:
            return NotImplemented
        return data_of(byte_models.concat(current(), theirs, self.atom))

    def __mul__(self, count: Any) -> Any:
        return data_of(byte_models.concat(current(), *[self.atom] * max(count.__index__(), 0)))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Any:
        theirs = symbol_of_bytes(plain_bytes(other))
        return NotImplemented if theirs is None else bool_of(equal(self.symbol, theirs))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return NotImplemented if same is NotImplemented else bool_of(negated(condition_of(same)))

    __hash__ = StandIn.__hash__
    __int__ = __float__ = __mod__ = no_model("bytes as text")

    def __lt__(self, other: object) -> Any:
        return ordered(self, other, swapped=True, flipped=False)

    def __gt__(self, other: object) -> Any:
        return ordered(self, other, swapped=False, flipped=False)

    def __le__(self, other: object) -> Any:
        return ordered(self, other, swapped=False, flipped=True)

    def __ge__(self, other: object) -> Any:
        return ordered(self, other, swapped=True, flipped=True)

    def __contains__(self, item: Any) -> bool:
        return bool(self.has(item))

    def has(self, item: Any) -> Any:
        """True where a byte, or some bytes, are in these."""
        if symbol_of_number(item) is not None:
            _check_byte(item)
            return any_of([byte == item for byte in self])
        _check_bytes(item)
        size = len(item)
        windows = [self[at : at + size] == item for at in range(len(self) - size + 1)]
        return any_of(windows)

    def join(self, parts: Any) -> Any:
        """As of `bytes`."""
        result: Any = b""
        for number, part in enumerate(parts):
            result = result + self + part if number else result + part
        return result

    def startswith(self, head: Any) -> Any:
        """As of `bytes`, for one beginning or several."""
        if isinstance(head, tuple):
            return any_of([Data.startswith(self, each) for each in head])
        _check_bytes(head)
        return self[: len(head)] == head

    def endswith(self, tail: Any) -> Any:
        """As of `bytes`, for one end or several."""
        if isinstance(tail, tuple):
            return any_of([Data.endswith(self, each) for each in tail])
        _check_bytes(tail)
        return len(self) >= len(tail) and self[len(self) - len(tail) :] == tail

    def count(self, item: Any) -> Any:
        """As of `bytes`, for one byte."""
        if symbol_of_number(item) is None:
            if len(item) != 1:
                raise Undecided("bytes.count of several bytes")
            item = item[0]
        _check_byte(item)
        return sum((byte == item) + 0 for byte in self)


def _check_bytes(value: Any) -> None:
    """Check that a value is bytes. Raises `Undecided` for others, of which some count as bytes."""
    if symbol_of_bytes(value) is None:
        raise Undecided(f"bytes, and a value of the class {type(value).__name__}")


def _check_byte(number: Any) -> None:
    """Check that a number is a byte. Raises `ValueError`, as `bytes` do."""
    if not (number >= 0 and number < 256):
        raise ValueError("byte must be in range(0, 256)")


def plain_bytes(value: object) -> object:
    """The bytes in an object that is equal to such bytes."""
    if isinstance(value, memoryview) and value.format != "B":
        raise Undecided("no model of a view of other items than bytes")
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def symbol_of_bytes(value: object) -> Any:
    """The symbol of bytes or their stand-in; None for anything else."""
    if isinstance(value, StandIn):
        value = value.seen()
    if type(value) is Data:
        return value.symbol
    if not isinstance(value, bytes):
        return None
    refuse_own_operators(value, bytes)
    return bytes(value)


def data_of(symbol: Any) -> Any:
    """The bytes of an atom: plain ones, or a stand-in."""
    if isinstance(symbol, Bytes):
        known = known_bytes(symbol)
        return Data(symbol) if known is None else known
    if isinstance(symbol, Number | Truth):
        if isinstance(symbol, Number) and z3.is_bv_value(term := z3.simplify(symbol.term)):
            return int_to_atom(term.as_signed_long())
        return Data(symbol)
    return symbol


def _size(atom: bytes | Bytes) -> int:
    return atom.size if isinstance(atom, Bytes) else len(atom)


def _byte(atom: bytes | Bytes, at: int) -> Any:
    """The byte at a place, from 0 to 255."""
    if isinstance(atom, bytes):
        return atom[at]
    part = byte_models.sliced(atom, at, at + 1)
    return number_of(make_number(z3.ZeroExt(1, bits_of(part)), 0, 255))


def ordered(this: Any, other: Any, swapped: bool, flipped: bool) -> Any:
    """True where this is after the other; before it if `swapped`; not so if `flipped`.

    Tuples compare as Python does; of bytes the length may stay undecided.
    """
    mine, theirs = _atom_of(this), _atom_of(other)
    if mine is None or theirs is None:
        if mine is not None:
            return NotImplemented
        compare = (lt if swapped else gt, ge if swapped else le)[flipped]
        return compare(this.seen(), other)
    operands = (theirs, mine) if swapped else (mine, theirs)
    truth: Any = greater_bytes(current(), *operands)
    condition = truth_of(truth)
    return bool_of(negated(condition) if flipped else condition)


def _atom_of(value: Any) -> Any:
    """The symbol of bytes or their stand-in, of a length that may be undecided; None for others."""
    return value.compared() if isinstance(value, StandIn) else symbol_of_bytes(value)


def merged(condition: Condition, then: Any, otherwise: Any) -> Any:
    """One value, boxed, that is `then` where the condition holds; None if there is no such one."""
    if then is otherwise:
        return Merged(then)
    if type(condition) is bool:
        return Merged(then if condition else otherwise)
    for symbol_in, value_from in ((_number_symbol, number_of), (_bytes_symbol, data_of)):
        left, right = symbol_in(then), symbol_in(otherwise)
        if left is not None and right is not None:
            if is_truth(then) is not is_truth(otherwise):
                return None
            symbol: Any = merge(condition, left, right)
            if value_from is number_of and symbol is not None and not is_truth(then):
                symbol = as_number(symbol)  # 1 or 0 is no truth value
            return None if symbol is None else Merged(value_from(symbol))
    if type(then) is tuple and type(otherwise) is tuple and len(then) == len(otherwise):
        parts = [merged(condition, *both) for both in zip(then, otherwise, strict=True)]
        return None if None in parts else Merged(tuple(part.value for part in parts))
    if type(then) is type(otherwise) and isinstance(then, str | None) and then == otherwise:
        return Merged(then)
    return None


def _number_symbol(value: Any) -> Any:
    if type(value) is Int:
        return value.symbol
    if type(value) is bool:
        return make_truth(value)
    return int_to_atom(value) if type(value) is int else None


def _bytes_symbol(value: Any) -> Any:
    if type(value) is Data:
        return value.symbol
    return value if type(value) is bytes else None
