"""What adversaries of the chain have in common: they go there, and see their game coins."""

from __future__ import annotations

from collections.abc import Iterator

from channel.adversaries.base import Adversary
from channel.errors import UsageError
from channel.events import Block, Effect, GoOnChain
from channel.onchain.spots import Spot


class OnChain(Adversary):
    """Goes on chain at its step, and deviates there."""

    at_once = False

    def block(self, block: Block) -> list[Effect]:
        """Go there; then deviate, with every block."""
        effects: list[Effect] = []
        if self.due and self.peer._dispute is None:
            try:
                effects += self.handle(GoOnChain("it wants to"))
            except UsageError:
                return []
        if self.due and self.peer._dispute is not None:
            effects += self.cheat(block)
        return effects

    def cheat(self, block: Block) -> list[Effect]:
        """What it does with this block."""
        return []

    def tips(self, block: Block) -> Iterator[tuple[Spot, int]]:
        """The unspent game coins, and how many blocks old they are."""
        dispute = self.peer._dispute
        seen = {one.coin.id: one for one in block.coins}
        for spot in dispute.judged.values() if dispute else ():
            now = seen.get(spot.coin.id)
            if now is not None and now.spent is None:
                yield spot, block.peak - now.born
