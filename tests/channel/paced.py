"""Blocks that come when processes have seen the last one, however slowly they run.

By the clock, a busy machine would let deadlines pass while a process does not run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Protocol

from channelsim.channel.chain.simulator import SimulatedChain
from scripts.tools.bench.metered_node import MeteredNode, metered

OFTEN = """
from channelsim.channel.session.peer_runner import PeerRunner
PeerRunner.__init__.__kwdefaults__["poll_time"] = 0.05
"""
"""The beginning of a program whose peer looks at the chain often, because blocks wait for it."""

LOOK = "get_blockchain_state"
"""The only call of a process that has nothing to do."""

LOOKS = 3
"""These looks, with no other call between them, show that a process has nothing to do."""

PAUSE = 0.01


class Looking(Protocol):
    """A process that looks at the chain through a node of its own."""

    @property
    def node(self) -> MeteredNode | None: ...

    @property
    def process(self) -> asyncio.subprocess.Process: ...


@contextmanager
def nodes(chain: SimulatedChain, number: int = 2) -> Iterator[Sequence[MeteredNode]]:
    """Serve a chain to so many processes, to each at an address of its own."""
    with ExitStack() as stack:
        url = stack.enter_context(chain.served())
        yield [stack.enter_context(metered(url)) for _ in range(number)]


async def at_rest(side: Looking) -> None:
    """Return once a process has done all that it can at this tip, or has ended."""
    assert side.node is not None
    looks = others = -1
    while side.process.returncode is None:
        calls = dict(side.node.calls)
        now = calls.pop(LOOK, 0)
        if others != sum(calls.values()):
            looks, others = now, sum(calls.values())
        if now >= looks + LOOKS:
            return
        await asyncio.sleep(PAUSE)


@asynccontextmanager
async def paced_blocks(
    next_block: Callable[[], None], *sides: Looking, pause: float = PAUSE
) -> AsyncIterator[None]:
    """Make blocks meanwhile, each when all of these processes are at rest, and after a pause.

    Both sides of a new channel look at the chain once they are connected: no block comes before.
    """

    async def farm() -> None:
        while True:
            for side in sides:
                await at_rest(side)
            await asyncio.sleep(pause)
            next_block()

    farming = asyncio.ensure_future(farm())
    try:
        yield
    finally:
        farming.cancel()
        with suppress(asyncio.CancelledError):
            await farming
