"""Sessions of two `peer` processes on genuine nodes, which are killed, or replace blocks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from channelsim.channel.chain.full_node import RpcChain
from channelsim.channel.store.data_directory import read_settings
from tests.channel.cli.test_peer import (
    GUARD,
    NAMES,
    Side,
    address,
    fingerprint,
    started,
    wallet_file,
)
from tests.real_node.chain import RealChain
from tests.real_node.process import RealNode

BLOCK_TIME = 0.5
"""Seconds from one block to the beginning of the next: slow enough for a busy machine."""


def of_node(node: RealNode) -> tuple[str, ...]:
    """The options of a command that name this node."""
    certificate, key = node.credentials.certificate, node.credentials.key
    return ("--node", node.url, "--cert", str(certificate), "--key", str(key))


class Farm:
    """Blocks in the background, except while something else changes the chain."""

    def __init__(self, chain: RealChain) -> None:
        self._chain = chain
        self.pause = asyncio.Lock()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(BLOCK_TIME)
            async with self.pause:
                await asyncio.to_thread(self._chain.farm)


@asynccontextmanager
async def blocks(chain: RealChain) -> AsyncIterator[Farm]:
    farm = Farm(chain)
    farming = asyncio.ensure_future(farm.run())
    try:
        yield farm
    finally:
        async with farm.pause:
            farming.cancel()


Meanwhile = Callable[[Side, Side, Farm], Awaitable[None]]


async def nothing(first: Side, second: Side, farm: Farm) -> None:
    """Leave both sides alone."""


def session(
    tmp_path: Path,
    chain: RealChain,
    nodes: tuple[str, ...],
    game: str,
    meanwhile: Meanwhile = nothing,
) -> list[Side]:
    """Play a session to its clean end; both sides, the initiator first.

    `nodes` are the options that name the nodes of both.
    """
    names = [f"{tmp_path.name}-{name}" for name in NAMES]
    keys = [str(wallet_file(chain, tmp_path, name)) for name in names]
    alice, bob = (tmp_path / name for name in NAMES)
    prints = [fingerprint(one) for one in (alice, bob)]

    async def play() -> list[Side]:
        terms = ("--game", game, "--hands", "1", *nodes)
        async with blocks(chain) as farm:
            second = await started(
                bob, "listen", *terms, "--peer", prints[0], "--wallet-key", keys[1]
            )
            first = await started(
                *(alice, "connect", "--address", address(await second.until("Listening"))),
                *(*terms, "--peer", prints[1], "--wallet-key", keys[0]),
            )
            await meanwhile(first, second, farm)
            ends = await asyncio.gather(first.end(), second.end())
        assert ends[0]["text"] == ends[1]["text"]
        assert ends[0]["text"].startswith("the end; balances Initiator ")
        return [first, second]

    return asyncio.run(play())


def events(side: Side) -> list[str]:
    return [line["event"] for line in side.lines]


@pytest.mark.parametrize("game", ["spacepoker", "holdem"])
def test_two_processes_play_to_a_clean_end(
    tmp_path: Path, chain: RealChain, node: RealNode, game: str
) -> None:
    for side in session(tmp_path, chain, of_node(node), game):
        assert "GameStarted" in events(side)
        assert "LeftForChain" not in events(side)


def test_the_funding_is_replaced_by_a_reorganisation(
    tmp_path: Path, chain: RealChain, node: RealNode
) -> None:
    async def replace_the_funding(first: Side, second: Side, farm: Farm) -> None:
        await first.until("FundingSent")
        async with farm.pause:
            await asyncio.to_thread(chain.farm)
            before = chain.peak()
            # The blocks with the funding go, and no bundle of them comes back by itself.
            await asyncio.to_thread(chain.reorganise, 2, 3, keep=False)
            assert chain.peak() == before + 1

    for side in session(tmp_path, chain, of_node(node), "spacepoker", replace_the_funding):
        assert "ChannelOpen" in events(side)


def test_the_node_is_killed_and_started_again_in_a_hand(tmp_path: Path) -> None:
    with RealNode("killed") as node, RealChain(node) as chain:

        async def kill_the_node(first: Side, second: Side, farm: Farm) -> None:
            await second.until("GameStarted")
            async with farm.pause:
                await asyncio.to_thread(node.kill)
                await asyncio.sleep(3)
                await asyncio.to_thread(node.start)
                await asyncio.wait_for(asyncio.to_thread(chain.peak), GUARD)

        for side in session(tmp_path, chain, of_node(node), "holdem", kill_the_node):
            assert "LeftForChain" not in events(side)


def test_another_node_of_the_chain_is_used_when_the_first_is_killed_in_a_hand(
    tmp_path: Path,
) -> None:
    with (
        RealNode("first", listens=True) as first,
        RealChain(first) as chain,
        RealNode("second", follows=first) as second,
        RpcChain(second.url, second.credentials) as follower,
    ):

        async def has_all_blocks() -> None:
            async with asyncio.timeout(GUARD):
                while await asyncio.to_thread(follower.peak) != chain.peak():
                    await asyncio.sleep(0.1)

        async def kill_the_first(alice: Side, bob: Side, farm: Farm) -> None:
            await bob.until("GameStarted")
            async with farm.pause:
                await has_all_blocks()
                await asyncio.to_thread(first.kill)
                chain.move_to(second)

        nodes = (*of_node(first), "--node", second.url)
        for side in session(tmp_path, chain, nodes, "spacepoker", kill_the_first):
            assert "LeftForChain" not in events(side)
            assert [one.url for one in read_settings(side.directory).nodes] == [*urls(nodes)]


def urls(options: tuple[str, ...]) -> Iterator[str]:
    """The URLs of the nodes that these options name."""
    return (after for before, after in pairwise(options) if before == "--node")
