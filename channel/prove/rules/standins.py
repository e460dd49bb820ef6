"""Stand-ins for the numbers, truth values and bytes of rules: their operators build terms.

What an operator gives is a plain Python value where it is known, and a stand-in where not. The
operators of numbers are those of CLVM (`prove.models`), which floor like Python's. A decision that
Python has to have at once (the side of an `if`, an index) forks the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Number as AnyNumber
from operator import ge, gt, le, lt
from typing import Any, NoReturn

import z3

from channelsim.channel.prove import long_atoms, models
from channelsim.channel.prove.rules.running import Merged, current, is_running
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Hidden,
    Lazy,
    Number,
    Raises,
    Symbolic,
    Truth,
    Undecided,
    as_number,
    bits_of,
    equal,
    known_bytes,
    make_bytes,
    make_number,
    make_truth,
    merge,
    resize,
    truth_of,
)
from channelsim.clsp.values import NIL, atom_to_int, int_to_atom
from channelsim.games.amounts import counted


class StandIn:
    """Any stand-in. Its text is not known, it cannot be hashed, and it has no attribute in silence
    that is missing here: rules could ask for it, or catch the error."""

    __slots__ = ()

    def __hash__(self) -> NoReturn:
        raise Undecided("an input as an item of a set, or a key of a dictionary")

    def __str__(self) -> NoReturn:
        raise Undecided("an input as text")

    def __format__(self, _: str) -> NoReturn:
        raise Undecided("an input as text")

    def __repr__(self) -> str:
        if is_running():
            raise Undecided("an input as text")
        return object.__repr__(self)

    def __getattr__(self, name: str) -> NoReturn:
        kind = self.__class__
        if hasattr(kind, name):
            raise Undecided(f"no model of {kind.__name__}.{name}")
        raise AttributeError(f"{kind.__name__} has no {name}")


def _no_model(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise Undecided(f"no model of {name} of an input")

    return refuse


# --- numbers ---------------------------------------------------------------------------------


def _operator(model: models.Model, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        mine, theirs = self.symbol, symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        operands = (theirs, mine) if swapped else (mine, theirs)
        return number_of(model(current(), *operands))

    return apply


def _dividing(
    part: Callable[[tuple[Any, Any]], Any], swapped: bool = False
) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        mine, theirs = self.symbol, symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        a, b = (theirs, mine) if swapped else (mine, theirs)
        try:
            both: Any = models.divide_both(current(), a, b)
        except Raises:
            raise ZeroDivisionError("division of an input by zero") from None
        return part((number_of(both[0]), number_of(both[1])))

    return apply


def _shifting(sign: int, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        mine, theirs = self.symbol, symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        value, by = (theirs, mine) if swapped else (mine, theirs)
        path = current()
        if path.branch(less(path.number(by), path.number(NIL))):
            raise ValueError("negative shift count")
        count = by if sign > 0 else models.subtract(path, NIL, by)
        return number_of(models.shift(path, value, count))

    return apply


def _comparing(compare: Callable[[Number, Number], Condition]) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        theirs = symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        return bool_of(compare(as_number(self.symbol), as_number(theirs)))

    return apply


def less(a: Number, b: Number) -> Condition:
    """True where the first number is below the second."""
    if a.most < b.least:
        return True
    if a.least >= b.most:
        return False
    bits = max(a.term.size(), b.term.size())
    return resize(a.term, bits) < resize(b.term, bits)


def negated(condition: Condition) -> Condition:
    """True where the condition is false."""
    return not condition if isinstance(condition, bool) else z3.Not(condition)


class Int(StandIn):
    """A stand-in for an `int`; a `Truth` as its symbol makes it a `bool`."""

    __slots__ = ("symbol",)

    def __init__(self, symbol: Number | Truth) -> None:
        self.symbol = symbol

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return bool if isinstance(self.symbol, Truth) else int

    __add__ = __radd__ = _operator(models.add)
    __sub__, __rsub__ = _operator(models.subtract), _operator(models.subtract, True)
    __mul__ = __rmul__ = _operator(models.multiply)
    __and__ = __rand__ = _operator(models.MODELS["logand"])
    __or__ = __ror__ = _operator(models.MODELS["logior"])
    __xor__ = __rxor__ = _operator(models.MODELS["logxor"])
    __divmod__, __rdivmod__ = _dividing(tuple), _dividing(tuple, True)
    __floordiv__, __rfloordiv__ = _dividing(lambda r: r[0]), _dividing(lambda r: r[0], True)
    __mod__, __rmod__ = _dividing(lambda r: r[1]), _dividing(lambda r: r[1], True)
    __lshift__, __rlshift__ = _shifting(1), _shifting(1, True)
    __rshift__, __rrshift__ = _shifting(-1), _shifting(-1, True)
    __lt__ = _comparing(less)
    __gt__ = _comparing(lambda a, b: less(b, a))
    __le__ = _comparing(lambda a, b: negated(less(b, a)))
    __ge__ = _comparing(lambda a, b: negated(less(a, b)))
    __pow__ = __rpow__ = _no_model("a power")
    __truediv__ = __rtruediv__ = _no_model("`/`")
    __float__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _no_model("a fraction")
    __hash__ = StandIn.__hash__

    def __eq__(self, other: object) -> Any:
        theirs = symbol_of_number(_whole(other))
        if theirs is None:
            return NotImplemented
        return bool_of(equal(as_number(self.symbol), as_number(theirs)))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return NotImplemented if same is NotImplemented else bool_of(negated(condition_of(same)))

    def __neg__(self) -> Any:
        return number_of(models.subtract(current(), NIL, self.symbol))

    def __pos__(self) -> Any:
        return self + 0

    def __invert__(self) -> Any:
        return number_of(models.complement(current(), self.symbol))

    def __abs__(self) -> Any:
        return -self if self < 0 else self + 0

    def __bool__(self) -> bool:
        return current().branch(truth_of(self.symbol))

    def __index__(self) -> int:
        number = as_number(self.symbol)
        value = current().value(number, number.least, number.most)
        assert value is not None
        return value

    __int__ = __index__

    def to_bytes(self, length: int = 1, byteorder: str = "big", *, signed: bool = False) -> Any:
        """As of an `int`: the number in so many bytes."""
        number, bits = as_number(self.symbol), 8 * length
        low, high = (-(1 << bits >> 1), (1 << bits >> 1) - 1) if signed else (0, (1 << bits) - 1)
        if not (low <= self and self <= high):
            raise OverflowError("an input does not fit into the bytes")
        if not length:
            return b""
        term = resize(number.term, max(bits, number.term.size()))
        data = data_of(make_bytes(z3.Extract(bits - 1, 0, term), length))
        return data if byteorder == "big" else data[::-1]

    def bit_length(self) -> Any:
        """As of an `int`."""
        number = as_number(abs(self).symbol) if isinstance(self, Int) else NIL
        longest, term = number.most.bit_length(), z3.BitVecVal(0, 16)
        for bit in range(longest):
            term = z3.If(number.term >= 1 << bit, z3.BitVecVal(bit + 1, 16), term)
        return number_of(make_number(term, 0, longest))

    def bit_count(self) -> Any:
        """As of an `int`."""
        size = abs(self)
        return sum((size >> bit) & 1 for bit in range(as_number(size.symbol).most.bit_length()))


def _whole(value: object) -> object:
    """A number of another type as an integer; as it is if it is no whole one."""
    if not isinstance(value, AnyNumber) or isinstance(value, int):
        return value
    try:
        whole = int(value)  # type: ignore[call-overload]
    except (ValueError, OverflowError):  # infinite, or no number
        return value
    except TypeError:
        raise Undecided(f"no model of {type(value).__name__}") from None
    return whole if whole == value else value


def symbol_of_number(value: object) -> Any:
    """The symbol of a number or its stand-in; None for anything else."""
    if type(value) is Int:
        return value.symbol
    if type(value) is Unseen:
        return symbol_of_number(value.seen())
    return int_to_atom(int(value)) if isinstance(value, int) else None


def number_of(symbol: Symbolic) -> Any:
    """The number that an atom is: a plain one, or a stand-in."""
    if isinstance(symbol, bytes):
        return atom_to_int(symbol)
    if isinstance(symbol, Truth):
        return bool_of(symbol.term)
    if isinstance(symbol, Bytes):
        symbol = as_number(symbol)
    assert isinstance(symbol, Number)
    if symbol.least == symbol.most:
        return symbol.least
    term = z3.simplify(symbol.term)
    if z3.is_bv_value(term):
        return int(term.as_signed_long())
    return Int(Number(term, symbol.least, symbol.most))


def bool_of(condition: Condition) -> Any:
    """The truth value of a condition: a plain one, or a stand-in."""
    known = current().known(condition)
    return Int(Truth(condition)) if known is None else known


def condition_of(value: Any) -> Condition:
    """Where a value is true, as Python says; a plain bool for anything but a stand-in."""
    if type(value) is Unseen:
        value = value.seen()
    if type(value) in (Int, Data):
        return truth_of(value.symbol)
    return bool(value)


# --- bytes -----------------------------------------------------------------------------------


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

    def __bool__(self) -> bool:
        return current().branch(truth_of(self.symbol))

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
        inside = z3.And(*map(_term, (index >= -size, index < size)))
        if not path.branch(inside):
            raise IndexError("index out of range")
        if size > models.LONGEST_TABLE:
            raise Undecided(f"an index that is not known into {counted(size, 'byte')}")
        low, high = max(number.least, -size), min(number.most, size - 1)
        item: Any = _byte(atom, high % size)
        for at in range(high - 1, low - 1, -1):
            item = merged(_term(index == at), _byte(atom, at % size), item).value
        return item

    def _slice(self, atom: bytes | Bytes, index: slice) -> Any:
        start, stop, step = index.indices(_size(atom))
        if step == 1:
            return data_of(models.sliced(atom, start, max(start, stop)))
        parts = [models.sliced(atom, at, at + 1) for at in range(start, stop, step)]
        return data_of(models.concat(current(), *parts))

    def __add__(self, other: object) -> Any:
        theirs = symbol_of_bytes(other)
        if theirs is None:
            return NotImplemented
        return data_of(models.concat(current(), self.atom, theirs))

    def __radd__(self, other: object) -> Any:
        theirs = symbol_of_bytes(other)
        if theirs is None:
            return NotImplemented
        return data_of(models.concat(current(), theirs, self.atom))

    def __mul__(self, count: Any) -> Any:
        return data_of(models.concat(current(), *[self.atom] * max(count.__index__(), 0)))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Any:
        theirs = symbol_of_bytes(_plain_bytes(other))
        return NotImplemented if theirs is None else bool_of(equal(self.symbol, theirs))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return NotImplemented if same is NotImplemented else bool_of(negated(condition_of(same)))

    __hash__ = StandIn.__hash__
    __int__ = __float__ = __mod__ = _no_model("bytes as text")

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
        return self[: len(head)] == head

    def endswith(self, tail: Any) -> Any:
        """As of `bytes`, for one end or several."""
        if isinstance(tail, tuple):
            return any_of([Data.endswith(self, each) for each in tail])
        return len(self) >= len(tail) and self[len(self) - len(tail) :] == tail

    def count(self, item: Any) -> Any:
        """As of `bytes`, for one byte."""
        if symbol_of_number(item) is None:
            if len(item) != 1:
                raise Undecided("bytes.count of several bytes")
            item = item[0]
        _check_byte(item)
        return sum((byte == item) + 0 for byte in self)


def _check_byte(number: Any) -> None:
    """Check that a number is a byte. Raises `ValueError`, as `bytes` do."""
    if not (number >= 0 and number < 256):
        raise ValueError("byte must be in range(0, 256)")


def _plain_bytes(value: object) -> object:
    """The bytes in an object that is equal to such bytes."""
    if isinstance(value, memoryview) and value.format != "B":
        raise Undecided("no model of a view of other items than bytes")
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def symbol_of_bytes(value: object) -> Any:
    """The symbol of bytes or their stand-in; None for anything else."""
    if type(value) is Data:
        return value.symbol
    if type(value) is Unseen:
        return symbol_of_bytes(value.seen())
    return value if isinstance(value, bytes) else None


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
    part = models.sliced(atom, at, at + 1)
    return number_of(make_number(z3.ZeroExt(1, bits_of(part)), 0, 255))


# --- values of a shape that is not known -----------------------------------------------------


class Unseen(StandIn):
    """A CLVM value that is decided to be bytes or a pair when rules look at it.

    With `items` it is a tuple of a length that is decided then, of items of this form.
    """

    __slots__ = ("form", "items", "symbol")

    def __init__(
        self,
        symbol: Lazy | Hidden,
        items: Callable[[], tuple[Any, ...]] | None = None,
        form: object = None,
    ) -> None:
        self.symbol, self.items, self.form = symbol, items, form

    def seen(self) -> Any:
        """The value: bytes or their stand-in, or a tuple."""
        if self.items is not None:
            return self.items()
        shape = current().shape(self.symbol)
        return value_of(shape if isinstance(shape, tuple) else current().atom(shape))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        if self.items is not None:
            return tuple
        shape = current().shape(self.symbol)
        return tuple if isinstance(shape, tuple) else bytes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.seen(), name)

    def __len__(self) -> int:
        return len(self.seen())

    def __bool__(self) -> bool:
        return current().branch(current().truth(self.symbol))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.seen())

    def __getitem__(self, index: Any) -> Any:
        path = current()
        if isinstance(index, slice) and self.items is None and path.is_long(self.symbol):
            bounds = index.start or 0, index.stop, index.step
            if all(type(bound) is int for bound in bounds if bound is not None):
                part = _long_slice(self.symbol, *bounds)
                if part is not None:
                    return value_of(part)
        return self.seen()[index]

    def __eq__(self, other: object) -> Any:
        if type(other) is Unseen and other.symbol is self.symbol:
            return True
        theirs = other.symbol if type(other) is Data else _plain_bytes(other)
        if self.items is None and isinstance(theirs, bytes | Bytes):
            path = current()
            shape = path.shape(self.symbol)
            if isinstance(shape, tuple):
                return False
            truth: Any = models.same(path, shape, theirs)
            return bool_of(truth_of(truth))
        return self.seen() == other

    def __ne__(self, other: object) -> Any:
        equal_to = self.__eq__(other)
        if equal_to is NotImplemented:
            return NotImplemented
        return bool_of(negated(condition_of(equal_to)))

    __hash__ = StandIn.__hash__

    def __lt__(self, other: object) -> Any:
        return ordered(self, other, swapped=True, flipped=False)

    def __gt__(self, other: object) -> Any:
        return ordered(self, other, swapped=False, flipped=False)

    def __le__(self, other: object) -> Any:
        return ordered(self, other, swapped=False, flipped=True)

    def __ge__(self, other: object) -> Any:
        return ordered(self, other, swapped=True, flipped=True)

    def __add__(self, other: object) -> Any:
        return self.seen() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.seen()

    def __contains__(self, item: Any) -> bool:
        return item in self.seen()


def _long_slice(symbol: Any, start: int, stop: int | None, step: int | None) -> Any:
    """A part of bytes of which the length is not decided; None if that has to be known."""
    if step not in (None, 1) or start < 0 or (stop is not None and stop < start):
        return None
    return long_atoms.part_of(symbol, start, stop)


def ordered(this: Any, other: Any, swapped: bool, flipped: bool) -> Any:
    """True where this is after the other; before it if `swapped`; not so if `flipped`.

    Tuples compare as Python does; of bytes the length may stay undecided.
    """
    mine, theirs = _atom_of(this), _atom_of(other)
    if mine is None or theirs is None:
        if type(this) is not Unseen or mine is not None:
            return NotImplemented
        compare = (lt if swapped else gt, ge if swapped else le)[flipped]
        return compare(this.seen(), other)
    operands = (theirs, mine) if swapped else (mine, theirs)
    truth: Any = models.greater_bytes(current(), *operands)
    condition = truth_of(truth)
    return bool_of(negated(condition) if flipped else condition)


def _atom_of(value: Any) -> Any:
    """The symbol of bytes or their stand-in, of a length that may be undecided; None for others."""
    if type(value) is Unseen and value.items is None:
        shape = current().shape(value.symbol)
        return None if isinstance(shape, tuple) else shape
    return symbol_of_bytes(value)


def value_of(symbol: Symbolic) -> Any:
    """The Python form of a symbolic CLVM value: its parts are looked at when rules do."""
    if isinstance(symbol, tuple):
        return value_of(symbol[0]), value_of(symbol[1])
    if isinstance(symbol, Lazy | Hidden):
        return Unseen(symbol)
    return data_of(symbol)


def symbol_of(value: Any) -> Symbolic:
    """The symbolic CLVM value of bytes, pairs and stand-ins of them. Raises TypeError."""
    if type(value) in (Data, Unseen):
        symbol: Symbolic = value.symbol
        return symbol
    if isinstance(value, bytes):
        return value
    if type(value) is tuple and len(value) == 2:
        return symbol_of(value[0]), symbol_of(value[1])
    raise TypeError(f"{type(value).__name__} is no CLVM value")


# --- choices ---------------------------------------------------------------------------------


def merged(condition: Condition, then: Any, otherwise: Any) -> Any:
    """One value, boxed, that is `then` where the condition holds; None if there is no such one."""
    if then is otherwise:
        return Merged(then)
    if type(condition) is bool:
        return Merged(then if condition else otherwise)
    for symbol_in, value_from in ((_number_symbol, number_of), (_bytes_symbol, data_of)):
        left, right = symbol_in(then), symbol_in(otherwise)
        if left is not None and right is not None:
            symbol = merge(condition, left, right)
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


def any_of(values: list[Any]) -> Any:
    """True where one of some truth values is."""
    conditions = [condition_of(value) for value in values]
    if any(condition is True for condition in conditions):
        return True
    terms = [condition for condition in conditions if condition is not False]
    return bool_of(z3.Or(*terms)) if terms else False


def all_of(values: list[Any]) -> Any:
    """True where all of some truth values are."""
    conditions = [condition_of(value) for value in values]
    if any(condition is False for condition in conditions):
        return False
    terms = [condition for condition in conditions if condition is not True]
    return bool_of(z3.And(*terms)) if terms else True


def _term(value: Any) -> Any:
    condition = condition_of(value)
    return z3.BoolVal(condition) if isinstance(condition, bool) else condition
