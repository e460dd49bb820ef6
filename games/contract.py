"""What a game is: the interface between the rules of a game and everything that plays it.

A game is a chain of *validators*, each judging one kind of move, with a typed state between
them, and the *logic of a player*: what I may do now, what I send for it, what I learn from a
move, which evidence I have. The engine knows a game through this file alone.

Roles are the specification's: **Alice** makes the first move of a game and **Bob** the
second. Which peer of a channel is Alice in a game is a matter of the proposal.

All money is in mojos.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol, TypeAlias

import msgspec

from clsp.programs import Program
from clsp.values import NIL, Value
from games.chance import Chance

Parameters: TypeAlias = Mapping[str, int]
"""What a proposal says of a game, by name; see `Game.terms`."""

Hashes: TypeAlias = Mapping[str, bytes]
"""The tree hash of each validator's program, by the validator's name."""


class Seat(IntEnum):
    """A role in one game: Alice moves first."""

    ALICE = 0
    BOB = 1

    @property
    def other(self) -> Seat:
        """The opponent's seat.

        >>> Seat.ALICE.other is Seat.BOB
        True
        """
        return Seat(1 - self)


# --- what a validator says -----------------------------------------------------------------


class State(Protocol):
    """A validator's state: a frozen struct that knows its CLVM form."""

    def __hash__(self) -> int: ...

    def value(self) -> Value:
        """The state as the CLVM value that is committed to."""
        ...


class Next(msgspec.Struct, frozen=True, gc=False):
    """What a legal move leads to: the next validator, its state, the limit on the next MOVE."""

    validator: str
    state: State
    max_move_size: int


class Valid(msgspec.Struct, frozen=True, gc=False):
    """The move is legal; `next` is None when it ends the game."""

    next: Next | None


class Slash(msgspec.Struct, frozen=True, gc=False):
    """The move breaks the rule with this id: the program returns `()`."""

    rule: str


class Raise(msgspec.Struct, frozen=True, gc=False):
    """The evidence does not fit this rule's shape: the program raises, the slash fails."""

    rule: str


Verdict: TypeAlias = Valid | Slash | Raise


class Judge(Protocol):
    """The rules of one validator, in Python.

    `share` is MOVER_SHARE, what the challenger gets; `amount` is what the coin holds;
    `hashes` are the programs that stand behind the names of this game's validators.
    Never raises for a state of its own type, whatever the other arguments are.
    """

    def __call__(
        self, state: Any, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes, /
    ) -> Verdict:
        """Judge `move`, made in `state`."""
        ...


@dataclass(frozen=True, slots=True)
class Validator:
    """One kind of move: its rules, and how to read its state from a CLVM value.

    `read_state` raises `games.errors.BadState` for a value that no honest play reaches by
    its shape. The same validator as a program is `Game.programs[name]`.
    """

    name: str
    judge: Judge
    read_state: Callable[[Value], State]


# --- where a game stands -------------------------------------------------------------------


class Initial(msgspec.Struct, frozen=True):
    """The first game coin, before anybody moved (MOVE is empty; Alice is its mover)."""

    validator: str
    state: State
    max_move_size: int
    mover_share: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What both players agree to play: money and the game's own parameters.

    `amount` = `stakes[ALICE] + stakes[BOB]`, all in mojos. `unit` is what amounts are
    spoken of in (a bet unit); 1 where a game has none.
    """

    game: str
    amount: int
    stakes: tuple[int, int]
    unit: int
    parameters: tuple[tuple[str, int], ...]


class Position(msgspec.Struct, frozen=True):
    """A game coin as the rules see it.

    `validator` judges the next move, made in `state` by `mover`; both are None once the game
    is over. `move` is what the waiter played to get here (empty at first) and `mover_share`
    what the mover is paid if nothing more happens.
    """

    validator: str | None
    state: State | None
    mover: Seat
    mover_share: int
    max_move_size: int
    move: bytes = b""

    @property
    def over(self) -> bool:
        """Whether the last move ended the game; what is left is to settle."""
        return self.validator is None


# --- what a player does --------------------------------------------------------------------


class Choice(msgspec.Struct, frozen=True):
    """One thing that a player may do now.

    With `most` > 0 it takes a number from `least` to `most`: an amount in mojos, or, where
    `options` lists the numbers that there are, one of these, whose meaning is the game's own;
    `form` says how people write that. A `forced` choice is the only one and needs nobody's
    decision: a commitment, a pong, a reveal.
    """

    verb: str
    least: int = 0
    most: int = 0
    forced: bool = False
    hint: str = ""
    options: tuple[int, ...] = ()
    form: str = ""

    def takes(self, number: int) -> bool:
        """Whether this number may go with the verb; 0 stands for none.

        >>> Choice("raise", 1, 800).takes(900), Choice("check").takes(0)
        (False, True)
        >>> Choice("give", 3, 6, options=(3, 5, 6)).takes(4)
        False
        """
        if self.options:
            return number in self.options
        return self.least <= number <= self.most


class Action(msgspec.Struct, frozen=True):
    """A choice taken: its verb, and the amount in mojos (or the game's own number) if any."""

    verb: str
    amount: int = 0


class Play(msgspec.Struct, frozen=True):
    """A move to send: its bytes and the share that it declares for the opponent.

    `evidence` is what the opponent could hold against the move: the sender runs its own
    validator with it before it sends, and takes the next state from that run.
    """

    move: bytes
    share: int
    evidence: Value = NIL


class Settle(msgspec.Struct, frozen=True):
    """Take the mover share and give up the rest: fold, or accept the result."""


class Player(Protocol):
    """All that one seat knows of one game. Immutable: what learns returns a new player."""

    @property
    def seat(self) -> Seat:
        """Which role this is."""
        ...

    @property
    def position(self) -> Position:
        """Where the game stands, as of the last move."""
        ...

    def choices(self) -> tuple[Choice, ...]:
        """What I may do now: empty when it is not my turn."""
        ...

    def act(self, action: Action) -> Play | Settle:
        """What I send for this action. Raises `IllegalAction` with the reason."""
        ...

    def moved(self, position: Position) -> Player:
        """The player after a move, mine or the opponent's, that was found legal."""
        ...

    def evidence(self, before: Position, move: bytes) -> tuple[Value, ...]:
        """What I can hold against `move`, made by the opponent at `before`, besides `()`."""
        ...

    def advisory(self) -> bytes | None:
        """What I may reveal ahead now, so that the opponent sees its cards sooner."""
        ...

    def advised(self, data: bytes) -> Player:
        """The player after an early reveal. Raises `BadAdvisory` if it does not fit."""
        ...


class Policy(Protocol):
    """A way to play: chooses among what `player.choices()` offers (never called when empty)."""

    def __call__(self, player: Player, chance: Chance, /) -> Action:
        """The action to take, all its randomness from `chance`."""
        ...


# --- how a game is told --------------------------------------------------------------------

Span: TypeAlias = tuple[str, str]
"""Text and its style: "" plain, or words among bold, dim, red, green, yellow, cyan."""

Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a player did: an action, and both seats' knowledge before and after.

    Of a settlement, `after` equals `before`.
    """

    seat: Seat
    action: Action
    before: Position
    after: Position
    players_before: tuple[Player, Player]
    players: tuple[Player, Player]


@dataclass(frozen=True, slots=True)
class Hand:
    """A game as it was played: its terms, the players' names by seat, and the steps so far.

    `payouts` by seat once it is settled.
    """

    terms: Terms
    names: tuple[str, str]
    steps: tuple[Step, ...]
    payouts: tuple[int, int] | None = None


class Story(Protocol):
    """How a game is told to people, and to programs. `viewer` None sees all there is."""

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """The newest step of the hand."""
        ...

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        """How the settled hand ended: hands by name, who won what and by what."""
        ...

    def view(self, player: Player) -> list[Line]:
        """What this seat sees now, for a person who has to decide."""
        ...

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a hand, its streets, each in a word, in the order of play."""
        ...

    def part(self, position: Position) -> str:
        """Which of them a move at this position belongs to."""
        ...

    def summary(self, hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
        """The hand as JSON data, as far as the viewer sees it.

        Keys: `cards`, `actions`, `best_hands`, `result`, `payouts`.
        """
        ...


Benchmark: TypeAlias = Callable[[], Callable[[], int] | None]
"""Prepares a measurement: gives a function that does some work and says how many times.

None where it cannot be done here (a library to compare with is not installed).
"""


# --- a game --------------------------------------------------------------------------------


class Game(Protocol):
    """A game that can be played. One object per game, registered under its name."""

    @property
    def name(self) -> str:
        """The name in commands, proposals and vectors."""
        ...

    @property
    def title(self) -> str:
        """The name for people, and one line about it after a colon."""
        ...

    @property
    def reveals(self) -> bool:
        """Whether some move reveals what its answer depends on (longer timeouts)."""
        ...

    @property
    def entropy_size(self) -> int:
        """The least secret bytes that a player needs."""
        ...

    @property
    def validators(self) -> Mapping[str, Validator]:
        """By name, in the order of play."""
        ...

    @property
    def programs(self) -> Mapping[str, Program]:
        """The compiled validators, by the same names."""
        ...

    @property
    def rules(self) -> Mapping[str, str]:
        """What each rule id says, in one sentence; validators give these ids."""
        ...

    @property
    def policies(self) -> Mapping[str, Policy]:
        """Ways to play, by name."""
        ...

    @property
    def story(self) -> Story:
        """How it is told."""
        ...

    @property
    def benchmarks(self) -> Mapping[str, Benchmark]:
        """What else is worth measuring, by name; each is reported as `<name>_per_second`."""
        ...

    def default_parameters(self, unit: int, stack: int) -> Parameters:
        """Parameters of a game in which each player stakes `stack` units of `unit` mojos."""
        ...

    def terms(self, parameters: Parameters) -> Terms:
        """Check a proposal's parameters. Raises `BadTerms` with the reason."""
        ...

    def initial(self, terms: Terms) -> Initial:
        """The record that both sides build for the first coin."""
        ...

    def player(self, seat: Seat, terms: Terms, entropy: bytes, hashes: Hashes) -> Player:
        """A player at the start of a game.

        `entropy` is at least `entropy_size` secret bytes, used for this game and seat only.
        """
        ...

    def read_action(self, player: Player, text: str) -> Action:
        """An action as people write it (`raise 2`). Raises `IllegalAction` with the reason."""
        ...
