"""Functions of rules that a lemma makes unknown ones: on stand-ins they are not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from channelsim.channel.prove.lemma import applied
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.standins.data import data_of, symbol_of_bytes
from channelsim.channel.prove.rules.standins.ints import number_of, symbol_of_number
from channelsim.channel.prove.symbols import Symbolic
from channelsim.clsp.values import from_list, to_list
from channelsim.games.forms import Atom, ByteIn, Form, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma


def unknown(lemma: Lemma, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a lemma on stand-ins; on plain values `function` itself."""

    def apply(*values: Any) -> Any:
        """Apply the lemma to stand-ins."""
        symbols: list[Any] = [
            _symbol(form, value) for form, value in zip(lemma.arguments, values, strict=True)
        ]
        result = None
        if None not in symbols:
            result = applied(lemma, current(), symbols)
        return function(*values) if result is None else _python(lemma.result, result)

    return apply


def _symbol(form: Form, value: Any) -> Symbolic | None:
    """The symbolic value of an argument; None for one of another form."""
    match form:
        case Integer():
            symbol: Symbolic | None = symbol_of_number(value)
            return symbol
        case ByteIn():
            return _symbol(Atom(1), value.to_bytes(1, "big")) if 0 <= value < 256 else None
        case Pair(first, second):
            both = _symbol(first, value[0]), _symbol(second, value[1])
            return None if None in both else both  # type: ignore[return-value]
        case ListOf(inner, most):
            items: list[Any] = [_symbol(inner, item) for item in value]
            return None if None in items or len(items) != most else to_list(items)
        case _:
            text: Symbolic | None = symbol_of_bytes(value)
            return text


def _python(form: Form, symbol: Any) -> Any:
    """A symbolic value of a form as Python has it: lists and pairs are tuples."""
    match form:
        case Pair(first, second):
            return _python(first, symbol[0]), _python(second, symbol[1])
        case ListOf():
            return tuple(_python(form.form, item) for item in from_list(symbol))
        case Integer():
            return number_of(symbol)
        case _:
            return data_of(symbol)
