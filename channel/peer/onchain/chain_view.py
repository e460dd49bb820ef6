"""One block, as a dispute sees it.

Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.onchain.dispute_state import Dispute
from channelsim.channel.protocol.state import LiveGame, Side
from channelsim.games.referee import GameCoin


class ChainView(msgspec.Struct, frozen=True):
    """The basis of decisions on chain: the dispute before a block, and the coins of the block.

    `decided` is that of the dispute, with what has been decided in this block.
    """

    dispute: Dispute
    decided: Mapping[GameCoin, LiveGame | None]
    coins: Mapping[Coin, CoinSeen]
    peak: int

    @classmethod
    def of(cls, dispute: Dispute, block: Block) -> ChainView:
        """The view of a block in this dispute."""
        coins = {seen.coin: seen for seen in block.coins}
        return cls(dispute, dispute.decided, coins, block.peak)

    @property
    def endpoint(self) -> Endpoint:
        """Our side of the channel."""
        return self.dispute.endpoint

    @property
    def side(self) -> Side:
        """Our side."""
        return self.endpoint.side

    def seen(self, coin: Coin) -> CoinSeen | None:
        """The coin as the block has it."""
        return self.coins.get(coin)

    def children(self, coin: Coin) -> tuple[Coin, ...]:
        """The coins of the block that this coin created: all, if the node hides its solution."""
        return tuple(child for child in self.coins if child.parent == coin.id)

    def our_move(self, game: LiveGame) -> LiveGame | None:
        """The game after the move that we made, or mean to make, at this coin."""
        return self.dispute.signed_games.sent_from(game) or self.decided.get(game.coin)

    def deep(self, height: int) -> bool:
        """True if this height is at confirmation depth."""
        return self.peak - height >= self.endpoint.confirmations
