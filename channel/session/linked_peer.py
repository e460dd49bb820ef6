"""One peer in its process: its runner with a link to the other side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from channelsim.channel.crypto.hkdf import system_random
from channelsim.channel.network.identity import Pairing
from channelsim.channel.network.link import Link, connect, listen
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.games.chance import Chance


@dataclass(frozen=True, slots=True)
class Place:
    """Where a side listens, or what it connects to."""

    address: tuple[str, int]
    listens: bool


async def run_linked(
    runner: PeerRunner,
    place: Place,
    pairing: Pairing,
    tell: Callable[[str], None] = lambda line: None,
    on_bound: Callable[[tuple[str, int]], None] = lambda address: None,
) -> None:
    """Run a peer with its link, until the peer is over. Raises `UsageError`, as the runner does.

    `tell` hears how the link fares, `on_bound` of the address on which it listens.
    """
    link = Link(runner, tell)
    if place.listens:
        async with listen(link, place.address, pairing) as bound:
            on_bound(bound)
            try:
                await runner.run()
            finally:
                await link.close()
        return
    chance = Chance(system_random(32))
    connecting = asyncio.ensure_future(connect(link, place.address, pairing, chance))
    try:
        await runner.run()
    finally:
        await link.close()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
