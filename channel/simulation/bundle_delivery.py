"""How bundles get to the node: at once or late, and those that are wrong in themselves once."""

from __future__ import annotations

from channel.chain.coins import Bundle
from channel.chain.interface import PushResult
from channel.chain.simulator import SimulatedChain
from channel.peer.interface import Push
from channel.simulation.weather import FULL, Weather

HOPELESS = frozenset(
    (
        "BadAggregateSignature",
        "DuplicateOutput",
        "EphemeralRelativeCondition",
        "GeneratorRuntimeError",
    )
)
"""What the embedded node says to a bundle that is wrong in itself, now and at any other time."""


class Post:
    """The way to the node's mempool."""

    def __init__(self, chain: SimulatedChain, weather: Weather) -> None:
        self._chain = chain
        self._weather = weather
        self._hopeless: set[Bundle] = set()
        self._late: list[tuple[int, int, Push]] = []

    def offer(self, bundle: Bundle) -> PushResult | None:
        """What the node says to it; None for one that it can never take, and said so."""
        if bundle in self._hopeless:
            return None
        result = FULL if self._weather.full else self._chain.push(bundle)
        if result.error in HOPELESS:
            self._hopeless.add(bundle)
        return result

    def keep(self, index: int, push: Push, blocks: int) -> None:
        """Hold this end's bundle back for so many blocks."""
        self._late.append((self._chain.peak() + blocks, index, push))

    def released(self) -> list[tuple[int, Push]]:
        """What has been held back for long enough, by the ends that pushed it."""
        peak = self._chain.peak()
        due = [(index, push) for height, index, push in self._late if height <= peak]
        self._late = [late for late in self._late if late[0] > peak]
        return due
