"""One peer in its process: its runner with a link to the other side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from channelsim.channel.crypto.hkdf import system_random
from channelsim.channel.network.identity import Pairing
from channelsim.channel.network.link import Link, connect, listen
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.peer_runner import PeerRunner, is_over
from channelsim.games.chance import Chance


@dataclass(frozen=True, slots=True)
class Place:
    """Where a side listens, or what it connects to."""

    address: tuple[str, int]
    listens: bool


async def linked(
    link: Link,
    place: Place,
    pairing: Pairing,
    on_bound: Callable[[tuple[str, int]], None] = lambda address: None,
) -> None:
    """Connect a link, or listen for it, until this is cancelled. Raises `UsageError`.

    `on_bound` hears of the address on which it listens.
    """
    try:
        if place.listens:
            async with listen(link, place.address, pairing) as bound:
                on_bound(bound)
                await asyncio.Event().wait()
        await connect(link, place.address, pairing, Chance(system_random(32)))
    finally:
        await link.close()


async def run_linked(
    runner: PeerRunner,
    place: Place,
    pairing: Pairing,
    tell: Callable[[str], None] = lambda line: None,
    on_bound: Callable[[tuple[str, int]], None] = lambda address: None,
) -> None:
    """Run a peer with its link, until the peer is over. Raises `UsageError`, as the runner does.

    `tell` hears how the link fares.
    """
    await run_with_link(runner, lambda link: linked(link, place, pairing, on_bound), tell)


async def run_with_link(
    runner: PeerRunner,
    keep_linked: Callable[[Link], Coroutine[None, None, None]],
    tell: Callable[[str], None] = lambda line: None,
    over: Callable[[Peer], bool] = is_over,
) -> None:
    """Run a peer until it is over, with a link that `keep_linked` connects until it is cancelled.

    A peer that is over from the beginning needs no link. Raises what either raises.
    """
    running = asyncio.ensure_future(runner.run(over))
    tasks = [running]
    if not over(runner.peer):
        tasks.append(asyncio.ensure_future(keep_linked(Link(runner, tell))))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # Also if the link has ended: it does so with an error.
        for task in tasks:
            if task.done():
                task.result()
    finally:
        # The link ends first: it sends what the peer has said.
        try:
            for task in reversed(tasks):
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        finally:
            # Also if this is cancelled again meanwhile: the peer's store is about to be closed.
            running.cancel()
