"""A channel on chain as one side sees it, from one block to the next."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.chain_news import Fact
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.onchain.lineage import Lineage
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.peer.slashable import SlashableMove
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import LiveGame
from channelsim.games.contract import Player
from channelsim.games.referee import GameCoin


class Status(Enum):
    """The stage of a dispute."""

    OPEN = "under way"
    UNFUNDED = "without a channel coin, past its deadline"
    SHUT = "ended by the shutdown"
    SETTLED = "settled"


class Dispute(msgspec.Struct, frozen=True):
    """A channel on chain, as one side sees it. Each scan of a block returns a new one.

    What we bring into it: `newest` is F, the newest state that we can complete. `slashable` are
    the illegal last moves of F, by game. `players` are our seats as of the end of play.
    `funding` made a channel coin that was deep once; should a reorganisation take it away, it is
    pushed again until its `deadline`. `began` is the height at which we went on chain.
    `shutdown` is there if our half of it is out. `shown` is the number of a state that we signed
    and do not know: we run on an old copy of our store, and do not publish F, unless our player
    wants that although a newer state may replace it (`publishes_old`).

    What a scan leaves for the next: `block` is the newest block, and `lineage` what its coins
    say. `reported` are the facts that the player knows. `decided` is what we do at a game coin: a
    move, or None for no move. It goes by the coin's fields, not by its id: in the same position we
    do the same again, whichever block the position came back in. `warned` are the coins at which
    the player knows of a risk. `tracked` are all game coins that we have judged, with their seats;
    `undecided` are those that wait for the player, by game.
    """

    endpoint: Endpoint
    newest: SignedState
    signed_games: SignedGames
    slashable: Mapping[int, SlashableMove]
    players: Mapping[int, Player]
    deadline: int
    funding: Bundle | None
    began: int
    shutdown: CleanShutdown | None = None
    shown: int | None = None
    publishes_old: bool = False
    status: Status = Status.OPEN
    reported: tuple[Fact, ...] = ()
    watched: frozenset[Coin] = frozenset()
    decided: Mapping[GameCoin, LiveGame | None] = msgspec.field(default_factory=dict)
    warned: frozenset[bytes] = frozenset()
    tracked: Mapping[Coin, TrackedCoin] = msgspec.field(default_factory=dict)
    undecided: Mapping[int, TrackedCoin] = msgspec.field(default_factory=dict)
    block: Block = Block(0)
    lineage: Lineage | None = None
