"""One block as a dispute sees it: our coins in it, and the way that each game went.

Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.onchain.dispute_state import Dispute
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin, advance
from channelsim.channel.protocol.spend_parsing import GameSpend, MovedTo, game_spend
from channelsim.channel.protocol.state import LiveGame, Side
from channelsim.games.referee import GameCoin


@dataclass(frozen=True, slots=True)
class ChainView:
    """The basis of decisions on chain: a block's coins, our signed games, and our decisions so far.

    `decided` is what we do where it was ours to choose: a move, or None for no move. It goes by
    the coin's fields, not by its id: in the same position we do the same again, whichever block
    the position came back in. `tracked` are the game coins that we have judged, by coin id.
    """

    endpoint: Endpoint
    signed_games: SignedGames
    decided: Mapping[GameCoin, LiveGame | None]
    tracked: Mapping[bytes, TrackedCoin]
    coins: Mapping[bytes, CoinSeen]
    peak: int

    @classmethod
    def of(cls, dispute: Dispute, block: Block) -> ChainView:
        """The view of a block in this dispute."""
        coins = {seen.coin.id: seen for seen in block.coins}
        return cls(
            dispute.endpoint,
            dispute.signed_games,
            dispute.decided,
            dispute.tracked,
            coins,
            block.peak,
        )

    @property
    def side(self) -> Side:
        """Our side."""
        return self.endpoint.side

    def seen(self, coin: Coin) -> CoinSeen | None:
        """The coin as the block has it."""
        return self.coins.get(coin.id)

    def our_move(self, game: LiveGame) -> LiveGame | None:
        """The game after the move that we made, or mean to make, at this coin."""
        return self.signed_games.sent_from(game) or self.decided.get(game.coin)

    def deep(self, height: int) -> bool:
        """Whether this height is at confirmation depth."""
        return self.peak - height >= self.endpoint.confirmations


@dataclass(frozen=True, slots=True)
class Track:
    """The coins of one game, oldest first, each as the block has it.

    `seen` of the last coin is None while the block does not have it. `end` is how the last coin
    was spent, and None while the node does not say. `lost`: it was spent in a way that no
    referee lets through.
    """

    coins: tuple[TrackedCoin, ...]
    seen: tuple[CoinSeen | None, ...]
    end: GameSpend | None = None
    lost: bool = False

    @property
    def tip(self) -> TrackedCoin:
        """The last coin."""
        return self.coins[-1]

    @property
    def tip_seen(self) -> CoinSeen | None:
        """The last coin as the block has it."""
        return self.seen[-1]


def follow(view: ChainView, start: TrackedCoin) -> Track:
    """Follow a game from a coin of it to the last one."""
    coins, seen = [start], [view.seen(start.coin)]
    while True:
        tracked, now = coins[-1], seen[-1]
        if now is None or now.spent is None or now.solution is None:
            return Track(tuple(coins), tuple(seen))
        end = game_spend(tracked.game.coin, now.solution)
        if not isinstance(end, MovedTo):
            return Track(tuple(coins), tuple(seen), end, lost=end is None)
        child = tracked.child(end.coin)
        reached = view.tracked.get(child.id) or advance(
            view.endpoint, tracked, end.coin, view.our_move(tracked.game)
        )
        coins.append(reached)
        seen.append(view.seen(child))
