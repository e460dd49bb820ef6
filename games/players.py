"""The two seats of a game: what they agree to play, where the game stands, what each can do.

Roles are the specification's: **Alice** makes the first move of a game and **Bob** the
second. The proposal of a game says which peer is Alice in it. All money is in mojos.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeAlias

import msgspec

from channelsim.clsp.values import NIL, Value
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.choices import Action, Choice
from channelsim.games.evidence import Candidate
from channelsim.games.verdicts import State
from channelsim.plugins import wrong_answer

Parameters: TypeAlias = Mapping[str, int]
"""The parameters of a proposed game, by name; `Game.terms` checks them."""


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


class Initial(msgspec.Struct, frozen=True):
    """The first game coin, before the first move (MOVE is empty; Alice is its mover)."""

    validator: str
    state: State
    max_move_size: int
    mover_share: int

    @property
    def position(self) -> Position:
        """The position of the first coin."""
        return Position(
            self.validator, self.state, Seat.ALICE, self.mover_share, self.max_move_size
        )


@dataclass(frozen=True, slots=True)
class SharedDeck:
    """What both players know of the prepared deck of one hand.

    `locks` are the points D, K, L of each position that the hand uses: the locked card, and what
    opens the locks of the channel's initiator and receiver. `initiator` is the initiator's seat.
    """

    deck_id: bytes
    locks: tuple[tuple[bytes, bytes, bytes], ...]
    initiator: Seat


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms that both players agree on: money and the game's own parameters.

    `amount` is the sum of both stakes; `stakes` are by seat. People write amounts in units of
    `unit` mojos (a bet unit); 1 for a game without units. `parameters` are those of the
    proposal. `deck` is filled in by whoever deals, for a game that is played with one.
    """

    game: str
    amount: int
    stakes: tuple[int, int]
    unit: int
    parameters: tuple[tuple[str, int], ...]
    deck: SharedDeck | None = None


class Position(msgspec.Struct, frozen=True):
    """A game coin as the rules see it.

    `validator` judges the next move, which `mover` makes in `state`; `validator` and `state` are
    None once the game is over. `move` is the last move, made by the waiter (empty at first).
    `mover_share` is what the mover is paid if the coin times out here.
    """

    validator: str | None
    state: State | None
    mover: Seat
    mover_share: int
    max_move_size: int
    move: bytes = b""

    @property
    def over(self) -> bool:
        """True if the last move ended the game, so that only the settlement is left."""
        return self.validator is None


class Play(msgspec.Struct, frozen=True):
    """A move to send: its bytes and the share that it declares for the opponent.

    `evidence` is the best evidence that the opponent can have. The sender runs the validator
    with it before it sends, and takes the next state from that run. `memory` is what the player
    hides by this decision, and needs later: it is given back by `remembered`.
    """

    move: bytes
    share: int
    evidence: Value = NIL
    memory: bytes = b""


class Settle(msgspec.Struct, frozen=True):
    """Fold, or accept the result: the mover is paid its share, the waiter the rest."""


class Player(Protocol):
    """Logic and knowledge of one seat in one game. Immutable: new knowledge makes a new player."""

    @property
    def seat(self) -> Seat:
        """The role of this player."""
        ...

    @property
    def position(self) -> Position:
        """The position after the last move."""
        ...

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices: none when it is the opponent's turn."""
        ...

    def act(self, action: Action) -> Play | Settle:
        """The move or settlement that takes an action. Raises `IllegalAction` with the reason."""
        ...

    def moved(self, position: Position) -> Player:
        """The player after a legal move of either seat, which led to `position`."""
        ...

    def evidence(self, before: Position, move: bytes) -> tuple[Candidate, ...]:
        """Evidence to try against the opponent's `move`, made at `before`, besides `()`.

        A plain value, or an `Evidence` whose signature meets the validator's extra conditions.
        """
        ...

    def advisory(self) -> bytes | None:
        """What the next move reveals anyway, for the opponent to see now; None for nothing."""
        ...

    def advised(self, data: bytes) -> Player:
        """The player after the opponent's early reveal. Raises `BadAdvisory` if it is wrong."""
        ...


class RememberingPlayer(Player, Protocol):
    """A player with a play that has a memory (`Play.memory`). Others need no `remembered`."""

    def remembered(self, memory: bytes) -> Player:
        """The player after its own move with this memory, which `moved` has just given it.

        Also after a restart: a peer stores the memory of each move.
        """
        ...


class Policy(Protocol):
    """A way to play: an action out of `player.choices()`; not asked when there are none."""

    def __call__(self, player: Player, chance: Chance, /) -> Action:
        """Choose an action; `chance` is the only source of randomness."""
        ...


def player_after(player: Player, position: Position, memory: bytes = b"") -> Player:
    """The player after a legal move that led to `position`.

    `memory` is that of its own move (`Play.memory`); empty for the opponent's.
    """
    moved = player.moved(position)
    if not memory:
        return moved
    remembered: Callable[[bytes], Player] | None = getattr(moved, "remembered", None)
    if remembered is None:
        seat = player.seat.name.capitalize()
        raise wrong_answer(
            type(player), memory, f"the memory of {seat}'s play, which has no method `remembered`"
        )
    return remembered(memory)


def check_entropy(entropy: bytes, size: int) -> None:
    """Raise ValueError for too few secret bytes."""
    if len(entropy) < size:
        raise ValueError(f"entropy: {counted(len(entropy), 'byte')}, at least {size} are needed")
