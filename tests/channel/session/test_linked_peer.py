"""A peer with its link: what the counterparty sends never delays what the chain brings."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.network.link import Link, listen
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.interface import Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config
from channelsim.channel.session.peer_runner import PeerRunner
from tests.channel.network.wire import frame, pairings, until
from tests.channel.session.spectator import Spectator


@pytest.mark.parametrize("flood", [b"", b"hello"], ids=("empty frames", "repeats"))
def test_a_flood_does_not_keep_blocks_from_the_peer(tmp_path: Path, flood: bytes) -> None:
    chain = SimulatedChain(1)
    agreement = Agreement((100, 100), 15, 3)
    configs = [make_config(b"flood", side, chain, agreement) for side in Side]
    (hello,) = (one for one in Peer(configs[0]).start(chain.peak()) if isinstance(one, Send))
    here, there, _ = pairings(tmp_path)
    repeated = frame(hello.message if flood else b"") * 100

    async def send(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address, ssl=there.context(server=False))
        taking = asyncio.ensure_future(reader.read())
        writer.write(frame(b"") + frame(hello.message))
        with suppress(OSError):
            while True:
                writer.write(repeated)
                await writer.drain()
        taking.cancel()

    async def play() -> None:
        peer = Peer(configs[1])
        runner = PeerRunner(peer, peer, chain, Spectator(), DeckThreads(), poll_time=0.01)
        running = asyncio.ensure_future(runner.run())
        async with listen(Link(runner), ("127.0.0.1", 0), here) as address:
            flooding = asyncio.ensure_future(send(address))
            for _ in range(5):
                chain.farm()
                await until(lambda: peer.state.block.peak == chain.peak())
            assert not flooding.done()
            assert peer.phase is Phase.OPENING
            flooding.cancel()
            running.cancel()
            await asyncio.gather(flooding, running, return_exceptions=True)

    asyncio.run(play())
