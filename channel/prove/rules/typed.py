"""States on stand-ins: from the symbolic values of their forms, and back to such values."""

from __future__ import annotations

from typing import Any

from channelsim.channel.prove.rules.builtin_classes import Bytes
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.standins.ints import number_of, symbol_of_number
from channelsim.channel.prove.rules.standins.unseen import Unseen, symbol_of, value_of
from channelsim.channel.prove.rules.twins import Twins
from channelsim.channel.prove.symbols import Lazy, Symbolic
from channelsim.clsp.values import NIL, to_list
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
)
from channelsim.games.forms import (
    Integer as IntegerForm,
)


class States:
    """Reads and writes states by their forms, with the classes of twins.

    `checked`: states whose `check_fields` refuses them raise its error when they are read.
    """

    def __init__(self, twins: Twins, checked: bool = False) -> None:
        self._twins, self._checked = twins, checked

    def read(self, form: Form, value: Symbolic, name: str) -> Any:
        """The field that a value of this form is; the length of a list is decided when rules look.

        Raises what a form written by hand raises.
        """
        path = current()
        match form:
            case Atom() | HashOf():
                return value_of(value)
            case IntegerForm():
                return number_of(path.number(value))
            case ByteIn():
                return Bytes(value_of(value))[0]
            case Pair(first, second):
                pair: Any = path.shape(value)
                return self.read(first, pair[0], name), self.read(second, pair[1], name)
            case Optional(inner):
                return b"" if path.shape(value) == NIL else self.read(inner, value, name)
            case ListOf(inner):

                def items() -> tuple[Any, ...]:
                    return tuple(self.read(inner, item, name) for item in _items(value))

                return Unseen(value, items, inner) if isinstance(value, Lazy) else items()
            case Record(kind, fields):
                values = [value] if len(fields) == 1 else _items(value)
                record = self._twins.object(kind)(
                    *[
                        self.read(part, item, field)
                        for item, (field, part) in zip(values, fields, strict=True)
                    ]
                )
                if form.checked and self._checked:
                    record.check_fields()
                return record
            case Opaque(_, read):
                return self._twins.object(read)(value_of(value), name)
        raise TypeError(f"{form!r:.80} is no form")

    def write(self, form: Form, field: Any) -> Symbolic:
        """The value of a field, as the writer of its form has it."""
        match form:
            case Atom() | HashOf():
                return symbol_of(Bytes(field))
            case IntegerForm():
                return self.number(field)
            case ByteIn():
                return symbol_of(Bytes((field,)))
            case Pair(first, second):
                return self.write(first, field[0]), self.write(second, field[1])
            case Optional(inner):
                return NIL if field == b"" else self.write(inner, field)
            case ListOf(inner):
                if type(field) is Unseen and field.form == inner:
                    return symbol_of(field)
                parts: list[Any] = [self.write(inner, item) for item in field]
                return to_list(parts)
            case Record(_, fields):
                values: list[Any] = [
                    self.write(part, getattr(field, name)) for name, part in fields
                ]
                return values[0] if len(fields) == 1 else to_list(values)
            case Opaque(write):
                return symbol_of(self._opaque(write, field))
        raise TypeError(f"{form!r:.80} is no form")

    def number(self, number: Any) -> Symbolic:
        """The atom of a number. Raises TypeError for anything else."""
        symbol: Symbolic = symbol_of_number(number)
        if symbol is None:
            raise TypeError(f"{type(number).__name__} is no number")
        return symbol

    def _opaque(self, write: Any, field: Any) -> Any:
        if write is bytes:
            return Bytes(field)
        return self._twins.object(write)(field)

    def value(self, state: Any) -> Symbolic:
        """The CLVM value of a state: by its form, by a `value` of its own, or itself."""
        form = getattr(type(state), "form", None)
        if isinstance(form, Record):
            return self.write(form, state)
        value = getattr(type(state), "value", None)
        return symbol_of(state.value() if callable(value) else state)


def _items(value: Symbolic) -> list[Symbolic]:
    path, items = current(), []
    shape = path.shape(value)
    while isinstance(shape, tuple):
        items.append(shape[0])
        shape = path.shape(shape[1])
    return items
