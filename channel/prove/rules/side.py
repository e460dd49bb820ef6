"""The Python rules of a validator as a side of a claim."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from traceback import extract_tb
from types import MappingProxyType
from typing import Any

import msgspec

from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.arguments import (
    AMOUNT,
    EVIDENCE,
    MOVE,
    SHARE,
    STATE,
    coin_field,
    part,
)
from channelsim.channel.prove.executor import Ending, RaisedHere, Returned, Unknown
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.rules.module_state import changed
from channelsim.channel.prove.rules.own_reading import OwnReading, has_own_rules
from channelsim.channel.prove.rules.reading import Reading
from channelsim.channel.prove.rules.running import CONTROL, along
from channelsim.channel.prove.rules.standins.ints import number_of
from channelsim.channel.prove.rules.standins.unseen import symbol_of, value_of
from channelsim.channel.prove.rules.twins import Twins
from channelsim.channel.prove.rules.typed import States
from channelsim.channel.prove.solver import LATE
from channelsim.channel.prove.symbols import Raises, Symbolic, Undecided
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid, Raised
from channelsim.clsp.values import NIL, Value, atom_to_int, to_list
from channelsim.games.contract import Raise, RawState, Slash, Valid, Verdict
from channelsim.games.judge import result_value


@dataclass(frozen=True)
class Rules:
    """The rules of a validator of a target, on stand-ins and for real."""

    target: Target
    validator: str
    name: str = field(init=False, default="the rules")

    @cached_property
    def _reading(self) -> Reading | OwnReading:
        own = has_own_rules(self.target, self.validator)
        return (OwnReading if own else Reading)(self.target, self.validator)

    @property
    def twins(self) -> Twins:
        """The modules of the rules, on stand-ins."""
        return self._reading.twins

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Judge the move on stand-ins; what outlives the judgement makes it unknown."""
        twins = self._reading.twins
        followed(path, self._load)
        before = twins.globals()
        ending = followed(path, lambda: self._ending(self.judged(environment)))
        twins.changed = twins.changed or changed(before, twins.globals())
        if twins.changed and ending != Unknown(LATE):
            return Unknown(f"the rules change {twins.changed}, which outlives a judgement")
        return ending

    def _load(self) -> Ending:
        """Load the modules of the rules, so that a change in the first run is seen, too."""
        self._reading.twins.function(self._reading.judge)
        return RaisedHere()

    def judged(self, environment: Symbolic) -> Any:
        """The verdict on stand-ins, within `followed`."""
        judge = self._reading.twins.function(self._reading.judge)
        given: Any = environment
        return judge(
            self._reading.state(environment),
            value_of(part(given, coin_field(MOVE))),
            number_of(part(given, coin_field(SHARE))),
            number_of(part(given, coin_field(AMOUNT))),
            value_of(part(given, EVIDENCE)),
            MappingProxyType(dict(self.target.hashes)),
        )

    def _ending(self, verdict: Any) -> Ending:
        match verdict:
            case Slash():
                return Returned(NIL)
            case Raise():
                return RaisedHere()
            case Valid(step, conditions):
                return Returned(self._result(States(self._reading.twins), step, conditions))
        raise TypeError(f"{type(verdict).__name__} is no verdict")

    def _result(self, states: States, step: Any, conditions: Iterable[Any]) -> Symbolic:
        asked: list[Any] = [symbol_of(condition) for condition in conditions]
        if step is None:
            return to_list([NIL, NIL, NIL, *asked])
        size: Any = states.number(step.max_move_size)
        state: Any = states.value(step.state)
        return to_list([self.target.hashes[step.validator], state, size, *asked])

    def verdict(self, environment: Value) -> Verdict:
        """What the rules say for real, also in a state whose fields do not fit each other.

        Raises what they raise.
        """
        given: Any = environment
        try:
            return self._reading.judge(
                self._reading.real_state(part(given, STATE)),
                part(given, coin_field(MOVE)),
                atom_to_int(part(given, coin_field(SHARE))),
                atom_to_int(part(given, coin_field(AMOUNT))),
                part(given, EVIDENCE),
                self.target.hashes,
            )
        except (SystemExit, GeneratorExit) as error:
            raise RuntimeError(f"the rules raise {described(error)}") from None

    def real(self, environment: Value) -> Outcome:
        """Judge the move for real; rules that raise are a program that raises."""
        try:
            verdict = self.verdict(environment)
        except Exception as error:
            return Raised(f"the rules raise {described(error)}")
        match verdict:
            case Slash():
                return ProgramSlash(0)
            case Raise(rule):
                return Raised(rule)
            case Valid(step, conditions):
                state: Any = None if step is None else step.state
                if step is not None and not callable(getattr(state, "value", None)):
                    step = msgspec.structs.replace(step, state=RawState(state))
                return ProgramValid(result_value(step, self.target.hashes, conditions), 0)

    def place(self, node: Any) -> str:
        """The file and the line."""
        return str(node) if node != NIL else ""

    def constants(self) -> Iterator[int]:
        """None: those of the program are enough."""
        return iter(())


def followed(path: Path, run: Callable[[], Ending]) -> Ending:
    """What a function of stand-ins ends with; unknown where something has no model."""
    with along(path):
        try:
            return run()
        except Undecided as undecided:
            if undecided.reason == LATE:
                return Unknown(LATE)
            return Unknown(undecided.reason, _line(undecided))
        except Raises as raises:
            return Unknown("the rules take a part of an atom", _line(raises))
        except CONTROL:
            raise
        except RecursionError:
            return Unknown("calls that are nested too deep")
        except (Exception, SystemExit, GeneratorExit) as error:
            name, _, text = described(error).partition(": ")
            reason = f"the rules raise {name}, or there is no model: {text}"
            return Unknown(reason, _line(error))


def described(error: BaseException) -> str:
    """The class and the text of an error of rules, of which the text may raise, too."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _line(error: BaseException) -> str:
    """The last line of rules that an error passed, as `file:line`."""
    ours = ("channel/prove/", "<frozen")
    places = [
        f"{frame.filename}:{frame.lineno}"
        for frame in extract_tb(error.__traceback__)
        if not any(part in frame.filename for part in ours)
    ]
    prefixes = sorted((f"{path}/" for path in sys.path if path), key=len, reverse=True)
    place = places[-1] if places else ""
    for prefix in prefixes:
        if place.startswith(prefix):
            return place.removeprefix(prefix)
    return place
