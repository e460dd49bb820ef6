"""Delivery of spends and blocks as the weather of a scenario allows."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import PushResult
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.simulation.weather import FULL, Weather

PERMANENTLY_INVALID = frozenset(
    (
        "BadAggregateSignature",
        "DuplicateOutput",
        "EphemeralRelativeCondition",
        "GeneratorRuntimeError",
    )
)
"""The embedded node's errors for bundles that it can never accept."""


class WeatherDelivery:
    """A `Delivery` with the weather between the honest side and the node.

    A permanently invalid bundle is offered once; repeats are dropped, since the node is slow to
    refuse them.
    """

    def __init__(self, chain: SimulatedChain, weather: Weather, honest: int) -> None:
        self._chain = chain
        self._weather = weather
        self._honest = honest
        self._invalid: set[Bundle] = set()

    def delay(self, index: int) -> int:
        """Hold back some spends of the honest side."""
        return self._weather.delay() if index == self._honest else 0

    def offer(self, bundle: Bundle) -> PushResult | None:
        """Offer a bundle, unless it is permanently invalid; blocks may be full."""
        if bundle in self._invalid:
            return None
        result = FULL if self._weather.full else self._chain.push(bundle)
        if result.error in PERMANENTLY_INVALID:
            self._invalid.add(bundle)
        return result

    def after_block(self) -> None:
        """Let the weather replace blocks."""
        self._weather.strike()

    def reaches(self, index: int) -> bool:
        """Cut the honest side off at times."""
        return index != self._honest or not self._weather.cut_off()

    def view(self, index: int, block: Block) -> Block:
        """Hide solutions from the honest side at times."""
        return self._weather.view(block) if index == self._honest else block
