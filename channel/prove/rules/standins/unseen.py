"""Stand-ins for values of which the shape is not known, and the values of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from channelsim.channel.prove import long_atoms
from channelsim.channel.prove.models.truth_models import same
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.rules.standins.data import Data, data_of, ordered, plain_bytes
from channelsim.channel.prove.rules.standins.ints import bool_of, condition_of, negated
from channelsim.channel.prove.symbols import Bytes, Condition, Hidden, Lazy, Symbolic, truth_of


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

    def truth(self) -> Condition:
        """Where the value that it is decided to be is true."""
        return condition_of(self.seen())

    def compared(self) -> Any:
        """The symbol, if these are bytes."""
        if self.items is not None:
            return None
        shape = current().shape(self.symbol)
        return None if isinstance(shape, tuple) else shape

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
        theirs = other.symbol if type(other) is Data else plain_bytes(other)
        if self.items is None and isinstance(theirs, bytes | Bytes):
            path = current()
            shape = path.shape(self.symbol)
            if isinstance(shape, tuple):
                return False
            truth: Any = same(path, shape, theirs)
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
