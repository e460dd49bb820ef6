"""What the chain does to a dispute: blocks are replaced, bundles wait, one side hears nothing."""

from __future__ import annotations

from channel.chain.simulator import SimulatedChain
from channel.disputes.scenario import Scenario
from games.chance import Chance

MOST_DEAF = 5
"""Blocks that the honest side may be cut off for: it still answers within its times."""


class Weather:
    """The scenario's weather, from a chance of its own. `floor`: no block below is replaced."""

    def __init__(self, scenario: Scenario, chance: Chance, floor: int) -> None:
        self.reorgs = 0
        self._scenario = scenario
        self._chance = chance
        self._floor = floor
        self._last_reorg = 0
        self._deaf = 0

    def strike(self, chain: SimulatedChain) -> None:
        """Replace the last blocks, perhaps, by others.

        A timeout leaves room for one reorganisation as deep as `confirmations`: what has to be
        in by then cannot be in if every few blocks are taken back again.
        """
        rested = chain.peak() - self._last_reorg >= self._scenario.game_timeout
        if self._scenario.weather != "reorgs" or not rested or not self._chance.chance(30):
            return
        back = self._chance.between(1, self._scenario.confirmations)
        if chain.peak() - back <= self._floor:
            return
        self.reorgs += 1
        self._last_reorg = chain.peak()
        new = back + self._chance.between(1, 2)
        chain.reorganise(back, new, keep=self._chance.chance(50))

    def cut_off(self) -> bool:
        """Whether the honest side hears nothing of this block; never for long."""
        if self._scenario.weather != "cut-off":
            return False
        if self._deaf == 0 and self._chance.chance(15):
            self._deaf = self._chance.between(1, MOST_DEAF)
        self._deaf = max(0, self._deaf - 1)
        return self._deaf > 0

    def delay(self) -> int:
        """For how many blocks a bundle of the honest side is kept back; 0 for none."""
        if self._scenario.weather != "slow" or not self._chance.chance(50):
            return 0
        return self._chance.between(1, 2)
