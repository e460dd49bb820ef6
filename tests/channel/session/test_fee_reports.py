"""Drivers tell peers that pay fees what fee rate their node asks; others cost the node nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.simulator import PUBLIC_LIKE, NodeSettings, SimulatedChain
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import Event, FeeRate
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.peer_driver import DrivenPeer
from channelsim.channel.session.session_events import Handled, SessionEvent
from tests.channel.chain.test_fee_rates import SMALL, bundles
from tests.channel.session.test_driver import Scripted
from tests.channel.session.test_peer_runner import Place, places, until


class Asked(SimulatedChain):
    """A node that counts how often it is asked for its fee rate, and does not say at times."""

    def __init__(self, seed: int, settings: NodeSettings = PUBLIC_LIKE) -> None:
        super().__init__(seed, settings)
        self.count = 0
        self.silent = False

    def fee_rate(self) -> int:
        self.count += 1
        if self.silent:
            raise NodeError("the node does not say what fees it asks")
        return super().fee_rate()


def crowd(chain: SimulatedChain) -> None:
    """Fill the mempool with others' bundles."""
    for bundle in bundles(chain, 24, 5):
        chain.push(bundle)


def kinds(events: list[Event]) -> list[str]:
    return [
        str(event.mojos_per_cost) if isinstance(event, FeeRate) else "block" for event in events
    ]


# --- two peers on an embedded node ------------------------------------------------------------


def test_a_peer_that_pays_fees_hears_of_every_change_before_the_block() -> None:
    chain = Asked(1, SMALL)
    one, two = Scripted(), Scripted()
    driver = Driver(chain, (DrivenPeer("one", one, pays_fees=True), DrivenPeer("two", two)))
    driver.start()
    driver.farm()
    assert kinds(one.events) == ["block"], "an empty mempool asks for nothing, as at first"
    crowd(chain)
    asked = chain.fee_rate()
    assert asked > 5
    driver.report_peak()
    driver.report_peak()
    assert kinds(one.events) == ["block", str(asked), "block", "block"]
    while chain.pending_count():
        driver.farm()
    driver.farm()
    reported = [event for event in kinds(one.events) if event != "block"]
    assert reported[-1] == "0", "blocks have room again"
    assert all(before != after for before, after in pairwise(reported))
    assert kinds(two.events) == ["block"] * kinds(one.events).count("block")
    assert chain.count == kinds(two.events).count("block") + 1, "for one peer, once a block"


@pytest.mark.parametrize("crowded", [True, False])
def test_a_restart_gives_the_rate_again(crowded: bool) -> None:
    """What the journal has may be older: also that the node asks nothing any more."""
    chain = SimulatedChain(1, SMALL)
    if crowded:
        crowd(chain)
    rate = chain.fee_rate()
    one = Scripted()
    driver = Driver(chain, (DrivenPeer("one", one, pays_fees=True), DrivenPeer("two", Scripted())))
    driver.start()
    driver.report_peak()
    assert kinds(one.events) == ([str(rate)] if crowded else []) + ["block"]
    one.events.clear()
    driver.restart(0)
    (_, *events) = one.events
    assert kinds(events) == [str(rate), "block"]
    driver.report_peak()
    assert kinds(one.events[3:]) == ["block"]


# --- one peer on its own ----------------------------------------------------------------------


@dataclass
class Paying(Place):
    """A side whose events are kept."""

    events: list[Event] = field(default_factory=list)

    def listen(self, event: SessionEvent) -> None:
        super().listen(event)
        if isinstance(event, Handled) and isinstance(event.event, FeeRate | Block):
            self.events.append(event.event)


def paying(chain: SimulatedChain, most: tuple[int | None, int | None] | None = (1, 1)) -> Paying:
    """A side that pays at most so many mojos for a spend and in all; None: without a coin."""
    config = places(chain)[0].config
    key = wallet_key(b"reports", "fees")
    wallet = Wallet(key, chain.give(address_of(key), 1_000_000))
    return Paying(replace(config, fees=Fees(wallet, *most) if most else None))


def highest(place: Paying) -> int:
    """The highest rate that was reported; each came just before a block."""
    pairs = [pair for pair in pairwise(place.events) if isinstance(pair[0], FeeRate)]
    assert all(isinstance(after, Block) for _, after in pairs)
    return max(rate.mojos_per_cost for rate, _ in pairs if isinstance(rate, FeeRate))


async def next_block(chain: SimulatedChain, place: Paying) -> None:
    chain.farm()
    await until(
        lambda: isinstance(place.events[-1], Block) and place.events[-1].peak == chain.peak()
    )


def test_a_runner_asks_once_a_block_and_gives_the_rate_before_it() -> None:
    chain = Asked(1, SMALL)
    place = paying(chain)

    async def play() -> None:
        runner = place.runner(chain, None)
        task = asyncio.ensure_future(runner.run())
        await until(lambda: bool(place.events))
        # The second time with the coin that pays fees.
        await until(lambda: kinds(place.events) == ["0", "block", "block"])
        await asyncio.sleep(0.1)
        assert chain.count == 1, "the same block many times"
        crowd(chain)
        await next_block(chain, place)
        assert highest(place) > 5
        for _ in range(10):
            await next_block(chain, place)
        assert kinds(place.events)[-4:] == ["block"] * 4
        reported = [event for event in kinds(place.events) if event != "block"]
        assert (reported[0], reported[-1]) == ("0", "0")
        assert chain.count == kinds(place.events).count("block") - 1
        assert place.troubles == []
        task.cancel()

    asyncio.run(play())


@pytest.mark.parametrize("most", [None, (0, None), (None, 0), (None, None)])
def test_a_peer_that_pays_no_fees_costs_no_call(most: tuple[int | None, int | None] | None) -> None:
    """By default, too: the stakes are too small for a fee that mempools take."""
    chain = Asked(1)
    place = paying(chain, most)

    async def play() -> None:
        task = asyncio.ensure_future(place.runner(chain, None).run())
        await until(lambda: bool(place.events))
        for _ in range(3):
            await next_block(chain, place)
        task.cancel()

    asyncio.run(play())
    assert (chain.count, place.troubles) == (0, [])
    assert kinds(place.events) == ["block"] * 4


def test_a_node_that_does_not_say_is_reported_once_and_hides_no_block() -> None:
    chain = Asked(1, SMALL)
    place = paying(chain)
    chain.silent = True

    async def play() -> None:
        task = asyncio.ensure_future(place.runner(chain, None).run())
        await until(lambda: bool(place.events))
        for _ in range(3):
            await next_block(chain, place)
        assert kinds(place.events) == ["block"] * 5
        await until(lambda: place.troubles == ["the node does not say what fees it asks"])
        crowd(chain)
        chain.silent = False
        await next_block(chain, place)
        assert highest(place) > 5
        await until(lambda: place.troubles[1:] == [""])
        task.cancel()

    asyncio.run(play())
