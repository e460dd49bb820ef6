"""Functions of rules that a lemma makes unknown ones: on stand-ins they are not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from channelsim.channel.prove.lemma import applied
from channelsim.channel.prove.rules.running import current
from channelsim.channel.prove.rules.standins import (
    data_of,
    number_of,
    symbol_of_bytes,
    symbol_of_number,
)
from channelsim.clsp.values import from_list
from channelsim.games.forms import Form, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma


def unknown(lemma: Lemma, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a lemma on stand-ins; on plain values `function` itself."""

    def apply(*values: Any) -> Any:
        """Apply the lemma to stand-ins."""
        symbols = [
            symbol_of_number(value) if isinstance(form, Integer) else symbol_of_bytes(value)
            for form, value in zip(lemma.arguments, values, strict=True)
        ]
        result = None
        if None not in symbols:
            result = applied(lemma, current(), symbols)
        return function(*values) if result is None else _python(lemma.result, result)

    return apply


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
