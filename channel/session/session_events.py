"""What a session tells whoever listens: a closed union, in the order in which it happens.

The small ones (bytes sent, bundles pushed, blocks) are what a transcript records; the large
ones (a hand's steps and results) are what a person follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from channel.chain.coins import Bundle, Coin
from channel.chain.interface import PushResult
from channel.peer.interface import News
from games.contract import Action, Hand, Seat


@dataclass(frozen=True, slots=True)
class Sent:
    """A message went from one peer to the other."""

    sender: str
    message: bytes


@dataclass(frozen=True, slots=True)
class Pushed:
    """A peer offered a bundle to the node."""

    by: str
    what: str
    bundle: Bundle
    result: PushResult


@dataclass(frozen=True, slots=True)
class BlockMade:
    """The chain has a new tip."""

    height: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A player decided, where there was something to decide."""

    player: str
    game_id: int
    action: Action


@dataclass(frozen=True, slots=True)
class Answered:
    """A player was offered another hand, and answered."""

    player: str
    number: int
    accepts: bool


@dataclass(frozen=True, slots=True)
class NewsFor:
    """A peer told its player something."""

    player: str
    news: News


@dataclass(frozen=True, slots=True)
class ChannelFunded:
    """The channel is open: its coin, and what each peer put in."""

    coin: Coin
    height: int
    balances: tuple[int, int]


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand begins; `proposer` offered it, and the hand's names say who is Alice in it."""

    number: int
    game: str
    game_id: int
    proposer: str
    hand: Hand


@dataclass(frozen=True, slots=True)
class StepMade:
    """The hand has one more step."""

    game: str
    hand: Hand


@dataclass(frozen=True, slots=True)
class HandEnded:
    """The hand is settled; `balances` by peer, the initiator's first."""

    number: int
    game: str
    hand: Hand
    balances: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoMoreHands:
    """The hands are over, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The channel is closed: the reward coins on chain, by peer (None: nothing to pay)."""

    rewards: tuple[Coin | None, Coin | None]
    height: int


Told: TypeAlias = (
    Sent
    | Pushed
    | BlockMade
    | Decided
    | Answered
    | NewsFor
    | ChannelFunded
    | HandStarted
    | StepMade
    | HandEnded
    | NoMoreHands
    | Closed
)


class Listener(Protocol):
    """Whoever follows a session."""

    def __call__(self, told: Told, /) -> None:
        """Take note."""
        ...


def viewer_seat(hand: Hand, viewer: str | None) -> Seat | None:
    """The seat of the person who watches; None for one who sees all there is."""
    return None if viewer is None else Seat(hand.names.index(viewer))
