"""One block as a dispute sees it.

Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.onchain.dispute_state import Dispute
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.protocol.state import LiveGame, Side
from channelsim.games.referee import GameCoin


class ChainView(msgspec.Struct, frozen=True):
    """The basis of decisions on chain: a block's coins, our signed games, and our decisions so far.

    `decided` is what we do where it was ours to choose: a move, or None for no move. It goes by
    the coin's fields, not by its id: in the same position we do the same again, whichever block
    the position came back in. `tracked` are the game coins that we have judged.
    """

    endpoint: Endpoint
    signed_games: SignedGames
    decided: Mapping[GameCoin, LiveGame | None]
    tracked: Mapping[Coin, TrackedCoin]
    coins: Mapping[Coin, CoinSeen]
    peak: int

    @classmethod
    def of(cls, dispute: Dispute, block: Block) -> ChainView:
        """The view of a block in this dispute."""
        coins = {seen.coin: seen for seen in block.coins}
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
        return self.coins.get(coin)

    def our_move(self, game: LiveGame) -> LiveGame | None:
        """The game after the move that we made, or mean to make, at this coin."""
        return self.signed_games.sent_from(game) or self.decided.get(game.coin)

    def deep(self, height: int) -> bool:
        """Whether this height is at confirmation depth."""
        return self.peak - height >= self.endpoint.confirmations
