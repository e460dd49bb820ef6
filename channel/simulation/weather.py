"""What the chain does to a dispute: blocks are replaced, bundles wait, one side hears nothing."""

from __future__ import annotations

from channel.chain.interface import Answer, PushResult
from channel.chain.simulator import SimulatedChain
from channel.simulation.scenario import Scenario
from games.chance import Chance

MOST_DEAF = 5
"""Blocks that the honest side may be cut off for: it still answers within its times."""


MOST_FULL = 4
"""Blocks in a row that have no room for anybody's bundles."""

FULL = PushResult(Answer.REFUSED, "MempoolFull")
"""What is said to them meanwhile."""


class Weather:
    """The scenario's weather, from a chance of its own. Blocks up to `floor` are not replaced."""

    def __init__(self, scenario: Scenario, chain: SimulatedChain, chance: Chance) -> None:
        self.reorgs = 0
        self._scenario = scenario
        self._chain = chain
        self._chance = chance
        self.floor = chain.peak()
        self._last_reorg = -scenario.game_timeout
        self._deaf = 0
        self._full = 0

    @property
    def full(self) -> bool:
        """Whether no bundle gets into the mempool before the next block."""
        return self._full > 0

    def strike(self) -> None:
        """After each block: replace the last ones by others, perhaps, or let the next be full."""
        if self._scenario.weather == "full":
            begins = not self._full and self._chance.chance(20)
            self._full = self._chance.between(1, MOST_FULL) if begins else max(0, self._full - 1)
        if self._scenario.weather != "reorgs" or not self._rested() or not self._chance.chance(30):
            return
        back = self._chance.between(1, self._scenario.confirmations)
        if not self._above_floor(back):
            return
        more = self._chance.between(1, 2)
        self._replace(back, more, keep=self._chance.chance(50))

    def rewind(self, back: int) -> bool:
        """Replace so many blocks because somebody wants it; False where that cannot be."""
        if not (1 <= back <= self._scenario.confirmations and self._rested()):
            return False
        if not self._above_floor(back):
            return False
        self._replace(back, 1, keep=False)
        return True

    def _rested(self) -> bool:
        # A timeout leaves room for one reorganisation as deep as `confirmations`: what has to be
        # in by then cannot be in if every few blocks are taken back again.
        return self._chain.peak() - self._last_reorg >= self._scenario.game_timeout

    def _above_floor(self, back: int) -> bool:
        return self._chain.peak() - back >= self.floor

    def _replace(self, back: int, more: int, *, keep: bool) -> None:
        self.reorgs += 1
        self._last_reorg = self._chain.peak()
        self._chain.reorganise(back, back + more, keep=keep)

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
