"""Base of all stand-ins: what none of them answers in silence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from channelsim.channel.prove.rules.running import is_running
from channelsim.channel.prove.symbols import Condition, Undecided


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

    def seen(self) -> Any:
        """The value itself; of one whose shape is not known, what it is decided to be."""
        return self

    def truth(self) -> Condition:
        """Where the value is true, as Python says."""
        return bool(self)

    def compared(self) -> Any:
        """The symbol of bytes, of a length that may be undecided; None for anything else."""
        return None

    def __repr__(self) -> str:
        if is_running():
            raise Undecided("an input as text")
        return object.__repr__(self)

    def __sizeof__(self) -> NoReturn:
        raise Undecided("the memory that an input takes")

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise Undecided("a copy of an input, or one as bytes")

    def __getattr__(self, name: str) -> NoReturn:
        if name in type(self).__slots__:
            raise Undecided("an input that has no value yet")
        kind = self.__class__
        if hasattr(kind, name):
            raise Undecided(f"no model of {kind.__name__}.{name}")
        raise AttributeError(f"{kind.__name__} has no {name}")


def is_unknown(value: Any) -> bool:
    """True for a stand-in, and for a tuple that has one in it."""
    if type(value) is tuple:
        return any(map(is_unknown, value))
    return issubclass(type(value), StandIn)


def no_model(name: str) -> Callable[..., NoReturn]:
    """A method without a model. It raises `Undecided`."""

    def refuse(*_: object) -> NoReturn:
        raise Undecided(f"no model of {name} of an input")

    return refuse


OPERATORS = (
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__"),
    *("__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__", "__rfloordiv__"),
    *("__mod__", "__rmod__", "__divmod__", "__rdivmod__", "__and__", "__rand__", "__or__"),
    *("__ror__", "__xor__", "__rxor__", "__lshift__", "__rlshift__", "__rshift__", "__rrshift__"),
    *("__contains__", "__getitem__", "__iter__", "__len__"),
)
"""The methods of operators that have a model."""


def refuse_own_operators(value: object, kind: type) -> None:
    """Raise `Undecided` for a value of a subclass that does not calculate as its base does."""
    if type(value) is not kind and _has_own_operators(type(value), kind):  # type: ignore[arg-type]
        raise Undecided(f"no model of {type(value).__name__}")


@cache
def _has_own_operators(kind: type, base: type) -> bool:
    return any(_method(kind, name) is not _method(base, name) for name in OPERATORS)


def _method(kind: type, name: str) -> object:
    """The attribute that instances of a class have, not that of its class, such as `EnumType`."""
    return next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)


class Text(StandIn):
    """The text of an error that may have inputs in it: nothing is known of it."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return str

    __hash__ = StandIn.__hash__
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = no_model("the text of an error")
    __add__ = __radd__ = __mul__ = __mod__ = __len__ = no_model("the text of an error")
    __iter__ = __contains__ = __getitem__ = __bool__ = no_model("the text of an error")
