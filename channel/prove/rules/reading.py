"""The states that a validator's reader takes, as a condition on stand-ins.

The forms of a state say what each field may be. What else its fields must fulfil (`check_fields`),
and what a form written by hand takes, is Python: it runs on stand-ins, and forks the path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import unwrap
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import AMOUNT, STATE, coin_field, part
from channelsim.channel.prove.lemma import lemmas_of
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.rules.running import CONTROL, along
from channelsim.channel.prove.rules.standins.ints import number_of
from channelsim.channel.prove.rules.twins import Twins, twins_of
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.solver import LATE
from channelsim.channel.prove.symbols import Raises, Symbolic, Undecided
from channelsim.clsp.values import Value, atom_to_int
from channelsim.games.contract import Hashes, Judge
from channelsim.games.errors import BadState
from channelsim.games.forms import Form, ListOf, Opaque, Pair, Record, parts, reader


@dataclass(frozen=True)
class Reading:
    """The reader of a validator's state in a target with rules."""

    target: Target
    validator: str

    @cached_property
    def judge(self) -> Judge:
        """The rules as their author wrote them: what they raise is a finding, and ends nothing."""
        judge: Judge = unwrap(self.target.game.validators[self.validator].judge)
        return judge

    @cached_property
    def twins(self) -> Twins:
        """The modules of the rules, on stand-ins."""
        judge = self.target.game.validators[self.validator].judge
        return twins_of(judge, lemmas=lemmas_of(self.target.rules))

    @property
    def form(self) -> Form:
        """The form of the state."""
        return self.target.game.validators[self.validator].form

    @cached_property
    def is_free(self) -> bool:
        """True if the reader takes every value of the form."""
        return not self.comes_first and not any(
            isinstance(inner, Record) and (inner.checked or has_invariant(inner))
            for inner in parts(self.form)
        )

    @cached_property
    def comes_first(self) -> bool:
        """True if rules cannot judge what the reader refuses: a form is written by hand."""
        return any(isinstance(inner, Opaque) for inner in parts(self.form))

    def state(self, environment: Symbolic, checked: bool = False) -> Any:
        """The state among the arguments; `checked`: its fields must fit each other.

        Raises what its reader raises.
        """
        given: Any = environment
        states = States(self.twins, checked)
        return states.read(self.form, part(given, STATE), self.validator)

    def real_state(self, value: Value) -> Any:
        """The state of constants, whose fields need not fit each other. Raises `BadState`."""
        return reader(_unchecked(self.form))(value, self.validator, self.target.hashes)

    def takes(self, value: Value, hashes: Hashes) -> bool:
        """True if the reader takes a state, with these hashes of programs."""
        try:
            self.target.game.validators[self.validator].read_state(value, hashes)
        except BadState:
            return False
        return True

    def really_holds(self, environment: Value) -> bool:
        """True if the `holds` of the state is, if it has one. Raises `BadState`."""
        if not has_invariant(self.form):
            return True
        given: Any = environment
        validator = self.target.game.validators[self.validator]
        state: Any = validator.read_state(part(given, STATE), self.target.hashes)
        return bool(state.holds(atom_to_int(part(given, coin_field(AMOUNT)))))

    def refuses(self, path: Path, environment: Symbolic) -> bool:
        """True if the reader refuses the state on this path, or its `holds` is false there.

        False where nothing can be said.
        """
        if self.is_free:
            return False
        return is_refused(path, environment, self.form, lambda: self.state(environment, True))


def is_refused(
    path: Path, environment: Symbolic, form: Form | None, read: Callable[[], Any]
) -> bool:
    """True if reading the state raises `BadState` on this path, or its `holds` is false there.

    False where nothing can be said.
    """
    with along(path):
        try:
            state = read()
            if has_invariant(form):
                given: Any = environment
                return not state.holds(number_of(part(given, coin_field(AMOUNT))))
        except BadState:
            return True
        except Undecided as undecided:
            if undecided.reason == LATE:
                raise
        except (*CONTROL, RecursionError):
            raise
        except (Raises, Exception):
            return False
    return False


def has_invariant(form: Form | None) -> bool:
    """True if states of this form say by `holds(amount)` which of them play reaches."""
    return isinstance(form, Record) and callable(getattr(form.kind, "holds", None))


def _unchecked(form: Form) -> Form:
    """The form without what `check_fields` asks."""
    match form:
        case Record(kind, fields):
            return Record(kind, tuple((name, _unchecked(inner)) for name, inner in fields))
        case Pair(first, second):
            return Pair(_unchecked(first), _unchecked(second))
        case ListOf(inner):
            return replace(form, form=_unchecked(inner))
    return form
