"""Record honest play: an author's driver makes the moves, the target's programs judge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import msgspec

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.kit.driver import Hand, Move, NotPlain, Start, to_value
from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.user_code import NOT_THEIRS, failure
from channelsim.clsp.run import (
    Outcome,
    ProgramValid,
    outcome_word,
    run_serialized,
)
from channelsim.clsp.values import (
    NIL,
    NotAList,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    is_minimal,
)
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.evidence import MOST_CONDITIONS, SIGNATURE_SIZE, met
from channelsim.games.judge import program_conditions
from channelsim.games.names import nearest_or_all, printable, quoted
from channelsim.games.vectors import Case, NextRecord, arguments, check_values

LONGEST = 300
"""The most moves of one hand."""

MOST_BYTES = 64 << 20
"""The most bytes of all lines together."""

MOST_SIZE = 0xFFFF
"""The largest size limit of a move: the referee takes two bytes."""

UNWRITABLE = "lists nested too deep: no case can hold it"

MOST_AMOUNT = (1 << 64) - 1
"""Mojos in the largest coin."""


class Ending(Enum):
    """The division of the money by the last move of a hand."""

    ALL = "the last mover takes all"
    SHARED = "both players are paid"
    NOTHING = "the opponent takes all"


@dataclass(frozen=True, slots=True)
class WrongMove:
    """The first move on which program and driver differ: its place, the difference, its case."""

    place: str
    difference: str
    case: Case


@dataclass
class Recording:
    """The lines of recorded hands, each different line once.

    `endings` counts the hands that a move ended, by its validator; `stopped` counts those that
    the driver left before their end.
    """

    hands: int = 0
    cases: list[Case] = field(default_factory=list)
    endings: Counter[tuple[str, Ending]] = field(default_factory=Counter)
    stopped: int = 0
    wrong: WrongMove | None = None

    def unseen_endings(self) -> Iterator[tuple[str, Ending]]:
        """The endings that no recorded hand had, of the validators that ended any."""
        for validator in dict.fromkeys(name for name, _ in self.endings):
            for ending in Ending:
                if (validator, ending) not in self.endings:
                    yield validator, ending


@dataclass(frozen=True, slots=True)
class _Coin:
    """The game coin on which a driver moves next."""

    validator: str
    state: Value
    max_move_size: int
    amount: int


def record(
    target: Target,
    hand: Callable[[Chance], Hand],
    driver: Path,
    hands: int,
    seed: str,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Recording:
    """Play this many hands of a driver on a target's programs, up to the first wrong move.

    Raises `UsageError` where the driver fails, or yields what is no move.
    """
    recording = Recording()
    known: set[bytes] = set()
    size = 0
    for number in range(1, hands + 1):
        chance = Chance(derive(seed.encode(), "hand", number))
        for case, wrong in _Player(target, driver, number, recording).play(hand, chance):
            line = msgspec.json.encode(msgspec.structs.replace(case, id=""))
            if wrong is not None:
                recording.wrong = wrong
                return recording
            if line not in known:
                known.add(line)
                size += len(line)
                recording.cases.append(case)
            if size > MOST_BYTES:
                raise UsageError(
                    f"{driver}: hand {number}: more than {MOST_BYTES >> 20} MB are recorded;"
                    " play fewer --hands"
                )
        recording.hands = number
        on_progress(number, hands)
    return recording


@dataclass(frozen=True)
class _Player:
    """Plays one hand of a driver, the hand's number from 1."""

    target: Target
    driver: Path
    number: int
    found: Recording

    def play(
        self, hand: Callable[[Chance], Hand], chance: Chance
    ) -> Iterator[tuple[Case, WrongMove | None]]:
        """The case of each move, with what is wrong about the last one, if anything is."""
        running, first = self._begun(hand, chance)
        start = self._start(first)
        coin: _Coin | None = start
        sent: Value | None = None
        last: tuple[str, Move] | None = None
        move_number = 0
        while (step := self._next(running, move_number, sent)) is not None:
            move_number += 1
            place = f"hand {self.number}, move {move_number}"
            if coin is None:
                raise self._error(place, "the hand is over, and the driver moves on")
            if move_number > LONGEST:
                raise self._error(place, f"more than {LONGEST} moves in one hand")
            place = f"{place} ({coin.validator})"
            case, following, difference = self._judged(coin, step, place, move_number)
            yield case, WrongMove(place, difference, case) if difference else None
            if difference:
                return
            sent = coin.state
            if step.expect == "valid":
                last, coin = (coin.validator, step), following
                sent = coin.state if coin else None
        if coin is None and last is not None:
            validator, ended = last
            self.found.endings[validator, _ending(ended.share, start.amount)] += 1
        else:
            self.found.stopped += 1

    # --- the driver --------------------------------------------------------------------------

    def _begun(self, hand: Callable[[Chance], Hand], chance: Chance) -> tuple[Hand, object]:
        place = f"hand {self.number}"
        try:
            running = hand(chance)
            return running, next(running)
        except StopIteration:
            raise self._error(place, "yields nothing; first comes its Start") from None
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise UsageError(f"{failure(self.driver, error)} ({place})") from None

    def _next(self, running: Hand, after: int, sent: Value | None) -> Move | None:
        place = f"hand {self.number}, move {after + 1}"
        try:
            step = running.send(sent) if _takes_states(running) else next(running)
        except StopIteration:
            return None
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise UsageError(f"{failure(self.driver, error)} ({place})") from None
        if not isinstance(step, Move):
            raise self._error(place, f"a {type(step).__name__}, not a Move")
        return step

    def _start(self, first: object) -> _Coin:
        place = f"hand {self.number}, its Start"
        if not isinstance(first, Start):
            raise self._error(place, f"a {type(first).__name__}, not a Start")
        if first.validator not in self.target.programs:
            near = nearest_or_all(str(first.validator), self.target.programs)
            raise self._error(place, f"no program {quoted(str(first.validator))}{near}")
        self._check(place, "amount", first.amount, 1, MOST_AMOUNT)
        self._check(place, "max_move_size", first.max_move_size, 0, MOST_SIZE)
        state = self._value(place, "state", first.state)
        return _Coin(first.validator, state, first.max_move_size, first.amount)

    def _value(self, place: str, name: str, data: object) -> Value:
        """Plain data as a value that a case can hold."""
        try:
            value = to_value(data, self.target.hashes)
        except NotPlain as error:
            raise self._error(place, f"{name}: {error}") from None
        if self._described(value) is None:
            raise self._error(place, f"{name}: {UNWRITABLE}")
        return value

    def _described(self, value: Value) -> object | None:
        """The value as a case holds it; None where it cannot."""
        try:
            return described_value(value, self.target)
        except RecursionError:
            return None

    def _check(self, place: str, name: str, number: object, least: int, most: int) -> None:
        if type(number) is not int or not least <= number <= most:
            raise self._error(
                place, f"{name}: {number!r:.40} is not a number from {least:,} to {most:,}"
            )

    def _error(self, place: str, what: str) -> UsageError:
        return UsageError(f"{self.driver}: {place}: {printable(what)}")

    # --- the program -------------------------------------------------------------------------

    def _judged(
        self, coin: _Coin, step: Move, place: str, number: int
    ) -> tuple[Case, _Coin | None, str]:
        """The case of a move, the coin that it makes, and how the program differs, if it does."""
        move = int_to_atom(step.move) if type(step.move) is int else step.move
        if not isinstance(move, bytes):
            raise self._error(place, f"move: a {type(step.move).__name__}, not bytes or a number")
        self._check(place, "share", step.share, 0, coin.amount)
        if len(move) > coin.max_move_size:
            sizes = f"{counted(len(move), 'byte')}, at most {coin.max_move_size} are allowed"
            raise self._error(place, f"move: {sizes}")
        if step.expect not in ("valid", "slash", "raise"):
            raise self._error(place, f"expect: {step.expect!r:.40} is not valid, slash or raise")
        if not isinstance(step.signature, bytes) or len(step.signature) not in (0, SIGNATURE_SIZE):
            raise self._error(place, f"signature: not {SIGNATURE_SIZE} bytes")
        evidence = self._value(place, "evidence", step.evidence)
        case = Case(
            id=f"hand-{self.number:04}-{number:03}",
            tag="honest" if step.expect == "valid" else "illegal",
            game=self.target.name,
            validator=coin.validator,
            amount=coin.amount,
            mover_share=step.share,
            max_move_size=coin.max_move_size,
            move=move.hex(),
            state=self._described(coin.state),
            evidence=self._described(evidence),
            expect=step.expect,
            signature=step.signature.hex(),
        )
        outcome = self._run(case)
        conditions = program_conditions(outcome.value) if isinstance(outcome, ProgramValid) else ()
        said = "slash" if met(conditions, step.signature) else outcome_word(outcome)
        if said != step.expect:
            return case, None, f"the program says {said}, the driver {step.expect}"
        if not isinstance(outcome, ProgramValid):
            return case, None, ""
        without = msgspec.structs.replace(case, evidence=0)
        if said == "valid" and evidence != NIL and outcome_word(self._run(without)) == "slash":
            return case, None, "the program slashes it with the evidence ()"
        following, difference = self._following(coin, outcome.value)
        if said == "valid" and conditions and not difference:
            difference = "the program asks for extra conditions, so the move may be slashed"
        if difference:
            return case, None, difference
        return self._completed(case, following, conditions), following, ""

    def _completed(
        self, case: Case, following: _Coin | None, conditions: tuple[Value, ...]
    ) -> Case:
        """The case of a move to which the program gives a record, perhaps under conditions."""
        if following is not None:
            state = self._described(following.state)
            record = NextRecord(following.validator, state, following.max_move_size)
            case = msgspec.structs.replace(case, next=record)
        if conditions:
            described = [self._described(condition) for condition in conditions]
            case = msgspec.structs.replace(case, expect="valid", conditions=described)
        return case

    def _run(self, case: Case) -> Outcome:
        check_values(case)
        program = self.target.programs[case.validator].serialized
        return run_serialized(program, arguments(case, self.target.name, self.target.programs))

    def _following(self, coin: _Coin, result: Value) -> tuple[_Coin | None, str]:
        """The coin that a program's result leads to, None for the end; or what is wrong with it."""
        try:
            items = from_list(result)
        except NotAList:
            return None, "the program returns no list"
        items += [NIL] * (3 - len(items))
        program, state, size = items[:3]
        if len(items) > 3 + MOST_CONDITIONS or None in map(self._described, items[3:]):
            return None, "the program asks for conditions that no case can hold"
        if program == NIL:
            return None, ""
        names = [name for name, known in self.target.hashes.items() if known == program]
        if not names:
            return None, "the program leads to none of the target's programs"
        if not isinstance(size, bytes) or not _is_size(size):
            return None, f"the program's size limit is not a number from 0 to {MOST_SIZE:,}"
        if self._described(state) is None:
            return None, f"the next state has {UNWRITABLE}"
        return replace(coin, validator=names[0], state=state, max_move_size=atom_to_int(size)), ""


def _takes_states(running: Hand) -> bool:
    """True if a hand can be sent a state: a plain iterator, or one behind `yield from`, cannot."""
    inner = getattr(running, "gi_yieldfrom", None)
    return all(hasattr(record, "send") for record in (running, inner) if record is not None)


def _is_size(atom: bytes) -> bool:
    return is_minimal(atom) and 0 <= atom_to_int(atom) <= MOST_SIZE


def _ending(share: int, amount: int) -> Ending:
    """`share` is what the last move leaves its opponent."""
    if share == 0:
        return Ending.ALL
    return Ending.NOTHING if share == amount else Ending.SHARED
