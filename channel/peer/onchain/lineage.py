"""Lineage of a channel: the coins that its money went through, as a block shows them."""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import Fact
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.protocol.spend_parsing import Slashed, TimedOut
from channelsim.channel.protocol.state import ChannelState


class Track(msgspec.Struct, frozen=True):
    """The coins of one game, oldest first, each as the block has it.

    `seen` of the last coin is None while the block does not have it. `facts` are the moves, and
    `end` is how the last coin was spent: None while it is not, while the node does not say, and
    if no referee lets that spend through (`lost`).
    """

    coins: tuple[TrackedCoin, ...]
    seen: tuple[CoinSeen | None, ...]
    facts: tuple[Fact, ...]
    end: TimedOut | Slashed | None = None
    lost: bool = False

    @property
    def tip(self) -> TrackedCoin:
        """The last coin."""
        return self.coins[-1]

    @property
    def tip_seen(self) -> CoinSeen | None:
        """The last coin as the block has it."""
        return self.seen[-1]

    @property
    def hidden(self) -> bool:
        """True if the last coin was spent, and the node does not say how."""
        seen = self.tip_seen
        return seen is not None and seen.spent is not None and self.end is None and not self.lost


class Lineage(msgspec.Struct, frozen=True):
    """The coins from the channel coin to the last coin of each game.

    It depends on the coins of a block alone, and not on its height.

    `channel` and `unroll` are the channel coin and the unroll coin as the block has them.
    `published` is the state of the unroll coin, `counts` the one that it was spent to, and
    `tracks` are the games of that state. `shut`: our shutdown spent the channel coin.
    `coins` are those to watch, `facts` those before any move, and `complete`: the node hid nothing
    that we have to know.
    """

    channel: CoinSeen | None
    coins: tuple[Coin, ...] = ()
    facts: tuple[Fact, ...] = ()
    shut: bool = False
    published: ChannelState | None = None
    unroll: CoinSeen | None = None
    counts: ChannelState | None = None
    tracks: tuple[Track, ...] = ()
    complete: bool = True
