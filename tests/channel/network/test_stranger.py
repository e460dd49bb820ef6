"""A client that shares no code with us, written from the specification, opens a channel."""

from __future__ import annotations

import asyncio
from pathlib import Path

from chia_rs import PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.network.identity import Pairing
from channelsim.channel.network.link import Link, listen
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.session.deck_works import DeckThreads
from channelsim.channel.session.identity import make_config
from channelsim.channel.session.peer_runner import PeerRunner, Spectator
from tests.channel.network import stranger
from tests.channel.network.stranger import AMOUNT, TIMEOUT, NetworkKey, Stranger, Wire
from tests.channel.network.wire import identity, until
from tests.paths import ROOT


def test_a_stranger_opens_a_channel_by_the_text(tmp_path: Path) -> None:
    source = Path(stranger.__file__).read_text(encoding="utf-8")
    assert "import channelsim" not in source
    assert "from channelsim" not in source
    chain = SimulatedChain(5)
    config = make_config(
        b"text", Side.RECEIVER, chain, Agreement((AMOUNT, AMOUNT), TIMEOUT, confirmations=1)
    )
    key = PrivateKey.from_bytes(b"\x05" * 32)
    coin = chain.give(address_of(key), AMOUNT + 1)
    client = Stranger(
        wallet_key=key,
        wallet_coin=(coin.parent, coin.puzzle_hash, coin.amount),
        reward=b"\x09" * 32,
        genesis=chain.agg_sig_data(),
        unroll=bytes.fromhex((ROOT / "clsp/compiled/channel/unroll.hex").read_text().strip()),
    )
    network = NetworkKey(Ed25519PrivateKey.generate())

    async def play() -> None:
        peer = Peer(config)
        runner = PeerRunner(peer, peer, chain, Spectator(), DeckThreads(), poll_time=0.01)
        running = asyncio.ensure_future(runner.run())
        pairing = Pairing(identity(tmp_path), network.fingerprint)
        async with listen(Link(runner), ("127.0.0.1", 0), pairing) as address:
            context = network.context(pairing.identity.fingerprint, tmp_path)
            wire = Wire(*await asyncio.open_connection(*address, ssl=context))
            coin_id, funded = await client.open(wire, chain.peak())
            assert len(funded["bundle"]["spends"]) == 3
            await until(lambda: bool(chain.pending(coin.id)))
            chain.farm()
            seen = chain.coin(coin_id)
            assert seen is not None
            assert seen.coin.amount == 2 * AMOUNT
            chain.farm()
            await until(lambda: peer.phase is Phase.PLAYING)
            wire.writer.transport.abort()
        running.cancel()

    asyncio.run(play())
