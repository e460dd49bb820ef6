"""Blocks that others fill at a price: both sides then pay fees, or wait."""

from __future__ import annotations

from channelsim.channel.attack.actions import Attack
from channelsim.channel.chain.forwarding import ForwardingChain
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.simulation.crowd import Crowd, CrowdSize

FILL = "fill"
"""The kind of action that lets others fill blocks."""

RATE = 10
"""The mojos per cost that others pay."""

MOST_FEE, MOST_FEES = 10_000_000_000, 200_000_000_000
"""The most that a side pays for a spend, and in all, in mojos: more than the others at any time."""


class FilledChain(ForwardingChain):
    """A chain whose next blocks others fill, whenever it is asked for. It has their coins.

    `left` is how many more blocks they fill.
    """

    def __init__(self, chain: FarmableChain, seed: bytes, most_blocks: int) -> None:
        super().__init__(chain)
        self._crowd = Crowd(chain, derive(seed, "crowd"), CrowdSize(RATE, most_blocks))
        self._crowd.arrive()
        self.left = 0

    def fill(self, blocks: int) -> None:
        """Let others fill so many more blocks, and the mempool meanwhile."""
        self.left += blocks
        self._crowd.fill()

    def farm(self, blocks: int = 1) -> None:
        """Make blocks, full ones where others fill them."""
        for _ in range(blocks):
            if self.left:
                self._crowd.fill()
            self._chain.farm()
            if self.left:
                self.left -= 1
                self._crowd.fill()


def filled_chain(chain: FarmableChain, attack: Attack) -> FilledChain | None:
    """The chain of a script in which others fill blocks; None for the others."""
    blocks = [1 + action.amount for action in attack.actions if action.kind == FILL]
    return FilledChain(chain, attack.seed.encode(), sum(blocks)) if blocks else None
