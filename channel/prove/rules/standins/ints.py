"""Stand-ins for `int` and `bool`."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number as AnyNumber
from typing import Any

import z3

from channelsim.channel.prove.models import number_models
from channelsim.channel.prove.models.table import MODELS
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.standins.base import (
    StandIn,
    Text,
    no_model,
    refuse_own_operators,
)
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Number,
    Raises,
    Symbolic,
    Truth,
    Undecided,
    as_number,
    equal,
    make_bytes,
    make_number,
    resize,
    truth_of,
)
from channelsim.clsp.values import NIL, atom_to_int, int_to_atom


def _operator(model: Callable[..., Symbolic], swapped: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        mine, theirs = self.symbol, symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        operands = (theirs, mine) if swapped else (mine, theirs)
        result: Any = model(current(), *operands)
        return number_of(as_number(result))

    return apply


def _bitwise(name: str, of_truths: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    of_numbers = _operator(MODELS[name])

    def apply(self: Int, other: object) -> Any:
        if is_truth(self) and is_truth(other):
            return bool_of(z3.simplify(of_truths(term_of(self), term_of(other))))
        return of_numbers(self, other)

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
            both: Any = number_models.divide_both(current(), a, b)
        except Raises:
            raise ZeroDivisionError(Text()) from None
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
        count = by if sign > 0 else number_models.subtract(path, NIL, by)
        return number_of(number_models.shift(path, value, count))

    return apply


def _comparing(compare: Callable[[Number, Number], Condition]) -> Callable[[Any, Any], Any]:
    def apply(self: Int, other: object) -> Any:
        theirs = symbol_of_number(other)
        if theirs is None:
            return NotImplemented
        return bool_of(compare(as_number(self.symbol), as_number(theirs)))

    return apply


def is_truth(value: Any) -> bool:
    """True for `True`, `False`, and their stand-in."""
    return value.__class__ is bool


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

    __add__ = __radd__ = _operator(number_models.add)
    __sub__, __rsub__ = _operator(number_models.subtract), _operator(number_models.subtract, True)
    __mul__ = __rmul__ = _operator(number_models.multiply)
    __and__ = __rand__ = _bitwise("logand", z3.And)
    __or__ = __ror__ = _bitwise("logior", z3.Or)
    __xor__ = __rxor__ = _bitwise("logxor", z3.Xor)
    __divmod__, __rdivmod__ = _dividing(tuple), _dividing(tuple, True)
    __floordiv__, __rfloordiv__ = _dividing(lambda r: r[0]), _dividing(lambda r: r[0], True)
    __mod__, __rmod__ = _dividing(lambda r: r[1]), _dividing(lambda r: r[1], True)
    __lshift__, __rlshift__ = _shifting(1), _shifting(1, True)
    __rshift__, __rrshift__ = _shifting(-1), _shifting(-1, True)
    __lt__ = _comparing(less)
    __gt__ = _comparing(lambda a, b: less(b, a))
    __le__ = _comparing(lambda a, b: negated(less(b, a)))
    __ge__ = _comparing(lambda a, b: negated(less(a, b)))
    __pow__ = __rpow__ = no_model("a power")
    __truediv__ = __rtruediv__ = no_model("`/`")
    __float__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = no_model("a fraction")
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
        return number_of(number_models.subtract(current(), NIL, self.symbol))

    def __pos__(self) -> Any:
        return self + 0

    def __invert__(self) -> Any:
        return number_of(number_models.complement(current(), self.symbol))

    def __abs__(self) -> Any:
        return -self if self < 0 else self + 0

    def truth(self) -> Condition:
        """Where the number is not zero."""
        return truth_of(self.symbol)

    def __bool__(self) -> bool:
        return current().branch(self.truth())

    def __index__(self) -> int:
        number = as_number(self.symbol)
        value = current().value(number, number.least, number.most)
        assert value is not None
        return value

    __int__ = __index__

    def to_bytes(self, length: int = 1, byteorder: str = "big", *, signed: bool = False) -> Any:
        """As of an `int`: the number in so many bytes."""
        if byteorder not in ("big", "little") or type(length) is not int or length < 0:
            raise Undecided("bytes of a number in an unusual order or size")
        number, bits = as_number(self.symbol), 8 * length
        low, high = (-(1 << bits >> 1), (1 << bits >> 1) - 1) if signed else (0, (1 << bits) - 1)
        if signed and not length:
            high = 0
        if not (low <= self and self <= high):
            raise OverflowError(Text())
        if not length:
            return b""
        # The stand-ins of numbers and those of bytes each make the others.
        from channelsim.channel.prove.rules.standins.data import data_of

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
    if isinstance(value, StandIn):
        value = value.seen()
    if type(value) is Int:
        return value.symbol
    if not isinstance(value, int):
        return None
    if type(value) is not bool:  # the operators of which are above
        refuse_own_operators(value, int)
    return int_to_atom(int(value))


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
    return value.truth() if isinstance(value, StandIn) else bool(value)


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


def term_of(value: Any) -> Any:
    """The solver's term of a truth value, known or not."""
    condition = condition_of(value)
    return z3.BoolVal(condition) if isinstance(condition, bool) else condition
