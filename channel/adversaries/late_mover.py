"""Moves at the last moment, and one block to either side of it."""

from __future__ import annotations

from channel.adversaries.base import Plan, register
from channel.adversaries.onchain_base import OnChain
from channel.chain.observations import Block
from channel.peer.interface import Effect, Push
from channel.peer.machine import Peer


class LateMover(OnChain):
    """It holds its moves back until their coins are so old."""

    late = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._held: dict[bytes, Push] = {}

    def push(self, push: Push) -> list[Effect]:
        """Keep moves; all else goes at once."""
        if push.name not in ("move", "redo"):
            return [push]
        self._held[push.bundle.spends[0].coin.id] = push
        return []

    def cheat(self, block: Block) -> list[Effect]:
        """Push what is old enough."""
        effects: list[Effect] = []
        for spot, age in self.tips(block):
            held = self._held.get(spot.coin.id)
            if held is not None and age >= spot.game.coin.timeout + self.late:
                self.done = True
                effects.append(held)
        return effects


@register
class LastBlockButOne(LateMover):
    """A block to spare."""

    name = "late-mover-2"
    about = "moves one block before the last that its move can be in"
    late = -2


@register
class LastBlock(LateMover):
    """The last block that still passes."""

    name = "late-mover-1"
    about = "moves in the last block that its move can be in"
    late = -1


@register
class TooLate(LateMover):
    """One block too late: both can claim by then."""

    name = "late-mover"
    about = "moves one block too late"
    late = 0
