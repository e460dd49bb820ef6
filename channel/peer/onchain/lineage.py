"""Coins of a channel on chain: game coins with our seats, and the lineage that a block shows.

The lineage are the coins that the channel's money went through, from its coin to each game's last.
"""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import Fact
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.slashable import SlashableMove, slashable_move
from channelsim.channel.protocol.spend_parsing import Slashed, TimedOut
from channelsim.channel.protocol.state import ChannelState, LiveGame
from channelsim.games import registry
from channelsim.games.contract import Player
from channelsim.games.judge import hashes_of, judge_move
from channelsim.games.players import player_after
from channelsim.games.referee import GameCoin


class TrackedCoin(msgspec.Struct, frozen=True):
    """A game coin, and our seat in the game as of it.

    `player` is None after an illegal move: no rules say how the game goes on. `slashable` is the
    move that made the coin, if it is illegal and we can slash it. `first`: the unroll coin made
    it, so that no reorganisation can change the move before it. `runs` and `disagreements` are of
    the judging of the move, as in `Moved`.
    """

    game: LiveGame
    coin: Coin
    player: Player | None
    slashable: SlashableMove | None = None
    first: bool = False
    runs: int = 0
    disagreements: tuple[str, ...] = ()

    def child(self, coin: GameCoin) -> Coin:
        """The coin that a move to this game coin makes."""
        return Coin(self.coin.id, coin.puzzle_hash(), coin.amount)


def advance(
    endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, known: LiveGame | None
) -> TrackedCoin:
    """The coin after a move on chain; `known` is our own move at this coin, if we made one."""
    child = tracked.child(after)
    if known is not None and known.coin == after:
        player = tracked.player
        if player is not None:
            player = player_after(player, known.position, known.memory)
        return TrackedCoin(known, child, player)
    return _judged(endpoint, tracked, after, child)


def _judged(endpoint: Endpoint, tracked: TrackedCoin, after: GameCoin, child: Coin) -> TrackedCoin:
    game, before, player = tracked.game, tracked.game.position, tracked.player
    if before.over:
        return TrackedCoin(game.after(after, None), child, None)
    candidates = player.evidence(before, after.move) if player else ()
    rules = registry.get(game.terms.game)
    ruling = judge_move(rules, hashes_of(rules), before, after, candidates)
    reached = game.after(after, ruling.next)
    slashable = None
    if not ruling.legal:
        slashable, player = slashable_move(endpoint, reached, ruling), None
    return TrackedCoin(
        reached,
        child,
        player.moved(reached.position) if player else None,
        slashable,
        runs=ruling.runs,
        disagreements=ruling.disagreements,
    )


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
