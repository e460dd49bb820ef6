"""Events of a session, in order: a closed union.

Transcripts record messages, bundles, blocks and decisions; people follow hands, steps and payouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.peer.interface import Effect, Event, News
from channelsim.games.contract import Action, Hand, Seat


@dataclass(frozen=True, slots=True)
class Handled:
    """A peer reacted to an event (None: its start) with effects, which are carried out next."""

    peer: str
    event: Event | None
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A peer sent a message to the other."""

    sender: str
    message: bytes


@dataclass(frozen=True, slots=True)
class Pushed:
    """A peer offered a bundle to the node."""

    by: str
    name: str
    bundle: Bundle
    result: PushResult


@dataclass(frozen=True, slots=True)
class BlockMade:
    """The chain has a new tip."""

    height: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A player chose an action."""

    player: str
    game_id: int
    action: Action


@dataclass(frozen=True, slots=True)
class Answered:
    """A player accepted or declined another hand."""

    player: str
    number: int
    accepts: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """The dealer named the game of a hand, with its betting structure or None for the usual one;
    `game` is None if it wants no more hands."""

    player: str
    number: int
    game: str | None
    limit: str | None


@dataclass(frozen=True, slots=True)
class NewsFor:
    """A peer has news for its player."""

    player: str
    news: News


@dataclass(frozen=True, slots=True)
class ChannelFunded:
    """The channel is open; `balances` in mojos, the initiator's first."""

    coin: Coin
    height: int
    balances: tuple[int, int]


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand began: `proposer` offered it, and the first of the hand's names is its Alice."""

    number: int
    game: str
    game_id: int
    proposer: str
    hand: Hand


@dataclass(frozen=True, slots=True)
class StepMade:
    """A player made a step; `hand` includes it."""

    game: str
    hand: Hand


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand was settled; `balances` in mojos, the initiator's first."""

    number: int
    game: str
    hand: Hand
    balances: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoMoreHands:
    """No further hand is played, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The channel is closed; the reward coins, the initiator's first (None: nothing to pay)."""

    rewards: tuple[Coin | None, Coin | None]
    height: int


SessionEvent: TypeAlias = (
    Handled
    | Sent
    | Pushed
    | BlockMade
    | Decided
    | Answered
    | Chosen
    | NewsFor
    | ChannelFunded
    | HandStarted
    | StepMade
    | HandEnded
    | NoMoreHands
    | Closed
)


class Listener(Protocol):
    """Receives every event of a session."""

    def __call__(self, event: SessionEvent, /) -> None:
        """Take one event."""
        ...


def viewer_seat(hand: Hand, viewer: str | None) -> Seat | None:
    """Find the viewer's seat; None for a viewer who sees both sides."""
    return None if viewer is None else Seat(hand.names.index(viewer))
