"""The rules in an author's own file (`lab.targets.own_rules`), as the prover reads states by them.

A state is any CLVM value within the bounds, unless the file has a reader for it: then it is of the
reader's form, or what a function of the file takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import AMOUNT, STATE, coin_field, part
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.rules.reading import has_invariant, is_refused
from channelsim.channel.prove.rules.standins.unseen import value_of
from channelsim.channel.prove.rules.twins import Twins, twins_of
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.symbols import Symbolic
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.contract import Hashes
from channelsim.games.errors import BadState
from channelsim.games.forms import Form, Record
from channelsim.games.forms import reader as reader_of_form


@dataclass(frozen=True)
class OwnReading:
    """The judge of a validator in an author's file, and the reader of its states."""

    target: Target
    validator: str

    comes_first = True
    """Rules cannot judge a state that the reader refuses."""

    @cached_property
    def judge(self) -> Callable[..., Any]:
        """The function of the file."""
        return self.target.own_rules.functions[self.validator]

    @cached_property
    def _reader(self) -> Callable[..., Any] | None:
        return self.target.own_rules.readers.get(self.validator)

    @cached_property
    def form(self) -> Form | None:
        """The form of the state, where the reader is that of a state class."""
        form = getattr(getattr(self._reader, "__self__", None), "form", None)
        return form if isinstance(form, Record) else None

    @cached_property
    def twins(self) -> Twins:
        """The module of the rules, on stand-ins."""
        return twins_of(self.judge)

    def state(self, environment: Symbolic, checked: bool = False) -> Any:
        """The state among the arguments. Raises what its reader raises."""
        given: Any = environment
        value = part(given, STATE)
        if self.form is not None:
            return States(self.twins, checked).read(self.form, value, self.validator)
        if self._reader is None:
            return value_of(value)
        return self.twins.function(self._reader)(
            value_of(value), MappingProxyType(dict(self.target.hashes))
        )

    def real_state(self, value: Value, hashes: Hashes | None = None) -> Any:
        """The state of constants. Raises what its reader raises."""
        hashes = self.target.hashes if hashes is None else hashes
        if self.form is not None:
            return reader_of_form(self.form)(value, self.validator, hashes)
        return value if self._reader is None else self._reader(value, hashes)

    def takes(self, value: Value, hashes: Hashes) -> bool:
        """True if the reader takes a state, with these hashes of programs."""
        try:
            self.real_state(value, hashes)
        except BadState:
            return False
        return True

    def really_holds(self, environment: Value) -> bool:
        """True if the `holds` of the state is, if it has one. Raises `BadState`."""
        given: Any = environment
        if self.form is None or not has_invariant(self.form):
            return True
        amount = atom_to_int(part(given, coin_field(AMOUNT)))
        return bool(self.real_state(part(given, STATE)).holds(amount))

    def refuses(self, path: Path, environment: Symbolic) -> bool:
        """True if the reader refuses the state on this path; false where nothing can be said."""
        if self._reader is None:
            return False
        return is_refused(path, environment, self.form, lambda: self.state(environment, True))


def has_own_rules(target: Target, validator: str) -> bool:
    """True if an author's own file has rules for a validator."""
    return target.rules is None and validator in target.own_rules.functions
