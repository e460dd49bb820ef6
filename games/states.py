"""States declared by their fields: the CLVM form and its strict reader follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_origin, get_type_hints

import msgspec

from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import NIL, Value
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.reading import read_bytes, read_int, read_list


@dataclass(frozen=True, slots=True)
class Form:
    """The CLVM form of a field.

    `write` takes the field and returns its CLVM value. `read` takes the CLVM value and the name of
    the field, and raises `BadState` for any other shape.
    """

    write: Callable[[Any], Value]
    read: Callable[[Value, str], Any]


def atom(size: int) -> Form:
    """The form of bytes: an atom of exactly `size` bytes."""
    return Form(bytes, lambda value, name: read_bytes(value, name, size))


def integer(least: int, most: int) -> Form:
    """The form of an integer from `least` to `most`: an atom in the fewest bytes."""
    return Form(int_to_atom, lambda value, name: read_int(value, name, least, most))


Bytes16: TypeAlias = Annotated[bytes, atom(16)]
"""A field of 16 bytes, such as a preimage."""

Bytes32: TypeAlias = Annotated[bytes, atom(32)]
"""A field of 32 bytes, such as a hash."""

Mojos: TypeAlias = Annotated[int, integer(0, MAX_AMOUNT)]
"""A field with an amount of money, from 0."""


class PlainState(msgspec.Struct, frozen=True, gc=False):
    """Base of a state whose CLVM form is its fields.

    The form is `()` without a field, the form of the field itself with one, and a list with more.
    Each field is annotated with a `Form`, by one of the names above or by `Annotated`.

    >>> class Guessing(PlainState, frozen=True):
    ...     commit: Bytes32
    ...     guess: Annotated[int, integer(0, 1)]
    >>> state = Guessing(bytes(32), 1)
    >>> Guessing.read(state.value()) == state
    True
    >>> Guessing.read((b"commit", (b"", b"")))
    Traceback (most recent call last):
    channelsim.games.errors.BadState: commit: not an atom of 32 bytes
    """

    forms: ClassVar[tuple[Form, ...]] = ()
    """The form of each field, in order."""

    writers: ClassVar[tuple[tuple[str, Callable[[Any], Value]], ...]] = ()
    """The name of each field with its writer, the last one first."""

    def __init_subclass__(cls, **config: Any) -> None:
        super().__init_subclass__(**config)
        hints = get_type_hints(cls, include_extras=True)
        fields = {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}
        cls.forms = tuple(_form(cls, name, hint) for name, hint in fields.items())
        writers = [(name, form.write) for name, form in zip(fields, cls.forms, strict=True)]
        cls.writers = tuple(reversed(writers))

    def value(self) -> Value:
        """The CLVM form."""
        value: Value = NIL
        for name, write in self.writers:
            value = (write(getattr(self, name)), value)
        return value[0] if len(self.writers) == 1 and isinstance(value, tuple) else value

    @classmethod
    def read(cls, value: Value) -> Self:
        """The state of a CLVM form. Raises `BadState` for any other shape."""
        names = cls.__struct_fields__
        whole = [value] if len(names) == 1 else read_list(value, len(names), cls.__name__)
        return cls(
            *(form.read(one, name) for form, one, name in zip(cls.forms, whole, names, strict=True))
        )


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
    for form in getattr(hint, "__metadata__", ()):
        if isinstance(form, Form):
            return form
    raise TypeError(
        f"{cls.__name__}.{name}: annotate it with a form: `Bytes32`, `Annotated[bytes, atom(2)]` …"
    )
