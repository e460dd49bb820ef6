"""What one side brings into a dispute, and what it remembers from one look to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from channel.chain.coins import Bundle, Coin
from channel.chain.observations import Block
from channel.peer.chain_news import Fact
from channel.peer.endpoint import Endpoint
from channel.peer.onchain.fees import Fees
from channel.peer.onchain.signed_games import SignedGames
from channel.peer.onchain.tracked_coins import TrackedCoin
from channel.peer.shutdown import CleanShutdown
from channel.peer.slashable import SlashableMove
from channel.protocol.half_signed import Signed
from channel.protocol.state import ChannelState, LiveGame
from games.contract import Player
from games.referee import GameCoin


class Status(Enum):
    """Where a dispute stands."""

    OPEN = "under way"
    UNFUNDED = "without a channel coin, past its deadline"
    SHUT = "ended by the shutdown"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Offer:
    """All that is due in one bundle, with its parts, and the fee in mojos that it pays."""

    bundle: Bundle
    parts: tuple[Bundle, ...]
    fee: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """A channel on chain, as one side sees it. Immutable: a look gives a new one.

    `newest` is F, what we can complete; the newest of `records` is S, what the other side may.
    `faults` are the illegal last moves of F, by game. `funding` is what made a channel coin
    that was deep once, in case that it has to be made again by its `deadline`; `ending` is a
    shutdown whose half is out; `began` the height at which we went on chain.

    The rest is memory: what was told and not taken back; which coins are watched; what we
    decided at which game coin; the coins of moves that were judged, and those that wait for
    the player; the coin that pays the next fee, the change of all fees that we offered, and
    what was offered last; the last picture.
    """

    endpoint: Endpoint
    newest: Signed
    records: SignedGames
    faults: Mapping[int, SlashableMove]
    players: tuple[tuple[int, Player], ...]
    deadline: int
    funding: Bundle | None
    began: int
    ending: CleanShutdown | None = None
    fees: Fees | None = None
    status: Status = Status.OPEN
    told: tuple[Fact, ...] = ()
    watched: frozenset[Coin] = frozenset()
    decided: Mapping[GameCoin, LiveGame | None] = field(default_factory=dict)
    warned: frozenset[bytes] = frozenset()
    judged: Mapping[bytes, TrackedCoin] = field(default_factory=dict)
    waiting: Mapping[int, TrackedCoin] = field(default_factory=dict)
    purse: Coin | None = None
    changes: frozenset[Coin] = frozenset()
    offer: Offer | None = None
    picture: Block = field(default=Block(0))

    @property
    def sent(self) -> ChannelState:
        """S: the newest state that the other side may be able to complete, or F."""
        return self.records.past.state
