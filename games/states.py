"""States declared by their fields: the CLVM form and its strict reader follow from them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_origin, get_type_hints

import msgspec

from channelsim.clsp.values import NIL, Value
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.forms import (
    Atom,
    Form,
    Hashes,
    Integer,
    Reader,
    Record,
    reader,
    writer,
)

Bytes16: TypeAlias = Annotated[bytes, Atom(16)]
"""A field of 16 bytes, such as a preimage."""

Bytes32: TypeAlias = Annotated[bytes, Atom(32)]
"""A field of 32 bytes, such as a hash."""

Mojos: TypeAlias = Annotated[int, Integer(0, MAX_AMOUNT)]
"""A field with an amount of money, from 0."""

NO_HASHES: Hashes = MappingProxyType({})
"""No hashes of programs: enough for states without a `HashOf`."""


class PlainState(msgspec.Struct, frozen=True, gc=False):
    """Base of a state whose CLVM form is its fields.

    The form is `()` without a field, the form of the field itself with one, and a list with more.
    Each field is annotated with a form, by one of the names above or by `Annotated`, or it is
    itself a state.

    >>> class Guessing(PlainState, frozen=True):
    ...     commit: Bytes32
    ...     guess: Annotated[int, Integer(0, 1)]
    >>> state = Guessing(bytes(32), 1)
    >>> Guessing.read(state.value()) == state
    True
    >>> Guessing.read((b"commit", (b"", b"")))
    Traceback (most recent call last):
    channelsim.games.errors.BadState: commit: not an atom of 32 bytes
    >>> Guessing.form.fields
    (('commit', Atom(size=32)), ('guess', Integer(least=0, most=1)))
    """

    form: ClassVar[Record]
    """The fields with their forms, in order."""

    _reader: ClassVar[Reader]

    def __init_subclass__(cls, **config: Any) -> None:
        super().__init_subclass__(**config)
        hints = get_type_hints(cls, include_extras=True)
        fields = {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}
        forms = tuple((name, _form(cls, name, hint)) for name, hint in fields.items())
        for name in ("read", "value"):
            if name in vars(cls):
                raise TypeError(
                    f"{cls.__name__}.{name}: it follows from the fields; what else they must fulfil"
                    " belongs into `check_fields`"
                )
        cls.form = Record(cls, forms, cls.check_fields is not PlainState.check_fields)
        cls._reader = staticmethod(reader(cls.form))
        cls.value = writer(cls.form)  # type: ignore[assignment, method-assign]

    def value(self) -> Value:
        """The CLVM form: `()` for a state without fields, and else what the form's writer makes."""
        return NIL

    @classmethod
    def read(cls, value: Value, hashes: Hashes = NO_HASHES) -> Self:
        """The state of a CLVM form. Raises `BadState` for any other shape.

        `hashes` are those of the game's programs, for states that hold one (`HashOf`).
        """
        state: Self = cls._reader(value, cls.__name__, hashes)
        return state

    def check_fields(self) -> None:
        """Raise `BadState` if the fields do not fit each other. By default, they always do."""


class RawState(msgspec.Struct, frozen=True):
    """A state of which only the CLVM value is known."""

    raw: Value

    def value(self) -> Value:
        """The CLVM form."""
        return self.raw


def _form(cls: type, name: str, hint: Any) -> Form:
    """The form in a field's annotation. Raises TypeError if the class cannot be a state."""
    if hasattr(PlainState, name):
        raise TypeError(f"{cls.__name__}.{name}: every state has a {name!r}; use another name")
    if isinstance(hint, type) and issubclass(hint, PlainState):
        return hint.form
    for form in getattr(hint, "__metadata__", ()):
        if isinstance(form, Form):
            return form
    raise TypeError(
        f"{cls.__name__}.{name}: annotate it with a form: `Bytes32`, `Annotated[bytes, Atom(2)]` …"
    )
