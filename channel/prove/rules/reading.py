"""The states that a validator's reader takes, as a condition on stand-ins.

The forms of a state say what each field may be. What else its fields must fulfil (`check_fields`),
and what a form written by hand takes, is Python: it runs on stand-ins, and forks the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import STATE, part
from channelsim.channel.prove.path import LATE, Path
from channelsim.channel.prove.rules.running import CONTROL, along
from channelsim.channel.prove.rules.twins import Twins, twins_of
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.symbols import Raises, Symbolic, Undecided
from channelsim.games.errors import BadState
from channelsim.games.forms import Opaque, Record, parts


@dataclass(frozen=True)
class Reading:
    """The reader of a validator's state in a target with rules."""

    target: Target
    validator: str

    @cached_property
    def twins(self) -> Twins:
        """The modules of the rules, on stand-ins."""
        return twins_of(self.target.game.validators[self.validator].judge)

    @cached_property
    def is_free(self) -> bool:
        """True if the reader takes every value of the form."""
        form = self.target.game.validators[self.validator].form
        return not any(
            (isinstance(inner, Record) and inner.checked) or isinstance(inner, Opaque)
            for inner in parts(form)
        )

    def state(self, environment: Symbolic) -> Any:
        """The state among the arguments. Raises what its reader raises."""
        given: Any = environment
        form = self.target.game.validators[self.validator].form
        return States(self.twins).read(form, part(given, STATE), self.validator)

    def refuses(self, path: Path, environment: Symbolic) -> bool:
        """True if the reader refuses the state on this path; false where nothing can be said."""
        if self.is_free:
            return False
        with along(path):
            try:
                self.state(environment)
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
