"""What adversaries of the chain have in common: they go there, and see their game coins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from channel.adversaries.base import Adversary
from channel.chain.observations import Block, CoinSeen
from channel.peer.interface import Effect, GoOnChain
from channel.peer.onchain.tracked_coins import TrackedCoin


class OnChain(Adversary):
    """Goes on chain from its step on, and deviates there.

    `needs_game`: what it does is done to game coins, so it goes once a game is live.
    """

    at_once = False
    needs_game: ClassVar[bool] = True

    def act(self) -> list[Effect]:
        """Go there, as soon as that can be."""
        if self.peer._dispute is not None or self.peer._play is None:
            return []
        if self.needs_game and not self.peer.play.newest.state.games:
            return []
        return self.command(GoOnChain("it wants to")) or []

    def block(self, block: Block) -> list[Effect]:
        """Deviate, with every block."""
        if not self.due or self.peer._dispute is None:
            return []
        return self.cheat(block)

    def cheat(self, block: Block) -> list[Effect]:
        """What it does with this block."""
        return []

    def tips(self, block: Block) -> Iterator[tuple[TrackedCoin, int]]:
        """The unspent game coins, and how many blocks old they are."""
        for spot, now in self.spots(block):
            if now.spent is None:
                yield spot, block.peak - now.born

    def spots(self, block: Block) -> Iterator[tuple[TrackedCoin, CoinSeen]]:
        """All game coins that are there, spent or not."""
        dispute = self.peer._dispute
        seen = {one.coin.id: one for one in block.coins}
        for spot in dispute.judged.values() if dispute else ():
            if spot.coin.id in seen:
                yield spot, seen[spot.coin.id]


def ripe(age: int, timeout: int) -> bool:
    """Whether a coin so many blocks old is worth a try at its timeout: fresh, or about to be."""
    return age < 2 or age >= timeout - 2
