"""Timeouts that pay everything to itself, and slashes of its own moves."""

from __future__ import annotations

from channel.adversaries.base import register
from channel.adversaries.onchain_base import OnChain, ripe
from channel.chain.coins import Bundle, Spend
from channel.chain.observations import Block
from channel.crypto import bls
from channel.peer.interface import Effect, Push
from clsp.values import serialize, to_list
from games.referee import timeout_solution


@register
class PayoutThief(OnChain):
    """It claims with its own address on both sides, and before the time."""

    name = "payout-thief"
    about = "claims the other side's share too, and too early"

    def cheat(self, block: Block) -> list[Effect]:
        """Every game coin, in every way."""
        effects: list[Effect] = []
        channel, side = self._channel(), self.peer.config.side
        own, other = channel.rewards[side], channel.rewards[side.other]
        for spot, age in self.tips(block):
            if not ripe(age, spot.game.coin.timeout):
                continue
            self.done = True
            coin = spot.game.coin
            puzzle = coin.puzzle().serialized
            signatures = [channel.payout_signatures[side]] * 2
            for addresses in ((own, own), (own, other), (other, own)):
                solution = serialize(timeout_solution(coin, *addresses))
                spend = Spend(spot.coin, puzzle, solution)
                effects.append(Push("theft", Bundle((spend,), bls.add(*signatures))))
            slash = serialize(to_list((b"", (b"\x01", b""), b"", own)))
            bundle = Bundle((Spend(spot.coin, puzzle, slash),), signatures[0])
            effects.append(Push("theft", bundle))
        return effects
